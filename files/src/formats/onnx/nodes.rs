//! What the new model needs besides its tensors: `Cast` nodes, their version, and names that nothing else has.

use std::collections::{HashMap, HashSet};

use lanecast::{
    DType,
    onnx::{self, Attributes, Cast, ElementType},
};

use super::{
    model::Model,
    recast::Change,
    schema,
    wire::{put_bytes_field, put_varint_field},
};
use crate::error::{Error, Remedy, Result};

/// The version of Cast in the model, which has to know both dtypes.
pub fn cast_version(model: &Model, from: DType, to: DType) -> Result<u32> {
    // At run time the node goes back.
    match Cast::new(model.opset()?, to, from, &Attributes::NONE) {
        Ok(cast) => Ok(cast.version()),
        Err(onnx::Error::Cast(error)) => Err(error.into()),
        Err(error) => {
            let remedy = match error {
                onnx::Error::Type { since: Some(since), .. } => Remedy::Text(format!(
                    "bring the model to opset {since} or later first, for example with onnx.version_converter, or choose another dtype"
                )),
                _ => Remedy::Exclude { item: "the tensor", instead: "choose another dtype" },
            };
            Err(Error::unsupported(error.to_string()).advise(remedy))
        }
    }
}

/// Fails if `Constant` has no values of a dtype that `Cast` has: its version 1 of other numbers than floats, its version 25, the
/// newest in opset 28, of floats of 6 bits.
pub fn constant_holds(model: &Model, dtype: DType) -> Result<()> {
    let (version, remedy) = match dtype {
        DType::Float6E2M3FN | DType::Float6E3M2FN => {
            let instead = "make an initializer of it, choose another dtype";
            (25, Remedy::Exclude { item: "it", instead })
        }
        DType::Float16 | DType::Float32 | DType::Float64 => return Ok(()),
        _ if model.opset()? >= 9 => return Ok(()),
        _ => (1, "bring the model to opset 9 or later first, for example with onnx.version_converter".into()),
    };
    Err(Error::unsupported(format!("Constant-{version} does not hold {dtype}")).advise(remedy))
}

/// The first IR version that has a dtype in tensors.
pub fn ir_version(dtype: DType) -> u64 {
    match dtype {
        DType::BFloat16 => 4,
        DType::Float8E4M3FN | DType::Float8E4M3FNUZ | DType::Float8E5M2 | DType::Float8E5M2FNUZ => 9,
        DType::UInt4 | DType::Int4 => 10,
        DType::Float4E2M1FN => 11,
        DType::Float8E8M0FNU => 12,
        DType::UInt2 | DType::Int2 => 13,
        DType::Float6E2M3FN | DType::Float6E3M2FN => 14,
        _ => 1,
    }
}

/// The node that makes the old tensor of the new one.
pub fn cast_node(change: &Change, name: &str, version: u32) -> Vec<u8> {
    use schema::{attribute, node};
    let mut to = Vec::new();
    put_bytes_field(&mut to, attribute::NAME, b"to");
    let element = ElementType::from(change.from);
    if version < 6 {
        put_bytes_field(&mut to, attribute::S, element.name().unwrap_or_default().as_bytes());
        put_varint_field(&mut to, attribute::TYPE, attribute::STRING);
    } else {
        put_varint_field(&mut to, attribute::I, element.code().unwrap_or_default() as u64);
        put_varint_field(&mut to, attribute::TYPE, attribute::INT);
    }
    let mut cast = Vec::new();
    put_bytes_field(&mut cast, node::INPUT, change.name.as_bytes());
    put_bytes_field(&mut cast, node::OUTPUT, name.as_bytes());
    put_bytes_field(&mut cast, node::NAME, change.node.as_bytes());
    put_bytes_field(&mut cast, node::OP_TYPE, b"Cast");
    put_bytes_field(&mut cast, node::ATTRIBUTE, &to);
    cast
}

/// Names that nothing else has.
pub struct Names {
    /// The names with the mark: those of the model, and those given.
    pub taken: HashSet<String>,
    /// How often a name was wanted.
    pub wanted: HashMap<String, u64>,
}

impl Names {
    /// The wanted name, or that with a number behind it.
    pub fn unique(&mut self, wanted: &str) -> String {
        let count = self.wanted.entry(wanted.to_owned()).or_default();
        loop {
            *count += 1;
            let name = if *count == 1 { wanted.to_owned() } else { format!("{wanted}_{count}") };
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}
