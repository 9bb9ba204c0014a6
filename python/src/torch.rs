//! PyTorch, through the attributes of its tensors.
//!
//! DLPack alone does not describe a tensor: the exports of PyTorch ignore the negative and conjugate bits, and name `int4` as `int8`. The C
//! function of DLPack's exchange API gives the address, the shape and the strides in a tenth of the time that the attributes take. So they
//! come from there, if the version of PyTorch has it, and the rest from the attributes.

use crate::dlpack::{Exchange, Plain};
use crate::errors::dtype_error;
use crate::libraries;
use crate::memory::{self, Array};
use crate::numpy::Order;
use lanecast::strided::Layout;
use lanecast::{DType, Encoding, Kind, Storage, names::Namespace};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};

/// Two elements per byte. The shape in PyTorch counts bytes.
const PACKED: &str = "float4_e2m1fn_x2";

/// What a call needs of the module, looked up once.
struct Torch {
    module: Py<PyAny>,
    /// The address of `torch.Tensor`, which lives as long as the module.
    tensor: usize,
    dtypes: Vec<Known>,
    exchange: Option<Exchange>,
}

/// A `torch.dtype`.
struct Known {
    object: Py<PyAny>,
    buffer: Encoding,
    /// The keyword arguments of functions that make a tensor of the dtype, which are not to take another device.
    keywords: Py<PyDict>,
}

static TORCH: PyOnceLock<Torch> = PyOnceLock::new();

/// PyTorch, if the program has imported it.
fn loaded(py: Python<'_>) -> PyResult<Option<&'static Torch>> {
    if let Some(found) = TORCH.get(py) {
        return Ok(Some(found));
    }
    match libraries::loaded(py, intern!(py, "torch"))? {
        // While it is being imported, it may lack the class. Dtypes are there before it.
        Some(module) if module.hasattr(intern!(py, "Tensor"))? => known(&module).map(Some),
        _ => Ok(None),
    }
}

/// PyTorch, which is imported if necessary.
fn imported(py: Python<'_>) -> PyResult<&'static Torch> {
    match TORCH.get(py) {
        Some(found) => Ok(found),
        None => known(py.import("torch")?.as_any()),
    }
}

fn known(module: &Bound<'_, PyAny>) -> PyResult<&'static Torch> {
    let py = module.py();
    TORCH.get_or_try_init(py, || {
        let cpu = module.getattr("device")?.call1(("cpu",))?;
        let packed = (PACKED, Encoding::packed(DType::Float4E2M1FN));
        let named = DType::EVERY
            .iter()
            .filter_map(|dtype| Some((Namespace::Torch.name(*dtype)?, Encoding::new(*dtype))));
        let mut dtypes = Vec::new();
        for (name, buffer) in named.chain([packed]) {
            // Older versions lack some of them.
            let Ok(object) = module.getattr(name) else { continue };
            let keywords = PyDict::new(py);
            keywords.set_item(intern!(py, "dtype"), &object)?;
            keywords.set_item(intern!(py, "device"), &cpu)?;
            dtypes.push(Known { object: object.unbind(), buffer, keywords: keywords.unbind() });
        }
        let tensor = module.getattr("Tensor")?;
        Ok(Torch {
            module: module.clone().unbind(),
            tensor: tensor.as_ptr().addr(),
            dtypes,
            exchange: Exchange::of(&tensor),
        })
    })
}

impl Torch {
    fn module<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.module.bind(py)
    }

    fn is_tensor(&self, value: &Bound<'_, PyAny>) -> bool {
        let own = value.get_type_ptr();
        // SAFETY: both are classes.
        own.addr() == self.tensor
            || unsafe { ffi::PyType_IsSubtype(own, self.tensor as *mut ffi::PyTypeObject) } != 0
    }

    fn known(&self, py: Python<'_>, dtype: DType) -> PyResult<&Known> {
        let of = match dtype {
            DType::Float4E2M1FN => Encoding::packed(dtype),
            dtype => Encoding::new(dtype),
        };
        self.dtypes.iter().find(|known| known.buffer == of).ok_or_else(|| {
            dtype_error(
                py,
                format!("PyTorch has no dtype {dtype}; pass x.numpy() to get a NumPy array instead"),
            )
        })
    }

    /// Calls a function of the module that makes a tensor.
    fn call<'py>(
        &self,
        function: &Bound<'py, PyString>,
        arguments: impl PyCallArgs<'py>,
        to: DType,
        format: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = function.py();
        // A copy, since a mode of PyTorch may change the arguments.
        let keywords = self.known(py, to)?.keywords.bind(py).copy()?;
        if let Some(format) = format {
            keywords.set_item("memory_format", self.module(py).getattr(format)?)?;
        }
        self.module(py).getattr(function)?.call(arguments, Some(&keywords))
    }

    fn dense<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Option<Dense<'py>>> {
        let Some(Plain { data, shape, strides }) = self.plain(value) else { return Ok(None) };
        let mut elements = 1_usize;
        for (len, stride) in shape.iter().zip(&strides).rev() {
            if usize::try_from(*stride) != Ok(elements) {
                return Ok(None);
            }
            elements = elements.saturating_mul(*len);
        }
        let buffer = buffer_of(value)?;
        // The shape counts bytes of packed elements, and empty tensors have other strides.
        let usual = buffer.storage() == Storage::Byte && elements > 0;
        Ok(usual.then(|| Dense { object: value.clone(), buffer, data, elements }))
    }

    /// The memory of a strided tensor on the CPU. Not of a subclass, which may have other ideas about its memory.
    fn plain(&self, value: &Bound<'_, PyAny>) -> Option<Plain> {
        if value.get_type_ptr().addr() != self.tensor {
            return None;
        }
        self.exchange.as_ref()?.plain(value)
    }
}

