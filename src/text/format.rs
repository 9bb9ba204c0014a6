//! [`FormatPlan`]: elements to texts.
//!
//! *Method.* Blocks of elements are cast exactly to a dtype that can be written: 64-bit integers, `float16`, `float32`,
//! `float64`, the two complex dtypes, bool. Long arrays of elements of at most 8 bits are looked up in a table of all 256 texts
//! instead.

use super::{
    Strings, TextOptions,
    write::{boolean, complex, float, float16, int},
};
use crate::{
    CastError, CastOptions, CastPlan, DType, Element, Encoding, FloatSpec, Side, Spec, num_complex::Complex,
};
use alloc::vec::Vec;
use lanecast_kernels::{Bytes, BytesMut};

/// Elements per block, a number that fills whole bytes in every packed storage.
const BLOCK: usize = 256;
/// The number of elements from which small dtypes use a table of texts.
const MANY: usize = 1024;

/// The formatting of one encoding, resolved once and run often.
///
/// A plan is a few words large and can be copied and shared between threads.
#[derive(Clone, Debug)]
pub struct FormatPlan {
    /// The cast to the dtype that is written.
    cast: CastPlan,
    /// The cast to elements of the same dtype, one per byte.
    unpack: CastPlan,
    options: TextOptions,
}

impl FormatPlan {
    /// Resolves the formatting of this encoding.
    ///
    /// # Errors
    ///
    /// As [`CastPlan::new`].
    pub fn new(from: impl Into<Encoding>, options: &TextOptions) -> Result<FormatPlan, CastError> {
        let from = from.into();
        let dtype = from.dtype();
        let to = match dtype.spec() {
            Spec::Bool => DType::Bool,
            Spec::Int { signed: true, .. } => DType::Int64,
            Spec::Int { signed: false, .. } => DType::UInt64,
            Spec::Float(FloatSpec { exponent_bits: 5, mantissa_bits: 10, .. }) => DType::Float16,
            Spec::Float(part) if part.bits() <= 32 => DType::Float32,
            Spec::Float(_) => DType::Float64,
            Spec::Complex(part) if part.bits() <= 32 => DType::Complex64,
            Spec::Complex(_) => DType::Complex128,
        };
        let cast = CastPlan::new(from, to, &CastOptions::RUST)?;
        let unpack = CastPlan::new(from, dtype, &CastOptions::RUST)?;
        Ok(FormatPlan { cast, unpack, options: *options })
    }

    /// The encoding of the source.
    pub const fn source(&self) -> Encoding {
        self.cast.source()
    }

    /// Formats the first `n` elements of `src`.
    ///
    /// ```
    /// use lanecast::text::{FormatPlan, TextOptions};
    /// use lanecast::{Encoding, DType};
    /// let plan = FormatPlan::new(Encoding::packed(DType::Int4), &TextOptions::DEFAULT)?;
    /// let texts = plan.run(&[0x8F, 0x07], 3)?;
    /// assert_eq!((texts.offsets(), texts.bytes()), (&[0, 2, 4, 5][..], &b"-1-87"[..]));
    /// # Ok::<(), lanecast::CastError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`CastError::BufferTooSmall`] or [`CastError::TooLarge`].
    pub fn run(&self, src: &[u8], n: usize) -> Result<Strings, CastError> {
        let mut out = Strings::new();
        self.run_into(src, n, &mut out)?;
        Ok(out)
    }

