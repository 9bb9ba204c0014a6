//! [`CastPlan`]: a pair and its options, resolved once to a kernel and run often.

use crate::{CastError, CastOptions, Element, Encoding, Side, Streaming, Tier, tier};
use alloc::vec::Vec;
use core::{
    fmt,
    hash::{Hash, Hasher},
    mem::MaybeUninit,
};
use lanecast_kernels::{Kernel, LossDetector, Rules};

/// A cast from one encoding to another under fixed options, resolved to a kernel.
///
/// Making a plan is a lookup. For a source of at most 8 bits, the first plan of a pair may make a table of results, some hundred bytes
/// in some microseconds, which the process keeps. A plan is a few words large and can be copied and shared between threads. Running
/// it neither allocates nor locks.
///
/// Two plans are equal if they have the same encodings, tier, [`Streaming`], and options as far as these affect the pair.
#[derive(Clone, Copy)]
pub struct CastPlan {
    kernel: Kernel,
    rules: Rules,
    streaming: Streaming,
}

impl CastPlan {
    /// The fields that define the plan, without those derived from them.
    fn key(&self) -> (Encoding, Encoding, Rules, Tier, Streaming) {
        let (from, to) = (self.source(), self.target());
        (from, to, self.rules.canonical(from.dtype(), to.dtype()), self.tier(), self.streaming)
    }
}

impl PartialEq for CastPlan {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for CastPlan {}

impl Hash for CastPlan {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl CastPlan {
    /// Resolves the cast for the tier in use ([`tier::active`]).
    ///
    /// # Errors
    ///
    /// [`CastError::NotBuilt`] if the Cargo feature of a dtype is off. Otherwise there is a kernel for every pair, whatever the
    /// environment says.
    pub fn new(
        from: impl Into<Encoding>,
        to: impl Into<Encoding>,
        options: &CastOptions,
    ) -> Result<CastPlan, CastError> {
        Self::resolve(from.into(), to.into(), options, tier::active())
    }

    /// Resolves the cast for a given tier.
    ///
    /// # Errors
    ///
    /// [`CastError::Unsupported`] if the tier cannot run here, [`CastError::NotBuilt`] if the Cargo feature of a dtype is off.
    pub fn with_tier(
        from: impl Into<Encoding>,
        to: impl Into<Encoding>,
        options: &CastOptions,
        tier: Tier,
    ) -> Result<CastPlan, CastError> {
        tier::check_features();
        Self::resolve(from.into(), to.into(), options, tier)
    }

    fn resolve(
        from: Encoding,
        to: Encoding,
        options: &CastOptions,
        tier: Tier,
    ) -> Result<CastPlan, CastError> {
        if let Some(dtype) = [from.dtype(), to.dtype()].into_iter().find(|dtype| !dtype.is_built()) {
            return Err(CastError::NotBuilt { dtype });
        }
        let rules = options.rules(from.dtype(), to.dtype());
        match Kernel::new(tier, from, to, &rules) {
            Some(kernel) => Ok(CastPlan { kernel, rules, streaming: Streaming::Auto }),
            None => Err(CastError::Unsupported { tier, status: tier.status() }),
        }
    }

    /// The same cast, with non-temporal stores as `streaming` says. By default they are used if the source and the destination
    /// together are larger than the last-level cache or 32 MiB.
    ///
    /// The bytes written are the same. On the vector tiers of x86, non-temporal stores save a third of the time of casts larger than
    /// the caches, and cost more than that within them; elsewhere they have no effect.
    #[must_use]
    pub fn with_streaming(self, streaming: Streaming) -> CastPlan {
        CastPlan { kernel: self.kernel.with_streaming(streaming), streaming, ..self }
    }

    /// Whether a cast that reads and writes `bytes` bytes in total uses non-temporal stores.
    #[cfg(feature = "rayon")]
    pub(crate) fn streams(&self, bytes: usize) -> bool {
        self.kernel.streams(bytes)
    }

    pub(crate) const fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// A loss detector for the same cast. It detects rounding in range too if `inexact`, and classifies losses if `labelled`.
    pub(crate) fn detector(&self, inexact: bool, labelled: bool) -> LossDetector {
        LossDetector::new(self.kernel, &self.rules, inexact, labelled)
    }

