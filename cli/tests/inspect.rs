//! `lanecast inspect`: how tensors are stored, and what their values are like.

use crate::common;
use crate::common::models::{external, graph, model};
use crate::common::{Folder, bad, f32s, good, npy, npy_of, npz, safetensors};
use serde_json::{Value, json};
use zip::CompressionMethod;

fn text(folder: &Folder, args: &[&str]) -> String {
    String::from_utf8(good(folder.run(&[&["inspect"], args].concat()))).expect("UTF-8")
}

fn tensors(folder: &Folder, args: &[&str]) -> Value {
    let all = text(folder, &[args, &["--json"]].concat());
    serde_json::from_str::<Value>(&all).expect("one JSON object")["tensors"].clone()
}

/// A tensor with something of every kind, and one of integers.
fn folder() -> Folder {
    let header = concat!(
        r#"{"w":{"dtype":"F32","shape":[10],"data_offsets":[0,40]},"#,
        r#""i":{"dtype":"I64","shape":[3],"data_offsets":[40,64]}}"#
    );
    let floats = [1.0, -3.5, 0.0, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-40, 300.5, 70_000.0];
    let integers: Vec<u8> = [i64::MIN, 0, i64::MAX].iter().flat_map(|x| x.to_le_bytes()).collect();
    let folder = Folder::new();
    folder.write("in.safetensors", &safetensors(header, &[f32s(&floats), integers].concat()));
    folder
}

#[test]
fn statistics_are_exact() {
    let folder = folder();
    let found = tensors(&folder, &["in.safetensors", "--stats"]);
    let stats = &found[0]["stats"];
    assert_eq!((&stats["min"], &stats["max"]), (&json!(-3.5), &json!(70_000.0)));
    for (name, n) in [("nan", 1), ("infinities", 2), ("zeros", 2), ("subnormals", 1)] {
        assert_eq!(stats[name], n, "{name}");
    }
    assert_eq!(stats["exponents"], json!([[-133, 1], [0, 1], [1, 1], [8, 1], [16, 1]]));
    assert_eq!(stats["what_if"], json!([]));
    // Integers are not rounded.
    let stats = &found[1]["stats"];
    assert_eq!((&stats["min"], &stats["max"]), (&json!(i64::MIN), &json!(i64::MAX)));
    assert_eq!((&stats["zeros"], &stats["exponents"]), (&json!(1), &json!([[62, 1], [63, 1]])));
    // Without the option nothing is read.
    assert_eq!(tensors(&folder, &["in.safetensors"])[0].get("stats"), None);
    let table = text(&folder, &["in.safetensors", "--stats"]);
    assert!(
        table.contains("w     -3.5                  70000                1    2         2     1\n"),
        "{table}"
    );
    assert!(table.contains("i     -9223372036854775808  9223372036854775807  0    0         1     0\n"));
}

