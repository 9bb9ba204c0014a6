//! [`StructType`], [`Field`] and [`FieldType`]: what a struct consists of.

use alloc::{format, string::String, vec::Vec};
use lanecast_kernels::{ByteOrder, Encoding};

/// The deepest nesting of structs.
pub(super) const MOST_DEPTH: usize = 32;
/// The most axes of a sub-array, as in NumPy.
pub(super) const MOST_AXES: usize = 64;

/// The type of a field, without its sub-array shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FieldType {
    /// An element of a dtype, in its byte order. Elements of 2, 4 and 6 bits are stored one per byte.
    Element(Encoding),
    /// NumPy's `S`: this many bytes of text, padded with NUL.
    Bytes(usize),
    /// NumPy's `U`: text of four-byte characters, padded with NUL.
    Ucs4 {
        /// The number of characters.
        chars: usize,
        /// Their byte order.
        order: ByteOrder,
    },
    /// NumPy's `V`: this many arbitrary bytes.
    Void(usize),
    /// A struct.
    Struct(StructType),
}

impl FieldType {
    /// The size in bytes; `None` if it overflows.
    pub(super) fn checked_size(&self) -> Option<usize> {
        match self {
            FieldType::Element(buffer) => Some(buffer.dtype().size()),
            FieldType::Bytes(size) | FieldType::Void(size) => Some(*size),
            FieldType::Ucs4 { chars, .. } => chars.checked_mul(4),
            FieldType::Struct(of) => Some(of.item_size),
        }
    }

    /// The size in bytes. (`usize::MAX` if it overflows, which a [`StructType`] would refuse.)
    pub fn size(&self) -> usize {
        self.checked_size().unwrap_or(usize::MAX)
    }

    /// The alignment in C: the alignment of the dtype or the struct; 4 for `U`, 1 for `S` and `V`.
    pub fn alignment(&self) -> usize {
        match self {
            FieldType::Element(buffer) => buffer.dtype().alignment(),
            FieldType::Bytes(_) | FieldType::Void(_) => 1,
            FieldType::Ucs4 { .. } => 4,
            FieldType::Struct(of) => of.alignment,
        }
    }
}

impl<T: Into<Encoding>> From<T> for FieldType {
    fn from(of: T) -> Self {
        FieldType::Element(of.into())
    }
}

impl From<StructType> for FieldType {
    fn from(of: StructType) -> Self {
        FieldType::Struct(of)
    }
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) offset: usize,
    pub(super) shape: Vec<usize>,
    pub(super) kind: FieldType,
}

impl Field {
    /// A field that is not a sub-array. Its offset is set by the struct that it becomes part of.
    pub fn new(name: impl Into<String>, kind: impl Into<FieldType>) -> Field {
        Field { name: name.into(), title: None, offset: 0, shape: Vec::new(), kind: kind.into() }
    }

    /// The same field as a sub-array of this shape.
    #[must_use]
    pub fn with_shape(self, shape: impl Into<Vec<usize>>) -> Field {
        Field { shape: shape.into(), ..self }
    }

    /// The same field with a title, which is NumPy's second name for a field.
    #[must_use]
    pub fn with_title(self, title: impl Into<String>) -> Field {
        Field { title: Some(title.into()), ..self }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The title, if there is one.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The offset of the field in the item, in bytes.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The shape of the sub-array, in C order; empty if the field is not a sub-array.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The type of its elements.
    pub fn kind(&self) -> &FieldType {
        &self.kind
    }

    /// The number of elements: the product of the shape.
    pub fn count(&self) -> usize {
        self.shape.iter().fold(1, |n, &dim| n.saturating_mul(dim))
    }

    /// The size of the whole sub-array in bytes.
    pub fn size(&self) -> usize {
        self.count().saturating_mul(self.kind.size())
    }
}

/// A struct: fields, the size of an item and its alignment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StructType {
    pub(super) fields: Vec<Field>,
    pub(super) item_size: usize,
    pub(super) alignment: usize,
    /// 1, or one more than the depth of the deepest nested struct.
    pub(super) depth: usize,
}

impl StructType {
    /// The fields in order, which need not be the order of their offsets.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The field with this name. Titles do not count as names.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The size of an item in bytes, which is the distance from one item to the next.
    pub fn item_size(&self) -> usize {
        self.item_size
    }

    /// The alignment of an item in C: 1 except for [`aligned`](Self::aligned) structs. Casts do not require it.
    pub fn alignment(&self) -> usize {
        self.alignment
    }
}

/// The name of a field within the struct `path`.
pub(super) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.into() } else { format!("{path}.{name}") }
}
