//! Parses NumPy's descriptions of dtypes: the literal that `repr(dtype.descr)` prints and `.npy` headers hold.
//!
//! A description is a string (`'<f4'`), a list of fields (`[('a', '<f4'), ('b', '>i2', (2, 3))]`), or a pair of one of these and a
//! shape. A field without a name is padding if it consists of bytes (`('', '|V3')`); otherwise it is named `f` and its index, as in
//! NumPy. The parser reads the text once, and its recursion is limited by the nesting of structs.

use super::{
    error::StructError,
    types::{Field, FieldType, MOST_AXES, MOST_DEPTH, StructType},
};
use crate::names::Namespace;
use alloc::{borrow::Cow, format, string::String, vec::Vec};
use lanecast_kernels::{ByteOrder, DType};

impl StructType {
    /// The struct with this description, a list of fields as NumPy prints `dtype.descr`.
    ///
    /// ```
    /// use lanecast::structured::StructType;
    /// let of = StructType::from_descr("[('a', '>i2'), ('', '|V2'), (('title', 'b'), [('x', '<f4')], (2,))]")?;
    /// assert_eq!((of.fields().len(), of.item_size()), (2, 12));
    /// let bad = StructType::from_descr("[('a', '<f3')]").unwrap_err();
    /// assert_eq!(bad.to_string(), "bad descr at byte 7: the dtype \"<f3\" is unknown");
    /// # Ok::<(), lanecast::structured::StructError>(())
    /// ```
    ///
    /// Codes (`<f4`, `|S3`) and names (`float32`) are NumPy's; the dtypes of ml_dtypes have their names (`bfloat16`). NumPy writes
    /// those as bytes such as `<V2`, which do not identify the dtype; [`viewed_as`](Self::viewed_as) can. The alignment is 1, because
    /// a description does not state it.
    ///
    /// # Errors
    ///
    /// [`StructError::Descr`].
    pub fn from_descr(descr: &str) -> Result<StructType, StructError> {
        let (of, rest) = Self::read_descr(descr)?;
        end(descr, rest)?;
        Ok(of)
    }

    /// [`from_descr`](Self::from_descr) of the description at the beginning of `text`, and the rest of `text`.
    ///
    /// # Errors
    ///
    /// As [`from_descr`](Self::from_descr).
    pub fn read_descr(text: &str) -> Result<(StructType, &str), StructError> {
        let mut parser = Parser { text, at: 0 };
        match parser.next()? {
            '[' => {
                let of = parser.list(0)?;
                Ok((of, parser.rest()))
            }
            _ => Err(parser.wrong("a list of fields begins with [")),
        }
    }
}

impl FieldType {
    /// The type with this description: a string in quotes or bare (`<f4`), or a list of fields.
    ///
    /// # Errors
    ///
    /// [`StructError::Descr`].
    pub fn from_descr(descr: &str) -> Result<FieldType, StructError> {
        let mut parser = Parser { text: descr, at: 0 };
        let of = match parser.next()? {
            '[' => FieldType::Struct(parser.list(0)?),
            '\'' | '"' => parser.code()?,
            _ => return code(descr.trim()).map_err(|what| StructError::Descr { at: parser.at, what }),
        };
        end(descr, parser.rest())?;
        Ok(of)
    }
}

/// Fails if anything but white space follows.
fn end(text: &str, rest: &str) -> Result<(), StructError> {
    let rest = rest.trim_start();
    if rest.is_empty() {
        return Ok(());
    }
    let at = text.len() - rest.len();
    Err(StructError::Descr { at, what: format!("{} follows the description", shown(rest)).into() })
}

