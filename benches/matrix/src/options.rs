//! What options cost: every combination of the options that apply to a pair, beside the same pair with default options.
//!
//! All combinations of a pair take turns with the default in one process, on 512 KiB of source and destination together, and the
//! figure is the time of each divided by that of the default. A pair with a figure above the limit is measured once more, in more
//! rounds, and the second figures count: they settle whether a neighbour of the machine was to blame. Every answer is compared
//! with that of the scalar tier first.

use crate::{
    cells::{self, Cast},
    dimensions::{self, Amount},
    inputs::{self, Inputs, PERIOD, Range},
    machine::Machine,
    measure::{Contender, Effort, Rounds, measure},
    pool::{PAGE, Pool},
    report::geometric_mean,
    results::Size,
    run::{Selection, answer_is},
    traffic::Traffic,
};
use lanecast::{
    Bytes, BytesMut, CastError, CastOptions, CastPlan, DType, E5M2Nan, E8M0Range, E8M0Round, Encoding,
    Flavor, FloatRound, FnuzInf, IntOverflow, IntRound, Kind, NanToFinite, Saturate, Spec, Tier,
};
use serde::{Deserialize, Serialize};
use std::{cell::RefCell, collections::BTreeMap, fmt::Write as _, hint::black_box};

/// How much slower than the default an option may be.
pub const LIMIT: f64 = 1.5;
/// How much slower all of them may be in the geometric mean.
pub const MEAN_LIMIT: f64 = 1.15;
/// The same for the scalar tier.
pub const SCALAR_LIMIT: f64 = 3.0;

/// Of how many combinations a quick run measures one.
const QUICK: usize = 7;

const RUST: CastOptions = CastOptions::RUST;

/// One value of one option, and its setting.
type Choice = (&'static str, fn(CastOptions) -> CastOptions);

const FLOAT_ROUND: &[Choice] = &[
    ("float-round=nearest-even", |o| o.with_float_round(FloatRound::NearestEven)),
    ("float-round=nearest-away", |o| o.with_float_round(FloatRound::NearestAway)),
    ("float-round=toward-zero", |o| o.with_float_round(FloatRound::TowardZero)),
    ("float-round=up", |o| o.with_float_round(FloatRound::Up)),
    ("float-round=down", |o| o.with_float_round(FloatRound::Down)),
    ("float-round=to-odd", |o| o.with_float_round(FloatRound::ToOdd)),
];
const INT_ROUND: &[Choice] = &[
    ("int-round=toward-zero", |o| o.with_int_round(IntRound::TowardZero)),
    ("int-round=nearest-even", |o| o.with_int_round(IntRound::NearestEven)),
    ("int-round=nearest-away", |o| o.with_int_round(IntRound::NearestAway)),
    ("int-round=floor", |o| o.with_int_round(IntRound::Floor)),
    ("int-round=ceil", |o| o.with_int_round(IntRound::Ceil)),
];
const E8M0_ROUND: &[Choice] = &[
    ("e8m0-round=up", |o| o.with_e8m0_round(E8M0Round::Up)),
    ("e8m0-round=down", |o| o.with_e8m0_round(E8M0Round::Down)),
    ("e8m0-round=nearest", |o| o.with_e8m0_round(E8M0Round::Nearest)),
];
const E8M0_RANGE: &[Choice] = &[
    ("e8m0-range=exact", |o| o.with_e8m0_range(E8M0Range::Exact)),
    ("e8m0-range=rounded", |o| o.with_e8m0_range(E8M0Range::Rounded)),
    ("e8m0-range=magnitude", |o| o.with_e8m0_range(E8M0Range::Magnitude)),
];
const SATURATE: &[Choice] = &[
    ("saturate=on", |o| o.with_saturate(Saturate::On)),
    ("saturate=off", |o| o.with_saturate(Saturate::Off)),
];
const FLOAT_TO_INT: &[Choice] = &[
    ("float-to-int=saturate", |o| o.with_float_to_int(IntOverflow::Saturate)),
    ("float-to-int=wrap", |o| o.with_float_to_int(IntOverflow::Wrap)),
];
const INT_TO_INT: &[Choice] = &[
    ("int-to-int=wrap", |o| o.with_int_to_int(IntOverflow::Wrap)),
    ("int-to-int=saturate", |o| o.with_int_to_int(IntOverflow::Saturate)),
];
const E5M2_NAN: &[Choice] = &[
    ("e5m2-nan=7e", |o| o.with_e5m2_nan(E5M2Nan::Code7E)),
    ("e5m2-nan=7f", |o| o.with_e5m2_nan(E5M2Nan::Code7F)),
];
const NAN_TO_FINITE: &[Choice] = &[
    ("nan-to-finite=zero", |o| o.with_nan_to_finite(NanToFinite::Zero)),
    ("nan-to-finite=max", |o| o.with_nan_to_finite(NanToFinite::Max)),
];
const FNUZ_INF: &[Choice] = &[
    ("fnuz-inf=max", |o| o.with_fnuz_inf(FnuzInf::Max)),
    ("fnuz-inf=nan", |o| o.with_fnuz_inf(FnuzInf::Nan)),
];

/// The options that apply to a pair, each with its values, the default first.
fn applicable(from: DType, to: DType) -> Vec<&'static [Choice]> {
    let float_source = matches!(from.kind(), Kind::Float | Kind::Complex);
    match to.spec() {
        _ if from == to => vec![],
        Spec::Int { .. } if float_source => vec![FLOAT_TO_INT, INT_ROUND],
        Spec::Int { .. } => vec![INT_TO_INT],
        Spec::Complex(_) => vec![FLOAT_ROUND],
        Spec::Float(f) => match f.flavor {
            Flavor::Exponent => vec![SATURATE, E8M0_ROUND, E8M0_RANGE],
            Flavor::Finite => vec![FLOAT_ROUND, NAN_TO_FINITE],
            Flavor::Fnuz => vec![FLOAT_ROUND, SATURATE, FNUZ_INF],
            _ if to == DType::Float8E5M2 => vec![FLOAT_ROUND, SATURATE, E5M2_NAN],
            _ if f.bits() == 8 => vec![FLOAT_ROUND, SATURATE],
            _ => vec![FLOAT_ROUND],
        },
        _ => vec![],
    }
}

