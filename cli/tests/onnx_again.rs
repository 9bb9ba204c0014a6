//! `lanecast cast` on models that it has made: `Cast` nodes do not pile up, and the way back restores the model.

use crate::common;
use crate::common::models;
use crate::common::models::{
    onnx::{attribute_proto::AttributeType, *},
    *,
};
use crate::common::{Folder, good};
use serde_json::Value;

/// Values that float16, bfloat16 and int8 hold.
fn exact(n: usize) -> Vec<f32> {
    (0..n).map(|i| i as f32 - 5.0).collect()
}

/// Initializers, constants, graphs in graphs, the same name in two of them.
fn whole() -> ModelProto {
    let inner = |n: usize| {
        let nodes = vec![constant("C", raw("label", &[16], &exact(16))), node("Mul", &["C", "E"], "Z")];
        graph("inner", nodes, vec![raw("E", &[n as i64], &exact(n))])
    };
    let branches = vec![branch("then_branch", inner(2)), branch("else_branch", inner(3))];
    let nodes = vec![
        node("Add", &["X", "W"], "Y"),
        constant("K", TensorProto { name: None, ..raw("", &[4, 4], &exact(16)) }),
        NodeProto { attribute: branches, ..node("If", &["C"], "Z") },
        // Another's node, which stays.
        cast_node("Y", "Q"),
    ];
    let wide: Vec<u8> = exact(20).iter().flat_map(|x| f64::from(*x).to_le_bytes()).collect();
    let double = TensorProto { data_type: Some(11), raw_data: Some(wide), ..tensor("D", &[20]) };
    let ints = TensorProto { data_type: Some(7), raw_data: Some(vec![0; 8]), ..tensor("I", &[1]) };
    let tensors = vec![raw("W", &[2, 8], &exact(16)), double, ints, raw("V", &[1], &[0.5])];
    model(8, 17, graph("outer", nodes, tensors))
}

fn cast(folder: &Folder, input: &str, output: &str, more: &[&str]) -> Value {
    let report = good(folder.run(&[&["cast", input, output, "--force", "--json", "--to"], more].concat()));
    serde_json::from_slice(&report).expect("one JSON object")
}

#[test]
fn the_way_back_restores_the_model() {
    let folder = Folder::new();
    let mut single = whole();
    // Doubles come back by a cast of their own.
    single.graph.as_mut().expect("a graph").initializer.remove(1);
    folder.put("in.onnx", &single);
    for more in [&[][..], &["--include", "*"]] {
        for (there, choice) in [("float16", more), ("bfloat16", more), ("int8", &["--from", "float32"])] {
            let first = cast(&folder, "in.onnx", "small.onnx", &[&[there], choice].concat());
            assert!(first["tensors_cast"].as_u64() >= Some(4), "{there}");
            assert_ne!(folder.read("small.onnx"), folder.read("in.onnx"));
            // No choice is needed: what was small or is of integers now was cast, and comes back.
            let back = cast(&folder, "small.onnx", "back.onnx", &["float32"]);
            assert_eq!(back["tensors_cast"], first["tensors_cast"]);
            assert!(folder.read("back.onnx") == folder.read("in.onnx"), "{there}");
        }
    }
    // Of two dtypes, each by its own cast.
    folder.put("in.onnx", &whole());
    cast(&folder, "in.onnx", "small.onnx", &["float16"]);
    cast(&folder, "small.onnx", "single.onnx", &["float32", "--exclude", "D"]);
    cast(&folder, "single.onnx", "back.onnx", &["float64", "--include", "D"]);
    assert!(folder.read("back.onnx") == folder.read("in.onnx"));
}

#[test]
fn nodes_do_not_pile_up() {
    let folder = Folder::new();
    folder.put("in.onnx", &whole());
    for all in [&[][..], &["--include", "*", "--exclude", "I"]] {
        cast(&folder, "in.onnx", "direct.onnx", &[&["bfloat16"], all].concat());
        cast(&folder, "in.onnx", "a.onnx", &[&["float16"], all].concat());
        for to in ["bfloat16", "float16", "bfloat16"] {
            cast(&folder, "a.onnx", "b.onnx", &[to]);
            std::fs::rename(folder.at("b.onnx"), folder.at("a.onnx")).expect("a rename");
        }
        assert_eq!(folder.model("a.onnx"), folder.model("direct.onnx"));
        assert!(folder.read("a.onnx") == folder.read("direct.onnx"));
    }
    // Cast to what it is already, it stays as it is.
    cast(&folder, "a.onnx", "b.onnx", &["bfloat16"]);
    assert!(folder.read("a.onnx") == folder.read("b.onnx"));
}

