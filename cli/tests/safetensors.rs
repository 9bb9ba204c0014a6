//! `.safetensors` through `lanecast cast` and `inspect`. The reference implementation reads what the
//! program writes.

use crate::common::{Folder, bad, f32s, f64s, good, safetensors, split_safetensors};
use safetensors::{Dtype, SafeTensors};
use serde_json::Value;

/// Two floats, an integer, an empty tensor and a scalar; data in another order than the header.
fn sample() -> Vec<u8> {
    let header = concat!(
        r#"{"__metadata__":{"zeta":"1","alpha":"\u00e4\n"},"#,
        r#""z.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[16,32]},"#,
        r#""a.index":{"dtype":"I64","shape":[2],"data_offsets":[0,16]},"#,
        r#""empty":{"dtype":"F32","shape":[0,7],"data_offsets":[32,32]},"#,
        r#""half":{"dtype":"F16","shape":[],"data_offsets":[32,34]}}"#
    );
    let mut data: Vec<u8> = [1_i64, -2].iter().flat_map(|x| x.to_le_bytes()).collect();
    data.extend_from_slice(&f32s(&[1.0, -2.5, 1e30, 0.0]));
    data.extend_from_slice(&0x3E00_u16.to_le_bytes());
    safetensors(header, &data)
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("in.safetensors", &sample());
    folder
}

#[test]
fn floats_are_cast_and_all_else_is_kept() {
    let folder = folder();
    good(folder.run(&["cast", "in.safetensors", "out.safetensors", "--to", "float64"]));
    let file = folder.read("out.safetensors");
    let (length, header, data) = split_safetensors(&file);
    assert_eq!(length % 8, 0);
    assert_eq!(
        header,
        concat!(
            "{\"__metadata__\":{\"zeta\":\"1\",\"alpha\":\"ä\\n\"},",
            r#""z.weight":{"dtype":"F64","shape":[2,2],"data_offsets":[16,48]},"#,
            r#""a.index":{"dtype":"I64","shape":[2],"data_offsets":[0,16]},"#,
            r#""empty":{"dtype":"F64","shape":[0,7],"data_offsets":[48,48]},"#,
            r#""half":{"dtype":"F64","shape":[],"data_offsets":[48,56]}}"#
        )
    );
    assert_eq!(&data[16..48], f64s(&[1.0, -2.5, f64::from(1e30_f32), 0.0]));
    assert_eq!(&data[48..], f64s(&[1.5]));
    let read = SafeTensors::deserialize(&file).expect("the reference implementation reads it");
    assert_eq!(read.tensor("z.weight").unwrap().dtype(), Dtype::F64);
    assert_eq!(read.tensor("a.index").unwrap().data(), &sample()[sample().len() - 34..][..16]);
    assert_eq!(folder.names(), ["in.safetensors", "out.safetensors"]);
}

#[test]
fn every_dtype_of_the_format_is_a_target_and_a_source() {
    let folder = folder();
    let names = [
        "bool",
        "u8",
        "i8",
        "u16",
        "i16",
        "u32",
        "i32",
        "u64",
        "i64",
        "f16",
        "bf16",
        "f32",
        "f64",
        "c64",
        "float8_e4m3fn",
        "float8_e4m3fnuz",
        "float8_e5m2",
        "float8_e5m2fnuz",
        "float8_e8m0fnu",
        "float6_e2m3fn",
        "float6_e3m2fn",
        "float4_e2m1fn",
    ];
    // The scalar does not fill a byte of the narrow ones.
    for name in names {
        let args =
            ["cast", "in.safetensors", "there.safetensors", "--to", name, "--exclude", "half", "--force"];
        good(folder.run(&args));
        SafeTensors::deserialize(&folder.read("there.safetensors")).expect(name);
        let args =
            ["cast", "there.safetensors", "back.safetensors", "--to", "f32", "--from", name, "--force"];
        good(folder.run(&args));
        let file = folder.read("back.safetensors");
        let read = SafeTensors::deserialize(&file).expect(name);
        assert_eq!(read.tensor("z.weight").unwrap().dtype(), Dtype::F32, "{name}");
        assert_eq!(read.tensor("z.weight").unwrap().data()[..4], 1.0_f32.to_le_bytes(), "{name}");
    }
    let args = ["cast", "in.safetensors", "no.safetensors", "--to", "float4_e2m1fn"];
    assert!(bad(&folder.run(&args), &[5]).contains("tensor \"half\""));
    for name in ["int4", "uint2", "float8_e3m4", "complex128"] {
        let line = bad(&folder.run(&["cast", "in.safetensors", "no.safetensors", "--to", name]), &[5]);
        assert!(line.contains("no name for") && line.contains(name), "{line}");
    }
}

