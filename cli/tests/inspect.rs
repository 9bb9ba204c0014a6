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
        table.contains(
            "w     -3.5                  70000                1.0043e4  2.4478e4   1    2         2     1\n"
        ),
        "{table}"
    );
    assert!(
        table.contains(
            "i     -9223372036854775808  9223372036854775807  0.0000e0  7.5309e18  0    0         1     0\n"
        ),
        "{table}"
    );
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
    assert!(text(&folder, &["model", "--histogram"]).contains("layers.0.norm.weight: binary exponents"));
    let line = bad(&folder.run(&["inspect", "model", "--format", "npy"]), &[2]);
    assert!(line.contains("--format") && line.contains("model"), "{line}");
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

/// The nearest value of a float with so many bits of mantissa, whose smallest normal exponent and largest value are these.
fn nearest(x: f64, mantissa: i32, least: i32, largest: f64) -> f64 {
    if x == 0.0 {
        return 0.0;
    }
    let step = 2_f64.powi((x.abs().log2().floor() as i32).max(least) - mantissa);
    ((x / step).round_ties_even() * step).clamp(-largest, largest)
}

/// The values that `int8-row`, `float8_e4m3fn`, `fp8-tensor` and `nvfp4` make of rows of 200 values, in the order of [`TARGETS`].
fn made(values: &[f32]) -> [Vec<f64>; 4] {
    let amax = |part: &[f32]| part.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    let all: Vec<f64> = values.iter().map(|x| f64::from(*x)).collect();
    let int8 = values.chunks(200).flat_map(|row| {
        let scale = f64::from(amax(row) / 127.0);
        row.iter().map(move |x| (f64::from(*x) / scale).round_ties_even() * scale)
    });
    let tensor = f64::from(amax(values) / 448.0);
    let global = amax(values) / (448.0 * 6.0);
    let nvfp4 = values.chunks(200).flat_map(|row| row.chunks(16)).flat_map(|block| {
        let scale = nearest(f64::from(amax(block)) / (6.0 * f64::from(global)), 3, -6, 448.0);
        let scale = if scale == 0.0 { 0.0 } else { scale * f64::from(global) };
        block
            .iter()
            .map(move |x| if scale == 0.0 { 0.0 } else { nearest(f64::from(*x) / scale, 1, 0, 6.0) * scale })
    });
    [
        int8.collect(),
        all.iter().map(|x| nearest(*x, 3, -6, 448.0)).collect(),
        all.iter().map(|x| nearest(*x / tensor, 3, -6, 448.0) * tensor).collect(),
        nvfp4.collect(),
    ]
}

const TARGETS: &str = "int8-row,float8_e4m3fn,fp8-tensor,nvfp4,float32,fp8-block128";

