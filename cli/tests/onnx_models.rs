//! `lanecast cast` and `inspect` on `.onnx` models: what is cast, and what stays.

use crate::common::models::{
    onnx::{attribute_proto::AttributeType, *},
    *,
};
use crate::common::{Folder, bad, f32s, good};
use lanecast::half::bf16;
use prost::Message;

#[test]
fn initializers_of_graphs_in_graphs() {
    let e = [2.5_f32, -7.0];
    let inner =
        |bias: f32| graph("inner", vec![node("Mul", &["Y", "E"], "Z")], vec![raw("E", &[1], &[bias])]);
    let typed = TensorProto { float_data: e.to_vec(), doc_string: text("kept"), ..tensor("B", &[2]) };
    let ints = TensorProto { data_type: Some(7), int64_data: vec![3], ..tensor("I", &[1]) };
    let branches = vec![branch("then_branch", inner(1.5)), branch("else_branch", inner(-1.5))];
    let nodes =
        vec![node("Add", &["X", "W"], "Y"), NodeProto { attribute: branches, ..node("If", &["C"], "Z") }];
    let mut old = model(8, 17, graph("outer", nodes, vec![raw("W", &[2, 2], &W), typed, ints.clone()]));
    old.producer_name = text("somebody");
    old.functions = vec![FunctionProto {
        name: text("f"),
        node: vec![node("Add", &["a", "b"], "c")],
        ..Default::default()
    }];
    old.metadata_props = vec![StringStringEntryProto { key: text("k"), value: text("v") }];

    // What should come of it, made of the same messages.
    let mut new = old.clone();
    let change = |graph: &mut GraphProto, changes: &[(usize, &str, &str, TensorProto)]| {
        for (i, name, new, tensor) in changes.iter().rev() {
            graph.initializer[*i] = tensor.clone();
            graph.node.insert(0, cast_node(new, name));
        }
    };
    let outer = new.graph.as_mut().expect("a graph");
    let typed = TensorProto { doc_string: text("kept"), ..halved("B__float16", &[2], &e) };
    change(
        outer,
        &[(0, "W", "W__float16", halved("W__float16", &[2, 2], &W)), (1, "B", "B__float16", typed)],
    );
    let attributes = &mut outer.node[3].attribute;
    for (i, (name, bias)) in [("E__float16", 1.5), ("E__float16_2", -1.5)].into_iter().enumerate() {
        let inner = attributes[i].g.as_mut().expect("a graph");
        change(inner, &[(0, "E", name, halved(name, &[1], &[bias]))]);
    }

    let folder = Folder::new();
    assert_eq!(folder.cast(&old, &["--to", "float16"]), new);
    // Choices by name.
    let some = folder.cast(&old, &["--to", "float16", "--include", "W"]);
    let names: Vec<_> = some.graph.iter().flat_map(|g| &g.initializer).map(|t| t.name().to_owned()).collect();
    assert_eq!(names, ["W__float16", "B", "I"]);
    // Nothing to do: the same bytes.
    good(folder.run(&["cast", "in.onnx", "same.onnx", "--to", "float16", "--exclude", "*"]));
    assert_eq!(folder.read("same.onnx"), folder.read("in.onnx"));
    good(folder.run(&["cast", "in.onnx", "same.onnx", "--to", "float32", "--force"]));
    assert_eq!(folder.read("same.onnx"), folder.read("in.onnx"));

    let listed = String::from_utf8(good(folder.run(&["inspect", "in.onnx"]))).expect("text");
    assert!(listed.contains("W     float32  (2, 2)  16"), "{listed}");
    assert!(listed.contains("I     int64    (1,)    "), "{listed}");
    assert!(listed.contains("5 tensors") && listed.contains("metadata opset ai.onnx = 17"), "{listed}");
}

/// Enough elements to be cast by default.
fn many() -> Vec<f32> {
    (0..16).map(|i| 0.1 * i as f32 - 0.7).collect()
}

