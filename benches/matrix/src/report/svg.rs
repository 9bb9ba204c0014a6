//! The heat map: one square per pair, the source's row and the destination's column, its colour the fraction of the limit.
//!
//! Where a pair has several modes, the slowest one is shown. A corner marks a square that misses its target. The colours
//! run from dark to light in one direction, so that they can be told apart in grey and by every kind of eye.

use crate::results::{Key, Results, Size, Store};
use std::{collections::HashMap, fmt::Write as _};

/// A square's value, and whether a mode of the pair misses its target.
#[derive(Clone, Copy)]
struct Square {
    fraction: f64,
    missed: bool,
}

const SIDE: usize = 22;
const LEFT: usize = 130;
const TOP: usize = 150;

/// The heat map of a tier at a size; `None` if the run has no such cell.
pub fn heat_map(results: &Results, tier: &str, size: Size) -> Option<String> {
    let mut squares: HashMap<(String, String), Square> = HashMap::new();
    for cell in results.cells.iter().filter(|cell| cell.key.tier == tier && cell.key.size == size) {
        let Some(fraction) = cell.fraction else { continue };
        let missed = cell.reached().is_some_and(|reached| reached < 1.0);
        let square = squares.entry(sides(&cell.key)).or_insert(Square { fraction, missed });
        *square = Square { fraction: square.fraction.min(fraction), missed: square.missed || missed };
    }
    if squares.is_empty() {
        return None;
    }
    let rows = names(squares.keys().map(|(from, _)| from));
    let columns = names(squares.keys().map(|(_, to)| to));
    Some(draw(&format!("{tier}, {}", describe(size)), &rows, &columns, &squares))
}

fn describe(size: Size) -> &'static str {
    match size {
        Size::L1 => "first cache",
        Size::L2 => "second cache",
        Size::Dram => "larger than the last-level cache",
        _ => "small calls",
    }
}

fn sides(key: &Key) -> (String, String) {
    let side = |name: &str, storage| match storage {
        Store::Byte => name.to_owned(),
        Store::Packed => format!("{name} packed"),
    };
    (side(&key.from, key.from_storage), side(&key.to, key.to_storage))
}

/// The names that occur, in the order of the dtypes, packed ones last.
fn names<'a>(present: impl Iterator<Item = &'a String>) -> Vec<String> {
    let present: std::collections::HashSet<&String> = present.collect();
    let all = lanecast::DType::ALL.iter().map(|dtype| dtype.name().to_owned());
    let packed = lanecast::DType::ALL.iter().map(|dtype| format!("{} packed", dtype.name()));
    all.chain(packed).filter(|name| present.contains(name)).collect()
}

fn draw(
    title: &str,
    rows: &[String],
    columns: &[String],
    squares: &HashMap<(String, String), Square>,
) -> String {
    let (width, height) = (LEFT + SIDE * columns.len() + 20, TOP + SIDE * rows.len() + 70);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"10\">\n\
         <title>{title}: fraction of the pure-traffic loop</title>\n\
         <style>.d, .l {{ font-size: 9px; text-anchor: middle }} .l {{ fill: #ffffff }}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"8\" y=\"22\" font-size=\"15\">{title}</text>\n\
         <text x=\"8\" y=\"40\">fraction of the</text>\n<text x=\"8\" y=\"53\">pure-traffic loop</text>\n\
         <text x=\"{left}\" y=\"{low}\" text-anchor=\"end\">rows from, columns to</text>\n",
        left = LEFT - 6,
        low = TOP - 8,
    );
    for (k, name) in columns.iter().enumerate() {
        let x = LEFT + SIDE * k + SIDE / 2 + 4;
        let y = TOP - 6;
        let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" transform=\"rotate(-90 {x} {y})\">{name}</text>");
    }
    for (r, from) in rows.iter().enumerate() {
        let y = TOP + SIDE * r;
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{from}</text>",
            LEFT - 6,
            y + SIDE / 2 + 4
        );
        for (c, to) in columns.iter().enumerate() {
            let square = squares.get(&(from.clone(), to.clone()));
            draw_square(&mut svg, LEFT + SIDE * c, y, square);
        }
    }
    legend(&mut svg, TOP + SIDE * rows.len() + 20);
    svg + "</svg>\n"
}

