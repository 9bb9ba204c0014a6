//! Other libraries on the same pairs.
//!
//! A ratio is the peer's time divided by ours: above 1 we are ahead. Peers that are linked into one program are timed in turn
//! with us on the same buffers. Peers in another process are timed beside a copy of the same bytes there, as we are here, and
//! the quotients are compared: `(peer / its copy) / (cast / our copy)`.

use super::{geometric_mean, smallest};
use crate::{
    cells::Mode,
    machine::Machine,
    measure::median,
    results::{Key, Results, Size, Store},
};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

/// A run of peers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PeerResults {
    /// On what; peers in other languages leave it out.
    #[serde(default)]
    pub machine: Machine,
    /// The versions of the peers.
    pub versions: BTreeMap<String, String>,
    /// The cells.
    pub rows: Vec<PeerCell>,
}

impl PeerResults {
    /// Gives every row of another process the median time of the copies of its size: all copy as many bytes, and a single one is easily
    /// disturbed.
    pub fn steady_copies(&mut self) {
        let mut copies: BTreeMap<Size, Vec<f64>> = BTreeMap::new();
        let rows = self.rows.iter_mut().filter(|row| row.cast_ns.is_none() && row.size.elements().is_none());
        let rows: Vec<&mut PeerCell> = rows.collect();
        for row in &rows {
            copies.entry(row.size).or_default().push(row.copy_ns);
        }
        let medians: BTreeMap<Size, f64> =
            copies.into_iter().map(|(size, all)| (size, median(all))).collect();
        for row in rows {
            row.copy_ns = medians[&row.size];
        }
    }
}

/// A peer's time for a pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeerCell {
    /// Its name.
    pub peer: String,
    /// The dtype of the source, in byte storage.
    pub from: String,
    /// The dtype of the destination, in byte storage.
    pub to: String,
    /// The size.
    pub size: Size,
    /// The tier of ours that it is compared with; without one, the strongest that the matrix has.
    #[serde(default)]
    pub tier: Option<String>,
    /// Elements of a call; peers in the process of ours can leave it out, because they cast as many as we do.
    #[serde(default)]
    pub elements: Option<usize>,
    /// Nanoseconds of one call of the peer.
    pub peer_ns: f64,
    /// Nanoseconds of a copy of the same bytes beside it.
    pub copy_ns: f64,
    /// Nanoseconds of our cast beside it, if it was there.
    #[serde(default)]
    pub cast_ns: Option<f64>,
    /// The share of elements where the peer's answer differs from ours, if both can be compared.
    #[serde(default)]
    pub differing: Option<f64>,
}

/// A peer's ratio on a pair.
#[derive(Clone, Debug, PartialEq)]
struct Ratio<'a> {
    peer: &'a str,
    pair: String,
    size: Size,
    tier: &'a str,
    ratio: f64,
    differing: Option<f64>,
}

/// The section of the report.
pub fn section(matrix: &Results, files: &[PeerResults]) -> String {
    let mut text = String::from(
        "\n## Peers\n\nRatio: the peer's time divided by ours, default options on both sides; above 1 we are ahead. Peers in this \
         process take turns with us on the same buffers; those of Python are timed against a copy of the same bytes in their \
         own process, as we are in ours. The row `best of all` takes the fastest peer of each pair. Where both are bound by memory \
         the ratio is 1 within a few percent of noise, hence the second count. Asked: no pair below 1; for the best of all a \
         geometric mean of 5 in the caches and 3.5 beyond them.\n\n",
    );
    for (peer, version) in files.iter().flat_map(|file| &file.versions) {
        let _ = writeln!(text, "* {peer} {version}");
    }
    let ratios: Vec<Ratio<'_>> =
        files.iter().flat_map(|file| file.rows.iter().filter_map(|row| ratio(matrix, row))).collect();
    text += &summary(&ratios);
    text + &worst(&ratios)
}

fn ratio<'a>(matrix: &'a Results, row: &'a PeerCell) -> Option<Ratio<'a>> {
    let pair = format!("{} -> {}", row.from, row.to);
    let done = |tier, ratio| {
        let (peer, differing) = (&*row.peer, row.differing);
        Some(Ratio { peer, pair: pair.clone(), size: row.size, tier, ratio, differing })
    };
    if let (Some(cast), Some(tier)) = (row.cast_ns, &row.tier) {
        return done(tier, row.peer_ns / cast);
    }
    let tier = match &row.tier {
        Some(tier) => tier,
        None => super::tiers(matrix).into_iter().last()?,
    };
    let (from, to) = (row.from.parse().ok()?, row.to.parse().ok()?);
    let mode: Mode = *Mode::of(from, to).first()?;
    let key = Key {
        from: row.from.clone(),
        from_storage: Store::Byte,
        to: row.to.clone(),
        to_storage: Store::Byte,
        mode,
        tier: tier.to_owned(),
        size: row.size,
    };
    let ours = matrix.cells.iter().find(|cell| cell.key == key)?;
    let tier = &ours.key.tier;
    done(tier, (row.peer_ns / row.copy_ns) / (ours.cast_ns / ours.memcpy_ns))
}

