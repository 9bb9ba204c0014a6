//! The counts of two versions as a comment on a pull request.
//!
//! Counts are exact, so the comment is the same on every machine with the same compiler: no runner's noise is in it.

use super::Count;
use crate::report::geometric_mean;
use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write,
};

/// A figure of a cast before and after.
struct Change {
    cast: String,
    unit: &'static str,
    before: f64,
    after: f64,
}

impl Change {
    fn ratio(&self) -> f64 {
        self.after / self.before
    }
}

/// The figures of casts that both sides have, by tier.
fn changes<'a>(before: &[Count], after: &'a [Count]) -> BTreeMap<&'a str, Vec<Change>> {
    let old: HashMap<_, &Count> = before.iter().map(|count| (count.key(), count)).collect();
    let mut tiers: BTreeMap<&str, Vec<Change>> = BTreeMap::new();
    for count in after {
        let Some(old) = old.get(&count.key()) else { continue };
        let of = |unit, before, after| Change { cast: count.pair(), unit, before, after };
        tiers.entry(&count.tier).or_default().extend([
            of("an element", old.instructions_per_element, count.instructions_per_element),
            of("a call of 64", old.instructions_of_call as f64, count.instructions_of_call as f64),
        ]);
    }
    tiers
}

/// Markdown: for each tier the geometric mean and what changed by more than `margin`, a share; at most `most` rows of each direction.
///
/// # Errors
///
/// If the two sides have no cast in common.
pub fn markdown(before: &[Count], after: &[Count], margin: f64, most: usize) -> Result<String, String> {
    let tiers = changes(before, after);
    if tiers.is_empty() {
        return Err("the two sides have no cast in common".into());
    }
    let mut text = String::from(
        "### Instructions, new divided by old\n\n| tier | figures | geometric mean | grew | shrank |\n|---|---|---|---|---|\n",
    );
    let mut rows = String::new();
    for (tier, mut changes) in tiers {
        let ratios: Vec<f64> = changes.iter().map(Change::ratio).collect();
        changes.sort_by(|a, b| (&a.cast, a.unit).cmp(&(&b.cast, b.unit)));
        let mut grown: Vec<&Change> = changes.iter().filter(|change| change.ratio() > 1.0 + margin).collect();
        grown.sort_by(|a, b| b.ratio().total_cmp(&a.ratio()));
        let mut shrunk: Vec<&Change> =
            changes.iter().filter(|change| change.ratio() < 1.0 - margin).collect();
        shrunk.sort_by(|a, b| a.ratio().total_cmp(&b.ratio()));
        let (mean, grew, shrank) = (geometric_mean(&ratios), grown.len(), shrunk.len());
        writeln!(text, "| {tier} | {} | {mean:.3} | {grew} | {shrank} |", changes.len()).expect("a string");
        for change in grown.iter().take(most).chain(shrunk.iter().take(most)) {
            let Change { cast, unit, before, after } = change;
            let share = 100.0 * (change.ratio() - 1.0);
            writeln!(rows, "| {tier} | {cast} | {unit} | {before} | {after} | {share:+.1} % |")
                .expect("a string");
        }
    }
    if !rows.is_empty() {
        write!(text, "\n| tier | cast | of | before | after | change |\n|---|---|---|---|---|---|\n{rows}")
            .expect("a string");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::tests::count;
    use lanecast::Tier;

    #[test]
    fn lists_what_changed_by_more_than_the_margin() {
        let side = |figures: [f64; 3]| {
            let pairs = [("float32", "bool"), ("int8", "bool"), ("int16", "bool")];
            pairs
                .iter()
                .zip(figures)
                .map(|((from, to), n)| count(from, to, Tier::Neon, n))
                .collect::<Vec<_>>()
        };
        let text = markdown(&side([1.0, 2.0, 4.0]), &side([1.5, 2.0, 2.0]), 0.02, 1).expect("common casts");
        assert!(text.contains("| neon | 6 | 0.909 | 2 | 2 |"), "{text}");
        assert!(text.contains("| neon | float32 -> bool | a call of 64 | 64 | 96 | +50.0 % |"), "{text}");
        assert!(text.contains("| neon | int16 -> bool | a call of 64 | 256 | 128 | -50.0 % |"), "{text}");
        assert!(!text.contains("int8"), "{text}");
        assert_eq!(text.matches(" % |").count(), 2, "one row of each direction: {text}");
        assert!(markdown(&side([1.0, 2.0, 4.0]), &[], 0.02, 1).is_err());
    }
}
