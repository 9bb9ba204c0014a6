//! [`CastOptions`] and its profiles: what a cast does where dtypes leave a choice.
//!
//! Options are parameters of *encode* only: they say how an exact value becomes an element of the target. Each option
//! applies to the targets that its documentation names and is ignored for all others. The rules are in
//! `docs/semantics.md`, section 3.

mod named;

use lanecast_kernels::{DType, Flavor, FloatSpec, Kind, PowerRange, Rounding, Rules, Spec};

/// Which 8-bit float targets clamp on overflow; the ONNX attribute `saturate`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Saturate {
    /// Overflow and infinity become the largest finite value (ONNX `saturate = 1`).
    #[default]
    On,
    /// Overflow becomes infinity where there is one, else NaN (ONNX `saturate = 0`).
    Off,
    /// On for `float8_e4m3fn`, off for every other 8-bit float, as in PyTorch.
    FnOnly,
}

/// How a value between two powers of two becomes `float8_e8m0fnu`; the ONNX attribute `round_mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum E8M0Round {
    /// The smallest power of two that is not less.
    #[default]
    Up,
    /// The largest power of two that is not greater.
    Down,
    /// The nearest power of two, the upper one in a tie.
    Nearest,
}

/// Which values are in the range of `float8_e8m0fnu`, which has neither a zero nor a sign. [`Saturate`] says what the others
/// become: `0x00` and `0xFE`, or NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum E8M0Range {
    /// Values from 2^-127 to 2^127 before rounding, as in ONNX.
    #[default]
    Exact,
    /// Positive values that round to at most 2^127, however small, as in ml_dtypes and JAX.
    Rounded,
    /// All values whose magnitude rounds to at most 2^127, including zero, as in PyTorch and CUDA. The sign is dropped.
    Magnitude,
}

/// What an integer target does with a value outside its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntOverflow {
    /// The nearest end of the range; NaN becomes 0.
    Saturate,
    /// The low bits of the (unbounded) integer; NaN and the infinities become 0.
    Wrap,
}

/// How a fraction is removed when a float becomes an integer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IntRound {
    /// Toward zero, as Rust's `as`.
    #[default]
    TowardZero,
    /// To the nearest integer, halves to the even one.
    NearestEven,
    /// To the nearest integer, halves away from zero.
    NearestAway,
    /// Toward negative infinity.
    Floor,
    /// Toward positive infinity.
    Ceil,
}

/// How a value between two neighbours of a float target is rounded: the directions of IEEE 754, and to odd.
///
/// A finite value overflows if, rounded as if the exponent range were unbounded, its magnitude exceeds the largest finite value. The
/// result then depends on the target. In `float16`, `bfloat16`, `float32` and `float64` it is infinity or the largest finite value, as
/// in IEEE 754, section 7.4; each direction says which. The 8-bit floats overflow as [`Saturate`] says, whatever the direction, and
/// the floats of 4 and 6 bits clamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FloatRound {
    /// To the nearest, a tie to the even code. Overflow is infinite.
    #[default]
    NearestEven,
    /// To the nearest, a tie away from zero. Overflow is infinite.
    NearestAway,
    /// To the neighbour nearer to zero (truncation). A finite value never becomes an infinity of a wide float.
    TowardZero,
    /// To the neighbour nearer to positive infinity. Positive overflow is infinite, negative overflow the least finite value.
    Up,
    /// To the neighbour nearer to negative infinity. Positive overflow is the largest finite value, negative overflow infinite.
    Down,
    /// To the neighbour whose code is odd. A second rounding to a format with at least two bits fewer then gives the same result as a
    /// single rounding, because the last bit records that bits were cut off. A finite value never becomes an infinity of a wide float,
    /// and a nonzero value never becomes zero.
    ToOdd,
}

/// The code of NaN in `float8_e5m2` (the sign is kept in the top bit).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum E5M2Nan {
    /// `0x7E`, as in ml_dtypes, JAX, and ONNX since 1.19.
    #[default]
    Code7E,
    /// `0x7F`, as in PyTorch, CUDA and ONNX Runtime.
    Code7F,
}

