//! A cast inside one buffer gives what it gives between two.
//!
//! For every pair, storage and tier, and with rare options: lengths around the blocks and pieces of the
//! way, from every alignment, in buffers as long as the longer side and longer; what is behind both sides stays as it was.

use crate::support::{byte_len, check::Case, patterns, storages, store, tiers::tiers};
use lanecast::Bytes;
use lanecast::num_complex::Complex;
use lanecast::{
    BytesMut, CastError, CastOptions, CastPlan, DType, E5M2Nan, Encoding, F8E4M3FN, FloatRound, I4, InPlace,
    IntRound, NanToFinite, Side, Uninit, cast_in_place, cast_to_vec, half::bf16,
};
use proptest::prelude::*;

const CANARY: u8 = 0xA5;
/// Blocks are of 512 elements.
const LENGTHS: &[usize] = if cfg!(miri) {
    &[0, 5, 520]
} else {
    &[0, 1, 3, 8, 63, 129, 511, 512, 513, 1023, 1024, 1026, 1537, 2048, 2055, 4100, 8191, 40_000]
};

/// The first `n` elements of `src`, at `offset` bytes from an address of the allocator's choice.
fn check(case: &Case, src: &[u8], n: usize, offset: usize) {
    let (read, written) = (byte_len(case.from, n), byte_len(case.to, n));
    let plan = case.plan();
    let mut expected = vec![0; written];
    plan.run(Bytes::new(&src[..read], n), BytesMut::new(&mut expected, n))
        .unwrap_or_else(|e| panic!("{case}: {e}"));
    let both = read.max(written);
    let mut memory = vec![CANARY; offset + both + 64];
    memory[offset..][..read].copy_from_slice(&src[..read]);
    // By turns as long as needed and longer.
    let len = both + 32 * (n % 2);
    plan.run(InPlace, BytesMut::new(&mut memory[offset..][..len], n))
        .unwrap_or_else(|e| panic!("{case}, {n} elements: {e}"));
    let (before, rest) = memory.split_at(offset);
    let canaries = before.iter().chain(&rest[both..]);
    assert!(canaries.copied().all(|b| b == CANARY), "{case}, {n} elements: wrote outside");
    if rest[..written] != expected {
        let at = rest.iter().zip(&expected).position(|(a, b)| a != b);
        panic!("{case}, {n} elements at offset {offset}: differs at byte {at:?}");
    }
}

fn check_source(from: DType) {
    let longest = *LENGTHS.last().expect("there are some");
    let default = CastOptions::RUST;
    // Both answers to overflow, NaN codes, and every direction.
    let rounded = |round| default.with_e5m2_nan(E5M2Nan::Code7F).with_float_round(round);
    let rare = [
        rounded(FloatRound::TowardZero).with_int_round(IntRound::NearestEven),
        rounded(FloatRound::NearestAway).with_int_round(IntRound::NearestAway),
        rounded(FloatRound::Up).with_int_round(IntRound::Ceil),
        rounded(FloatRound::Down).with_int_round(IntRound::Floor),
        rounded(FloatRound::ToOdd).with_nan_to_finite(NanToFinite::Max),
    ];
    for &to in DType::ALL {
        let codes = patterns::sample(from, to, longest, 23);
        for options in [default, CastOptions::ONNX].into_iter().chain(rare) {
            // The pieces are the same for all options.
            let lengths = if options == default { LENGTHS } else { &[0, 513, 1100][..] };
            for from in storages(from) {
                let src = store(from, &codes);
                for to in storages(to) {
                    for &tier in tiers() {
                        let case = Case { from, to, options: &options, tier };
                        for (i, &n) in lengths.iter().filter(|n| **n <= longest).enumerate() {
                            check(&case, &src, n, i % 17);
                        }
                    }
                }
            }
        }
    }
}

every_source!(check_source);

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 4 } else { 2000 }, failure_persistence: None, ..ProptestConfig::default()
    })]

    /// Any length and offset.
    #[test]
    fn any_cast(
        from in prop::sample::select(DType::ALL.to_vec()),
        to in prop::sample::select(DType::ALL.to_vec()),
        storage in 0..4_usize,
        tier in 0..tiers().len(),
        n in 0..20_000_usize,
        offset in 0..64_usize,
    ) {
        let n = if cfg!(miri) { n % 1200 } else { n };
        let codes = patterns::sample(from, to, n, 5);
        let (all_from, all_to) = (storages(from), storages(to));
        let (from, to) = (all_from[storage % 2 % all_from.len()], all_to[storage / 2 % all_to.len()]);
        let case = Case { from, to, options: &CastOptions::RUST, tier: tiers()[tier] };
        check(&case, &store(from, &codes), n, offset);
    }
}

