//! The keys of two configurations that differ.

use serde::Serialize;
use serde_json::{Map, Number, Value};

/// The keys whose objects describe a quantization, at any level.
const QUANTIZATION: [&str; 3] = ["quantization_config", "quantization", "compression_config"];

/// A key of `config.json` that has two values, or that only one side has.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ConfigDifference {
    /// The path of the key: the names of the objects around it and its own, joined by dots.
    pub key: String,
    /// Its value in `a`; `None` if `a` does not have the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<Value>,
    /// Its value in `b`; `None` if `b` does not have the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b: Option<Value>,
}

/// The keys that differ, in alphabetical order: those outside of the quantization, and those in it. Lists are compared as a whole.
pub(super) fn differences(a: &Value, b: &Value) -> [Vec<ConfigDifference>; 2] {
    let mut out = Found::default();
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => out.objects("", a, b, false),
        _ => out.values(String::new(), Some(a), Some(b), false),
    }
    let Found { mut plain, mut quantization } = out;
    for found in [&mut plain, &mut quantization] {
        found.sort_by(|x, y| x.key.cmp(&y.key));
    }
    [plain, quantization]
}

#[derive(Default)]
struct Found {
    plain: Vec<ConfigDifference>,
    quantization: Vec<ConfigDifference>,
}

impl Found {
    fn objects(&mut self, path: &str, a: &Map<String, Value>, b: &Map<String, Value>, is_quantization: bool) {
        let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
        for key in keys {
            let is_quantization = is_quantization || QUANTIZATION.contains(&key.as_str());
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            self.values(path, a.get(key), b.get(key), is_quantization);
        }
    }

    fn values(&mut self, key: String, a: Option<&Value>, b: Option<&Value>, is_quantization: bool) {
        if let (Some(Value::Object(a)), Some(Value::Object(b))) = (a, b) {
            return self.objects(&key, a, b, is_quantization);
        }
        if let (Some(a), Some(b)) = (a, b)
            && is_equal(a, b)
        {
            return;
        }
        let found = if is_quantization { &mut self.quantization } else { &mut self.plain };
        found.push(ConfigDifference { key, a: a.cloned(), b: b.cloned() });
    }
}

/// Whether two values mean the same: 10000 and 10000.0 do.
fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || one_is_float(a, b) && a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| is_equal(a, b)))
        }
        _ => a == b,
    }
}

/// Large integers that differ may be one float.
fn one_is_float(a: &Number, b: &Number) -> bool {
    a.is_f64() || b.is_f64()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_have_paths_and_the_quantization_is_aside() {
        let a = json!({
            "same": {"x": [1, 2.0, {"y": null}], "theta": 10000}, "large": 9_007_199_254_740_993_u64, "list": [1, 2],
            "text_config": {"size": 1, "deep": {"only": true}, "quantization_config": {"bits": 4, "group_size": 128}}, "gone": null
        });
        let b = json!({
            "same": {"theta": 10000.0, "x": [1.0, 2, {"y": null}]}, "large": 9_007_199_254_740_992_u64, "list": [2, 1],
            "text_config": {"size": "1", "deep": {}, "quantization_config": {"bits": 8, "group_size": 128}},
            "quantization": {"mode": "affine"}
        });
        let [plain, quantization] = differences(&a, &b);
        let of =
            |key: &str, a: Option<Value>, b: Option<Value>| ConfigDifference { key: key.to_owned(), a, b };
        let want = [
            of("gone", Some(Value::Null), None),
            of("large", Some(json!(9_007_199_254_740_993_u64)), Some(json!(9_007_199_254_740_992_u64))),
            of("list", Some(json!([1, 2])), Some(json!([2, 1]))),
            of("text_config.deep.only", Some(json!(true)), None),
            of("text_config.size", Some(json!(1)), Some(json!("1"))),
        ];
        assert_eq!(plain, want);
        let want = [
            of("quantization", None, Some(json!({"mode": "affine"}))),
            of("text_config.quantization_config.bits", Some(json!(4)), Some(json!(8))),
        ];
        assert_eq!(quantization, want);
        assert_eq!(differences(&a, &a), [vec![], vec![]]);
        assert_eq!(differences(&json!(1), &json!([]))[0].len(), 1);
        // A key that is missing is not one that is null.
        assert_eq!(serde_json::to_value(&plain[0]).ok(), Some(json!({"key": "gone", "a": null})));
    }
}
