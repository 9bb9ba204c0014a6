//! The chart of the README: well-known pairs beside the libraries that have them, as one SVG.
//!
//! A bar is the rate at which a cast reads and writes bytes, on an axis that begins at zero. The rate of a peer is ours divided by the ratio of
//! the times, so peers of other processes are corrected by the copies there, as on the page. A mark shows the rate of the pure-traffic loop.
//! The drawing follows the reader's choice of a light or a dark scheme.

use super::record::{Record, Stored, round};
use crate::results::Size;
use std::fmt::Write as _;

/// The pairs that the chart shows, if they were measured.
const PAIRS: [(&str, &str); 8] = [
    ("float32", "float16"),
    ("float16", "float32"),
    ("float32", "bfloat16"),
    ("bfloat16", "float32"),
    ("float32", "float8_e4m3fn"),
    ("float8_e4m3fn", "bfloat16"),
    ("float32", "int8"),
    ("int64", "float32"),
];
/// Where the footprint is: a cast is neither bound by its call nor by memory there.
const SIZE: Size = Size::L2;
/// At most this many peers of a pair, the fastest ones.
const PEERS: usize = 5;

const WIDTH: f64 = 880.0;
/// Space around everything.
const PAD: f64 = 20.0;
const HEAD: f64 = 92.0;
const GAP: f64 = 30.0;
const BAR: f64 = 15.0;
const STEP: f64 = 19.0;
/// The place of the bars in a panel, and the length of the axis.
const LEFT: f64 = 104.0;
const LONGEST: f64 = 268.0;

/// A bar.
#[derive(Clone, Debug, PartialEq)]
struct Bar {
    name: String,
    /// GB/s.
    rate: f64,
    ours: bool,
}

/// A pair and its bars, ours first, then the fastest peer.
#[derive(Clone, Debug, PartialEq)]
struct Panel {
    title: String,
    limit: Option<f64>,
    bars: Vec<Bar>,
}

/// The chart of the newest record that has peers.
///
/// # Errors
///
/// If no record has a peer on one of the pairs.
pub fn chart(records: &[Stored]) -> Result<String, String> {
    let newest = records.iter().filter(|stored| !stored.record.peers.is_empty());
    let newest = newest.max_by(|a, b| a.record.machine.date.cmp(&b.record.machine.date));
    let record = &newest.ok_or("no record has peers")?.record;
    let panels: Vec<Panel> = PAIRS.iter().filter_map(|(from, to)| panel(record, from, to)).collect();
    if panels.is_empty() {
        return Err(format!("no peer was measured on a pair of the chart at the size {SIZE}"));
    }
    Ok(draw(record, &panels))
}

fn panel(record: &Record, from: &str, to: &str) -> Option<Panel> {
    let tier = record.strongest()?;
    let at = record.default_cast(from, to)?;
    let cast = record.casts[at];
    let bytes = f64::from(record.types[cast.0].bits + record.types[cast.1].bits) / 8.0;
    let block = record.block(tier, SIZE)?;
    let ns = (*block.ns.get(at)?)?;
    let limit = block.fraction.get(at).copied().flatten().map(|fraction| bytes / (ns * fraction));
    let mut peers: Vec<Bar> = record
        .peers
        .iter()
        .filter(|peer| peer.tier == tier)
        .filter_map(|peer| {
            let place = peer.at.iter().position(|&other| other == at)?;
            let ratio = (*peer.sizes.get(&SIZE)?.ratio.get(place)?)?;
            Some(Bar { name: name(&peer.peer, from, to), rate: bytes / ns / ratio, ours: false })
        })
        .collect();
    peers.sort_by(|a, b| b.rate.total_cmp(&a.rate));
    peers.truncate(PEERS);
    let ours = Bar { name: "lanecast".into(), rate: bytes / ns, ours: true };
    let bars = [vec![ours], peers].concat();
    (bars.len() > 1).then(|| Panel { title: format!("{from} → {to}"), limit, bars })
}

/// The name that readers know. NumPy has the small floats from `ml_dtypes`.
fn name(peer: &str, from: &str, to: &str) -> String {
    let plain = ["bool", "int", "uint", "float16", "float32", "float64", "complex"];
    let ml = [from, to].iter().any(|dtype| !plain.iter().any(|name| dtype.starts_with(name)));
    match peer {
        "numpy" if ml => "ml_dtypes".into(),
        "numpy" => "NumPy".into(),
        "torch" => "PyTorch".into(),
        "onnxruntime" => "ONNX Runtime".into(),
        "jax" => "JAX".into(),
        "numkong" => "NumKong".into(),
        _ if peer.starts_with("as loop") => "Rust as loop".into(),
        other => other.into(),
    }
}

