//! The matrix benchmark: every pair of dtypes, on every tier, at every size, as a fraction of what memory allows.
//!
//! The law: a cast reads its source and writes its destination, so no cast is faster than the *pure-traffic loop*, which
//! loads the same bytes, combines them with one operation and stores the same bytes, with vectors of the same tier. The
//! `fraction` of a cell is the time of that loop divided by the time of the cast, both measured in turn in one process.
//! Bytes per second are printed beside it and never judged: they belong to the machine and to its neighbours.
//!
//! * `cells`: which casts there are;
//! * `classes`: which fraction is asked of which of them;
//! * `inputs`: what they are fed;
//! * `traffic`: the limit;
//! * `limits`: a look at the limit itself;
//! * `measure`: how times are taken;
//! * `pool`: the memory it happens in;
//! * `run`: the run over all cells;
//! * `results`: what a run leaves behind;
//! * `json`: results as files;
//! * `machine`: on what it ran;
//! * `worst`: the cells that are furthest from their targets;
//! * `text`: parsing and formatting;
//! * `report`: the document with its heat maps, and the peers;
//! * `checked`: what it costs to ask a cast what it loses;
//! * `costs`: the cost classes of the kernels, and the table of them;
//! * `dimensions`: representative casts of every dimension beside the matrix;
//! * `addresses`: what buffers cost that do not begin at a cache line;
//! * `options`: what other options than the default cost;
//! * `speed`: stored results, the page and the chart that are drawn from them, and comparisons over time;
//! * `threads`: what more threads bring;
//! * `compare`: the gate;
//! * `count`: instructions instead of times, where no clock can be trusted, and their gate;
//! * `loops`: the machine code of the kernels.

pub mod addresses;
pub mod calls;
pub mod cells;
pub mod checked;
pub mod classes;
pub mod compare;
pub mod costs;
pub mod count;
pub mod dimensions;
pub mod inputs;
pub mod json;
pub mod limits;
#[cfg(target_os = "linux")]
pub mod loops;
pub mod machine;
pub mod measure;
pub mod options;
pub mod pool;
pub mod report;
pub mod results;
pub mod run;
pub mod scaled;
pub mod speed;
pub mod strided;
pub mod text;
pub mod threads;
pub mod traffic;
pub mod worst;
