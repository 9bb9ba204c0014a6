//! Descriptions exactly as NumPy prints them: `repr(dtype.descr)`.

use super::{
    error::{StructError, Trouble},
    types::{FieldType, StructType, join},
};
use crate::names::Namespace;
use alloc::{borrow::Cow, format, string::String};
use core::fmt::Write;
use lanecast_kernels::{ByteOrder, DType, Encoding};

impl StructType {
    /// The description that NumPy prints for this dtype as `dtype.descr` and writes into `.npy` files; gaps are fields without a
    /// name, `('', '|V3')`.
    ///
    /// As in NumPy, dtypes of ml_dtypes are written as bytes, such as `<V2`, and `float8_e5m2` as `<f1`.
    ///
    /// ```
    /// use lanecast::{Encoding, ByteOrder, DType, structured::{Field, StructType}};
    /// let big = Encoding::new(DType::Int32).with_order(ByteOrder::Big);
    /// let of = StructType::aligned([Field::new("a", DType::Bool), Field::new("b", big).with_shape([2])])?;
    /// assert_eq!(of.descr()?, "[('a', '|b1'), ('', '|V3'), ('b', '>i4', (2,))]");
    /// # Ok::<(), lanecast::structured::StructError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Trouble::OutOfOrder`] if fields overlap or are not in the order of their offsets; such structs have no description.
    pub fn descr(&self) -> Result<String, StructError> {
        let mut out = String::new();
        self.write("", &mut out)?;
        Ok(out)
    }

    fn write(&self, path: &str, out: &mut String) -> Result<(), StructError> {
        out.push('[');
        let (mut end, mut first) = (0, true);
        let mut comma = |out: &mut String| {
            if !core::mem::take(&mut first) {
                out.push_str(", ");
            }
        };
        // Writing to a String does not fail.
        for field in self.fields() {
            comma(out);
            match field.offset().checked_sub(end) {
                Some(0) => {}
                Some(gap) => {
                    let _ = write!(out, "('', '|V{gap}'), ");
                }
                None => {
                    let field = join(path, field.name());
                    return Err(StructError::Field { field, trouble: Trouble::OutOfOrder });
                }
            }
            out.push('(');
            match field.title() {
                Some(title) => {
                    out.push('(');
                    quote(title, out);
                    out.push_str(", ");
                    quote(field.name(), out);
                    out.push(')');
                }
                None => quote(field.name(), out),
            }
            out.push_str(", ");
            match field.kind() {
                FieldType::Struct(of) => of.write(&join(path, field.name()), out)?,
                other => {
                    let _ = write!(out, "'{}'", code(other));
                }
            }
            match field.shape() {
                [] => {}
                [one] => {
                    let _ = write!(out, ", ({one},)");
                }
                [one, more @ ..] => {
                    let _ = write!(out, ", ({one}");
                    for dim in more {
                        let _ = write!(out, ", {dim}");
                    }
                    out.push(')');
                }
            }
            out.push(')');
            end = field.offset() + field.size();
        }
        if let Some(gap @ 1..) = self.item_size().checked_sub(end) {
            comma(out);
            let _ = write!(out, "('', '|V{gap}')");
        }
        out.push(']');
        Ok(())
    }
}

impl FieldType {
    /// The description: a code in quotes, or the description of the struct.
    ///
    /// # Errors
    ///
    /// As [`StructType::descr`].
    pub fn descr(&self) -> Result<String, StructError> {
        match self {
            FieldType::Struct(of) => of.descr(),
            other => Ok(format!("'{}'", code(other))),
        }
    }
}

/// The code of a type that is not a struct.
fn code(kind: &FieldType) -> Cow<'static, str> {
    let order = |order| if order == ByteOrder::Little { '<' } else { '>' };
    match kind {
        FieldType::Element(buffer) => element(*buffer),
        FieldType::Bytes(size) => format!("|S{size}").into(),
        FieldType::Ucs4 { chars, order: of } => format!("{}U{chars}", order(*of)).into(),
        FieldType::Void(size) => format!("|V{size}").into(),
        FieldType::Struct(_) => "".into(),
    }
}

fn element(buffer: Encoding) -> Cow<'static, str> {
    let dtype = buffer.dtype();
    match Namespace::NumPy.code(buffer) {
        Some(code) => code.into(),
        None if dtype == DType::Float8E5M2 => "<f1".into(),
        None if dtype.size() == 1 => "<V1".into(),
        None => match buffer.order() {
            ByteOrder::Little => format!("<V{}", dtype.size()).into(),
            ByteOrder::Big => format!(">V{}", dtype.size()).into(),
        },
    }
}

/// A string as Python's `repr` writes it.
fn quote(text: &str, out: &mut String) {
    let mark = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(mark);
    for char in text.chars() {
        let code = char as u32;
        // Writing to a String does not fail.
        let _ = match char {
            '\n' => write!(out, "\\n"),
            '\r' => write!(out, "\\r"),
            '\t' => write!(out, "\\t"),
            '\\' => write!(out, "\\\\"),
            _ if char == mark => write!(out, "\\{char}"),
            _ if is_printable(char) => {
                out.push(char);
                Ok(())
            }
            _ if code < 0x100 => write!(out, "\\x{code:02x}"),
            _ if code < 0x1_0000 => write!(out, "\\u{code:04x}"),
            _ => write!(out, "\\U{code:08x}"),
        };
    }
    out.push(mark);
}

/// Python's `str.isprintable`: no control, format, private-use or unassigned character, and no white space other than the space. These
/// are the characters that Rust's debug strings do not escape, except for combining marks at their start.
fn is_printable(char: char) -> bool {
    let mut utf8 = [b'a'; 5];
    let len = char.encode_utf8(&mut utf8[1..]).len();
    match core::str::from_utf8(&utf8[..=len]) {
        Ok(text) => matches!(char, '\'' | '"' | '\\') || text.escape_debug().nth(1) != Some('\\'),
        Err(_) => false,
    }
}
