//! The constructors of [`StructType`]: fields and their offsets.
//!
//! *Law.* Every value of the type is valid: names are unique, every field lies within the item, no size overflows `isize`, and
//! structs are nested at most [`MOST_DEPTH`] deep, so that recursion needs no further check. Fields may overlap, as in NumPy, but then
//! the struct cannot be a destination.

use super::{
    error::{StructError, Trouble},
    types::{Field, FieldType, MOST_AXES, MOST_DEPTH, StructType, join},
};
use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};
use lanecast_kernels::Storage;

impl Field {
    /// The size, if the field by itself is valid.
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
        // An axis of length 0 or elements of size 0 do not make an overflow of the other axes valid.
        let mut extents = self.shape.iter().map(|&dim| dim.max(1));
        let extent = self.kind.checked_size().map(|size| size.max(1));
        match extent.and_then(|size| extents.try_fold(size, usize::checked_mul)) {
            Some(extent) if isize::try_from(extent).is_ok() => Ok(self.size()),
            _ => wrong(Trouble::TooLarge),
        }
    }
}

impl StructType {
    /// Fields in sequence without gaps, as in `numpy.dtype(fields)`. The alignment is 1.
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
    /// [`StructError::Field`] if a name occurs twice or is empty, small elements are packed, a size overflows, or structs are nested
    /// too deep.
    pub fn packed(fields: impl Into<Vec<Field>>) -> Result<StructType, StructError> {
        Self::in_turn(fields.into(), |_| 1)
    }

    /// Fields in sequence as C lays them out, as in `numpy.dtype(fields, align=True)`: each at a multiple of its alignment, and the
    /// item padded to a multiple of the largest alignment.
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

    /// Fields at these offsets, in bytes, in items of `item_size` bytes, as in NumPy's dictionaries with `offsets` and `itemsize`.
    /// Fields may be in any order, with gaps, and may overlap (then nothing can be cast to the struct). The alignment is 1.
    ///
    /// # Errors
    ///
    /// As [`packed`](Self::packed), and if a field ends after the end of the item.
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

    /// The names of two fields that overlap, here or in a nested struct, if there are any.
    pub fn overlap(&self) -> Option<(&str, &str)> {
        // A map orders them with less code than a sort.
        let mut order = BTreeMap::new();
        for (index, field) in self.fields.iter().enumerate().filter(|(_, field)| field.size() > 0) {
            order.insert((field.offset, index), field);
        }
        for (first, second) in order.values().zip(order.values().skip(1)) {
            if first.offset + first.size() > second.offset {
                return Some((&first.name, &second.name));
            }
        }
        order.values().find_map(|field| match &field.kind {
            FieldType::Struct(of) => of.overlap(),
            _ => None,
        })
    }

    /// The same struct with other field types, laid out in the same manner. `choose` is called for every field that is not a struct,
    /// with its qualified name (`outer.inner`) and its type, and returns its new type.
    ///
    /// If the struct is laid out by the rules of C and has padding, the new one is laid out by these rules too; otherwise gaps keep
    /// their sizes, so that packed structs stay packed.
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
    /// As [`packed`](Self::packed), and [`Trouble::OutOfOrder`] if the fields overlap or are not in the order of their offsets.
    pub fn with_kinds(
        &self,
        mut choose: impl FnMut(&str, &FieldType) -> FieldType,
    ) -> Result<StructType, StructError> {
        let c = self.c_layout().is_some_and(|(_, padded)| padded);
        self.replaced("", c, &mut choose)
    }

    /// The same bytes viewed as other field types: `choose` is called as in [`with_kinds`](Self::with_kinds), and every field keeps its
    /// offset.
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
    /// [`Trouble::Size`] if a field would change its size.
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
        // Except for zero-sized fields, the last field ends last.
        let rest = self.item_size.saturating_sub(before);
        Self::checked(fields, end.checked_add(rest).ok_or(StructError::ItemTooLarge)?, 1)
    }

    /// The alignment and whether there is padding, if the layout is that of C. A descr does not state the alignment, so it has to be
    /// inferred from the layout.
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
