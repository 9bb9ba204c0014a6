//! Parses the names of dtypes, and finds the names nearest to an unknown one.

use super::DType;
use crate::dtype::UnknownName;
use alloc::vec::Vec;
use core::str::FromStr;

impl FromStr for DType {
    type Err = UnknownName;

    /// The dtype with this canonical name or alias, in any letter case.
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let found = DType::EVERY.iter().find(|dtype| dtype.names().any(|n| n.eq_ignore_ascii_case(name)));
        if let Some(dtype) = found {
            return Ok(*dtype);
        }
        // A long name cannot be similar, and computing its distance would take quadratic time.
        let mut near: Vec<(usize, &'static str)> = Vec::new();
        // Two edits turn any two letters into `i8`.
        let most = 2.min(name.len() / 2);
        if name.len() <= 32 {
            let lower = name.to_ascii_lowercase();
            for dtype in DType::EVERY {
                let best = dtype.names().map(|n| edit_distance(&lower, n)).min().unwrap_or(usize::MAX);
                if best <= most {
                    // The standard library's sort would be larger than all other code of this function.
                    let place = near.partition_point(|other| *other < (best, dtype.name()));
                    near.insert(place, (best, dtype.name()));
                }
            }
            near.truncate(3);
        }
        let near = near.into_iter().map(|(_, n)| n).collect();
        Err(UnknownName { near, ..UnknownName::new("dtype", name, Vec::new()) })
    }
}

/// The fewest insertions, deletions and substitutions of bytes that turn `a` into `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    #[cfg_attr(miri, ignore = "safe code over text, a fifth of the time of all tests there")]
    fn unknown_names_suggest_near_ones() {
        let error = "float8_e4m3fm".parse::<DType>().unwrap_err();
        assert_eq!(error.near, ["float8_e4m3fn", "float8_e4m3"]);
        assert!(error.to_string().contains("\"float8_e4m3fm\"; did you mean float8_e4m3fn or "), "{error}");
        assert_eq!("floot32".parse::<DType>().unwrap_err().near, ["float32"]);
        assert_eq!("q8".parse::<DType>().unwrap_err().near, ["int8", "uint8"]);
        assert_eq!("bf".parse::<DType>().unwrap_err().near, [""; 0]);
        assert!("quaternion".parse::<DType>().unwrap_err().to_string().contains("DType::ALL"));
        assert!("x".repeat(1 << 10).parse::<DType>().is_err());
        // Words that mean different dtypes to different systems are not accepted as aliases.
        for ambiguous in
            ["float", "int", "long", "f8", "short", "byte", "", "e4m3", "f8e4m3", "F8_E4M3", "fp8_e4m3"]
        {
            assert!(ambiguous.parse::<DType>().is_err(), "{ambiguous}");
        }
    }
}
