//! The page of `--html`: one file without scripts, which needs no network. A map has a row for each layer and a column for each module.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    path::Path,
};

use lanecast_checkpoint::{Comparison, Difference};

use super::{cells, configurations, key_cells, number};
use crate::text;

const STYLE: &str = include_str!("page.css");

/// The relative errors at the two ends of the colours, as powers of ten.
const COLOURS: [f64; 2] = [-8.0, 0.0];

/// The page, whose tensors are sorted by their errors.
pub fn page(found: &Comparison, a: &Path, b: &Path) -> String {
    let (a, b) = (escape(&a.display().to_string()), escape(&b.display().to_string()));
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>{a} and {b}</title>\n<style>\n{STYLE}</style>\n<h1>{a} against {b}</h1>\n<p>{}</p>\n",
        escape(&super::summary(found))
    );
    out.push_str(&map(&found.tensors));
    out.push_str("<h2>Tensors by relative error</h2>\n<div class=\"wide\"><table>\n<thead><tr>");
    let head =
        ["name", "shape", "A", "B", "largest", "mean", "relative", "SQNR dB", "cosine", "ulps", "differ"];
    out.extend(head.map(|cell| format!("<th>{cell}</th>")));
    out.push_str("</tr></thead>\n<tbody>\n");
    for tensor in &found.tensors {
        let shape = format!("{:?}", tensor.shape);
        let _ = write!(out, "<tr><th>{}</th>", escape(&text::shown(&tensor.name)));
        for cell in [shape, tensor.a.clone(), tensor.b.clone()] {
            let _ = write!(out, "<td>{}</td>", escape(&cell));
        }
        for (i, cell) in cells(tensor).iter().enumerate() {
            let colour = if i == 2 { colour(tensor) } else { String::new() };
            let _ = write!(out, "<td{colour}>{}</td>", escape(cell));
        }
        let _ = writeln!(out, "<td>{}</td></tr>", tensor.different);
    }
    out.push_str("</tbody>\n</table></div>\n");
    let others: Vec<String> =
        found.incomparable.iter().map(|of| format!("{}: {} and {}", of.name, of.a, of.b)).collect();
    for (title, names) in
        [("Incomparable", &others), ("Only in A", &found.only_a), ("Only in B", &found.only_b)]
    {
        if !names.is_empty() {
            let items: String =
                names.iter().map(|name| format!("<li>{}</li>\n", escape(&text::shown(name)))).collect();
            let _ = write!(out, "<h2>{title}</h2>\n<ul>\n{items}</ul>\n");
        }
    }
    for (title, keys) in configurations(found) {
        let _ = write!(
            out,
            "<h2>{title}</h2>\n<div class=\"wide\"><table>\n<thead><tr><th>key</th><th>A</th><th>B</th></tr></thead>\n<tbody>\n"
        );
        for key in keys {
            let [key, a, b] = key_cells(key).map(|cell| escape(&cell));
            let _ = writeln!(out, "<tr><th>{key}</th><td>{a}</td><td>{b}</td></tr>");
        }
        out.push_str("</tbody>\n</table></div>\n");
    }
    out.push_str("</html>\n");
    out
}

/// The layer of a tensor and its module in the layer: the number behind the first dot stays, and later ones, the numbers of experts, become `*`.
fn place(name: &str) -> Option<((&str, u64), String)> {
    let parts: Vec<&str> = name.split('.').collect();
    let at = parts.iter().position(|part| part.parse::<u64>().is_ok())?;
    let number = parts[at].parse().ok()?;
    let start: usize = parts[..at].iter().map(|part| part.len() + 1).sum();
    let rest = parts[at + 1..].iter().map(|part| if part.parse::<u64>().is_ok() { "*" } else { part });
    let module = rest.collect::<Vec<_>>().join(".");
    let module = module.strip_suffix(".weight").unwrap_or(&module).to_owned();
    Some(((name[..start].trim_end_matches('.'), number), module))
}

/// The map of layers. A cell has the largest relative error of its tensors.
fn map(tensors: &[Difference]) -> String {
    // The tensors come with the largest errors first.
    let mut worst: BTreeMap<_, BTreeMap<String, (&Difference, usize)>> = BTreeMap::new();
    let mut columns = BTreeSet::new();
    for tensor in tensors {
        let Some((layer, module)) = place(&tensor.name) else { continue };
        columns.insert(module.clone());
        worst.entry(layer).or_default().entry(module).or_insert((tensor, 0)).1 += 1;
    }
    if worst.is_empty() {
        return String::new();
    }
    let [low, high] = COLOURS.map(|power| number(10_f64.powf(power)));
    let mut out = format!(
        "<h2>Layers and modules</h2>\n<p>The relative error of each tensor, coloured from {low} to {high} on a logarithmic scale; of several tensors, the largest.</p>\n<div class=\"wide\"><table class=\"map\">\n<thead><tr><th>layer</th>"
    );
    out.extend(columns.iter().map(|module| format!("<th>{}</th>", escape(&text::shown(module)))));
    out.push_str("</tr></thead>\n<tbody>\n");
    for ((stack, layer), row) in &worst {
        let _ = write!(out, "<tr><th>{} {layer}</th>", escape(&text::one_line(stack)));
        for module in &columns {
            match row.get(module) {
                None => out.push_str("<td></td>"),
                Some((tensor, n)) => {
                    let title =
                        format!("{}, {}", text::shown(&tensor.name), text::count(*n as u64, "tensor"));
                    let (colour, title) = (colour(tensor), escape(&title));
                    let _ = write!(out, "<td{colour} title=\"{title}\">{}</td>", shown(tensor));
                }
            }
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
    out
}

/// The relative error for a cell.
fn shown(tensor: &Difference) -> String {
    if tensor.not_finite > 0 { "NaN".to_owned() } else { number(tensor.relative) }
}

/// The attributes that colour a cell by the relative error.
fn colour(tensor: &Difference) -> String {
    if tensor.different == 0 {
        return " class=\"equal\"".to_owned();
    }
    let [low, high] = COLOURS;
    let part = match tensor.not_finite > 0 || tensor.relative.is_nan() {
        true => 1.0,
        false => ((tensor.relative.log10() - low) / (high - low)).clamp(0.0, 1.0),
    };
    format!(" class=\"error\" style=\"--e:{:.0}\"", 100.0 * part)
}

/// Text for an element or an attribute.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_have_places_in_the_map() {
        let of = |stack, layer, module: &str| Some(((stack, layer), module.to_owned()));
        assert_eq!(place("model.layers.12.mlp.up_proj.weight"), of("model.layers", 12, "mlp.up_proj"));
        assert_eq!(place("layers.0.ffn.experts.7.w1.weight"), of("layers", 0, "ffn.experts.*.w1"));
        assert_eq!(place("3.bias"), of("", 3, "bias"));
        assert_eq!(place("lm_head.weight"), None);
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("<a href='x'>&\"</a>"), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;&lt;/a&gt;");
    }
}
