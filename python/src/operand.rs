//! [`Operand`], an array of any library, and [`Answer`], the new array that a cast returns.

use crate::buffer::PyBuffer;
use crate::dlpack;
use crate::libraries;
use crate::memory::Array;
use crate::numpy::{self, NumpyArray, Order};
use crate::torch::Tensor;
use lanecast::promote::Standard;
use lanecast::{CastOptions, DType, Encoding, Storage};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The library of an array. It decides the default profile and the type of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    Numpy,
    /// A NumPy scalar. The result is a scalar, too.
    NumpyScalar,
    Torch,
    Jax,
    /// Another exporter of DLPack.
    Other,
}

impl Library {
    /// The options that reproduce the casts of the library.
    pub const fn options(self) -> CastOptions {
        match self {
            Library::Torch => CastOptions::TORCH,
            Library::Jax => CastOptions::JAX,
            Library::Numpy | Library::NumpyScalar | Library::Other => CastOptions::NUMPY,
        }
    }

    /// The standard that defines `casting`.
    pub const fn standard(self) -> Standard {
        match self {
            Library::Torch => Standard::Torch,
            Library::Jax => Standard::Jax,
            Library::Numpy | Library::NumpyScalar | Library::Other => Standard::NumPy,
        }
    }
}

/// The owner of the memory.
enum Holder<'py> {
    Numpy(NumpyArray<'py>),
    Torch(Tensor<'py>),
    /// The object of the operand.
    Buffer,
    Dlpack(dlpack::Imported),
}

/// An array of any library. It keeps the memory alive.
pub struct Operand<'py> {
    pub library: Library,
    pub array: Array,
    /// The shape in the library. `array` may have fewer axes, if packed rows share bytes.
    pub shape: Vec<usize>,
    holder: Holder<'py>,
    object: Bound<'py, PyAny>,
}

impl<'py> Operand<'py> {
    /// An array to read.
    pub fn source(value: &Bound<'py, PyAny>) -> PyResult<Operand<'py>> {
        Operand::new(value, false)
    }

    /// The array `out`, to write to.
    pub fn destination(value: &Bound<'py, PyAny>) -> PyResult<Operand<'py>> {
        let read_only = || PyValueError::new_err("`out` is read-only");
        let operand = Operand::new(value, true)?;
        if matches!(operand.library, Library::Jax | Library::NumpyScalar) {
            return Err(PyTypeError::new_err(
                "`out` must be writable, but JAX arrays and scalars are immutable",
            ));
        }
        match &operand.holder {
            Holder::Numpy(array) if !array.is_writable() => Err(read_only()),
            Holder::Dlpack(imported) if !imported.writable => Err(read_only()),
            _ => Ok(operand),
        }
    }

    fn new(value: &Bound<'py, PyAny>, write: bool) -> PyResult<Operand<'py>> {
        let py = value.py();
        if let Some(numpy) = numpy::loaded(py)? {
            if let Some(array) = NumpyArray::of(numpy, value)? {
                return Operand::of_numpy(array, Library::Numpy, value);
            }
            if numpy.is_scalar(value) {
                return Operand::of_numpy(as_array(numpy, value)?, Library::NumpyScalar, value);
            }
        }
        if let Some(tensor) = Tensor::of(value, write)? {
            let array = tensor.array.clone();
            return Ok(Operand {
                library: Library::Torch,
                shape: array.shape().to_vec(),
                array,
                holder: Holder::Torch(tensor),
                object: value.clone(),
            });
        }
        if is_jax(value)? {
            let numpy = numpy::imported(py)?;
            // Waits until the array is computed. The result is a view, except for dtypes that JAX stores differently.
            return Operand::of_numpy(as_array(numpy, value)?, Library::Jax, value);
        }
        if let Ok(buffer) = value.cast::<PyBuffer>() {
            let array = buffer.get().array()?;
            return Ok(Operand {
                library: Library::Other,
                array,
                shape: buffer.getattr("shape")?.extract()?,
                holder: Holder::Buffer,
                object: value.clone(),
            });
        }
        if !value.is_instance_of::<PyType>() && value.hasattr(intern!(py, "__dlpack__"))? {
            let imported = dlpack::import(value)?;
            return Ok(Operand {
                library: Library::Other,
                array: imported.array.clone(),
                shape: imported.shape.clone(),
                holder: Holder::Dlpack(imported),
                object: value.clone(),
            });
        }
        if libraries::is_instance(value, intern!(py, "dask.array"), "Array")? {
            return Err(PyTypeError::new_err(
                "Dask arrays are lazy and have no values yet; cast their blocks with x.map_blocks(lanecast.astype, dtype, dtype=dtype)",
            ));
        }
        Err(PyTypeError::new_err(format!(
            "expected a NumPy, PyTorch or JAX array, or an object with __dlpack__, not {}; numpy.asarray converts lists and numbers",
            value.get_type().fully_qualified_name()?
        )))
    }

    fn of_numpy(
        array: NumpyArray<'py>,
        library: Library,
        object: &Bound<'py, PyAny>,
    ) -> PyResult<Operand<'py>> {
        let view = array.array()?;
        Ok(Operand {
            library,
            shape: view.shape().to_vec(),
            array: view,
            holder: Holder::Numpy(array),
            object: object.clone(),
        })
    }

    /// The object that the caller passed.
    pub fn object(&self) -> &Bound<'py, PyAny> {
        &self.object
    }

    /// Whether the array already has this memory layout.
    pub fn has_order(&self, order: Order) -> bool {
        let fortran = matches!(&self.holder, Holder::Numpy(array) if array.is_fortran_only())
            || self.array.elements() == 0;
        match order {
            Order::Keep => true,
            Order::C => self.array.is_c_contiguous(),
            Order::Fortran => {
                fortran
                    || self.array.is_c_contiguous() && self.shape.iter().filter(|len| **len != 1).count() <= 1
            }
            Order::Any => fortran || self.array.is_c_contiguous(),
        }
    }

    /// A new, uninitialized array of the same library and shape.
    pub fn answer(&self, order: Order, to: Encoding) -> PyResult<Answer<'py>> {
        Ok(match (&self.holder, self.library) {
            (Holder::Numpy(array), Library::Numpy | Library::NumpyScalar) => {
                let new = array.new_like(order, to)?;
                let view = new.array()?;
                Answer { array: view, library: self.library, made: Made::Numpy(new) }
            }
            (Holder::Torch(tensor), _) => {
                let new = tensor.new_like(order, to)?;
                Answer { array: new.array.clone(), library: self.library, made: Made::Torch(new) }
            }
            _ => self.in_buffer(&self.shape, to)?,
        })
    }