/// A combination of options with the names of those that are not the default.
#[derive(Clone, Debug)]
struct Combination {
    name: String,
    options: CastOptions,
}

/// Every combination of the options that apply to a pair, but for the default.
fn combinations(from: DType, to: DType) -> Vec<Combination> {
    let mut all = vec![Combination { name: String::new(), options: RUST }];
    for choices in applicable(from, to) {
        let with = |done: &Combination, (name, set): &Choice| {
            let options = set(done.options);
            let mut words = done.name.clone();
            if options != done.options {
                let space = if words.is_empty() { "" } else { " " };
                words += &format!("{space}{name}");
            }
            Combination { name: words, options }
        };
        all = all.iter().flat_map(|done| choices.iter().map(move |choice| with(done, choice))).collect();
    }
    all.retain(|combination| combination.options != RUST);
    all
}

/// A measured combination.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// `float32 -> float8_e5m2`
    pub pair: String,
    /// The tier.
    pub tier: String,
    /// `float-round=up saturate=off`
    pub options: String,
    /// Nanoseconds of the cast with default options.
    pub default_ns: f64,
    /// The time divided by that of the default.
    pub ratio: f64,
}

/// All that was measured.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Rows {
    /// On what it ran.
    pub machine: Machine,
    /// What the sources hold.
    pub inputs: Inputs,
    /// Whether it is a sample.
    pub quick: bool,
    /// The combinations.
    pub rows: Vec<Row>,
}

/// Which combinations are measured.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Only combinations that name all of these: `float-round=up`, `saturate`.
    pub options: Vec<String>,
    /// Only a sample of them, in few rounds.
    pub quick: bool,
}

impl Wanted {
    fn has(&self, combination: &Combination) -> bool {
        self.options.iter().all(|option| combination.name.contains(option.as_str()))
    }

    fn effort(&self, selection: &Selection, again: bool) -> Effort {
        let mut effort = selection.effort(Size::L2);
        // The budget of a cell is for a few contenders: here it is the number of rounds that counts.
        let rounds = selection.rounds.unwrap_or(if self.quick { 3 } else { 7 });
        effort.min_rounds = if again { 3 * rounds } else { rounds };
        effort.max_rounds = effort.min_rounds;
        effort
    }
}