    /// The encoding of the source.
    pub const fn source(&self) -> Encoding {
        self.kernel.source()
    }

    /// The encoding of the destination.
    pub const fn target(&self) -> Encoding {
        self.kernel.target()
    }

    /// The tier whose kernel runs.
    pub const fn tier(&self) -> Tier {
        self.kernel.tier()
    }

    /// Casts the first `n` elements of `src` to the first `n` of `dst`.
    ///
    /// The buffers are bytes at any alignment, with multi-byte elements in the byte order of their [`Encoding`]. They may be
    /// longer than `n` elements; the bytes after those are neither read nor written.
    ///
    /// # Errors
    ///
    /// [`CastError::BufferTooSmall`] or [`CastError::TooLarge`]; then nothing is written.
    #[inline]
    pub fn run(&self, src: &[u8], dst: &mut [u8], n: usize) -> Result<(), CastError> {
        match self.kernel.run(src, dst, n) {
            Some(_) => Ok(()),
            None => Err(self.shortage(src.len(), dst.len(), n)),
        }
    }

    /// [`run`](Self::run) into memory that need not be initialised; returns the bytes that were written.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    #[inline]
    pub fn run_uninit<'a>(
        &self,
        src: &[u8],
        dst: &'a mut [MaybeUninit<u8>],
        n: usize,
    ) -> Result<&'a mut [u8], CastError> {
        let have = dst.len();
        match self.kernel.run_uninit(src, dst, n) {
            Some(written) => Ok(written),
            None => Err(self.shortage(src.len(), have, n)),
        }
    }

    /// Casts within one buffer: `n` elements starting at byte `src` to `n` elements starting at byte `dst`. The two ranges must
    /// not overlap; [`run_in_place`](Self::run_in_place) is for ranges that start at the same byte.
    ///
    /// # Errors
    ///
    /// [`CastError::Overlap`] if the ranges share bytes, [`CastError::BufferTooSmall`] or [`CastError::TooLarge`] if one extends
    /// past the end of the buffer; then nothing is written.
    pub fn run_within(&self, buffer: &mut [u8], src: usize, dst: usize, n: usize) -> Result<(), CastError> {
        let have = buffer.len();
        let range = |which, start: usize, of: Encoding| {
            let len = of.byte_len(n).ok_or(CastError::TooLarge { elements: n, encoding: of })?;
            match start.checked_add(len) {
                Some(end) if end <= have => Ok(start..end),
                end => Err(CastError::BufferTooSmall { which, need: end.unwrap_or(usize::MAX), have }),
            }
        };
        let src = range(Side::Source, src, self.source())?;
        let dst = range(Side::Destination, dst, self.target())?;
        if n == 0 {
            return Ok(());
        }
        if src.end <= dst.start {
            let (low, high) = buffer.split_at_mut(dst.start);
            self.run(&low[src], high, n)
        } else if dst.end <= src.start {
            let (low, high) = buffer.split_at_mut(src.start);
            self.run(high, &mut low[dst], n)
        } else {
            Err(CastError::Overlap { src, dst })
        }
    }

    /// Casts in place: the `n` elements at the start of the buffer are replaced by their `n` results at its start.
    ///
    /// The results are those of [`run`](Self::run). The buffer must have room for the elements of the source and for those
    /// of the destination. Bytes after both are neither read nor written. If the source is longer than the destination, the
    /// rest of it may have changed.
    ///
    /// ```
    /// use lanecast::{Encoding, CastOptions, CastPlan, DType};
    /// let packed = Encoding::packed(DType::UInt4);
    /// let plan = CastPlan::new(packed, DType::UInt8, &CastOptions::RUST)?;
    /// let mut buffer = [0x21, 0x43, 0, 0];
    /// plan.run_in_place(&mut buffer, 4)?;
    /// assert_eq!(buffer, [1, 2, 3, 4]);
    /// # Ok::<(), lanecast::CastError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`CastError::BufferTooSmall`] or [`CastError::TooLarge`]; then nothing is written.
    pub fn run_in_place(&self, buffer: &mut [u8], n: usize) -> Result<(), CastError> {
        let have = buffer.len();
        match self.kernel.run_in_place(buffer, n) {
            Some(_) => Ok(()),
            None => Err(self.shortage(have, have, n)),
        }
    }