#[test]
fn constants_of_graphs_in_graphs() {
    let values = many();
    let f64s: Vec<f64> = values.iter().map(|x| f64::from(*x)).collect();
    let wide = TensorProto { data_type: Some(11), double_data: f64s, ..tensor("", &[16]) };
    let ints = TensorProto { data_type: Some(7), int64_data: vec![3; 16], ..tensor("", &[16]) };
    let texts = TensorProto { data_type: Some(8), string_data: vec![b"x".to_vec(); 16], ..tensor("", &[16]) };
    let typed = TensorProto { float_data: values.clone(), doc_string: text("kept"), ..tensor("", &[4, 4]) };
    // Nodes that stay: other attributes, more than one of them, another domain, no single output.
    let mut floats = constant("floats", TensorProto::default());
    floats.attribute[0] = AttributeProto {
        name: text("value_floats"),
        floats: values.clone(),
        r#type: Some(AttributeType::Floats as i32),
        ..Default::default()
    };
    let mut two = constant("two", raw("", &[16], &values));
    two.attribute.push(floats.attribute[0].clone());
    let mut renamed = constant("renamed", raw("", &[16], &values));
    renamed.attribute[0].name = text("other");
    let mut mistyped = constant("mistyped", raw("", &[16], &values));
    mistyped.attribute[0].r#type = Some(AttributeType::Int as i32);
    let mut full = constant("full", raw("", &[16], &values));
    full.attribute[0].g = Some(graph("g", Vec::new(), Vec::new()));
    let foreign = NodeProto { domain: text("mine"), ..constant("foreign", raw("", &[16], &values)) };
    let mut outputs = constant("one", raw("", &[16], &values));
    outputs.output.push("other".to_owned());
    let unnamed = constant("", raw("", &[16], &values));
    let other = NodeProto { op_type: text("ConstantOfShape"), ..constant("shaped", raw("", &[16], &values)) };
    let stay = [floats, two, renamed, mistyped, full, foreign, outputs, unnamed, other];
    let inner = |x: f32| {
        let nodes = vec![
            node("Neg", &["W"], "n"),
            constant("C", raw("", &[16], &[x; 16])),
            node("Mul", &["n", "C"], "Z"),
        ];
        graph("inner", nodes, Vec::new())
    };
    let branches = vec![branch("then_branch", inner(1.5)), branch("else_branch", inner(-1.5))];
    let mut nodes = vec![
        NodeProto { name: text("k"), doc_string: text("doc"), ..constant("W", raw("label", &[16], &values)) },
        NodeProto { domain: text("ai.onnx"), ..constant("V", typed.clone()) },
        constant("D", wide),
        constant("I", ints),
        constant("T", texts),
        constant("small", raw("", &[15], &values[..15])),
        constant("scalar", raw("", &[], &[1e-12])),
        NodeProto { attribute: branches, ..node("If", &["I"], "Z") },
    ];
    nodes.extend(stay);
    let mut old = model(8, 17, graph("outer", nodes, vec![raw("B", &[16], &values)]));
    old.functions = vec![FunctionProto {
        name: text("f"),
        node: vec![constant("F", raw("", &[16], &values))],
        ..Default::default()
    }];

    let mut new = old.clone();
    let half = |node: &mut NodeProto, name: &str, tensor: TensorProto| {
        node.output[0] = name.to_owned();
        node.attribute[0].t = Some(tensor);
    };
    let bare = |dims: &[i64], values: &[f32]| TensorProto { name: None, ..halved("", dims, values) };
    let outer = new.graph.as_mut().expect("a graph");
    for (branch, (name, x)) in
        outer.node[7].attribute.iter_mut().zip([("C__float16", 1.5), ("C__float16_2", -1.5)])
    {
        let graph = branch.g.as_mut().expect("a graph");
        half(&mut graph.node[1], name, bare(&[16], &[x; 16]));
        graph.node.insert(2, cast_node(name, "C"));
    }
    half(&mut outer.node[0], "W__float16", halved("label", &[16], &values));
    half(
        &mut outer.node[1],
        "V__float16",
        TensorProto { doc_string: text("kept"), ..bare(&[4, 4], &values) },
    );
    half(&mut outer.node[2], "D__float16", bare(&[16], &values));
    let mut back = cast_node("D__float16", "D");
    back.attribute[0].i = Some(11);
    outer.node.insert(3, back);
    outer.node.insert(2, cast_node("V__float16", "V"));
    outer.node.insert(1, cast_node("W__float16", "W"));
    outer.node.insert(0, cast_node("B__float16", "B"));
    outer.initializer[0] = halved("B__float16", &[16], &values);

    let folder = Folder::new();
    // The name of a tensor in a node means nothing; those that are empty are not written again.
    let cast = folder.cast_large(&old, &["--to", "float16"]);
    assert_eq!(cast, new);
    // Choices by dtype and by the name of the output.
    let outputs = |model: ModelProto| -> Vec<String> {
        let nodes = model.graph.expect("a graph").node;
        nodes.iter().filter(|node| node.op_type() == "Cast").map(|node| node.input[0].clone()).collect()
    };
    let wide = folder.cast_large(&old, &["--to", "float16", "--from", "float64"]);
    assert_eq!(outputs(wide), ["D__float16"]);
    let some = folder.cast_large(&old, &["--to", "float16", "--exclude", "?"]);
    assert_eq!(outputs(some), [""; 0]);
    let named = folder.cast_large(&old, &["--to", "float16", "--include", "s*", "--include", "[VI]"]);
    assert_eq!(outputs(named), ["V__float16", "small__float16", "scalar__float16"]);
    // Nothing to do: the same bytes.
    good(folder.run(&["cast", "in.onnx", "same.onnx", "--to", "float16", "--exclude", "*"]));
    assert_eq!(folder.read("same.onnx"), folder.read("in.onnx"));

    let listed = String::from_utf8(good(folder.run(&["inspect", "in.onnx"]))).expect("text");
    assert!(listed.contains("W       float32  (16,)   64"), "{listed}");
    assert!(listed.contains("C       float32  (16,)   64"), "{listed}");
    assert!(listed.contains("scalar  float32  ()      4"), "{listed}");
    assert!(listed.contains("10 tensors"), "{listed}");
}