/// Measures the wanted combinations of the selected pairs on the selected tiers.
///
/// # Errors
///
/// If a plan cannot be made, or an answer differs from the scalar tier's.
pub fn run(selection: &Selection, wanted: &Wanted) -> Result<Rows, String> {
    let mut casts: Vec<Cast> = cells::all().into_iter().filter(|cast| selection.has(cast)).collect();
    casts.dedup_by_key(|cast| (cast.from, cast.to));
    let mut pool = Pool::new((512 << 10) + 4 * PAGE);
    let (mut rows, mut seen) = (Vec::new(), 0);
    for (k, cast) in casts.iter().enumerate() {
        let (from, to) = (cast.from, cast.to);
        if k == 0 || from != casts[k - 1].from {
            eprintln!("{k:5} of {} pairs: from {}", casts.len(), cells::label(from));
        }
        let all = combinations(from.dtype(), to.dtype());
        let sample = |_: &Combination| {
            seen += 1;
            !wanted.quick || seen % QUICK == 0
        };
        let some: Vec<Combination> = all.into_iter().filter(|c| wanted.has(c)).filter(sample).collect();
        if some.is_empty() {
            continue;
        }
        let failed = |error: CastError| format!("{cast}: {error}");
        let period = inputs::period(from, Range::new(from.dtype(), to.dtype(), selection.inputs));
        let expected: Vec<Vec<u8>> = options_of(&some)
            .map(|options| expected(from, to, options, &period))
            .collect::<Result<_, _>>()
            .map_err(failed)?;
        for &tier in &selection.tiers {
            let limit = if tier == Tier::Scalar { SCALAR_LIMIT } else { LIMIT };
            let mut pair = Pair::new(from, to, tier, &some, &mut pool, &period).map_err(failed)?;
            pair.check(&some, &expected).map_err(|error| format!("{cast}, {tier}: {error}"))?;
            let mut rounds = pair.measure(&wanted.effort(selection, false));
            if (1..=some.len()).any(|k| rounds.ratio(k, 0) > limit) {
                rounds = pair.measure(&wanted.effort(selection, true));
            }
            let name = format!("{} -> {}", cells::label(from), cells::label(to));
            rows.extend(some.iter().enumerate().map(|(k, combination)| Row {
                pair: name.clone(),
                tier: tier.name().into(),
                options: combination.name.clone(),
                default_ns: rounds.time(0),
                ratio: rounds.ratio(k + 1, 0),
            }));
        }
    }
    Ok(Rows { machine: Machine::detect(), inputs: selection.inputs, quick: wanted.quick, rows })
}

/// The rows of the dimension: default options, every profile, and every option by itself.
///
/// # Errors
///
/// If a plan cannot be made, or an answer differs from the scalar tier's.
pub(crate) fn rows(amount: &Amount) -> Result<Vec<dimensions::Row>, String> {
    let mut pool = Pool::new((512 << 10) + 4 * PAGE);
    let mut rows = Vec::new();
    for &(from, to) in amount.of(&dimensions::pairs(), 2) {
        let some = alone(from.dtype(), to.dtype());
        let name = format!("{} -> {}", cells::label(from), cells::label(to));
        let failed = |error: CastError| format!("{name}: {error}");
        let period = inputs::period(from, Range::new(from.dtype(), to.dtype(), Inputs::Normal));
        let expected = options_of(&some).map(|options| expected(from, to, options, &period));
        let expected: Vec<Vec<u8>> = expected.collect::<Result<_, _>>().map_err(failed)?;
        for &tier in &amount.tiers {
            let mut pair = Pair::new(from, to, tier, &some, &mut pool, &period).map_err(failed)?;
            pair.check(&some, &expected).map_err(|error| format!("{name}, {tier}: {error}"))?;
            let n = pair.n as f64;
            let rounds = pair.measure(&amount.effort(60, 40));
            let names = ["default"].into_iter().chain(some.iter().map(|combination| &*combination.name));
            rows.extend(names.enumerate().map(|(k, option)| dimensions::Row {
                at: vec![dimensions::pair(from, to), tier.name().into(), option.into()],
                ns: rounds.time(k) / n,
                ratio: (k > 0).then(|| rounds.ratio(k, 0)),
                fraction: rounds.ratio(some.len() + 1, k),
            }));
        }
    }
    Ok(rows)
}

/// Every profile and every single option that is not the default of a pair.
fn alone(from: DType, to: DType) -> Vec<Combination> {
    let profiles = CastOptions::PROFILES.iter().filter(|(_, options)| *options != RUST);
    let profiles =
        profiles.map(|(name, options)| Combination { name: format!("profile={name}"), options: *options });
    let singles = combinations(from, to).into_iter().filter(|combination| !combination.name.contains(' '));
    profiles.chain(singles).collect()
}

/// The options of all plans of a pair: the default, then the combinations.
fn options_of(combinations: &[Combination]) -> impl Iterator<Item = &CastOptions> {
    [&RUST].into_iter().chain(combinations.iter().map(|combination| &combination.options))
}

