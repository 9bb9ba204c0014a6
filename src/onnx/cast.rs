//! [`Cast`]: a node that is checked once and run often.

use super::{
    attributes::{AttributeValue, Attributes, read},
    element::ElementType,
    error::OnnxError,
    operator::{Operator, Port},
    tensor::Contents,
};
use crate::{
    error::CastError,
    options::CastOptions,
    plan::CastPlan,
    text::{FormatPlan, ParsePlan, Strings, TextOptions},
};
use alloc::vec::Vec;
use lanecast_kernels::{ByteOrder, Bytes, BytesMut, Encoding, Source, Target};

/// A `Cast` or `CastLike` node, whose types and attributes have been checked against its version.
///
/// ```
/// use lanecast::onnx::{Attributes, Cast};
/// use lanecast::{Bytes, DType, F8E4M3FN};
/// let cast = Cast::new(19, DType::Float32, DType::Float8E4M3FN, &Attributes::NONE)?;
/// let mut out = [F8E4M3FN::default(); 2];
/// cast.run(Bytes::new(&[0, 0, 0x80, 0x3F, 0, 0, 0x7A, 0x44], 2), &mut out)?; // 1.0 and 1000.0
/// assert_eq!(out.map(F8E4M3FN::to_f32), [1.0, 448.0]);
///
/// let error = Cast::new(18, DType::Float32, DType::Float8E4M3FN, &Attributes::NONE).unwrap_err();
/// assert_eq!(error.to_string(), "Cast-13 does not give float8_e4m3fn; opset 19 is the first that does");
/// # Ok::<(), lanecast::onnx::OnnxError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cast {
    operator: Operator,
    version: u32,
    from: ElementType,
    to: ElementType,
    attributes: Attributes,
    options: CastOptions,
    text: TextOptions,
    route: Route,
}

/// What runs.
#[derive(Clone, Debug)]
enum Route {
    Numbers(CastPlan),
    Format(FormatPlan),
    Parse(ParsePlan),
    Copy,
}

/// What a cast returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CastOutput {
    /// Numbers, as in `TensorProto.raw_data`.
    Numbers(Vec<u8>),
    /// Text.
    Strings(Strings),
}

impl Cast {
    /// A `Cast` node in a graph of this opset.
    ///
    /// # Errors
    ///
    /// [`OnnxError::NoSuchOpset`] for opset 0, [`OnnxError::Type`] and [`OnnxError::NoAttribute`] for what the version in force does not
    /// have, [`OnnxError::Cast`] as [`CastPlan::new`].
    pub fn new(
        opset: u32,
        from: impl Into<ElementType>,
        to: impl Into<ElementType>,
        attributes: &Attributes,
    ) -> Result<Self, OnnxError> {
        let version = Operator::Cast.version_in(opset)?;
        Self::checked(Operator::Cast, version, from.into(), to.into(), *attributes)
    }

    /// A `CastLike` node in a graph of this opset, whose second input has the type `like`.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new); `CastLike` begins with opset 15.
    pub fn like(
        opset: u32,
        from: impl Into<ElementType>,
        like: impl Into<ElementType>,
        attributes: &Attributes,
    ) -> Result<Self, OnnxError> {
        let version = Operator::CastLike.version_in(opset)?;
        Self::checked(Operator::CastLike, version, from.into(), like.into(), *attributes)
    }