/// The end of the axis: the next round number.
fn axis_end(most: f64) -> f64 {
    let power = 10f64.powf(most.log10().floor());
    [1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0]
        .map(|k| k * power)
        .into_iter()
        .find(|end| *end >= most)
        .unwrap_or(10.0 * power)
}

/// Text of an element.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn digits(rate: f64) -> String {
    if rate < 10.0 { format!("{rate:.1}") } else { format!("{rate:.0}") }
}

const STYLE: &str = "text{font:12px system-ui,-apple-system,'Segoe UI',sans-serif;fill:#1b1f24}.k{fill:#ffffff}\
.t{font-size:17px;font-weight:600}.s,.m{fill:#59636e}.p{font-weight:600}.e{text-anchor:end}.m{text-anchor:middle}\
.n{paint-order:stroke;stroke:#ffffff;stroke-width:4px;stroke-linejoin:round}\
.b{fill:#a9b6c3}.o{fill:#0757b8}.l{stroke:#c2410c;stroke-width:2}.g{stroke:#d5dae0;fill:none}\
@media(prefers-color-scheme:dark){text{fill:#e8ebee}.k{fill:#0d1117}.s,.m{fill:#a3adb8}.n{stroke:#0d1117}\
.b{fill:#56657a}.o{fill:#78b4ff}.l{stroke:#fb923c}.g{stroke:#363d46}}";

fn draw(record: &Record, panels: &[Panel]) -> String {
    let rates = panels.iter().flat_map(|panel| panel.bars.iter().map(|bar| bar.rate).chain(panel.limit));
    let end = axis_end(rates.fold(0.0, f64::max));
    let mut body = String::new();
    // Two columns, the panels of a row beside each other.
    let column = (WIDTH - 2.0 * PAD) / 2.0;
    let mut top = HEAD;
    for row in panels.chunks(2) {
        for (k, panel) in row.iter().enumerate() {
            draw_panel(&mut body, panel, PAD + column * k as f64, top, end);
        }
        let bars = row.iter().map(|panel| panel.bars.len()).max().unwrap_or(0);
        top += 22.0 + STEP * bars as f64 + GAP;
    }
    let machine = &record.machine;
    let day = machine.date.split('T').next().unwrap_or_default();
    let commit = machine.commit.get(..12).unwrap_or(&machine.commit);
    let tier = record.strongest().unwrap_or_default();
    let title = "Casts of 512 KiB on one thread, in GB/s read and written: longer is faster";
    let place = escape(&format!("{}, {tier}; {day}, commit {commit}", machine.cpu));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\">\n\
         <title>{title}</title>\n<desc>{desc}</desc>\n<style>{STYLE}</style>\n\
         <rect class=\"k\" width=\"{WIDTH}\" height=\"{height}\" rx=\"8\"/>\n\
         <text class=\"t\" x=\"{PAD}\" y=\"34\">{title}</text>\n\
         <text class=\"s\" x=\"{PAD}\" y=\"56\">{place}</text>\n\
         <path class=\"l\" d=\"M{mark} 45v14\"/><text class=\"s e\" x=\"{right}\" y=\"56\">the same bytes without a cast</text>\n\
         {body}<text class=\"s\" x=\"{PAD}\" y=\"{foot}\">{FOOT}</text>\n</svg>\n",
        desc = description(panels),
        height = top + 16.0,
        mark = WIDTH - PAD - 192.0,
        right = WIDTH - PAD,
        foot = top,
    )
}

const FOOT: &str = "At most five peers of each pair, the fastest ones. Rates of Python packages are corrected by a copy of the same bytes in their \
                    process.";

/// The figures as text, for those who do not see the bars.
fn description(panels: &[Panel]) -> String {
    let panel = |panel: &Panel| {
        let bars: Vec<String> =
            panel.bars.iter().map(|bar| format!("{} {}", bar.name, digits(bar.rate))).collect();
        format!("{}: {}", panel.title, bars.join(", "))
    };
    escape(&panels.iter().map(panel).collect::<Vec<_>>().join("; "))
}