#[test]
fn small_initializers_are_cast_by_name() {
    let values = many();
    let tensors = vec![
        raw("scales", &[4], &values[..4]),
        raw("min", &[], &[-1.0]),
        raw("W", &[4, 4], &values),
        raw("V", &[3, 5], &values[..15]),
        raw("none", &[0, 16], &[]),
    ];
    let old = model(8, 13, graph("g", Vec::new(), tensors));
    let folder = Folder::new();
    let names = |arguments: &[&str]| -> Vec<String> {
        let graph = folder.cast_large(&old, &[&["--to", "float16"], arguments].concat()).graph;
        graph.expect("a graph").initializer.iter().map(|tensor| tensor.name().to_owned()).collect()
    };
    assert_eq!(names(&[]), ["scales", "min", "W__float16", "V", "none"]);
    assert_eq!(
        names(&["--from", "float32", "--exclude", "min"]),
        ["scales", "min", "W__float16", "V", "none"]
    );
    assert_eq!(names(&["--include", "[mV]*"]), ["scales", "min__float16", "W", "V__float16", "none"]);
}

#[test]
fn constants_whose_fields_stand_in_another_order() {
    let whole = constant("W", raw("", &[16], &many()));
    let unknown = [0xC2, 0x3E, 3, b'x', b'y', b'z'];
    let field = |number: u8, bytes: &[u8]| {
        let mut field = vec![number << 3 | 2];
        prost::encoding::encode_varint(bytes.len() as u64, &mut field);
        [&field[..], bytes].concat()
    };
    // The tensor before the name of its attribute, the attribute before output and operator.
    let value = field(5, &whole.attribute[0].t.as_ref().expect("a tensor").encode_to_vec());
    let rest = AttributeProto { t: None, ..whole.attribute[0].clone() }.encode_to_vec();
    let value = field(5, &[&unknown[..], &value, &unknown, &rest].concat());
    let rest = NodeProto { attribute: Vec::new(), ..whole.clone() }.encode_to_vec();
    let node = field(1, &[&unknown[..], &value, &unknown, &rest, &unknown].concat());
    let opset = OperatorSetIdProto { domain: None, version: Some(13) }.encode_to_vec();
    let folder = Folder::new();
    folder.write("in.onnx", &[vec![0x08, 7], field(8, &opset), field(7, &node)].concat());
    good(folder.run(&["cast", "in.onnx", "out.onnx", "--to", "float16"]));
    let out = folder.read("out.onnx");
    assert_eq!(out.windows(unknown.len()).filter(|window| *window == unknown).count(), 5);
    let nodes = folder.model("out.onnx").graph.expect("a graph").node;
    let expected = constant("W__float16", TensorProto { name: None, ..halved("", &[16], &many()) });
    assert_eq!(nodes, [expected, cast_node("W__float16", "W")]);
}

