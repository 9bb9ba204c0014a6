//! `docs/routes.md` lists the routes of all casts, rendered from `CastPlan::explain` and compared with the program.
//!
//! `LANECAST_BLESS=1 cargo test --test library routes_page::` writes the table of byte orders and the sections of the tiers that this CPU has anew. The sections of other
//! tiers, or of CPUs with other features beyond a tier, stay as they are; the test says so.

use lanecast::{ByteOrder, CastOptions, CastPlan, DType, Encoding, FloatRound, IntRound, Kind, Tier};
use std::collections::BTreeMap;
use std::fmt::Write;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/routes.md");

/// Whether a buffer is in a class.
type Class = fn(Encoding) -> bool;

/// Buffers that mostly take the same routes, by a name for all of them.
const CLASSES: &[(&str, Class)] = &[
    ("bool", |b| b.dtype() == DType::Bool),
    ("8-bit integers", |b| is_int(b) && b.dtype().bits() == 8),
    ("integers of 16 to 64 bits", |b| is_int(b) && b.dtype().bits() > 8),
    ("integers below 8 bits", |b| is_int(b) && b.dtype().bits() < 8 && !is_packed(b)),
    ("packed integers", |b| is_int(b) && is_packed(b)),
    ("16-bit floats", |b| b.dtype().kind() == Kind::Float && b.dtype().bits() == 16),
    ("float32 and float64", |b| b.dtype().kind() == Kind::Float && b.dtype().bits() >= 32),
    ("8-bit floats", |b| b.dtype().kind() == Kind::Float && b.dtype().bits() == 8),
    ("floats below 8 bits", |b| b.dtype().kind() == Kind::Float && b.dtype().bits() < 8 && !is_packed(b)),
    ("packed floats", |b| b.dtype().kind() == Kind::Float && is_packed(b)),
    ("complex", |b| b.dtype().kind() == Kind::Complex),
];

fn is_int(buffer: Encoding) -> bool {
    matches!(buffer.dtype().kind(), Kind::SignedInt | Kind::UnsignedInt)
}

fn is_packed(buffer: Encoding) -> bool {
    buffer.bits_per_element() < 8
}

fn buffers() -> Vec<Encoding> {
    let packed = |dtype: &&DType| dtype.bits() < 8;
    let bytes = DType::ALL.iter().map(|dtype| Encoding::new(*dtype));
    bytes.chain(DType::ALL.iter().filter(packed).map(|dtype| Encoding::packed(*dtype))).collect()
}

fn label(buffer: Encoding) -> String {
    format!("{}{}", if is_packed(buffer) { "packed " } else { "" }, buffer.dtype())
}

/// The route of a plan in a few words: its stages and the kinds of its kernels.
fn route(plan: &CastPlan) -> String {
    let explanation = plan.explain();
    let stage = |(i, stage): (usize, &lanecast::ExplainedStage)| match stage.kernel {
        None => stage.name.to_owned(),
        Some(kernel) if i + 1 < explanation.stages.len() && explanation.stages[i + 1].kernel.is_some() => {
            format!("{kernel} to {}", stage.to.dtype())
        }
        Some(kernel) => kernel.to_owned(),
    };
    explanation.stages.iter().enumerate().map(stage).collect::<Vec<_>>().join(", ")
}

/// Sets of buffers, as bits in the order of [`buffers`].
type Set = u64;

/// The class as a set.
fn class(is_in: Class, all: &[Encoding]) -> Set {
    (0..all.len()).filter(|i| is_in(all[*i])).fold(0, |class, i| class | 1 << i)
}

/// The names of a set: classes, with what they lack, and single buffers; or what is not in it, if that is shorter.
fn names(set: Set, all: &[Encoding]) -> String {
    let full = (1 << all.len()) - 1;
    let listed = |set: Set| {
        let mut names = Vec::new();
        for (name, is_in) in CLASSES {
            let class = class(*is_in, all);
            let labels = |set: Set| {
                let bits = (0..all.len()).filter(|i| set >> i & 1 != 0);
                bits.map(|i| label(all[i])).collect::<Vec<_>>().join(", ")
            };
            let (have, lack) = (set & class, class & !set);
            if have == class {
                names.push((*name).to_owned());
            } else if have.count_ones() > 2 * lack.count_ones() {
                names.push(format!("{name} except {}", labels(lack)));
            } else if have != 0 {
                names.push(labels(have));
            }
        }
        names
    };
    let (have, lack) = (listed(set), listed(full & !set));
    match lack.len() {
        0 => "all".into(),
        _ if lack.iter().map(String::len).sum::<usize>() < have.iter().map(String::len).sum() => {
            format!("all except {}", lack.join(", "))
        }
        _ => have.join("; "),
    }
}