fn draw_square(svg: &mut String, x: usize, y: usize, square: Option<&Square>) {
    let inner = SIDE - 1;
    let Some(square) = square else {
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{inner}\" height=\"{inner}\" fill=\"#eeeeee\"/>"
        );
        return;
    };
    let (fill, ink) = colour(square.fraction);
    let percent = (100.0 * square.fraction).round();
    let _ = write!(
        svg,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{inner}\" height=\"{inner}\" fill=\"{fill}\"/>\
         <text x=\"{}\" y=\"{}\" class=\"{ink}\">{percent}</text>",
        x + inner / 2,
        y + SIDE / 2 + 3,
    );
    if square.missed {
        let _ = write!(svg, "<path d=\"M{x} {y}h7l-7 7z\" fill=\"#ff3b30\"/>");
    }
    svg.push('\n');
}

fn legend(svg: &mut String, y: usize) {
    for k in 0..=10 {
        let x = LEFT + 30 * k;
        let (fill, _) = colour(k as f64 / 10.0);
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"30\" height=\"14\" fill=\"{fill}\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            x + 15,
            y + 26,
            10 * k
        );
    }
    let x = LEFT + 350;
    let _ = writeln!(
        svg,
        "<text x=\"{x}\" y=\"{}\">percent; where a pair has modes, the slowest</text>\n\
         <path d=\"M{x} {}h7l-7 7z\" fill=\"#ff3b30\"/><text x=\"{}\" y=\"{}\">below its target</text>",
        y + 10,
        y + 18,
        x + 12,
        y + 26,
    );
}

/// Points of the scale from 0 to 1, evenly spaced: dark blue over green to yellow.
const SCALE: [[f64; 3]; 6] = [
    [68.0, 1.0, 84.0],
    [65.0, 68.0, 135.0],
    [42.0, 120.0, 142.0],
    [34.0, 168.0, 132.0],
    [122.0, 209.0, 81.0],
    [253.0, 231.0, 37.0],
];

/// The colour of a fraction and the style of text on it: dark or light.
fn colour(fraction: f64) -> (String, &'static str) {
    let place = fraction.clamp(0.0, 1.0) * (SCALE.len() - 1) as f64;
    let low = (place as usize).min(SCALE.len() - 2);
    let share = place - low as f64;
    let part = |k: usize| SCALE[low][k] + share * (SCALE[low + 1][k] - SCALE[low][k]);
    let [r, g, b] = [part(0), part(1), part(2)];
    let ink = if 0.299 * r + 0.587 * g + 0.114 * b > 120.0 { "d" } else { "l" };
    (format!("#{:02x}{:02x}{:02x}", r as u8, g as u8, b as u8), ink)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::results::tests::cell;

    /// Every element closed in order, every attribute quoted, no stray markup in text.
    pub(crate) fn assert_well_formed(xml: &str) {
        let mut open = Vec::new();
        let mut rest = xml;
        while let Some(start) = rest.find('<') {
            assert!(!rest[..start].contains(['>', '&']), "stray markup: {}", &rest[..start]);
            let end = start + rest[start..].find('>').expect("a tag ends");
            let tag = &rest[start + 1..end];
            assert_eq!(tag.matches('"').count() % 2, 0, "an open quote: {tag}");
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name), "tags cross");
            } else if !tag.ends_with('/') {
                open.push(tag.split_whitespace().next().expect("a tag has a name"));
            }
            rest = &rest[end + 1..];
        }
        assert!(open.is_empty(), "never closed: {open:?}");
    }

    #[test]
    fn a_map_is_well_formed() {
        let mut cells = vec![cell("float32", "bool", Size::L1), cell("int4", "int8", Size::L1)];
        cells[1].fraction = Some(0.1);
        cells[1].key.from_storage = Store::Packed;
        let results = Results { cells, ..Results::default() };
        let svg = heat_map(&results, "avx2", Size::L1).expect("there are cells");
        assert_well_formed(&svg);
        assert!(svg.contains(">50</text>") && svg.contains(">int4 packed</text>"), "{svg}");
        assert_eq!(svg.matches("#ff3b30").count(), 2, "one miss and its legend");
        assert!(heat_map(&results, "avx2", Size::L2).is_none());
    }

    #[test]
    fn colours_stay_in_the_scale() {
        assert_eq!(colour(-1.0), ("#440154".into(), "l"));
        assert_eq!(colour(7.0), ("#fde725".into(), "d"));
    }
}