/// What NaN becomes in the floats of 4 and 6 bits, which have no NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NanToFinite {
    /// A zero of the opposite sign, as in ml_dtypes and ONNX.
    #[default]
    Zero,
    /// The largest positive value, as in CUDA.
    Max,
}

/// What an infinity becomes in a FNUZ float that saturates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FnuzInf {
    /// The largest finite value of its sign, as in all ONNX tests, and in the text of ONNX since opset 24.
    #[default]
    Max,
    /// NaN, as in the literal text of ONNX opsets 19 to 23.
    Nan,
}

/// What a cast does where dtypes leave a choice. The default, [`CastOptions::RUST`], is what a Rust user expects of `as`.
///
/// ```
/// use lanecast::{CastOptions, IntOverflow};
/// const WRAPPING: CastOptions = CastOptions::RUST.with_float_to_int(IntOverflow::Wrap);
/// let mut out = [0_u8; 2];
/// WRAPPING.cast(&[300.0_f32, -1.0], &mut out)?;
/// assert_eq!(out, [44, 255]);
/// # Ok::<(), lanecast::CastError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CastOptions {
    /// Overflow of `float8_*` targets.
    pub saturate: Saturate,
    /// Rounding of the `float8_e8m0fnu` target.
    pub e8m0_round: E8M0Round,
    /// Range of the `float8_e8m0fnu` target.
    pub e8m0_range: E8M0Range,
    /// Out-of-range floats (and the real parts of complex numbers) in integer targets.
    pub float_to_int: IntOverflow,
    /// Out-of-range integers in integer targets.
    pub int_to_int: IntOverflow,
    /// Fractions in integer targets.
    pub int_round: IntRound,
    /// Rounding of float and complex targets, except `float8_e8m0fnu`.
    pub float_round: FloatRound,
    /// NaN in the `float8_e5m2` target.
    pub e5m2_nan: E5M2Nan,
    /// NaN in `float4_*` and `float6_*` targets.
    pub nan_to_finite: NanToFinite,
    /// Infinity in FNUZ targets that saturate.
    pub fnuz_inf: FnuzInf,
}

macro_rules! setters {
    ($($setter:ident $field:ident: $type:ty;)*) => {
        $(
            #[doc = concat!("These options with another [`", stringify!($field), "`](Self::", stringify!($field), ").")]
            #[must_use]
            pub const fn $setter(mut self, $field: $type) -> Self {
                self.$field = $field;
                self
            }
        )*
    };
}

impl CastOptions {
    /// The default: integers and float to integer exactly as Rust's `as`, 8-bit floats saturate.
    pub const RUST: Self = Self {
        saturate: Saturate::On,
        e8m0_round: E8M0Round::Up,
        e8m0_range: E8M0Range::Exact,
        float_to_int: IntOverflow::Saturate,
        int_to_int: IntOverflow::Wrap,
        int_round: IntRound::TowardZero,
        float_round: FloatRound::NearestEven,
        e5m2_nan: E5M2Nan::Code7E,
        nan_to_finite: NanToFinite::Zero,
        fnuz_inf: FnuzInf::Max,
    };
    /// The ONNX `Cast` operator: float to integer wraps.
    pub const ONNX: Self = Self::RUST.with_float_to_int(IntOverflow::Wrap);
    /// NumPy with ml_dtypes: float to integer wraps, 8-bit floats do not saturate, `float8_e8m0fnu` is rounded to nearest.
    pub const NUMPY: Self = Self::JAX.with_float_to_int(IntOverflow::Wrap);
    /// JAX: 8-bit floats do not saturate, `float8_e8m0fnu` is rounded to nearest.
    pub const JAX: Self = Self::RUST
        .with_saturate(Saturate::Off)
        .with_e8m0_round(E8M0Round::Nearest)
        .with_e8m0_range(E8M0Range::Rounded);
    /// PyTorch: float to integer wraps, only `float8_e4m3fn` saturates, NaN in `float8_e5m2` is `0x7F`, the magnitude is rounded to
    /// nearest in `float8_e8m0fnu`.
    pub const TORCH: Self = Self::ONNX
        .with_saturate(Saturate::FnOnly)
        .with_e5m2_nan(E5M2Nan::Code7F)
        .with_e8m0_round(E8M0Round::Nearest)
        .with_e8m0_range(E8M0Range::Magnitude);
    /// The CUDA headers: NaN is `0x7F` in `float8_e5m2` and the largest value in `float4` and `float6`, `float8_e8m0fnu` holds the
    /// magnitude.
    pub const CUDA: Self = Self::RUST
        .with_e5m2_nan(E5M2Nan::Code7F)
        .with_nan_to_finite(NanToFinite::Max)
        .with_e8m0_range(E8M0Range::Magnitude);

