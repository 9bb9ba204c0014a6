//! PyTorch, through the attributes of its tensors. Its DLPack export drops the negative and conjugate bits.

use crate::errors::dtype_error;
use crate::libraries;
use crate::memory::{self, Array};
use crate::numpy::Order;
use lanecast::strided::Layout;
use lanecast::{BufferType, DType, Storage, names::Namespace};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

/// Two elements per byte. The shape in PyTorch counts bytes.
const PACKED: &str = "float4_e2m1fn_x2";

/// The addresses of the dtype objects, which live as long as the module.
static DTYPES: PyOnceLock<Vec<(usize, BufferType)>> = PyOnceLock::new();

fn loaded(py: Python<'_>) -> PyResult<Option<Bound<'_, PyAny>>> {
    let module = libraries::loaded(py, intern!(py, "torch"))?;
    Ok(module.filter(|torch| torch.hasattr(intern!(py, "Tensor")).unwrap_or(false)))
}

fn dtypes<'a>(torch: &Bound<'_, PyAny>) -> &'a [(usize, BufferType)] {
    let py = torch.py();
    let found: &'static Vec<_> = DTYPES.get_or_init(py, || {
        let named = DType::EVERY.iter().filter_map(|dtype| {
            let name = Namespace::Torch.name(*dtype)?;
            Some((torch.getattr(name).ok()?.as_ptr().addr(), BufferType::new(*dtype)))
        });
        let packed = torch.getattr(PACKED).ok();
        let packed = packed.map(|dtype| (dtype.as_ptr().addr(), BufferType::packed(DType::Float4E2M1FN)));
        named.chain(packed).collect()
    });
    found
}

/// The dtype of a `torch.dtype`; `None` for other values.
pub fn dtype_argument(value: &Bound<'_, PyAny>) -> PyResult<Option<BufferType>> {
    let py = value.py();
    let Some(torch) = loaded(py)? else { return Ok(None) };
    if !value.get_type().is(torch.getattr(intern!(py, "dtype"))?) {
        return Ok(None);
    }
    let own = value.as_ptr().addr();
    match dtypes(&torch).iter().find(|(known, _)| *known == own) {
        Some((_, buffer)) => Ok(Some(*buffer)),
        None => Err(dtype_error(py, format!("{} is not supported", value.repr()?))),
    }
}

/// The `torch.dtype` of a dtype.
pub fn dtype(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    named(py, BufferType::new(dtype))
}

fn named(py: Python<'_>, of: BufferType) -> PyResult<Bound<'_, PyAny>> {
    let dtype = of.dtype();
    let name = match Namespace::Torch.name(dtype) {
        _ if dtype == DType::Float4E2M1FN => Some(PACKED),
        name => name,
    };
    let found = name.and_then(|name| py.import("torch").ok()?.getattr(name).ok());
    found.ok_or_else(|| {
        dtype_error(py, format!("PyTorch has no dtype {dtype}; pass x.numpy() to get a NumPy array instead"))
    })
}

/// A PyTorch tensor in CPU memory.
pub struct Tensor<'py> {
    object: Bound<'py, PyAny>,
    pub array: Array,
}

