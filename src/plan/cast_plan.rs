//! [`CastPlan`] and its settings.

use super::outcome::Outcome;
use super::stochastic::Stochastically;
use crate::error::CastError;
use crate::loss::Level;
use crate::options::CastOptions;
use crate::stochastic::{Random, Stochastic};
#[cfg(feature = "rayon")]
use crate::threads::Threads;
use crate::tier;
use alloc::sync::Arc;
use core::{
    fmt,
    hash::{Hash, Hasher},
};
use lanecast_kernels::{Element, Encoding, Kernel, LossDetector, Rules, Streaming, Tier, typed};

/// A cast from one encoding to another under fixed options, resolved to a kernel: made once, run often.
///
/// Making a plan is a lookup. For a source of at most 8 bits, the first plan of a pair may make a table of results, some hundred bytes
/// in some microseconds, which the process keeps. A plan has about a hundred bytes and can be shared between threads; running it on one
/// thread takes no lock, and allocates only for views of more than eight axes.
///
/// # What it casts, and what it answers
///
/// Operands are values ([`Source`](crate::Source), [`Target`](crate::Target)): slices, [`Bytes`](crate::Bytes), views of any layout
/// ([`strided`](crate::strided)), memory that need not be initialised ([`Uninit`](crate::Uninit)), or one buffer
/// ([`InPlace`](crate::InPlace)). Every method takes all of them, on one thread or several ([`with_threads`](Self::with_threads)):
///
/// | source to target | results: [`run`](Self::run) | refuse: [`checked`](Self::checked), `run` | mark: [`run_masked`](Self::run_masked) | count: [`run_counted`](Self::run_counted) | threads |
/// |---|---|---|---|---|---|
/// | slice to slice | yes | yes | yes | yes | yes |
/// | bytes to bytes | yes | yes | yes | yes | yes |
/// | slice, bytes or view to uninitialised memory | yes | yes | yes | yes | yes |
/// | slice, bytes or view to a new or a reused vector | [`run_to_vec`](Self::run_to_vec), [`run_extend`](Self::run_extend) | the same | | | yes |
/// | view to view, or to and from contiguous elements | yes | yes | yes | yes | yes |
/// | layout to layout of one buffer | [`run_within`](Self::run_within) | the same | | | yes |
/// | in place | yes | yes | yes | yes | the calling thread |
/// | source only | | | | [`count`](Self::count) | yes |
/// | address to address | [`run_ptr`](Self::run_ptr) | the same | | | yes |
///
/// Bytes, answers and the reported element are the same whatever the operands and the threads. [Stochastic
/// rounding](Self::with_stochastic) is a mode of all of them.
///
/// # Equality
///
/// Two plans are equal if they write the same bytes and answer the same: encodings, options as far as these affect the pair, level and
/// tier. Threads and [`Streaming`] only change the time.
///
/// # Examples
///
/// ```
/// use lanecast::strided::View;
/// # #[cfg(feature = "rayon")]
/// use lanecast::Threads;
/// use lanecast::{Bytes, CastOptions, CastPlan, DType, Level, half::f16};
/// // Typed slices.
/// let plan = CastPlan::of::<f32, f16>(&CastOptions::RUST);
/// let mut halves = [f16::ZERO; 2];
/// plan.run(&[1.0_f32, 1e9], &mut halves)?;
/// assert_eq!(halves, [f16::ONE, f16::INFINITY]);
///
/// // A dtype that is known at run time, in bytes at any alignment.
/// let plan = CastPlan::new("float4_e2m1fn".parse::<DType>()?, DType::Float32, &CastOptions::RUST)?;
/// assert_eq!(plan.run_to_vec::<f32>(Bytes::new(&[0x02, 0x05], 2))?, [1.0, 3.0]);
///
/// // NumPy's rules: floats wrap in integers.
/// let plan = CastPlan::of::<f32, u8>(&CastOptions::NUMPY);
/// assert_eq!(plan.run_to_vec::<u8>(&[1.9_f32, -1.0, 300.0])?, [1, 255, 44]);
///
/// // Values that do not fit are refused.
/// let plan = CastPlan::of::<f32, u8>(&CastOptions::RUST).checked(Level::Range);
/// let refused = plan.run(&[7.0_f32, 300.0], &mut [0_u8; 2]).unwrap_err();
/// assert_eq!(refused.to_string(), "element 1, the float32 300.0, does not fit in uint8: it is out of range");
///
/// // A transposed view, on several threads if it is large.
/// # #[cfg(feature = "rayon")]
/// let plan = plan.with_threads(Threads::Rayon);
/// let columns = View::from_slice(&[1.0_f32, 2.0, 3.0, 4.0], &[2, 2])?.transposed();
/// assert_eq!(plan.run_to_vec::<u8>(&columns)?, [1, 3, 2, 4]);
/// # Ok::<(), lanecast::CastError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct CastPlan {
    kernel: Kernel,
    rules: Rules,
    /// Whether a run is one call of the kernel on this thread: there is neither a level, nor a mode, nor another thread.
    plain: bool,
    /// The level of a plan whose runs make their tests again.
    level: Option<Level>,
    /// What few plans have.
    pub(super) mode: Option<Arc<Mode>>,
    #[cfg(feature = "rayon")]
    pub(super) threads: Threads,
}