/// The beginning of `text`, quoted.
fn shown(text: &str) -> String {
    match text.char_indices().nth(24) {
        _ if text.is_empty() => "the end".into(),
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn wrong(&self, what: impl Into<Cow<'static, str>>) -> StructError {
        StructError::Descr { at: self.at, what: what.into() }
    }

    /// The next character that is not white space, without consuming it.
    fn next(&mut self) -> Result<char, StructError> {
        self.at = self.text.len() - self.rest().trim_ascii_start().len();
        self.rest().chars().next().ok_or_else(|| self.wrong("it ends early"))
    }

    fn take(&mut self, wanted: char) -> Result<bool, StructError> {
        let found = self.next()? == wanted;
        if found {
            self.at += wanted.len_utf8();
        }
        Ok(found)
    }

    fn expect(&mut self, wanted: char) -> Result<(), StructError> {
        if self.take(wanted)? {
            return Ok(());
        }
        Err(self.wrong(format!("expected {wanted}, found {}", shown(self.rest()))))
    }

    /// Whether another element follows in a sequence ended by `close`, after `n` elements have been read.
    fn more(&mut self, n: usize, close: char) -> Result<bool, StructError> {
        if self.take(close)? {
            return Ok(false);
        }
        if n > 0 {
            self.expect(',')?;
            return Ok(!self.take(close)?);
        }
        Ok(true)
    }

    /// A list of fields.
    fn list(&mut self, depth: usize) -> Result<StructType, StructError> {
        self.next()?;
        let start = self.at;
        if depth == MOST_DEPTH {
            return Err(self.wrong(format!("more than {MOST_DEPTH} structs within each other")));
        }
        self.expect('[')?;
        let (mut fields, mut offset, mut n) = (Vec::new(), 0_usize, 0_usize);
        while self.more(n, ']')? {
            self.next()?;
            let at = self.at;
            let (name, title, kind, shape) = self.field(depth)?;
            let too_large = || StructError::Descr { at, what: "the field is too large".into() };
            let size = shape.iter().try_fold(kind.size(), |size, &dim| size.checked_mul(dim));
            let next = size.and_then(|size| offset.checked_add(size)).ok_or_else(too_large)?;
            if !(name.is_empty() && matches!(kind, FieldType::Void(_))) {
                let name = if name.is_empty() { format!("f{n}") } else { name };
                let field = Field::new(name, kind).with_shape(shape);
                fields.push((
                    offset,
                    match title {
                        Some(title) => field.with_title(title),
                        None => field,
                    },
                ));
            }
            offset = next;
            n += 1;
        }
        StructType::with_offsets(fields, offset)
            .map_err(|error| StructError::Descr { at: start, what: format!("{error}").into() })
    }

    /// A field: its name, its title, its type, its shape.
    fn field(
        &mut self,
        depth: usize,
    ) -> Result<(String, Option<String>, FieldType, Vec<usize>), StructError> {
        self.expect('(')?;
        let (title, name) = if self.take('(')? {
            let title = self.string()?;
            self.expect(',')?;
            let name = self.string()?;
            self.close()?;
            (Some(title), name)
        } else {
            (None, self.string()?)
        };
        self.expect(',')?;
        let (kind, inner) = self.value(depth)?;
        let mut shape = Vec::new();
        if self.take(',')? && self.next()? != ')' {
            shape = self.shape()?;
            self.take(',')?;
        }
        self.expect(')')?;
        shape.extend(inner);
        Ok((name, title, kind, shape))
    }

    /// The end of a tuple, with or without a trailing comma.
    fn close(&mut self) -> Result<(), StructError> {
        self.take(',')?;
        self.expect(')')
    }

    /// A description and its shape: a string, a list, or a pair of one of these and a shape.
    fn value(&mut self, depth: usize) -> Result<(FieldType, Vec<usize>), StructError> {
        let pair = self.take('(')?;
        let kind = match self.next()? {
            '[' => FieldType::Struct(self.list(depth + 1)?),
            '\'' | '"' => self.code()?,
            _ => {
                return Err(self.wrong(format!("expected a string or a list, found {}", shown(self.rest()))));
            }
        };
        let mut shape = Vec::new();
        if pair {
            self.expect(',')?;
            shape = self.shape()?;
            self.close()?;
        }
        Ok((kind, shape))
    }

    /// A shape: a tuple of numbers, or one number for one axis.
    fn shape(&mut self) -> Result<Vec<usize>, StructError> {
        if self.next()?.is_ascii_digit() {
            return Ok(alloc::vec![self.number()?]);
        }
        self.expect('(')?;
        let mut shape = Vec::new();
        while self.more(shape.len(), ')')? {
            if shape.len() == MOST_AXES {
                return Err(self.wrong(format!("more than {MOST_AXES} axes")));
            }
            shape.push(self.number()?);
        }
        Ok(shape)
    }

    fn number(&mut self) -> Result<usize, StructError> {
        self.next()?;
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return Err(self.wrong(format!("expected a length, found {}", shown(self.rest()))));
        }
        let number = self.rest()[..digits].parse();
        let number = number.map_err(|_| self.wrong("the length is too large"))?;
        self.at += digits;
        // Python 2 wrote long integers with this suffix.
        if self.rest().starts_with('L') {
            self.at += 1;
        }
        Ok(number)
    }

    /// The code of a dtype, in quotes.
    fn code(&mut self) -> Result<FieldType, StructError> {
        self.next()?;
        let at = self.at;
        let text = self.string()?;
        code(&text).map_err(|what| StructError::Descr { at, what })
    }

    /// A string with the escapes that `repr` writes.
    fn string(&mut self) -> Result<String, StructError> {
        let quote = match self.next()? {
            quote @ ('\'' | '"') => quote,
            _ => return Err(self.wrong(format!("expected a string, found {}", shown(self.rest())))),
        };
        let start = self.at;
        let endless = || StructError::Descr { at: start, what: "the string does not end".into() };
        let mut string = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((i, char)) = chars.next() {
            match char {
                _ if char == quote => {
                    self.at += i + 1;
                    return Ok(string);
                }
                '\n' => return Err(endless()),
                '\\' => {
                    let (_, escape) = chars.next().ok_or_else(endless)?;
                    string.push(match escape {
                        '\\' | '\'' | '"' => escape,
                        'n' => '\n',
                        'r' => '\r',
                        't' => '\t',
                        'x' | 'u' | 'U' => {
                            let digits = match escape {
                                'x' => 2,
                                'u' => 4,
                                _ => 8,
                            };
                            let code = (0..digits).try_fold(0_u32, |code, _| {
                                let digit = chars.next()?.1.to_digit(16)?;
                                Some(code << 4 | digit)
                            });
                            code.and_then(char::from_u32).ok_or_else(|| StructError::Descr {
                                at: start + i,
                                what: "the escape is no character".into(),
                            })?
                        }
                        _ => {
                            return Err(StructError::Descr {
                                at: start + i,
                                what: format!("unknown escape \\{}", escape.escape_debug()).into(),
                            });
                        }
                    });
                }
                char => string.push(char),
            }
        }
        Err(endless())
    }
}

