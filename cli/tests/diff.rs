//! `lanecast diff`. The tests of `lanecast-checkpoint` compare the errors with those of a loop.

use std::fs;

use serde_json::Value;

use crate::common::{Folder, bad, f32s, safetensors, stderr};

/// A folder `q` of block fp8 with the values 2, 4, -2 and 0, and files of floats.
fn folder() -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.at("q")).expect("a folder");
    let header = concat!(
        r#"{"m.0.up.weight":{"dtype":"F8_E4M3","shape":[2,2],"data_offsets":[0,4]},"#,
        r#""m.0.up.weight_scale_inv":{"dtype":"F32","shape":[1,1],"data_offsets":[4,8]},"#,
        r#""norm":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}"#
    );
    let data = [&[0x38, 0x40, 0xB8, 0x00][..], &f32s(&[2.0, 1.0])].concat();
    folder.write("q/model.safetensors", &safetensors(header, &data));
    let config = r#"{"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]}}"#;
    folder.write("q/config.json", config.as_bytes());
    floats(&folder, "exact.safetensors", [2.0, 4.0, -2.0, 0.0]);
    floats(&folder, "far.safetensors", [2.0, 4.0, -2.0, 1.0]);
    folder
}

fn floats(folder: &Folder, name: &str, values: [f32; 4]) {
    let header = concat!(
        r#"{"m.0.up.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"#,
        r#""norm":{"dtype":"F32","shape":[1],"data_offsets":[16,20]}}"#
    );
    folder.write(name, &safetensors(header, &[f32s(&values), f32s(&[1.0])].concat()));
}