fn draw_panel(body: &mut String, panel: &Panel, x: f64, y: f64, end: f64) {
    let zero = x + LEFT;
    let long = |rate: f64| LONGEST * rate / end;
    let bottom = y + 14.0 + STEP * panel.bars.len() as f64;
    let (title, right) = (escape(&panel.title), zero + LONGEST);
    let _ = writeln!(body, "<text class=\"p\" x=\"{zero}\" y=\"{y}\">{title}</text>");
    let _ = writeln!(body, "<path class=\"g\" d=\"M{zero} {}V{bottom}H{right}\"/>", y + 6.0);
    for share in [0.0, 0.5, 1.0] {
        let (at, label) = (zero + LONGEST * share, round(end * share));
        let _ = writeln!(body, "<text class=\"m\" x=\"{at}\" y=\"{}\">{label}</text>", bottom + 14.0);
    }
    let top = |k: usize| y + 10.0 + STEP * k as f64;
    for (k, bar) in panel.bars.iter().enumerate() {
        let (class, top, width) = (if bar.ours { "o" } else { "b" }, top(k), long(bar.rate));
        let _ = writeln!(
            body,
            "<rect class=\"{class}\" x=\"{zero}\" y=\"{top}\" width=\"{width:.1}\" height=\"{BAR}\"/>"
        );
    }
    if let Some(limit) = panel.limit {
        let _ = writeln!(body, "<path class=\"l\" d=\"M{:.1} {}V{bottom}\"/>", zero + long(limit), y + 6.0);
    }
    for (k, bar) in panel.bars.iter().enumerate() {
        let (class, line) = (if bar.ours { "p e" } else { "e" }, top(k) + 12.0);
        let (name, rate) = (escape(&bar.name), digits(bar.rate));
        let _ = writeln!(
            body,
            "<text class=\"{class}\" x=\"{}\" y=\"{line}\">{name}</text>\
             <text class=\"n\" x=\"{:.1}\" y=\"{line}\">{rate}</text>",
            zero - 8.0,
            zero + long(bar.rate) + 6.0,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        report::svg::tests::assert_well_formed,
        speed::record::{PeerBlock, PeerColumns, tests::record},
    };
    use std::collections::BTreeMap;

    fn with_peer(ns: f64) -> Stored {
        let mut record = record("2026-11-25T01:00Z", 0.05);
        let columns = PeerColumns { ns: vec![Some(ns)], ratio: vec![Some(ns / 0.05)], differing: vec![] };
        record.peers.push(PeerBlock {
            peer: "torch".into(),
            tier: "avx2".into(),
            at: vec![0],
            sizes: BTreeMap::from([(Size::L2, columns)]),
        });
        Stored { name: "machine/day".into(), record }
    }

    #[test]
    fn bars_are_proportional_to_their_rates() {
        let svg = chart(&[with_peer(0.1)]).expect("a chart");
        // 6 bytes in 0.05 and 0.1 ns are 120 and 60 GB/s; the limit is 150, the end of the axis.
        for part in [
            ">120</text>",
            ">60</text>",
            "width=\"214.4\"",
            "width=\"107.2\"",
            "AMD EPYC, avx2; 2026-11-25, commit 0123456789ab",
        ] {
            assert!(svg.contains(part), "no {part:?} in {svg}");
        }
        assert_well_formed(&svg);
        assert!(svg.contains("prefers-color-scheme:dark") && svg.contains("PyTorch"));
    }

    #[test]
    fn without_peers_there_is_no_chart() {
        let none = Stored { name: "machine/day".into(), record: record("2026-11-25T01:00Z", 0.05) };
        assert!(chart(&[none]).is_err());
    }

    #[test]
    fn axes_end_at_a_round_figure() {
        for (most, end) in
            [(121.0, 150.0), (150.0, 150.0), (151.0, 200.0), (7.5, 8.0), (1.0, 1.0), (99.0, 100.0)]
        {
            assert!((axis_end(most) - end).abs() < 1e-9, "{most}: {}", axis_end(most));
        }
    }

    #[test]
    fn small_floats_of_numpy_are_those_of_ml_dtypes() {
        assert_eq!(name("numpy", "float32", "float16"), "NumPy");
        assert_eq!(name("numpy", "float32", "bfloat16"), "ml_dtypes");
        assert_eq!(name("numpy", "float8_e4m3fn", "float32"), "ml_dtypes");
    }
}
