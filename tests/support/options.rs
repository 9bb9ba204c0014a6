//! The options that matter to a pair.

use crate::oracle::format::{Class, Rules, class};
use lanecast::{
    CastOptions, DType, E5M2Nan, E8M0Range, E8M0Round, FloatRound, FnuzInf, IntOverflow, IntRound,
    NanToFinite, Saturate,
};

const SATURATE: [Saturate; 3] = [Saturate::On, Saturate::Off, Saturate::FnOnly];
const E8M0_ROUND: [E8M0Round; 3] = [E8M0Round::Up, E8M0Round::Down, E8M0Round::Nearest];
const E8M0_RANGE: [E8M0Range; 3] = [E8M0Range::Exact, E8M0Range::Rounded, E8M0Range::Magnitude];
const OVERFLOW: [IntOverflow; 2] = [IntOverflow::Saturate, IntOverflow::Wrap];
const INT_ROUND: [IntRound; 5] =
    [IntRound::TowardZero, IntRound::NearestEven, IntRound::NearestAway, IntRound::Floor, IntRound::Ceil];
/// Every direction, the default first.
pub const FLOAT_ROUND: [FloatRound; 6] = [
    FloatRound::NearestEven,
    FloatRound::NearestAway,
    FloatRound::TowardZero,
    FloatRound::Up,
    FloatRound::Down,
    FloatRound::ToOdd,
];
const E5M2_NAN: [E5M2Nan; 2] = [E5M2Nan::Code7E, E5M2Nan::Code7F];
const NAN_TO_FINITE: [NanToFinite; 2] = [NanToFinite::Zero, NanToFinite::Max];
const FNUZ_INF: [FnuzInf; 2] = [FnuzInf::Max, FnuzInf::Nan];

/// `all` with every value of one option.
fn each<T: Copy>(
    all: Vec<CastOptions>,
    values: &[T],
    set: fn(CastOptions, T) -> CastOptions,
) -> Vec<CastOptions> {
    all.iter().flat_map(|options| values.iter().map(|&value| set(*options, value))).collect()
}

/// Every combination of the options that apply to the pair, the default first, and last one where all the options
/// that do *not* apply differ from the default: it has to give what the default gives.
pub fn applicable(from: DType, to: DType) -> Vec<CastOptions> {
    let mut all = vec![CastOptions::RUST];
    let mut foreign = all_changed();
    if from == to {
        all.push(foreign);
        return all;
    }
    let from_int = matches!(class(from), Class::Int { .. } | Class::Bool);
    let default = CastOptions::RUST;
    match class(to) {
        Class::Bool => {}
        Class::Int { .. } if from_int => {
            all = each(all, &OVERFLOW, CastOptions::with_int_to_int);
            foreign.int_to_int = IntOverflow::Wrap;
            all.swap(0, 1);
        }
        Class::Int { .. } => {
            all = each(all, &OVERFLOW, CastOptions::with_float_to_int);
            all = each(all, &INT_ROUND, CastOptions::with_int_round);
            (foreign.float_to_int, foreign.int_round) = (default.float_to_int, default.int_round);
        }
        Class::PowerOfTwo => {
            all = each(all, &SATURATE, CastOptions::with_saturate);
            all = each(all, &E8M0_ROUND, CastOptions::with_e8m0_round);
            all = each(all, &E8M0_RANGE, CastOptions::with_e8m0_range);
            (foreign.saturate, foreign.e8m0_round) = (default.saturate, default.e8m0_round);
            foreign.e8m0_range = default.e8m0_range;
        }
        Class::Complex(_) => {
            all = each(all, &FLOAT_ROUND, CastOptions::with_float_round);
            foreign.float_round = default.float_round;
        }
        Class::Float(format) => {
            all = each(all, &FLOAT_ROUND, CastOptions::with_float_round);
            foreign.float_round = default.float_round;
            if format.rules == Rules::Eight {
                all = each(all, &SATURATE, CastOptions::with_saturate);
                foreign.saturate = default.saturate;
            }
            if format.rules == Rules::Eight && format.unsigned_zero() {
                all = each(all, &FNUZ_INF, CastOptions::with_fnuz_inf);
                foreign.fnuz_inf = default.fnuz_inf;
            }
            if format.rules == Rules::Tiny {
                all = each(all, &NAN_TO_FINITE, CastOptions::with_nan_to_finite);
                foreign.nan_to_finite = default.nan_to_finite;
            }
            if to == DType::Float8E5M2 {
                all = each(all, &E5M2_NAN, CastOptions::with_e5m2_nan);
                foreign.e5m2_nan = default.e5m2_nan;
            }
        }
    }
    all.push(foreign);
    all
}

/// Every option away from its default.
fn all_changed() -> CastOptions {
    CastOptions::RUST
        .with_saturate(Saturate::Off)
        .with_e8m0_round(E8M0Round::Nearest)
        .with_e8m0_range(E8M0Range::Magnitude)
        .with_float_to_int(IntOverflow::Wrap)
        .with_int_to_int(IntOverflow::Saturate)
        .with_int_round(IntRound::Ceil)
        .with_float_round(FloatRound::TowardZero)
        .with_e5m2_nan(E5M2Nan::Code7F)
        .with_nan_to_finite(NanToFinite::Max)
        .with_fnuz_inf(FnuzInf::Nan)
}

/// How many options differ from the default.
pub fn changed(options: &CastOptions) -> usize {
    describe(options).matches('=').count()
}

/// The options that differ from the default, for a message.
pub fn describe(options: &CastOptions) -> String {
    let default = CastOptions::RUST;
    let mut text = String::new();
    let mut note = |name: &str, value: &dyn std::fmt::Debug, differs: bool| {
        if differs {
            text += &format!(" {name}={value:?}");
        }
    };
    note("saturate", &options.saturate, options.saturate != default.saturate);
    note("e8m0_round", &options.e8m0_round, options.e8m0_round != default.e8m0_round);
    note("e8m0_range", &options.e8m0_range, options.e8m0_range != default.e8m0_range);
    note("float_to_int", &options.float_to_int, options.float_to_int != default.float_to_int);
    note("int_to_int", &options.int_to_int, options.int_to_int != default.int_to_int);
    note("int_round", &options.int_round, options.int_round != default.int_round);
    note("float_round", &options.float_round, options.float_round != default.float_round);
    note("e5m2_nan", &options.e5m2_nan, options.e5m2_nan != default.e5m2_nan);
    note("nan_to_finite", &options.nan_to_finite, options.nan_to_finite != default.nan_to_finite);
    note("fnuz_inf", &options.fnuz_inf, options.fnuz_inf != default.fnuz_inf);
    if text.is_empty() { " default options".into() } else { text }
}