    /// [`run`](Self::run) that appends the texts to `out`.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run); then nothing is added.
    pub fn run_into(&self, src: &[u8], n: usize, out: &mut Strings) -> Result<(), CastError> {
        let from = self.source();
        let need = from.byte_len(n).ok_or(CastError::TooLarge { elements: n, encoding: from })?;
        let short = CastError::BufferTooSmall { which: Side::Source, need, have: src.len() };
        let src = src.get(..need).ok_or(short)?;
        if n >= MANY && from.dtype().bits() <= 8 {
            return self.look_up(src, n, out);
        }
        out.reserve(n, n.saturating_mul(self.usual_len()));
        let mut bytes = [0; BLOCK * 16];
        for (first, count) in blocks(n) {
            let at = from.byte_len(first).unwrap_or(0);
            self.cast.run(Bytes::new(&src[at..], count), BytesMut::new(&mut bytes, count))?;
            self.write(&bytes, count, out);
        }
        Ok(())
    }

    /// Appends the text of one element, the first of `src`.
    ///
    /// ```
    /// use lanecast::{DType, text::{FormatPlan, TextOptions}};
    /// let mut line = b"x = ".to_vec();
    /// FormatPlan::new(DType::BFloat16, &TextOptions::DEFAULT)?.run_one(&0x3FC0_u16.to_ne_bytes(), &mut line)?;
    /// assert_eq!(line, b"x = 1.5");
    /// # Ok::<(), lanecast::CastError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run); then nothing is added.
    pub fn run_one(&self, src: &[u8], out: &mut Vec<u8>) -> Result<(), CastError> {
        let mut bytes = [0; 16];
        self.cast.run(Bytes::new(src, 1), BytesMut::new(&mut bytes, 1))?;
        self.write(&bytes, 1, out);
        Ok(())
    }

    /// Formats a slice.
    ///
    /// # Errors
    ///
    /// [`CastError::WrongElement`] if the plan is for another dtype, packed storage or another byte order.
    pub fn run_slice<S: Element>(&self, src: &[S]) -> Result<Strings, CastError> {
        let mut out = Strings::new();
        out.reserve(src.len(), src.len().saturating_mul(self.usual_len()));
        let options = &self.options;
        match self.cast.target().dtype() {
            DType::Bool => self.slices(src, &mut out, |x: bool, out| boolean(x, out))?,
            DType::Int64 => self.slices(src, &mut out, |x: i64, out| int(x, out))?,
            DType::UInt64 => self.slices(src, &mut out, |x: u64, out| int(x, out))?,
            DType::Float16 => {
                self.slices(src, &mut out, |x: crate::half::f16, out| float16(x.to_bits(), options, out))?;
            }
            DType::Float32 => {
                self.slices(src, &mut out, |x: f32, out| float(x.to_bits(), options, true, out))?
            }
            DType::Float64 => {
                self.slices(src, &mut out, |x: f64, out| float(x.to_bits(), options, true, out))?
            }
            DType::Complex64 => self.slices(src, &mut out, |x: Complex<f32>, out| {
                complex([x.re, x.im].map(f32::to_bits), options, out)
            })?,
            _ => self.slices(src, &mut out, |x: Complex<f64>, out| {
                complex([x.re, x.im].map(f64::to_bits), options, out)
            })?,
        }
        Ok(out)
    }

    /// Casts blocks of a slice to what is written.
    fn slices<S: Element, W: Element + Default>(
        &self,
        src: &[S],
        out: &mut Strings,
        write: impl Fn(W, &mut Vec<u8>),
    ) -> Result<(), CastError> {
        let mut block = [W::default(); BLOCK];
        // Cast an empty slice first, which checks that `S` is right.
        self.cast.run(&[] as &[S], &mut [] as &mut [W])?;
        for part in src.chunks(BLOCK) {
            let block = &mut block[..part.len()];
            self.cast.run(part, &mut *block)?;
            for &mut item in block {
                write(item, out.tail());
                out.end();
            }
        }
        Ok(())
    }

