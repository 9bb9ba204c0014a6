//! The attributes of the operators, as values and as they are in a node.

use super::{element::ElementType, error::OnnxError, operator::Operator};
use crate::options::{CastOptions, E8M0Round, Saturate};
use alloc::string::String;

/// The attributes that say how to cast; `None` means that the node does not have the attribute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Attributes {
    /// `saturate`, from version 19 on; true if it is not given.
    pub saturate: Option<bool>,
    /// `round_mode`, from version 24 on; up if it is not given.
    pub round_mode: Option<E8M0Round>,
}

impl Attributes {
    /// No attribute: each has its default.
    pub const NONE: Self = Self { saturate: None, round_mode: None };

    /// These attributes with [`saturate`](Self::saturate).
    #[must_use]
    pub const fn with_saturate(mut self, saturate: bool) -> Self {
        self.saturate = Some(saturate);
        self
    }

    /// These attributes with [`round_mode`](Self::round_mode).
    #[must_use]
    pub const fn with_round_mode(mut self, round_mode: E8M0Round) -> Self {
        self.round_mode = Some(round_mode);
        self
    }

    /// Refuses attributes that the version does not have.
    pub(super) fn check(&self, operator: Operator, version: u32) -> Result<(), OnnxError> {
        let given = [
            ("saturate", self.saturate.is_some(), Operator::SATURATE),
            ("round_mode", self.round_mode.is_some(), Operator::ROUND_MODE),
        ];
        match given.into_iter().find(|(_, given, since)| *given && version < *since) {
            None => Ok(()),
            Some((name, _, since)) => {
                Err(OnnxError::NoAttribute { operator, version, name: name.into(), since: Some(since) })
            }
        }
    }

    /// The options with those that these attributes set replaced.
    pub(super) fn over(&self, options: &CastOptions) -> CastOptions {
        let saturate = if self.saturate.unwrap_or(true) { Saturate::On } else { Saturate::Off };
        options.with_saturate(saturate).with_e8m0_round(self.round_mode.unwrap_or_default())
    }
}

/// The value of an attribute of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AttributeValue<'a> {
    /// `AttributeProto.i`.
    Int(i64),
    /// `AttributeProto.s`.
    String(&'a [u8]),
    /// Any other type of attribute, which no operator here has.
    Other,
}

/// Reads the attributes of a node: `to` if the operator has it, and the others.
pub(super) fn read(
    operator: Operator,
    version: u32,
    attributes: &[(&str, AttributeValue<'_>)],
) -> Result<(Option<ElementType>, Attributes), OnnxError> {
    let (mut to, mut others) = (None, Attributes::NONE);
    for (name, value) in attributes {
        match *name {
            "to" if operator == Operator::Cast => put(&mut to, "to", target(version, *value)?)?,
            "saturate" => put(&mut others.saturate, "saturate", flag(*value)?)?,
            "round_mode" => put(&mut others.round_mode, "round_mode", round(*value)?)?,
            _ => return Err(OnnxError::NoAttribute { operator, version, name: (*name).into(), since: None }),
        }
    }
    others.check(operator, version)?;
    Ok((to, others))
}

pub(super) fn put<T>(place: &mut Option<T>, name: &'static str, value: T) -> Result<(), OnnxError> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(OnnxError::Twice(name)),
    }
}

/// The attribute `to`: a name in version 1, a number from version 6 on.
fn target(version: u32, value: AttributeValue<'_>) -> Result<ElementType, OnnxError> {
    match value {
        AttributeValue::String(name) if version < 6 => core::str::from_utf8(name)
            .ok()
            .and_then(ElementType::from_name)
            .ok_or_else(|| OnnxError::UnknownName(String::from_utf8_lossy(name).into())),
        AttributeValue::Int(code) if version >= 6 => {
            let element = i32::try_from(code).ok().and_then(ElementType::from_code);
            element.ok_or(OnnxError::UnknownCode(code))
        }
        _ => Err(OnnxError::AttributeValue {
            name: "to",
            expected: if version < 6 {
                "a string before version 6, such as \"FLOAT\""
            } else {
                "an int from version 6 on, the number of a TensorProto.DataType"
            },
        }),
    }
}

pub(super) fn flag(value: AttributeValue<'_>) -> Result<bool, OnnxError> {
    match value {
        AttributeValue::Int(0) => Ok(false),
        AttributeValue::Int(1) => Ok(true),
        _ => Err(OnnxError::AttributeValue { name: "saturate", expected: "0 or 1" }),
    }
}

fn round(value: AttributeValue<'_>) -> Result<E8M0Round, OnnxError> {
    match value {
        AttributeValue::String(b"up") => Ok(E8M0Round::Up),
        AttributeValue::String(b"down") => Ok(E8M0Round::Down),
        AttributeValue::String(b"nearest") => Ok(E8M0Round::Nearest),
        _ => {
            Err(OnnxError::AttributeValue { name: "round_mode", expected: "\"up\", \"down\" or \"nearest\"" })
        }
    }
}