#[test]
fn folders_files_and_standard_input_have_the_same_statistics() {
    let folder = Folder::new();
    std::fs::create_dir(folder.at("model")).expect("a folder");
    // Several blocks, and a mean that is far from zero.
    let (rows, mut state) = (1500, 1_u64);
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 24) as f32
    };
    let w: Vec<f32> =
        (0..rows * 200).map(|_| (random() - 0.2) * 2_f32.powi((8.0 * random()) as i32)).collect();
    let header = format!(
        r#"{{"i":{{"dtype":"I32","shape":[3],"data_offsets":[0,12]}},"w":{{"dtype":"F32","shape":[{rows},200],"data_offsets":[12,{}]}}}}"#,
        12 + 4 * w.len()
    );
    let integers: Vec<u8> = [3_i32, -5, 8].iter().flat_map(|x| x.to_le_bytes()).collect();
    let file = safetensors(&header, &[integers, f32s(&w)].concat());
    folder.write("model/model.safetensors", &file);
    folder.write("w.npy", &npy("<f4", &format!("({rows}, 200)"), &f32s(&w)));
    let args = |name| ["inspect", name, "--json", "--what-if", TARGETS];
    let stats = |bytes: Vec<u8>| -> Vec<Value> {
        let found: Value = serde_json::from_slice(&bytes).expect("one JSON object");
        found["tensors"].as_array().expect("a list").iter().map(|tensor| tensor["stats"].clone()).collect()
    };
    let found = stats(good(folder.run(&args("model"))));
    for name in ["model/model.safetensors", "-"] {
        let output = common::run_in(folder.path(), &args(name), &file);
        assert_eq!(stats(good(output)), found, "{name}");
    }
    assert_eq!(stats(good(folder.run(&args("w.npy")))), found[1..]);
    let near = |have: &Value, want: f64, by: f64| {
        let have = have.as_f64().unwrap_or(f64::NAN);
        assert!((have - want).abs() <= by * want.abs(), "{have} {want}");
    };
    assert_eq!((&found[0]["min"], &found[0]["max"], &found[0]["mean"]), (&json!(-5), &json!(8), &json!(2.0)));
    near(&found[0]["deviation"], (86.0_f64 / 3.0).sqrt(), 1e-12);
    let (n, values) = (w.len() as f64, w.iter().map(|x| f64::from(*x)));
    let mean = values.clone().sum::<f64>() / n;
    near(&found[1]["mean"], mean, 1e-11);
    near(&found[1]["deviation"], (values.clone().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt(), 1e-11);
    let signal: f64 = values.clone().map(|x| x * x).sum();
    let what_if = &found[1]["what_if"];
    for (i, made) in made(&w).iter().enumerate() {
        let noise: f64 = values.clone().zip(made).map(|(x, y)| (x - y).powi(2)).sum();
        let (have, want) = (what_if[i]["sqnr"].as_f64().unwrap_or(f64::NAN), 10.0 * (signal / noise).log10());
        assert!((have - want).abs() < 0.001, "{}: {have} {want}", what_if[i]["to"]);
    }
    // Nothing is lost, so that the ratio is infinite.
    assert_eq!((&what_if[4]["sqnr"], &what_if[4]["inexact"]), (&Value::Null, &json!(0)));
    // Codes and scales, with the scale of the tensor.
    let codes = w.len() as u64;
    assert_eq!(what_if[0]["bytes"], codes + 4 * rows as u64);
    assert_eq!(what_if[3]["bytes"], codes / 2 + rows as u64 * 13 + 4);
    assert_eq!(what_if[3].get("inexact"), None);
    // A number has no rows.
    folder.write("one.npy", &npy("<f4", "()", &f32s(&[3.0])));
    let one = tensors(&folder, &["one.npy", "--what-if", "int8-row"])[0]["stats"]["what_if"][0].clone();
    assert_eq!(one, json!({"to": "int8-row", "bytes": null, "sqnr": null}));
    let table = text(&folder, &["w.npy", "--what-if", "nvfp4"]);
    assert!(table.contains("mean") && table.contains("deviation") && table.contains("nvfp4 dB"), "{table}");
    assert!(!table.contains("cast to"), "{table}");
}

#[test]
fn values_that_are_not_finite_have_no_ratio() {
    let folder = folder();
    let found = tensors(&folder, &["in.safetensors", "--what-if", "mx,f16", "--include", "w"]);
    let stats = &found[0]["stats"];
    // The finite values are 1, -3.5, 0, -0, 1e-40, 300.5 and 70000.
    let mean = 70_298.0 / 7.0;
    assert!((stats["mean"].as_f64().expect("a mean") - mean).abs() < 1e-9, "{stats}");
    assert_eq!((&stats["not_finite"], &stats["what_if"][0]["sqnr"]), (&json!(3), &Value::Null));
    assert_eq!(stats["what_if"][1]["sqnr"], Value::Null);
}

#[test]
fn arrays_in_fortran_order_are_quantized_by_their_rows() {
    let folder = Folder::new();
    let (rows, cols) = (6, 40);
    let at = |row: usize, col: usize| ((row * 37 + col * 11) % 23) as f32 * 10_f32.powi(row as i32 - 3);
    let c: Vec<f32> = (0..rows * cols).map(|i| at(i / cols, i % cols)).collect();
    let fortran: Vec<f32> = (0..rows * cols).map(|i| at(i % rows, i / rows)).collect();
    folder.write("c.npy", &npy("<f4", "(6, 40)", &f32s(&c)));
    let descr = "{'descr': '<f4', 'fortran_order': True, 'shape': (6, 40), }";
    folder.write("f.npy", &npy_of(descr, &f32s(&fortran)));
    let what_if = |name| {
        tensors(&folder, &[name, "--what-if", "int8-row,mx,fp8-block128,fp8-tensor"])[0]["stats"]["what_if"]
            .clone()
    };
    let (f, c) = (what_if("f.npy"), what_if("c.npy"));
    for i in 0..4 {
        // The sums of squares are added up in another order.
        let [f, c] = [&f, &c].map(|of| of[i]["sqnr"].as_f64().unwrap_or(f64::NAN));
        assert!((f - c).abs() < 1e-9, "{f} {c}");
    }
    assert!(what_if("c.npy")[0]["sqnr"].as_f64().is_some_and(|sqnr| sqnr > 30.0));
}