#[test]
fn constants_that_cannot_be_cast() {
    let folder = Folder::new();
    let with = |opset, tensor| model(8, opset, graph("g", vec![constant("W", tensor)], Vec::new()));
    let old = |opset| with(opset, raw("", &[16], &many()));
    // Before opset 9 a constant held floats, a Cast took more.
    let line = folder.refused(&old(8), &["--to", "int8"], &[5]);
    assert!(line.contains("Constant-1 does not hold int8") && line.contains("opset 9"), "{line}");
    folder.cast(&small(8, 8), &["--to", "int8"]);
    folder.cast(&old(8), &["--to", "float16"]);
    folder.cast(&old(9), &["--to", "int8", "-q"]);
    let line = folder.refused(&old(28), &["--to", "float6_e2m3fn"], &[5]);
    assert!(line.contains("Constant-25 does not hold float6_e2m3fn"), "{line}");
    folder.refused(&old(18), &["--to", "float8_e5m2"], &[5]);
    let mut training = old(13);
    training.training_info = vec![TrainingInfoProto::default()];
    folder.refused(&training, &["--to", "float16"], &[5]);

    let line = folder.refused(&with(13, raw("", &[17], &many())), &["--to", "float16"], BAD);
    assert!(line.contains("tensor \"W\""), "{line}");
    let short = TensorProto { float_data: many()[1..].to_vec(), ..tensor("", &[16]) };
    folder.refused(&with(13, short), &["--to", "float16"], BAD);
}

#[test]
fn constants_in_other_files() {
    let folder = Folder::new();
    std::fs::create_dir(folder.at("sub")).expect("a folder");
    folder.write("w.bin", &[f32s(&many()), vec![5; 8]].concat());
    let w = external("W", &[16], &[("location", "w.bin")]);
    let i =
        TensorProto { data_type: Some(7), ..external("", &[1], &[("location", "w.bin"), ("offset", "64")]) };
    let old = model(8, 13, graph("g", vec![constant("W", w), constant("I", i)], Vec::new()));
    folder.put("in.onnx", &old);
    good(folder.run(&["cast", "in.onnx", "sub/out.onnx", "--to", "float16"]));
    let data = folder.read("sub/out.onnx.data");
    assert_eq!((&data[..32], &data[4096..]), (&halves(&many())[..], &[5; 8][..]));
    let place = |name: &str, offset: &str, length: &str, dims: &[i64], code| TensorProto {
        data_type: Some(code),
        ..external(name, dims, &[("location", "out.onnx.data"), ("offset", offset), ("length", length)])
    };
    let mut i = constant("I", place("", "4096", "8", &[1], 7));
    i.attribute[0].t.as_mut().expect("a tensor").name = None;
    let w = constant("W__float16", place("W", "0", "32", &[16], 10));
    assert_eq!(
        folder.model("sub/out.onnx").graph.expect("a graph").node,
        [w, cast_node("W__float16", "W"), i]
    );
    folder.remove("w.bin");
    bad(&folder.run(&["cast", "in.onnx", "sub/out2.onnx", "--to", "float16"]), &[3]);
}

#[test]
fn fields_of_later_versions_are_kept() {
    // A field 1000 of each kind in the tensor, the graph and the model.
    let unknown = [
        0xC2, 0x3E, 3, b'x', b'y', b'z', 0xC0, 0x3E, 7, 0xC5, 0x3E, 1, 2, 3, 4, 0xC1, 0x3E, 8, 7, 6, 5, 4, 3,
        2, 1,
    ];
    let field = |number: u8, bytes: &[u8]| {
        let mut field = vec![number << 3 | 2];
        prost::encoding::encode_varint(bytes.len() as u64, &mut field);
        [&field[..], bytes].concat()
    };
    let tensor = [&unknown[..], &raw("W", &[2, 2], &W).encode_to_vec(), &unknown].concat();
    let graph = [field(5, &tensor), unknown.to_vec(), field(2, b"g")].concat();
    let opset = OperatorSetIdProto { domain: None, version: Some(13) }.encode_to_vec();
    let file =
        [unknown.to_vec(), vec![0x08, 7], field(7, &graph), field(8, &opset), unknown.to_vec()].concat();
    let folder = Folder::new();
    folder.write("in.onnx", &file);
    good(folder.run(&["cast", "in.onnx", "out.onnx", "--to", "bfloat16", "--include", "W"]));
    let out = folder.read("out.onnx");
    assert_eq!(out.windows(unknown.len()).filter(|window| *window == unknown).count(), 5);
    let new = folder.model("out.onnx").graph.expect("a graph");
    let expected: Vec<u8> = W.iter().flat_map(|x| bf16::from_f32(*x).to_le_bytes()).collect();
    assert_eq!(new.initializer[0].raw_data(), expected);
    assert_eq!((new.initializer[0].data_type(), new.initializer[0].name()), (16, "W__bfloat16"));
    assert_eq!(new.node, [cast_node("W__bfloat16", "W")]);
}