impl<'py> Tensor<'py> {
    /// The tensor, if the value is a PyTorch tensor.
    pub fn of(value: &Bound<'py, PyAny>, write: bool) -> PyResult<Option<Tensor<'py>>> {
        let py = value.py();
        let Some(torch) = loaded(py)? else { return Ok(None) };
        if !value.is_instance(&torch.getattr(intern!(py, "Tensor"))?)? {
            return Ok(None);
        }
        let device = value.getattr(intern!(py, "device"))?.getattr(intern!(py, "type"))?;
        if device.eq("meta")? {
            return Err(PyValueError::new_err(
                "the tensor is on device meta, so it has a shape but no values; cast it after the values are loaded",
            ));
        }
        if !device.eq("cpu")? {
            return Err(PyValueError::new_err(format!("the tensor is on device {device}; pass x.cpu()")));
        }
        if !value.getattr(intern!(py, "layout"))?.is(torch.getattr("strided")?) {
            return Err(PyTypeError::new_err("the tensor is not strided; pass x.to_dense()"));
        }
        // Where gradients are not recorded, parameters are tensors like others.
        if value.getattr(intern!(py, "requires_grad"))?.is_truthy()?
            && torch.call_method0(intern!(py, "is_grad_enabled"))?.is_truthy()?
        {
            return Err(PyTypeError::new_err(
                "the tensor requires grad, but lanecast does not record gradients; pass x.detach(), or call lanecast under torch.no_grad()",
            ));
        }
        let lazy = value.call_method0(intern!(py, "is_neg"))?.is_truthy()?
            || value.call_method0(intern!(py, "is_conj"))?.is_truthy()?;
        if lazy && write {
            return Err(PyValueError::new_err(
                "`out` is a negated or conjugated view; pass a tensor that owns its memory",
            ));
        }
        let object = if lazy {
            value.call_method0("resolve_neg")?.call_method0("resolve_conj")?
        } else {
            value.clone()
        };
        Tensor::read(object).map(Some)
    }

    /// A strided tensor in CPU memory, whose elements are what its memory holds.
    fn read(object: Bound<'py, PyAny>) -> PyResult<Tensor<'py>> {
        let py = object.py();
        let buffer = dtype_argument(&libraries::dtype_of(&object)?)?
            .ok_or_else(|| PyTypeError::new_err("the dtype of the tensor is not a torch.dtype"))?;
        let shape: Vec<usize> = object.getattr(intern!(py, "shape"))?.extract()?;
        let strides: Vec<isize> = object.call_method0(intern!(py, "stride"))?.extract()?;
        let layout = layout(buffer, shape, strides)?;
        let data: usize = object.call_method0(intern!(py, "data_ptr"))?.extract()?;
        if data == 0 && layout.elements() > 0 {
            return Err(PyTypeError::new_err(
                "the tensor has no memory; meta and fake tensors cannot be cast",
            ));
        }
        let data = std::ptr::with_exposed_provenance_mut(data);
        // SAFETY: the memory is valid while the tensor lives, and the result keeps it alive.
        let array = unsafe { Array::new(data, layout) };
        Ok(Tensor { object, array })
    }

    pub fn object(&self) -> &Bound<'py, PyAny> {
        &self.object
    }

    /// A new, uninitialized tensor of the same shape.
    pub fn new_like(&self, order: Order, to: BufferType) -> PyResult<Tensor<'py>> {
        let py = self.object.py();
        let torch = py.import("torch")?;
        let keywords = keywords(py, to)?;
        let packed = to.dtype() == DType::Float4E2M1FN;
        let was_packed = self.array.buffer().storage() == Storage::Packed;
        let shape = self.array.shape();
        let fortran = order == Order::Fortran
            || order == Order::Any && !self.array.is_c_contiguous() && is_fortran(&self.array);
        let new = if packed || was_packed {
            let mut shape = shape.to_vec();
            if packed {
                match shape.last_mut() {
                    Some(last) if last.is_multiple_of(2) => *last /= 2,
                    _ => {
                        return Err(PyValueError::new_err(
                            "float4_e2m1fn_x2 stores two elements per byte, so the last axis must have an even length",
                        ));
                    }
                }
            }
            torch.call_method("empty", (PyTuple::new(py, shape)?,), Some(&keywords))?
        } else if fortran {
            let mut step = 1;
            let strides: Vec<usize> = shape
                .iter()
                .map(|len| {
                    let stride = step;
                    step *= (*len).max(1);
                    stride
                })
                .collect();
            let sizes = (PyTuple::new(py, shape)?, PyTuple::new(py, strides)?);
            torch.call_method("empty_strided", sizes, Some(&keywords))?
        } else {
            let format = if order == Order::Keep { "preserve_format" } else { "contiguous_format" };
            keywords.set_item("memory_format", torch.getattr(format)?)?;
            torch.call_method("empty_like", (&self.object,), Some(&keywords))?
        };
        Tensor::made(new)
    }

    /// A new, uninitialized tensor in C order, of a dtype without packed elements.
    pub fn new(py: Python<'py>, shape: &[usize], to: BufferType) -> PyResult<Tensor<'py>> {
        let keywords = keywords(py, to)?;
        let shape = PyTuple::new(py, shape)?;
        Tensor::made(py.import("torch")?.call_method("empty", (shape,), Some(&keywords))?)
    }

    fn made(new: Bound<'py, PyAny>) -> PyResult<Tensor<'py>> {
        let new = Tensor::read(new)?;
        let span = new.array.span();
        memory::prefer_huge_pages(span.start, span.len());
        Ok(new)
    }
}

/// The arguments of functions that make a tensor, which are not to take another default.
fn keywords(py: Python<'_>, to: BufferType) -> PyResult<Bound<'_, PyDict>> {
    let keywords = PyDict::new(py);
    keywords.set_item("dtype", named(py, to)?)?;
    keywords.set_item("device", "cpu")?;
    Ok(keywords)
}

fn is_fortran(array: &Array) -> bool {
    let mut step = array.buffer().dtype().size() as isize;
    array.shape().iter().zip(array.layout().strides()).all(|(len, stride)| {
        let follows = *len <= 1 || *stride == step;
        step = step.saturating_mul(*len as isize);
        follows
    })
}

fn layout(buffer: BufferType, mut shape: Vec<usize>, mut strides: Vec<isize>) -> PyResult<Layout> {
    let made = if buffer.storage() == Storage::Packed {
        let mut step = 1;
        for (len, stride) in shape.iter().zip(&strides).rev() {
            if *len > 1 && *stride != step {
                return Err(PyValueError::new_err(
                    "a tensor of packed elements must be contiguous; pass x.contiguous()",
                ));
            }
            step *= *len as isize;
        }
        match shape.last_mut() {
            Some(last) => *last *= 2,
            None => shape.push(2),
        }
        Layout::contiguous(buffer, &shape)
    } else {
        let size = buffer.dtype().size() as isize;
        strides.iter_mut().for_each(|stride| *stride = stride.saturating_mul(size));
        Layout::new(buffer, &shape, &strides)
    };
    made.map_err(|error| PyValueError::new_err(error.to_string()))
}
