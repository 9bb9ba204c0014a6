//! [`StructType`]: fields and where they lie.
//!
//! *Law.* Every value of the type is sound: names are unique, every field lies within the item, no size overflows `isize`, and
//! structs are nested at most [`MOST_DEPTH`] deep, so that walking them needs no guard. Fields may overlap, as in NumPy; they
//! only cannot be written then.

use super::{StructError, Trouble};
use crate::{BufferType, ByteOrder, Storage};
use alloc::{collections::BTreeSet, format, string::String, vec::Vec};

/// Structs within structs.
pub(super) const MOST_DEPTH: usize = 32;
/// Axes of a sub-array: NumPy has no more.
pub(super) const MOST_AXES: usize = 64;

/// What a field holds, without its sub-array shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FieldType {
    /// An element of a dtype, in its byte order. Those of 2, 4 and 6 bits stand one per byte.
    Element(BufferType),
    /// NumPy's `S`: so many bytes of text, filled up with NUL.
    Bytes(usize),
    /// NumPy's `U`: text of characters of four bytes, filled up with NUL.
    Ucs4 {
        /// How many.
        chars: usize,
        /// Their byte order.
        order: ByteOrder,
    },
    /// NumPy's `V`: so many bytes of anything.
    Void(usize),
    /// A struct.
    Struct(StructType),
}

impl FieldType {
    /// Bytes of one; `None` if that overflows.
    fn checked_size(&self) -> Option<usize> {
        match self {
            FieldType::Element(buffer) => Some(buffer.dtype().size()),
            FieldType::Bytes(size) | FieldType::Void(size) => Some(*size),
            FieldType::Ucs4 { chars, .. } => chars.checked_mul(4),
            FieldType::Struct(of) => Some(of.item_size),
        }
    }

    /// Bytes of one. (Of a type that is in no [`StructType`], which would have refused it, `usize::MAX` if that overflows.)
    pub fn size(&self) -> usize {
        self.checked_size().unwrap_or(usize::MAX)
    }

    /// The alignment that C gives it: that of the dtype or of the struct, 4 for `U`, 1 for `S` and `V`.
    pub fn alignment(&self) -> usize {
        match self {
            FieldType::Element(buffer) => buffer.dtype().alignment(),
            FieldType::Bytes(_) | FieldType::Void(_) => 1,
            FieldType::Ucs4 { .. } => 4,
            FieldType::Struct(of) => of.alignment,
        }
    }
}

impl<T: Into<BufferType>> From<T> for FieldType {
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
    name: String,
    title: Option<String>,
    offset: usize,
    shape: Vec<usize>,
    kind: FieldType,
}

impl Field {
    /// A field that is no sub-array. Its offset is settled by the struct that it becomes part of.
    pub fn new(name: impl Into<String>, kind: impl Into<FieldType>) -> Field {
        Field { name: name.into(), title: None, offset: 0, shape: Vec::new(), kind: kind.into() }
    }

    /// The same field as a sub-array of this shape.
    #[must_use]
    pub fn with_shape(self, shape: impl Into<Vec<usize>>) -> Field {
        Field { shape: shape.into(), ..self }
    }

    /// The same field with a title, a second name of NumPy's.
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

    /// Where the field begins in the item, in bytes.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The shape of the sub-array, in C order; empty if the field is none.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// What it holds.
    pub fn kind(&self) -> &FieldType {
        &self.kind
    }

    /// How many of them: the product of the shape.
    pub fn count(&self) -> usize {
        self.shape.iter().fold(1, |n, &dim| n.saturating_mul(dim))
    }

    /// Bytes of the whole sub-array.
    pub fn size(&self) -> usize {
        self.count().saturating_mul(self.kind.size())
    }

    /// The size, if the field is sound by itself.
    fn check(&self) -> Result<usize, StructError> {
        let wrong = |trouble| Err(StructError::Field { field: self.name.clone(), trouble });
        if self.name.is_empty() {
            return wrong(Trouble::NoName);
        }
        if self.shape.len() > MOST_AXES {
            return wrong(Trouble::TooManyAxes { axes: self.shape.len() });
        }
        if let FieldType::Element(buffer) = &self.kind
            && buffer.storage() == Storage::Packed
        {
            return wrong(Trouble::Packed(*buffer));
        }
        // Axes of length 0 and elements of no bytes do not excuse the others.
        let mut extents = self.shape.iter().map(|&dim| dim.max(1));
        let extent = self.kind.checked_size().map(|size| size.max(1));
        match extent.and_then(|size| extents.try_fold(size, usize::checked_mul)) {
            Some(extent) if isize::try_from(extent).is_ok() => Ok(self.size()),
            _ => wrong(Trouble::TooLarge),
        }
    }
}

/// A struct: fields, the size of an item and its alignment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StructType {
    fields: Vec<Field>,
    item_size: usize,
    alignment: usize,
    /// 1, or one more than the deepest struct within.
    depth: usize,
}

