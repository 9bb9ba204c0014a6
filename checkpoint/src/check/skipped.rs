//! The list of modules that are not quantized, matched as a loader matches names, against the weights that have no codes.
//!
//! Only the names of projections are checked: a loader quantizes those, while it may leave embeddings and norms alone for their class.

use lanecast::DType;

use super::{Finding, Kind, Loader, Severity, Subject};
use crate::{
    checkpoint::Content,
    layouts::{Context, targets::glob, texts},
};

/// How a loader compares an entry of the list with the name of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The whole name.
    Whole,
    /// The beginning of the name up to a dot, or its end.
    Ends,
    /// Consecutive parts of the name between dots, with and without `model.` at the beginning.
    Parts,
    /// The whole name, a part of it, or a pattern with `*` and `?`.
    Globs,
}

/// The rules, by layout and loader. Other pairs have no list, or match it as this crate does.
const RULES: &[(&str, Loader, Rule)] = &[
    ("block fp8", Loader::Vllm, Rule::Whole),
    ("block fp8", Loader::Sglang, Rule::Parts),
    ("block fp8", Loader::Transformers, Rule::Ends),
    ("ModelOpt", Loader::Vllm, Rule::Globs),
    ("ModelOpt", Loader::Sglang, Rule::Parts),
];

/// The lists of a configuration.
const LISTS: &[&str] = &["modules_to_not_convert", "ignore", "exclude_modules"];

impl Rule {
    fn matches(self, entry: &str, module: &str) -> bool {
        let bare = |name: &str| name.strip_prefix("model.").unwrap_or(name).to_owned();
        let dotted = |name: &str| format!(".{name}.");
        match self {
            Self::Whole => entry == module,
            Self::Ends => {
                let rest = module.strip_prefix(entry);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) || module.ends_with(entry)
            }
            Self::Parts => dotted(&bare(module)).contains(&dotted(&bare(entry))),
            Self::Globs => module.contains(entry) || glob(entry, module),
        }
    }
}

/// Adds a finding for each projection that the loader expects to be quantized and is not, or the other way round.
pub(super) fn check(of: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some(loader) = of.loader else { return };
    let layout = of.checkpoint.layout();
    let Some((.., rule)) = RULES.iter().find(|(l, who, _)| (*l, *who) == (layout, loader)) else { return };
    let context = Context::new(&of.checkpoint.source);
    // With an algorithm for each module, modules are named one by one.
    let Some(config) = context.config().filter(|config| config.get("quantized_layers").is_none()) else {
        return;
    };
    let entries: Vec<&str> = LISTS.iter().flat_map(|key| texts(config, key)).collect();
    for (tensor, content) in of.contents() {
        let Some(module) = tensor.name.strip_suffix(".weight").filter(|name| is_projection(name)) else {
            continue;
        };
        let listed = entries.iter().any(|entry| rule.matches(entry, module));
        let what = match content {
            Content::Plain(_) if !listed && is_matrix(&tensor.shape, tensor.dtype) => format!(
                "the weight has no codes, and no entry of the list of plain modules matches \"{module}\" as {} compares names",
                loader.title()
            ),
            Content::Coded(_) if listed => format!(
                "the weight has codes, and an entry of the list of plain modules matches \"{module}\" as {} compares names",
                loader.title()
            ),
            _ => continue,
        };
        let remedy = "list the full names of exactly the modules that are plain";
        findings.push(of.finding(Kind::SkipList, Severity::Error, of.stored(content), what, remedy));
    }
}

fn is_matrix(shape: &[usize], dtype: Option<DType>) -> bool {
    shape.len() == 2 && dtype.is_some_and(|dtype| dtype.finfo().is_some())
}

/// Whether a module is a projection of attention, of an MLP or of an expert, by the last part of its name.
fn is_projection(module: &str) -> bool {
    let part = module.rsplit('.').next().unwrap_or(module);
    part.ends_with("_proj")
        || part.starts_with("kv_a_proj")
        || module.contains("experts.") && part.starts_with('w')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loaders_compare_names_in_their_own_ways() {
        let module = "model.layers.1.mlp.down_proj";
        let rules = [Rule::Whole, Rule::Ends, Rule::Parts, Rule::Globs];
        let matched = |entry: &str| rules.map(|rule| rule.matches(entry, module));
        assert_eq!(matched(module), [true; 4]);
        assert_eq!(matched("model.layers.1"), [false, true, true, true]);
        assert_eq!(matched("layers.1.mlp"), [false, false, true, true]);
        assert_eq!(matched("down_proj"), [false, true, true, true]);
        assert_eq!(matched("model.layers.1*"), [false, false, false, true]);
        assert_eq!(matched("model.layers.11"), [false; 4]);
        assert!(!Rule::Ends.matches("model.layers.1", "model.layers.11.mlp.down_proj"));
    }
}
