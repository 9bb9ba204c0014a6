//! THE list of dtypes.
//!
//! Every dtype is one row of [`for_each_dtype!`]. The enum, the names, the format types, the table of kernels, the tests,
//! the benches and the documents are made from these rows and from nothing else. A new small float is one new row.
//!
//! A row reads `kind (Variant, Format, code, "name", Spec, [aliases])`:
//!
//! * `kind` says where the format type comes from: `native` types exist already (Rust's, `half`'s, `num-complex`'s),
//!   `small_int` and `small_float` rows define a newtype over `u8`;
//! * `code` is the stable number of the dtype: it never changes and is never reused, and rows are in its order;
//! * `Spec` is everything that arithmetic needs to know about the dtype.
//!
//! Canonical names come from NumPy and ml_dtypes. Short forms count bits (`i4`), as Rust's names do and NumPy's codes do not. Any other alias is
//! here only if it means the same thing to every system.

use core::fmt;

/// Calls the macro `$callback` with all rows, after `$more` if that is given.
macro_rules! for_each_dtype {
    ($callback:ident $(, $more:tt)?) => {
        $callback! {
            $($more;)?
            native (Bool, bool, 0, "bool", Spec::Bool, ["boolean"])
            small_int (Int2, I2, 1, "int2", Spec::int(2, true), ["i2", "s2"])
            small_int (Int4, I4, 2, "int4", Spec::int(4, true), ["i4", "s4"])
            native (Int8, i8, 3, "int8", Spec::int(8, true), ["i8", "s8"])
            native (Int16, i16, 4, "int16", Spec::int(16, true), ["i16", "s16"])
            native (Int32, i32, 5, "int32", Spec::int(32, true), ["i32", "s32"])
            native (Int64, i64, 6, "int64", Spec::int(64, true), ["i64", "s64"])
            small_int (UInt2, U2, 7, "uint2", Spec::int(2, false), ["u2"])
            small_int (UInt4, U4, 8, "uint4", Spec::int(4, false), ["u4"])
            native (UInt8, u8, 9, "uint8", Spec::int(8, false), ["u8"])
            native (UInt16, u16, 10, "uint16", Spec::int(16, false), ["u16"])
            native (UInt32, u32, 11, "uint32", Spec::int(32, false), ["u32"])
            native (UInt64, u64, 12, "uint64", Spec::int(64, false), ["u64"])
            native (Float16, half::f16, 13, "float16", Spec::float(5, 10, 15, Flavor::Ieee),
                ["f16", "fp16", "half"])
            native (BFloat16, half::bf16, 14, "bfloat16", Spec::float(8, 7, 127, Flavor::Ieee), ["bf16"])
            native (Float32, f32, 15, "float32", Spec::float(8, 23, 127, Flavor::Ieee),
                ["f32", "fp32", "single"])
            native (Float64, f64, 16, "float64", Spec::float(11, 52, 1023, Flavor::Ieee),
                ["f64", "fp64", "double"])
            native (Complex64, num_complex::Complex<f32>, 17, "complex64",
                Spec::complex(8, 23, 127), ["c64"])
            native (Complex128, num_complex::Complex<f64>, 18, "complex128",
                Spec::complex(11, 52, 1023), ["c128"])
            small_float (Float8E4M3FN, F8E4M3FN, 19, "float8_e4m3fn", Spec::float(4, 3, 7, Flavor::Fn),
                ["f8e4m3fn", "f8_e4m3fn", "fp8_e4m3fn", "e4m3fn"])
            small_float (Float8E4M3FNUZ, F8E4M3FNUZ, 20, "float8_e4m3fnuz", Spec::float(4, 3, 8, Flavor::Fnuz),
                ["f8e4m3fnuz", "f8_e4m3fnuz", "fp8_e4m3fnuz", "e4m3fnuz"])
            small_float (Float8E5M2, F8E5M2, 21, "float8_e5m2", Spec::float(5, 2, 15, Flavor::Ieee),
                ["f8e5m2", "f8_e5m2", "fp8_e5m2", "e5m2"])
            small_float (Float8E5M2FNUZ, F8E5M2FNUZ, 22, "float8_e5m2fnuz", Spec::float(5, 2, 16, Flavor::Fnuz),
                ["f8e5m2fnuz", "f8_e5m2fnuz", "fp8_e5m2fnuz", "e5m2fnuz"])
            small_float (Float8E8M0FNU, F8E8M0FNU, 23, "float8_e8m0fnu", Spec::float(8, 0, 127, Flavor::Exponent),
                ["f8e8m0fnu", "f8_e8m0fnu", "fp8_e8m0fnu", "e8m0fnu", "float8_e8m0", "f8e8m0", "e8m0"])
            small_float (Float8E3M4, F8E3M4, 24, "float8_e3m4", Spec::float(3, 4, 3, Flavor::Ieee),
                ["f8e3m4", "f8_e3m4", "fp8_e3m4", "e3m4"])
            small_float (Float8E4M3, F8E4M3, 25, "float8_e4m3", Spec::float(4, 3, 7, Flavor::Ieee), [])
            small_float (Float8E4M3B11FNUZ, F8E4M3B11FNUZ, 26, "float8_e4m3b11fnuz",
                Spec::float(4, 3, 11, Flavor::Fnuz),
                ["f8e4m3b11fnuz", "f8_e4m3b11fnuz", "fp8_e4m3b11fnuz", "e4m3b11fnuz"])
            small_float (Float6E2M3FN, F6E2M3FN, 27, "float6_e2m3fn", Spec::float(2, 3, 1, Flavor::Finite),
                ["f6e2m3fn", "f6_e2m3fn", "fp6_e2m3fn", "e2m3fn", "float6_e2m3", "f6e2m3", "e2m3"])
            small_float (Float6E3M2FN, F6E3M2FN, 28, "float6_e3m2fn", Spec::float(3, 2, 3, Flavor::Finite),
                ["f6e3m2fn", "f6_e3m2fn", "fp6_e3m2fn", "e3m2fn", "float6_e3m2", "f6e3m2", "e3m2"])
            small_float (Float4E2M1FN, F4E2M1FN, 29, "float4_e2m1fn", Spec::float(2, 1, 1, Flavor::Finite),
                ["f4e2m1fn", "f4_e2m1fn", "fp4_e2m1fn", "e2m1fn", "float4_e2m1", "f4e2m1", "e2m1"])
        }
    };
}
pub(crate) use for_each_dtype;