impl StructType {
    /// Fields one behind another without a gap, as `numpy.dtype(fields)`. The alignment is 1.
    ///
    /// ```
    /// use lanecast::{DType, structured::{Field, StructType}};
    /// let fields = [Field::new("flag", DType::Bool), Field::new("at", DType::Float32).with_shape([3])];
    /// assert_eq!(StructType::packed(fields.clone())?.item_size(), 13);
    /// assert_eq!(StructType::aligned(fields)?.item_size(), 16);
    /// # Ok::<(), lanecast::structured::StructError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`StructError::Field`]: a name occurs twice or is empty, small elements are packed, a size overflows, structs are nested
    /// too deep.
    pub fn packed(fields: impl Into<Vec<Field>>) -> Result<StructType, StructError> {
        Self::in_turn(fields.into(), |_| 1)
    }

    /// Fields one behind another as C lays them out, as `numpy.dtype(fields, align=True)`: each at a multiple of its alignment,
    /// the item filled up to a multiple of the largest.
    ///
    /// # Errors
    ///
    /// As [`packed`](Self::packed).
    pub fn aligned(fields: impl Into<Vec<Field>>) -> Result<StructType, StructError> {
        Self::in_turn(fields.into(), FieldType::alignment)
    }

    fn in_turn(
        mut fields: Vec<Field>,
        alignment: fn(&FieldType) -> usize,
    ) -> Result<StructType, StructError> {
        let (mut end, mut widest) = (0_usize, 1);
        for field in &mut fields {
            let to = alignment(&field.kind);
            widest = widest.max(to);
            let too_large = || StructError::Field { field: field.name.clone(), trouble: Trouble::TooLarge };
            let offset = end.checked_next_multiple_of(to).ok_or_else(too_large)?;
            end = offset.checked_add(field.check()?).ok_or_else(too_large)?;
            field.offset = offset;
        }
        let item_size = end.checked_next_multiple_of(widest).ok_or(StructError::ItemTooLarge)?;
        Self::checked(fields, item_size, widest)
    }

    /// Fields at these offsets, in bytes, in items of `item_size` bytes, as NumPy's dictionaries with `offsets` and `itemsize`.
    /// Fields may stand in any order, with gaps, and may overlap (then nothing can be cast to the struct). The alignment is 1.
    ///
    /// # Errors
    ///
    /// As [`packed`](Self::packed); and a field that ends behind the item.
    pub fn with_offsets(
        fields: impl IntoIterator<Item = (usize, Field)>,
        item_size: usize,
    ) -> Result<StructType, StructError> {
        let fields = fields.into_iter().map(|(offset, field)| Field { offset, ..field });
        Self::checked(fields.collect(), item_size, 1)
    }

    fn checked(fields: Vec<Field>, item_size: usize, alignment: usize) -> Result<StructType, StructError> {
        if isize::try_from(item_size).is_err() {
            return Err(StructError::ItemTooLarge);
        }
        let mut names = BTreeSet::new();
        let mut depth = 1;
        for field in &fields {
            let wrong = |trouble| Err(StructError::Field { field: field.name.clone(), trouble });
            let size = field.check()?;
            match field.offset.checked_add(size) {
                Some(end) if end <= item_size => {}
                end => {
                    return wrong(Trouble::Outside { end: end.unwrap_or(usize::MAX), item_size });
                }
            }
            for name in field.title.iter().chain([&field.name]) {
                if !names.insert(name.as_str()) {
                    return wrong(Trouble::NameTwice(name.clone()));
                }
            }
            if let FieldType::Struct(of) = &field.kind {
                depth = depth.max(of.depth + 1);
                if depth > MOST_DEPTH {
                    return wrong(Trouble::TooDeep);
                }
            }
        }
        Ok(StructType { fields, item_size, alignment, depth })
    }

    /// The fields, in their order, which need not be that of their offsets.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The field of this name. Titles are no names here.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Bytes from one item to the next.
    pub fn item_size(&self) -> usize {
        self.item_size
    }

    /// The alignment of an item for C: 1 but for [`aligned`](Self::aligned) structs. Casts need none.
    pub fn alignment(&self) -> usize {
        self.alignment
    }

    /// The names of two fields that have a byte in common, here or in a struct within, if there are any.
    pub fn overlap(&self) -> Option<(&str, &str)> {
        let mut order: Vec<&Field> = self.fields.iter().filter(|field| field.size() > 0).collect();
        order.sort_by_key(|field| field.offset);
        for pair in order.windows(2) {
            if pair[0].offset + pair[0].size() > pair[1].offset {
                return Some((&pair[0].name, &pair[1].name));
            }
        }
        order.iter().find_map(|field| match &field.kind {
            FieldType::Struct(of) => of.overlap(),
            _ => None,
        })
    }