/// The modes of a plan that are not part of its kernel.
#[derive(Clone, Copy, Default)]
pub(super) struct Mode {
    checks: Option<Checks>,
    stochastically: Option<Stochastically>,
}

/// The tests of a checked plan.
#[derive(Clone, Copy)]
struct Checks {
    level: Level,
    /// For rejections and masks.
    find: LossDetector,
    /// For counts, which tell losses apart.
    count: LossDetector,
}

impl CastPlan {
    /// The fields that define the plan, without those derived from them.
    fn key(&self) -> (Encoding, Encoding, Rules, Tier, Option<Level>) {
        let (from, to) = (self.source(), self.target());
        (from, to, self.rules.canonical(from.dtype(), to.dtype()), self.tier(), self.level())
    }
}

impl PartialEq for CastPlan {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key() && self.random() == other.random()
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

    /// Resolves the cast of elements of `S` to elements of `D`. It cannot fail: types whose dtype is not built do not compile.
    pub fn of<S: Element, D: Element>(options: &CastOptions) -> CastPlan {
        const { typed::assert_built::<S, D>() };
        // There is a kernel for every pair that is built, on the tier in use.
        Self::new(S::DTYPE, D::DTYPE, options).unwrap_or_else(|error| unreachable!("{error}"))
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
        let kernel = Kernel::new(tier, from, to, &rules)
            .ok_or_else(|| CastError::Unsupported { tier, status: tier.status() })?;
        Ok(CastPlan {
            kernel,
            rules,
            plain: true,
            level: None,
            mode: None,
            #[cfg(feature = "rayon")]
            threads: Threads::Serial,
        })
    }

    /// The same cast that refuses, marks or counts values that its target cannot hold.
    ///
    /// [`run`](Self::run) returns an error for the first such element, [`run_masked`](Self::run_masked) marks them and
    /// [`run_counted`](Self::run_counted) counts them. Each block is tested in vector code while it is in the first-level cache: a cast
    /// that loses nothing costs little more than a plain one, and nothing more if the buffers are larger than the last-level cache. A
    /// cast to bool loses nothing: every value is either zero or not.
    ///
    /// ```
    /// use lanecast::{CastError, CastOptions, CastPlan, Level, RejectionReason};
    /// let plan = CastPlan::of::<i32, f32>(&CastOptions::RUST).checked(Level::Exact);
    /// let mut out = [0.0_f32; 3];
    /// let Err(CastError::Rejected(found)) = plan.run(&[1, 16777217, 16777219], &mut out) else {
    ///     panic!("float32 has 24 bits")
    /// };
    /// assert_eq!((found.index, found.reason), (1, RejectionReason::Inexact));
    /// ```
    pub fn checked(&self, level: Level) -> CastPlan {
        let (exact, underflow) = (level == Level::Exact, level == Level::Underflow);
        let detector = |labelled| LossDetector::new(self.kernel, &self.rules, exact, labelled);
        let checks = Checks { level, find: detector(underflow), count: detector(true) };
        CastPlan { level: None, ..self.with_mode(|mode| mode.checks = Some(checks)) }.settled()
    }

    /// [`checked`](Self::checked) that allocates nothing, for callers that may not: each run makes its tests again, in about 150 ns.
    #[doc(hidden)]
    pub fn checked_by_each_run(&self, level: Level) -> CastPlan {
        CastPlan { level: Some(level), ..self.clone() }.settled()
    }

    /// The same cast on these threads. The calling thread takes part; casts that one thread finishes before others have woken stay on it.
    ///
    /// ```
    /// use lanecast::{CastOptions, CastPlan, Threads, half::f16};
    /// let plan = CastPlan::of::<f32, f16>(&CastOptions::RUST).with_threads(Threads::Rayon);
    /// let src = vec![0.25_f32; 2_000_000];
    /// assert!(plan.run_to_vec::<f16>(&src)?.iter().all(|x| x.to_f32() == 0.25));
    /// # Ok::<(), lanecast::CastError>(())
    /// ```
    #[cfg(feature = "rayon")]
    pub fn with_threads(&self, threads: Threads) -> CastPlan {
        CastPlan { threads, ..self.clone() }.settled()
    }

    /// The same cast, with non-temporal stores as `streaming` says. By default they are used if the source and the target
    /// together are larger than the last-level cache or 32 MiB.
    ///
    /// The bytes written are the same. On the vector tiers of x86, non-temporal stores save a third of the time of casts larger than
    /// the caches, and cost more than that within them; elsewhere they have no effect.
    pub fn with_streaming(&self, streaming: Streaming) -> CastPlan {
        let plan = CastPlan { kernel: self.kernel.with_streaming(streaming), ..self.clone() };
        if self.mode.is_none() {
            return plan;
        }
        plan.with_mode(|mode| {
            if let Some(checks) = &mut mode.checks {
                checks.find = checks.find.with_streaming(streaming);
                checks.count = checks.count.with_streaming(streaming);
            }
        })
    }

