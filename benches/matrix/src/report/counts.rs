//! Instructions where no clock can be trusted: how many fewer the strongest tier of a target takes than the scalar one.

use super::geometric_mean;
use crate::{
    cells::{Mode, PAIRS},
    classes::CLASSES,
    count::{Count, scaled},
    results::Results,
};
use lanecast::Tier;
use std::{collections::HashMap, fmt::Write as _};

const INTRODUCTION: &str = "
## Instructions

Under emulation no clock can be trusted, so executed instructions are counted: `lanecast-bench count`, or the counts on record in
`benches/matrix/counts`. A figure is instructions per element, from the difference of a long cast and a shorter one. An instruction
is not a cycle, and those of two architectures are not the same work: what says something is the ratio of two tiers of one
target, and a change of a figure from one commit to the next. The scalar tier is what the compiler makes of plain loops for any CPU
of the target, vectors included where all have them. QEMU does not emulate AVX-512, so that tier has no counts.
";

/// How many casts a list of the worst has.
const WORST: usize = 20;

/// The section of all runs that counted; nothing if none did.
pub(super) fn section(runs: &[&Results]) -> String {
    if runs.is_empty() {
        return String::new();
    }
    let mut text = String::from(INTRODUCTION);
    text += &summary(runs);
    for run in runs {
        text += &target(run);
    }
    text += &representative(runs);
    text += &longest(runs);
    text
}

/// The architecture, which is what differs in the names of targets.
fn name(run: &Results) -> &str {
    let target = &*run.machine.target;
    target.strip_suffix("-unknown-linux-gnu").unwrap_or(target)
}

/// The tiers that a run has counts of, the strongest last.
fn tiers(run: &Results) -> Vec<Tier> {
    let has = |tier: &&Tier| run.counts.iter().any(|count| count.tier == tier.name());
    Tier::ALL.iter().filter(has).copied().collect()
}

fn of(run: &Results, tier: Tier) -> impl Iterator<Item = &Count> {
    run.counts.iter().filter(move |count| count.tier == tier.name())
}

/// A cast on the strongest tier beside the same on the scalar one.
struct Beside<'a> {
    count: &'a Count,
    scalar: &'a Count,
}

impl Beside<'_> {
    fn ratio(&self) -> f64 {
        self.count.instructions_per_element / self.scalar.instructions_per_element
    }
}

/// The strongest tier of a run and its casts, those with the largest ratio first; `None` if it has the scalar tier only.
fn ratios(run: &Results) -> Option<(Tier, Vec<Beside<'_>>)> {
    let tier = tiers(run).last().copied().filter(|tier| *tier != Tier::Scalar)?;
    let cast = |count: &'_ Count| (count.from.clone(), count.to.clone(), count.mode);
    let scalar: HashMap<_, _> = of(run, Tier::Scalar).map(|count| (cast(count), count)).collect();
    let mut list: Vec<Beside<'_>> = of(run, tier)
        .filter_map(|count| Some(Beside { count, scalar: scalar.get(&cast(count))? }))
        // A ratio to nothing says nothing.
        .filter(|cast| cast.ratio().is_finite() && cast.ratio() > 0.0)
        .collect();
    list.sort_by(|a, b| b.ratio().total_cmp(&a.ratio()).then_with(|| a.count.key().cmp(&b.count.key())));
    (!list.is_empty()).then_some((tier, list))
}

/// All runs, with the ratio of each.
fn summary(runs: &[&Results]) -> String {
    let mut text = String::from(
        "\n| target | tiers | casts | strongest / scalar, geometric mean | worst | not fewer | emulator | C library | compiler |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for run in runs {
        let tiers = tiers(run);
        let names: Vec<_> = tiers.iter().map(|tier| tier.name()).collect();
        let casts = tiers.first().map_or(0, |tier| of(run, *tier).count());
        let figures = ratios(run).map_or("- | - | -".into(), |(_, list)| {
            let ratios: Vec<f64> = list.iter().map(Beside::ratio).collect();
            let not_fewer = ratios.iter().filter(|ratio| **ratio >= 1.0).count();
            format!("{:.3} | {:.2} | {not_fewer}", geometric_mean(&ratios), ratios[0])
        });
        let counting = run.counting.clone().unwrap_or_default();
        let _ = writeln!(
            text,
            "| {} | {} | {casts} | {figures} | {} | {} | {} |",
            run.machine.target,
            names.join(" "),
            counting.emulator,
            counting.c_library,
            run.machine.rustc
        );
    }
    text
}