    /// Writes the first `count` elements of the result of the cast.
    fn write(&self, bytes: &[u8], count: usize, out: &mut impl Output) {
        let options = &self.options;
        match self.cast.target().dtype() {
            DType::Bool => each(bytes, count, out, |[x], out| boolean(x != 0, out)),
            DType::Int64 => each(bytes, count, out, |x, out| int(i64::from_ne_bytes(x), out)),
            DType::UInt64 => each(bytes, count, out, |x, out| int(u64::from_ne_bytes(x), out)),
            DType::Float16 => each(bytes, count, out, |x, out| float16(u16::from_ne_bytes(x), options, out)),
            DType::Float32 => {
                each(bytes, count, out, |x, out| float(u32::from_ne_bytes(x), options, true, out));
            }
            DType::Float64 => {
                each(bytes, count, out, |x, out| float(u64::from_ne_bytes(x), options, true, out));
            }
            DType::Complex64 => each(bytes, count, out, |x: [u8; 8], out| {
                let part = |i| u32::from_ne_bytes(x.as_chunks().0[i]);
                complex([part(0), part(1)], options, out);
            }),
            _ => each(bytes, count, out, |x: [u8; 16], out| {
                let part = |i| u64::from_ne_bytes(x.as_chunks().0[i]);
                complex([part(0), part(1)], options, out);
            }),
        }
    }

    /// Writes elements of at most 8 bits from a table of the texts of all bytes.
    fn look_up(&self, src: &[u8], n: usize, out: &mut Strings) -> Result<(), CastError> {
        let dtype = self.source().dtype();
        let codes: [u8; 256] = core::array::from_fn(|code| code as u8);
        let texts = FormatPlan::new(dtype, &self.options)?.run(&codes, codes.len())?;
        out.reserve(n, n.saturating_mul(self.usual_len()));
        let mut bytes = [0; BLOCK];
        for (first, count) in blocks(n) {
            let at = self.source().byte_len(first).unwrap_or(0);
            self.unpack.run(Bytes::new(&src[at..], count), BytesMut::new(&mut bytes, count))?;
            for &code in &bytes[..count] {
                out.push(texts.get(code.into()).unwrap_or_default());
            }
        }
        Ok(())
    }

    /// Bytes reserved per text, somewhat more than most texts need.
    fn usual_len(&self) -> usize {
        match self.source().dtype().spec() {
            Spec::Bool => 5,
            Spec::Int { bits, .. } => bits as usize / 4 + 2,
            Spec::Float(part) => (part.mantissa_bits as usize / 3 + 4).min(20),
            Spec::Complex(part) => 2 * (part.mantissa_bits as usize / 3 + 4),
        }
    }
}

/// Where texts are appended.
trait Output {
    fn tail(&mut self) -> &mut Vec<u8>;
    /// A text has been appended.
    fn end(&mut self);
}

impl Output for Strings {
    fn tail(&mut self) -> &mut Vec<u8> {
        Strings::tail(self)
    }
    fn end(&mut self) {
        Strings::end(self);
    }
}

impl Output for Vec<u8> {
    fn tail(&mut self) -> &mut Vec<u8> {
        self
    }
    fn end(&mut self) {}
}

/// Appends the texts of elements that are given as their bytes.
#[inline(always)]
fn each<const N: usize>(
    bytes: &[u8],
    count: usize,
    out: &mut impl Output,
    write: impl Fn([u8; N], &mut Vec<u8>),
) {
    for &element in &bytes.as_chunks().0[..count] {
        write(element, out.tail());
        out.end();
    }
}

/// The first element and the number of elements of each block.
fn blocks(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).step_by(BLOCK).map(move |first| (first, BLOCK.min(n - first)))
}

/// Formats every element, with the default options.
///
/// # Errors
///
/// As [`FormatPlan::new`].
pub fn format<S: Element>(src: &[S]) -> Result<Strings, CastError> {
    format_with(src, &TextOptions::DEFAULT)
}

/// [`format()`] with other options.
///
/// # Errors
///
/// As [`FormatPlan::new`].
pub fn format_with<S: Element>(src: &[S], options: &TextOptions) -> Result<Strings, CastError> {
    FormatPlan::new(S::DTYPE, options)?.run_slice(src)
}
