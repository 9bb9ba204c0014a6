//! Checked and counting casts against the oracle: every pair at all levels, on every tier, in both storages.
//!
//! With the default options on all codes of `tests/pairs.rs`; with every other combination of the options that apply to the
//! pair on a sample of them, and on those at the ends of the range of the target.

use crate::oracle;
use crate::oracle::loss::{Loss, losses};
use crate::support::{check::Case, options, patterns, storages, store, tiers::tiers};
use lanecast::{
    Bytes, BytesMut, CastError, CastOptions, CastPlan, CastReport, DType, Element, Encoding, F8E4M3FN,
    F8E8M0FNU, Level, RejectionReason, Streaming, num_complex::Complex,
};

const LEVELS: [Level; 3] = [Level::Range, Level::Underflow, Level::Exact];

/// What the elements of a source lose.
struct Expected {
    losses: Vec<[Option<Loss>; 2]>,
}

impl Expected {
    fn new(from: DType, to: DType, options: &CastOptions, source: &[u128]) -> Self {
        let ask = |bits: &u128| losses(from, to, options, bits & oracle::mask(from));
        Self { losses: source.iter().map(ask).collect() }
    }

    fn rejected(&self, i: usize, level: Level) -> bool {
        let counts = |loss: &Loss| match loss {
            Loss::Inexact => level == Level::Exact,
            Loss::Underflow => level != Level::Range,
            _ => true,
        };
        self.losses[i].iter().flatten().any(counts)
    }

    fn report(&self, level: Level) -> CastReport {
        let mut report = CastReport::default();
        report.elements = self.losses.len() as u64;
        for loss in self.losses.iter().flatten().flatten() {
            let count = match loss {
                Loss::Saturated => &mut report.saturated,
                Loss::Wrapped => &mut report.wrapped,
                Loss::Infinite => &mut report.overflowed_to_infinity,
                Loss::MadeNan => &mut report.became_nan,
                Loss::LostNan => &mut report.nan_lost,
                Loss::Imaginary => &mut report.imaginary_dropped,
                Loss::Underflow => &mut report.underflowed_to_zero,
                Loss::Inexact if level != Level::Exact => continue,
                Loss::Inexact => &mut report.inexact,
            };
            *count += 1;
        }
        report
    }
}

/// Runs a case at all levels in every way there is.
fn check(case: &Case<'_>, source: &[u128], bytes: &[u8], expected: &Expected) {
    let (plan, n) = (case.plan(), source.len());
    let len = case.to.byte_len(n).unwrap();
    let mut plain = vec![0xA5; len + 8];
    plan.run(Bytes::new(bytes, n), BytesMut::new(&mut plain, n)).unwrap();
    for level in LEVELS {
        let mut out = vec![0xA5; len + 8];
        let report =
            plan.checked(level).run_counted(Bytes::new(bytes, n), BytesMut::new(&mut out, n)).unwrap();
        assert!(out == plain, "{case}: a counting cast is the plain cast");
        if report != expected.report(level) {
            let wrong = blame(case, level, source, expected);
            panic!("{case}, {level:?}: {report}, expected {}{wrong}", expected.report(level));
        }

        let checked = plan.checked(level);
        let mut out = vec![0xA5; len + 8];
        let mut validity = vec![0xA5; n.div_ceil(8) + 1];
        let rejected =
            checked.run_masked(Bytes::new(bytes, n), BytesMut::new(&mut out, n), &mut validity).unwrap();
        assert!(out == plain, "{case}: what is masked is the plain cast");
        for i in 0..n.div_ceil(8) * 8 {
            let valid = i < n && !expected.rejected(i, level);
            assert_eq!(
                validity[i / 8] >> (i % 8) & 1 == 1,
                valid,
                "{case}, {level:?}: element {i}, {:#x}",
                source[i.min(n - 1)]
            );
        }
        assert_eq!(validity[n.div_ceil(8)], 0xA5, "{case}");
        assert_eq!(rejected, (0..n).filter(|&i| expected.rejected(i, level)).count(), "{case}");
        assert!(rejected == 0 || !checked.keeps_all(), "{case}");

        let first = (0..n).find(|&i| expected.rejected(i, level));
        let mut out = vec![0xA5; len + 8];
        match (checked.run(Bytes::new(bytes, n), BytesMut::new(&mut out, n)), first) {
            (Ok(()), None) => assert!(out == plain, "{case}"),
            (Err(CastError::Rejected(found)), Some(first)) => {
                let code = source[first] & oracle::mask(case.from.dtype());
                assert_eq!((found.index, found.value.code()), (first, code), "{case}");
                assert_eq!(found.to, case.to.dtype());
                let reasons = expected.losses[first].iter().flatten().any(|loss| fits(*loss, found.reason));
                assert!(reasons, "{case}: {found}, {:?}", expected.losses[first]);
            }
            (result, first) => panic!("{case}, {level:?}: {result:?}, expected {first:?}"),
        }
        assert_eq!(out[len..], [0xA5; 8], "{case}: nothing behind the elements is written");
    }
}

