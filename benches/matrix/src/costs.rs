//! The cost classes of the kernels: measures them, compares them with the checked-in table, and rewrites it.
//!
//! `kernels/src/table/cost.rs` says what a class is. Every pair on every tier casts 256 KiB of source and destination together, which
//! the second cache holds and the first does not. What a route adds to the kernel is the median of the differences between casts
//! with exactly this term and the same casts without.
//!
//! Machines are shared, so one pass over all casts takes a short look at each, and there are several passes: a neighbour
//! disturbs many casts in one pass, not one cast in all of them. A look keeps its shortest call, and a cast the lower quartile of its
//! looks. Every answer is compared with that of the scalar tier in the first pass.

use crate::{
    cells,
    inputs::{self, Inputs, PERIOD, Range},
    machine::Machine,
    pool::{PAGE, Pool},
    run::answer_is,
};
use lanecast::{
    ByteOrder, DType, Encoding, Kind, Tier,
    strided::{Layout, View, ViewMut},
};
use lanecast_kernels::{
    Kernel, Rounding, Rules,
    cost::{self, CLASSES, Costs, NOTHING, TableError, Term},
};
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    hint::black_box,
    time::{Duration, Instant},
};

/// Bytes of source and destination together.
const FOOTPRINT: usize = 256 << 10;

/// How long a look at a cast lasts, and how many calls it has at least.
const LOOK: Duration = Duration::from_micros(150);
const CALLS: usize = 3;

/// How many casts a term is measured by at most.
const SAMPLE: usize = 60;

/// How much a class that is kept may be off: three quarters of a step. So noise does not rewrite a table.
const KEPT: f64 = 0.75;

/// What is measured of a tier.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The tier.
    pub tier: Tier,
    /// Picoseconds per element: `[from][to]`.
    pub pairs: Vec<Vec<f64>>,
    /// Picoseconds that each [`Term`] adds; `None` if the tier has no such casts.
    pub terms: Vec<Option<f64>>,
}

/// One cast to look at.
struct Case {
    kernel: Kernel,
    rules: Rules,
    strided: bool,
    /// Picoseconds per element, of each look.
    looks: Vec<f64>,
}

impl Case {
    fn new(tier: Tier, from: Encoding, to: Encoding, rules: Rules) -> Option<Case> {
        let kernel = Kernel::new(tier, from, to, &rules)?;
        Some(Case { kernel, rules, strided: false, looks: Vec::new() })
    }

    fn elements(&self) -> usize {
        let (from, to) = (self.kernel.source(), self.kernel.target());
        let bits = (from.bits_per_element() + to.bits_per_element()) as usize;
        let step = cells::step(from, to);
        (FOOTPRINT * 8 / bits / step * step).max(step)
    }

    /// The lower quartile of all looks.
    fn picoseconds(&self) -> f64 {
        let mut looks = self.looks.clone();
        looks.sort_by(f64::total_cmp);
        looks.get(looks.len() / 4).copied().unwrap_or(f64::NAN)
    }
}

/// The sources of all casts, and the memory in which they run.
struct Memory {
    pool: Pool,
    periods: Vec<(Encoding, Range, Vec<u8>)>,
}

