//! What a cast costs: an estimate, of which one thing is asked: to tell what is worth a second thread.
//!
//! It is a straight line for each pair: so much for every byte that is read, more for one that is written, and something for
//! every element whose route or encoder takes longer than its bytes do. What is beyond the second caches costs at least what the
//! way to it costs.
//!
//! The figures are fitted to all pairs and storages on an Intel Sapphire Rapids (2 MiB of second cache): 512 KiB to a cast for
//! the tiers `avx2` and `avx512`, 32,768 elements for `scalar`, 8,192 for the exact route, 64 MiB for what is far. They are nearer
//! to the quickest pair of a class than to the slowest, and other machines are slower rather than quicker: an
//! estimate that is too high makes a short cast slower, one that is too low only leaves a thread asleep. `neon` was not
//! measured and is taken for `avx2`.

use crate::{BufferType, CastPlan, DType, Kind, Spec, Storage, Tier};

/// Picoseconds of a byte that is read or written in the first or second cache.
const READ: u64 = 4;
const WRITTEN: u64 = 14;

/// Bytes of source and destination that are still near, and the picoseconds of one of them beyond. It is more than the second
/// cache of one core: of what two of them hold, a second thread first has to bring its half to its own (measured at 3 MiB: as long as one
/// thread takes for all; at 4 MiB: half of it).
const NEAR: u64 = 7 << 19;
const FAR: u64 = 20;

/// The estimate for a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cost {
    /// Picoseconds of an element within the caches.
    element: u64,
    /// The bits of an element on both sides.
    bits: u64,
}

/// The estimate for a plan.
pub(super) fn of(plan: &CastPlan) -> Cost {
    let (from, to) = (plan.from(), plan.to());
    let bits = |buffer: BufferType| u64::from(buffer.bits_per_element());
    let moved = (READ * bits(from) + WRITTEN * bits(to)) / 8;
    let more = match plan.tier() {
        Tier::Scalar => scalar(from, to),
        Tier::Avx512 => 14 * encoded(from, to),
        _ => 20 * encoded(from, to),
    };
    Cost { element: moved + more, bits: bits(from) + bits(to) }
}

/// A float of 8 bits or fewer.
fn is_small(dtype: DType) -> bool {
    dtype.bits() <= 8 && dtype.kind() == Kind::Float
}

/// Bits of a number or of the part of a complex one.
fn part(dtype: DType) -> u32 {
    match dtype.spec() {
        Spec::Complex(_) => dtype.bits() / 2,
        _ => dtype.bits(),
    }
}

/// Bytes of the source that the encoder of a small float takes in; 0 for other targets, and where a table has the codes.
fn encoded(from: BufferType, to: BufferType) -> u64 {
    let bits = part(from.dtype());
    if is_small(to.dtype()) && bits > 8 { u64::from(bits / 8) } else { 0 }
}

/// What the plain loops take beside the bytes.
fn scalar(from: BufferType, to: BufferType) -> u64 {
    let unpack = match (from.storage(), from.dtype().bits()) {
        (Storage::Byte, _) => 0,
        (Storage::Packed, 2) => 350,
        (Storage::Packed, _) => 800,
    };
    let pack = if to.storage() == Storage::Packed { 700 } else { 0 };
    if from.dtype() == to.dtype() {
        return if from.storage() == to.storage() { 0 } else { unpack + pack };
    }
    let decode = if from.dtype() == DType::Float16 { 400 } else { 0 };
    let encode = match (to.dtype(), part(from.dtype()) == 64) {
        (DType::Float16 | DType::BFloat16, true) => 1500,
        (dtype, true) if is_small(dtype) => 1500,
        (DType::Float16, false) => 500,
        (dtype, false) if is_small(dtype) => 300,
        _ => 0,
    };
    unpack + decode + encode + pack
}

impl Cost {
    /// Bytes that `n` elements read and write.
    pub(super) fn bytes(&self, n: usize) -> u64 {
        (n as u64 / 8).saturating_mul(self.bits)
    }

    /// Nanoseconds of a cast of `n` elements.
    pub(super) fn nanoseconds(&self, n: usize) -> u64 {
        self.nanoseconds_among(n, self.bytes(n))
    }

    /// Nanoseconds of `n` elements that are cast together with others, with so many bytes in all.
    pub(super) fn nanoseconds_among(&self, n: usize, bytes: u64) -> u64 {
        let far = if bytes > NEAR { FAR * self.bits / 8 } else { 0 };
        self.element.max(far).saturating_mul(n as u64) / 1000
    }

    /// How many of `n` elements take `part` nanoseconds, if all of them take `whole`.
    pub(super) fn elements(n: usize, part: u64, whole: u64) -> usize {
        let elements = n as u128 * u128::from(part) / u128::from(whole.max(1));
        usize::try_from(elements).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CastOptions;

    fn cost(from: BufferType, to: BufferType, tier: Tier, options: &CastOptions) -> Option<Cost> {
        CastPlan::with_tier(from, to, options, tier).ok().map(|plan| of(&plan))
    }

    /// Of every pair: something, and no overflow.
    #[test]
    fn all_pairs() {
        let storages = |dtype: &DType| [BufferType::new(*dtype), BufferType::packed(*dtype)];
        for from in DType::ALL.iter().flat_map(storages) {
            for to in DType::ALL.iter().flat_map(storages) {
                for &tier in Tier::ALL {
                    let Some(cost) = cost(from, to, tier, &CastOptions::RUST) else { continue };
                    assert!((1..5000).contains(&cost.element), "{from} to {to}: {cost:?}");
                    assert!(cost.nanoseconds(usize::MAX) > cost.nanoseconds(1 << 24));
                    assert_eq!(cost.nanoseconds(0), 0);
                }
            }
        }
    }

    /// What the module says, in figures.
    #[test]
    fn some_pairs() {
        let rust = CastOptions::RUST;
        let (f32, f8) = (DType::Float32.into(), DType::Float8E4M3FN.into());
        let scalar = |from, to| cost(from, to, Tier::Scalar, &rust).expect("there is always one");
        assert_eq!(scalar(f32, f32).element, 4 * (READ + WRITTEN));
        assert!(scalar(f32, f8).element > 5 * scalar(f32, DType::Int8.into()).element);
        // Beyond the second cache the same elements take longer.
        let copy = scalar(f32, f32);
        assert_eq!((copy.nanoseconds(1 << 18), copy.nanoseconds(1 << 19)), (18_874, 83_886));
        assert_eq!(copy.nanoseconds_among(1 << 18, 1 << 30), 41_943);
    }

    #[test]
    fn parts() {
        assert_eq!(Cost::elements(1000, 20, 100), 200);
        assert_eq!(Cost::elements(usize::MAX, 1, 1), usize::MAX);
        assert_eq!(Cost::elements(7, u64::MAX, 0), usize::MAX);
    }
}
