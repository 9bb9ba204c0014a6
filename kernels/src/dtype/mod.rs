//! Floor 1: the list of dtypes with all that is known of each, the storage of elements, and the promises of an element type.

mod codes;
mod element;
mod limits;
mod list;
mod names;
mod storage;
mod unknown;

pub use element::Element;
pub use limits::{DTypeKind, FInfo, IInfo};
pub(crate) use list::{COUNT, NOT_BUILT, for_each_dtype};
pub use list::{DType, Flavor, FloatSpec, Kind, Spec};
pub(crate) use storage::bytes_of;
pub use storage::{ByteOrder, Encoding, Storage};
pub use unknown::UnknownName;