impl Memory {
    /// Takes a look at a case; checks its answer if `check`.
    fn look(&mut self, case: &mut Case, check: bool) -> Result<(), String> {
        let (from, to) = (case.kernel.source(), case.kernel.target());
        let n = case.elements();
        let range = Range::new(from.dtype(), to.dtype(), Inputs::Normal);
        let known = self.periods.iter().position(|(buffer, of, _)| (*buffer, *of) == (from, range));
        let place = known.unwrap_or_else(|| {
            self.periods.push((from, range, period(from, range)));
            self.periods.len() - 1
        });
        let period = &self.periods[place].2;
        // Every second element of a strided source is cast.
        let bytes = |buffer: Encoding| buffer.byte_len(n).unwrap_or_default();
        let read = if case.strided { 2 * bytes(from) } else { bytes(from) };
        let (src, dst) = self.pool.bytes().split_at_mut(read.next_multiple_of(PAGE));
        let (src, dst) = (&mut src[..read], &mut dst[..bytes(to)]);
        inputs::repeat(period, src);
        let src = &*src;
        let failed = || format!("{:?} cannot run", case.kernel);
        if case.strided {
            let layout = Layout::new(from, &[n], &[2 * from.dtype().size() as isize]);
            let layouts = layout.and_then(|layout| Ok((layout, Layout::contiguous(to, &[n])?)));
            let (layout, contiguous) = layouts.map_err(|error| error.to_string())?;
            let view = View::new(src, layout).map_err(|error| error.to_string())?;
            let mut out = ViewMut::new(dst, contiguous).map_err(|error| error.to_string())?;
            let kernel = &case.kernel;
            let look =
                timed(n, || black_box(kernel).run_strided(black_box(&view), black_box(&mut out)).is_ok());
            case.looks.push(look.ok_or_else(failed)?);
            return Ok(());
        }
        if check {
            dst.fill(0xEE);
            let scalar = Kernel::new(Tier::Scalar, from, to, &case.rules).ok_or_else(failed)?;
            let mut expected = vec![0; to.byte_len(PERIOD).unwrap_or_default()];
            scalar.run(period, &mut expected, PERIOD).ok_or_else(failed)?;
            case.kernel.run(src, dst, n).ok_or_else(failed)?;
            if !answer_is(&expected, dst, to, n) {
                return Err(format!("{:?} differs from the scalar tier", case.kernel));
            }
        }
        let kernel = &case.kernel;
        let look = timed(n, || black_box(kernel).run(black_box(src), black_box(dst), black_box(n)).is_some());
        case.looks.push(look.ok_or_else(failed)?);
        Ok(())
    }
}

/// One period of a source, in its own byte order.
fn period(from: Encoding, range: Range) -> Vec<u8> {
    let native = from.with_order(Encoding::new(from.dtype()).order());
    let mut bytes = inputs::period(native, range);
    if from.is_swapped() {
        let part = from.dtype().alignment();
        bytes.chunks_exact_mut(part).for_each(<[u8]>::reverse);
    }
    bytes
}

/// Picoseconds per element of the shortest call; `None` if a call fails.
fn timed(n: usize, mut call: impl FnMut() -> bool) -> Option<f64> {
    if !call() {
        return None;
    }
    let mut shortest = Duration::MAX;
    let (started, mut calls) = (Instant::now(), 0);
    while calls < CALLS || started.elapsed() < LOOK {
        let start = Instant::now();
        call();
        shortest = shortest.min(start.elapsed());
        calls += 1;
    }
    Some(shortest.as_nanos() as f64 * 1000.0 / n as f64)
}

/// The rules of a pair that the library has by default: integers wrap, everything else saturates.
fn common(from: DType, to: DType) -> Rules {
    let is_int = |dtype: DType| matches!(dtype.kind(), Kind::SignedInt | Kind::UnsignedInt);
    Rules::common(to, !(is_int(from) && is_int(to)))
}

/// Casts that have exactly this term in their routes, with the rules of each, beside their pairs.
fn with_term(tier: Tier, term: Term) -> Vec<Case> {
    let mut cases = Vec::new();
    let other = |order| if order == ByteOrder::Little { ByteOrder::Big } else { ByteOrder::Little };
    let swapped = |buffer: Encoding| buffer.with_order(other(buffer.order()));
    for (from, to) in pairs() {
        let (s, d) = (Encoding::new(from), Encoding::new(to));
        let rules = common(from, to);
        let (s, d, rules) = match term {
            Term::Rules => (s, d, Rules { rounding: Rounding::Floor, ..rules }),
            Term::Unpack if from.is_sub_byte() => (Encoding::packed(from), d, rules),
            Term::Pack if to.is_sub_byte() => (s, Encoding::packed(to), rules),
            Term::Swap if cases.len() % 2 == 0 => (swapped(s), d, rules),
            Term::Swap => (s, swapped(d), rules),
            Term::Strided => (s, d, rules),
            _ => continue,
        };
        // `Floor` is no rule of powers of two.
        let case = if term == Term::Rules && to == DType::Float8E8M0FNU {
            None
        } else {
            Case::new(tier, s, d, rules)
        };
        let Some(mut case) = case else { continue };
        let mut terms = case.kernel.cost_terms();
        if term == Term::Strided {
            terms[term as usize] += 1;
            case.strided = true;
        }
        let alone = terms.iter().map(|count| u32::from(*count)).sum::<u32>() == 1;
        if alone && terms[term as usize] == 1 {
            cases.push(case);
        }
    }
    // Evenly from all of them.
    let step = cases.len().div_ceil(SAMPLE).max(1);
    cases.into_iter().step_by(step).collect()
}

