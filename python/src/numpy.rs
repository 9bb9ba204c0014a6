//! NumPy and ml_dtypes, through the C API of NumPy.
//!
//! The C API imports NumPy on first use. So nothing here calls it before [`loaded`] has found NumPy in `sys.modules`, or [`imported`] has
//! imported it because the result is a NumPy array.

use crate::errors::dtype_error;
use crate::libraries;
use crate::memory::Array;
use lanecast::strided::Layout;
use lanecast::{ByteOrder, DType, Encoding, names::Namespace};
use numpy::npyffi::{
    NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_F_CONTIGUOUS, NPY_ARRAY_WRITEABLE, NPY_ORDER, NpyTypes, PY_ARRAY_API,
    PyArray_Descr, PyArrayObject, get_type_object,
};
use pyo3::exceptions::{PyImportError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::ffi::{c_int, c_long};
use std::slice;

/// The addresses of NumPy classes, which live as long as the interpreter.
pub struct Numpy {
    array: usize,
    dtype: usize,
    scalar: usize,
    /// The scalar classes of the built-in numbers.
    classes: Vec<(usize, DType)>,
}

static NUMPY: PyOnceLock<Numpy> = PyOnceLock::new();
/// The scalar classes of ml_dtypes.
static ML_DTYPES: PyOnceLock<Vec<(usize, DType)>> = PyOnceLock::new();
static DESCRS: [PyOnceLock<Py<PyAny>>; DType::EVERY.len()] =
    [const { PyOnceLock::new() }; DType::EVERY.len()];

/// The dtype of a NumPy type number. `long` and `longlong` have different numbers, even if they have the same width.
const fn builtin(number: c_int) -> Option<DType> {
    const LONG_IS_64: bool = size_of::<c_long>() == 8;
    Some(match number {
        0 => DType::Bool,
        1 => DType::Int8,
        2 => DType::UInt8,
        3 => DType::Int16,
        4 => DType::UInt16,
        5 => DType::Int32,
        6 => DType::UInt32,
        7 if LONG_IS_64 => DType::Int64,
        7 => DType::Int32,
        8 if LONG_IS_64 => DType::UInt64,
        8 => DType::UInt32,
        9 => DType::Int64,
        10 => DType::UInt64,
        11 => DType::Float32,
        12 => DType::Float64,
        14 => DType::Complex64,
        15 => DType::Complex128,
        23 => DType::Float16,
        _ => return None,
    })
}

/// NumPy, if the program has imported it.
pub fn loaded(py: Python<'_>) -> PyResult<Option<&'static Numpy>> {
    // SAFETY: statics live forever; `get` ties the reference to the token only.
    if let Some(found) = NUMPY.get(py) {
        return Ok(Some(found));
    }
    match libraries::loaded(py, intern!(py, "numpy"))? {
        // It is being imported.
        Some(module) if !module.hasattr("ndarray")? => Ok(None),
        Some(_) => imported(py).map(Some),
        None => Ok(None),
    }
}

/// NumPy, which is imported if necessary.
pub fn imported(py: Python<'_>) -> PyResult<&'static Numpy> {
    NUMPY.get_or_try_init(py, || {
        py.import("numpy").map_err(|error| {
            let advice =
                PyImportError::new_err("the result is a NumPy array; install numpy or lanecast[numpy]");
            advice.set_cause(py, Some(error));
            advice
        })?;
        let class = |of| {
            // SAFETY: NumPy is imported.
            unsafe { get_type_object(py, of) }.addr()
        };
        let mut classes = Vec::new();
        for number in 0..24 {
            let Some(dtype) = builtin(number) else { continue };
            // SAFETY: NumPy is imported, and has these numbers; the reference is new.
            let descr = unsafe {
                let descr = PY_ARRAY_API.PyArray_DescrFromType(py, number);
                Bound::from_owned_ptr_or_err(py, descr.cast())?
            };
            classes.push((descr.getattr("type")?.as_ptr().addr(), dtype));
        }
        Ok(Numpy {
            array: class(NpyTypes::PyArray_Type),
            dtype: class(NpyTypes::PyArrayDescr_Type),
            scalar: class(NpyTypes::PyGenericArrType_Type),
            classes,
        })
    })
}

/// The scalar classes of ml_dtypes, if the program has imported it.
fn ml_dtypes(py: Python<'_>) -> PyResult<&'static [(usize, DType)]> {
    if let Some(found) = ML_DTYPES.get(py) {
        return Ok(found);
    }
    let Some(module) = libraries::loaded(py, intern!(py, "ml_dtypes"))? else { return Ok(&[]) };
    if !module.hasattr("finfo")? {
        return Ok(&[]);
    }
    let found = ML_DTYPES.get_or_init(py, || {
        let named = DType::EVERY.iter().filter_map(|dtype| Some((Namespace::MlDtypes.name(*dtype)?, *dtype)));
        // Older versions lack some of them. The classes live as long as the module, which is never unloaded.
        named.filter_map(|(name, dtype)| Some((module.getattr(name).ok()?.as_ptr().addr(), dtype))).collect()
    });
    Ok(found)
}

fn is_subclass(value: &Bound<'_, PyAny>, class: usize) -> bool {
    let own = value.get_type_ptr();
    // SAFETY: both are classes.
    own.addr() == class || unsafe { ffi::PyType_IsSubtype(own, class as *mut ffi::PyTypeObject) } != 0
}

impl Numpy {
    pub fn is_exact_array(&self, value: &Bound<'_, PyAny>) -> bool {
        value.get_type_ptr().addr() == self.array
    }

    pub fn is_array(&self, value: &Bound<'_, PyAny>) -> bool {
        is_subclass(value, self.array)
    }

    pub fn is_scalar(&self, value: &Bound<'_, PyAny>) -> bool {
        is_subclass(value, self.scalar)
    }
}

/// Whether the value is a `numpy.dtype`.
pub fn is_dtype(value: &Bound<'_, PyAny>) -> bool {
    matches!(loaded(value.py()), Ok(Some(numpy)) if is_subclass(value, numpy.dtype))
}

/// The dtype of a `numpy.dtype` or scalar class; `None` for other values.
pub fn dtype_argument(value: &Bound<'_, PyAny>) -> PyResult<Option<Encoding>> {
    let py = value.py();
    let Some(numpy) = loaded(py)? else { return Ok(None) };
    if is_subclass(value, numpy.dtype) {
        // SAFETY: the class was just compared.
        return unsafe { buffer_type(py, value.as_ptr().cast()) }.map(Some);
    }
    let own = value.as_ptr().addr();
    let mut known = numpy.classes.iter().chain(ml_dtypes(py)?);
    if let Some((_, dtype)) = known.find(|(class, _)| *class == own) {
        return Ok(Some(Encoding::new(*dtype)));
    }
    let is_bool = own == (&raw mut ffi::PyBool_Type).addr();
    Ok(is_bool.then(|| Encoding::new(DType::Bool)))
}

/// The encoding of arrays of this `numpy.dtype`.
///
/// # Safety
///
/// `descr` is a `numpy.dtype`.
unsafe fn buffer_type(py: Python<'_>, descr: *mut PyArray_Descr) -> PyResult<Encoding> {
    // SAFETY: the caller's promise; the fields are the same in all versions of NumPy.
    let fields = unsafe { &(*descr).fields };
    let dtype = match builtin(fields.type_num) {
        Some(dtype) => Some(dtype),
        None => {
            let class = fields.typeobj.addr();
            ml_dtypes(py)?.iter().find(|(known, _)| *known == class).map(|(_, dtype)| *dtype)
        }
    };
    let Some(dtype) = dtype else {
        // SAFETY: the caller's promise.
        let descr = unsafe { Bound::from_borrowed_ptr(py, descr.cast()) };
        return Err(dtype_error(
            py,
            format!(
                "{} is not supported; lanecast casts the bool, integer, floating-point and complex dtypes of NumPy and ml_dtypes",
                descr.repr()?
            ),
        ));
    };
    Ok(Encoding::new(dtype).with_order(match fields.byteorder as u8 {
        b'<' => ByteOrder::Little,
        b'>' => ByteOrder::Big,
        _ => ByteOrder::NATIVE,
    }))
}

/// The `numpy.dtype` of an encoding. NumPy must be imported.
pub fn descr(py: Python<'_>, of: Encoding) -> PyResult<Bound<'_, PyAny>> {
    let dtype = of.dtype();
    let native = DESCRS[usize::from(dtype.code())].get_or_try_init(py, || native_descr(py, dtype))?.bind(py);
    if !of.is_swapped() {
        return Ok(native.clone());
    }
    let order = match of.order() {
        ByteOrder::Little => b'<',
        ByteOrder::Big => b'>',
    };
    // SAFETY: a `numpy.dtype`; the reference is new.
    unsafe {
        let swapped = PY_ARRAY_API.PyArray_DescrNewByteorder(py, native.as_ptr().cast(), order as _);
        Bound::from_owned_ptr_or_err(py, swapped.cast())
    }
}

fn native_descr(py: Python<'_>, dtype: DType) -> PyResult<Py<PyAny>> {
    let numpy = py.import("numpy")?;
    let Some(name) = Namespace::MlDtypes.name(dtype) else {
        return Ok(numpy.getattr("dtype")?.call1((dtype.name(),))?.unbind());
    };
    let module = py.import("ml_dtypes").map_err(|error| {
        let advice = PyImportError::new_err(format!(
            "NumPy arrays of {name} need the package ml_dtypes; install ml_dtypes or lanecast[ml-dtypes]"
        ));
        advice.set_cause(py, Some(error));
        advice
    })?;
    let class = module.getattr(name).map_err(|_| {
        PyImportError::new_err(format!("this version of ml_dtypes has no {name}; install a newer one"))
    })?;
    Ok(numpy.getattr("dtype")?.call1((class,))?.unbind())
}

/// The memory layout of a new array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Keep,
    C,
    Fortran,
    Any,
}

impl Order {
    pub fn parse(name: &str) -> PyResult<Order> {
        crate::options::choose(
            "order",
            &[("K", Order::Keep), ("C", Order::C), ("F", Order::Fortran), ("A", Order::Any)],
            name,
        )
    }

    const fn code(self) -> NPY_ORDER {
        match self {
            Order::Keep => NPY_ORDER::NPY_KEEPORDER,
            Order::C => NPY_ORDER::NPY_CORDER,
            Order::Fortran => NPY_ORDER::NPY_FORTRANORDER,
            Order::Any => NPY_ORDER::NPY_ANYORDER,
        }
    }
}

/// A NumPy array.
#[derive(Clone)]
pub struct NumpyArray<'py>(Bound<'py, PyAny>);

impl<'py> NumpyArray<'py> {
    /// The array, if the value is a NumPy array.
    pub fn of(numpy: &Numpy, value: &Bound<'py, PyAny>) -> PyResult<Option<NumpyArray<'py>>> {
        if numpy.is_exact_array(value) {
            return Ok(Some(NumpyArray(value.clone())));
        }
        if !numpy.is_array(value) {
            return Ok(None);
        }
        let py = value.py();
        if let Some(masked) = libraries::loaded(py, intern!(py, "numpy.ma"))?
            && value.is_instance(&masked.getattr("MaskedArray")?)?
        {
            return Err(PyTypeError::new_err(
                "masked arrays are not supported, because the mask would be lost; cast x.data and keep x.mask, or pass x.filled()",
            ));
        }
        Ok(Some(NumpyArray(value.clone())))
    }

    fn pointer(&self) -> *mut PyArrayObject {
        self.0.as_ptr().cast()
    }

    pub fn object(&self) -> &Bound<'py, PyAny> {
        &self.0
    }

    pub fn encoding(&self) -> PyResult<Encoding> {
        // SAFETY: the object is an array, and has a dtype.
        unsafe { buffer_type(self.0.py(), (*self.pointer()).fields.descr) }
    }

    fn flags(&self) -> c_int {
        // SAFETY: the object is an array.
        unsafe { (*self.pointer()).fields.flags }
    }

    pub fn is_writable(&self) -> bool {
        self.flags() & NPY_ARRAY_WRITEABLE != 0
    }

    /// The address of the first element and the number of elements, if the array is contiguous in C or Fortran order.
    pub fn dense(&self) -> Option<(*mut u8, usize)> {
        if self.flags() & (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS) == 0 {
            return None;
        }
        let n = self.shape().iter().product();
        // SAFETY: the object is an array.
        Some((unsafe { (*self.pointer()).fields.data }.cast(), n))
    }

    pub fn is_fortran_only(&self) -> bool {
        self.flags() & (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS) == NPY_ARRAY_F_CONTIGUOUS
    }

    fn axes(&self) -> usize {
        // SAFETY: the object is an array.
        unsafe { (*self.pointer()).fields.nd as usize }
    }

    fn shape(&self) -> &[usize] {
        match self.axes() {
            0 => &[],
            // SAFETY: there is one length per axis, and none is negative. Python code does not run while the slice is in use.
            axes => unsafe { slice::from_raw_parts((*self.pointer()).fields.dimensions.cast(), axes) },
        }
    }

    pub fn array(&self) -> PyResult<Array> {
        // First, since it may run Python code, which may give the array another shape.
        let buffer = self.encoding()?;
        let strides = match self.axes() {
            0 => &[][..],
            // SAFETY: there is one stride per axis.
            axes => unsafe { slice::from_raw_parts((*self.pointer()).fields.strides, axes) },
        };
        let layout = Layout::new(buffer, self.shape(), strides)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        // SAFETY: the memory is valid while the object lives, and the caller keeps it alive.
        Ok(unsafe { Array::new((*self.pointer()).fields.data.cast(), layout) })
    }

    /// A new, uninitialized array of the same shape.
    pub fn new_like(&self, order: Order, of: Encoding) -> PyResult<NumpyArray<'py>> {
        let py = self.0.py();
        let descr = descr(py, of)?;
        // SAFETY: the object is an array; the function takes the reference to the dtype and returns a new one.
        unsafe {
            let new = PY_ARRAY_API.PyArray_NewLikeArray(
                py,
                self.pointer(),
                order.code(),
                descr.into_ptr().cast(),
                0,
            );
            Bound::from_owned_ptr_or_err(py, new).map(NumpyArray)
        }
    }

    /// A new array in C order.
    pub fn new(py: Python<'py>, shape: &[usize], of: Encoding) -> PyResult<NumpyArray<'py>> {
        imported(py)?;
        let descr = descr(py, of)?;
        let mut lengths: Vec<isize> = shape.iter().map(|len| *len as isize).collect();
        // SAFETY: as many lengths as there are axes; the function takes the reference to the dtype and returns a new one.
        unsafe {
            let new = PY_ARRAY_API.PyArray_NewFromDescr(
                py,
                get_type_object(py, NpyTypes::PyArray_Type),
                descr.into_ptr().cast(),
                lengths.len() as c_int,
                lengths.as_mut_ptr(),
                std::ptr::null_mut(),
                std::ptr::null_mut(),
                0,
                std::ptr::null_mut(),
            );
            Bound::from_owned_ptr_or_err(py, new).map(NumpyArray)
        }
    }
}