/// The dtype of a `torch.dtype`; `None` for other values.
pub fn dtype_argument(value: &Bound<'_, PyAny>) -> PyResult<Option<Encoding>> {
    let py = value.py();
    let Some(torch) = loaded(py)? else { return Ok(None) };
    if let Some(known) = torch.dtypes.iter().find(|known| known.object.is(value)) {
        return Ok(Some(known.buffer));
    }
    if !value.get_type().is(torch.module(py).getattr(intern!(py, "dtype"))?) {
        return Ok(None);
    }
    Err(dtype_error(py, format!("{} is not supported", value.repr()?)))
}

/// The `torch.dtype` of a dtype.
pub fn dtype(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    Ok(imported(py)?.known(py, dtype)?.object.bind(py).clone())
}

fn buffer_of(tensor: &Bound<'_, PyAny>) -> PyResult<Encoding> {
    dtype_argument(&libraries::dtype_of(tensor)?)?
        .ok_or_else(|| PyTypeError::new_err("the dtype of the tensor is not a torch.dtype"))
}

/// Whether the elements of a tensor are the negatives or conjugates of those in its memory. Fails if PyTorch would record its gradient.
fn is_lazy(torch: &Bound<'_, PyAny>, tensor: &Bound<'_, PyAny>, dtype: DType) -> PyResult<bool> {
    let py = tensor.py();
    // Where gradients are not recorded, parameters are tensors like others.
    if tensor.getattr(intern!(py, "requires_grad"))?.is_truthy()?
        && torch.call_method0(intern!(py, "is_grad_enabled"))?.is_truthy()?
    {
        return Err(PyTypeError::new_err(
            "the tensor requires grad, but lanecast does not record gradients; pass x.detach(), or call lanecast under torch.no_grad()",
        ));
    }
    let is = |name| tensor.call_method0(name)?.is_truthy();
    Ok(is(intern!(py, "is_neg"))? || dtype.kind() == Kind::Complex && is(intern!(py, "is_conj"))?)
}

/// A C-contiguous tensor in CPU memory, read by the exchange API. It has no layout, which takes longer to copy than a few elements take to
/// cast.
pub struct Dense<'py> {
    object: Bound<'py, PyAny>,
    pub buffer: Encoding,
    pub data: *mut u8,
    pub elements: usize,
}

impl<'py> Dense<'py> {
    /// The tensor, if it is one whose elements are what its memory holds.
    pub fn source(value: &Bound<'py, PyAny>) -> PyResult<Option<Dense<'py>>> {
        let Some(torch) = loaded(value.py())? else { return Ok(None) };
        match torch.dense(value)? {
            Some(dense) if !is_lazy(torch.module(value.py()), value, dense.buffer.dtype())? => {
                Ok(Some(dense))
            }
            _ => Ok(None),
        }
    }

    /// A new, uninitialized tensor of the same shape, if PyTorch makes what it is told to.
    pub fn new_like(&self, to: DType) -> PyResult<Option<Dense<'py>>> {
        let py = self.object.py();
        let torch = imported(py)?;
        let new = torch.call(intern!(py, "empty_like"), (&self.object,), to, None)?;
        let new = torch.dense(&new)?;
        let new = new.filter(|new| new.buffer == Encoding::new(to) && new.elements == self.elements);
        if let Some(new) = &new {
            memory::prefer_huge_pages(new.data.addr(), new.elements.saturating_mul(to.size()));
        }
        Ok(new)
    }