    /// A `Cast` node from its attributes, by their names, and the number of its input's type in `TensorProto.DataType`.
    ///
    /// ```
    /// use lanecast::onnx::{AttributeValue, Cast};
    /// let cast = Cast::from_attributes(1, 1, &[("to", AttributeValue::String(b"INT64"))])?;
    /// let same = Cast::from_attributes(6, 1, &[("to", AttributeValue::Int(7))])?;
    /// assert_eq!(cast.target(), same.target());
    /// # Ok::<(), lanecast::onnx::OnnxError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), [`OnnxError::MissingTo`], and errors about attributes that the operator does not have or whose values
    /// it does not know.
    pub fn from_attributes(
        opset: u32,
        input: i32,
        attributes: &[(&str, AttributeValue<'_>)],
    ) -> Result<Self, OnnxError> {
        let version = Operator::Cast.version_in(opset)?;
        let (to, others) = read(Operator::Cast, version, attributes)?;
        Self::checked(Operator::Cast, version, known(input)?, to.ok_or(OnnxError::MissingTo)?, others)
    }

    /// A `CastLike` node from its attributes and the numbers of the types of its two inputs.
    ///
    /// # Errors
    ///
    /// As [`from_attributes`](Self::from_attributes).
    pub fn like_from_attributes(
        opset: u32,
        input: i32,
        like: i32,
        attributes: &[(&str, AttributeValue<'_>)],
    ) -> Result<Self, OnnxError> {
        let version = Operator::CastLike.version_in(opset)?;
        let (_, others) = read(Operator::CastLike, version, attributes)?;
        Self::checked(Operator::CastLike, version, known(input)?, known(like)?, others)
    }

    fn checked(
        operator: Operator,
        version: u32,
        from: ElementType,
        to: ElementType,
        attributes: Attributes,
    ) -> Result<Self, OnnxError> {
        operator.check(version, Port::Input, from)?;
        operator.check(version, Port::Output, to)?;
        attributes.check(operator, version)?;
        let (options, text) = (CastOptions::ONNX, TextOptions::ONNX);
        let cast = Self { operator, version, from, to, attributes, options, text, route: Route::Copy };
        cast.with_options(&options)
    }

    /// The same node with other options where ONNX leaves a choice or its text has changed; the default is [`CastOptions::ONNX`].
    /// The attributes `saturate` and `round_mode` still decide what they specify.
    ///
    /// ```
    /// use lanecast::onnx::{Attributes, Cast};
    /// use lanecast::{Bytes, CastOptions, DType, F8E4M3FNUZ, FnuzInf};
    /// let infinity = f32::INFINITY.to_le_bytes();
    /// let (mut code, mut letter) = ([F8E4M3FNUZ::default()], [F8E4M3FNUZ::default()]);
    /// let cast = Cast::new(19, DType::Float32, DType::Float8E4M3FNUZ, &Attributes::NONE)?;
    /// cast.run(Bytes::new(&infinity, 1), &mut code)?;
    /// let cast = cast.with_options(&CastOptions::ONNX.with_fnuz_inf(FnuzInf::Nan))?;
    /// cast.run(Bytes::new(&infinity, 1), &mut letter)?;
    /// // The largest value, as all tests of ONNX have it, and NaN, as the text of opsets 19 to 23 has it.
    /// assert_eq!([code, letter].map(|[x]| x.to_bits()), [0x7F, 0x80]);
    /// # Ok::<(), lanecast::onnx::OnnxError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`OnnxError::Cast`] as [`CastPlan::new`].
    pub fn with_options(mut self, options: &CastOptions) -> Result<Self, OnnxError> {
        self.options = self.attributes.over(options);
        self.resolve()
    }

    /// The same node with other options for text; the default is [`TextOptions::ONNX`].
    ///
    /// ```
    /// use lanecast::onnx::{Attributes, Cast};
    /// use lanecast::{Bytes, DType, onnx::ElementType, text::{Exponent, TextOptions}};
    /// let cast = Cast::new(9, DType::Float32, ElementType::String, &Attributes::NONE)?;
    /// let raw: Vec<u8> = [314.15926_f32, 1e20, f32::INFINITY].iter().flat_map(|x| x.to_le_bytes()).collect();
    /// assert!(cast.format(Bytes::new(&raw, 3))?.iter().eq(["314.15927", "1e+20", "INF"]));
    /// let plain = cast.with_text(&TextOptions::ONNX.with_exponent(Exponent::Never))?;
    /// assert!(plain.format(Bytes::new(&raw, 2))?.iter().eq(["314.15927", "100000000000000000000.0"]));
    /// # Ok::<(), lanecast::onnx::OnnxError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`with_options`](Self::with_options).
    pub fn with_text(mut self, text: &TextOptions) -> Result<Self, OnnxError> {
        self.text = *text;
        self.resolve()
    }

    fn resolve(mut self) -> Result<Self, OnnxError> {
        use ElementType::{Number, String};
        let packed = |dtype| Encoding::packed(dtype).with_order(ByteOrder::Little);
        self.route = match (self.from, self.to) {
            (Number(from), Number(to)) => {
                Route::Numbers(CastPlan::new(packed(from), packed(to), &self.options)?)
            }
            (Number(from), String) => Route::Format(FormatPlan::new(packed(from), &self.text)?),
            (String, Number(to)) => Route::Parse(ParsePlan::new(packed(to), &self.text, &self.options)?),
            (String, String) => Route::Copy,
        };
        Ok(self)
    }

    /// The operator.
    pub const fn operator(&self) -> Operator {
        self.operator
    }

    /// The version in force, such as 9 for `Cast` in opset 11.
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// The type of the input.
    pub const fn source(&self) -> ElementType {
        self.from
    }

    /// The type of the output.
    pub const fn target(&self) -> ElementType {
        self.to
    }

    /// The options that result from the attributes and [`with_options`](Self::with_options).
    pub const fn options(&self) -> &CastOptions {
        &self.options
    }

    /// The options of text.
    pub const fn text(&self) -> &TextOptions {
        &self.text
    }

    /// The plan of a cast between numbers, for packed little-endian elements; `None` if text is involved.
    pub const fn plan(&self) -> Option<&CastPlan> {
        match &self.route {
            Route::Numbers(plan) => Some(plan),
            _ => None,
        }
    }

    /// Casts numbers to numbers, as [`CastPlan::run`].
    ///
    /// [`Bytes`] have the form of `TensorProto.raw_data`: little-endian on every host, elements of less than a byte packed, the first one in
    /// the lowest bits, unused bits of the last byte 0. So a slice of elements fits on little-endian hosts, except for packed dtypes.
    ///
    /// # Errors
    ///
    /// [`OnnxError::Cast`] as [`CastPlan::run`], [`OnnxError::OtherKind`] if a side is text; then nothing is written.
    pub fn run<'s, 'd>(
        &self,
        src: impl Into<Source<'s>>,
        dst: impl Into<Target<'d>>,
    ) -> Result<(), OnnxError> {
        let Route::Numbers(plan) = &self.route else { return Err(self.other_kind()) };
        Ok(plan.run(src, dst)?)
    }

    /// Formats elements, which are as in [`run`](Self::run), as text.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run); [`OnnxError::OtherKind`] if the cast is not from numbers to text.
    pub fn format<'a>(&self, src: impl Into<Source<'a>>) -> Result<Strings, OnnxError> {
        let Route::Format(plan) = &self.route else { return Err(self.other_kind()) };
        Ok(plan.run(src)?)
    }

    /// Parses texts to numbers at the start of `dst`, in the form of [`run`](Self::run), and returns how many there were.
    ///
    /// # Errors
    ///
    /// [`OnnxError::Text`] for a text that is not a number, for an integer out of range, and for a `dst` that is too small; then the
    /// elements before it may have been written. [`OnnxError::OtherKind`] if the cast is not from text to numbers.
    pub fn parse<T: AsRef<[u8]>>(
        &self,
        texts: impl IntoIterator<Item = T>,
        dst: &mut [u8],
    ) -> Result<usize, OnnxError> {
        let Route::Parse(plan) = &self.route else { return Err(self.other_kind()) };
        Ok(plan.run(texts, dst)?)
    }

    /// Casts the `n` elements of a tensor, whatever the two types are.
    ///
    /// ```
    /// use lanecast::onnx::{Attributes, Cast, ElementType, Payload, CastOutput};
    /// let texts = ["1.5", "INF"];
    /// let payload = Payload { string_data: &texts, ..Payload::new(8, 2) };
    /// let cast = Cast::new(9, ElementType::String, lanecast::DType::Float16, &Attributes::NONE)?;
    /// let Ok(contents) = payload.read() else { panic!("a tensor") };
    /// assert_eq!(cast.apply(&contents, 2)?, CastOutput::Numbers(vec![0x00, 0x3E, 0x00, 0x7C]));
    /// # Ok::<(), lanecast::onnx::OnnxError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run) and [`parse`](Self::parse); [`OnnxError::OtherKind`] if the contents are not of the input's type, or are a
    /// different number of texts; [`OnnxError::NotUtf8`] if a text in a cast from text to text is not UTF-8.
    pub fn apply<S: AsRef<[u8]>>(
        &self,
        contents: &Contents<'_, S>,
        n: usize,
    ) -> Result<CastOutput, OnnxError> {
        let room = |to: Encoding| {
            let too_large = CastError::TooLarge { elements: n, encoding: to };
            let len = to.byte_len(n).ok_or(too_large.clone())?;
            let mut room = Vec::new();
            room.try_reserve_exact(len).map_err(|_| too_large)?;
            room.resize(len, 0);
            Ok::<_, CastError>(room)
        };
        match (contents, &self.route) {
            (Contents::Numbers(dtype, raw), Route::Numbers(plan)) if plan.source().dtype() == *dtype => {
                let mut out = room(plan.target())?;
                self.run(Bytes::new(raw, n), BytesMut::new(&mut out, n))?;
                Ok(CastOutput::Numbers(out))
            }
            (Contents::Numbers(dtype, raw), Route::Format(plan)) if plan.source().dtype() == *dtype => {
                Ok(CastOutput::Strings(self.format(Bytes::new(raw, n))?))
            }
            (Contents::Strings(texts), Route::Parse(plan)) if texts.len() == n => {
                let mut out = room(plan.target())?;
                self.parse(*texts, &mut out)?;
                Ok(CastOutput::Numbers(out))
            }
            (Contents::Strings(texts), Route::Copy) if texts.len() == n => {
                let mut copy = Strings::new();
                for (index, text) in texts.iter().enumerate() {
                    copy.push(core::str::from_utf8(text.as_ref()).map_err(|_| OnnxError::NotUtf8 { index })?);
                }
                Ok(CastOutput::Strings(copy))
            }
            _ => Err(self.other_kind()),
        }
    }

    fn other_kind(&self) -> OnnxError {
        OnnxError::OtherKind { from: self.from, to: self.to }
    }
}

pub(super) fn known(code: i32) -> Result<ElementType, OnnxError> {
    ElementType::from_code(code).ok_or(OnnxError::UnknownCode(code.into()))
}