fn text(folder: &Folder, args: &[&str], code: i32) -> String {
    let output = folder.run(&[&["diff"], args].concat());
    assert_eq!((output.status.code(), stderr(&output)), (Some(code), String::new()));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn equal_values_are_equal_in_any_layout() {
    let folder = folder();
    let summary = "2 tensors compared, 2 equal; 0 incomparable, 0 only in A, 0 only in B; layouts block fp8 and plain\n";
    assert_eq!(text(&folder, &["q", "exact.safetensors"], 0), summary);
    assert_eq!(text(&folder, &["q", "exact.safetensors", "--fail-above", "max=0,sqnr=1000"], 0), summary);
    assert_eq!(text(&folder, &["q", "exact.safetensors", "--quiet"], 0), "");
}

/// A product of a code and a float32 has more digits than the float32 of the other side.
#[test]
fn values_that_only_rounding_makes_equal_are_not_called_equal() {
    let folder = folder();
    let mut file = folder.read("q/model.safetensors");
    // The scale becomes 1/3, and a code 1.125.
    let end = file.len();
    file[end - 8..end - 4].copy_from_slice(&f32s(&[1.0 / 3.0]));
    file[end - 11] = 0x39;
    folder.write("q/model.safetensors", &file);
    let third = 1.0_f32 / 3.0;
    floats(&folder, "rounded.safetensors", [third, (1.125 * f64::from(third)) as f32, -third, 0.0]);
    let summary = text(&folder, &["q", "rounded.safetensors"], 0);
    let want = "2 tensors compared, 1 equal, 1 equal after rounding to the other dtype; 0 incomparable, ";
    assert!(summary.starts_with(want), "{summary}");
    let json: Value =
        serde_json::from_str(&text(&folder, &["q", "rounded.safetensors", "--json"], 0)).expect("JSON");
    let counts: Vec<(&Value, &Value)> = (json["tensors"].as_array().expect("tensors").iter())
        .map(|tensor| (&tensor["different"], &tensor["rounded"]))
        .collect();
    assert!(counts.contains(&(&0.into(), &1.into())) && counts.contains(&(&0.into(), &0.into())), "{json}");
}

#[test]
fn differences_are_a_table() {
    let folder = folder();
    let table = text(&folder, &["q", "far.safetensors"], 0);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    // The errors are 0, 0, 0 and -1, and the reference has the norm 5.
    let row: Vec<&str> = lines[1].split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    let want =
        ["m.0.up.weight", "block fp8", "float32", "1.000e0", "2.500e-1", "2.000e-1", "14.0", "0.979796"];
    assert_eq!(row[..8], want, "{table}");
    assert_eq!(row[8], "1065353216 (float32)");
    assert!(lines[2].starts_with("2 tensors compared, 1 equal; "), "{table}");

    let json: Value =
        serde_json::from_str(&text(&folder, &["q", "far.safetensors", "--json"], 0)).expect("JSON");
    let tensor = &json["tensors"][0];
    assert_eq!(
        (&tensor["name"], &tensor["different"], &tensor["largest_at"]),
        (&"m.0.up.weight".into(), &1.into(), &3.into())
    );
    assert_eq!((&tensor["relative"], &json["tensors"][1]["sqnr"]), (&0.2.into(), &Value::Null));
    assert_eq!(
        (&json["a"], &json["layout_a"], &json["exceeded"]),
        (&"q".into(), &"block fp8".into(), &Value::Array(vec![]))
    );
}

#[test]
fn limits_fail_with_1() {
    let folder = folder();
    let far = ["q", "far.safetensors", "--fail-above"];
    for (limit, code) in [
        ("rel=0.19", 1),
        ("rel=0.21", 0),
        ("sqnr=15", 1),
        ("sqnr=13", 0),
        ("max=0.5", 1),
        ("max=1", 0),
        ("mean=0.2", 1),
        ("ulps=10", 1),
        ("cosine=0.99", 1),
        ("cosine=0.97", 0),
        ("max=1,rel=0.1", 1),
    ] {
        let out = text(&folder, &[&far[..], &[limit]].concat(), code);
        assert_eq!(out.contains("exceeded: m.0.up.weight: "), code == 1, "{limit}: {out}");
    }
    let json = text(&folder, &[&far[..], &["max=0.5,ulps=10", "--json"]].concat(), 1);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let exceeded = &json["exceeded"];
    assert_eq!(
        (&exceeded[0]["metric"], &exceeded[0]["value"], &exceeded[0]["limit"]),
        (&"max".into(), &1.0.into(), &0.5.into())
    );
    assert_eq!((&exceeded[1]["metric"], &exceeded[1]["tensor"]), (&"ulps".into(), &"m.0.up.weight".into()));
    floats(&folder, "nan.safetensors", [2.0, 4.0, -2.0, f32::NAN]);
    let out = text(&folder, &["q", "nan.safetensors", "--fail-above", "max=1"], 1);
    assert!(out.contains("not finite on one side only: m.0.up.weight: 1 value"), "{out}");
    // A tensor that is missing is more than any limit, and nothing without one.
    let header = r#"{"norm":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    folder.write("less.safetensors", &safetensors(header, &f32s(&[1.0])));
    let less = ["q", "less.safetensors"];
    assert!(text(&folder, &less, 0).starts_with("only in A: m.0.up.weight\n1 tensor compared, 1 equal; "));
    text(&folder, &[&less[..], &["--fail-above", "max=1"]].concat(), 1);
    for wrong in ["rel", "error=1", "rel=x"] {
        bad(&folder.run(&[&far[..], &[wrong]].concat()), &[2]);
    }
}

#[test]
fn the_page_needs_nothing_else() {
    let folder = folder();
    let run = ["q", "far.safetensors", "--html", "page.html"];
    text(&folder, &run, 0);
    let page = String::from_utf8(folder.read("page.html")).expect("UTF-8");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(page.contains("<tr><th>m 0</th><td class=\"error\""), "{page}");
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("2.000e-1"), "{page}");
    for part in ["http", "src=", "<script", "@import", "url("] {
        assert!(!page.contains(part), "{part}");
    }
    let opened = page.matches("<td").count() + page.matches("<tr").count() + page.matches("<th>").count();
    let closed =
        page.matches("</td>").count() + page.matches("</tr>").count() + page.matches("</th>").count();
    assert_eq!(opened, closed);
    let line = bad(&folder.run(&[&["diff"], &run[..]].concat()), &[3]);
    assert!(line.contains("page.html") && line.contains("--force"), "{line}");
    text(&folder, &[&run[..], &["--force"]].concat(), 0);
}

