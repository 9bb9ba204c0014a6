//! Small ONNX models, made and read by another implementation of protobuf, and what the program makes of them.

#![allow(dead_code, reason = "every test binary uses its own part")]

#[path = "onnx_proto.rs"]
#[allow(warnings, clippy::all, missing_docs)]
pub mod onnx;

use super::{Folder, bad, f32s, good};
use lanecast::half::f16;
use onnx::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, StringStringEntryProto,
    TensorProto, ValueInfoProto, attribute_proto::AttributeType, tensor_proto::DataLocation,
};
use prost::Message;

pub const W: [f32; 4] = [1.0, -0.1, 65520.0, 1e-8];
pub const BAD: &[i32] = &[4];

pub fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

pub fn tensor(name: &str, dims: &[i64]) -> TensorProto {
    TensorProto { name: text(name), dims: dims.to_vec(), data_type: Some(1), ..Default::default() }
}

pub fn raw(name: &str, dims: &[i64], values: &[f32]) -> TensorProto {
    TensorProto { raw_data: Some(f32s(values)), ..tensor(name, dims) }
}

pub fn node(op: &str, inputs: &[&str], output: &str) -> NodeProto {
    NodeProto {
        op_type: text(op),
        input: inputs.iter().map(|name| name.to_string()).collect(),
        output: vec![output.to_owned()],
        ..Default::default()
    }
}

pub fn graph(name: &str, nodes: Vec<NodeProto>, initializers: Vec<TensorProto>) -> GraphProto {
    GraphProto { name: text(name), node: nodes, initializer: initializers, ..Default::default() }
}

pub fn value(name: &str) -> ValueInfoProto {
    ValueInfoProto { name: text(name), ..Default::default() }
}

pub fn model(ir_version: i64, opset: i64, graph: GraphProto) -> ModelProto {
    ModelProto {
        ir_version: Some(ir_version),
        opset_import: vec![OperatorSetIdProto { domain: text(""), version: Some(opset) }],
        graph: Some(graph),
        ..Default::default()
    }
}

/// One initializer `W`.
pub fn small(ir_version: i64, opset: i64) -> ModelProto {
    model(ir_version, opset, graph("g", vec![node("Add", &["X", "W"], "Y")], vec![raw("W", &[2, 2], &W)]))
}

/// The node that makes a float32 initializer of the new one.
pub fn cast_node(new: &str, name: &str) -> NodeProto {
    let to = AttributeProto {
        name: text("to"),
        i: Some(1),
        r#type: Some(AttributeType::Int as i32),
        ..Default::default()
    };
    NodeProto { name: text(&format!("Cast_{new}")), attribute: vec![to], ..node("Cast", &[new], name) }
}

pub fn halves(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| f16::from_f32(*x).to_le_bytes()).collect()
}

/// The float16 form of an initializer.
pub fn halved(name: &str, dims: &[i64], values: &[f32]) -> TensorProto {
    let halves = Some(halves(values));
    TensorProto { data_type: Some(10), raw_data: halves, ..tensor(name, dims) }
}

/// Small tensors are cast only by name.
pub fn all(arguments: &[&str]) -> &'static [&'static str] {
    if arguments.contains(&"--include") { &[] } else { &["--include", "*"] }
}

/// A node whose output is the tensor.
pub fn constant(output: &str, value: TensorProto) -> NodeProto {
    let value = AttributeProto {
        name: text("value"),
        t: Some(value),
        r#type: Some(AttributeType::Tensor as i32),
        ..Default::default()
    };
    NodeProto { attribute: vec![value], ..node("Constant", &[], output) }
}

pub fn branch(name: &str, graph: GraphProto) -> AttributeProto {
    AttributeProto {
        name: text(name),
        g: Some(graph),
        r#type: Some(AttributeType::Graph as i32),
        ..Default::default()
    }
}

impl Folder {
    pub fn put(&self, name: &str, model: &ModelProto) {
        self.write(name, &model.encode_to_vec());
    }

    pub fn model(&self, name: &str) -> ModelProto {
        ModelProto::decode(&self.read(name)[..]).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// The model that `cast` makes of `model`, if it takes small tensors as well.
    #[track_caller]
    pub fn cast(&self, model: &ModelProto, arguments: &[&str]) -> ModelProto {
        self.cast_large(model, &[arguments, all(arguments)].concat())
    }

    /// The model that `cast` makes of `model`.
    #[track_caller]
    pub fn cast_large(&self, model: &ModelProto, arguments: &[&str]) -> ModelProto {
        self.put("in.onnx", model);
        good(self.run(&[&["cast", "in.onnx", "out.onnx", "--force"], arguments].concat()));
        self.model("out.onnx")
    }

    #[track_caller]
    pub fn refused(&self, model: &ModelProto, arguments: &[&str], codes: &[i32]) -> String {
        self.put("in.onnx", model);
        let before = self.names();
        let line =
            bad(&self.run(&[&["cast", "in.onnx", "out.onnx"], arguments, all(arguments)].concat()), codes);
        assert_eq!(self.names(), before);
        line
    }
}

pub fn external(name: &str, dims: &[i64], keys: &[(&str, &str)]) -> TensorProto {
    let pair = |(key, value): &(&str, &str)| StringStringEntryProto { key: text(key), value: text(value) };
    TensorProto {
        external_data: keys.iter().map(pair).collect(),
        data_location: Some(DataLocation::External as i32),
        ..tensor(name, dims)
    }
}
