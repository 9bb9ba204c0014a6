//! `config.json` with another quantization or none: members are removed from the text and set in it, and all else stays byte for byte.

use std::ops::Range;

use serde_json::Value;

/// Members that describe quantization, at any level. The value of `quantization` is an object; other programs may have a text there.
fn is_quantization(key: &str, value: &str) -> bool {
    matches!(key, "quantization_config" | "compression_config" | "expert_dtype")
        || key == "quantization" && value.starts_with('{')
}

/// The `model_type` of a configuration, or of its text model.
pub(crate) fn model_type(config: &Value) -> Option<&str> {
    let of = |config: &'_ Value| config.get("model_type").is_some();
    let place = if of(config) { config } else { config.get("text_config")? };
    place.get("model_type")?.as_str()
}

/// The text of a configuration, which is valid JSON, without quantization and with this dtype.
pub(crate) fn plain(text: &str, dtype: &str) -> String {
    with(text, dtype, is_quantization)
}

/// The text of a configuration, which is valid JSON, with this dtype.
pub(crate) fn with_dtype(text: &str, dtype: &str) -> String {
    with(text, dtype, |_, _| false)
}

/// The text with this dtype, and without some members.
fn with(text: &str, dtype: &str, is_removed: Removed) -> String {
    let (start, Scan { mut edits, named, kept, .. }) = Scan::of(text, Some(dtype), is_removed);
    if !named && text[start..].starts_with('{') {
        // Before the first member, with its indentation.
        let first = start + 1;
        let indent: String = text[first..].chars().take_while(|c| c.is_ascii_whitespace()).collect();
        let comma = if kept { "," } else { "" };
        edits.push((first..first, format!("{indent}\"dtype\": \"{dtype}\"{comma}")));
    }
    edited(text, edits)
}

/// The text of a configuration, which is a valid JSON object, with this description of the quantization instead of others.
pub(crate) fn quantized(text: &str, quantization: &Value) -> String {
    let (start, Scan { edits, .. }) = Scan::of(text, None, is_quantization);
    let plain = edited(text, edits);
    let Some(end) = plain.rfind('}') else { return plain };
    let indent: String = plain[start + 1..].chars().take_while(|c| c.is_ascii_whitespace()).collect();
    let value = match indent.contains('\n') {
        true => format!("{quantization:#}").replace('\n', &indent),
        false => quantization.to_string(),
    };
    let (before, closing) = (plain[..end].trim_end(), &plain[plain[..end].trim_end().len()..]);
    let (comma, indent) = match before.ends_with('{') {
        true => ("", String::new()),
        false => (",", if indent.is_empty() { " ".to_owned() } else { indent }),
    };
    format!("{before}{comma}{indent}\"quantization_config\": {value}{closing}")
}

/// The text with edits, which do not overlap.
fn edited(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut out, mut at) = (String::new(), 0);
    for (range, with) in edits {
        out.push_str(&text[at..range.start]);
        out.push_str(&with);
        at = range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// Whether a member, of this key and value, is removed.
type Removed = fn(&str, &str) -> bool;

struct Member {
    /// From the key to the end of the value.
    all: Range<usize>,
    removed: bool,
}

/// A walk over valid JSON.
struct Scan<'t> {
    text: &'t str,
    edits: Vec<(Range<usize>, String)>,
    /// What dtypes become, unless they stay.
    dtype: Option<&'t str>,
    is_removed: Removed,
    /// Whether the outermost object names a dtype.
    named: bool,
    /// Whether the outermost object keeps a member.
    kept: bool,
}