#[test]
fn choices_know_both_names() {
    let folder = Folder::new();
    folder.put("in.onnx", &whole());
    cast(&folder, "in.onnx", "small.onnx", &["float16"]);
    let names = |more: &[&str]| -> Vec<String> {
        let report = cast(&folder, "small.onnx", "out.onnx", &[&["bfloat16"], more].concat());
        let entries = report["entries"].as_array().expect("a list").iter();
        let some = entries.filter(|entry| !entry["to"].is_null());
        some.map(|entry| entry["name"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(names(&["--include", "W"]), ["W__float16"]);
    assert_eq!(names(&["--include", "W__float16"]), ["W__float16"]);
    assert_eq!(names(&["--exclude", "[KDC]"]), ["W__float16"]);
    let output = folder.model("out.onnx").graph.expect("a graph");
    assert_eq!(output.initializer[0].name(), "W__bfloat16");
    assert_eq!(output.node[0], cast_node("W__bfloat16", "W"));
    // Names that were taken have numbers.
    let mut taken = small(8, 13);
    taken.graph.as_mut().expect("a graph").node.push(node("Neg", &["Y"], "W__float16"));
    folder.put("in.onnx", &taken);
    cast(&folder, "in.onnx", "small.onnx", &["float16", "--include", "W"]);
    assert_eq!(folder.model("small.onnx").graph.expect("a graph").initializer[0].name(), "W__float16_2");
    cast(&folder, "small.onnx", "back.onnx", &["float32"]);
    let (back, old) = (folder.model("back.onnx").graph, taken.graph);
    let names = |graph: Option<GraphProto>| {
        let graph = graph.expect("a graph");
        (graph.node, graph.initializer.iter().map(|tensor| tensor.name().to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(names(back), names(old));
}

/// What looks like a node of ours but is used otherwise is left alone.
#[test]
fn other_uses_of_a_tensor_still_find_it() {
    let folder = Folder::new();
    let cast_once = |change: &dyn Fn(&mut GraphProto)| {
        folder.put(
            "in.onnx",
            &model(8, 13, graph("g", vec![node("Add", &["X", "W"], "Y")], vec![raw("W", &[16], &exact(16))])),
        );
        cast(&folder, "in.onnx", "small.onnx", &["float16"]);
        let mut small = folder.model("small.onnx");
        change(small.graph.as_mut().expect("a graph"));
        folder.put("small.onnx", &small);
        cast(&folder, "small.onnx", "out.onnx", &["float32"]);
        folder.model("out.onnx").graph.expect("a graph")
    };
    let restored = cast_once(&|_| {});
    assert_eq!((restored.node.len(), restored.initializer[0].name()), (1, "W"));
    let half = AttributeProto {
        i: Some(10),
        name: text("to"),
        r#type: Some(AttributeType::Int as i32),
        ..Default::default()
    };
    let changes: [&dyn Fn(&mut GraphProto); 7] = [
        // Another reader of the narrow form, in the graph and in one inside it.
        &|graph| graph.node.push(node("Neg", &["W__float16"], "N")),
        &|graph| {
            let inner = models::graph("inner", vec![node("Neg", &["W__float16"], "N")], Vec::new());
            let attribute = vec![branch("then_branch", inner)];
            graph.node.push(NodeProto { attribute, ..node("If", &["X"], "I") });
        },
        &|graph| graph.output.push(value("W__float16")),
        // Another name, operator, domain or attribute of the node.
        &|graph| graph.node[0].name = text("mine"),
        &|graph| graph.node[0].op_type = text("Identity"),
        &|graph| graph.node[0].domain = text("mine"),
        &|graph| graph.node[0].attribute.push(half.clone()),
    ];
    for (i, change) in changes.iter().enumerate() {
        let stacked = cast_once(change);
        assert_eq!(stacked.initializer[0].name(), "W__float16__float32", "{i}");
        assert_eq!(stacked.node[0].output, ["W__float16"], "{i}");
        assert_eq!(stacked.node[1].input, ["W__float16"], "{i}");
    }
    // What shape inference says of a value is no use of it.
    let restored = cast_once(&|graph| graph.value_info.push(value("W")));
    assert_eq!((restored.node.len(), restored.initializer[0].name()), (1, "W"));
}

#[test]
fn tensors_in_other_files_come_back() {
    let folder = Folder::new();
    folder.write("w.bin", &common::f32s(&exact(16)));
    let w = external("W", &[16], &[("location", "w.bin")]);
    let old = model(8, 13, graph("g", vec![node("Add", &["X", "W"], "Y")], vec![w]));
    folder.put("in.onnx", &old);
    cast(&folder, "in.onnx", "small.onnx", &["float16"]);
    cast(&folder, "small.onnx", "back.onnx", &["float32"]);
    assert_eq!(folder.read("back.onnx.data"), folder.read("w.bin"));
    let graph = folder.model("back.onnx").graph.expect("a graph");
    assert_eq!((graph.node, graph.initializer[0].name()), (old.graph.expect("a graph").node, "W"));
}
