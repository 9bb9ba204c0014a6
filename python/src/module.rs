//! The native half of the Python package `lanecast`.
//!
//! An array argument becomes an [`operand`]: an address and a layout, obtained from its library ([`numpy`], [`torch`], [`dlpack`]). A
//! cast is a plan of the crate `lanecast`. [`memory`] runs it between two operands, and releases the GIL if the cast takes long. The
//! module imports an array library only if the result is one of its arrays.

mod buffer;
mod bytes;
mod cast;
mod checkpoint;
mod dlpack;
mod dtype;
mod encoding;
mod errors;
mod files;
mod info;
mod interpreter;
mod libraries;
mod memory;
mod numpy;
mod onnx;
mod operand;
mod options;
mod plans;
mod program;
mod promotion;
mod quantize;
mod report;
mod runtime;
mod tasks;
mod text;
mod torch;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _lanecast {
    use super::*;

    #[pymodule_export]
    use crate::buffer::PyBuffer;
    #[pymodule_export]
    use crate::bytes::{cast_buffer, pack, unpack};
    #[pymodule_export]
    use crate::cast::{astype, astype_masked, count_losses};
    #[pymodule_export]
    use crate::checkpoint::{
        PyCheckpoint, checkpoint_check, checkpoint_compare, checkpoint_convert, checkpoint_dequantize,
        checkpoint_quantize,
    };
    #[pymodule_export]
    use crate::dtype::{PyDType, make};
    #[pymodule_export]
    use crate::encoding::PyEncoding;
    #[pymodule_export]
    use crate::files::{PyTensorFile, save_tensors};
    #[pymodule_export]
    use crate::info::{PyFInfo, PyIInfo, finfo, iinfo, isdtype};
    #[pymodule_export]
    use crate::onnx::{onnx_attributes, onnx_dynamic, onnx_linear};
    #[pymodule_export]
    use crate::program::run_program;
    #[pymodule_export]
    use crate::promotion::{can_cast, promote_types, result_type};
    #[pymodule_export]
    use crate::quantize::{dequantize_array, quantization_schemes, quantize_array};
    #[pymodule_export]
    use crate::report::PyReport;
    #[pymodule_export]
    use crate::runtime::{
        active_tier, enter_tier, explain, leave_tier, num_threads, set_num_threads, threads_variable,
    };
    #[pymodule_export]
    use crate::tasks::PyPlan;
    #[pymodule_export]
    use crate::text::{format_text, parse_text};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::interpreter::claim(module.py())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        crate::dtype::add_singletons(module)
    }
}
