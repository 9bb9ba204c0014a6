//! Every tier rounds wide numbers as the scalar tier does, under every rounding: to integers, and from wider numbers to float32 and
//! float64. `pairs` holds all pairs to the oracle; this one looks closer at the values where roundings differ.

use lanecast_kernels::{DType, Encoding, Kernel, Rounding, Rules, Tier};

const SOURCES: [DType; 6] =
    [DType::Float16, DType::BFloat16, DType::Float32, DType::Float64, DType::Complex64, DType::Complex128];
const INTEGERS: [DType; 12] = [
    DType::Int2,
    DType::UInt2,
    DType::Int4,
    DType::UInt4,
    DType::Int8,
    DType::UInt8,
    DType::Int16,
    DType::UInt16,
    DType::Int32,
    DType::UInt32,
    DType::Int64,
    DType::UInt64,
];
/// Sources and targets where the target has fewer significant bits.
const NARROWING: [(DType, DType); 16] = [
    (DType::Float64, DType::Float32),
    (DType::Float64, DType::Complex64),
    (DType::Complex128, DType::Float32),
    (DType::Complex128, DType::Complex64),
    (DType::Int32, DType::Float32),
    (DType::Int32, DType::Complex64),
    (DType::UInt32, DType::Float32),
    (DType::UInt32, DType::Complex64),
    (DType::Int64, DType::Float32),
    (DType::Int64, DType::Complex64),
    (DType::Int64, DType::Float64),
    (DType::Int64, DType::Complex128),
    (DType::UInt64, DType::Float32),
    (DType::UInt64, DType::Complex64),
    (DType::UInt64, DType::Float64),
    (DType::UInt64, DType::Complex128),
];
const TO_INTEGERS: [Rounding; 4] =
    [Rounding::NearestEven, Rounding::NearestAway, Rounding::Floor, Rounding::Ceil];
const TO_FLOATS: [Rounding; 5] =
    [Rounding::NearestAway, Rounding::TowardZero, Rounding::Floor, Rounding::Ceil, Rounding::ToOdd];

/// A linear congruential generator, its high bits folded down.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ self.0 >> 29
    }
}

/// Integers around the ends of all types, and around the ties of 24 and 53 bits.
fn integers() -> Vec<u64> {
    let mut values: Vec<u64> = (0..300).collect();
    let mut random = Random(1);
    for shift in 0..64 {
        for near in 0..8 {
            values.push((1_u64 << shift).wrapping_add(near).wrapping_sub(4));
        }
        for _ in 0..10 {
            values.push(random.next() >> shift);
        }
        for bits in [24, 53] {
            for _ in 0..4 {
                let kept = (random.next() >> (64 - bits)) | 1 << (bits - 1);
                let tie = (2 * kept as u128 + 1) << shift >> 1;
                values.extend([-1, 0, 1].map(|by| (tie as u64).wrapping_add_signed(by)));
            }
        }
    }
    let negative: Vec<u64> = values.iter().map(|x| x.wrapping_neg()).collect();
    values.extend(negative);
    values
}

/// Float64 around integers and their halves, around the ties of float32, random ones, and all kinds of special ones.
fn floats() -> Vec<f64> {
    let mut values =
        vec![0.0, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE, f64::from_bits(1), f32::MAX as f64];
    let mut random = Random(2);
    for x in integers() {
        let x = x as f64;
        let bits = x.to_bits();
        values.extend([x, x + 0.5, x + 0.25, f64::from_bits(bits.wrapping_sub(1)), f64::from_bits(bits + 1)]);
        values.extend([x / 4.0, x / 1024.0]);
    }
    for _ in 0..4_000 {
        let bits = random.next();
        values.push(f64::from_bits(bits));
        let narrow = f32::from_bits(bits as u32) as f64;
        let above = f32::from_bits((bits as u32).wrapping_add(1)) as f64;
        let tie = narrow / 2.0 + above / 2.0;
        values.extend([-1, 0, 1].map(|by| f64::from_bits(tie.to_bits().wrapping_add_signed(by))));
        values.push(narrow);
        // The largest finite number and what is above it, numbers that are subnormal in float32, NaN.
        values.push(f64::from_bits(0x47EF_FFFF_0000_0000 + (bits >> 31)));
        values.push(f64::from_bits(
            (1023 - 151 + (bits >> 60)) << 52 | bits >> 12 & (-1_i64 as u64) << (bits >> 58),
        ));
        values.push(f64::from_bits(0x7FF0_0000_0000_0000 | bits >> (bits & 63)));
    }
    let negative: Vec<f64> = values.iter().map(|x| -x).collect();
    values.extend(negative);
    values
}