    /// All profiles with their names.
    pub const PROFILES: &'static [(&'static str, CastOptions)] = &[
        ("rust", Self::RUST),
        ("onnx", Self::ONNX),
        ("numpy", Self::NUMPY),
        ("jax", Self::JAX),
        ("torch", Self::TORCH),
        ("cuda", Self::CUDA),
    ];

    setters! {
        with_saturate saturate: Saturate;
        with_e8m0_round e8m0_round: E8M0Round;
        with_e8m0_range e8m0_range: E8M0Range;
        with_float_to_int float_to_int: IntOverflow;
        with_int_to_int int_to_int: IntOverflow;
        with_int_round int_round: IntRound;
        with_float_round float_round: FloatRound;
        with_e5m2_nan e5m2_nan: E5M2Nan;
        with_nan_to_finite nan_to_finite: NanToFinite;
        with_fnuz_inf fnuz_inf: FnuzInf;
    }
}

impl CastOptions {
    /// The rules of encode for a pair, which are the options that apply to it.
    pub(crate) fn rules(&self, from: DType, to: DType) -> Rules {
        let saturate = match (from.kind(), to.spec()) {
            (Kind::Float | Kind::Complex, Spec::Int { .. }) => self.float_to_int == IntOverflow::Saturate,
            (_, Spec::Int { .. }) => self.int_to_int == IntOverflow::Saturate,
            (_, Spec::Float(f)) => match self.saturate {
                Saturate::On => true,
                Saturate::Off => false,
                Saturate::FnOnly => matches!(f.flavor, Flavor::Fn),
            },
            (_, Spec::Bool | Spec::Complex(_)) => true,
        };
        let rounding = match to.spec() {
            Spec::Int { .. } => match self.int_round {
                IntRound::TowardZero => Rounding::TowardZero,
                IntRound::NearestEven => Rounding::NearestEven,
                IntRound::NearestAway => Rounding::NearestAway,
                IntRound::Floor => Rounding::Floor,
                IntRound::Ceil => Rounding::Ceil,
            },
            Spec::Float(FloatSpec { flavor: Flavor::Exponent, .. }) => match self.e8m0_round {
                E8M0Round::Up => Rounding::Ceil,
                E8M0Round::Down => Rounding::TowardZero,
                E8M0Round::Nearest => Rounding::NearestAway,
            },
            Spec::Float(_) | Spec::Complex(_) => match self.float_round {
                FloatRound::NearestEven => Rounding::NearestEven,
                FloatRound::NearestAway => Rounding::NearestAway,
                FloatRound::TowardZero => Rounding::TowardZero,
                FloatRound::Up => Rounding::Ceil,
                FloatRound::Down => Rounding::Floor,
                FloatRound::ToOdd => Rounding::ToOdd,
            },
            Spec::Bool => Rounding::TowardZero,
        };
        Rules {
            saturate,
            rounding,
            e5m2_nan_7f: self.e5m2_nan == E5M2Nan::Code7F,
            finite_nan_max: self.nan_to_finite == NanToFinite::Max,
            fnuz_inf_nan: self.fnuz_inf == FnuzInf::Nan,
            power_range: match self.e8m0_range {
                E8M0Range::Exact => PowerRange::Exact,
                E8M0Range::Rounded => PowerRange::Rounded,
                E8M0Range::Magnitude => PowerRange::Magnitude,
            },
        }
    }
}

impl Default for CastOptions {
    fn default() -> Self {
        Self::RUST
    }
}
