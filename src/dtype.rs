//! Forms of the limits that other modules of the library call.

use crate::{DType, FInfo, IInfo};

pub(crate) const fn finfo(dtype: DType) -> Option<FInfo> {
    dtype.finfo()
}

pub(crate) const fn iinfo(dtype: DType) -> Option<IInfo> {
    dtype.iinfo()
}
