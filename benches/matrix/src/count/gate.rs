//! The gate: has a count grown?
//!
//! Counts are exact, so one run is enough, and a margin is there only so that small changes of a head or tail pass. What is
//! compared is what a record holds, three decimals. Counts of different compilers or C libraries are not compared unless that
//! is asked for: each of them makes instructions of its own.

use super::{Count, baseline, host, steps};
use crate::{results::Results, run::Selection};
use lanecast::Tier;
use std::{collections::HashMap, path::Path};

/// A count that grew.
#[derive(Debug, PartialEq)]
pub struct Growth {
    /// Which one.
    pub count: String,
    /// What is counted: of an element, or of a call.
    pub unit: &'static str,
    /// On record.
    pub before: f64,
    /// Now.
    pub after: f64,
}

/// What a comparison found.
#[derive(Debug, Default, PartialEq)]
pub struct Comparison {
    /// Figures that both sides have.
    pub compared: usize,
    /// Those that grew by more than the margin, the worst first.
    pub grown: Vec<Growth>,
    /// How many shrank by more than the margin.
    pub shrunk: usize,
    /// Casts that were counted and are not on record.
    pub missing: Vec<String>,
}

/// Compares counts with those on record. `margin` is a share of the earlier count.
pub fn compare(before: &[Count], after: &[Count], margin: f64) -> Comparison {
    let record: HashMap<_, &Count> = before.iter().map(|count| (count.key(), count)).collect();
    let mut found = Comparison::default();
    for count in after {
        let Some(old) = record.get(&count.key()) else {
            found.missing.push(count.to_string());
            continue;
        };
        let figures = |count: &Count| {
            let element = (count.instructions_per_element * 1000.0).round() / 1000.0;
            [("per element", element), ("of a call of 64", count.instructions_of_call as f64)]
        };
        for ((unit, before), (_, after)) in figures(old).into_iter().zip(figures(count)) {
            found.compared += 1;
            if after > before * (1.0 + margin) {
                found.grown.push(Growth { count: count.to_string(), unit, before, after });
            } else if after < before * (1.0 - margin) {
                found.shrunk += 1;
            }
        }
    }
    let share = |growth: &Growth| growth.after / growth.before;
    found.grown.sort_by(|a, b| share(b).total_cmp(&share(a)).then_with(|| a.count.cmp(&b.count)));
    found
}

impl Comparison {
    /// Whether nothing grew and all is on record.
    pub fn passes(&self) -> bool {
        self.grown.is_empty() && self.missing.is_empty()
    }

    /// The findings as text, one line per count.
    pub fn text(&self, margin: f64) -> String {
        let mut text = format!(
            "{} counts compared: {} grew by more than {:.0} %, {} shrank by more\n",
            self.compared,
            self.grown.len(),
            100.0 * margin,
            self.shrunk
        );
        for Growth { count, unit, before, after } in &self.grown {
            let share = 100.0 * (after / before - 1.0);
            text += &format!("  {count}: {before} -> {after} instructions {unit} ({share:+.1} %)\n");
        }
        for count in &self.missing {
            text += &format!("  {count}: not on record\n");
        }
        text
    }
}

/// Why two runs cannot be compared, if they cannot.
fn incomparable(before: &Results, after: &Results) -> Option<String> {
    let libraries =
        [before, after].map(|run| run.counting.as_ref().map_or("", |counting| &counting.c_library));
    let made_with = [&*before.machine.rustc, &*after.machine.rustc];
    // An emulator is the same CPU in all of its versions; this one has features of its own.
    let cpus = [before, after].map(|run| {
        let cpu = run.counting.as_ref().map_or("", |counting| &counting.emulator);
        if cpu.starts_with(steps::NAME) { cpu } else { "" }
    });
    [made_with, libraries, cpus].iter().find(|[old, new]| old != new).map(|[old, new]| {
        format!("the counts of {} are on record with {old}, this is {new}", after.machine.target)
    })
}

/// What the gate does with counts.
#[derive(Clone, Copy, Debug)]
pub struct Gate<'a> {
    /// The folder with the records.
    pub record: &'a Path,
    /// How far a count may grow, as a share of itself.
    pub margin: f64,
    /// Compares with the record of another compiler, too.
    pub any_compiler: bool,
    /// Writes the records instead of comparing with them.
    pub bless: bool,
}

