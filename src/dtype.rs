//! Forms of the limits that other modules of the library call.

#![allow(dead_code)]

use crate::{DType, FInfo, IInfo};

pub(crate) const fn finfo(dtype: DType) -> Option<FInfo> {
    dtype.finfo()
}

pub(crate) const fn iinfo(dtype: DType) -> Option<IInfo> {
    dtype.iinfo()
}
