//! `Cast` nodes that an earlier cast has made.

use lanecast::{DType, onnx::ElementType};

use super::{
    schema,
    tensor::Origin,
    wire::{Source, Span},
};
use crate::error::Result;

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