/// Elements as slices: the same memory, another type.
fn slices<S: lanecast::Element + PartialEq, D: lanecast::Element + PartialEq>(elements: &[S]) {
    let mut memory = elements.to_vec();
    let expected: Vec<D> = cast_to_vec(elements);
    let start = memory.as_ptr() as usize;
    let got: &mut [D] = cast_in_place(&mut memory).expect("it fits");
    assert!(got.as_ptr() as usize == start && got == expected.as_slice(), "{} -> {}", S::DTYPE, D::DTYPE);
}

#[test]
fn typed_slices() {
    let numbers: Vec<i32> = (0..3000).map(|i| (i * 31 % 301) - 150).collect();
    slices::<i32, f32>(&numbers);
    slices::<i32, bf16>(&numbers);
    slices::<i32, I4>(&numbers);
    slices::<i32, bool>(&numbers);
    let floats: Vec<f64> = numbers.iter().map(|i| f64::from(*i) / 8.0).collect();
    slices::<f64, u64>(&floats);
    slices::<f64, f32>(&floats);
    slices::<f64, Complex<f32>>(&floats);
    slices::<f64, F8E4M3FN>(&floats);
    let pairs: Vec<Complex<f64>> = floats.iter().map(|x| Complex::new(*x, -x)).collect();
    slices::<Complex<f64>, Complex<f32>>(&pairs);
    slices::<Complex<f64>, i16>(&pairs);
    slices::<bool, bool>(&[true, false]);
    slices::<u8, bool>(&[]);
}

#[test]
fn what_slices_cannot_become() {
    let refused = |from, to| CastError::NotInPlace { from, to };
    let options = &CastOptions::RUST;
    let wider = options.cast_in_place::<u8, u16>(&mut [1, 2]).map(|_| ());
    assert_eq!(wider, Err(refused(DType::UInt8, DType::UInt16)));
    let bool_left_with_any_bytes = options.cast_in_place::<bool, u8>(&mut [true]).map(|_| ());
    assert_eq!(bool_left_with_any_bytes, Err(refused(DType::Bool, DType::UInt8)));
    if align_of::<u64>() > align_of::<Complex<f32>>() {
        let aligned = options.cast_in_place::<Complex<f32>, u64>(&mut []).map(|_| ());
        assert_eq!(aligned, Err(refused(DType::Complex64, DType::UInt64)));
    }
    // Elements are typed, or not: the source of these is unknown.
    let plan = CastPlan::new(DType::Float32, DType::Int32, options).expect("a plan");
    assert_eq!(plan.run(InPlace, &mut [1_i32]), Err(CastError::NoBytes));
    let mut memory = [std::mem::MaybeUninit::new(1_u8); 4];
    let mut memory = Uninit::new(&mut memory);
    assert_eq!(plan.run(InPlace, BytesMut::uninit(&mut memory, 1)), Err(CastError::NoBytes));
    assert_eq!(plan.run_to_vec::<i32>(InPlace), Err(CastError::NoBytes));
}

/// One byte less than either side needs; nothing is written then.
#[test]
fn buffers_that_are_too_small() {
    for (from, to, n) in [
        (DType::Float32.into(), DType::Int8.into(), 700),
        (DType::Int8.into(), DType::Float32.into(), 700),
        (Encoding::packed(DType::UInt2), Encoding::packed(DType::Float6E2M3FN), 5),
        (Encoding::packed(DType::Int4), DType::Int4.into(), 5),
    ] {
        let plan = CastPlan::new(from, to, &CastOptions::RUST).expect("a plan");
        let (read, written) = (byte_len(from, n), byte_len(to, n));
        let have = read.max(written) - 1;
        let (which, need) = if read > have { (Side::Source, read) } else { (Side::Destination, written) };
        let mut buffer = vec![CANARY; have];
        assert_eq!(
            plan.run(InPlace, BytesMut::new(&mut buffer, n)),
            Err(CastError::BufferTooSmall { which, need, have })
        );
        assert!(buffer.iter().all(|b| *b == CANARY), "{plan:?}: wrote although it failed");
        assert_eq!(plan.run(InPlace, BytesMut::new(&mut [], 0)), Ok(()));
        let n = usize::MAX;
        assert!(matches!(
            plan.run(InPlace, BytesMut::new(&mut buffer, n)),
            Err(CastError::TooLarge { .. } | CastError::BufferTooSmall { .. })
        ));
    }
}