/// The rows of a tier under options: a route, sources, targets.
fn rows(tier: Tier, options: &CastOptions) -> Vec<(String, String, String)> {
    let all = buffers();
    let plan = |from, to| CastPlan::with_tier(from, to, options, tier).expect("the tier is available");
    // By route and source, the targets.
    let mut routes: BTreeMap<String, Vec<Set>> = BTreeMap::new();
    let mut aside = vec![0; all.len()];
    for (i, from) in all.iter().enumerate() {
        for (j, to) in all.iter().enumerate() {
            let route = route(&plan(*from, *to));
            if from.dtype() == to.dtype() || route == "copy" {
                aside[i] |= 1 << j;
            } else {
                routes.entry(route).or_insert_with(|| vec![0; all.len()])[i] |= 1 << j;
            }
        }
    }
    // A dtype to itself in each storage, and copies of others.
    let mut rows = Vec::new();
    for (storage, target) in [
        ("itself", (|buffer| buffer) as fn(Encoding) -> Encoding),
        ("itself, one per byte", |buffer| Encoding::new(buffer.dtype())),
        ("itself, packed", |buffer| Encoding::packed(buffer.dtype())),
    ] {
        let mut groups: BTreeMap<String, Set> = BTreeMap::new();
        for (i, from) in all.iter().enumerate() {
            let to = target(*from);
            if storage == "itself" || to != *from && to.dtype() == from.dtype() {
                *groups.entry(route(&plan(*from, to))).or_default() |= 1 << i;
            }
        }
        rows.extend(groups.into_iter().map(|(route, from)| (route, names(from, &all), storage.to_owned())));
    }
    let copies = (0..all.len()).flat_map(|i| (0..all.len()).map(move |j| (i, j)));
    let copies = copies.filter(|(i, j)| aside[*i] >> j & 1 != 0 && all[*i].dtype() != all[*j].dtype());
    let from = copies.fold(0, |set: Set, (i, _)| set | 1 << i);
    if from != 0 {
        let to = "the integer of the other sign".to_owned();
        rows.push(("copy".into(), names(from, &all), to));
    }
    for (route, targets) in routes {
        // Sources with the same targets, but for those that are aside: they join their class if all of it is there.
        let mut groups: Vec<(Set, Set)> = Vec::new();
        for (i, targets) in targets.iter().enumerate().filter(|(_, targets)| **targets != 0) {
            let mut targets = *targets;
            for (_, is_in) in CLASSES {
                let class = class(*is_in, &all);
                if class & !aside[i] != 0 && class & !aside[i] & !targets == 0 {
                    targets |= class;
                }
            }
            match groups.iter_mut().find(|(_, of)| *of == targets) {
                Some((sources, _)) => *sources |= 1 << i,
                None => groups.push((1 << i, targets)),
            }
        }
        rows.extend(groups.into_iter().map(|(from, to)| (route.clone(), names(from, &all), names(to, &all))));
    }
    rows
}

/// The table of some rows.
fn table(rows: &[(String, String, String)]) -> String {
    let mut out = String::from("| route | from | to |\n|---|---|---|\n");
    for (route, from, to) in rows {
        writeln!(out, "| {route} | {from} | {to} |").expect("a string");
    }
    out
}

/// What the section of a tier begins with.
fn title(tier: Tier) -> String {
    match tier.features() {
        [] => format!("## {tier}\n"),
        features => format!("## {tier} with {}\n", features.join(" and ")),
    }
}

/// The section of a tier.
fn section(tier: Tier) -> String {
    let common = rows(tier, &CastOptions::RUST);
    let directed = CastOptions::RUST.with_float_round(FloatRound::TowardZero).with_int_round(IntRound::Floor);
    let mut other = rows(tier, &directed);
    other.retain(|row| !common.contains(row));
    let mut out = format!("{}\n{}", title(tier), table(&common));
    if !other.is_empty() {
        write!(out, "\nFloats rounded toward zero, integers down; rows that differ:\n\n{}", table(&other))
            .expect("a string");
    }
    out
}

const SWAPPED: ByteOrder =
    if matches!(ByteOrder::NATIVE, ByteOrder::Little) { ByteOrder::Big } else { ByteOrder::Little };

