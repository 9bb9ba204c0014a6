//! Checked and counting casts against the oracle: every pair in both levels, on every tier, in both storages.
//!
//! With the default options on all codes of `tests/pairs.rs`; with every other combination of the options that apply to the
//! pair on a sample of them.

mod oracle;
mod support;

use lanecast::{BufferType, CastError, CastOptions, CastPlan, CastReport, DType, Level, Reason};
use oracle::loss::{Loss, losses};
use support::{check::Case, options, patterns, storages, store, tiers::tiers};

const LEVELS: [Level; 2] = [Level::Range, Level::Exact];

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
        let counts = |loss: &Loss| level == Level::Exact || loss.is_out_of_range();
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
                Loss::MadeNan => &mut report.nan_made,
                Loss::LostNan => &mut report.nan_lost,
                Loss::Imaginary => &mut report.imaginary_dropped,
                Loss::Underflow => &mut report.underflowed_to_zero,
                Loss::Inexact if level == Level::Range => continue,
                Loss::Inexact => &mut report.inexact,
            };
            *count += 1;
        }
        report
    }
}

/// Runs a case in both levels in every way there is.
fn check(case: &Case<'_>, source: &[u128], bytes: &[u8], expected: &Expected) {
    let (plan, n) = (case.plan(), source.len());
    let len = case.to.byte_len(n).unwrap();
    let mut plain = vec![0xA5; len + 8];
    plan.run(bytes, &mut plain, n).unwrap();
    for level in LEVELS {
        let mut out = vec![0xA5; len + 8];
        let report = plan.counted(level).run(bytes, &mut out, n).unwrap();
        assert!(out == plain, "{case}: a counting cast is the plain cast");
        if report != expected.report(level) {
            let wrong = blame(case, level, source, expected);
            panic!("{case}, {level:?}: {report}, expected {}{wrong}", expected.report(level));
        }

        let checked = plan.checked(level);
        let mut out = vec![0xA5; len + 8];
        let mut validity = vec![0xA5; n.div_ceil(8) + 1];
        let rejected = checked.run_masked(bytes, &mut out, &mut validity, n).unwrap();
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
        assert!(rejected == 0 || !checked.accepts_all(), "{case}");

        let first = (0..n).find(|&i| expected.rejected(i, level));
        let mut out = vec![0xA5; len + 8];
        match (checked.run(bytes, &mut out, n), first) {
            (Ok(()), None) => assert!(out == plain, "{case}"),
            (Err(CastError::Rejected(found)), Some(first)) => {
                let code = source[first] & oracle::mask(case.from.dtype());
                assert_eq!(
                    (found.index, found.value.code() & oracle::mask(case.from.dtype())),
                    (first, code),
                    "{case}"
                );
                assert_eq!(found.to, case.to.dtype());
                let reasons = expected.losses[first].iter().flatten().any(|loss| fits(*loss, found.reason));
                assert!(reasons, "{case}: {found}, {:?}", expected.losses[first]);
            }
            (result, first) => panic!("{case}, {level:?}: {result:?}, expected {first:?}"),
        }
        assert_eq!(out[len..], [0xA5; 8], "{case}: nothing behind the elements is written");
    }
}

fn fits(loss: Loss, reason: Reason) -> bool {
    match reason {
        Reason::Nan => loss == Loss::LostNan,
        Reason::Imaginary => loss == Loss::Imaginary,
        Reason::Underflow => loss == Loss::Underflow,
        Reason::Inexact => loss == Loss::Inexact,
        _ => matches!(loss, Loss::Saturated | Loss::Wrapped | Loss::Infinite | Loss::MadeNan),
    }
}

/// The elements whose reports are wrong when they are cast alone.
fn blame(case: &Case<'_>, level: Level, source: &[u128], expected: &Expected) -> String {
    let plan = CastPlan::with_tier(case.from.dtype(), case.to.dtype(), case.options, case.tier)
        .unwrap()
        .counted(level);
    let mut out = [0; 16];
    let alone = |i: usize| {
        let one = Expected { losses: vec![expected.losses[i]] };
        let got = plan.run(&store(case.from.dtype().into(), &source[i..=i]), &mut out, 1).unwrap();
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
            let expected = Expected::new(from, to, options, &source);
            let buffers = |dtype| if i == 0 { storages(dtype) } else { vec![BufferType::new(dtype)] };
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

macro_rules! every_source {
    ($($from:ident)*) => {
        $(
            #[test]
            fn $from() {
                check_source(DType::from_name(stringify!($from)).expect("the name of a dtype"));
            }
        )*

        #[test]
        fn every_dtype_stands_in_the_list() {
            assert!(DType::ALL.iter().map(|d| d.name()).eq([$(stringify!($from)),*]));
        }
    };
}
every_source! {
    bool int2 int4 int8 int16 int32 int64 uint2 uint4 uint8 uint16 uint32 uint64 float16 bfloat16 float32
    float64 complex64 complex128 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu
    float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float6_e2m3fn float6_e3m2fn float4_e2m1fn
}