/// What a floating-point format does at the top of its code range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flavor {
    /// The all-ones exponent holds infinity and the NaNs, as in IEEE 754.
    Ieee,
    /// No infinity; NaN is the code whose exponent and mantissa are all ones (`fn`).
    Fn,
    /// No infinity, no negative zero; the code of negative zero is the only NaN (`fnuz`).
    Fnuz,
    /// No infinity and no NaN.
    Finite,
    /// Only an exponent: unsigned powers of two, no zero, all ones is NaN (`e8m0fnu`).
    Exponent,
}

/// The definition of a floating-point format; all its constants and limits follow from these fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FloatSpec {
    /// Width of the exponent field in bits.
    pub exponent_bits: u32,
    /// Width of the mantissa field in bits, without the implicit bit.
    pub mantissa_bits: u32,
    /// The number that is subtracted from the exponent field.
    pub bias: i32,
    /// What the top of the code range means.
    pub flavor: Flavor,
}

impl FloatSpec {
    /// Whether there is a sign bit.
    pub const fn signed(self) -> bool {
        !matches!(self.flavor, Flavor::Exponent)
    }
    /// Width of a code in bits.
    pub const fn bits(self) -> u32 {
        self.exponent_bits + self.mantissa_bits + self.signed() as u32
    }
    /// The sign bit, 0 if there is none.
    pub const fn sign_mask(self) -> u64 {
        if self.signed() { 1 << (self.exponent_bits + self.mantissa_bits) } else { 0 }
    }
    /// All bits except the sign.
    pub const fn magnitude_mask(self) -> u64 {
        (1 << (self.exponent_bits + self.mantissa_bits)) - 1
    }
    /// The magnitude code of the largest finite value.
    pub const fn max_finite(self) -> u64 {
        match self.flavor {
            Flavor::Ieee => self.exponent_field() - 1,
            Flavor::Fn | Flavor::Exponent => self.magnitude_mask() - 1,
            Flavor::Fnuz | Flavor::Finite => self.magnitude_mask(),
        }
    }
    /// The magnitude code of infinity.
    pub const fn infinity(self) -> Option<u64> {
        match self.flavor {
            Flavor::Ieee => Some(self.exponent_field()),
            _ => None,
        }
    }
    /// The magnitude code of the NaN that casts make. For [`Flavor::Fnuz`] it is one more than the largest magnitude: the
    /// sign bit.
    pub const fn nan(self) -> Option<u64> {
        match self.flavor {
            Flavor::Ieee => Some(self.exponent_field() | 1 << (self.mantissa_bits - 1)),
            Flavor::Fn | Flavor::Exponent => Some(self.magnitude_mask()),
            Flavor::Fnuz => Some(self.magnitude_mask() + 1),
            Flavor::Finite => None,
        }
    }
    /// All ones in the exponent field, the mantissa zero.
    pub const fn exponent_field(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << self.mantissa_bits
    }
    /// The exponent of the unit in the last place of the subnormals, which is the smallest positive value: `2^this`.
    pub const fn min_exponent(self) -> i32 {
        match self.flavor {
            Flavor::Exponent => -self.bias,
            _ => 1 - self.bias - self.mantissa_bits as i32,
        }
    }
    /// The exponent of the largest finite value: it lies in `2^this .. 2^(this + 1)`.
    pub const fn max_exponent(self) -> i32 {
        (self.max_finite() >> self.mantissa_bits) as i32 - self.bias
    }
}

