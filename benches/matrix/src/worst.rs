//! The cells that are furthest from their targets, as text.

use crate::results::Results;

/// Which cells to list.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only this class.
    pub class: Option<String>,
    /// Only this tier.
    pub tier: Option<String>,
    /// Only this size.
    pub size: Option<crate::results::Size>,
    /// At most this many.
    pub count: usize,
}

/// A table of the cells with the smallest share of their target.
pub fn worst(results: &Results, filter: &Filter) -> String {
    let wanted = |option: &Option<String>, name: &str| option.as_ref().is_none_or(|wanted| wanted == name);
    let mut cells: Vec<_> = results
        .cells
        .iter()
        .filter(|cell| wanted(&filter.class, &cell.class) && wanted(&filter.tier, &cell.key.tier))
        .filter(|cell| filter.size.is_none_or(|size| size == cell.key.size))
        .filter_map(|cell| Some((cell.reached()?, cell)))
        .collect();
    cells.sort_by(|a, b| a.0.total_cmp(&b.0));
    let missed = cells.iter().filter(|(reached, _)| *reached < 1.0).count();
    let mut text = format!("{missed} of {} cells miss their target\n", cells.len());
    text += "reached fraction target   GB/s  cast\n";
    for (reached, cell) in cells.iter().take(filter.count) {
        let (fraction, target) = (cell.fraction.unwrap_or(f64::NAN), cell.target.unwrap_or(f64::NAN));
        text += &format!(
            "{:6.0}% {fraction:8.3} {target:6.2} {:6.1}  {} [{}]\n",
            100.0 * reached,
            cell.gbps,
            cell.key,
            cell.class
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Size, tests::cell};

    #[test]
    fn the_worst_comes_first() {
        let mut cells = vec![cell("float32", "bool", Size::L1), cell("int8", "bool", Size::L1)];
        cells[1].fraction = Some(0.1);
        let results = Results { cells, ..Results::default() };
        let text = worst(&results, &Filter { count: 1, ..Filter::default() });
        assert!(text.starts_with("1 of 2 cells"), "{text}");
        assert!(text.contains("int8 -> bool") && !text.contains("float32"), "{text}");
    }
}
