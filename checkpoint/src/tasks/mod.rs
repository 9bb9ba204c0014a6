//! Operations divided into tasks, which processes on many machines run.
//!
//! *Laws.* The bytes of the output do not depend on the number of processes. A task may run anywhere, any number of times, also at the same time, and may be
//! ended at any moment. Markers in a folder beside the output are the only state.
//!
//! *Method.* [`TaskPlan`](plan::TaskPlan) lists the tasks, which `divide` makes of the sizes of tensors. `run` does a task: `ranges` writes at
//! places of files that exist in their full size, on several threads, and `finish` gives files and output their names. `work` is the
//! folder with the markers.

mod divide;
mod finish;
mod plan;
mod ranges;
mod run;
mod work;

pub use self::{
    divide::ByteRange,
    plan::{Operation, Phase, PlanOptions, Task, TaskPlan},
    run::TaskReport,
};