#[test]
fn data_that_would_lose_its_alignment_is_put_in_another_order() {
    let folder = Folder::new();
    let header = concat!(
        r#"{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},"#,
        r#""b":{"dtype":"I64","shape":[1],"data_offsets":[12,20]}}"#
    );
    let data: Vec<u8> = f32s(&[1.0, 2.0, 3.0]).into_iter().chain(7_i64.to_le_bytes()).collect();
    folder.write("in.safetensors", &safetensors(header, &data));
    good(folder.run(&["cast", "in.safetensors", "out.safetensors", "--to", "float8_e4m3fn"]));
    let file = folder.read("out.safetensors");
    let (_, header, data) = split_safetensors(&file);
    assert_eq!(
        header,
        concat!(
            r#"{"a":{"dtype":"F8_E4M3","shape":[3],"data_offsets":[8,11]},"#,
            r#""b":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}"#
        )
    );
    assert_eq!(data, [7, 0, 0, 0, 0, 0, 0, 0, 0x38, 0x40, 0x44]);
    SafeTensors::deserialize(&file).expect("the reference implementation reads it");
}

#[test]
fn patterns_and_from_choose() {
    let folder = folder();
    let cast = |more: &[&str]| -> Value {
        let args =
            [&["cast", "in.safetensors", "out.safetensors", "--to", "bf16", "--force", "--json"], more]
                .concat();
        serde_json::from_slice(&good(folder.run(&args))).expect("one JSON object")
    };
    let names = |report: &Value| -> Vec<String> {
        let entries = report["entries"].as_array().expect("a list").iter();
        entries
            .filter(|e| e["to"] == "bfloat16")
            .map(|e| e["name"].as_str().unwrap_or_default().into())
            .collect()
    };
    assert_eq!(names(&cast(&[])), ["z.weight", "empty", "half"]);
    assert_eq!(names(&cast(&["--from", "f16"])), ["half"]);
    assert_eq!(names(&cast(&["--from", "i64"])), ["a.index"]);
    assert_eq!(names(&cast(&["--include", "*.weight", "--include", "e*"])), ["z.weight", "empty"]);
    assert_eq!(names(&cast(&["--exclude", "?????"])), ["z.weight", "half"]);
    let report = cast(&[]);
    assert_eq!(report["tensors"], 4);
    assert_eq!(report["tensors_cast"], 3);
    assert_eq!(report["elements"], 5);
    assert_eq!((&report["bytes_in"], &report["bytes_out"]), (&34.into(), &26.into()));
    assert_eq!(report["to"], "bfloat16");
    bad(&folder.run(&["cast", "in.safetensors", "no.safetensors", "--to", "f16", "--include", "["]), &[2]);
}

