//! Names that are near a pattern which matches none.

/// Names that are looked at: a message about a slip needs no more.
const MAX_NAMES: usize = 10_000;
/// Characters of a name, and of a pattern, that are compared.
const MAX_CHARS: usize = 200;
/// Names in a message.
const MAX_SHOWN: usize = 3;

/// At most three of `names` that `pattern` may mean, the likeliest first: those that contain its longest run of plain characters
/// with few edits.
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
    // Beside a slip, what shares some letters is noise.
    let best = found.first().map_or(0, |(edits, ..)| *edits);
    found.retain(|(edits, ..)| *edits <= best + 1);
    found.truncate(MAX_SHOWN);
    found.into_iter().map(|(.., name)| name).collect()
}

/// The longest run of characters that mean themselves, in small letters.
fn plain(pattern: &str) -> Vec<char> {
    let runs = pattern.split(|c| "*?[]{},\\!".contains(c));
    let longest = runs.max_by_key(|run| run.len()).unwrap_or_default();
    small(longest)
}

fn small(text: &str) -> Vec<char> {
    text.chars().take(MAX_CHARS).flat_map(char::to_lowercase).collect()
}

/// The fewest edits that make `wanted` a part of `name` (Sellers' algorithm).
fn edits(wanted: &[char], name: &str) -> usize {
    let mut column: Vec<usize> = (0..=wanted.len()).collect();
    let mut least = wanted.len();
    for c in small(name) {
        // A part may begin anywhere.
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