impl<'t> Scan<'t> {
    /// The place of the outermost value, and a walk that has passed it.
    fn of(text: &'t str, dtype: Option<&'t str>, is_removed: Removed) -> (usize, Self) {
        let mut scan = Self { text, edits: Vec::new(), dtype, is_removed, named: false, kept: false };
        let start = scan.space(0);
        scan.value(start, 0);
        (start, scan)
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// The first byte from `at` on that is no space.
    fn space(&self, at: usize) -> usize {
        at + self.text.as_bytes()[at..].iter().take_while(|c| c.is_ascii_whitespace()).count()
    }

    /// The end of the text that begins at `at`.
    fn string(&self, at: usize) -> usize {
        let (mut i, bytes) = (at + 1, self.text.as_bytes());
        while i < bytes.len() && bytes[i] != b'"' {
            i += if bytes[i] == b'\\' { 2 } else { 1 };
        }
        i + 1
    }

    /// The end of the value that begins at `at`.
    fn value(&mut self, at: usize, depth: usize) -> usize {
        match self.byte(at) {
            b'{' => self.object(at, depth),
            b'[' => {
                let mut i = self.space(at + 1);
                while self.byte(i) != b']' && i < self.text.len() {
                    i = self.value(i, depth + 1);
                    i = self.space(i);
                    if self.byte(i) == b',' {
                        i = self.space(i + 1);
                    }
                }
                i + 1
            }
            b'"' => self.string(at),
            _ => {
                let scalar = |c: &u8| !c.is_ascii_whitespace() && !matches!(c, b',' | b']' | b'}');
                // Something is passed even where the text is not JSON.
                at + self.text.as_bytes()[at..].iter().take_while(|c| scalar(c)).count().max(1)
            }
        }
    }

    fn object(&mut self, at: usize, depth: usize) -> usize {
        let mut members: Vec<Member> = Vec::new();
        let mut i = self.space(at + 1);
        while self.byte(i) == b'"' {
            let key_end = self.string(i);
            let key: String = serde_json::from_str(&self.text[i..key_end]).unwrap_or_default();
            let value = self.space(self.space(key_end) + 1);
            let before = self.edits.len();
            let end = self.value(value, depth + 1);
            let removed = (self.is_removed)(&key, &self.text[value..end]);
            if removed {
                self.edits.truncate(before);
            } else if let (Some(dtype), "dtype" | "torch_dtype", b'"' | b'n') =
                (self.dtype, key.as_str(), self.byte(value))
            {
                self.named |= depth == 0;
                self.edits.push((value..end, format!("\"{dtype}\"")));
            }
            members.push(Member { all: i..end, removed });
            i = self.space(end);
            if self.byte(i) == b',' {
                i = self.space(i + 1);
            }
        }
        self.kept |= depth == 0 && members.iter().any(|member| !member.removed);
        self.remove(&members);
        i + 1
    }

    /// Removes members, and the commas that they leave.
    fn remove(&mut self, members: &[Member]) {
        let mut kept: Option<usize> = None;
        let mut first: Option<usize> = None;
        for member in members {
            match (member.removed, first) {
                (true, None) => first = Some(member.all.start),
                (false, Some(start)) => {
                    self.edits.push((start..member.all.start, String::new()));
                    first = None;
                }
                _ => {}
            }
            if !member.removed {
                kept = Some(member.all.end);
            }
        }
        if let (Some(start), Some(last)) = (first, members.last()) {
            self.edits.push((kept.unwrap_or(start)..last.all.end, String::new()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_quantization_and_dtypes_change() {
        let cases = [
            (
                r#"{"a": 1e-05, "quantization_config": {"x": [1, {"y": "}"}]}, "dtype": "float16"}"#,
                r#"{"a": 1e-05, "dtype": "bfloat16"}"#,
            ),
            (
                r#"{"dtype": "x", "quantization": {"bits": 4}, "expert_dtype": "fp4"}"#,
                r#"{"dtype": "bfloat16"}"#,
            ),
            (r#"{"quantization_config": 1, "torch_dtype": "x"}"#, r#"{"torch_dtype": "bfloat16"}"#),
            (
                "{\n  \"text_config\": {\n    \"dtype\": \"x\",\n    \"quantization_config\": {}\n  },\n  \"b\": [ ]\n}\n",
                "{\n  \"dtype\": \"bfloat16\",\n  \"text_config\": {\n    \"dtype\": \"bfloat16\"\n  },\n  \"b\": [ ]\n}\n",
            ),
            (
                r#"{"quantization": "q", "mamba_ssm_dtype": "float32", "dtype": "\"\\"}"#,
                r#"{"quantization": "q", "mamba_ssm_dtype": "float32", "dtype": "bfloat16"}"#,
            ),
            ("{}", r#"{"dtype": "bfloat16"}"#),
            (r#"{"quantization_config": {}}"#, r#"{"dtype": "bfloat16"}"#),
            (
                r#"{"layers": [{"quantization_config": {}}], "dtype": "x"}"#,
                r#"{"layers": [{}], "dtype": "bfloat16"}"#,
            ),
            (r#"{"dtype": null}"#, r#"{"dtype": "bfloat16"}"#),
        ];
        for (before, after) in cases {
            assert_eq!(plain(before, "bfloat16"), after);
        }
    }

    #[test]
    fn a_quantization_replaces_others_and_all_else_stays() {
        let of = serde_json::json!({ "quant_method": "fp8" });
        let cases = [
            (
                r#"{"a": 1e-05, "dtype": "float16"}"#,
                r#"{"a": 1e-05, "dtype": "float16", "quantization_config": {"quant_method":"fp8"}}"#,
            ),
            (
                r#"{"quantization_config": {"x": 1}, "b": {"expert_dtype": "fp4", "c": 1}}"#,
                r#"{"b": {"c": 1}, "quantization_config": {"quant_method":"fp8"}}"#,
            ),
            (
                "{\n  \"a\": [1]\n}\n",
                "{\n  \"a\": [1],\n  \"quantization_config\": {\n    \"quant_method\": \"fp8\"\n  }\n}\n",
            ),
            ("{}", r#"{"quantization_config": {"quant_method":"fp8"}}"#),
        ];
        for (before, after) in cases {
            assert_eq!(quantized(before, &of), after);
        }
    }

    #[test]
    fn quantization_stays_where_only_the_dtype_changes() {
        let before = r#"{"quantization_config": {"dtype": "x"}, "torch_dtype": "float16", "mamba_ssm_dtype": "float32"}"#;
        let after = r#"{"quantization_config": {"dtype": "bfloat16"}, "torch_dtype": "bfloat16", "mamba_ssm_dtype": "float32"}"#;
        assert_eq!(with_dtype(before, "bfloat16"), after);
    }
}
