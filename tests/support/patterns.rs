//! Codes of wide sources that are hard to cast.
//!
//! Sources of up to 16 bits are taken whole. A wider one is probed where casts go wrong: at and around every place
//! where a target changes its answer (its values, the midpoints between them, its range), around the powers of two,
//! at the ends and the seams of its own code range, in the NaNs, and at seeded random places of several
//! distributions.

use super::rng::Rng;
use crate::oracle::encode::round;
use crate::oracle::format::{Class, Float, class};
use crate::oracle::value::Dyadic;
use crate::oracle::{join, mask, width};
use lanecast::{DType, FloatRound};

/// How many random codes each distribution gives, and how many midpoints are drawn of a target with too many of them.
const RANDOM: usize = 6000;

/// What the pair is tested on. Codes of one-per-byte storage come with garbage in their unused bits.
pub fn sources(from: DType, to: DType) -> Vec<u128> {
    if cfg!(miri) {
        return few(from);
    }
    match width(from) {
        0..=8 => every_byte(),
        16 => every_u16(),
        _ => wide(from, to),
    }
}

/// A handful for Miri, which is a thousand times slower and looks for something else.
fn few(from: DType) -> Vec<u128> {
    let mut rng = Rng(from.code().into());
    let ends = [0, 1, u128::MAX, u128::MAX >> 1, 1 << (width(from) - 1)];
    ends.into_iter().chain((0..40).map(|_| rng.wide())).map(|bits| bits & mask(from)).collect()
}

/// Every byte in several orders, so that every value meets every position of a vector and all kinds of neighbours.
fn every_byte() -> Vec<u128> {
    let order = |r: u32| (0..256).map(move |i| u128::from(((2 * r + 1) * i + 3 * r) as u8));
    let mut all: Vec<u128> = (0..8).flat_map(order).collect();
    all.extend([0x80, 0xFF, 0x00, 0x7F, 0x01]);
    all
}

/// Every code of 16 bits, first in order, so that a vector holds values of one kind, then mixed.
fn every_u16() -> Vec<u128> {
    let mixed = (0..1 << 16).map(|i: u128| (i * 40503 + 12345) & 0xFFFF);
    (0..1 << 16).chain(mixed).chain([0x8000, 0x7FFF, 0x0001]).collect()
}

fn wide(from: DType, to: DType) -> Vec<u128> {
    let mut rng = Rng(u64::from(from.code()) << 8 | u64::from(to.code()));
    match class(from) {
        Class::Complex(part) => complex(part, to, &mut rng),
        Class::Float(format) => float(format, to, &mut rng),
        Class::Int { bits, signed } => int(bits, signed, to, &mut rng),
        _ => panic!("{from} is not wide"),
    }
}

/// The places where the answer of the target changes, as positive numbers; all of them if they are few.
fn seams(to: DType, rng: &mut Rng) -> Vec<Dyadic> {
    let number = |(sig, exp)| Dyadic { sig, exp };
    match class(to) {
        Class::Bool => vec![Dyadic::power(0)],
        Class::Complex(part) => seams(part, rng),
        Class::PowerOfTwo => {
            (-130..=130).flat_map(|k| [Dyadic::power(k), Dyadic { sig: 3, exp: k - 1 }]).collect()
        }
        Class::Int { .. } => {
            let halves = (0..600).map(|h| Dyadic { sig: h, exp: -1 });
            let powers = (3..63).flat_map(|k| (0..9).map(move |d| Dyadic { sig: (1 << k) + d - 4, exp: -1 }));
            let huge = (60..140).map(Dyadic::power);
            halves.chain(powers).chain(huge).collect()
        }
        Class::Float(format) => {
            let last = format.largest;
            let codes: Vec<u64> = if last < 1 << 16 {
                (0..=last).collect()
            } else {
                let low = 0..20;
                let high = last - 20..=last;
                let normal = 1 << format.mantissa;
                let random = (0..RANDOM).map(|_| rng.below(last));
                low.chain(normal - 20..normal + 20).chain(high).chain(random).collect()
            };
            let between =
                |code: u64| number(format.magnitude(code)).midpoint(number(format.magnitude(code + 1)));
            // Where directions change their answer; one in some of them shows as much.
            let step = if last < 1 << 8 { 1 } else { 7 };
            let values: Vec<_> =
                codes.iter().step_by(step).map(|&code| number(format.magnitude(code))).collect();
            let ends = [number(format.magnitude(last)), number(format.magnitude(last + 1))];
            codes.into_iter().map(between).chain(values).chain(ends).collect()
        }
    }
}

