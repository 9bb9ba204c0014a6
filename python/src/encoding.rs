//! [`PyEncoding`]: how raw bytes encode elements.

use crate::dtype::{self, PyDType};
use crate::options::choose;
use lanecast::{ByteOrder, Encoding, Storage};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// The names of [`Storage`].
pub const STORAGES: [(&str, Storage); 2] = [("byte", Storage::Byte), ("packed", Storage::Packed)];

const NATIVE: ByteOrder = if cfg!(target_endian = "big") { ByteOrder::Big } else { ByteOrder::Little };

const ORDERS: [(&str, ByteOrder); 3] =
    [("native", NATIVE), ("little", ByteOrder::Little), ("big", ByteOrder::Big)];

/// How raw bytes encode elements: their dtype, their storage and their byte order. Functions that take raw bytes of a dtype accept it.
///
/// Args:
///     dtype: the dtype, as for `astype`.
///     storage: "byte" stores each sub-byte element in a byte of its own; "packed" lets them share bytes, with the first element in the
///         lowest bits. Other dtypes ignore it.
///     order: the byte order, "native", "little" or "big"; None keeps the order of a `numpy.dtype` and is native for others.
///
/// Examples:
///     >>> packed = lanecast.Encoding("int4", storage="packed")
///     >>> lanecast.cast_buffer(bytes([0x21, 0x43]), packed, "int8")
///     b'\x01\x02\x03\x04'
#[pyclass(frozen, eq, hash, name = "Encoding", module = "lanecast")]
#[derive(PartialEq, Eq, Hash)]
pub struct PyEncoding {
    pub encoding: Encoding,
}

#[pymethods]
impl PyEncoding {
    #[new]
    #[pyo3(signature = (dtype, /, *, storage="byte", order=None))]
    fn new(dtype: &Bound<'_, PyAny>, storage: &str, order: Option<&str>) -> PyResult<PyEncoding> {
        let given = dtype::argument(dtype)?;
        let stored = match choose("storage", &STORAGES, storage)? {
            Storage::Packed => Encoding::packed(given.dtype()),
            Storage::Byte => Encoding::new(given.dtype()),
        };
        let order = order.map(|order| choose("order", &ORDERS, order)).transpose()?;
        Ok(PyEncoding { encoding: stored.with_order(order.unwrap_or(given.order())) })
    }

    /// The dtype of the elements.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDType>> {
        dtype::object(py, self.encoding.dtype())
    }

    /// `"packed"` if sub-byte elements share bytes, else `"byte"`.
    #[getter]
    fn storage(&self) -> &'static str {
        if self.encoding.storage() == Storage::Packed { "packed" } else { "byte" }
    }

    /// The byte order, `"little"` or `"big"`.
    #[getter]
    fn order(&self) -> &'static str {
        match self.encoding.order() {
            ByteOrder::Little => "little",
            ByteOrder::Big => "big",
        }
    }

    /// Pickles the arguments of the constructor.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        let keywords = PyDict::new(py);
        keywords.set_item("storage", self.storage())?;
        keywords.set_item("order", self.order())?;
        Ok((PyTuple::new(py, [self.dtype(py)?])?, keywords))
    }

    fn __repr__(&self) -> String {
        let (dtype, storage, order) = (self.encoding.dtype(), self.storage(), self.order());
        format!("lanecast.Encoding({:?}, storage={storage:?}, order={order:?})", dtype.name())
    }
}

/// The encoding that an argument names: an `Encoding`, or a dtype argument with one element per byte.
pub fn argument(value: &Bound<'_, PyAny>) -> PyResult<Encoding> {
    match value.cast_exact::<PyEncoding>() {
        Ok(given) => Ok(given.get().encoding),
        Err(_) => dtype::argument(value),
    }
}
