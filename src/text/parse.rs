//! [`ParsePlan`]: texts to elements.
//!
//! *Method.* Texts are read one by one into a block on the stack, whose dtype is then cast to the target: `float64` for floats (see
//! [`super::binary`]), 64 bits of two's complement for integers. Full blocks are cast by the kernel of the tier.

use super::{
    binary::Stand,
    element::{Bools, Complexes, Ints, Reader, Reals},
    error::{BadText, TextError},
    options::{OnBadText, TextOptions},
};
use crate::{
    error::CastError,
    options::{CastOptions, IntOverflow},
    plan::CastPlan,
};
use alloc::vec::Vec;
use lanecast_kernels::{BytesMut, DType, Element, Encoding, Spec};
use num_complex::Complex;

/// Elements per block, a number that fills whole bytes in every packed storage and in a bitmap.
const BLOCK: usize = 256;

/// The parsing of texts to one encoding, resolved once and run often.
///
/// A plan can be shared between threads. Running it does not allocate.
#[derive(Clone, Debug)]
pub struct ParsePlan {
    /// The cast from the stage to the target.
    cast: CastPlan,
    stage: Stage,
    on_error: OnBadText,
}

/// The reader of the texts.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Bools(Bools),
    Ints(Ints),
    Reals(Reals),
    Complexes(Complexes),
}

impl ParsePlan {
    /// Resolves the parsing to this encoding.
    ///
    /// The options apply as in a cast of the exact value, except that integer overflow is always an error: parsing ignores
    /// [`IntOverflow`](crate::IntOverflow), but not [`IntRound`](crate::IntRound).
    ///
    /// # Errors
    ///
    /// As [`CastPlan::new`].
    pub fn new(
        to: impl Into<Encoding>,
        text: &TextOptions,
        options: &CastOptions,
    ) -> Result<ParsePlan, CastError> {
        let to = to.into();
        let (stage, from) = match to.dtype().spec() {
            Spec::Bool => (Stage::Bools(Bools), DType::UInt8),
            Spec::Int { bits, signed } => {
                (Stage::Ints(Ints::new(bits, signed, options.int_round)), DType::UInt64)
            }
            Spec::Float(part) => (Stage::Reals(Reals(Stand::new(to.dtype(), part, options))), DType::Float64),
            Spec::Complex(part) => {
                let reals = Reals(Stand::new(to.dtype(), part, options));
                (Stage::Complexes(Complexes(reals)), DType::Complex128)
            }
        };
        // The range of integers is checked while parsing, so the cast only has to keep their low bits.
        let options = options.with_int_to_int(IntOverflow::Wrap);
        Ok(ParsePlan { cast: CastPlan::new(from, to, &options)?, stage, on_error: text.on_error })
    }

    /// The encoding of the destination.
    pub const fn target(&self) -> Encoding {
        self.cast.target()
    }

    /// Parses texts into the elements at the start of `dst` and returns how many there were.
    ///
    /// The buffer may be longer and have any alignment; multi-byte elements are in the byte order of the plan. Unused bits after the
    /// last element of packed storage are set to 0; bytes after it are not written.
    ///
    /// ```
    /// use lanecast::text::{ParsePlan, TextOptions};
    /// use lanecast::{Encoding, CastOptions, DType};
    /// let packed = Encoding::packed(DType::Float4E2M1FN);
    /// let plan = ParsePlan::new(packed, &TextOptions::DEFAULT, &CastOptions::RUST)?;
    /// let mut bytes = [0; 2];
    /// assert_eq!(plan.run(["0.5", "-6", "1e9"], &mut bytes)?, 3);
    /// assert_eq!(bytes, [0xF1, 0x07]);
    /// # Ok::<(), lanecast::text::TextError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TextError`]. The elements before the faulty one are written, as if the texts had ended there; the bytes after them are
    /// unchanged.
    pub fn run<T: AsRef<[u8]>>(
        &self,
        texts: impl IntoIterator<Item = T>,
        dst: &mut [u8],
    ) -> Result<usize, TextError> {
        let texts = texts.into_iter().map(Some);
        Ok(self.drive::<T, false>(texts, &mut Memory { cast: &self.cast, dst, validity: None })?.0)
    }

