//! The element that a checked cast rejects.

#[cfg(feature = "text")]
use crate::text::write;
#[cfg(feature = "text")]
use alloc::{string::String, vec::Vec};
use core::fmt;
use lanecast_kernels::{DType, Encoding, Kernel, Kind, Rules, Tier};
use lanecast_kernels::{Loss, Lost};

/// The bits of 1 as float64.
const ONE: u64 = 0x3FF0_0000_0000_0000;

/// An element that does not fit, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Rejection {
    /// Its index, counted from 0. It is the first of the elements that do not fit.
    pub index: usize,
    /// Its value.
    pub value: RejectedValue,
    /// The dtype of the target.
    pub to: DType,
    /// Why it does not fit.
    pub reason: RejectionReason,
}

/// Why an element does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RejectionReason {
    /// NaN, which the target does not have.
    Nan,
    /// Beyond the range of the target, infinities included.
    Overflow,
    /// Below zero, and the target has no sign.
    Negative,
    /// Zero, or nearer to zero than the smallest value of a target that has no zero.
    NoZero,
    /// A complex number with an imaginary part other than zero, and the target is real.
    Imaginary,
    /// A nonzero value that would be rounded to zero ([`Level::Exact`](crate::Level::Exact)).
    Underflow,
    /// A value that would be rounded or lose its fraction ([`Level::Exact`](crate::Level::Exact)).
    Inexact,
}

impl fmt::Display for RejectionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RejectionReason::Nan => "it has no NaN",
            RejectionReason::Overflow => "it is out of range",
            RejectionReason::Negative => "it has no sign",
            RejectionReason::NoZero => "its least value is greater",
            RejectionReason::Imaginary => "it has no imaginary part",
            RejectionReason::Underflow => "it would become zero",
            RejectionReason::Inexact => "it would be rounded",
        })
    }
}

/// The exact value of one element of any dtype.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RejectedValue {
    dtype: DType,
    /// The bits of the element, in the low bits, with the real part lowest.
    code: u128,
}

impl RejectedValue {
    /// The dtype of the element.
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// The bits of the element, in the low bits; the real part of a complex number is lowest.
    pub const fn code(&self) -> u128 {
        self.code
    }

    /// The integer, if the dtype is bool or an integer.
    pub fn integer(&self) -> Option<i128> {
        let wide = match self.dtype.kind() {
            Kind::Bool | Kind::UnsignedInt => DType::UInt64,
            Kind::SignedInt => DType::Int64,
            Kind::Float | Kind::Complex => return None,
        };
        let word = u64::from_ne_bytes(self.widened(wide)?[..8].try_into().ok()?);
        Some(if wide == DType::Int64 { i128::from(word as i64) } else { i128::from(word) })
    }

    /// The real and the imaginary part, which float64 holds exactly, if the dtype is a float or complex.
    pub fn parts(&self) -> Option<(f64, f64)> {
        self.part_bits().map(|(re, im)| (f64::from_bits(re), f64::from_bits(im)))
    }

    /// The bits of both parts as float64. They are bits because merely moving a float that is subnormal or a signalling NaN would
    /// raise an exception on the x87 of 32-bit x86.
    fn part_bits(&self) -> Option<(u64, u64)> {
        match self.dtype.kind() {
            Kind::Float | Kind::Complex => {}
            _ => return None,
        }
        let bytes = self.widened(DType::Complex128)?;
        let part = |at: usize| Some(u64::from_ne_bytes(bytes[at..at + 8].try_into().ok()?));
        Some((part(0)?, part(8)?))
    }

    /// The element cast to a wider dtype.
    fn widened(&self, wide: DType) -> Option<[u8; 16]> {
        let mut out = [0; 16];
        let wide = Encoding::new(wide);
        let kernel =
            Kernel::new(Tier::Scalar, Encoding::new(self.dtype), wide, &Rules::common(wide.dtype(), true))?;
        kernel.run(&self.bytes(), &mut out, 1)?;
        Some(out)
    }

    /// The element as it is stored in a buffer, in the first bytes.
    fn bytes(&self) -> [u8; 16] {
        let (size, part) = (self.dtype.size(), self.dtype.alignment());
        let (mut code, mut element) = (self.code, [0; 16]);
        for bytes in element[..size].chunks_exact_mut(part) {
            let word = (code as u64).to_ne_bytes();
            bytes.copy_from_slice(if cfg!(target_endian = "little") {
                &word[..part]
            } else {
                &word[8 - part..]
            });
            // If there is a second part, the first has at most 64 bits.
            code >>= 8 * part as u32;
        }
        element
    }
}

impl fmt::Display for RejectedValue {
    /// As the module `text` formats it; without the feature `text` as Rust formats integers and `f64`.
    #[cfg(feature = "text")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        match write::element(self.dtype, &self.bytes()[..self.dtype.size()], &mut text) {
            Some(()) => f.write_str(&String::from_utf8_lossy(&text)),
            None => write!(f, "{:#x}", self.code),
        }
    }

    /// As Rust formats integers and `f64`; with the feature `text` as the module of this name does.
    #[cfg(not(feature = "text"))]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.integer(), self.parts()) {
            (Some(integer), _) => integer.fmt(f),
            (_, Some((re, im))) if self.dtype.kind() == Kind::Complex => write!(f, "({re:?}{im:+?}j)"),
            (_, Some((re, _))) => write!(f, "{re:?}"),
            (None, None) => write!(f, "{:#x}", self.code),
        }
    }
}

impl fmt::Debug for RejectedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} ({}, {:#x})", self.dtype, self.code)
    }
}

impl Rejection {
    /// Describes what the kernels found.
    pub(crate) fn new(lost: &Lost, from: DType, to: DType) -> Rejection {
        let Lost { index, code, loss } = *lost;
        let value = RejectedValue { dtype: from, code };
        // A target without a sign or without zero is real, so only the real part can be out of its range.
        let part = value.part_bits().map(|(re, _)| re);
        // Tested by bits: a comparison might flush a subnormal number or trap, depending on the host's control register.
        let (negative, zero) = match part {
            Some(bits) => {
                let magnitude = bits & !(1 << 63);
                (bits != magnitude && magnitude != 0, magnitude < ONE)
            }
            None => (value.integer().is_some_and(|integer| integer < 0), value.integer() == Some(0)),
        };
        let powers = to == DType::Float8E8M0FNU;
        let reason = match loss {
            Loss::LostNan => RejectionReason::Nan,
            Loss::Imaginary => RejectionReason::Imaginary,
            Loss::Underflow => RejectionReason::Underflow,
            Loss::Inexact => RejectionReason::Inexact,
            _ if negative && (powers || to.kind() == Kind::UnsignedInt) => RejectionReason::Negative,
            _ if zero && powers => RejectionReason::NoZero,
            _ => RejectionReason::Overflow,
        };
        Rejection { index, value, to, reason }
    }

    /// The same element with `elements` added to its index, for a buffer that is cast in parts.
    #[must_use]
    pub const fn after(self, elements: usize) -> Rejection {
        Rejection { index: self.index.saturating_add(elements), ..self }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rejection { index, value, to, reason } = self;
        write!(f, "element {index}, the {} {value}, does not fit in {to}: {reason}", value.dtype())
    }
}
