//! Suggestions for a pattern that matches no name.

/// The limit on names compared; a hint about a typing error needs no more.
const MAX_NAMES: usize = 10_000;
/// The limit on characters compared, of a name and of a pattern.
const MAX_CHARS: usize = 200;
/// The limit on names in a message.
const MAX_SHOWN: usize = 3;

/// At most three of `names` that `pattern` may have been meant to match, likeliest first: those that contain its longest run of
/// literal characters with few edits.
pub fn near<'a>(pattern: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = plain(pattern);
    if wanted.is_empty() {
        return Vec::new();
    }
    let enough = wanted.len().div_ceil(3);
    let mut found: Vec<(usize, usize, &str)> = names
        .take(MAX_NAMES)
        .map(|name| (edits(&wanted, name), name.len().abs_diff(pattern.len()), name))
        .filter(|(edits, ..)| *edits <= enough && *edits < wanted.len())
        .collect();
    found.sort();
    found.dedup_by_key(|(.., name)| *name);
    // If one name is a slip away, names that merely share some letters are noise.
    let best = found.first().map_or(0, |(edits, ..)| *edits);
    found.retain(|(edits, ..)| *edits <= best + 1);
    found.truncate(MAX_SHOWN);
    found.into_iter().map(|(.., name)| name).collect()
}

/// The longest run of literal characters, in lower case.
fn plain(pattern: &str) -> Vec<char> {
    let runs = pattern.split(|c| "*?[]{},\\!".contains(c));
    let longest = runs.max_by_key(|run| run.len()).unwrap_or_default();
    small(longest)
}

fn small(text: &str) -> Vec<char> {
    text.chars().take(MAX_CHARS).flat_map(char::to_lowercase).collect()
}

/// The smallest edit distance between `wanted` and any substring of `name` (Sellers' algorithm).
fn edits(wanted: &[char], name: &str) -> usize {
    let mut column: Vec<usize> = (0..=wanted.len()).collect();
    let mut least = wanted.len();
    for c in small(name) {
        // The substring may begin anywhere.
        let mut diagonal = 0;
        column[0] = 0;
        for (i, w) in wanted.iter().enumerate() {
            let substituted = diagonal + usize::from(*w != c);
            diagonal = column[i + 1];
            column[i + 1] = substituted.min(diagonal + 1).min(column[i] + 1);
        }
        least = least.min(column[wanted.len()]);
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised() {
        let names = ["model.embed.weight", "model.norm.weight", "lm_head.weight", "lm_head.bias"];
        let of = |pattern: &str| near(pattern, names.iter().copied());
        assert_eq!(of("lm_haed.weight"), ["lm_head.weight"]);
        assert_eq!(of("LM_HEAD.BIAS"), ["lm_head.bias"]);
        assert_eq!(of("*nrom*"), ["model.norm.weight"]);
        assert_eq!(of("lm_head"), ["lm_head.bias", "lm_head.weight"]);
        assert_eq!(of("quantizer"), [""; 0]);
        assert_eq!(of("*"), [""; 0]);
        assert_eq!(near("a", ["a", "a"].into_iter()), ["a"]);
    }
}