    /// The same cast with stochastic rounding in place of the options' rounding: a value between two neighbours becomes the farther one with
    /// a probability that grows with its distance from the nearer one. See [`stochastic`](crate::stochastic).
    ///
    /// The source is a real float, the target an integer or a float of at most 16 bits that has a zero. Finite values beyond the largest
    /// value of a float become the largest. Elements of views count in C order.
    ///
    /// ```
    /// use lanecast::{CastOptions, CastPlan, Stochastic};
    /// let plan = CastPlan::of::<f32, i8>(&CastOptions::RUST);
    /// let plan = plan.with_stochastic(Stochastic { seed: 7, ..Stochastic::default() })?;
    /// let out = plan.run_to_vec::<i8>(&[0.25_f32; 4000])?;
    /// let ones = out.iter().filter(|x| **x == 1).count();
    /// assert!((900..1100).contains(&ones) && out.iter().all(|x| *x == 0 || *x == 1));
    /// # Ok::<(), lanecast::CastError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`CastError::NotStochastic`] for another source or target.
    pub fn with_stochastic(&self, stochastic: Stochastic) -> Result<CastPlan, CastError> {
        let refused = CastError::NotStochastic { from: self.source().dtype(), to: self.target().dtype() };
        let by = Stochastically::new(&self.kernel, &self.rules, stochastic).ok_or(refused)?;
        Ok(self.with_mode(|mode| mode.stochastically = Some(by)))
    }

    fn with_mode(&self, change: impl FnOnce(&mut Mode)) -> CastPlan {
        let mut mode = self.mode.as_deref().copied().unwrap_or_default();
        change(&mut mode);
        CastPlan { mode: Some(Arc::new(mode)), ..self.clone() }.settled()
    }

    /// The plan with what follows from its settings.
    fn settled(self) -> CastPlan {
        #[cfg(feature = "rayon")]
        let alone = matches!(self.threads, Threads::Serial);
        #[cfg(not(feature = "rayon"))]
        let alone = true;
        CastPlan { plain: self.level.is_none() && self.mode.is_none() && alone, ..self }
    }

    /// The encoding of the source.
    pub const fn source(&self) -> Encoding {
        self.kernel.source()
    }

    /// The encoding of the target.
    pub const fn target(&self) -> Encoding {
        self.kernel.target()
    }

    /// The tier whose kernel runs.
    pub const fn tier(&self) -> Tier {
        self.kernel.tier()
    }

    /// Which losses a [checked](Self::checked) plan looks for.
    pub fn level(&self) -> Option<Level> {
        self.level.or_else(|| self.mode.as_ref()?.checks.map(|checks| checks.level))
    }

    /// Whether no element can be lost: at the level of [`checked`](Self::checked), otherwise at [`Level::Range`].
    pub fn keeps_all(&self) -> bool {
        self.detector(Outcome::Mask).is_some_and(|detector| detector.is_idle())
    }

    pub(crate) const fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Whether every run is one call of the kernel on this thread.
    #[inline]
    pub(super) const fn is_plain(&self) -> bool {
        self.plain
    }

    /// Whether a run of this source is one call of the kernel, although the plan has threads: it has few elements.
    #[cfg(feature = "rayon")]
    pub(super) fn is_short(&self, src: &lanecast_kernels::Source<'_>) -> bool {
        self.level.is_none()
            && self.mode.is_none()
            && src.elements().is_some_and(|n| crate::threads::alone(&self.kernel, n))
    }

    fn random(&self) -> Option<&Random> {
        self.stochastically().map(|by| &by.random)
    }

    pub(super) fn stochastically(&self) -> Option<&Stochastically> {
        self.mode.as_ref()?.stochastically.as_ref()
    }

    /// The tests of a run, if it makes any.
    pub(super) fn detector(&self, outcome: Outcome) -> Option<LossDetector> {
        let checks = self.mode.as_ref().and_then(|mode| mode.checks.as_ref());
        let (exact, underflow) = (self.level == Some(Level::Exact), self.level == Some(Level::Underflow));
        let detector = |labelled| LossDetector::new(self.kernel, &self.rules, exact, labelled);
        match (self.level, checks, outcome) {
            (None, Some(checks), Outcome::Counts) => Some(checks.count),
            (None, Some(checks), Outcome::Results | Outcome::Mask) => Some(checks.find),
            (None, None, Outcome::Results) => None,
            (_, _, Outcome::Results | Outcome::Mask) => Some(detector(underflow)),
            (_, _, Outcome::Counts) => Some(detector(true)),
        }
    }
}

impl fmt::Debug for CastPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CastPlan({} -> {}, {}", self.source(), self.target(), self.tier())?;
        self.level().map_or(Ok(()), |level| write!(f, ", {level:?}"))?;
        f.write_str(")")
    }
}