/// The elements of a source that the test tries.
fn elements(from: DType) -> Vec<u8> {
    let f64s = || floats().into_iter();
    // Float32 of what is tried of float64, and their neighbours.
    let f32s = || {
        f64s().flat_map(|x| {
            let bits = (x as f32).to_bits();
            [bits, bits.wrapping_add(1)]
        })
    };
    match from {
        DType::Float16 | DType::BFloat16 => (0..=u16::MAX).flat_map(u16::to_ne_bytes).collect(),
        DType::Float32 => f32s().flat_map(u32::to_ne_bytes).collect(),
        DType::Float64 => f64s().flat_map(f64::to_ne_bytes).collect(),
        DType::Complex64 => {
            f32s().zip(f32s().skip(77)).flat_map(|(re, im)| [re, im]).flat_map(u32::to_ne_bytes).collect()
        }
        DType::Complex128 => {
            f64s().zip(f64s().skip(77)).flat_map(|(re, im)| [re, im]).flat_map(f64::to_ne_bytes).collect()
        }
        DType::Int32 | DType::UInt32 => integers()
            .into_iter()
            .flat_map(|x| [x as u32, (x >> 32) as u32])
            .flat_map(u32::to_ne_bytes)
            .collect(),
        _ => integers().into_iter().flat_map(u64::to_ne_bytes).collect(),
    }
}

fn cast(kernel: &Kernel, src: &[u8], n: usize) -> Vec<u8> {
    let mut dst = vec![0xA5; kernel.target().byte_len(n).unwrap() + 16];
    kernel.run(src, &mut dst[..], n).unwrap();
    let whole = dst.len() - 16;
    assert!(dst[whole..].iter().all(|&x| x == 0xA5), "written behind the end");
    dst.truncate(whole);
    dst
}

/// Compares a pair under rules on all tiers; a few pairs in all short lengths too.
fn compare(from: DType, to: DType, rules: &Rules, src: &[u8]) {
    let n = src.len() / from.size();
    let [from_type, to_type] = [from, to].map(Encoding::new);
    let scalar = Kernel::new(Tier::Scalar, from_type, to_type, rules).unwrap();
    let expected = cast(&scalar, src, n);
    for &tier in Tier::ALL {
        let Some(kernel) = Kernel::new(tier, from_type, to_type, rules) else { continue };
        let check = |first: usize, n: usize| {
            let found = cast(&kernel, &src[first * from.size()..][..n * from.size()], n);
            let expected = &expected[first * to.size()..][..n * to.size()];
            for (i, (found, expected)) in found.chunks(to.size()).zip(expected.chunks(to.size())).enumerate()
            {
                let source = &src[(first + i) * from.size()..][..from.size()];
                assert_eq!(
                    found, expected,
                    "{tier} {from} {source:02x?} to {to}, {rules:?}, element {i} of {n} from {first} on"
                );
            }
        };
        check(0, n);
        for n in 0..70 {
            check(997 * n % 5000, n);
        }
    }
}

#[test]
fn to_integers() {
    for from in SOURCES {
        let src = elements(from);
        for to in INTEGERS {
            for rounding in TO_INTEGERS {
                for saturate in [false, true] {
                    compare(from, to, &Rules { rounding, ..Rules::common(to, saturate) }, &src);
                }
            }
        }
    }
}

#[test]
fn to_narrower_floats() {
    for (from, to) in NARROWING {
        let src = elements(from);
        for rounding in TO_FLOATS {
            compare(from, to, &Rules { rounding, ..Rules::common(to, true) }, &src);
        }
    }
}

/// No tier that knows these roundings leaves a pair to the element by element route.
#[test]
fn vector_tiers_have_kernels() {
    for tier in [Tier::Avx2, Tier::Avx512] {
        let ints = SOURCES.iter().flat_map(|&from| {
            INTEGERS.iter().flat_map(move |&to| TO_INTEGERS.map(|rounding| (from, to, rounding)))
        });
        let floats = NARROWING.iter().flat_map(|&(from, to)| TO_FLOATS.map(|rounding| (from, to, rounding)));
        for (from, to, rounding) in ints.chain(floats) {
            for saturate in [false, true] {
                let rules = Rules { rounding, ..Rules::common(to, saturate) };
                let Some(kernel) = Kernel::new(tier, from.into(), to.into(), &rules) else { continue };
                assert_ne!(kernel.address(), 0, "{tier} {from} to {to}, {rules:?}");
            }
        }
    }
}
