//! What the new model needs besides its tensors: `Cast` nodes, their version, and unique names.

use std::collections::{HashMap, HashSet};

use lanecast::{
    DType,
    onnx::{self, Attributes, Cast, ElementType},
};

use super::{
    model::Model,
    schema,
    tensor::Origin,
    wire::{put_bytes_field, put_varint_field},
};
use crate::error::{Error, Remedy, Result};

/// The change to a tensor that is cast.
#[derive(Debug)]
pub struct Change {
    /// Its dtype.
    pub from: DType,
    /// Its new name.
    pub name: String,
    /// Its name and dtype before all casts, which its users still see.
    pub origin: Origin,
    /// The name of the node that makes the origin from it; `None` if the new tensor equals the origin in name and dtype.
    pub node: Option<String>,
}

/// The version of `Cast` in the model. Fails if that version does not know both dtypes.
pub fn cast_version(model: &Model, from: DType, to: DType) -> Result<u32> {
    // The node casts back at run time.
    match Cast::new(model.opset()?, to, from, &Attributes::NONE) {
        Ok(cast) => Ok(cast.version()),
        Err(onnx::OnnxError::Cast(error)) => Err(error.into()),
        Err(error) => {
            let remedy = match error {
                onnx::OnnxError::Type { since: Some(since), .. } => Remedy::Text(format!(
                    "bring the model to opset {since} or later first, for example with onnx.version_converter, or choose another dtype"
                )),
                _ => Remedy::Exclude { item: "the tensor", instead: "choose another dtype" },
            };
            Err(Error::unsupported(error.to_string()).advise(remedy))
        }
    }
}

/// Fails if `Constant` cannot hold `dtype` although `Cast` knows it: version 1 holds only floats, and version 25, the newest in
/// opset 28, no 6-bit floats.
pub fn constant_holds(model: &Model, dtype: DType) -> Result<()> {
    let (version, remedy) = match dtype {
        DType::Float6E2M3FN | DType::Float6E3M2FN => {
            let instead = "make it an initializer, choose another dtype";
            (25, Remedy::Exclude { item: "it", instead })
        }
        DType::Float16 | DType::Float32 | DType::Float64 => return Ok(()),
        _ if model.opset()? >= 9 => return Ok(()),
        _ => (1, "bring the model to opset 9 or later first, for example with onnx.version_converter".into()),
    };
    Err(Error::unsupported(format!("Constant-{version} does not hold {dtype}")).advise(remedy))
}

/// The first IR version whose tensors can have `dtype`.
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

/// The node that makes the original tensor from the new one; `None` if the new one has the original dtype and name.
pub fn cast_node(change: &Change, version: u32) -> Option<Vec<u8>> {
    use schema::{attribute, node};
    let mut to = Vec::new();
    put_bytes_field(&mut to, attribute::NAME, b"to");
    let label = change.node.as_ref()?;
    let element = ElementType::from(change.origin.dtype);
    if version < 6 {
        put_bytes_field(&mut to, attribute::S, element.name().unwrap_or_default().as_bytes());
        put_varint_field(&mut to, attribute::TYPE, attribute::STRING);
    } else {
        put_varint_field(&mut to, attribute::I, element.code().unwrap_or_default() as u64);
        put_varint_field(&mut to, attribute::TYPE, attribute::INT);
    }
    let mut cast = Vec::new();
    put_bytes_field(&mut cast, node::INPUT, change.name.as_bytes());
    put_bytes_field(&mut cast, node::OUTPUT, change.origin.name.as_bytes());
    put_bytes_field(&mut cast, node::NAME, label.as_bytes());
    put_bytes_field(&mut cast, node::OP_TYPE, b"Cast");
    put_bytes_field(&mut cast, node::ATTRIBUTE, &to);
    Some(cast)
}

/// A source of unique names.
pub struct Names {
    /// The names with the mark that the model has, and those handed out.
    pub taken: HashSet<String>,
    /// How often each name was requested.
    pub wanted: HashMap<String, u64>,
}

impl Names {
    /// Returns the wanted name, with a number appended if it is taken.
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