#[test]
fn keys_of_configurations_that_differ_are_listed() {
    let folder = folder();
    fs::create_dir(folder.at("plain")).expect("a folder");
    folder.write("plain/model.safetensors", &folder.read("exact.safetensors"));
    // Without a configuration on one side nothing is compared.
    let all = ["q", "plain", "--html", "page.html", "--force"];
    assert!(!text(&folder, &all, 0).contains("config.json"));
    folder.write(
        "plain/config.json",
        br#"{"text_config":{"rope_theta":10000.0,"layers":2,"<b>":[1,2]},"dtype":"bfloat16"}"#,
    );
    let config = concat!(
        r#"{"text_config":{"rope_theta":10000,"layers":3},"dtype":"bfloat16","#,
        r#""quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]}}"#
    );
    folder.write("q/config.json", config.as_bytes());
    let table = text(&folder, &all, 0);
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    let want: [&[&str]; 5] = [
        &["config.json", "A", "B"],
        &["text_config.<b>", "-", "[1,2]"],
        &["text_config.layers", "3", "2"],
        &["config.json,", "quantization", "A", "B"],
        &["quantization_config", r#"{"quant_method":"fp8","weight_block_size":[128,128]}"#, "-"],
    ];
    assert_eq!(lines[..5], want, "{table}");
    assert!(lines[5][..4] == ["2", "tensors", "compared,", "2"] && lines.len() == 6, "{table}");
    let page = String::from_utf8(folder.read("page.html")).expect("UTF-8");
    let row = "<tr><th>text_config.&lt;b&gt;</th><td>-</td><td>[1,2]</td></tr>";
    assert!(page.contains(row) && page.contains("<h2>config.json, quantization</h2>"), "{page}");
    // No limit fails by a configuration.
    let json = text(&folder, &["q", "plain", "--json", "--fail-above", "max=0"], 0);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let key = |key: &str, values: &str| {
        serde_json::from_str::<Value>(&format!(r#"{{"key":"{key}",{values}}}"#)).ok()
    };
    let config = json["config"].as_array().expect("a list");
    assert_eq!(config.first().cloned(), key("text_config.<b>", r#""b":[1,2]"#));
    assert_eq!(config.get(1).cloned(), key("text_config.layers", r#""a":3,"b":2"#));
    assert_eq!((config.len(), &json["quantization_config"][0]["key"]), (2, &"quantization_config".into()));
}

/// Names of a hostile file do not become elements of the page.
#[test]
fn names_are_text_on_the_page() {
    let folder = Folder::new();
    let header = |dtype: &str, bytes: u64| {
        format!(
            r#"{{"a.0.<script>alert('x')</script>":{{"dtype":"{dtype}","shape":[1],"data_offsets":[0,{bytes}]}}}}"#
        )
    };
    folder.write("a.safetensors", &safetensors(&header("F32", 4), &f32s(&[1.0])));
    folder.write("b.safetensors", &safetensors(&header("F32", 4), &f32s(&[2.0])));
    text(&folder, &["a.safetensors", "b.safetensors", "--html", "page.html"], 0);
    let page = String::from_utf8(folder.read("page.html")).expect("UTF-8");
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script"), "{page}");
}

#[test]
fn scales_that_are_nan_are_errors() {
    let folder = folder();
    let mut file = folder.read("q/model.safetensors");
    let scale = file.len() - 8;
    file[scale..scale + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    folder.write("q/model.safetensors", &file);
    let line = bad(&folder.run(&["diff", "q", "exact.safetensors"]), &[4]);
    assert!(line.contains("m.0.up.weight_scale_inv") && line.contains("--allow-nan"), "{line}");
    let out = text(&folder, &["q", "exact.safetensors", "--allow-nan"], 0);
    assert!(out.contains("not finite on one side only: m.0.up.weight: 4 values"), "{out}");
    bad(&folder.run(&["diff", "q", "nowhere"]), &[3]);
}
