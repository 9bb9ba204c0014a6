//! Which modules a configuration names: `targets` and `ignore` of compressed-tensors, the globs of ModelOpt.

use lanecast_files::Result;
use regex_lite::Regex;

use crate::error::unsupported;

/// A name of modules in compressed-tensors: the whole name, a regular expression that matches from the start, or the class `Linear`, which
/// from names alone is every matrix.
#[derive(Debug)]
pub(super) enum Target {
    Name(String),
    Regex(Regex),
    Linear,
}

impl Target {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let Some(pattern) = text.strip_prefix("re:") else {
            return Ok(if text == "Linear" { Self::Linear } else { Self::Name(text.to_owned()) });
        };
        // As Python's `re.match`: anchored at the start only.
        let regex = Regex::new(&format!("^(?:{pattern})"));
        regex
            .map(Self::Regex)
            .map_err(|e| unsupported(format!("the pattern \"{text}\" is not understood, {e}")))
    }

    /// How well the target fits a module: names first, then patterns, then classes.
    fn rank(&self, module: &str) -> Option<u8> {
        match self {
            Self::Name(name) => (name == module).then_some(0),
            Self::Regex(regex) => regex.is_match(module).then_some(1),
            Self::Linear => Some(2),
        }
    }

    /// The index of the list whose target fits a module best; the first of equals.
    pub(super) fn best<'t>(lists: impl Iterator<Item = &'t Vec<Target>>, module: &str) -> Option<usize> {
        let rank = |list: &Vec<Target>| list.iter().filter_map(|target| target.rank(module)).min();
        lists.enumerate().filter_map(|(i, list)| Some((rank(list)?, i))).min().map(|(_, i)| i)
    }

    /// Whether the target names the module itself, not only its class.
    pub(super) fn names(&self, module: &str) -> bool {
        self.rank(module).is_some_and(|rank| rank < 2)
    }
}

/// Whether `name` fits a pattern with `*` and `?`, as Python's `fnmatch` without classes.
pub(crate) fn glob(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // Where to go on after a mismatch: behind the last `*`, with one more character for it.
    let mut back: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                back = Some((p + 1, n));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => (p, n) = (p + 1, n + 1),
            _ => {
                let Some((after, taken)) = back else { return false };
                back = Some((after, taken + 1));
                (p, n) = (after, taken + 1);
            }
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_before_patterns_and_classes() {
        let parse =
            |texts: &[&str]| texts.iter().map(|text| Target::parse(text).unwrap()).collect::<Vec<_>>();
        let lists = [parse(&["Linear"]), parse(&["re:.*up_proj$"]), parse(&["m.up_proj"])];
        let best = |module: &str| Target::best(lists.iter(), module);
        assert_eq!([best("m.up_proj"), best("n.up_proj"), best("n.up_proj2")], [Some(2), Some(1), Some(0)]);
        assert!(parse(&["re:lm"])[0].names("lm_head") && !parse(&["re:head"])[0].names("lm_head"));
        assert!(!parse(&["lm"])[0].names("lm_head"));
        assert!(Target::parse("re:(?!x)").is_err());
    }

    #[test]
    fn globs_are_those_of_fnmatch() {
        let yes = [
            ("model.layers.0.self_attn*", "model.layers.0.self_attn.q_proj"),
            ("*a*b", "xaab"),
            ("?", "a"),
            ("", ""),
        ];
        assert!(yes.iter().all(|(pattern, name)| glob(pattern, name)));
        let no = [("a", "ab"), ("*a*b", "xaa"), ("?", ""), ("ab*c", "abd")];
        assert!(no.iter().all(|(pattern, name)| !glob(pattern, name)));
    }
}
