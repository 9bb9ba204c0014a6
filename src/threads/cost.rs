//! An estimate of the cost of a cast, used only to decide whether a second thread is worthwhile.
//!
//! Within the second-level cache it is the measured cost of the kernel
//! ([`Kernel::picoseconds_per_element`](lanecast_kernels::Kernel::picoseconds_per_element)); beyond it, it is at least the cost of
//! the memory traffic. Other machines tend to be slower than the measured one, so estimates tend to be too low. That is the better
//! error: an estimate that is too high makes a short cast slower, and one that is too low only leaves a thread asleep.

use lanecast_kernels::{Kernel, machine::SECOND_CACHE};

/// Bytes of source and destination that count as cached, and the picoseconds per byte beyond. It is more than the second-level cache
/// of one core: if the data fits in the caches of two cores, a second thread first has to move its half to its own cache. (Measured at
/// 3 MiB, that takes as long as the whole cast on one thread; at 4 MiB, half as long.)
const NEAR: u64 = SECOND_CACHE as u64 / 4 * 7;
const FAR: u64 = 20;

/// The estimate for a cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Picoseconds per element within the caches.
    element: u64,
    /// Bits per element, of both sides together.
    bits: u64,
}

/// The estimate for a kernel on contiguous elements.
#[inline]
pub(crate) fn of(kernel: &Kernel) -> Cost {
    Cost::new(kernel, kernel.picoseconds_per_element())
}

/// The estimate for a kernel on views in which no axis is contiguous on both sides.
pub(crate) fn of_strided(kernel: &Kernel) -> Cost {
    Cost::new(kernel, kernel.strided_picoseconds_per_element())
}

impl Cost {
    fn new(kernel: &Kernel, picoseconds: u32) -> Cost {
        let bits = kernel.source().bits_per_element() + kernel.target().bits_per_element();
        Cost { element: picoseconds.into(), bits: bits.into() }
    }

    /// The same for elements that take at least this.
    pub(crate) fn at_least(self, picoseconds: u64) -> Cost {
        Cost { element: self.element.max(picoseconds), ..self }
    }

    /// Bytes that `n` elements read and write.
    pub(crate) fn bytes(&self, n: usize) -> u64 {
        (n as u64 / 8).saturating_mul(self.bits)
    }

    /// Nanoseconds for a cast of `n` elements.
    pub(crate) fn nanoseconds(&self, n: usize) -> u64 {
        self.nanoseconds_among(n, self.bytes(n))
    }

    /// Nanoseconds for `n` elements that are cast together with others, `bytes` bytes in total.
    pub(crate) fn nanoseconds_among(&self, n: usize, bytes: u64) -> u64 {
        let far = if bytes > NEAR { FAR * self.bits / 8 } else { 0 };
        self.element.max(far).saturating_mul(n as u64) / 1000
    }

    /// How many of `n` elements take `part` nanoseconds, if all of them take `whole`.
    pub(crate) fn elements(n: usize, part: u64, whole: u64) -> usize {
        let elements = n as u128 * u128::from(part) / u128::from(whole.max(1));
        usize::try_from(elements).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::CastPlan;
    use crate::{CastOptions, DType, Encoding, FloatRound, Tier};

    fn cost(from: Encoding, to: Encoding, tier: Tier, options: &CastOptions) -> Option<Cost> {
        CastPlan::with_tier(from, to, options, tier).ok().map(|plan| of(plan.kernel()))
    }

    /// Of every pair: something, and no overflow.
    #[test]
    fn all_pairs() {
        let storages = |dtype: &DType| [Encoding::new(*dtype), Encoding::packed(*dtype)];
        for from in DType::ALL.iter().flat_map(storages) {
            for to in DType::ALL.iter().flat_map(storages) {
                for &tier in Tier::ALL {
                    let Some(cost) = cost(from, to, tier, &CastOptions::RUST) else { continue };
                    assert!((1..20_000).contains(&cost.element), "{from} to {to}: {cost:?}");
                    assert!(cost.nanoseconds(usize::MAX) > cost.nanoseconds(1 << 24));
                    assert_eq!(cost.nanoseconds(0), 0);
                }
            }
        }
    }

    /// What the module says, in figures.
    #[test]
    fn near_and_far() {
        let copy = Cost { element: 80, bits: 64 };
        assert_eq!((copy.nanoseconds(1000), copy.nanoseconds(1 << 18)), (80, 20_971));
        // Beyond the second cache the same elements take longer.
        assert_eq!((copy.bytes(1 << 19), copy.nanoseconds(1 << 19)), (4 << 20, 83_886));
        assert_eq!(copy.nanoseconds_among(1 << 18, 1 << 30), 41_943);
        // What is slow is not slower for it.
        let slow = Cost { element: 1000, bits: 64 };
        assert_eq!(slow.nanoseconds(1 << 20), 1 << 20);
    }

    /// A plan costs what its kernel and its route do.
    #[test]
    fn routes() {
        let rust = CastOptions::RUST;
        let scalar =
            |from, to, options| cost(from, to, Tier::Scalar, options).expect("there is always one").element;
        let (f32, f8, f6) = (DType::Float32.into(), DType::Float8E4M3FN.into(), DType::Float6E2M3FN);
        assert!(scalar(f32, f8, &rust) > scalar(f32, f32, &rust));
        assert!(scalar(f32, Encoding::packed(f6), &rust) > scalar(f32, f6.into(), &rust));
        assert!(scalar(f32, f8, &rust.with_float_round(FloatRound::Up)) >= scalar(f32, f8, &rust));
        let plan = CastPlan::with_tier(f32, f8, &rust, Tier::Scalar).expect("there is always one");
        assert!(of_strided(plan.kernel()).element >= of(plan.kernel()).element);
    }

    #[test]
    fn parts() {
        assert_eq!(Cost::elements(1000, 20, 100), 200);
        assert_eq!(Cost::elements(usize::MAX, 1, 1), usize::MAX);
        assert_eq!(Cost::elements(7, u64::MAX, 0), usize::MAX);
    }
}
