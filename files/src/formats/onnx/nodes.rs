//! What the new model needs besides its tensors: `Cast` nodes, their version, and unique names.

use std::collections::{HashMap, HashSet};

use lanecast::{
    DType,
    onnx::{self, Attributes, Cast, ElementType},
};

use super::{
    model::Model,
    recast::Change,
    schema,
    tensor::Origin,
    wire::{Source, Span, put_bytes_field, put_varint_field},
};
use crate::error::{Error, Remedy, Result};

/// The version of `Cast` in the model. Fails if that version does not know both dtypes.
pub fn cast_version(model: &Model, from: DType, to: DType) -> Result<u32> {
    // The node casts back at run time.
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

/// Splits a name that a cast gives (`W__bfloat16`, or `W__bfloat16_2` if that was taken) into the original name and the dtype.
pub fn made_by_cast(name: &str) -> Option<(&str, DType)> {
    let (of, mark) = name.rsplit_once("__")?;
    let exact = |mark: &str| mark.parse::<DType>().ok().filter(|dtype| dtype.name() == mark);
    let numbered = || match mark.rsplit_once('_') {
        Some((mark, number)) if number.bytes().all(|b| b.is_ascii_digit()) => exact(mark),
        _ => None,
    };
    Some((of, exact(mark).or_else(numbered)?)).filter(|(of, _)| !of.is_empty())
}

/// A node that an earlier cast may have made.
#[derive(Debug)]
pub struct CastNode {
    /// Its input.
    pub input: String,
    /// Its output and the output's dtype.
    pub origin: Origin,
}

impl CastNode {
    /// Reads the fields in `inner` of a `Cast` node with one input, one output and one attribute; `None` if its names or its
    /// attribute are not as [`cast_node`] writes them.
    pub fn read(
        source: &mut Source,
        inner: Span,
        label: &str,
        input: &str,
        output: &str,
    ) -> Result<Option<Self>> {
        let named = label.strip_prefix("Cast_").and_then(|rest| rest.strip_prefix(input));
        let numbered = |rest: &str| {
            rest.is_empty() || rest.strip_prefix('_').is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
        };
        if !named.is_some_and(numbered) || made_by_cast(input).is_none_or(|(of, _)| of != output) {
            return Ok(None);
        }
        let mut at = inner.start;
        while let Some(field) = source.field(&mut at, inner.end)? {
            if field.number == schema::node::ATTRIBUTE {
                let dtype = target(source, field.bytes("an attribute")?)?;
                return Ok(dtype.map(|dtype| Self {
                    input: input.to_owned(),
                    origin: Origin { name: output.to_owned(), dtype },
                }));
            }
        }
        Ok(None)
    }
}

/// The dtype given by an attribute, if the attribute is `to`.
fn target(source: &mut Source, inner: Span) -> Result<Option<DType>> {
    use schema::attribute;
    let (mut named, mut dtype) = (false, None);
    let mut at = inner.start;
    while let Some(field) = source.field(&mut at, inner.end)? {
        match field.number {
            attribute::NAME => named = source.name(field.bytes("a name")?)? == "to",
            attribute::I => {
                let code = i32::try_from(field.varint("a type")?).ok();
                dtype = code.and_then(ElementType::from_code).and_then(ElementType::dtype);
            }
            attribute::S => {
                let name = source.name(field.bytes("a type")?)?;
                dtype = DType::ALL.iter().copied().find(|of| ElementType::from(*of).name() == Some(&name));
            }
            attribute::TYPE => {}
            _ => return Ok(None),
        }
    }
    Ok(dtype.filter(|_| named))
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