/// What arithmetic needs to know about a dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spec {
    /// A truth value in a byte: any nonzero byte is true, 1 is written.
    Bool,
    /// A two's complement (`signed`) or unsigned integer.
    Int {
        /// Width in bits.
        bits: u32,
        /// Whether it is two's complement.
        signed: bool,
    },
    /// A real floating-point format.
    Float(FloatSpec),
    /// Two reals of this format, the real part first.
    Complex(FloatSpec),
}

impl Spec {
    pub(crate) const fn int(bits: u32, signed: bool) -> Self {
        Spec::Int { bits, signed }
    }
    pub(crate) const fn float(exponent_bits: u32, mantissa_bits: u32, bias: i32, flavor: Flavor) -> Self {
        Spec::Float(FloatSpec { exponent_bits, mantissa_bits, bias, flavor })
    }
    pub(crate) const fn complex(exponent_bits: u32, mantissa_bits: u32, bias: i32) -> Self {
        Spec::Complex(FloatSpec { exponent_bits, mantissa_bits, bias, flavor: Flavor::Ieee })
    }
}

/// The broad class of a dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Truth values.
    Bool,
    /// Two's complement integers.
    SignedInt,
    /// Unsigned integers.
    UnsignedInt,
    /// Real floating-point formats, including the small ones.
    Float,
    /// Complex numbers.
    Complex,
}

macro_rules! define_dtype {
    ($($kind:ident ($variant:ident, $format:ty, $code:literal, $name:literal, $spec:expr, [$($alias:literal),*]))*) => {
        /// A dtype: the runtime tag of an element type.
        ///
        /// The number of a variant is stable across versions ([`DType::code`]).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum DType {
            $(#[doc = concat!("`", $name, "`")] $variant = $code,)*
        }

        impl DType {
            /// All dtypes in the order of their codes, including the ones that this build leaves out.
            pub const EVERY: &'static [DType] = &[$(DType::$variant),*];

            /// The canonical name, as in NumPy and ml_dtypes, such as `"float8_e4m3fn"`.
            pub const fn name(self) -> &'static str {
                match self { $(DType::$variant => $name,)* }
            }

            /// Other names that are accepted on input.
            pub const fn aliases(self) -> &'static [&'static str] {
                match self { $(DType::$variant => &[$($alias),*],)* }
            }

            /// The definition of the dtype.
            pub const fn spec(self) -> Spec {
                match self { $(DType::$variant => $spec,)* }
            }
        }
    };
}
for_each_dtype!(define_dtype);

/// The number of dtypes.
pub(crate) const COUNT: usize = DType::EVERY.len();

// The table of kernels is indexed by the code.
const _: () = {
    let mut i = 0;
    while i < COUNT {
        assert!(DType::EVERY[i] as usize == i, "the rows of the list stand in the order of their codes");
        i += 1;
    }
};

/// The number of dtypes that this build casts.
const BUILT: usize = {
    let (mut i, mut count) = (0, 0);
    while i < COUNT {
        count += DType::EVERY[i].is_built() as usize;
        i += 1;
    }
    count
};