fn fits(loss: Loss, reason: RejectionReason) -> bool {
    match reason {
        RejectionReason::Nan => loss == Loss::LostNan,
        RejectionReason::Imaginary => loss == Loss::Imaginary,
        RejectionReason::Underflow => loss == Loss::Underflow,
        RejectionReason::Inexact => loss == Loss::Inexact,
        _ => matches!(loss, Loss::Saturated | Loss::Wrapped | Loss::Infinite | Loss::MadeNan),
    }
}

/// The elements whose reports are wrong when they are cast alone.
fn blame(case: &Case<'_>, level: Level, source: &[u128], expected: &Expected) -> String {
    let plan = CastPlan::with_tier(case.from.dtype(), case.to.dtype(), case.options, case.tier)
        .unwrap()
        .checked(level);
    let mut out = [0; 16];
    let alone = |i: usize| {
        let one = Expected { losses: vec![expected.losses[i]] };
        let got = plan
            .run_counted(
                Bytes::new(&store(case.from.dtype().into(), &source[i..=i]), 1),
                BytesMut::new(&mut out, 1),
            )
            .unwrap();
        (got != one.report(level))
            .then(|| format!("\n  {:#x}: {got}, expected {}", source[i], one.report(level)))
    };
    (0..source.len()).filter_map(alone).take(8).collect()
}

fn check_source(from: DType) {
    for &to in DType::ALL {
        for (i, options) in options::applicable(from, to).iter().enumerate() {
            // Every code once, and in the larger sources every code that is hard to cast.
            let all = patterns::sources(from, to);
            let step = if i == 0 { 1 } else { (all.len() / 1500).max(1) | 1 };
            let some = if oracle::width(from) <= 8 { 256.min(all.len()) } else { all.len() };
            let mut source: Vec<u128> = all[..some].iter().copied().step_by(step).collect();
            if oracle::width(from) == 16 {
                source.truncate(1 << 16);
            }
            source.extend(patterns::edges(from, to));
            let expected = Expected::new(from, to, options, &source);
            let buffers = |dtype| if i == 0 { storages(dtype) } else { vec![Encoding::new(dtype)] };
            for source_buffer in buffers(from) {
                let bytes = store(source_buffer, &source);
                for to in buffers(to) {
                    for &tier in tiers() {
                        let case = Case { from: source_buffer, to, options, tier };
                        check(&case, &source, &bytes, &expected);
                    }
                }
            }
        }
    }
}

every_source!(check_source);

/// Typed slices, of which one element is rejected at every place in turn, and of which none is.
#[test]
fn slices() {
    let clean: Vec<f32> = (0..3000).map(|i| (i % 100) as f32).collect();
    let expected: Vec<u8> = clean.iter().map(|x| *x as u8).collect();
    let plan = CastPlan::of::<f32, u8>(&CastOptions::RUST);
    let exact = plan.checked(Level::Exact);
    assert_eq!(exact.run_to_vec(&clean).as_ref(), Ok(&expected));
    assert_eq!(exact.run_to_vec::<u8>(&[0.0_f32; 0]), Ok(vec![]));
    for place in [0, 1, 63, 64, 1023, 1024, 2047, 2999] {
        for (bad, level, reason) in [
            (f32::NAN, Level::Range, RejectionReason::Nan),
            (-1.0, Level::Range, RejectionReason::Negative),
            (256.0, Level::Range, RejectionReason::Overflow),
            (f32::INFINITY, Level::Exact, RejectionReason::Overflow),
            (0.5, Level::Underflow, RejectionReason::Underflow),
            (0.5, Level::Exact, RejectionReason::Underflow),
            (1.5, Level::Exact, RejectionReason::Inexact),
        ] {
            let mut src = clean.clone();
            src[place] = bad;
            src[2999] = bad;
            let plan = plan.checked(level);
            let mut old = vec![7_u8];
            let Err(CastError::Rejected(found)) = plan.run_extend(&src, &mut old) else {
                panic!("{bad} at {place} is accepted")
            };
            assert_eq!((found.index, found.reason, found.to), (place, reason, DType::UInt8));
            assert_eq!((found.value.code() as u32, old), (bad.to_bits(), vec![7]));
            let mut out = vec![0; src.len()];
            assert_eq!(plan.run(&src, &mut out), Err(CastError::Rejected(found)));
            let mut validity = vec![0; src.len().div_ceil(8)];
            let rejected = plan.run_masked(&src, &mut out, &mut validity).unwrap();
            assert_eq!(rejected, if place == 2999 { 1 } else { 2 });
            assert_eq!(out[..place], expected[..place]);
            assert_eq!(validity.iter().map(|b| b.count_zeros()).sum::<u32>() as usize, rejected);
        }
    }
}

