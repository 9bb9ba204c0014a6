//! The classes of pairs and the fraction of the pure-traffic loop that is asked of each.
//!
//! [`CLASSES`] is the whole table. Every cast belongs to exactly one class (a test looks at all of them); the predicates are
//! written so that they exclude each other and do not lean on their order, but for the last, which takes what is left.

use crate::cells::{Cast, Mode};
use lanecast::{DType, Encoding, Storage, Tier};

/// The sizes that have targets, in the order of a target's figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Source and destination together 24 KiB: in the first cache.
    L1,
    /// 512 KiB: in the second.
    L2,
    /// Several times the last cache.
    Dram,
}

/// A class of pairs.
#[derive(Debug)]
pub struct Class {
    /// Its name in results and on the command line.
    pub name: &'static str,
    /// What belongs to it, for people.
    pub pairs: &'static str,
    /// The fractions asked of `avx512`: L1, L2, DRAM.
    pub avx512: [f64; 3],
    /// The fractions asked of `avx2`.
    pub avx2: [f64; 3],
    /// Whether a cast belongs to it.
    member: fn(&Cast) -> bool,
}

impl Class {
    /// The fraction asked of a tier at a size; `None` for tiers without targets.
    pub fn target(&self, tier: Tier, level: Level) -> Option<f64> {
        match tier {
            Tier::Avx512 => Some(self.avx512[level as usize]),
            Tier::Avx2 => Some(self.avx2[level as usize]),
            _ => None,
        }
    }
}

/// The fraction of the *streaming* pure-traffic loop that the streaming driver is to reach above the last-level cache, for every
/// pair that is asked for more than 0.9 of the plain one.
pub fn streaming_target(tier: Tier) -> Option<f64> {
    match tier {
        Tier::Avx512 => Some(0.90),
        Tier::Avx2 => Some(0.88),
        _ => None,
    }
}

/// The table.
pub const CLASSES: &[Class] = &[
    Class {
        name: "widen",
        pairs: "to the same or a greater width without loss (integers, bool, f16, bf16, f32, c64), i32/u32 -> f32, i64/u64 -> f64",
        avx512: [0.90, 0.95, 0.95],
        avx2: [0.50, 0.65, 0.95],
        member: widen,
    },
    Class {
        name: "float8-decode",
        pairs: "8-bit floats -> f32, f16, bf16",
        avx512: [0.85, 0.95, 0.95],
        avx2: [0.20, 0.30, 0.95],
        member: |cast| float8(cast.from) && is(cast.to, &[DType::Float32, DType::Float16, DType::BFloat16]),
    },
    Class {
        name: "subbyte-decode",
        pairs: "4-bit, 2-bit, 6-bit -> f32 and i8",
        avx512: [0.70, 0.75, 0.95],
        avx2: [0.30, 0.35, 0.95],
        member: |cast| cast.from.dtype().is_sub_byte() && is(cast.to, &[DType::Float32, DType::Int8]),
    },
    Class {
        name: "narrow-light",
        pairs: "f32 -> f16, f64 -> f32, integers to narrower ones",
        avx512: [0.70, 0.95, 0.95],
        avx2: [0.55, 0.80, 0.95],
        member: narrow_light,
    },
    Class {
        name: "int64-f32",
        pairs: "i64/u64 -> f32",
        avx512: [0.70, 0.95, 0.95],
        avx2: [0.20, 0.35, 0.90],
        member: |cast| is(cast.from, &[DType::Int64, DType::UInt64]) && is(cast.to, &[DType::Float32]),
    },
    Class {
        name: "narrow",
        pairs: "f32 -> bf16, f32 -> 8- to 32-bit integers (saturating), any -> bool, bf16 <-> f16, f64 -> i64 (saturating)",
        avx512: [0.35, 0.78, 0.95],
        avx2: [0.25, 0.40, 0.92],
        member: narrow,
    },
    Class {
        name: "float8-encode",
        pairs: "f32 -> 8-bit floats, f32 -> i4, u4, e2m1",
        avx512: [0.20, 0.45, 0.90],
        avx2: [0.14, 0.17, 0.90],
        member: |cast| {
            let small = is(cast.to, &[DType::Int4, DType::UInt4, DType::Float4E2M1FN]);
            is(cast.from, &[DType::Float32]) && (float8(cast.to) || small)
        },
    },
    Class {
        name: "wide-to-small",
        pairs: "f64, i64, u64 -> f16, bf16, 8-bit floats",
        avx512: [0.17, 0.40, 0.86],
        avx2: [0.14, 0.18, 0.75],
        member: |cast| {
            let wide = is(cast.from, &[DType::Float64, DType::Int64, DType::UInt64]);
            wide && (is(cast.to, &[DType::Float16, DType::BFloat16]) || float8(cast.to))
        },
    },
    Class {
        name: "float16-float8",
        pairs: "f16, bf16 -> 8-bit floats",
        avx512: [0.15, 0.35, 0.90],
        avx2: [0.08, 0.12, 0.75],
        member: |cast| is(cast.from, &[DType::Float16, DType::BFloat16]) && float8(cast.to),
    },
    Class {
        name: "byte-to-byte",
        pairs: "8-bit -> 8-bit, at least one a float or below 8 bits in byte storage",
        avx512: [0.45, 0.95, 0.95],
        avx2: [0.06, 0.12, 0.74],
        member: byte_to_byte,
    },
    Class {
        name: "rest",
        pairs: "every remaining pair",
        avx512: [0.10, 0.25, 0.80],
        avx2: [0.06, 0.12, 0.70],
        member: |cast| !CLASSES[..CLASSES.len() - 1].iter().any(|class| (class.member)(cast)),
    },
];

