//! `--include`, `--exclude` and `--from` that choose nothing.

use crate::common::models::{graph, model, raw};
use crate::common::{Folder, bad, f32s, good, npy, npy_of, npz, safetensors};
use serde_json::Value;
use zip::CompressionMethod;

/// Two floating tensors and one of integers.
fn folder() -> Folder {
    let header = concat!(
        r#"{"lm_head.weight":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"#,
        r#""model.norm.weight":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},"#,
        r#""position_ids":{"dtype":"I32","shape":[1],"data_offsets":[12,16]}}"#
    );
    let folder = Folder::new();
    folder.write("in.safetensors", &safetensors(header, &f32s(&[1.0, 2.0, 3.0, 4.0])));
    folder
}

fn cast(folder: &Folder, more: &[&str]) -> std::process::Output {
    folder.run(&[&["cast", "in.safetensors", "out.safetensors", "--to", "f16", "--force"], more].concat())
}

#[test]
fn a_pattern_without_a_tensor_is_refused_with_the_near_names() {
    let folder = folder();
    for (chosen, expected) in [
        (
            &["--include", "lm_haed.weight"][..],
            "no tensor has a name that matches \"lm_haed.weight\": in.safetensors, --include: did you mean lm_head.weight?",
        ),
        (&["--include", "lm_head.*", "--include", "LM_HEAD.*"], "did you mean lm_head.weight?"),
        (
            &["--exclude", "*nrom*"],
            "matches \"*nrom*\": in.safetensors, --exclude: did you mean model.norm.weight?",
        ),
        (&["--include", "weight"], "did you mean lm_head.weight or model.norm.weight?"),
        (&["--include", "quantizer"], "see `lanecast inspect` for the names"),
    ] {
        for dry in [&[][..], &["--dry-run"]] {
            let line = bad(&cast(&folder, &[chosen, dry].concat()), &[2]);
            assert!(line.contains(expected), "{line}");
        }
    }
    assert_eq!(folder.names(), ["in.safetensors"]);
}

#[test]
fn a_choice_without_a_tensor_is_refused_and_says_why() {
    let folder = folder();
    for (chosen, why) in [
        (&["--include", "position_ids"][..], "no tensor is chosen, 2 not included by name, 1 not floating"),
        (&["--from", "int8"], "no tensor is chosen, 3 of another dtype"),
        (&["--from", "int32", "--exclude", "pos*"], "2 of another dtype, 1 excluded by name"),
    ] {
        let line = bad(&cast(&folder, chosen), &[2]);
        assert!(line.contains(why) && line.contains("in.safetensors: see `lanecast inspect`"), "{line}");
    }
    assert_eq!(folder.names(), ["in.safetensors"]);
}

#[test]
fn a_cast_of_nothing_says_so() {
    let folder = folder();
    let text = String::from_utf8(good(cast(&folder, &["--exclude", "*"]))).unwrap();
    assert!(text.contains("cast 0 of 3 tensors") && text.contains("no tensor is cast: 3 excluded by name"));
    assert_eq!(folder.read("out.safetensors").len() % 8, 0);
    let report: Value =
        serde_json::from_slice(&good(cast(&folder, &["--exclude", "*weight", "--json"]))).unwrap();
    assert_eq!(report["nothing_cast"], "2 excluded by name, 1 not floating");
    assert_eq!(report["entries"][2]["kept"], "not floating");
    let report: Value = serde_json::from_slice(&good(cast(&folder, &["--json"]))).unwrap();
    assert_eq!((report.get("nothing_cast"), &report["tensors_cast"]), (None, &2.into()));
    assert_eq!(report["entries"][0].get("kept"), None);
    let text = String::from_utf8(good(cast(&folder, &["--dry-run"]))).unwrap();
    assert!(text.contains("(1,)  4 -> 4 bytes  not floating"), "{text}");
    folder.write("empty.npz", &npz(&[], CompressionMethod::Stored));
    let text = String::from_utf8(good(folder.run(&["cast", "empty.npz", "out.npz", "--to", "f16"]))).unwrap();
    assert!(text.contains("no tensor is cast: there is none in the file"), "{text}");
}

#[test]
fn models_have_reasons_of_their_own() {
    let folder = Folder::new();
    let tensors = vec![raw("W", &[16], &[0.5; 16]), raw("scale", &[1], &[0.5])];
    folder.put("in.onnx", &model(8, 13, graph("g", Vec::new(), tensors)));
    let run =
        |more: &[&str]| folder.run(&[&["cast", "in.onnx", "out.onnx", "--force", "--to"], more].concat());
    // What a model holds already is no slip of the choice.
    let text = String::from_utf8(good(run(&["float32", "--include", "*"]))).unwrap();
    assert!(text.contains("no tensor is cast: 2 of the target dtype already"), "{text}");
    let text = String::from_utf8(good(run(&["float16", "--exclude", "W"]))).unwrap();
    assert!(text.contains("1 excluded by name, 1 smaller than 16 elements"), "{text}");
}

#[test]
fn members_of_archives_stand_for_their_fields() {
    let folder = Folder::new();
    let fields = "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }";
    let points = npy_of(fields, &f32s(&[1.0]));
    let bad_one = npy("|O", "(1,)", b"pickle");
    folder.write("in.npz", &npz(&[("points.npy", &points), ("o.npy", &bad_one)], CompressionMethod::Stored));
    let run = |more: &[&str]| {
        folder.run(&[&["cast", "in.npz", "out.npz", "--to", "f16", "--force"], more].concat())
    };
    for fine in [
        &["--include", "points"][..],
        &["--include", "points.x"],
        &["--exclude", "o"],
        &["--exclude", "points.x"],
    ] {
        good(run(fine));
    }
    let line = bad(&run(&["--include", "point.x"]), &[2]);
    assert!(line.contains("did you mean points.x or points?"), "{line}");
}