    pub fn object(self) -> Bound<'py, PyAny> {
        self.object
    }
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
        if !torch.is_tensor(value) {
            return Ok(None);
        }
        let plain = torch.plain(value);
        if plain.is_none() {
            let device = value.getattr(intern!(py, "device"))?.getattr(intern!(py, "type"))?;
            if device.eq("meta")? {
                return Err(PyValueError::new_err(
                    "the tensor is on device meta, so it has a shape but no values; cast it after the values are loaded",
                ));
            }
            if !device.eq("cpu")? {
                return Err(PyValueError::new_err(format!("the tensor is on device {device}; pass x.cpu()")));
            }
            if !value.getattr(intern!(py, "layout"))?.is(torch.module(py).getattr(intern!(py, "strided"))?) {
                return Err(PyTypeError::new_err("the tensor is not strided; pass x.to_dense()"));
            }
        }
        let buffer = buffer_of(value)?;
        let lazy = is_lazy(torch.module(py), value, buffer.dtype())?;
        if lazy && write {
            return Err(PyValueError::new_err(
                "`out` is a negated or conjugated view; pass a tensor that owns its memory",
            ));
        }
        if lazy {
            return Tensor::read(
                value.call_method0("resolve_neg")?.call_method0("resolve_conj")?,
                buffer,
                None,
            )
            .map(Some);
        }
        Tensor::read(value.clone(), buffer, plain).map(Some)
    }

    /// A strided tensor in CPU memory, whose elements are what its memory holds.
    fn read(object: Bound<'py, PyAny>, buffer: Encoding, plain: Option<Plain>) -> PyResult<Tensor<'py>> {
        let py = object.py();
        let Plain { data, shape, strides } = match plain {
            Some(plain) => plain,
            None => {
                let data: usize = object.call_method0(intern!(py, "data_ptr"))?.extract()?;
                Plain {
                    data: std::ptr::with_exposed_provenance_mut(data),
                    shape: object.getattr(intern!(py, "shape"))?.extract()?,
                    strides: object.call_method0(intern!(py, "stride"))?.extract()?,
                }
            }
        };
        let layout = layout(buffer, shape, strides)?;
        if data.is_null() && layout.elements() > 0 {
            return Err(PyTypeError::new_err(
                "the tensor has no memory; meta and fake tensors cannot be cast",
            ));
        }
        // SAFETY: the memory is valid while the tensor lives, and the result keeps it alive.
        let array = unsafe { Array::new(data, layout) };
        Ok(Tensor { object, array })
    }

    pub fn object(&self) -> &Bound<'py, PyAny> {
        &self.object
    }

    /// A new, uninitialized tensor of the same shape.
    pub fn new_like(&self, order: Order, to: Encoding) -> PyResult<Tensor<'py>> {
        let py = self.object.py();
        let (torch, to) = (imported(py)?, to.dtype());
        let packed = to == DType::Float4E2M1FN;
        let was_packed = self.array.encoding().storage() == Storage::Packed;
        let shape = self.array.shape();
        let fortran = order == Order::Fortran
            || order == Order::Any && !self.array.is_c_contiguous() && is_fortran(&self.array);
        if packed || was_packed {
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
            Tensor::made(torch.call(intern!(py, "empty"), (PyTuple::new(py, shape)?,), to, None)?)
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
            Tensor::made(torch.call(intern!(py, "empty_strided"), sizes, to, None)?)
        } else {
            // By default, the strides are kept.
            let format = (order != Order::Keep).then_some("contiguous_format");
            Tensor::made(torch.call(intern!(py, "empty_like"), (&self.object,), to, format)?)
        }
    }

    /// A new, uninitialized tensor in C order, of a dtype without packed elements.
    pub fn new(py: Python<'py>, shape: &[usize], to: Encoding) -> PyResult<Tensor<'py>> {
        Tensor::made(imported(py)?.call(
            intern!(py, "empty"),
            (PyTuple::new(py, shape)?,),
            to.dtype(),
            None,
        )?)
    }

    fn made(new: Bound<'py, PyAny>) -> PyResult<Tensor<'py>> {
        let plain = imported(new.py())?.plain(&new);
        let buffer = buffer_of(&new)?;
        let new = Tensor::read(new, buffer, plain)?;
        let span = new.array.span();
        memory::prefer_huge_pages(span.start, span.len());
        Ok(new)
    }
}

fn is_fortran(array: &Array) -> bool {
    let mut step = array.encoding().dtype().size() as isize;
    array.shape().iter().zip(array.layout().strides()).all(|(len, stride)| {
        let follows = *len <= 1 || *stride == step;
        step = step.saturating_mul(*len as isize);
        follows
    })
}

fn layout(buffer: Encoding, mut shape: Vec<usize>, mut strides: Vec<isize>) -> PyResult<Layout> {
    let made = if buffer.storage() == Storage::Packed {
        let mut step = 1;
        for (len, stride) in shape.iter().zip(&strides).rev() {
            if *len > 1 && *stride != step && !shape.contains(&0) {
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