/// A GGUF file with a tensor of `float32` and one of `Q8_0`, both with the values from -16 to 15.
fn gguf() -> Vec<u8> {
    let text = |text: &str| [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat();
    let mut file = [&b"GGUF"[..], &3_u32.to_le_bytes(), &2_u64.to_le_bytes(), &0_u64.to_le_bytes()].concat();
    for (name, kind, offset) in [("a.weight", 0_u32, 0_u64), ("b.weight", 8, 128)] {
        file.extend(text(name));
        file.extend([&2_u32.to_le_bytes()[..], &32_u64.to_le_bytes(), &1_u64.to_le_bytes()].concat());
        file.extend([&kind.to_le_bytes()[..], &offset.to_le_bytes()].concat());
    }
    file.resize(file.len().next_multiple_of(32), 0);
    file.extend((-16..16_i8).flat_map(|x| f32::from(x).to_le_bytes()));
    file.extend(0x3C00_u16.to_le_bytes());
    file.extend((-16..16_i8).map(|x| x as u8));
    file
}

/// A file of `torch.save` with a tensor of 4 by `float32`.
fn torch() -> Vec<u8> {
    let word = |word: &str| [b"X", &(word.len() as u32).to_le_bytes()[..], word.as_bytes()].concat();
    let pickle = [
        &b"\x80\x02}"[..],
        &word("w"),
        b"ctorch._utils\n_rebuild_tensor_v2\n((",
        &word("storage"),
        b"ctorch\nFloatStorage\n",
        &word("0"),
        &word("cpu"),
        b"K\x04tQK\x00K\x04\x85K\x01\x85\x89ccollections\nOrderedDict\n)RtRs.",
    ];
    let data = f32s(&[1.0, 2.0, 3.0, -6.0]);
    npz(&[("archive/data.pkl", &pickle.concat()), ("archive/data/0", &data)], CompressionMethod::Stored)
}

#[test]
fn files_of_checkpoints_are_inspected_and_standard_input_is_one() {
    let folder = Folder::new();
    // It belongs to no file that is inspected.
    folder.write("config.json", br#"{"quantization_config":{"quant_method":"fp8"}}"#);
    folder.write("in.gguf", &gguf());
    std::fs::create_dir(folder.at("torch")).expect("a folder");
    folder.write("torch/in.pt", &torch());
    for (name, bytes) in [("in.gguf", gguf()), ("torch/in.pt", torch())] {
        let run = |name: &str| -> Value {
            let args = ["inspect", name, "--json", "--what-if", "nvfp4,mx,int8-row,bf16"];
            serde_json::from_slice(&good(common::run_in(folder.path(), &args, &bytes))).expect("JSON")
        };
        let (file, input) = (run(name), run("-"));
        assert_eq!((&file["file"], &input["file"]), (&json!(name), &json!("standard input")));
        assert_eq!((file.get("folder"), &file["tensors"]), (None, &input["tensors"]));
        let stats = &file["tensors"][0]["stats"];
        match name {
            "in.gguf" => {
                let [a, b] = [0, 1].map(|i| &file["tensors"][i]);
                assert_eq!(
                    (&b["layout"], &b["dtype"], &b["shape"]),
                    (&json!("Q8_0"), &Value::Null, &json!([1, 32]))
                );
                assert_eq!((&a["stats"], &stats["mean"]), (&b["stats"], &json!(-0.5)));
                assert_eq!(stats["what_if"][3]["sqnr"], Value::Null);
            }
            _ => assert_eq!(
                (&stats["min"], &stats["max"], &stats["mean"]),
                (&json!(-6.0), &json!(3.0), &json!(0.0))
            ),
        }
        let text = String::from_utf8(good(common::run_in(
            folder.path(),
            &["inspect", "-", "--histogram", "--sort", "size"],
            &bytes,
        )));
        let text = text.expect("UTF-8");
        assert!(text.contains("binary exponents") && text.contains("subnormal"), "{text}");
        // Nothing is left of the copy, and messages do not name it.
        let torn = &bytes[..bytes.len() - 9];
        let line = bad(&common::run_in(folder.path(), &["inspect", "-"], torn), &[4]);
        assert!(line.contains("standard input") && !line.contains(".lanecast-"), "{line}");
        let output = common::run_in(folder.path(), &["inspect", "-", "--include", "nothing"], &bytes);
        let line = bad(&output, &[2]);
        assert!(line.contains("standard input, --include"), "{line}");
    }
    // A file that standard input was redirected from.
    let mut command = common::program();
    command.args(["inspect", "-", "--json"]).current_dir(folder.path());
    command.stdin(std::fs::File::open(folder.at("in.gguf")).expect("a file"));
    let found: Value = serde_json::from_slice(&good(command.output().expect("a run"))).expect("JSON");
    assert_eq!((&found["file"], &found["layout"]), (&json!("standard input"), &json!("GGUF")));
    bad(&folder.run(&["inspect", "in.gguf", "--format", "npy"]), &[4]);
}