fn pairs() -> impl Iterator<Item = (DType, DType)> {
    DType::ALL.iter().flat_map(|&from| DType::ALL.iter().map(move |&to| (from, to)))
}

/// Measures all pairs and terms of the tiers, in so many passes.
///
/// # Errors
///
/// If a cast cannot run, or its answer differs from the scalar tier's.
pub fn measure(tiers: &[Tier], passes: usize) -> Result<Vec<Measured>, String> {
    let of_pairs = |tier: Tier| {
        pairs()
            .filter_map(move |(from, to)| Case::new(tier, from.into(), to.into(), common(from, to)))
            .collect()
    };
    let mut cases: Vec<(Tier, Vec<Case>, Vec<Vec<Case>>)> = tiers
        .iter()
        .map(|&tier| (tier, of_pairs(tier), Term::ALL.iter().map(|term| with_term(tier, *term)).collect()))
        .collect();
    let mut memory = Memory { pool: Pool::new(2 * FOOTPRINT + 4 * PAGE), periods: Vec::new() };
    let started = Instant::now();
    for pass in 0..passes {
        for (_, pairs, terms) in &mut cases {
            for case in pairs.iter_mut().chain(terms.iter_mut().flatten()) {
                memory.look(case, pass == 0)?;
            }
        }
        eprintln!("{:6.0} s, pass {} of {passes}", started.elapsed().as_secs_f64(), pass + 1);
    }
    let measured = cases.iter().map(|(tier, all, terms)| {
        let times: Vec<f64> = all.iter().map(Case::picoseconds).collect();
        let pairs: Vec<Vec<f64>> = times.chunks(DType::ALL.len()).map(<[f64]>::to_vec).collect();
        let term = |cases: &Vec<Case>| {
            let more = cases.iter().map(|case| {
                let (from, to) = (case.kernel.source().dtype(), case.kernel.target().dtype());
                case.picoseconds() - pairs[from as usize][to as usize]
            });
            (!cases.is_empty()).then(|| crate::measure::median(more))
        };
        let terms = terms.iter().map(term).collect();
        Measured { tier: *tier, pairs, terms }
    });
    Ok(measured.collect())
}

/// How many classes a time is above the class, as a fraction.
fn steps(time: f64, class: u8) -> f64 {
    2.0 * (time / f64::from(cost::picoseconds(class))).log2()
}

/// The class nearest to a time in picoseconds.
pub fn class(time: f64) -> u8 {
    let distance = |class: &u8| steps(time.max(1.0), *class).abs();
    (0..CLASSES).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
}

/// The class nearest to a time, or the one before if that is near.
fn kept(time: f64, before: u8) -> u8 {
    if before < CLASSES && steps(time, before).abs() <= KEPT { before } else { class(time) }
}

/// The letter of a class.
fn letter(class: u8) -> char {
    char::from_digit(class.into(), u32::from(CLASSES)).unwrap_or('-')
}

