//! [`FormatPlan`]: elements to texts.
//!
//! *Method.* Blocks of elements are cast exactly to a dtype that can be written: 64-bit integers, `float16`, `float32`,
//! `float64`, the two complex dtypes, bool. Long arrays of elements of at most 8 bits are looked up in a table of all 256 texts
//! instead.

use super::{
    options::TextOptions,
    strings::Strings,
    write::{Output, elements, written_as},
};
use crate::{
    error::{CastError, refused},
    options::CastOptions,
    plan::CastPlan,
};
use alloc::vec::Vec;
use lanecast_kernels::{Bytes, BytesMut, Element, Encoding, Source, Spec, View};

/// Elements per block, a number that fills whole bytes in every packed storage.
const BLOCK: usize = 256;
/// The number of elements from which small dtypes use a table of texts.
const MANY: usize = 1024;

/// The formatting of one encoding, resolved once and run often.
///
/// A plan can be shared between threads.
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
        let cast = CastPlan::new(from, written_as(dtype), &CastOptions::RUST)?;
        let unpack = CastPlan::new(from, dtype, &CastOptions::RUST)?;
        Ok(FormatPlan { cast, unpack, options: *options })
    }

    /// The encoding of the source.
    pub const fn source(&self) -> Encoding {
        self.cast.source()
    }

    /// Formats all elements of an operand; elements of a view in C order.
    ///
    /// ```
    /// use lanecast::text::{FormatPlan, TextOptions};
    /// use lanecast::{Bytes, DType, Encoding};
    /// let plan = FormatPlan::new(Encoding::packed(DType::Int4), &TextOptions::DEFAULT)?;
    /// let texts = plan.run(Bytes::new(&[0x8F, 0x07], 3))?;
    /// assert_eq!((texts.offsets(), texts.bytes()), (&[0, 2, 4, 5][..], &b"-1-87"[..]));
    /// # Ok::<(), lanecast::CastError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`CastPlan::run`]; [`CastError::NoBytes`] for [`InPlace`](crate::InPlace).
    pub fn run<'a>(&self, src: impl Into<Source<'a>>) -> Result<Strings, CastError> {
        let mut out = Strings::new();
        self.run_into(src, &mut out)?;
        Ok(out)
    }

    /// [`run`](Self::run) that appends the texts to `out`.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run); then nothing is added.
    pub fn run_into<'a>(&self, src: impl Into<Source<'a>>, out: &mut Strings) -> Result<(), CastError> {
        let src = src.into();
        let view = src.view(self.source()).map_err(refused)?;
        let n = view.layout().elements();
        if n >= MANY && self.source().dtype().bits() <= 8 {
            return self.look_up(view, n, out);
        }
        out.reserve(n, n.saturating_mul(self.usual_len()));
        let mut bytes = [0; BLOCK * 16];
        blocks(view, &mut |block, count| {
            self.cast.run(block, BytesMut::new(&mut bytes, count))?;
            elements(self.cast.target().dtype(), &bytes, count, &self.options, out);
            Ok(())
        })
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
        elements(self.cast.target().dtype(), &bytes, 1, &self.options, out);
        Ok(())
    }

    /// Writes elements of at most 8 bits from a table of the texts of all bytes.
    fn look_up(&self, src: View<'_>, n: usize, out: &mut Strings) -> Result<(), CastError> {
        let dtype = self.source().dtype();
        let codes: [u8; 256] = core::array::from_fn(|code| code as u8);
        let texts = FormatPlan::new(dtype, &self.options)?.run(Bytes::new(&codes, codes.len()))?;
        out.reserve(n, n.saturating_mul(self.usual_len()));
        let mut bytes = [0; BLOCK];
        blocks(src, &mut |block, count| {
            self.unpack.run(block, BytesMut::new(&mut bytes, count))?;
            bytes[..count].iter().for_each(|code| out.push(texts.get((*code).into()).unwrap_or_default()));
            Ok(())
        })
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

impl Output for Strings {
    fn tail(&mut self) -> &mut Vec<u8> {
        Strings::tail(self)
    }
    fn end(&mut self) {
        Strings::end(self);
    }
}

/// Calls `each` with the blocks of a view in C order, and the number of elements of each.
fn blocks(
    view: View<'_>,
    each: &mut impl FnMut(&View<'_>, usize) -> Result<(), CastError>,
) -> Result<(), CastError> {
    let n = view.layout().elements();
    let Some(axis) = view.layout().shape().iter().position(|len| *len > 1).filter(|_| n > BLOCK) else {
        return if n > 0 { each(&view, n) } else { Ok(()) };
    };
    let len = |view: &View<'_>| view.layout().shape()[axis];
    let step = (BLOCK / (n / len(&view))).max(1);
    let mut rest = view;
    while len(&rest) > step {
        let (block, others) = rest.split(axis, step)?;
        blocks(block, each)?;
        rest = others;
    }
    blocks(rest, each)
}

/// Formats every element, with the default options.
///
/// # Errors
///
/// As [`FormatPlan::new`].
pub fn format<S: Element>(src: &[S]) -> Result<Strings, CastError> {
    FormatPlan::new(S::DTYPE, &TextOptions::DEFAULT)?.run(src)
}
