//! The whole library as one shared object, for its size.
//!
//! A linker keeps what can be reached. Here that is every kernel of every tier, through plans that are resolved when they run, and every
//! module of the library. A plan reaches its modes with all operands: in place, strided, checked, counted and stochastic casts, on threads
//! and in batches. Beside it are text, ONNX, quantized
//! blocks, structured dtypes and promotion.

use lanecast::{
    Bytes, BytesMut, CastOptions, CastPlan, DType, Encoding, InPlace, Level, Threads, cast_batch,
    gguf::{self, BlockFormat},
    half::{bf16, f16},
    onnx,
    promote::{self, Standard},
    strided::{Layout, View, ViewMut},
    structured::{Match, StructPlan, StructType},
    text::{FormatPlan, ParsePlan, TextOptions},
};
use std::error::Error;

/// Decodes and encodes.
fn blocks<T: gguf::Float + Default>(
    format: BlockFormat,
    blocks: &mut [u8],
    n: usize,
) -> Result<(), gguf::GgufError> {
    let mut elements = vec![T::default(); n];
    gguf::dequantize(format, blocks, &mut elements)?;
    gguf::quantize(format, &elements, blocks)
}

/// Every way through the library, on bytes and names that are known only when it runs.
fn everything(names: &str, src: &[u8], dst: &mut [u8], n: usize) -> Result<usize, Box<dyn Error>> {
    let mut words = names.split(' ');
    let mut dtype = || words.next().unwrap_or_default().parse::<DType>();
    let (from, to) = (dtype()?, dtype()?);
    let profile = CastOptions::PROFILES.iter().find(|(name, _)| names.ends_with(name));
    let options = profile.map_or(CastOptions::RUST, |(_, options)| *options);
    let plan = CastPlan::new(Encoding::packed(from), to, &options)?;
    let bytes = Bytes::new(src, n);
    plan.run(bytes, BytesMut::new(dst, n))?;
    plan.run(InPlace, BytesMut::new(dst, n))?;
    plan.checked(Level::Exact).run(bytes, BytesMut::new(dst, n))?;
    plan.run_counted(bytes, BytesMut::new(dst, n))?;
    plan.with_threads(Threads::Rayon).run(bytes, BytesMut::new(dst, n))?;
    cast_batch(Vec::new(), &Threads::Rayon)?;
    let view = View::new(src, Layout::contiguous(from, &[n, 2])?.transposed())?;
    plan.run(&view, &mut ViewMut::new(dst, Layout::contiguous(to, &[2, n])?)?)?;
    let text = TextOptions::default();
    let strings = FormatPlan::new(from, &text)?.run(bytes)?;
    ParsePlan::new(to, &text, &options)?.run([strings.bytes()], dst)?;
    onnx::Cast::new(n as u32, from, to, &onnx::Attributes::default())?.run(bytes, BytesMut::new(dst, n))?;
    let (left, right) = (StructType::from_descr(names)?, StructType::from_descr(names)?);
    StructPlan::new(&left, &right, Match::Name, &options)?.run(src, dst, n)?;
    let format = BlockFormat::from_name(names).unwrap_or(BlockFormat::Q8_0);
    blocks::<f32>(format, dst, n)?;
    blocks::<f16>(format, dst, n)?;
    blocks::<bf16>(format, dst, n)?;
    let standard = names.parse::<Standard>()?;
    let (promoted, _) =
        promote::Promotion::new(standard).with_options(&options).plan(from, to)?.apply(src, src)?;
    Ok(promoted.len())
}

/// The one function that the object exports.
///
/// # Safety
///
/// `names` points to `len` bytes, `src` to `bytes` readable and `dst` to as many writable ones, which no one else uses meanwhile.
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_everything(
    names: *const u8,
    len: usize,
    src: *const u8,
    dst: *mut u8,
    bytes: usize,
    n: usize,
) -> usize {
    // SAFETY: the caller's promise.
    let (names, src, dst) = unsafe {
        (
            std::slice::from_raw_parts(names, len),
            std::slice::from_raw_parts(src, bytes),
            std::slice::from_raw_parts_mut(dst, bytes),
        )
    };
    std::str::from_utf8(names).map_or(0, |names| everything(names, src, dst, n).unwrap_or_default())
}
