//! The parts of a model that may change.

use super::wire::Span;

/// A message that is a graph or contains one, with the parts that may change, in file order.
#[derive(Debug)]
pub struct Message {
    /// Its field number.
    pub number: u32,
    /// All bytes of the field.
    pub whole: Span,
    /// The message itself.
    pub inner: Span,
    /// Whether it is a graph.
    pub is_graph: bool,
    /// The parts.
    pub parts: Vec<Part>,
}

/// A part of a message that may change.
#[derive(Debug)]
pub enum Part {
    /// A message that is a graph or contains one.
    Message(Message),
    /// The initializer with this index.
    Initializer(Span, usize),
    /// An input with this name, which is also an initializer.
    Input(Span, String),
    /// A `Constant` node whose value is the tensor with this index.
    Constant(Message, usize),
    /// The output of such a node.
    Output(Span, usize),
    /// The tensor with this index, in the attribute of such a node.
    Value(Span, usize),
    /// The node that an earlier cast put after the tensor with this index, if the tensor has an origin.
    Cast(Span, usize),
}

impl Part {
    /// The bytes of the whole field.
    pub fn whole(&self) -> Span {
        match self {
            Self::Message(message) | Self::Constant(message, _) => message.whole,
            Self::Initializer(whole, _)
            | Self::Input(whole, _)
            | Self::Output(whole, _)
            | Self::Value(whole, _)
            | Self::Cast(whole, _) => *whole,
        }
    }
}