#[test]
fn what_if_counts_what_casts_lose() {
    let folder = folder();
    let found = tensors(&folder, &["in.safetensors", "--what-if", "f16,fp8,bf16"]);
    let casts = found[0]["stats"]["what_if"].as_array().expect("a list");
    let names: Vec<&str> = casts.iter().filter_map(|cast| cast["to"].as_str()).collect();
    assert_eq!(names, ["float16", "float8_e4m3fn", "float8_e5m2", "bfloat16"]);
    let counts = |i: usize| {
        let counts = casts[i].as_object().expect("a map").iter();
        let some = counts.filter(|(name, n)| *name != "bytes" && n.as_u64().is_some_and(|n| n > 0));
        some.map(|(name, n)| format!("{n} {name}")).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(casts[1]["bytes"], 10);
    assert_eq!(counts(0), "1 overflowed_to_infinity, 1 underflowed_to_zero");
    // What `cast` itself counts, and the values that are rounded besides.
    for (i, name) in names.iter().enumerate() {
        let report = good(folder.run(&[
            "cast",
            "in.safetensors",
            "out.safetensors",
            "--to",
            name,
            "--force",
            "--json",
        ]));
        let report: Value = serde_json::from_slice(&report).expect("one JSON object");
        for (kind, n) in report["entries"][0]["counts"].as_object().expect("a map") {
            assert_eq!(&casts[i][kind], n, "{name}, {kind}");
        }
    }
    assert_eq!((&casts[3]["inexact"], &casts[3]["saturated"]), (&json!(3), &json!(0)));
    let table = text(&folder, &["in.safetensors", "--what-if", "bfloat16", "--include", "w"]);
    assert!(table.contains("w     bfloat16  20     3 inexact\n"), "{table}");
    let table = text(&folder, &["in.safetensors", "--what-if", "f64", "--include", "w"]);
    assert!(table.contains("w     float64  80     nothing\n"), "{table}");
    bad(&folder.run(&["inspect", "in.safetensors", "--what-if", "f16,quaternion"]), &[5]);
    let line = bad(&folder.run(&["inspect", "in.safetensors", "--exclude", "v"]), &[2]);
    assert!(line.contains("in.safetensors, --exclude"), "{line}");
}

#[test]
fn values_in_many_blocks_and_all_forms() {
    let folder = Folder::new();
    // More than two blocks.
    let n = 1_200_000;
    let values: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let big: Vec<u8> = values.iter().flat_map(|x| x.to_be_bytes()).collect();
    let array = npy(">f4", &format!("({n},)"), &big);
    folder.write("in.npy", &array);
    folder.write("in.npz", &npz(&[("w.npy", &array)], CompressionMethod::Deflated));
    for file in ["in.npy", "in.npz"] {
        let found = tensors(&folder, &[file, "--what-if", "f16"]);
        let stats = &found[0]["stats"];
        assert_eq!(
            (&stats["min"], &stats["max"], &stats["zeros"]),
            (&json!(0.0), &json!(1_199_999.0), &json!(1))
        );
        assert_eq!(stats["exponents"][20], json!([20, n - (1 << 20)]));
        assert_eq!(stats["what_if"][0]["overflowed_to_infinity"], n - 65_520);
        assert_eq!(found[0]["byte_order"], "big");
    }
    // Complex numbers by their parts; fields and bytes not at all.
    let descr = "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }";
    let members = [
        ("c.npy", &npy("<c8", "(2,)", &f32s(&[1.0, 0.0, -2.0, f32::NAN]))[..]),
        ("s.npy", &npy_of(descr, &f32s(&[1.0]))),
        ("v.npy", &npy("|V1", "(1,)", &[0])),
        ("b.npy", &npy("|b1", "(2,)", &[0, 1])),
        ("e.npy", &npy("<f4", "(0,)", &[])),
    ];
    folder.write("in.npz", &npz(&members, CompressionMethod::Stored));
    let found = tensors(&folder, &["in.npz", "--stats"]);
    let stats = |i: usize, name: &str| found[i]["stats"][name].clone();
    assert_eq!((stats(0, "min"), stats(0, "max"), stats(0, "nan")), (json!(-2.0), json!(1.0), json!(1)));
    assert_eq!((&found[1]["stats"], &found[2]["stats"]), (&Value::Null, &Value::Null));
    assert_eq!((stats(3, "max"), stats(3, "zeros")), (json!(1.0), json!(1)));
    assert_eq!((stats(4, "min"), stats(4, "exponents")), (Value::Null, json!([])));
    text(&folder, &["in.npz", "--histogram"]);
}

#[test]
fn layouts_are_shown() {
    let folder = Folder::new();
    let fortran = "{'descr': '>f4', 'fortran_order': True, 'shape': (1, 2), }";
    let members = [("f.npy", &npy_of(fortran, &[0; 8])[..]), ("u.npy", &npy("|u1", "(2,)", &[0; 2]))];
    folder.write("in.npz", &npz(&members, CompressionMethod::Deflated));
    let found = tensors(&folder, &["in.npz"]);
    assert_eq!((&found[0]["byte_order"], &found[0]["memory_order"]), (&json!("big"), &json!("F")));
    assert_eq!((&found[1]["byte_order"], &found[1]["memory_order"]), (&Value::Null, &json!("C")));
    assert_eq!(found[0]["compression"], "deflated");
    let size = found[0]["compressed_bytes"].as_u64().expect("a number");
    let table = text(&folder, &["in.npz"]);
    assert!(
        table.contains(&format!("8      big-endian, Fortran order, deflated to {size} bytes\n")),
        "{table}"
    );
    folder.write("stored.npz", &npz(&members, CompressionMethod::Stored));
    assert!(text(&folder, &["stored.npz"]).contains("2      C order, stored\n"));

    folder.write("w.bin", &[vec![9; 64], f32s(&[1.0, 2.0])].concat());
    let tensor = external("W", &[2], &[("location", "w.bin"), ("offset", "64")]);
    folder.put("in.onnx", &model(8, 13, graph("g", Vec::new(), vec![tensor])));
    let found = tensors(&folder, &["in.onnx", "--stats"]);
    assert_eq!(found[0]["external"], json!({"location": "w.bin", "offset": 64}));
    assert_eq!((&found[0]["stats"]["min"], &found[0]["stats"]["max"]), (&json!(1.0), &json!(2.0)));
    assert!(text(&folder, &["in.onnx"]).contains("8      little-endian, C order, in w.bin at 64\n"));
}

#[test]
fn histograms_fit_the_width() {
    let folder = Folder::new();
    folder.write("in.npy", &npy("<f4", "(4,)", &f32s(&[1.0, 1.5, -4.0, 0.25])));
    let draw = |columns: &str, locale: &str| {
        let mut command = common::program();
        command.args(["inspect", "in.npy", "--histogram"]).current_dir(folder.path());
        command.env("COLUMNS", columns).env("LC_ALL", locale);
        let text = String::from_utf8(good(common::feed(&mut command, &[]))).expect("UTF-8");
        text.split_once("binary exponents\n").expect("a histogram").1.to_owned()
    };
    let expected = "2^-2  1  #####\n2^-1  0\n 2^0  2  ##########\n 2^1  0\n 2^2  1  #####\n";
    assert_eq!(draw("19", "C"), expected);
    assert_eq!(draw("19", "C.UTF-8"), expected.replace('#', "█"));
    assert!(draw("100", "C").lines().any(|line| line.len() == 100));
}

/// A checkpoint of two equal layers and a third one, with codes and plain tensors.
fn layers() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.at("model")).expect("a folder");
    let (mut header, mut at) = (Vec::new(), 0);
    let mut add = |name: &str, dtype: &str, shape: &str, bytes: u64| {
        let offsets = format!("[{at},{}]", at + bytes);
        header.push(format!(r#""{name}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}"#));
        at += bytes;
    };
    add("embed.weight", "BF16", "[8,64]", 1024);
    for (layer, rows) in [(0, 2), (1, 2), (2, 4)] {
        add(&format!("layers.{layer}.mlp.up.weight"), "F8_E4M3", &format!("[{rows},4]"), 4 * rows);
        add(&format!("layers.{layer}.mlp.up.weight_scale_inv"), "F32", "[1,1]", 4);
        add(&format!("layers.{layer}.norm.weight"), "F32", "[4]", 16);
    }
    let header = format!("{{{}}}", header.join(","));
    folder.write("model/model.safetensors", &safetensors(&header, &vec![0x38; at as usize]));
    let config = r#"{"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]}}"#;
    folder.write("model/config.json", config.as_bytes());
    folder
}

#[test]
fn folders_are_trees_of_modules() {
    let folder = layers();
    let tree = text(&folder, &["model"]);
    let rows: Vec<Vec<&str>> = tree
        .lines()
        .map(|line| line.trim_end().split("  ").filter(|cell| !cell.is_empty()).map(str::trim).collect())
        .collect();
    let want: [&[&str]; 15] = [
        &["name", "stored as", "shape", "parameters", "size"],
        &["embed.weight", "bfloat16", "(8, 64)", "512", "1.00 KiB"],
        &["layers", "44", "92 B"],
        &["0-1", "2 alike, each as below", "24", "56 B"],
        &["mlp.up.weight", "block fp8", "(2, 4)", "8", "12 B"],
        &["norm.weight", "float32", "(4,)", "4", "16 B"],
        &["2", "20", "36 B"],
        &["mlp.up.weight", "block fp8", "(4, 4)", "16", "20 B"],
        &["norm.weight", "float32", "(4,)", "4", "16 B"],
        &[],
        &["stored as", "tensors", "parameters", "bytes", "bits per parameter"],
        &["bfloat16", "1", "512", "1024 (1.00 KiB)", "16.00"],
        &["float32", "3", "12", "48", "32.00"],
        &["block fp8", "3", "32", "44", "11.00"],
        &["7 tensors, 556 parameters, 1116 bytes (1.09 KiB), layout block fp8"],
    ];
    assert_eq!(rows, want, "{tree}");
    assert!(
        tree.contains("\nlayers ") && tree.contains("\n  0-1 ") && tree.contains("\n    norm.weight "),
        "{tree}"
    );
    let sorted = text(&folder, &["model", "--sort", "size"]);
    let names: Vec<&str> =
        sorted.lines().skip(1).take(3).filter_map(|line| line.split("  ").next()).collect();
    assert_eq!(names, ["embed.weight", "layers.2.mlp.up.weight", "layers.0.norm.weight"]);
    let json: Value =
        serde_json::from_str(&text(&folder, &["model", "--json", "--include", "*.up.*"])).expect("JSON");
    assert_eq!(
        (&json["layout"], &json["parameters"], &json["bytes"]),
        (&json!("block fp8"), &json!(32), &json!(44))
    );
    assert_eq!(
        json["tensors"][0],
        json!({"name": "layers.0.mlp.up.weight", "dtype": null, "layout": "block fp8", "shape": [2, 4], "elements": 8, "bytes": 12})
    );
    assert_eq!(json["totals"], json!([{"stored": "block fp8", "tensors": 3, "parameters": 32, "bytes": 44}]));
    let line = bad(&folder.run(&["inspect", "model", "--histogram"]), &[2]);
    assert!(line.contains("--histogram") && line.contains("model"), "{line}");
    bad(&folder.run(&["inspect", "model", "--include", "nothing"]), &[2]);
}

#[test]
fn several_inputs_are_listed_one_by_one() {
    let folder = layers();
    let file = "model/model.safetensors";
    let out = text(&folder, &[file, "model", "--include", "embed*", "--sort", "name"]);
    assert!(out.starts_with("model/model.safetensors:\nname ") && out.contains("\n\nmodel:\nname "), "{out}");
    let lines = text(&folder, &[file, "model", "--json"]);
    let json: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((json.len(), &json[0]["file"], &json[1]["folder"]), (2, &json!(file), &json!("model")));
    let sorted = tensors(&folder, &[file, "--sort", "size"]);
    let bytes: Vec<u64> =
        sorted.as_array().expect("a list").iter().filter_map(|of| of["bytes"].as_u64()).collect();
    assert_eq!((bytes.len(), bytes[0], bytes.is_sorted_by(|x, y| x >= y)), (10, 1024, true));
}

#[test]
fn folders_have_statistics_and_schemes() {
    let folder = Folder::new();
    std::fs::create_dir(folder.at("model")).expect("a folder");
    let header = concat!(
        r#"{"i":{"dtype":"I32","shape":[1],"data_offsets":[0,4]},"#,
        r#""w":{"dtype":"F32","shape":[2,32],"data_offsets":[4,260]}}"#
    );
    let w: Vec<f32> = (0..64_i32).map(|i| (i * 7 % 64 - 20) as f32).collect();
    folder.write("model/model.safetensors", &safetensors(header, &[vec![1, 0, 0, 0], f32s(&w)].concat()));
    let args = ["model", "--what-if", "int8-row,float8_e4m3fn,float32,nvfp4", "--sort", "name"];
    let found = tensors(&folder, &args);
    assert_eq!(found[0]["stats"], Value::Null);
    let stats = &found[1]["stats"];
    assert_eq!(
        (&stats["min"], &stats["max"], &stats["not_finite"]),
        (&json!(-20.0), &json!(43.0), &json!(0))
    );
    // The values are the integers from -20 to 43.
    let near = |have: &Value, want: f64| {
        let have = have.as_f64().unwrap_or(f64::NAN);
        assert!((have - want).abs() <= 1e-9 * want.abs(), "{have} {want}");
    };
    near(&stats["mean"], 11.5);
    near(&stats["deviation"], (f64::from(64 * 64 - 1) / 12.0).sqrt());
    // int8 with a scale for each row: the largest magnitude over 127, and the nearest code.
    let signal: f64 = w.iter().map(|x| f64::from(*x).powi(2)).sum();
    let noise: f64 = w
        .chunks(32)
        .flat_map(|row| {
            let scale = row.iter().fold(0.0_f32, |most, x| most.max(x.abs())) / 127.0;
            row.iter().map(move |x| {
                let code = (f64::from(*x) / f64::from(scale)).round_ties_even();
                ((code * f64::from(scale)) as f32 - x).powi(2) as f64
            })
        })
        .sum();
    let sqnr = |i: usize| stats["what_if"][i]["sqnr"].as_f64();
    let int8 = sqnr(0).expect("a ratio");
    assert!(
        (int8 - 10.0 * (signal / noise).log10()).abs() < 0.01,
        "{int8} {}",
        10.0 * (signal / noise).log10()
    );
    // Integers up to 16 are exact in 4 bits of precision, and the others are not.
    let e4m3 = |x: f32| {
        let step = 2_f32.powi((x.abs().log2().floor() as i32).saturating_sub(3).max(-9));
        if x == 0.0 { 0.0 } else { (x / step).round_ties_even() * step }
    };
    let noise: f64 = w.iter().map(|x| f64::from(x - e4m3(*x)).powi(2)).sum();
    near(&stats["what_if"][1]["sqnr"], 10.0 * (signal / noise).log10());
    assert_eq!(sqnr(2), None);
    assert!(sqnr(3).is_some_and(|nvfp4| nvfp4 > 10.0 && nvfp4 < int8), "{stats}");
    let table = text(&folder, &args);
    assert!(table.contains("int8-row dB") && table.contains("\nw     -2.0000e1  4.3000e1"), "{table}");
    let line = bad(&folder.run(&["inspect", "model/model.safetensors", "--what-if", "nvfp4"]), &[2]);
    assert!(line.contains("nvfp4 is a scheme"), "{line}");
}