/// The right answer for one period.
fn expected(
    from: Encoding,
    to: Encoding,
    options: &CastOptions,
    period: &[u8],
) -> Result<Vec<u8>, CastError> {
    let mut out = vec![0; to.byte_len(PERIOD).unwrap_or_default()];
    let plan = CastPlan::with_tier(from, to, options, Tier::Scalar)?;
    plan.run(Bytes::new(period, PERIOD), BytesMut::new(&mut out, PERIOD))?;
    Ok(out)
}

/// The plans of a pair on a tier, the default first, and their memory.
struct Pair<'a> {
    plans: Vec<CastPlan>,
    n: usize,
    src: &'a [u8],
    dst: &'a mut [u8],
}

impl<'a> Pair<'a> {
    fn new(
        from: Encoding,
        to: Encoding,
        tier: Tier,
        combinations: &[Combination],
        pool: &'a mut Pool,
        period: &[u8],
    ) -> Result<Pair<'a>, CastError> {
        let bits = (from.bits_per_element() + to.bits_per_element()) as usize;
        let step = cells::step(from, to);
        let n = (512 << 10) * 8 / bits / step * step;
        let [read, written] = [from, to].map(|buffer| buffer.byte_len(n).unwrap_or_default());
        let (src, dst) = pool.bytes().split_at_mut(read.next_multiple_of(PAGE));
        let src = &mut src[..read];
        inputs::repeat(period, src);
        let plans = options_of(combinations)
            .map(|options| CastPlan::with_tier(from, to, options, tier))
            .collect::<Result<_, _>>()?;
        Ok(Pair { plans, n, src, dst: &mut dst[..written] })
    }

    /// Compares every answer.
    fn check(&mut self, combinations: &[Combination], expected: &[Vec<u8>]) -> Result<(), String> {
        let names = ["default"].into_iter().chain(combinations.iter().map(|combination| &*combination.name));
        for ((plan, expected), name) in self.plans.iter().zip(expected).zip(names) {
            self.dst.fill(0xEE);
            plan.run(Bytes::new(self.src, self.n), BytesMut::new(self.dst, self.n))
                .map_err(|error| error.to_string())?;
            if !answer_is(expected, self.dst, plan.target(), self.n) {
                return Err(format!("{name} differs from the scalar tier"));
            }
        }
        Ok(())
    }

    /// The rounds of the plans, the default first, and of pure traffic, the last.
    fn measure(&mut self, effort: &Effort) -> Rounds {
        let traffic = Traffic::new(self.plans[0].tier(), self.plans[0].source(), self.plans[0].target());
        let (src, n, dst) = (self.src, self.n, RefCell::new(&mut *self.dst));
        let dst = &dst;
        let contender = |plan: &CastPlan| -> Contender<'_> {
            let plan = plan.clone();
            Box::new(move |calls| {
                for _ in 0..calls {
                    let n = black_box(n);
                    let mut dst = dst.borrow_mut();
                    let done = plan.run(Bytes::new(black_box(src), n), BytesMut::new(black_box(&mut dst), n));
                    debug_assert!(done.is_ok(), "it ran before");
                }
            })
        };
        let mut contenders: Vec<Contender<'_>> = self.plans.iter().map(contender).collect();
        contenders.push(Box::new(|calls| {
            (0..calls).for_each(|_| traffic.run(black_box(src), black_box(&mut dst.borrow_mut())));
        }));
        measure(&mut contenders, effort)
    }
}

impl Rows {
    /// The tiers that have rows, each with its limit.
    fn tiers(&self) -> impl Iterator<Item = (Tier, f64, Vec<&Row>)> {
        Tier::ALL.iter().filter_map(|&tier| {
            let rows: Vec<&Row> = self.rows.iter().filter(|row| row.tier == tier.name()).collect();
            let limit = if tier == Tier::Scalar { SCALAR_LIMIT } else { LIMIT };
            (!rows.is_empty()).then_some((tier, limit, rows))
        })
    }

    /// For each tier the number of combinations, their geometric mean, how many are above the limit, and the worst.
    pub fn table(&self, worst: usize) -> String {
        let mut text = String::from(
            "| tier | combinations | geometric mean | limit | above it | worst |\n|---|---|---|---|---|---|\n",
        );
        for (tier, limit, mut rows) in self.tiers() {
            rows.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
            let list: Vec<String> = rows
                .iter()
                .take(worst)
                .map(|row| format!("{}, {}: {:.2}", row.pair, row.options, row.ratio))
                .collect();
            let _ = writeln!(text, "| {tier} | {} | {} |", summary(&rows, limit), list.join("; "));
        }
        text
    }