/// Reports hold whatever they are given.
#[test]
fn reports_add_up() {
    let mut report = CastReport::default();
    (report.elements, report.saturated, report.nan_lost) = (u64::MAX, u64::MAX, 1);
    let sum = report.and(&report);
    assert_eq!((sum.elements, sum.saturated, sum.nan_lost, sum.wrapped), (u64::MAX, u64::MAX, 2, 0));
    assert_eq!((sum.out_of_range(), sum.is_clean()), (u64::MAX, false));
}

#[test]
fn what_is_said() {
    let said = |result: Result<(), CastError>| result.unwrap_err().to_string();
    fn checked<S: Element, D: Element>(src: &[S], dst: &mut [D], level: Level) -> Result<(), CastError> {
        CastPlan::of::<S, D>(&CastOptions::RUST).checked(level).run(src, dst)
    }
    let mut small = [F8E4M3FN::default(); 2];
    assert_eq!(
        said(checked(&[1.0_f64, -1e6], &mut small, Level::Range)),
        "element 1, the float64 -1000000.0, does not fit in float8_e4m3fn: it is out of range"
    );
    // Without the feature values are in the digits of `f64`.
    let or = |text, digits| if cfg!(feature = "text") { text } else { digits };
    let z = [Complex { re: 1.0_f32, im: -2.0 }];
    assert_eq!(
        said(checked(&z, &mut [0_i8], Level::Range)),
        format!(
            "element 0, the complex64 {}, does not fit in int8: it has no imaginary part",
            or("(1-2j)", "(1.0-2.0j)")
        )
    );
    assert_eq!(
        said(checked(&[0_u16], &mut [F8E8M0FNU::default()], Level::Range)),
        "element 0, the uint16 0, does not fit in float8_e8m0fnu: its least value is greater"
    );
    assert_eq!(
        said(checked(&[-5_i64], &mut [0_u64], Level::Range)),
        "element 0, the int64 -5, does not fit in uint64: it has no sign"
    );
    assert_eq!(
        said(checked(&[1e-9_f32], &mut small[..1], Level::Exact)),
        format!(
            "element 0, the float32 {}, does not fit in float8_e4m3fn: it would become zero",
            or("1e-09", "9.999999717180685e-10")
        )
    );
    let mut validity = [0; 1];
    let plan = CastPlan::new(DType::Int32, DType::Int8, &CastOptions::RUST).unwrap();
    let masked =
        |validity: &mut [u8]| plan.checked(Level::Range).run_masked(&[1_i32; 9], &mut [0_i8; 9], validity);
    assert_eq!(said(masked(&mut validity).map(drop)), "the validity bitmap needs 2 bytes but has 1");
    assert_eq!(masked(&mut [0; 2]), Ok(0));
    // Everything that is wrong with a plain cast is wrong with a checked one.
    for (src, dst, n) in [(11, 3, 3), (12, 2, 3), (0, 0, usize::MAX)] {
        let (src, mut dst) = (vec![0; src], vec![0; dst]);
        let error = plan.run(Bytes::new(&src, n), BytesMut::new(&mut dst, n));
        assert!(error.is_err());
        assert_eq!(plan.checked(Level::Range).run(Bytes::new(&src, n), BytesMut::new(&mut dst, n)), error);
        assert_eq!(
            plan.checked(Level::Range)
                .run_masked(Bytes::new(&src, n), BytesMut::new(&mut dst, n), &mut [])
                .map(drop),
            error
        );
        assert_eq!(
            plan.checked(Level::Range).run_counted(Bytes::new(&src, n), BytesMut::new(&mut dst, n)).map(drop),
            error
        );
    }
    let error = plan.run(&[1_i32; 2], &mut [0_i8; 3]);
    assert_eq!(plan.checked(Level::Range).run(&[1_i32; 2], &mut [0_i8; 3]), error);
    assert_eq!(plan.checked(Level::Range).run_counted(&[1_i32; 2], &mut [0_i8; 3]).map(drop), error);
    let error = plan.run(&[1_i64; 2], &mut [0_i8; 2]);
    assert_eq!(plan.checked(Level::Range).run(&[1_i64; 2], &mut [0_i8; 2]), error);
}