#[test]
fn opsets_and_ir_versions() {
    let folder = Folder::new();
    for (ir, opset, to, ir_after) in [
        (7, 13, "bfloat16", 7),
        (8, 19, "float8_e4m3fn", 9),
        (9, 21, "int4", 10),
        (10, 23, "float4_e2m1fn", 11),
        (10, 24, "float8_e8m0fnu", 12),
        (10, 25, "uint2", 13),
        (10, 28, "float6_e3m2fn", 14),
        (14, 99, "float64", 14),
    ] {
        let new = folder.cast(&small(ir, opset), &["--to", to]);
        assert_eq!(new.ir_version, Some(ir_after), "{to}");
        assert_eq!(new.opset_import[0].version, Some(opset));
        assert_eq!(new.graph.expect("a graph").node[0].input, [format!("W__{to}")]);
    }
    let line = folder.refused(&small(8, 18), &["--to", "float8_e5m2"], &[5]);
    assert!(line.contains("Cast-13 does not take float8_e5m2; opset 19 is the first that does"), "{line}");
    assert!(line.contains("version_converter"), "{line}");
    folder.refused(&small(8, 18), &["--to", "complex64"], &[5]);
    folder.refused(&small(8, 18), &["--to", "float8_e3m4"], &[5]);
    folder.refused(&small(8, 0), &["--to", "float16"], &[5]);
    let mut none = small(8, 18);
    none.opset_import.clear();
    folder.refused(&none, &["--to", "float16"], &[5]);
    none.ir_version = Some(2);
    let first = folder.cast(&none, &["--to", "float16"]).graph.expect("a graph");
    assert_eq!(first.node[0].attribute[0].s(), b"FLOAT");
    assert_eq!(first.node[0].attribute[0].r#type(), AttributeType::String);
    let mut training = small(8, 18);
    let algorithm = Some(graph("t", Vec::new(), vec![raw("rate", &[1], &[0.1])]));
    training.training_info = vec![TrainingInfoProto { algorithm, ..Default::default() }];
    assert!(folder.refused(&training, &["--to", "float16"], &[5]).contains("training_info"));
    assert_eq!(folder.cast(&training, &["--to", "float32"]), training);
    let mut two = small(8, 18);
    two.opset_import.push(OperatorSetIdProto { domain: text("ai.onnx"), version: Some(18) });
    folder.refused(&two, &["--to", "float16"], BAD);
}

#[test]
fn initializers_that_are_inputs() {
    let folder = Folder::new();
    for (ir, cast) in [(3, true), (4, false), (9, false)] {
        let mut old = small(ir, 13);
        let graph = old.graph.as_mut().expect("a graph");
        graph.input = vec![value("X"), value("W")];
        graph.initializer.push(raw("V", &[1], &[0.5]));
        graph.input.push(value("V"));
        let new = folder.cast(&old, &["--to", "float16", "--exclude", "V"]);
        if !cast {
            assert_eq!(new, old);
            continue;
        }
        assert_eq!(new.ir_version, Some(4));
        let graph = new.graph.expect("a graph");
        assert_eq!(graph.input, [value("X"), value("V")]);
        assert_eq!(graph.node[0], cast_node("W__float16", "W"));
    }
}

#[test]
fn new_names_are_new() {
    let folder = Folder::new();
    let mut old = small(8, 13);
    let graph = old.graph.as_mut().expect("a graph");
    graph.node.push(node("Neg", &["Y"], "W__float16"));
    graph.node[0].name = text("Cast_W__float16_2");
    let new = folder.cast(&old, &["--to", "float16"]).graph.expect("a graph");
    assert_eq!(new.initializer[0].name(), "W__float16_2");
    assert_eq!(new.node[0].name(), "Cast_W__float16_2_2");
    assert_eq!(
        (&new.node[0].input[..], &new.node[0].output[..]),
        (&["W__float16_2".to_owned()][..], &["W".to_owned()][..])
    );
}