/// The class of a cast.
pub fn of(cast: &Cast) -> &'static Class {
    let found = CLASSES.iter().find(|class| (class.member)(cast));
    found.unwrap_or(&CLASSES[CLASSES.len() - 1])
}

/// The class of this name.
pub fn by_name(name: &str) -> Option<&'static Class> {
    CLASSES.iter().find(|class| class.name == name)
}

fn is(buffer: Encoding, dtypes: &[DType]) -> bool {
    dtypes.contains(&buffer.dtype())
}

/// The 8-bit floats with values on both sides of zero; e8m0 is left to the rest.
fn float8(buffer: Encoding) -> bool {
    let dtype = buffer.dtype();
    dtype.bits() == 8 && dtype.float_spec().is_some() && dtype != DType::Float8E8M0FNU
}

/// Integers of at least 8 bits.
fn int(buffer: Encoding) -> bool {
    buffer.dtype().iinfo().is_some() && !buffer.dtype().is_sub_byte()
}

fn widen(cast: &Cast) -> bool {
    let (from, to) = (cast.from.dtype(), cast.to.dtype());
    if from == to {
        return cast.from.storage() == cast.to.storage();
    }
    match from {
        DType::Bool => int(cast.to) || is(cast.to, WIDE_FLOATS),
        DType::Int8 | DType::UInt8 if is(cast.to, WIDE_FLOATS) => true,
        DType::Int16 | DType::UInt16 | DType::Int32 | DType::UInt32
            if is(cast.to, &[DType::Float32, DType::Float64]) =>
        {
            true
        }
        DType::Int64 | DType::UInt64 if to == DType::Float64 => true,
        DType::Float16 | DType::BFloat16 => is(cast.to, &[DType::Float32, DType::Float64]),
        DType::Float32 => to == DType::Float64,
        DType::Complex64 => to == DType::Complex128,
        _ => int(cast.from) && int(cast.to) && from.bits() <= to.bits(),
    }
}

/// Floats in which every 8-bit integer has its own value.
const WIDE_FLOATS: &[DType] = &[DType::Float16, DType::BFloat16, DType::Float32, DType::Float64];