/// The ends of the range of the target, and of what is zero in it, in every rounding.
fn ends(to: DType) -> Vec<Dyadic> {
    match class(to) {
        Class::Bool => vec![Dyadic::power(0)],
        Class::Complex(part) => ends(part),
        Class::PowerOfTwo => [-128, -127, 126, 127, 128]
            .into_iter()
            .flat_map(|k| [Dyadic::power(k), Dyadic { sig: 3, exp: k - 1 }])
            .collect(),
        Class::Int { bits, signed } => {
            let end = 1_u64 << (bits - u32::from(signed)).min(62);
            let halves = (0..4).chain(2 * end - 4..2 * end + 4).map(|sig| Dyadic { sig, exp: -1 });
            halves.chain((62..66).map(Dyadic::power)).collect()
        }
        Class::Float(format) => {
            let number = |code: u64| {
                let (sig, exp) = format.magnitude(code);
                Dyadic { sig, exp }
            };
            let around =
                |code: u64| [number(code), number(code).midpoint(number(code + 1)), number(code + 1)];
            [0, 1, format.largest - 1, format.largest].into_iter().flat_map(around).collect()
        }
    }
}

/// Codes of sources of more than 8 bits at the ends of what the target holds.
pub fn edges(from: DType, to: DType) -> Vec<u128> {
    match class(from) {
        Class::Float(format) if format.width > 8 => {
            let magnitudes = ends(to).into_iter().flat_map(|end| around_float(format, end));
            magnitudes.flat_map(|m| [m, m | format.sign()]).map(u128::from).collect()
        }
        Class::Int { bits, signed } if bits > 8 => {
            in_range(bits, signed, ends(to).into_iter().flat_map(around_int))
        }
        Class::Complex(part) => {
            let parts = edges(part, to);
            let n = parts.len();
            (0..n).map(|i| join(part, parts[i], parts[(i * 7 + 3) % n])).collect()
        }
        _ => Vec::new(),
    }
}

/// The greatest magnitude code whose value is not above the seam, and its neighbours.
fn around_float(format: &Float, seam: Dyadic) -> [u64; 3] {
    let floor = round(false, seam, format, FloatRound::TowardZero);
    [floor.saturating_sub(1), floor, floor + 1]
}

/// The greatest integer that is not above the seam, and its neighbours.
fn around_int(seam: Dyadic) -> [i128; 3] {
    let floor = match seam.exp {
        0..64 => i128::from(seam.sig) << seam.exp.min(62),
        exp => i128::from(seam.sig) >> (-exp).clamp(0, 120),
    };
    [floor - 1, floor, floor + 1]
}

/// The codes of these integers and their negatives, as far as the dtype has them.
fn in_range(bits: u32, signed: bool, values: impl IntoIterator<Item = i128>) -> Vec<u128> {
    let range = if signed { -(1_i128 << (bits - 1))..1 << (bits - 1) } else { 0..1 << bits };
    let both = values.into_iter().flat_map(|v| [v, -v]).filter(|v| range.contains(v));
    both.map(|v| v as u128 & (u128::MAX >> (128 - bits))).collect()
}

