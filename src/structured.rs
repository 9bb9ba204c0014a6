//! Structured dtypes: items of named fields, as NumPy's structured arrays.
//!
//! *Law.* A cast of structs is the cast of every field by itself, by the rules of [`semantics`](crate::semantics); which field
//! becomes which is NumPy's answer, by position or by name. Bytes of the destination that belong to no field that is written stay
//! as they are.
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
//! of C) or [`with_offsets`](StructType::with_offsets), or read from what NumPy writes as the `descr` of a dtype and into `.npy`
//! files ([`from_descr`](StructType::from_descr)), and [`descr`](StructType::descr) writes it, to the character.
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
//! The rule holds for nested structs, too. Titles are not names.
//!
//! Sub-arrays are broadcast as NumPy broadcasts arrays, axes aligned at the last: one element fills a sub-array, an axis of length
//! 1 is repeated, leading axes of length 1 come and go. Of other shapes NumPy cuts off or fills up with zeros without a word; here
//! they are refused. One struct fills a sub-array of structs, which NumPy does only if it has one field. (By name NumPy broadcasts
//! the array of items together with the sub-arrays, so that items may mix; here every item is cast by itself.)
//!
//! `S`, `U` and `V` are copied to their own kind, cut off or filled up with NUL; the characters of `U` are brought into the byte
//! order of the destination. Between them, and between them and numbers, casts are refused: the module `text` does those.
//!
//! # Method
//!
//! A plan is resolved once to a list of runs: a cast or a copy, where it begins in the item, and its axes with their distances in
//! both items. Neighbours without a gap become one run, and axes that follow each other one axis, so that a struct of equal fields
//! is cast as one array; what is left of a few elements becomes a run over all items for each of them. The runs go through the
//! items in blocks that the caches hold, all runs for a block before the next, so that memory is read once. Casts are those of
//! [`strided`](crate::strided) views; counted and checked casts gather their elements to a few KiB on the stack.

mod descr;
mod error;
mod gather;
mod layout;
mod parse;
mod plan;
mod report;
mod resolve;

pub use error::{StructError, Trouble};
pub use layout::{Field, FieldType, StructType};
pub use plan::{FieldCast, Match, StructPlan};
pub use report::{CheckedStructPlan, CountingStructPlan};