    /// A new, uninitialized array of the same library in C order. The dtype has one element per byte, or wider ones.
    pub fn answer_shaped(&self, shape: &[usize], to: Encoding) -> PyResult<Answer<'py>> {
        let py = self.object.py();
        Ok(match (&self.holder, self.library) {
            (Holder::Numpy(_), Library::Numpy | Library::NumpyScalar) => {
                let new = NumpyArray::new(py, shape, to)?;
                Answer { array: new.array()?, library: self.library, made: Made::Numpy(new) }
            }
            (Holder::Torch(_), _) => {
                let new = Tensor::new(py, shape, to)?;
                Answer { array: new.array.clone(), library: self.library, made: Made::Torch(new) }
            }
            _ => self.in_buffer(shape, to)?,
        })
    }

    fn in_buffer(&self, shape: &[usize], to: Encoding) -> PyResult<Answer<'py>> {
        let py = self.object.py();
        let buffer = Bound::new(py, PyBuffer::new(py, to, shape)?)?;
        let array = buffer.get().array()?;
        Ok(Answer { array, library: self.library, made: Made::Buffer(buffer, self.object.clone()) })
    }
}

fn as_array<'py>(numpy: &numpy::Numpy, value: &Bound<'py, PyAny>) -> PyResult<NumpyArray<'py>> {
    let array = value.py().import("numpy")?.call_method1(intern!(value.py(), "asarray"), (value,))?;
    NumpyArray::of(numpy, &array)?
        .ok_or_else(|| PyTypeError::new_err("numpy.asarray did not return an array"))
}

fn is_jax(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = value.py();
    if !libraries::is_instance(value, intern!(py, "jax"), "Array")? {
        return Ok(false);
    }
    if libraries::is_instance(value, intern!(py, "jax.core"), "Tracer")? {
        return Err(PyTypeError::new_err(
            "JAX tracers have no values yet; call lanecast outside jax.jit, or use x.astype inside",
        ));
    }
    Ok(true)
}

enum Made<'py> {
    Numpy(NumpyArray<'py>),
    Torch(Tensor<'py>),
    Buffer(Bound<'py, PyBuffer>, Bound<'py, PyAny>),
}

/// A new array that a cast writes and returns.
pub struct Answer<'py> {
    pub array: Array,
    library: Library,
    made: Made<'py>,
}

impl<'py> Answer<'py> {
    /// The array as an object of its library. All elements must be written.
    pub fn finish(self) -> PyResult<Bound<'py, PyAny>> {
        match self.made {
            Made::Numpy(array) if self.library == Library::NumpyScalar => array.object().get_item(()),
            Made::Numpy(array) => Ok(array.object().clone()),
            Made::Torch(tensor) => Ok(tensor.object().clone()),
            Made::Buffer(buffer, _) if self.library == Library::Jax => to_jax(&buffer),
            Made::Buffer(buffer, source) => to_other(&buffer, &source),
        }
    }
}

/// Whether JAX can import the dtype through DLPack.
fn jax_imports(dtype: DType) -> bool {
    !dtype.is_sub_byte()
}

fn to_jax<'py>(buffer: &Bound<'py, PyBuffer>) -> PyResult<Bound<'py, PyAny>> {
    let py = buffer.py();
    let dtype = buffer.get().array()?.encoding().dtype();
    let imported = if jax_imports(dtype) {
        py.import("jax.dlpack")?.call_method1("from_dlpack", (buffer,)).ok()
    } else {
        None
    };
    // JAX copies what it cannot import.
    let array = match imported {
        Some(array) => array,
        None => py.import("jax.numpy")?.call_method1("array", (PyBuffer::numpy(buffer)?,))?,
    };
    let became = libraries::dtype_of(&array)?.getattr("name")?;
    if !became.eq(dtype.name())? {
        return Err(crate::errors::dtype_error(
            py,
            format!(
                "JAX changed {dtype} to {became}; 64-bit dtypes need jax.config.update(\"jax_enable_x64\", True)"
            ),
        ));
    }
    Ok(array)
}

fn to_other<'py>(buffer: &Bound<'py, PyBuffer>, source: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = buffer.py();
    if source.is_instance_of::<PyBuffer>() {
        return Ok(buffer.clone().into_any());
    }
    if let Ok(namespace) = source.call_method0("__array_namespace__")
        && let Ok(array) = namespace.call_method1("from_dlpack", (buffer,))
    {
        return Ok(array);
    }
    if numpy::loaded(py)?.is_some() && buffer.get().array()?.encoding().storage() == Storage::Byte {
        return PyBuffer::numpy(buffer);
    }
    Ok(buffer.clone().into_any())
}