/// The type that a code or a name of a dtype means.
fn code(text: &str) -> Result<FieldType, Cow<'static, str>> {
    let (order, rest) = match text.split_at_checked(1) {
        Some(("<", rest)) => (ByteOrder::Little, rest),
        Some((">", rest)) => (ByteOrder::Big, rest),
        Some(("=" | "|", rest)) => (ByteOrder::NATIVE, rest),
        _ => (ByteOrder::NATIVE, text),
    };
    let (kind, size) = rest.split_at_checked(1).unwrap_or_default();
    if size.bytes().all(|byte| byte.is_ascii_digit()) {
        let size = || match size {
            "" => Ok(0),
            _ => size.parse().map_err(|_| Cow::Borrowed("the text is too large")),
        };
        match kind {
            "S" | "a" => return Ok(FieldType::Bytes(size()?)),
            "U" => return Ok(FieldType::Ucs4 { chars: size()?, order }),
            "V" => return Ok(FieldType::Void(size()?)),
            // ml_dtypes makes NumPy write `f1` for it; its other dtypes are written as bytes.
            "f" if size() == Ok(1) => return Ok(DType::Float8E5M2.into()),
            "O" => return Err("Python objects cannot be cast".into()),
            "f" | "g" if matches!(size(), Ok(0 | 12 | 16)) && rest != "f" => {
                return Err(format!("the long double {text:?} of a C compiler cannot be cast").into());
            }
            _ => {}
        }
    }
    if matches!(kind, "M" | "m") {
        return Err(format!("dates and times, {}, cannot be cast", shown(text)).into());
    }
    if let Ok(encoding) = Namespace::NumPy.encoding(text) {
        return Ok(encoding.into());
    }
    match Namespace::MlDtypes.parse(text) {
        Ok(dtype) => Ok(dtype.into()),
        Err(_) => Err(format!("the dtype {} is unknown", shown(text)).into()),
    }
}