    /// The same for each value of an option, over all combinations that have it.
    pub fn by_option(&self) -> String {
        let mut text = String::from(
            "| tier | option | combinations | geometric mean | limit | above it | largest |\n|---|---|---|---|---|---|---|\n",
        );
        for (tier, limit, rows) in self.tiers() {
            let mut having: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
            for row in rows {
                row.options.split(' ').for_each(|option| having.entry(option).or_default().push(row));
            }
            for (option, rows) in having {
                let largest = rows.iter().map(|row| row.ratio).fold(0.0, f64::max);
                let _ = writeln!(text, "| {tier} | `{option}` | {} | {largest:.2} |", summary(&rows, limit));
            }
        }
        text
    }
}

/// Number, mean, limit and how many are above it, as cells of a table.
fn summary(rows: &[&Row], limit: f64) -> String {
    let ratios: Vec<f64> = rows.iter().map(|row| row.ratio).collect();
    let above = ratios.iter().filter(|ratio| **ratio > limit).count();
    format!("{} | {:.2} | {limit} | {above}", ratios.len(), geometric_mean(&ratios))
}

/// The section of the report.
pub fn section(runs: &[Rows]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let mut text = format!(
        "\n## Options\n\nThe time of a cast with other options than the default divided by that of the default, taken in turn on {}, \
         with 512 KiB of source and destination together. Every combination of the options that apply to a pair counts, in byte \
         and packed storage. At most {LIMIT} is asked for, {MEAN_LIMIT} in the geometric mean, and {SCALAR_LIMIT} of the scalar \
         tier. How to repeat it: `lanecast-bench options -o options.json`.\n",
        first.machine.cpu
    );
    for run in runs {
        if run.quick {
            let _ = write!(text, "\nA sample, one of {QUICK} combinations:\n");
        }
        let _ = write!(text, "\n{}\n{}", run.table(4), run.by_option());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_are_products() {
        let count = |from, to| combinations(from, to).len();
        assert_eq!(count(DType::Float32, DType::Float32), 0);
        assert_eq!(count(DType::Float32, DType::Bool), 0);
        assert_eq!(count(DType::Int32, DType::Int8), 1);
        assert_eq!(count(DType::Float32, DType::Int8), 9);
        assert_eq!(count(DType::Float32, DType::Complex64), 5);
        assert_eq!(count(DType::Float32, DType::Float8E5M2), 23);
        assert_eq!(count(DType::Float32, DType::Float8E4M3FN), 11);
        assert_eq!(count(DType::Float64, DType::Float8E4M3FNUZ), 23);
        assert_eq!(count(DType::Float64, DType::Float4E2M1FN), 11);
        let names: Vec<String> =
            combinations(DType::Float32, DType::Float8E8M0FNU).into_iter().map(|c| c.name).collect();
        assert_eq!((names.len(), names[0].as_str()), (17, "e8m0-range=rounded"));
        let last = "saturate=off e8m0-round=nearest e8m0-range=magnitude";
        assert_eq!(names.last().map(String::as_str), Some(last));
    }

    #[test]
    fn profiles_and_single_options_have_names() {
        let names: Vec<String> =
            alone(DType::Float32, DType::Int8).into_iter().map(|combination| combination.name).collect();
        assert_eq!(&names[..2], ["profile=onnx", "profile=numpy"]);
        assert_eq!(names.len(), CastOptions::PROFILES.len() - 1 + 5);
        assert!(names.contains(&"int-round=floor".into()) && names.iter().all(|name| !name.contains(' ')));
    }

    #[test]
    fn tables_name_what_is_slow() {
        let row = |options: &str, ratio| Row {
            pair: "float32 -> float16".into(),
            tier: "avx2".into(),
            options: options.into(),
            default_ns: 1.0,
            ratio,
        };
        let rows = vec![row("float-round=up", 1.0), row("float-round=to-odd", 4.0)];
        let all = Rows { rows, ..Rows::default() };
        let table = all.table(1);
        assert!(
            table.contains("| avx2 | 2 | 2.00 | 1.5 | 1 | float32 -> float16, float-round=to-odd: 4.00 |"),
            "{table}"
        );
        assert!(all.by_option().contains("| avx2 | `float-round=up` | 1 | 1.00 | 1.5 | 0 | 1.00 |"));
        let section = section(&[all]);
        assert!(section.contains("## Options") && !section.contains("sample"));
    }
}
