//! Generates the lanes of operands, and the elements of sources.

use crate::dtype::{DType, Encoding, Spec};
use alloc::{vec, vec::Vec};

/// The kind of the lanes of an operand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lane {
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
    /// Float32 that are integers of at most 11 bits.
    Short,
}

/// The maximum number of combinations of edges.
const COMBINATIONS: usize = if cfg!(miri) { 64 } else { 30_000 };
/// The number of random lanes.
const RANDOM: usize = if cfg!(miri) { 32 } else { 8192 };

/// A generator of random bits: SplitMix64.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ x >> 31
    }
    fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }
}

impl Lane {
    pub(super) fn size(self) -> usize {
        match self {
            Lane::U8 => 1,
            Lane::U16 | Lane::F16 => 2,
            Lane::U32 | Lane::F32 | Lane::Short => 4,
            Lane::U64 | Lane::F64 => 8,
        }
    }

    /// The numbers of exponent bits and mantissa bits, if the lanes are floats.
    fn float(self) -> Option<(u32, u32)> {
        match self {
            Lane::F16 => Some((5, 10)),
            Lane::F32 => Some((8, 23)),
            Lane::F64 => Some((11, 52)),
            _ => None,
        }
    }

    fn edges(self) -> Vec<u64> {
        let bits = 8 * self.size() as u32;
        let mut edges = match self {
            Lane::U8 => (0..256).collect(),
            Lane::Short => {
                [0, 1, 2, 3, 5, 255, 1024, 2047].map(|x: i16| (x as f32).to_bits() as u64).to_vec()
            }
            Lane::U16 | Lane::U32 | Lane::U64 => {
                // All powers of two, their neighbours, and the negatives of all of them.
                let powers = (0..bits).map(|k| 1_u64 << k);
                powers
                    .flat_map(|x| [x, x - 1, x + 1, x | x >> 1])
                    .flat_map(|x| [x, x.wrapping_neg()])
                    .collect()
            }
            _ => self.float_edges(),
        };
        edges.iter_mut().for_each(|x| *x &= u64::MAX >> (64 - bits));
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// Both signs of: zero, the ends of subnormal and normal numbers, infinity, quiet and signalling NaNs; powers of two and midpoints between
    /// numbers of fewer bits, and the neighbours of both.
    fn float_edges(self) -> Vec<u64> {
        let (exponent, mantissa) = self.float().unwrap();
        let (infinity, one) = (((1_u64 << exponent) - 1) << mantissa, 1_u64 << mantissa);
        let bias = (1_i32 << (exponent - 1)) - 1;
        let mut edges = vec![0, 1, 2, 3, one / 2, one - 1, infinity, infinity - 1, infinity | (one - 1)];
        edges.extend([infinity | 1, infinity | one >> 1, infinity | one >> 2, infinity | one >> 1 | 0x155]);
        let near = |x: u64| [x.wrapping_sub(1), x, x + 1];
        for power in [
            -1074, -1022, -149, -148, -127, -126, -25, -24, -15, -14, -1, 0, 1, 2, 7, 8, 10, 11, 15, 16, 21,
            22, 23, 24, 25, 30, 31, 32, 33, 51, 52, 53, 62, 63, 64, 65, 127, 128, 1023,
        ] {
            // Miri is slow: it runs a few.
            if power > -bias && power <= bias && (!cfg!(miri) || power % 7 == 0) {
                let x = ((power + bias) as u64) << mantissa;
                edges.extend(near(x));
                // 1.5 times the power, and midpoints of formats with up to 3, 7, 10 and 23 bits of mantissa and of integers.
                for kept in [0, 1, 2, 3, 7, 10, 23, power] {
                    if (0..mantissa as i32).contains(&kept) {
                        let half = one >> (kept + 1);
                        edges.extend(near(x | half));
                        edges.extend(near(x | half | (one - (half << 1))));
                    }
                }
            }
        }
        edges.iter().flat_map(|x| [*x, *x | 1 << (exponent + mantissa)]).collect()
    }

    fn random(self, random: &mut Random) -> u64 {
        let bits = random.bits();
        match (self, self.float()) {
            (Lane::Short, _) => ((bits as i16 >> 5) as f32).to_bits() as u64,
            (_, Some((exponent, mantissa))) if bits >> 62 != 0 => {
                // Numbers near 1, some with few significant bits.
                let field = (1 << (exponent - 1)) + random.below(3 << (exponent / 2 + 1)) as u64
                    - (3 << (exponent / 2));
                let fraction = bits & u64::MAX << random.below(mantissa as usize + 1) & ((1 << mantissa) - 1);
                (bits >> 61 & 1) << (exponent + mantissa) | field << mantissa | fraction
            }
            _ => bits,
        }
    }
}

/// The operands of many calls of an operation, as registers.
pub(super) fn operands(register: usize, kinds: &[(Lane, usize)]) -> Vec<u8> {
    let mut random = Random(kinds.len() as u64);
    let edges: Vec<_> = kinds.iter().map(|(lane, _)| lane.edges()).collect();
    let all = edges.iter().fold(1, |all: usize, edges| all.saturating_mul(edges.len()));
    let mut lanes: Vec<Vec<u64>> = vec![];
    for case in 0..all.min(COMBINATIONS) {
        let mut rest = case;
        let mut chosen = |edges: &Vec<u64>| {
            let index = if all > COMBINATIONS { random.below(edges.len()) } else { rest % edges.len() };
            rest /= edges.len();
            edges[index]
        };
        lanes.push(edges.iter().map(&mut chosen).collect());
    }
    // The number of lanes of a call.
    let most = kinds.iter().map(|(lane, count)| count * register / lane.size()).max().unwrap();
    for _ in 0..RANDOM.max(most) {
        let mut chosen = |((lane, _), edges): (&(Lane, usize), &Vec<u64>)| match random.below(4) {
            0 => edges[random.below(edges.len())],
            _ => lane.random(&mut random),
        };
        lanes.push(kinds.iter().zip(&edges).map(&mut chosen).collect());
    }
    let mut bytes = vec![];
    for call in lanes.chunks_exact(most) {
        for (k, (lane, count)) in kinds.iter().enumerate() {
            for case in &call[..count * register / lane.size()] {
                let number = case[k];
                match lane.size() {
                    1 => bytes.push(number as u8),
                    2 => bytes.extend((number as u16).to_ne_bytes()),
                    4 => bytes.extend((number as u32).to_ne_bytes()),
                    _ => bytes.extend(number.to_ne_bytes()),
                }
            }
        }
    }
    bytes
}

/// The elements of a source: edges or, for sources of a byte, all codes; and random bits.
pub(super) fn elements(from: Encoding) -> Vec<u8> {
    let dtype = from.dtype();
    let size = dtype.alignment();
    let lane = match (dtype.spec(), size) {
        (_, 1) => Lane::U8,
        (Spec::Float(_), 2) => Lane::F16,
        (Spec::Float(_) | Spec::Complex(_), 4) => Lane::F32,
        (Spec::Float(_) | Spec::Complex(_), _) => Lane::F64,
        (_, 2) => Lane::U16,
        (_, 4) => Lane::U32,
        _ => Lane::U64,
    };
    let mut random = Random(dtype as u64);
    let mut parts: Vec<u64> = match dtype {
        DType::BFloat16 => Lane::F32.edges().iter().map(|x| x >> 16).collect(),
        _ => lane.edges(),
    };
    parts.dedup();
    if cfg!(miri) {
        let step = parts.len().div_ceil(24);
        parts = parts.into_iter().step_by(step).collect();
    }
    if from.is_packed() {
        // Each of these bytes holds several codes.
        parts.truncate(251);
    }
    parts.extend((0..if cfg!(miri) { 16 } else { 512 }).map(|_| lane.random(&mut random)));
    if matches!(dtype.spec(), Spec::Complex(_)) {
        let count = parts.len();
        parts = (0..count).flat_map(|i| [parts[i], parts[7 * i % count]]).collect();
    }
    parts.iter().flat_map(|x| x.to_le_bytes()[..size].to_vec()).collect()
}