/// Casts between byte orders: the examples of the page.
fn orders() -> String {
    let swapped = |dtype: DType| Encoding::new(dtype).with_order(SWAPPED);
    let examples = [
        (swapped(DType::Float32), DType::Float32.into()),
        (swapped(DType::Float32), swapped(DType::Float32)),
        (swapped(DType::Float32), DType::Float16.into()),
        (DType::Float32.into(), swapped(DType::Float16)),
        (swapped(DType::Float32), swapped(DType::Float64)),
        (swapped(DType::Float32), DType::UInt8.into()),
        (swapped(DType::Int64), Encoding::packed(DType::Int4)),
        (swapped(DType::Int64), Encoding::packed(DType::Float4E2M1FN)),
    ];
    let mut out = String::from("| from | to | route | elements of a block |\n|---|---|---|---|\n");
    for (from, to) in examples {
        let plan =
            CastPlan::with_tier(from, to, &CastOptions::RUST, Tier::Scalar).expect("there is always one");
        let name = |buffer: Encoding| {
            let swapped =
                if buffer.order() == SWAPPED && buffer.dtype().size() > 1 { ", swapped" } else { "" };
            format!("{}{swapped}", label(buffer))
        };
        let block = plan.explain().block.map_or(String::from("-"), |block| block.to_string());
        writeln!(out, "| {} | {} | {} | {block} |", name(from), name(to), route(&plan)).expect("a string");
    }
    out
}

/// The page in parts that begin with a heading.
fn parts(page: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for line in page.lines() {
        if line.starts_with("## ") {
            parts.push(String::new());
        }
        let last = parts.last_mut().expect("there is one");
        last.push_str(line);
        last.push('\n');
    }
    parts
}

const ORDERS: (&str, &str) = ("<!-- orders -->\n", "<!-- end of orders -->\n");

#[test]
fn the_page() {
    if DType::ALL.len() < 30 {
        println!("skipped: this build leaves out dtypes of the page");
        return;
    }
    let page = std::fs::read_to_string(PATH).expect("docs/routes.md");
    let bless = std::env::var_os("LANECAST_BLESS").is_some();
    let (head, rest) = page.split_once(ORDERS.0).expect("the marker before the byte orders");
    let (shown, tail) = rest.split_once(ORDERS.1).expect("the marker behind the byte orders");
    assert!(
        bless || shown == orders(),
        "LANECAST_BLESS=1 cargo test --test library routes_page:: writes it anew"
    );
    let mut parts = parts(&format!("{head}{}{}{}{tail}", ORDERS.0, orders(), ORDERS.1));
    for &tier in Tier::ALL {
        let of_tier = |part: &String| part.split_whitespace().nth(1) == Some(tier.name());
        let at = parts.iter().position(|part| part.starts_with("## ") && of_tier(part));
        if !tier.is_available() {
            println!("{tier}: skipped, {}", tier.status());
            continue;
        }
        let want = section(tier);
        match at {
            _ if bless => {
                let at = at.unwrap_or(parts.len());
                parts.splice(at..(at + 1).min(parts.len()), [want + "\n"]);
            }
            Some(at) if !parts[at].starts_with(&title(tier)) => {
                println!("{tier}: skipped, this CPU has other features than the one of the page");
            }
            at => {
                let shown = at.map_or("", |at| parts[at].trim_end());
                assert_eq!(
                    shown,
                    want.trim_end(),
                    "{tier}: LANECAST_BLESS=1 cargo test --test library routes_page:: writes it anew"
                );
            }
        }
    }
    if bless {
        std::fs::write(PATH, parts.concat().trim_end().to_owned() + "\n").expect("docs/routes.md");
    }
}

/// What the page says of byte orders and blocks, of every pair.
#[test]
fn swaps_are_stages_around_the_native_route() {
    for &tier in Tier::ALL.iter().filter(|tier| tier.is_available()) {
        let plan = |from, to| {
            CastPlan::with_tier(from, to, &CastOptions::RUST, tier).expect("the tier is available")
        };
        for from in buffers() {
            for to in buffers() {
                let native = plan(from, to);
                let explanation = native.explain();
                let size = |buffer: Encoding| buffer.dtype().size();
                let inner = explanation.stages.iter().skip(1).map(|stage| size(stage.from)).max();
                let widest = inner.max(Some(size(from).max(size(to)).div_ceil(4)));
                assert!(explanation.block.is_none_or(|block| Some(4096 / block) == widest), "{explanation}");
                for (source, target) in [(true, false), (false, true), (true, true)] {
                    let order =
                        |buffer: Encoding, swap| if swap { buffer.with_order(SWAPPED) } else { buffer };
                    let (source, target) = (order(from, source), order(to, target));
                    let swaps = [source != from, target != to];
                    let route_of = route(&plan(source, target));
                    let swap = |swap| if swap { "swap" } else { "" };
                    let native = route(&native);
                    let want = match (native.as_str(), swaps) {
                        ("copy", [false, false] | [true, true]) => "copy".to_owned(),
                        ("copy", _) => "byte swap".into(),
                        _ => {
                            let parts = [swap(swaps[0]), &native, swap(swaps[1])];
                            let parts = parts.into_iter().filter(|part| !part.is_empty());
                            parts.collect::<Vec<_>>().join(", ")
                        }
                    };
                    assert_eq!(route_of, want, "{tier}, {source} to {target}");
                }
            }
        }
    }
}