#[test]
fn the_summary_counts_what_did_not_fit() {
    let folder = folder();
    let args = ["cast", "in.safetensors", "out.safetensors", "--to", "f16", "--json"];
    let report: Value = serde_json::from_slice(&good(folder.run(&args))).expect("one JSON object");
    assert_eq!(report["overflowed_to_infinity"], 1);
    assert_eq!(report["saturated"], 0);
    let args = ["cast", "in.safetensors", "out.safetensors", "--to", "float8_e4m3fn", "--force"];
    let text = String::from_utf8(good(folder.run(&args))).expect("text");
    assert!(text.contains("cast 3 of 4 tensors to float8_e4m3fn, 5 elements"), "{text}");
    // Counts of nothing are left out.
    assert!(text.ends_with("\n1 saturated\n") && text.contains("tier "), "{text}");
    let text =
        String::from_utf8(good(folder.run(&["cast", "in.safetensors", "wide.safetensors", "--to", "f64"])));
    let text = text.expect("text");
    assert_eq!(text.lines().count(), 2, "{text}");
    // One is not two.
    let header = r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    folder.write("one.safetensors", &safetensors(header, &f32s(&[f32::NAN])));
    let cast = ["cast", "one.safetensors", "out.safetensors", "--to", "float4_e2m1fn", "--force"];
    bad(&folder.run(&cast), &[5]);
    let cast = ["cast", "one.safetensors", "out.safetensors", "--to", "int8", "--force"];
    let text = String::from_utf8(good(folder.run(&cast))).expect("text");
    assert!(text.starts_with("cast 1 of 1 tensor to int8, 1 element\n4 bytes in, 1 byte out, "), "{text}");
    assert!(text.ends_with("\n1 NaN lost\n"), "{text}");
    let text = String::from_utf8(good(folder.run(&["inspect", "one.safetensors"]))).expect("text");
    assert!(text.contains("\n1 tensor, 4 bytes\n"), "{text}");
}

#[test]
fn a_dry_run_writes_nothing() {
    let folder = folder();
    let text = String::from_utf8(good(folder.run(&["cast", "in.safetensors", "--to", "bf16", "--dry-run"])))
        .unwrap();
    assert!(text.contains("z.weight  float32  -> bfloat16  (2, 2)  16 -> 8 bytes"), "{text}");
    assert!(text.contains("a.index   int64    copied"), "{text}");
    good(folder.run(&["cast", "in.safetensors", "out.safetensors", "--to", "bf16", "--dry-run", "--json"]));
    assert_eq!(folder.names(), ["in.safetensors"]);
}

#[test]
fn inspect_lists() {
    let folder = folder();
    let text = String::from_utf8(good(folder.run(&["inspect", "in.safetensors"]))).unwrap();
    assert!(text.contains("empty     float32  (0, 7)  0"), "{text}");
    assert!(text.contains("metadata alpha = ä\\n"), "{text}");
    let json: Value =
        serde_json::from_slice(&good(folder.run(&["inspect", "in.safetensors", "--json"]))).unwrap();
    assert_eq!(json["tensors"][0]["name"], "z.weight");
    assert_eq!(json["tensors"][0]["shape"], serde_json::json!([2, 2]));
    assert_eq!(json["metadata"]["alpha"], "ä\n");
    assert_eq!(json["bytes"], 34);
}

#[test]
fn more_than_one_block() {
    let folder = Folder::new();
    let n = 3_000_017;
    let values: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let header = format!(r#"{{"w":{{"dtype":"F32","shape":[{n}],"data_offsets":[0,{}]}}}}"#, 4 * n);
    folder.write("in.safetensors", &safetensors(&header, &f32s(&values)));
    good(folder.run(&["cast", "in.safetensors", "out.safetensors", "--to", "f64"]));
    let file = folder.read("out.safetensors");
    let (_, _, data) = split_safetensors(&file);
    assert!(data == f64s(&values.iter().map(|x| f64::from(*x)).collect::<Vec<_>>()));
}

/// Mixtures of experts have many tensors; only the format limits their number.
#[test]
fn a_quarter_of_a_million_tensors() {
    let folder = Folder::new();
    let name = |i: usize| format!("model.layers.{}.mlp.experts.{i}.down_proj.weight", i / 4000);
    let tensors: Vec<String> = (0..250_000)
        .map(|i| {
            let (begin, end) = (4 * i, 4 * i + 4);
            format!("\"{}\":{{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[{begin},{end}]}}", name(i))
        })
        .collect();
    let header = format!("{{{}}}", tensors.join(","));
    folder.write("in.safetensors", &safetensors(&header, &[0x40; 1_000_000]));
    let text = good(folder.run(&["inspect", "in.safetensors"]));
    assert!(text.ends_with(b"250000 tensors, 1000000 bytes (976.56 KiB)\n"));
    good(folder.run(&["cast", "in.safetensors", "out.safetensors", "--to", "bfloat16"]));
    let bytes = folder.read("out.safetensors");
    let (_, header, data) = split_safetensors(&bytes);
    assert!(header.contains(&name(249_999)) && data.len() == 500_000);
}
