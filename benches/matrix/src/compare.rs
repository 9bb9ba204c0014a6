//! The gate: has a cell become slower?
//!
//! Fractions are compared, not times, so that a slower day of the machine cancels out. What is left is noise, and noise hits
//! another cell every time: with several later runs, only a cell that fell in *all* of them counts.

use crate::results::{Cell, Key, Results};
use std::collections::HashMap;

/// What a comparison found.
#[derive(Debug, Default, PartialEq)]
pub struct Comparison {
    /// Cells that all runs have and that have a fraction.
    pub compared: usize,
    /// Cells that fell by more than the margin, the worst first: the cell, the fraction before, the best one after.
    pub fallen: Vec<(Key, f64, f64)>,
    /// Cells that rose by more than the margin in every later run.
    pub risen: usize,
}

/// Compares later runs with an earlier one. `margin` is a share of the earlier fraction: 0.1 lets it fall by a tenth.
pub fn compare(before: &Results, after: &[Results], margin: f64) -> Comparison {
    let tables: Vec<HashMap<&Key, f64>> = after.iter().map(fractions).collect();
    let mut found = Comparison::default();
    for (key, old) in fractions(before) {
        let new: Vec<f64> = tables.iter().filter_map(|table| table.get(key).copied()).collect();
        if new.is_empty() || new.len() != tables.len() {
            continue;
        }
        found.compared += 1;
        let best = new.iter().copied().fold(f64::MIN, f64::max);
        let worst = new.iter().copied().fold(f64::MAX, f64::min);
        if best < old * (1.0 - margin) {
            found.fallen.push((key.clone(), old, best));
        } else if worst > old * (1.0 + margin) {
            found.risen += 1;
        }
    }
    found.fallen.sort_by(|a, b| (a.2 / a.1).total_cmp(&(b.2 / b.1)).then_with(|| a.0.cmp(&b.0)));
    found
}

fn fractions(results: &Results) -> HashMap<&Key, f64> {
    let fraction = |cell: &'_ Cell| cell.fraction.filter(|fraction| fraction.is_finite());
    results.cells.iter().filter_map(|cell| Some((&cell.key, fraction(cell)?))).collect()
}

impl Comparison {
    /// The findings as text.
    pub fn text(&self, margin: f64) -> String {
        let mut text = format!(
            "{} cells compared: {} fell by more than {:.0} %, {} rose by more\n",
            self.compared,
            self.fallen.len(),
            100.0 * margin,
            self.risen
        );
        for (key, old, new) in &self.fallen {
            text += &format!("  {old:.3} -> {new:.3} ({:+.0} %)  {key}\n", 100.0 * (new / old - 1.0));
        }
        text
    }
}

/// A margin: `10%` or `0.1`.
///
/// # Errors
///
/// If it is neither, or not in 0 .. 1.
pub fn margin(text: &str) -> Result<f64, String> {
    let (digits, unit) = text.strip_suffix('%').map_or((text, 1.0), |digits| (digits, 100.0));
    match digits.trim().parse::<f64>() {
        Ok(value) if (0.0..1.0).contains(&(value / unit)) => Ok(value / unit),
        _ => Err("a margin is a share such as 10% or 0.1".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Size, tests::cell};

    fn run(fractions: [f64; 2]) -> Results {
        let mut cells = vec![cell("float32", "bool", Size::L1), cell("int8", "bool", Size::L2)];
        for (cell, fraction) in cells.iter_mut().zip(fractions) {
            cell.fraction = Some(fraction);
        }
        Results { cells, ..Results::default() }
    }

    #[test]
    fn a_fall_within_the_margin_passes() {
        let found = compare(&run([0.5, 0.8]), &[run([0.46, 1.0])], 0.1);
        assert_eq!((found.compared, found.fallen.len(), found.risen), (2, 0, 1));
    }

    #[test]
    fn a_fall_beyond_it_is_found() {
        let found = compare(&run([0.5, 0.8]), &[run([0.44, 0.8])], 0.1);
        assert_eq!(found.fallen.len(), 1);
        assert!(
            found.text(0.1).contains("0.500 -> 0.440 (-12 %)  float32 -> bool, avx2, l1"),
            "{}",
            found.text(0.1)
        );
    }

    #[test]
    fn it_has_to_fall_in_every_repeat() {
        let before = run([0.5, 0.8]);
        assert!(compare(&before, &[run([0.4, 0.8]), run([0.5, 0.5])], 0.1).fallen.is_empty());
        let found = compare(&before, &[run([0.4, 0.8]), run([0.42, 0.8])], 0.1);
        assert_eq!(found.fallen.iter().map(|(_, _, new)| *new).collect::<Vec<_>>(), [0.42]);
    }

    #[test]
    fn only_cells_of_all_runs_count() {
        let mut less = run([0.1, 0.8]);
        less.cells.remove(0);
        assert_eq!(compare(&run([0.5, 0.8]), &[less], 0.1).compared, 1);
    }

    #[test]
    fn margins() {
        assert_eq!(margin("10%"), Ok(0.1));
        assert_eq!(margin("0.25"), Ok(0.25));
        assert!(margin("10").is_err() && margin("-1%").is_err() && margin("x").is_err());
    }
}