impl Measured {
    /// The classes, with those of `before` that are near enough.
    pub fn classes(&self, before: &Costs) -> Costs {
        let mut costs = before.clone();
        for (row, times) in costs.pairs.iter_mut().zip(&self.pairs) {
            for (class, time) in row.iter_mut().zip(times) {
                *class = kept(*time, *class);
            }
        }
        for (class, time) in costs.terms.iter_mut().zip(&self.terms) {
            // Half of the quickest class is noise.
            *class = match time {
                Some(time) if *time > f64::from(cost::picoseconds(0)) / 2.0 => kept(*time, *class),
                _ => NOTHING,
            };
        }
        costs
    }

    /// How the times compare with a table: how many classes differ by more than a step, and the worst of them.
    pub fn compare(&self, table: &Costs, worst: usize) -> String {
        let mut all: Vec<(f64, String)> = Vec::new();
        let mut row = |name: String, time: f64, listed: u8| {
            // What has no class differs by all of them.
            let off = if listed < CLASSES { steps(time, listed) } else { f64::from(CLASSES) };
            let (expected, found) = (letter(listed), letter(class(time)));
            all.push((off, format!("{name}: {time:.0} ps, class {found} instead of {expected}")));
        };
        for ((from, to), time) in pairs().zip(self.pairs.iter().flatten()) {
            row(format!("{from} -> {to}"), *time, table.pairs[from as usize][to as usize]);
        }
        all.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
        let beyond = all.iter().filter(|(off, _)| off.abs() > 1.5).count();
        let mean = (all.iter().map(|(off, _)| off / 2.0).sum::<f64>() / all.len().max(1) as f64).exp2();
        let within =
            |part: usize| (all.get(all.len() * part / 100).map_or(0.0, |(off, _)| off.abs()) / 2.0).exp2();
        let mut text = format!(
            "{}: {} pairs, {beyond} differ by more than one class from the table; measured times are {mean:.2} times those of the \
             table in the geometric mean; half of the pairs are within a factor of {:.2}, 95 % within {:.2}\n",
            self.tier,
            all.len(),
            within(50),
            within(5),
        );
        for (off, line) in all.iter().take(worst).filter(|(off, _)| off.abs() > 1.5) {
            let _ = writeln!(text, "  {line} ({off:+.1})");
        }
        for ((term, time), listed) in Term::ALL.iter().zip(&self.terms).zip(table.terms) {
            let time = time.map_or("no such casts".into(), |time| format!("{time:.0} ps"));
            let _ =
                writeln!(text, "  {}: {time}, {} ps in the table", term.name(), cost::picoseconds(listed));
        }
        text
    }
}

/// The block of a tier, with comments on where its classes come from.
fn block(tier: Tier, comments: &[String], costs: &Costs) -> String {
    let mut text = format!("tier {tier}\n");
    for comment in comments {
        let _ = writeln!(text, "# {comment}");
    }
    for (from, row) in DType::ALL.iter().zip(&costs.pairs) {
        let classes: String = row.iter().map(|class| letter(*class)).collect();
        let _ = writeln!(text, "{:20}{classes}", from.name());
    }
    for (term, class) in Term::ALL.iter().zip(&costs.terms) {
        let _ = writeln!(text, "{:20}{}", term.name(), letter(*class));
    }
    text
}

/// Rewrites the blocks of the tiers, adds those that the text does not have, and leaves the others as they are.
pub fn rewrite(text: &str, blocks: &[(Tier, Vec<String>, Costs)]) -> String {
    let mut parts: BTreeMap<Option<Tier>, String> = BTreeMap::new();
    let mut tier = None;
    for line in text.lines() {
        tier = line.strip_prefix("tier ").map_or(tier, |name| name.trim().parse().ok());
        let part = parts.entry(tier).or_default();
        *part += line;
        part.push('\n');
    }
    for (tier, comments, costs) in blocks {
        parts.insert(Some(*tier), block(*tier, comments, costs));
    }
    let parts: Vec<&str> = parts.values().map(|part| part.trim_end()).collect();
    parts.join("\n\n") + "\n"
}

