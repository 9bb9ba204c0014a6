//! Elements to their texts.
//!
//! *Law.* There is no floating-point arithmetic, so the state of the floating-point control register does not matter.

use super::{
    float16,
    layout::{self, Digits},
    options::{Exponent, TextOptions},
};
use alloc::vec::Vec;
use lanecast_kernels::{DType, Encoding, FloatSpec, Kernel, Rules, Spec, Tier};

/// Appends a truth value.
#[inline]
pub(super) fn boolean(x: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(if x { b"True" } else { b"False" });
}

/// Appends an integer.
#[inline]
pub(super) fn int(x: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(x).as_bytes());
}

/// The code of a float that is written directly.
///
/// Codes stay integers until they reach `zmij`: given a float, compilers turn a test of its bits into a comparison of floats, which
/// treats subnormals as zero if the host program has set that mode.
pub(super) trait Code: Copy {
    /// The type of the float.
    type Float: zmij::Float;
    /// The codes of 1e-4, of the values from which `zmij` and section 8.2 use exponents, and of infinity.
    const LIMITS: [u64; 4];
    /// The bits without the sign, and the sign.
    fn split(self) -> (u64, bool);
    /// The code without its sign.
    fn magnitude(self) -> Self;
    /// The float.
    fn float(self) -> Self::Float;
}

impl Code for u32 {
    type Float = f32;
    const LIMITS: [u64; 4] = [
        1e-4_f32.to_bits() as u64,
        1e13_f32.to_bits() as u64,
        1e16_f32.to_bits() as u64,
        f32::INFINITY.to_bits() as u64,
    ];
    #[inline]
    fn split(self) -> (u64, bool) {
        (self.magnitude().into(), self >> 31 != 0)
    }
    #[inline]
    fn magnitude(self) -> u32 {
        self & !(1 << 31)
    }
    #[inline]
    fn float(self) -> f32 {
        f32::from_bits(self)
    }
}

impl Code for u64 {
    type Float = f64;
    const LIMITS: [u64; 4] =
        [1e-4_f64.to_bits(), 1e16_f64.to_bits(), 1e16_f64.to_bits(), f64::INFINITY.to_bits()];
    #[inline]
    fn split(self) -> (u64, bool) {
        (self.magnitude(), self >> 63 != 0)
    }
    #[inline]
    fn magnitude(self) -> u64 {
        self & !(1 << 63)
    }
    #[inline]
    fn float(self) -> f64 {
        f64::from_bits(self)
    }
}

/// Appends a float. `point`: whether a whole number may end in `.0`.
#[inline(always)]
pub(super) fn float<C: Code>(x: C, options: &TextOptions, point: bool, out: &mut Vec<u8>) {
    let (bits, _) = x.split();
    let [low, high, ..] = C::LIMITS;
    if (low..high).contains(&bits) && point && options.trailing_dot_zero {
        // Here the layouts agree.
        let mut buffer = zmij::Buffer::new();
        out.extend_from_slice(buffer.format_finite(x.float()).as_bytes());
    } else {
        unusual(x, options, point, out);
    }
}

/// Whether a text ends in an exponent with a sign and two or three digits, as the layout requires.
fn has_exponent(text: &[u8]) -> bool {
    matches!(text, [.., b'e', b'+' | b'-', _, _] | [.., b'e', b'+' | b'-', _, _, _])
}

#[inline(never)]
fn unusual<C: Code>(x: C, options: &TextOptions, point: bool, out: &mut Vec<u8>) {
    let (bits, negative) = x.split();
    let [low, _, top, infinity] = C::LIMITS;
    if bits > infinity {
        return out.extend_from_slice(layout::nan(options));
    }
    if negative {
        out.push(b'-');
    }
    if bits == infinity {
        return out.extend_from_slice(layout::infinity(options));
    }
    let point = point && options.trailing_dot_zero;
    if bits == 0 {
        return out.extend_from_slice(if point { b"0.0" } else { b"0" });
    }
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(x.magnitude().float()).as_bytes();
    if options.exponent == Exponent::Auto && !(low..top).contains(&bits) && has_exponent(text) {
        out.extend_from_slice(text);
    } else {
        Digits::read(text).write(options, point, out);
    }
}

