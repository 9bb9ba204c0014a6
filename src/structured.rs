//! Structured dtypes: items of named fields, as in NumPy's structured arrays.
//!
//! *Law.* A cast of structs casts every field by itself, by the rules of [`semantics`](crate::semantics); fields are matched as in
//! NumPy, by position or by name. Bytes of the destination outside the fields that are written stay as they are.
//!
//! ```
//! use lanecast::structured::{Match, StructPlan, StructType};
//! use lanecast::CastOptions;
//! let from = StructType::from_descr("[('id', '<u2'), ('position', '>f4', (2,))]")?;
//! let to = StructType::from_descr("[('position', '<f2', (2,)), ('id', '|u1')]")?;
//! let plan = StructPlan::new(&from, &to, Match::Name, &CastOptions::NUMPY)?;
//! let src = [7, 0, 0x3F, 0x80, 0, 0, 0xC0, 0, 0, 0]; // 7, [1.0, -2.0]
//! let mut dst = [0; 5];
//! plan.run(&src, &mut dst, 1)?;
//! assert_eq!(dst, [0, 0x3C, 0, 0xC0, 7]);
//! # Ok::<(), lanecast::structured::StructError>(())
//! ```
//!
//! # Types
//!
//! A [`StructType`] has [`Field`]s, each with an offset, a sub-array shape and a [`FieldType`]: elements of a dtype, a nested
//! struct, or NumPy's `S`, `U` and `V`. It is made by [`packed`](StructType::packed), [`aligned`](StructType::aligned) (the rules
//! of C) or [`with_offsets`](StructType::with_offsets), or parsed by [`from_descr`](StructType::from_descr) from the `descr` that
//! NumPy prints and writes into `.npy` files; [`descr`](StructType::descr) writes exactly the same text.
//!
//! # Matching
//!
//! | | [`Match::Position`] | [`Match::Name`] | [`Match::NameOrZero`] |
//! |---|---|---|---|
//! | as NumPy's | `astype`, assignment | `assign_fields_by_name(zero_unassigned=False)` | `assign_fields_by_name` |
//! | number of fields | equal | any | any |
//! | field of the destination without a partner | | left alone | zeroed |
//! | field of the source without a partner | | left out | left out |
//! | one element to a struct | to every field | refused | refused |
//! | a struct of one field to an element | its field | its field | its field |
//!
//! The rules hold for nested structs, too. Titles do not count as names.
//!
//! Sub-arrays are broadcast as NumPy broadcasts arrays, with axes aligned at the last: one element fills a sub-array, an axis of
//! length 1 is repeated, leading axes of length 1 are added or dropped. Other shapes are refused, where NumPy silently truncates or
//! pads with zeros. One struct fills a sub-array of structs, which NumPy does only if the struct has one field. (By name NumPy
//! broadcasts the array of items together with the sub-arrays, so that items may mix; here every item is cast by itself.)
//!
//! `S`, `U` and `V` are copied to the same kind, truncated or padded with NUL; the characters of `U` are swapped to the byte order of
//! the destination if necessary. Casts between these kinds, and between them and numbers, are refused: the module `text` does those.
//!
//! # Method
//!
//! A plan is resolved once to a list of runs: a cast or a copy, its offset in the item, and its axes with their strides in both
//! items. Neighbours without a gap are merged into one run, and adjacent axes into one axis, so that a struct of equal fields is
//! cast as one array. A remaining run of few elements is replaced by one run over all items for each element. The runs are done
//! for blocks of items that fit in the caches, all runs for one block before the next, so that memory is read once. Items are cast as
//! [`strided`](crate::strided) views; counting and checked casts copy their elements to a few KiB on the stack.

mod descr;
mod error;
mod gather;
mod layout;
mod leaf;
mod parse;
mod plan;
mod report;
mod resolve;
mod types;

pub use error::{StructError, Trouble};
pub use plan::{FieldCast, StructPlan};
pub use resolve::Match;
pub use types::{Field, FieldType, StructType};
