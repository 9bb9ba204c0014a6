//! Pickles of PyTorch, read as data.
//!
//! *Law.* Nothing is imported, called or run. A global of a pickle is a row of a table ([`Global`]), and a call of it is a match on that row.
//! Any other global, and any opcode that makes an object of a class, is an error that names it.
//!
//! *Method.* The machine keeps its values in an arena and refers to them by index, so shared and cyclic values cost nothing. Bytes, values
//! and pushes have limits. A walk over the values, which could be long, is the business of the caller.

mod call;
mod globals;
mod machine;

use std::{collections::HashMap, io::Read};

use lanecast::DType;
use lanecast_files::{Error, Result};

use crate::error;
pub(crate) use globals::Global;

/// The index of a value.
pub(crate) type Ref = usize;

/// A value of a pickle.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    None,
    Bool(bool),
    Int(i64),
    Text(String),
    Tuple(Vec<Ref>),
    List(Vec<Ref>),
    /// Pairs of key and value, in the order in which they were set.
    Dict(Vec<(Ref, Ref)>),
    Global(Global),
    Storage(Storage),
    Tensor(Box<View>),
    /// A value that a state dict does not need, by what it is.
    Other(&'static str),
}

impl Value {
    /// What the value is, for a message.
    pub(crate) fn described(&self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Bool(_) => "a bool",
            Self::Int(_) => "an integer",
            Self::Text(_) => "a text",
            Self::Tuple(_) => "a tuple",
            Self::List(_) => "a list",
            Self::Dict(_) => "a dictionary",
            Self::Global(_) => "a global",
            Self::Storage(_) => "a storage",
            Self::Tensor(_) => "a tensor",
            Self::Other(what) => what,
        }
    }
}

/// A storage: bytes beside the pickle that tensors are views of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Storage {
    /// Its name.
    pub(crate) key: String,
    /// The dtype of its elements; `None` if they are bytes.
    pub(crate) dtype: Option<DType>,
    /// The number of its elements.
    pub(crate) elements: usize,
}

impl Storage {
    /// The number of its bytes.
    pub(crate) fn bytes(&self) -> Option<usize> {
        self.elements.checked_mul(self.dtype.map_or(1, DType::size))
    }
}

/// A tensor: a view of a storage.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) storage: Storage,
    pub(crate) dtype: DType,
    /// Its first element.
    pub(crate) offset: usize,
    pub(crate) shape: Vec<usize>,
    /// The distance of neighbours along each axis, in elements.
    pub(crate) strides: Vec<usize>,
}

/// The values of a pickle.
#[derive(Debug)]
pub(crate) struct Values {
    arena: Vec<Value>,
    root: Ref,
    /// Bytes of the pickle.
    pub(crate) bytes: u64,
    /// The storages that it names.
    pub(crate) storages: HashMap<String, Storage>,
}

impl Values {
    /// Reads a pickle, and no byte beyond it.
    pub(crate) fn read(input: &mut dyn Read) -> Result<Self> {
        machine::Machine::new(input).run()
    }

    /// The value that the pickle is.
    pub(crate) fn root(&self) -> Ref {
        self.root
    }

    pub(crate) fn get(&self, of: Ref) -> &Value {
        &self.arena[of]
    }
}

/// The pickle is damaged or hostile.
fn bad(what: impl Into<String>) -> Error {
    error::damaged(what, "download the file again, or save it again with `torch.save`")
}

/// The pickle has what a state dict does not need.
pub(crate) fn refused(what: impl Into<String>) -> Error {
    let remedy = "load the file where you trust it, and save its tensors with `safetensors.torch.save_file`";
    error::refused(what, remedy)
}

#[cfg(test)]
mod tests;