/// Appends a `float16`.
pub(super) fn float16(code: u16, options: &TextOptions, out: &mut Vec<u8>) {
    const INFINITY: u16 = 0x7C00;
    let magnitude = code & 0x7FFF;
    if magnitude > INFINITY {
        return out.extend_from_slice(layout::nan(options));
    }
    if code != magnitude {
        out.push(b'-');
    }
    match magnitude {
        INFINITY => out.extend_from_slice(layout::infinity(options)),
        0 if options.trailing_dot_zero => out.extend_from_slice(b"0.0"),
        0 => out.push(b'0'),
        _ => float16::digits(magnitude).write(options, options.trailing_dot_zero, out),
    }
}

/// Appends a complex number as Python's `str` does.
pub(super) fn complex<C: Code>([re, im]: [C; 2], options: &TextOptions, out: &mut Vec<u8>) {
    let only = re.split() == (0, false);
    if !only {
        out.push(b'(');
        float(re, options, false, out);
        // NaN has no sign here, but there must be one between the two parts.
        let (bits, negative) = im.split();
        if !negative || bits > C::LIMITS[3] {
            out.push(b'+');
        }
    }
    float(im, options, false, out);
    out.extend_from_slice(if only { b"j" } else { b"j)" });
}

/// The dtype as which the elements of a dtype are written: it has all their values.
pub(super) const fn written_as(dtype: DType) -> DType {
    match dtype.spec() {
        Spec::Bool => DType::Bool,
        Spec::Int { signed: true, .. } => DType::Int64,
        Spec::Int { signed: false, .. } => DType::UInt64,
        Spec::Float(FloatSpec { exponent_bits: 5, mantissa_bits: 10, .. }) => DType::Float16,
        Spec::Float(part) if part.bits() <= 32 => DType::Float32,
        Spec::Float(_) => DType::Float64,
        Spec::Complex(part) if part.bits() <= 32 => DType::Complex64,
        Spec::Complex(_) => DType::Complex128,
    }
}

/// Where texts are appended.
pub(super) trait Output {
    fn tail(&mut self) -> &mut Vec<u8>;
    /// A text has been appended.
    fn end(&mut self);
}

impl Output for Vec<u8> {
    fn tail(&mut self) -> &mut Vec<u8> {
        self
    }
    fn end(&mut self) {}
}

/// Appends the texts of elements that are given as their bytes.
#[inline(always)]
fn each<const N: usize>(
    bytes: &[u8],
    count: usize,
    out: &mut impl Output,
    write: impl Fn([u8; N], &mut Vec<u8>),
) {
    for &element in &bytes.as_chunks().0[..count] {
        write(element, out.tail());
        out.end();
    }
}

/// Appends the first `count` elements of a dtype that is [`written_as`] itself.
pub(super) fn elements(
    dtype: DType,
    bytes: &[u8],
    count: usize,
    options: &TextOptions,
    out: &mut impl Output,
) {
    match dtype {
        DType::Bool => each(bytes, count, out, |[x], out| boolean(x != 0, out)),
        DType::Int64 => each(bytes, count, out, |x, out| int(i64::from_ne_bytes(x), out)),
        DType::UInt64 => each(bytes, count, out, |x, out| int(u64::from_ne_bytes(x), out)),
        DType::Float16 => each(bytes, count, out, |x, out| float16(u16::from_ne_bytes(x), options, out)),
        DType::Float32 => {
            each(bytes, count, out, |x, out| float(u32::from_ne_bytes(x), options, true, out));
        }
        DType::Float64 => {
            each(bytes, count, out, |x, out| float(u64::from_ne_bytes(x), options, true, out));
        }
        DType::Complex64 => each(bytes, count, out, |x: [u8; 8], out| {
            let part = |i| u32::from_ne_bytes(x.as_chunks().0[i]);
            complex([part(0), part(1)], options, out);
        }),
        _ => each(bytes, count, out, |x: [u8; 16], out| {
            let part = |i| u64::from_ne_bytes(x.as_chunks().0[i]);
            complex([part(0), part(1)], options, out);
        }),
    }
}

/// Appends the text of one element, given as its bytes in native order; `None`, with nothing appended, if its dtype is not built.
pub(crate) fn element(dtype: DType, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (wide, mut decoded) = (written_as(dtype), [0; 16]);
    let rules = Rules::common(wide, true);
    let kernel = Kernel::new(Tier::Scalar, Encoding::new(dtype), Encoding::new(wide), &rules)?;
    kernel.run(bytes, &mut decoded, 1)?;
    elements(wide, &decoded, 1, &TextOptions::DEFAULT, out);
    Some(())
}
