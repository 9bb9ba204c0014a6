//! [`StochasticPlan`]: a plain cast that rounds stochastically.

use super::{Random, Stochastic};
use crate::{CastError, CastOptions, CastPlan, DType, Encoding, Kind, Side};
use core::fmt;

/// Elements that are cast at once, in memory of the stack: whole bytes in every storage.
const CHUNK: usize = 512;

/// Picoseconds that an element takes one thread, about.
#[cfg(feature = "rayon")]
const ELEMENT: u64 = 3000;

/// Why a cast cannot round stochastically.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StochasticError {
    /// The source is not a real float.
    Source {
        /// Its dtype.
        dtype: DType,
    },
    /// The target is neither an integer nor a float of at most 16 bits with a zero.
    Target {
        /// Its dtype.
        dtype: DType,
    },
    /// The cast itself is not possible.
    Cast(CastError),
}

impl fmt::Display for StochasticError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source { dtype } => {
                write!(f, "cannot round {dtype} stochastically: the source must be a real float")
            }
            Self::Target { dtype } => write!(
                f,
                "cannot round to {dtype} stochastically: take an integer or a float of at most 16 bits that has a zero"
            ),
            Self::Cast(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for StochasticError {}

impl From<CastError> for StochasticError {
    fn from(error: CastError) -> Self {
        Self::Cast(error)
    }
}

/// A cast of floats to integers or to floats of at most 16 bits that rounds stochastically.
///
/// Finite values beyond the largest one become the largest one. Infinities and NaN become what a cast of `float64` with
/// [`CastOptions::RUST`] makes of them.
///
/// ```
/// use lanecast::DType;
/// use lanecast::stochastic::{RandomBits, Stochastic, StochasticPlan};
/// let random = Stochastic { seed: 1, stream: 0, bits: RandomBits::ThirtyTwo };
/// let plan = StochasticPlan::new(DType::Float32, DType::Int8, random)?;
/// let src: Vec<u8> = [0.25_f32; 4000].iter().flat_map(|x| x.to_ne_bytes()).collect();
/// let mut codes = vec![0; 4000];
/// plan.run(&src, &mut codes, 4000)?;
/// assert!((900..1100).contains(&codes.iter().filter(|code| **code == 1).count()));
/// // The second half alone has the same codes.
/// let mut half = vec![0; 2000];
/// plan.starting_at(2000).run(&src[8000..], &mut half, 2000)?;
/// assert_eq!(half, codes[2000..]);
/// # Ok::<(), lanecast::stochastic::StochasticError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StochasticPlan {
    /// The source as `float64`, exact.
    load: CastPlan,
    random: Random,
    /// Values of the target to its codes.
    store: CastPlan,
}

impl StochasticPlan {
    /// Resolves the cast.
    ///
    /// # Errors
    ///
    /// [`StochasticError::Source`], [`StochasticError::Target`] or, if a dtype is not built, [`StochasticError::Cast`].
    pub fn new(
        from: impl Into<Encoding>,
        to: impl Into<Encoding>,
        stochastic: Stochastic,
    ) -> Result<StochasticPlan, StochasticError> {
        let (from, to) = (from.into(), to.into());
        if from.dtype().kind() != Kind::Float {
            return Err(StochasticError::Source { dtype: from.dtype() });
        }
        let random =
            Random::new(to.dtype(), stochastic).ok_or(StochasticError::Target { dtype: to.dtype() })?;
        let load = CastPlan::new(from, DType::Float64, &CastOptions::RUST)?;
        Ok(StochasticPlan { load, random, store: CastPlan::new(DType::Float64, to, &CastOptions::RUST)? })
    }

    /// The same cast for a part of a tensor, whose first element has this index in it.
    #[must_use]
    pub fn starting_at(self, index: u64) -> StochasticPlan {
        StochasticPlan { random: self.random.starting_at(index), ..self }
    }

    /// The encoding of the source.
    pub fn source(&self) -> Encoding {
        self.load.source()
    }

    /// The encoding of the destination.
    pub fn target(&self) -> Encoding {
        self.store.target()
    }

    /// Casts the first `n` elements of `src` to the first `n` of `dst`. Both may be longer.
    ///
    /// # Errors
    ///
    /// [`CastError::BufferTooSmall`] or [`CastError::TooLarge`]; then nothing is written.
    pub fn run(&self, src: &[u8], dst: &mut [u8], n: usize) -> Result<(), CastError> {
        self.check(src, dst, n)?;
        // Chunks begin at whole bytes.
        let mut values = [0.0_f64; CHUNK];
        for first in (0..n).step_by(CHUNK) {
            let count = CHUNK.min(n - first);
            let values = &mut values[..count];
            self.load.run(&src[bytes(self.source(), first)..], bytemuck::cast_slice_mut(values), count)?;
            self.random.round(first, values);
            self.store.run(bytemuck::cast_slice(values), &mut dst[bytes(self.target(), first)..], count)?;
        }
        Ok(())
    }

    fn check(&self, src: &[u8], dst: &[u8], n: usize) -> Result<(), CastError> {
        let sides = [(Side::Source, self.source(), src.len()), (Side::Destination, self.target(), dst.len())];
        for (which, buffer, have) in sides {
            match buffer.byte_len(n) {
                None => return Err(CastError::TooLarge { elements: n, encoding: buffer }),
                Some(need) if need > have => return Err(CastError::BufferTooSmall { which, need, have }),
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// [`run`](Self::run) over several threads: the same codes.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    #[cfg(feature = "rayon")]
    pub fn par_run(
        &self,
        src: &[u8],
        dst: &mut [u8],
        n: usize,
        threads: crate::bulk::Threads<'_>,
    ) -> Result<(), CastError> {
        self.check(src, dst, n)?;
        let time = (n as u64).saturating_mul(ELEMENT) / 1000;
        let Some(share) = crate::bulk::Share::new(time, || threads.count()) else {
            return self.run(src, dst, n);
        };
        let parts = usize::try_from(time / share.chunk).unwrap_or(usize::MAX).max(1);
        let size = n.div_ceil(parts).next_multiple_of(CHUNK);
        // The lengths are checked: no part fails.
        let len = self.target().byte_len(n).unwrap_or(0);
        let parts = dst[..len].chunks_mut(bytes(self.target(), size)).enumerate();
        let failed = std::sync::Mutex::new(Ok(()));
        threads.share(share.tasks, parts, |(i, dst)| {
            let first = i * size;
            let plan = StochasticPlan { random: self.random.after(first), ..*self };
            let done = plan.run(&src[bytes(self.source(), first)..], dst, size.min(n - first));
            if done.is_err() {
                *failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = done;
            }
            core::ops::ControlFlow::Continue(())
        });
        failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// The bytes of so many elements, a multiple of 8.
fn bytes(buffer: Encoding, elements: usize) -> usize {
    elements / 8 * buffer.bits_per_element() as usize
}