    /// The same struct with other fields, laid out in the same manner: `choose` is asked for every field that is no struct, with
    /// its name (those of the structs that it is in before it: `outer.inner`) and what it holds, and says what it holds then.
    ///
    /// If the struct is laid out by the rules of C and has padding, so is the new one; otherwise gaps keep their sizes, so that
    /// packed structs stay packed.
    ///
    /// ```
    /// use lanecast::{DType, structured::StructType};
    /// let aligned = StructType::from_descr("[('a', '<f4'), ('b', '|u1'), ('', '|V3')]")?;
    /// let wide = aligned.with_kinds(|name, of| if name == "a" { DType::Float64.into() } else { of.clone() })?;
    /// assert_eq!((wide.field("b").unwrap().offset(), wide.item_size()), (8, 16));
    /// # Ok::<(), lanecast::structured::StructError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`packed`](Self::packed); [`Trouble::OutOfOrder`] if the fields overlap or do not stand in the order of their offsets.
    pub fn with_kinds(
        &self,
        mut choose: impl FnMut(&str, &FieldType) -> FieldType,
    ) -> Result<StructType, StructError> {
        let c = self.c_layout().is_some_and(|(_, padded)| padded);
        self.replaced("", c, &mut choose)
    }

    /// The same bytes as other fields: `choose` is asked as by [`with_kinds`](Self::with_kinds), and every field stays where it is.
    ///
    /// ```
    /// use lanecast::{DType, structured::{FieldType, StructType}};
    /// let written = StructType::from_descr("[('weight', '<V2'), ('id', '<u4')]")?;
    /// let meant = written.viewed_as(|_, of| match of {
    ///     FieldType::Void(2) => DType::BFloat16.into(),
    ///     other => other.clone(),
    /// })?;
    /// assert_eq!(meant.field("weight").unwrap().kind(), &DType::BFloat16.into());
    /// # Ok::<(), lanecast::structured::StructError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Trouble::Size`] if a field would take another number of bytes.
    pub fn viewed_as(
        &self,
        mut choose: impl FnMut(&str, &FieldType) -> FieldType,
    ) -> Result<StructType, StructError> {
        self.viewed("", &mut choose)
    }

    fn viewed(
        &self,
        path: &str,
        choose: &mut dyn FnMut(&str, &FieldType) -> FieldType,
    ) -> Result<StructType, StructError> {
        let fields = self.fields.iter().map(|field| {
            let path = join(path, &field.name);
            let kind = match &field.kind {
                FieldType::Struct(of) => FieldType::Struct(of.viewed(&path, choose)?),
                other => choose(&path, other),
            };
            let (src, dst) = (field.kind.size(), kind.size());
            if src != dst {
                return Err(StructError::Field { field: path, trouble: Trouble::Size { src, dst } });
            }
            Ok(Field { kind, ..field.clone() })
        });
        Self::checked(fields.collect::<Result<_, _>>()?, self.item_size, self.alignment)
    }

    fn replaced(
        &self,
        path: &str,
        c: bool,
        choose: &mut dyn FnMut(&str, &FieldType) -> FieldType,
    ) -> Result<StructType, StructError> {
        let (mut fields, mut before, mut end) = (Vec::with_capacity(self.fields.len()), 0, 0_usize);
        for field in &self.fields {
            let path = join(path, &field.name);
            let kind = match &field.kind {
                FieldType::Struct(of) => {
                    let c = c || of.c_layout().is_some_and(|(_, padded)| padded);
                    FieldType::Struct(of.replaced(&path, c, choose)?)
                }
                other => choose(&path, other),
            };
            let wrong = |trouble| StructError::Field { field: path.clone(), trouble };
            let gap = field.offset.checked_sub(before).ok_or_else(|| wrong(Trouble::OutOfOrder))?;
            before = field.offset + field.size();
            let mut field = Field { kind, ..field.clone() };
            field.offset = end.checked_add(gap).ok_or_else(|| wrong(Trouble::TooLarge))?;
            end = field.offset.checked_add(field.check()?).ok_or_else(|| wrong(Trouble::TooLarge))?;
            fields.push(field);
        }
        if c {
            return Self::aligned(fields);
        }
        // Zero-sized fields aside, the last one ends last.
        let rest = self.item_size.saturating_sub(before);
        Self::checked(fields, end.checked_add(rest).ok_or(StructError::ItemTooLarge)?, 1)
    }

    /// If the layout is that of C: the alignment, and whether there is padding somewhere. What a descr says of alignment is only
    /// to be seen so.
    fn c_layout(&self) -> Option<(usize, bool)> {
        let (mut end, mut widest, mut padded) = (0_usize, 1, false);
        for field in &self.fields {
            let alignment = match &field.kind {
                FieldType::Struct(of) => {
                    let (alignment, within) = of.c_layout()?;
                    padded |= within;
                    alignment
                }
                other => other.alignment(),
            };
            widest = widest.max(alignment);
            padded |= field.offset != end;
            if end.checked_next_multiple_of(alignment)? != field.offset {
                return None;
            }
            end = field.offset + field.size();
        }
        padded |= end != self.item_size;
        (end.checked_next_multiple_of(widest)? == self.item_size).then_some((widest, padded))
    }
}

/// The name of a field within the struct `path`.
pub(super) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.into() } else { format!("{path}.{name}") }
}