fn narrow_light(cast: &Cast) -> bool {
    match (cast.from.dtype(), cast.to.dtype()) {
        (DType::Float32, DType::Float16) | (DType::Float64, DType::Float32) => true,
        (from, to) => int(cast.from) && int(cast.to) && from.bits() > to.bits(),
    }
}

fn narrow(cast: &Cast) -> bool {
    let to32 = int(cast.to) && cast.to.dtype().bits() <= 32;
    match (cast.from.dtype(), cast.to.dtype()) {
        (DType::Bool, DType::Bool) => false,
        (_, DType::Bool) => true,
        (DType::Float16, DType::BFloat16) | (DType::BFloat16, DType::Float16) => true,
        (DType::Float32, DType::BFloat16) => true,
        (DType::Float32, _) if to32 => cast.mode == Mode::Saturate,
        (DType::Float64, DType::Int64) => cast.mode == Mode::Saturate,
        _ => false,
    }
}

fn byte_to_byte(cast: &Cast) -> bool {
    let byte = |buffer: Encoding| buffer.storage() == Storage::Byte && buffer.dtype().size() == 1;
    let (from, to) = (cast.from.dtype(), cast.to.dtype());
    let plain = |dtype: DType| dtype == DType::Bool || matches!(dtype, DType::Int8 | DType::UInt8);
    byte(cast.from)
        && byte(cast.to)
        && from != to
        && to != DType::Bool
        && !(plain(from) && plain(to))
        && !(from.is_sub_byte() && to == DType::Int8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells;

    #[test]
    fn every_cast_is_in_one_class() {
        let casts = cells::all();
        for cast in &casts {
            let classes: Vec<_> =
                CLASSES.iter().filter(|class| (class.member)(cast)).map(|c| c.name).collect();
            assert_eq!(classes.len(), 1, "{cast} is in {classes:?}");
        }
        for class in CLASSES {
            assert!(casts.iter().any(|cast| (class.member)(cast)), "{} is empty", class.name);
        }
    }

    #[test]
    fn classes_of_well_known_pairs() {
        let class =
            |from, to, mode| of(&Cast { from: Encoding::new(from), to: Encoding::new(to), mode }).name;
        use DType::*;
        assert_eq!(class(Float16, Float32, Mode::Only), "widen");
        assert_eq!(class(Int8, UInt8, Mode::Wrap), "widen");
        assert_eq!(class(Complex64, Complex128, Mode::Only), "widen");
        assert_eq!(class(Float8E4M3FN, BFloat16, Mode::Only), "float8-decode");
        assert_eq!(class(Float8E8M0FNU, Float32, Mode::Only), "rest");
        assert_eq!(class(Int4, Float32, Mode::Only), "subbyte-decode");
        assert_eq!(class(Int64, Int8, Mode::Saturate), "narrow-light");
        assert_eq!(class(Int64, Float32, Mode::Only), "int64-f32");
        assert_eq!(class(Float32, UInt8, Mode::Saturate), "narrow");
        assert_eq!(class(Float32, UInt8, Mode::Wrap), "rest");
        assert_eq!(class(Complex128, Bool, Mode::Only), "narrow");
        assert_eq!(class(Float32, Float8E5M2, Mode::Overflow), "float8-encode");
        assert_eq!(class(Int64, BFloat16, Mode::Only), "wide-to-small");
        assert_eq!(class(BFloat16, Float8E4M3FN, Mode::Saturate), "float16-float8");
        assert_eq!(class(Float8E8M0FNU, Float8E4M3FN, Mode::Saturate), "byte-to-byte");
        assert_eq!(class(Float64, Complex64, Mode::Only), "rest");
    }

    #[test]
    fn names_are_unique() {
        for class in CLASSES {
            assert_eq!(by_name(class.name).map(|found| found.pairs), Some(class.pairs));
        }
    }
}