/// Per peer and size: how many pairs, the smallest ratio, the mean, how often it is ahead of us.
fn summary(ratios: &[Ratio<'_>]) -> String {
    let mut text = String::from(
        "\n| peer | our tier | size | pairs | smallest | geometric mean | below 1 (0.95) | answers differ |\n",
    );
    text += "|---|---|---|---|---|---|---|---|\n";
    let groups: BTreeSet<(&str, &str)> = ratios.iter().map(|ratio| (ratio.peer, ratio.tier)).collect();
    for (peer, tier) in groups {
        for size in sizes(ratios) {
            let own: Vec<&Ratio<'_>> =
                ratios.iter().filter(|r| (r.peer, r.tier, r.size) == (peer, tier, size)).collect();
            text += &line(peer, tier, size, &own);
        }
    }
    let tiers: BTreeSet<&str> = ratios.iter().map(|ratio| ratio.tier).collect();
    for tier in tiers {
        for size in sizes(ratios) {
            let mut best: BTreeMap<&str, &Ratio<'_>> = BTreeMap::new();
            for ratio in ratios.iter().filter(|ratio| ratio.size == size && ratio.tier == tier) {
                let slot = best.entry(&ratio.pair).or_insert(ratio);
                if ratio.ratio < slot.ratio {
                    *slot = ratio;
                }
            }
            text += &line("best of all", tier, size, &best.into_values().collect::<Vec<_>>());
        }
    }
    text
}

fn line(peer: &str, tier: &str, size: Size, own: &[&Ratio<'_>]) -> String {
    if own.is_empty() {
        return String::new();
    }
    let values: Vec<f64> = own.iter().map(|ratio| ratio.ratio).collect();
    let below = |limit: f64| values.iter().filter(|value| **value < limit).count();
    let (behind, clearly) = (below(1.0), below(0.95));
    let differ = own.iter().filter(|ratio| ratio.differing.is_some_and(|share| share > 0.0)).count();
    let compared = own.iter().filter(|ratio| ratio.differing.is_some()).count();
    let differ = if compared > 0 { format!("{differ} of {compared}") } else { "-".into() };
    format!(
        "| {peer} | {tier} | {size} | {} | {:.2} | {:.2} | {behind} ({clearly}) | {differ} |\n",
        own.len(),
        smallest(&values),
        geometric_mean(&values)
    )
}

/// The smallest ratios: all below 1, and at least ten.
fn worst(ratios: &[Ratio<'_>]) -> String {
    let mut sorted: Vec<&Ratio<'_>> = ratios.iter().collect();
    sorted.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    let behind = sorted.iter().filter(|ratio| ratio.ratio < 1.0).count();
    let mut text = format!("\nThe smallest ratios ({behind} of {} are below 1):\n\n", sorted.len());
    text += "| ratio | pair | peer | our tier | size |\n|---|---|---|---|---|\n";
    for ratio in sorted.iter().take(behind.max(10)) {
        let Ratio { peer, pair, size, tier, ratio, .. } = ratio;
        let _ = writeln!(text, "| {ratio:.2} | {pair} | {peer} | {tier} | {size} |");
    }
    text
}

fn sizes(ratios: &[Ratio<'_>]) -> BTreeSet<Size> {
    ratios.iter().map(|ratio| ratio.size).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::cell;

    fn row(peer: &str, peer_ns: f64, cast_ns: Option<f64>) -> PeerCell {
        PeerCell {
            peer: peer.into(),
            from: "float32".into(),
            to: "bool".into(),
            size: Size::L1,
            tier: cast_ns.map(|_| "avx2".into()),
            elements: None,
            peer_ns,
            copy_ns: 20.0,
            cast_ns,
            differing: None,
        }
    }

    #[test]
    fn both_kinds_of_ratio() {
        // Ours: 60 ns beside a copy of 40 ns.
        let matrix = Results { cells: vec![cell("float32", "bool", Size::L1)], ..Results::default() };
        let near = row("near", 30.0, Some(60.0));
        assert_eq!(ratio(&matrix, &near).map(|r| r.ratio), Some(0.5));
        let far = row("far", 90.0, None);
        assert_eq!(ratio(&matrix, &far).map(|r| (r.ratio, r.tier)), Some((3.0, "avx2")));
        let text = section(&matrix, &[PeerResults { rows: vec![far, near], ..PeerResults::default() }]);
        assert!(text.contains("(1 of 2 are below 1)"), "{text}");
        assert!(text.contains("| best of all | avx2 | l1 | 1 | 0.50 |"), "{text}");
    }

    #[test]
    fn a_disturbed_copy_changes_no_ratio() {
        let copy = |copy_ns| PeerCell { copy_ns, ..row("far", 90.0, None) };
        let near = PeerCell { copy_ns: 7.0, ..row("near", 90.0, Some(60.0)) };
        let mut file =
            PeerResults { rows: vec![copy(20.0), copy(55.0), copy(21.0), near], ..PeerResults::default() };
        file.steady_copies();
        let copies: Vec<f64> = file.rows.iter().map(|row| row.copy_ns).collect();
        assert_eq!(copies, [21.0, 21.0, 21.0, 7.0], "the last one is in our process");
    }

    #[test]
    fn files_of_other_languages_leave_things_out() {
        let json = r#"{"versions": {"numpy": "2.0"}, "rows": [{"peer": "numpy", "from": "float32", "to": "bool",
            "size": "l1", "peer_ns": 1.5, "copy_ns": 2.0}]}"#;
        let file: PeerResults = serde_json::from_str(json).expect("the form that the script writes");
        assert_eq!(file.rows[0].cast_ns, None);
    }
}