    /// [`run`](Self::run) for texts that may be missing, with a validity bitmap as in Arrow: bit `i % 8` of byte `i / 8` is 1 if
    /// text `i` is present and parses, and 0 if it is missing or bad. The element of a missing text is 0.
    ///
    /// [`OnBadText`] says how a bad text is handled; its bit is 0 in any case. The unused bits of the last byte are set to 0. Returns
    /// the number of elements and the number of nulls.
    ///
    /// ```
    /// use lanecast::text::{OnBadText, ParsePlan, TextOptions};
    /// use lanecast::{CastOptions, DType};
    /// let text = TextOptions::DEFAULT.with_on_error(OnBadText::Null);
    /// let plan = ParsePlan::new(DType::UInt8, &text, &CastOptions::RUST)?;
    /// let (mut values, mut validity) = ([9; 4], [0]);
    /// let texts = [Some("1"), None, Some("256"), Some("2e2")];
    /// assert_eq!(plan.run_masked(texts, &mut values, &mut validity)?, (4, 2));
    /// assert_eq!((values, validity), ([1, 0, 0, 200], [0b1001]));
    /// # Ok::<(), lanecast::text::TextError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run), and [`TextError::MaskTooSmall`].
    pub fn run_masked<T: AsRef<[u8]>>(
        &self,
        texts: impl IntoIterator<Item = Option<T>>,
        dst: &mut [u8],
        validity: &mut [u8],
    ) -> Result<(usize, usize), TextError> {
        let mut sink = Memory { cast: &self.cast, dst, validity: Some(validity) };
        self.drive::<T, true>(texts.into_iter(), &mut sink)
    }

    /// [`run`](Self::run) into a new vector. `D` must be the element type of the plan.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run), and [`CastError::WrongElement`] if the plan is for another dtype, packed storage or another byte order.
    pub fn run_to_vec<T: AsRef<[u8]>, D: Element>(
        &self,
        texts: impl IntoIterator<Item = T>,
    ) -> Result<Vec<D>, TextError> {
        let mut out = Vec::new();
        // An empty block checks that `D` is right, even if there are no texts.
        match self.stage {
            Stage::Bools(_) => self.cast.run_extend::<D>(&[0_u8; 0], &mut out)?,
            Stage::Ints(_) => self.cast.run_extend::<D>(&[0_u64; 0], &mut out)?,
            Stage::Reals(_) => self.cast.run_extend::<D>(&[0_f64; 0], &mut out)?,
            Stage::Complexes(_) => self.cast.run_extend::<D>(&[Complex::<f64>::ZERO; 0], &mut out)?,
        }
        let texts = texts.into_iter().map(Some);
        out.reserve(texts.size_hint().0);
        self.drive::<T, false>(texts, &mut Elements { cast: &self.cast, out: &mut out })?;
        Ok(out)
    }

    fn drive<T: AsRef<[u8]>, const MASKED: bool>(
        &self,
        texts: impl Iterator<Item = Option<T>>,
        sink: &mut impl Sink,
    ) -> Result<(usize, usize), TextError> {
        if self.on_error == OnBadText::Null && !MASKED {
            return Err(TextError::NoMask);
        }
        match self.stage {
            Stage::Bools(reader) => self.read::<_, _, MASKED>(reader, texts, sink),
            Stage::Ints(reader) => self.read::<_, _, MASKED>(reader, texts, sink),
            Stage::Reals(reader) => self.read::<_, _, MASKED>(reader, texts, sink),
            Stage::Complexes(reader) => self.read::<_, _, MASKED>(reader, texts, sink),
        }
    }