impl Gate<'_> {
    /// Counts, and compares with the record or writes it.
    ///
    /// # Errors
    ///
    /// What grew, or why nothing could be counted.
    pub fn run(&self, target: &host::Target, selection: &Selection) -> Result<(), String> {
        // Found out before anything is built or run for minutes.
        if !self.bless && !self.any_compiler {
            let records = baseline::read_all(self.record)?;
            let record = records.iter().find(|run| run.machine.target == target.triple);
            let made_with = env!("LANECAST_BENCH_RUSTC");
            if let Some(other) = record.filter(|run| run.machine.rustc != made_with) {
                let (triple, rustc) = (&target.triple, &other.machine.rustc);
                println!("SKIPPED: the counts of {triple} are on record with {rustc}, this is {made_with}");
                return Ok(());
            }
        }
        let runs = host::count(target, selection)?;
        let done: Vec<_> = runs.iter().map(|run| self.judge(run)).collect();
        for tier in Tier::ALL {
            let counted = runs.iter().flat_map(|run| &run.counts).any(|count| count.tier == tier.name());
            if !counted && !self.bless && baseline::read(self.record, &target.triple, tier.name())?.is_some()
            {
                println!(
                    "SKIPPED: {tier} on {} is on record and was not counted (`--tier {tier}` counts it)",
                    target.triple
                );
            }
        }
        done.into_iter().collect()
    }

    /// Compares counts with the record, or makes them the record.
    ///
    /// # Errors
    ///
    /// What grew.
    pub fn judge(&self, after: &Results) -> Result<(), String> {
        if self.bless {
            let written = baseline::write(after, self.record);
            let written = written.map_err(|error| format!("{}: {error}", self.record.display()))?;
            written.iter().for_each(|path| println!("written: {}", path.display()));
            return Ok(());
        }
        let mut tiers: Vec<&str> = after.counts.iter().map(|count| &*count.tier).collect();
        tiers.sort_unstable();
        tiers.dedup();
        let target = &after.machine.target;
        let bless = format!("`lanecast-bench gate --target {target} --bless` writes what is counted now");
        let mut before = Vec::new();
        for tier in tiers {
            let record = baseline::read(self.record, target, tier)?;
            let record =
                record.ok_or_else(|| format!("no counts of {tier} on {target} are on record; {bless}"))?;
            if let Some(why) = incomparable(&record, after).filter(|_| !self.any_compiler) {
                println!("SKIPPED: {why}");
                return Ok(());
            }
            before.extend(record.counts);
        }
        let found = compare(&before, &after.counts, self.margin);
        print!("{target}: {}", found.text(self.margin));
        if found.passes() { Ok(()) } else { Err(format!("counts of {target} grew; {bless}")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        count::{Counting, tests::count},
        machine::Machine,
    };

    fn run(figures: [f64; 2]) -> Results {
        let pairs = [("float32", "bool"), ("int8", "bool")];
        let counts =
            pairs.iter().zip(figures).map(|((from, to), figure)| count(from, to, Tier::Neon, figure));
        let machine = Machine { rustc: "rustc 1".into(), target: "t".into(), ..Machine::default() };
        let counting =
            Counting { c_library: "glibc 2".into(), emulator: "qemu".into(), ..Counting::default() };
        Results { machine, counting: Some(counting), counts: counts.collect(), ..Results::default() }
    }

    #[test]
    fn growth_within_the_margin_passes() {
        let found = compare(&run([2.0, 4.0]).counts, &run([2.03, 3.0]).counts, 0.02);
        assert_eq!((found.compared, found.grown.len(), found.shrunk), (4, 0, 2));
        assert!(found.passes());
    }

    #[test]
    fn growth_beyond_it_is_named_worst_first() {
        let found = compare(&run([2.0, 4.0]).counts, &run([2.05, 6.0]).counts, 0.02);
        assert!(!found.passes());
        let lines: Vec<String> = found.text(0.02).lines().map(str::to_owned).collect();
        assert_eq!(lines[0], "4 counts compared: 4 grew by more than 2 %, 0 shrank by more");
        assert_eq!(lines[1], "  int8 -> bool, neon: 4 -> 6 instructions per element (+50.0 %)");
        assert!(
            lines[4].starts_with("  float32 -> bool, neon: 128 -> 131 instructions of a call of 64"),
            "{lines:?}"
        );
    }

    #[test]
    fn what_appears_from_nothing_has_grown() {
        assert!(!compare(&run([0.0, 4.0]).counts, &run([0.1, 4.0]).counts, 0.02).passes());
        assert!(compare(&run([0.0, 4.0]).counts, &run([0.0, 4.0]).counts, 0.02).passes());
    }

    #[test]
    fn what_is_not_on_record_fails() {
        let mut less = run([2.0, 4.0]);
        less.counts.pop();
        let found = compare(&less.counts, &run([2.0, 4.0]).counts, 0.02);
        assert_eq!(found.missing, ["int8 -> bool, neon"]);
        assert!(!found.passes());
    }

    #[test]
    fn a_record_is_kept_and_held_to() {
        let directory = std::env::temp_dir().join(format!("lanecast-counts-{}", std::process::id()));
        let gate = Gate { record: &directory, margin: 0.02, any_compiler: false, bless: false };
        assert!(gate.judge(&run([2.0, 4.0])).expect_err("nothing on record").contains("--bless"));
        Gate { bless: true, ..gate }.judge(&run([2.0, 4.0])).expect("a writable directory");
        gate.judge(&run([2.0, 4.0])).expect("the same");
        gate.judge(&run([2.0, 4.5])).expect_err("it grew");
        let mut other = run([9.0, 9.0]);
        other.machine.rustc = "rustc 2".into();
        gate.judge(&other).expect("it is not compared");
        Gate { any_compiler: true, ..gate }.judge(&other).expect_err("it is, if asked");
        assert_eq!(baseline::read_all(&directory).expect("a record").len(), 1);
        std::fs::remove_dir_all(directory).expect("it is ours");
    }
}