/// Codes of a float source.
fn float(format: &Float, to: DType, rng: &mut Rng) -> Vec<u128> {
    let m = format.mantissa;
    let fraction = (1_u64 << m) - 1;
    let infinity = format.infinity.expect("wide floats have an infinity");
    let mut magnitudes = Vec::new();
    for seam in seams(to, rng) {
        magnitudes.extend(around_float(format, seam));
    }
    // Every binade, subnormal, infinite and NaN ones included: its ends and its middle.
    for field in 0..=infinity >> m {
        let middle = 1 << (m - 1);
        magnitudes.extend(
            [0, 1, 2, middle - 1, middle, middle + 1, fraction - 1, fraction].map(|f| field << m | f),
        );
    }
    // Subnormals and NaNs of every weight: a payload in the low bits only, in the high bits only.
    for bit in 0..m {
        for top in [0, infinity] {
            magnitudes.extend([top | 1 << bit, top | ((1 << bit) - 1), top | (fraction & !((1 << bit) - 1))]);
        }
    }
    for _ in 0..RANDOM / 6 {
        magnitudes.extend([rng.bits() & fraction, infinity | rng.bits() & fraction]);
    }
    // Any code; and codes near 1 with a short significand and perhaps one more low bit, which are ties and near ties
    // of narrow targets.
    for _ in 0..RANDOM {
        magnitudes.push(rng.bits() & (format.sign() - 1));
        let field = (format.bias as u64 + rng.below(80)).wrapping_sub(40) & (infinity >> m);
        let short = rng.bits() & fraction & !(fraction >> rng.below(14));
        magnitudes.push(field << m | short | u64::from(rng.below(3) == 0));
    }
    let mut codes: Vec<u128> = Vec::with_capacity(2 * magnitudes.len());
    for magnitude in magnitudes {
        codes.extend([magnitude, magnitude | format.sign()].map(u128::from));
    }
    codes
}

/// Codes of an integer source.
fn int(bits: u32, signed: bool, to: DType, rng: &mut Rng) -> Vec<u128> {
    let mut values: Vec<i128> = vec![0];
    for seam in seams(to, rng) {
        values.extend(around_int(seam));
    }
    for k in 0..=bits {
        values.extend((-4..=4).map(|d| (1_i128 << k) + d));
    }
    let low = u64::MAX >> (64 - bits);
    for _ in 0..RANDOM {
        values.push(i128::from(rng.bits() & low));
        values.push(i128::from((rng.bits() & low) >> rng.below(bits.into())));
        // A short significand somewhere, and perhaps one more low bit: ties and near ties.
        let short = (rng.bits() >> (40 + rng.below(24))) << rng.below(bits.into());
        values.push(i128::from(short & low) + i128::from(rng.below(3)) - 1);
    }
    in_range(bits, signed, values)
}

/// Codes of a complex source: two parts of its own format, unrelated to each other, and all pairs of the extremes.
fn complex(part: DType, to: DType, rng: &mut Rng) -> Vec<u128> {
    let Class::Float(format) = class(part) else { panic!("parts are floats") };
    let parts = float(format, to, rng);
    let n = parts.len();
    let mut codes: Vec<u128> = (0..n).map(|i| join(part, parts[i], parts[(i * 7 + 3) % n])).collect();
    let infinity = format.infinity.expect("parts have an infinity");
    let special = [0, 1, 1 << format.mantissa, format.largest, infinity, infinity + 1, format.nan];
    let both = special.into_iter().flat_map(|s| [s, s | format.sign()]).map(u128::from);
    codes.extend(both.clone().flat_map(|re| both.clone().map(move |im| join(part, re, im))));
    codes
}

/// `n` random codes of any dtype, half of them near the values that matter.
pub fn sample(from: DType, to: DType, n: usize, seed: u64) -> Vec<u128> {
    let mut rng = Rng(seed);
    let all = sources(from, to);
    (0..n)
        .map(|i| if i % 2 == 0 { all[rng.below(all.len() as u64) as usize] } else { rng.wide() & mask(from) })
        .collect()
}