    fn read<R: Reader, T: AsRef<[u8]>, const MASKED: bool>(
        &self,
        reader: R,
        texts: impl Iterator<Item = Option<T>>,
        sink: &mut impl Sink,
    ) -> Result<(usize, usize), TextError> {
        let mut block = [R::Item::default(); BLOCK];
        let mut bits = [0_u8; BLOCK / 8];
        let (mut done, mut fill, mut nulls) = (0, 0, 0);
        for text in texts {
            let read = match &text {
                Some(text) => reader.read(text.as_ref()).map_err(Some),
                None => Err(None),
            };
            block[fill] = match read {
                Ok(item) => {
                    if MASKED {
                        bits[fill / 8] |= 1 << (fill % 8);
                    }
                    item
                }
                Err(reason) => {
                    nulls += 1;
                    match (self.on_error, reason, &text) {
                        (OnBadText::Error, Some(reason), Some(text)) => {
                            sink.put::<R>(&block[..fill], &bits, done)?;
                            return Err(self.fault(done + fill, text.as_ref(), reason));
                        }
                        (OnBadText::Nan, Some(_), _) => R::nan(),
                        _ => R::Item::default(),
                    }
                }
            };
            fill += 1;
            if fill == BLOCK {
                sink.put::<R>(&block, &bits, done)?;
                done += BLOCK;
                fill = 0;
                if MASKED {
                    bits = [0; BLOCK / 8];
                }
            }
        }
        sink.put::<R>(&block[..fill], &bits, done)?;
        Ok((done + fill, nulls))
    }

    #[cold]
    fn fault(&self, index: usize, text: &[u8], reason: BadText) -> TextError {
        TextError::text(index, text, reason, self.target().dtype())
    }
}

/// The destination of blocks of a stage.
trait Sink {
    /// Casts elements of the stage and stores them, with their validity bits, after the `done` elements already there.
    fn put<R: Reader>(
        &mut self,
        block: &[R::Item],
        bits: &[u8; BLOCK / 8],
        done: usize,
    ) -> Result<(), TextError>;
}

/// A buffer of bytes, and perhaps a bitmap.
struct Memory<'a> {
    cast: &'a CastPlan,
    dst: &'a mut [u8],
    validity: Option<&'a mut [u8]>,
}

impl Sink for Memory<'_> {
    fn put<R: Reader>(
        &mut self,
        block: &[R::Item],
        bits: &[u8; BLOCK / 8],
        done: usize,
    ) -> Result<(), TextError> {
        let to = self.cast.target();
        let width = to.bits_per_element() as usize;
        // Eight elements take as many bytes as one element has bits.
        let room =
            (self.dst.len() / width).saturating_mul(8).saturating_add(self.dst.len() % width * 8 / width);
        let mask = self.validity.as_ref().map_or(usize::MAX, |mask| mask.len().saturating_mul(8));
        let take = block.len().min(room - done).min(mask - done);
        // `done` is a multiple of the block: it ends with a whole byte.
        let from = (done / 8) * width;
        self.cast.run(&block[..take], BytesMut::new(&mut self.dst[from..], take))?;
        if let Some(validity) = &mut self.validity {
            let part = &mut validity[done / 8..][..take.div_ceil(8)];
            part.copy_from_slice(&bits[..part.len()]);
            if let (Some(last), rest @ 1..) = (part.last_mut(), take % 8) {
                *last &= (1 << rest) - 1;
            }
        }
        let index = done + take;
        if take == block.len() {
            Ok(())
        } else if index == room {
            let need = to.byte_len(index + 1).unwrap_or(usize::MAX);
            Err(TextError::BufferTooSmall { elements: index, need, have: self.dst.len(), to })
        } else {
            Err(TextError::MaskTooSmall { index, have: mask / 8 })
        }
    }
}

/// A vector of elements.
struct Elements<'a, D> {
    cast: &'a CastPlan,
    out: &'a mut Vec<D>,
}

impl<D: Element> Sink for Elements<'_, D> {
    fn put<R: Reader>(&mut self, block: &[R::Item], _: &[u8; BLOCK / 8], _: usize) -> Result<(), TextError> {
        Ok(self.cast.run_extend(block, self.out)?)
    }
}

/// Parses every text to an element, with the default options.
///
/// ```
/// let values: Vec<u8> = lanecast::text::parse(&["7", "2.5e1"])?;
/// assert_eq!(values, [7, 25]);
/// let wrong = lanecast::text::parse::<u8>(&["7", "256"]).unwrap_err();
/// assert_eq!(wrong.to_string(), r#"text 1, "256", is out of the range of uint8"#);
/// # Ok::<(), lanecast::text::TextError>(())
/// ```
///
/// # Errors
///
/// [`TextError::Text`] names the first text that does not parse.
pub fn parse<D: Element>(texts: &[impl AsRef<[u8]>]) -> Result<Vec<D>, TextError> {
    ParsePlan::new(D::DTYPE, &TextOptions::DEFAULT, &CastOptions::RUST)?.run_to_vec(texts)
}