/// What the strongest tier of a target gains: by class, and its worst casts.
fn target(run: &Results) -> String {
    let Some((tier, list)) = ratios(run) else { return String::new() };
    let mut text = format!("\n### {}: {tier} / scalar\n\n", name(run));
    text += "| class | casts | geometric mean | worst |\n|---|---|---|---|\n";
    for class in CLASSES.iter().map(|class| class.name).chain([scaled::CLASS]) {
        let ratios: Vec<f64> =
            list.iter().filter(|cast| cast.count.class == class).map(Beside::ratio).collect();
        if let Some(worst) = ratios.first() {
            let mean = geometric_mean(&ratios);
            let _ = writeln!(text, "| {class} | {} | {mean:.3} | {worst:.2} |", ratios.len());
        }
    }
    let _ = write!(
        text,
        "\nThe {} worst of {}:\n\n| cast | class | {tier} | scalar | ratio |\n|---|---|---|---|---|\n",
        WORST.min(list.len()),
        list.len()
    );
    for cast in list.iter().take(WORST) {
        let Count { class, instructions_per_element: here, .. } = cast.count;
        let scalar = cast.scalar.instructions_per_element;
        let pair = cast.count.pair();
        let _ = writeln!(text, "| {pair} | {class} | {here:.3} | {scalar:.3} | {:.2} |", cast.ratio());
    }
    let count =
        |more: bool| list.iter().filter(|cast| cast.ratio() >= 1.0 && (cast.ratio() > 1.0) == more).count();
    let _ = writeln!(
        text,
        "\n{} casts take more instructions than on the scalar tier, {} as many.",
        count(true),
        count(false)
    );
    text
}

/// The representative pairs on all targets and tiers side by side.
fn representative(runs: &[&Results]) -> String {
    let columns: Vec<(&Results, Tier)> =
        runs.iter().flat_map(|run| tiers(run).into_iter().map(|tier| (*run, tier))).collect();
    let heads: Vec<String> = columns.iter().map(|(run, tier)| format!("{}, {tier}", name(run))).collect();
    let mut text = format!(
        "\n### Representative pairs\n\nInstructions per element, and in brackets those of a call of 64 elements.\n\n\
         | cast | {} |\n|---|{}\n",
        heads.join(" | "),
        "---|".repeat(columns.len())
    );
    for &(from, to) in PAIRS {
        let mode = Mode::of(from, to)[0];
        let figure = |(run, tier): &(&Results, Tier)| {
            let here = |count: &&Count| count.key() == (from.name(), to.name(), mode, tier.name());
            let show = |c: &Count| format!("{:.3} ({})", c.instructions_per_element, c.instructions_of_call);
            run.counts.iter().find(here).map_or("-".into(), show)
        };
        let figures: Vec<String> = columns.iter().map(figure).collect();
        let _ = writeln!(text, "| {from} -> {to} | {} |", figures.join(" | "));
    }
    text
}

/// The casts that take the most instructions on the strongest tier of each target.
fn longest(runs: &[&Results]) -> String {
    const MOST: usize = 5;
    let mut text = format!(
        "\n### The {MOST} casts with the most instructions per element\n\n| target, tier | casts |\n|---|---|\n"
    );
    for run in runs {
        let Some(tier) = tiers(run).last().copied() else { continue };
        let mut list: Vec<&Count> = of(run, tier).collect();
        list.sort_by(|a, b| b.instructions_per_element.total_cmp(&a.instructions_per_element));
        let casts: Vec<String> = list
            .iter()
            .take(MOST)
            .map(|count| format!("{} {:.2}", count.pair(), count.instructions_per_element))
            .collect();
        let _ = writeln!(text, "| {}, {tier} | {} |", name(run), casts.join("; "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{count::tests::count, machine::Machine};

    fn run(target: &str, counts: Vec<Count>) -> Results {
        let machine = Machine { target: target.into(), ..Machine::default() };
        Results { machine, counts, ..Results::default() }
    }

    #[test]
    fn ratios_are_listed_worst_first() {
        let counts = vec![
            count("float32", "bool", Tier::Scalar, 8.0),
            count("float32", "bool", Tier::Neon, 2.0),
            count("int8", "bool", Tier::Scalar, 1.0),
            count("int8", "bool", Tier::Neon, 4.0),
            count("float32", "float64", Tier::Neon, 4.0),
        ];
        let arm = run("aarch64-unknown-linux-gnu", counts);
        let z = run("s390x-unknown-linux-gnu", vec![count("float32", "bool", Tier::Scalar, 9.0)]);
        let text = section(&[&arm, &z]);
        // The geometric mean of 1/4 and 4, the worst, and one that is not better.
        let row = "| aarch64-unknown-linux-gnu | scalar neon | 2 | 1.000 | 4.00 | 1 |";
        for part in
            [row, "### aarch64: neon / scalar", "| s390x-unknown-linux-gnu | scalar | 1 | - | - | - |"]
        {
            assert!(text.contains(part), "no {part:?} in {text}");
        }
        let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part:?} in {text}"));
        assert!(
            place("| int8 -> bool | narrow | 4.000 | 1.000 | 4.00 |")
                < place("| float32 -> bool | narrow | 2.000")
        );
        assert!(text.contains("| float32 -> bool | 8.000 (512) | 2.000 (128) | 9.000 (576) |"), "{text}");
        assert!(text.contains("| float32 -> float64 | - | 4.000 (256) | - |"), "{text}");
        assert_eq!(section(&[]), "");
    }
}