    /// Casts a slice of elements to another of the same length.
    ///
    /// # Errors
    ///
    /// [`CastError::LengthMismatch`], or [`CastError::WrongElement`] if a slice is not of the plan's dtype or the plan is for
    /// packed storage or another byte order than the host's; then nothing is written.
    #[inline]
    pub fn run_slice<S: Element, D: Element>(&self, src: &[S], dst: &mut [D]) -> Result<(), CastError> {
        let len = dst.len();
        match self.kernel.run_elements(src, dst) {
            Some(_) => Ok(()),
            None => Err(self.mismatch::<S, D>(src.len(), len)),
        }
    }

    /// [`run_slice`](Self::run_slice) into memory that need not be initialised; returns the initialised slice.
    ///
    /// # Errors
    ///
    /// As [`run_slice`](Self::run_slice).
    #[inline]
    pub fn run_slice_uninit<'a, S: Element, D: Element>(
        &self,
        src: &[S],
        dst: &'a mut [MaybeUninit<D>],
    ) -> Result<&'a mut [D], CastError> {
        let len = dst.len();
        match self.kernel.run_elements_uninit(src, dst) {
            Some(written) => Ok(written),
            None => Err(self.mismatch::<S, D>(src.len(), len)),
        }
    }

    /// [`run_slice`](Self::run_slice) into a new vector.
    ///
    /// # Errors
    ///
    /// [`CastError::WrongElement`] as [`run_slice`](Self::run_slice).
    #[inline]
    pub fn run_to_vec<S: Element, D: Element>(&self, src: &[S]) -> Result<Vec<D>, CastError> {
        match self.kernel.run_to_vec(src) {
            Some(out) => Ok(out),
            None => Err(self.mismatch::<S, D>(src.len(), src.len())),
        }
    }

    /// Casts all elements of a slice in place and returns the results. If they are narrower, the rest of the slice may have
    /// changed.
    ///
    /// # Errors
    ///
    /// [`CastError::NotInPlace`] if a slice of `S` cannot hold elements of `D`, [`CastError::WrongElement`] as
    /// [`run_slice`](Self::run_slice); then nothing is written.
    #[inline]
    pub fn run_slice_in_place<'a, S: Element, D: Element>(
        &self,
        elements: &'a mut [S],
    ) -> Result<&'a mut [D], CastError> {
        let n = elements.len();
        match self.kernel.run_elements_in_place(elements) {
            Some(written) => Ok(written),
            None => match self.mismatch::<S, D>(n, n) {
                CastError::LengthMismatch { .. } => {
                    Err(CastError::NotInPlace { from: S::DTYPE, to: D::DTYPE })
                }
                wrong => Err(wrong),
            },
        }
    }

    #[cold]
    pub(crate) fn shortage(&self, src: usize, dst: usize, n: usize) -> CastError {
        let buffers = [(Side::Source, src, self.source()), (Side::Destination, dst, self.target())];
        for (which, have, buffer) in buffers {
            match buffer.byte_len(n) {
                None => return CastError::TooLarge { elements: n, encoding: buffer },
                Some(need) if need > have => return CastError::BufferTooSmall { which, need, have },
                Some(_) => {}
            }
        }
        CastError::TooLarge { elements: n, encoding: self.source() }
    }

    #[cold]
    pub(crate) fn mismatch<S: Element, D: Element>(&self, src: usize, dst: usize) -> CastError {
        if self.source() != Encoding::new(S::DTYPE) {
            CastError::WrongElement { which: Side::Source, plan: self.source(), slice: S::DTYPE }
        } else if self.target() != Encoding::new(D::DTYPE) {
            CastError::WrongElement { which: Side::Destination, plan: self.target(), slice: D::DTYPE }
        } else {
            CastError::LengthMismatch { src, dst }
        }
    }
}

impl fmt::Debug for CastPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CastPlan({} -> {}, {})", self.source(), self.target(), self.tier())
    }
}