/// The dtypes that a build may leave out, by Cargo feature.
macro_rules! define_optional {
    ($($feature:tt: $($variant:ident)|+;)*) => {
        /// The Cargo feature of the dtype, and whether it is on.
        const fn optional(dtype: DType) -> Option<(&'static str, bool)> {
            match dtype {
                $($(DType::$variant)|+ => Some(($feature, cfg!(feature = $feature))),)*
                _ => None,
            }
        }

        /// The compile-time error for a typed cast of a dtype that is left out.
        pub(crate) const NOT_BUILT: &str = concat!(
            "this build leaves out a dtype of the cast: turn on its Cargo feature (`DType::feature`), one of",
            $(" `", $feature, "`"),*
        );
    };
}
define_optional! {
    "int2": Int2 | UInt2;
    "float6": Float6E2M3FN | Float6E3M2FN;
    "fnuz": Float8E4M3FNUZ | Float8E5M2FNUZ;
    "b11": Float8E4M3B11FNUZ;
    "e3m4": Float8E3M4;
    "e4m3": Float8E4M3;
}

impl DType {
    /// All dtypes that this build casts, in the order of their codes. Cargo features leave some out
    /// ([`feature`](Self::feature)).
    pub const ALL: &'static [DType] = &{
        let (mut all, mut i, mut count) = ([DType::Bool; BUILT], 0, 0);
        while i < COUNT {
            if DType::EVERY[i].is_built() {
                all[count] = DType::EVERY[i];
                count += 1;
            }
            i += 1;
        }
        all
    };

    /// The Cargo feature of the dtype, if a build can leave it out.
    pub const fn feature(self) -> Option<&'static str> {
        match optional(self) {
            Some((feature, _)) => Some(feature),
            None => None,
        }
    }

    /// Whether this build casts the dtype.
    pub const fn is_built(self) -> bool {
        !matches!(optional(self), Some((_, false)))
    }

    /// The stable number of the dtype.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The dtype with this stable number.
    pub const fn from_code(code: u8) -> Option<DType> {
        if (code as usize) < COUNT { Some(DType::EVERY[code as usize]) } else { None }
    }

    /// Width of one element in bits: 4 for `float4_e2m1fn`, 8 for `bool`, 128 for `complex128`.
    pub const fn bits(self) -> u32 {
        match self.spec() {
            Spec::Bool => 8,
            Spec::Int { bits, .. } => bits,
            Spec::Float(f) => f.bits(),
            Spec::Complex(f) => 2 * f.bits(),
        }
    }

    /// Bytes of one element stored on its own (one per byte for dtypes below 8 bits).
    pub const fn size(self) -> usize {
        self.bits().div_ceil(8) as usize
    }

    /// The natural alignment: the bytes of an element, or of one part of a complex element. Casts of byte buffers accept any alignment.
    pub const fn alignment(self) -> usize {
        match self.spec() {
            Spec::Complex(f) => f.bits() as usize / 8,
            _ => self.size(),
        }
    }

    /// Whether several elements may share a byte (2, 4 and 6 bits wide).
    pub const fn is_sub_byte(self) -> bool {
        self.bits() < 8
    }

    /// The format of a float dtype, or of the parts of a complex one.
    pub const fn float_spec(self) -> Option<FloatSpec> {
        match self.spec() {
            Spec::Float(f) | Spec::Complex(f) => Some(f),
            Spec::Bool | Spec::Int { .. } => None,
        }
    }

    /// Whether an element, or a part of it, can be NaN.
    pub(crate) const fn has_nan(self) -> bool {
        matches!(self.float_spec(), Some(f) if f.nan().is_some())
    }

    /// The broad class of the dtype.
    pub const fn kind(self) -> Kind {
        match self.spec() {
            Spec::Bool => Kind::Bool,
            Spec::Int { signed: true, .. } => Kind::SignedInt,
            Spec::Int { signed: false, .. } => Kind::UnsignedInt,
            Spec::Float(_) => Kind::Float,
            Spec::Complex(_) => Kind::Complex,
        }
    }

    /// The canonical name, then the aliases.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        core::iter::once(self.name()).chain(self.aliases().iter().copied())
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{format, vec::Vec};

    #[test]
    fn names_are_unique_and_round_trip() {
        let all: Vec<_> = DType::EVERY.iter().flat_map(|d| d.names().map(move |n| (n, *d))).collect();
        for (i, (name, dtype)) in all.iter().enumerate() {
            assert_eq!(name.parse::<DType>(), Ok(*dtype));
            assert_eq!(name.to_ascii_uppercase().parse::<DType>(), Ok(*dtype));
            assert!(all[..i].iter().all(|(other, _)| other != name), "{name} occurs twice");
        }
        for dtype in DType::EVERY {
            assert_eq!(DType::from_code(dtype.code()), Some(*dtype));
            assert_eq!(format!("{dtype:>20}").len(), 20);
        }
        assert_eq!(DType::from_code(COUNT as u8), None);
    }
}