/// Several threads write, mark, count and report what one does.
#[cfg(feature = "rayon")]
#[test]
fn threads_agree() {
    use lanecast::Threads;
    let n = if cfg!(miri) { 100 } else { 3_000_001 };
    if !crate::support::THREADS {
        crate::support::say("SKIPPED: a checked cast shared by threads: this target has none");
    }
    let mut rng = crate::support::rng::Rng(9);
    for (from, to) in [
        (Encoding::new(DType::Float32), Encoding::new(DType::Int8)),
        (Encoding::new(DType::Int64), Encoding::packed(DType::UInt4)),
        (Encoding::packed(DType::Int4), Encoding::new(DType::UInt8)),
    ] {
        let plan = CastPlan::new(from, to, &CastOptions::RUST).unwrap();
        let len = to.byte_len(n).unwrap();
        for wrong in [0, 1, 5] {
            let mut src = vec![0; from.byte_len(n).unwrap()];
            for _ in 0..wrong {
                // All ones: NaN or -1, which none of the targets has.
                let at = rng.below(src.len() as u64 / 8) as usize * 8;
                src[at..at + 8].fill(0xFF);
            }
            let (one, many) = (&mut vec![0xA5; len], &mut vec![0xA5; len]);
            for level in LEVELS {
                let (checked, counted) = (plan.checked(level), plan.checked(level));
                // Many times: which thread is first changes.
                for _ in 0..if cfg!(miri) { 1 } else { 5 } {
                    assert_eq!(
                        checked.with_threads(Threads::Rayon).run(Bytes::new(&src, n), BytesMut::new(many, n)),
                        checked.run(Bytes::new(&src, n), BytesMut::new(one, n))
                    );
                }
                assert_eq!(checked.run(Bytes::new(&src, n), BytesMut::new(one, n)).is_err(), wrong > 0);
                let (a, b) = (&mut vec![0; n.div_ceil(8)], &mut vec![0; n.div_ceil(8)]);
                assert_eq!(
                    checked.with_threads(Threads::Rayon).run_masked(
                        Bytes::new(&src, n),
                        BytesMut::new(many, n),
                        a
                    ),
                    checked.run_masked(Bytes::new(&src, n), BytesMut::new(one, n), b)
                );
                assert!(a == b && one == many);
                assert_eq!(
                    counted
                        .with_threads(Threads::Rayon)
                        .run_counted(Bytes::new(&src, n), BytesMut::new(many, n)),
                    counted.run_counted(Bytes::new(&src, n), BytesMut::new(one, n))
                );
                assert!(one == many);
                assert!(
                    checked
                        .with_threads(Threads::Rayon)
                        .run_masked(Bytes::new(&src, n), BytesMut::new(many, n), &mut a[1..])
                        .is_err()
                );
                assert!(
                    checked
                        .with_threads(Threads::Rayon)
                        .run(Bytes::new(&src, n), BytesMut::new(&mut many[1..], n))
                        .is_err()
                );
            }
        }
    }
}

/// Past the caches the answers are the same.
#[test]
fn streaming() {
    let n = if cfg!(miri) { 300 } else { 100_003 };
    let src: Vec<u8> = (0..n).flat_map(|i| (i as f32 * 1.5).to_ne_bytes()).collect();
    for to in [DType::Float8E4M3FN, DType::Int16, DType::BFloat16] {
        let plan = CastPlan::new(DType::Float32, to, &CastOptions::RUST).unwrap();
        let (a, b) = (&mut vec![0; n * to.size()], &mut vec![0; n * to.size()]);
        for level in LEVELS {
            let (checked, counted) = (plan.checked(level), plan.checked(level));
            let streamed = checked.with_streaming(Streaming::Always);
            assert_eq!(
                streamed.run(Bytes::new(&src, n), BytesMut::new(a, n)),
                checked.run(Bytes::new(&src, n), BytesMut::new(b, n))
            );
            let streamed = counted.with_streaming(Streaming::Always);
            assert_eq!(
                streamed.run_counted(Bytes::new(&src, n), BytesMut::new(a, n)),
                counted.run_counted(Bytes::new(&src, n), BytesMut::new(b, n))
            );
            assert!(a == b);
        }
    }
}