/// Rewrites the table with what was measured.
///
/// # Errors
///
/// If the text is no table.
pub fn bless(text: &str, measured: &[Measured], machine: &Machine) -> Result<String, TableError> {
    let before = cost::parse(text)?;
    let blocks = measured.iter().map(|measured| {
        let tier = measured.tier;
        let comments = vec![format!("Measured on {}, {}.", machine.cpu, machine.rustc)];
        (tier, comments, measured.classes(&before[tier as usize]))
    });
    Ok(rewrite(text, &blocks.collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Classes that say where they stand.
    fn costs(tier: Tier) -> Costs {
        let mut costs = Costs::of(tier).clone();
        for (k, class) in costs.pairs.iter_mut().flatten().enumerate() {
            *class = ((k + tier as usize) % usize::from(CLASSES)) as u8;
        }
        costs.terms = [1, NOTHING, 3, 35, tier as u8];
        costs
    }

    #[test]
    fn times_have_classes() {
        assert_eq!([0.1, 10.0, 14.0, 20.0, 23.0, 24.5, 1e12].map(class), [0, 0, 1, 2, 2, 3, 35]);
        assert!((0..CLASSES).all(|k| class(cost::picoseconds(k).into()) == k));
        assert_eq!([25.9, 26.1, 15.5].map(|time| kept(time, 2)), [2, 3, 2]);
        assert_eq!(kept(20.0, NOTHING), 2);
        assert_eq!([0, 9, 10, 35, NOTHING].map(letter), ['0', '9', 'a', 'z', '-']);
    }

    #[test]
    fn what_is_written_is_read() {
        let blocks: Vec<_> = Tier::ALL.iter().map(|&tier| (tier, vec!["made".into()], costs(tier))).collect();
        let text = rewrite("# The head.\n", &blocks);
        assert!(text.starts_with("# The head.\n\ntier scalar\n# made\nbool "), "{text}");
        let table = cost::parse(&text).expect("a table");
        assert!(Tier::ALL.iter().all(|&tier| table[tier as usize] == costs(tier)));
        assert_eq!(rewrite(&text, &blocks), text);
        assert_eq!(rewrite(&text, &[]), text);
    }

    #[test]
    fn other_tiers_are_left_alone() {
        let before = cost::TEXT;
        let after = rewrite(before, &[(Tier::Avx2, vec![], costs(Tier::Avx2))]);
        let (old, new) = (cost::parse(before).expect("a table"), cost::parse(&after).expect("a table"));
        for &tier in Tier::ALL {
            let expected = if tier == Tier::Avx2 { &costs(tier) } else { &old[tier as usize] };
            assert_eq!(&new[tier as usize], expected);
        }
        let comments = |text: &str| text.lines().filter(|line| line.contains("Measured on")).count();
        assert_eq!(comments(&after) + 1, comments(before));
    }

    #[test]
    fn what_is_near_stays() {
        let tier = Tier::Scalar;
        let table = Costs::of(tier);
        let time = |class: &u8| f64::from(cost::picoseconds(*class));
        let mut measured = Measured {
            tier,
            pairs: table
                .pairs
                .iter()
                .map(|row| row.iter().map(|class| 1.2 * time(class)).collect())
                .collect(),
            terms: table.terms.iter().map(|class| (*class != NOTHING).then(|| time(class) / 1.2)).collect(),
        };
        assert_eq!(&measured.classes(table), table);
        let differ = |count: usize| format!("scalar: {} pairs, {count} differ", DType::ALL.len().pow(2));
        assert!(measured.compare(table, 5).starts_with(&differ(0)));
        measured.pairs[3][5] *= 4.0;
        assert_eq!(measured.classes(table).pairs[3][5], table.pairs[3][5] + 5);
        assert!(measured.compare(table, 5).starts_with(&differ(1)));
        let machine = Machine { cpu: "CPU".into(), rustc: "rustc".into(), ..Machine::default() };
        let blessed = bless(cost::TEXT, &[measured.clone()], &machine).expect("a table");
        assert!(blessed.contains("tier scalar\n# Measured on CPU, rustc.\n"));
        assert_eq!(cost::parse(&blessed).expect("a table")[0], measured.classes(table));
    }
}
