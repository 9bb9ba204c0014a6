//! Schemes: what decides the results of a scaled cast, as a struct that C programs can change.

use super::values::*;
use crate::error::{
    Failure, LANECAST_ERR_BAD_NAME, LANECAST_ERR_BAD_OPTION, LANECAST_ERR_BAD_TYPE, guarded, lanecast_error,
    lanecast_status,
};
use crate::options::pick;
use crate::types::{dtype, lanecast_type, number, put, text};
use lanecast::DType;
use lanecast::scaled::{Empty, Global, Granularity, NonFinite, Pow2, Quotient, ScaleRule, ScaleType, Scheme};
use std::ffi::c_char;
use std::ptr;

/// Everything that decides the results of a scaled cast, except the dtype of the source. `lanecast_scaled_scheme_named` fills the struct; change
/// what should differ, such as the length of blocks, and make a plan with `lanecast_scaled_create_from`. A field is ignored if the others do not
/// use it. `docs/scaled.md` of lanecast specifies the rules.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct lanecast_scaled_scheme {
    /// The dtype of the codes, without flags: an integer of at most 16 bits, float16, or a float of at most 8 bits with a zero.
    pub element: lanecast_type,
    /// The dtype of the scales, without flags: float32, float16, bfloat16, float8_e8m0fnu (powers of two), or float8_e4m3fn with a float32
    /// for the tensor. 0: the dtype of the source.
    pub scale: lanecast_type,
    /// The axis of the granularities `AXIS` and `BLOCK`, counted from the last one if it is negative.
    pub axis: i64,
    /// Elements of a block or a tile of the granularities `BLOCK` and `TILE`.
    pub block: [u64; 2],
    /// A number of the rules whose description has it: what the largest element of a block becomes, such as 448 for float8_e4m3fn.
    pub over: f32,
    /// A number of the rules whose description has it: what the largest element of the tensor would become without the scales of the blocks.
    pub range: f32,
    /// See `empty`.
    pub empty_scale: f32,
    /// See `empty`.
    pub least: f32,
    /// How the scale of the tensor acts: `NONE` unless scales are float8_e4m3fn, which need one of the others.
    pub global: lanecast_global,
    /// Which elements share a scale.
    pub granularity: lanecast_granularity,
    /// How a scale follows from `amax`, the largest magnitude of its block.
    pub rule: lanecast_scale_rule,
    /// How an element becomes a quotient.
    pub quotient: lanecast_quotient,
    /// The scale of a block of zeros.
    pub empty: lanecast_empty,
    /// Blocks with a NaN or an infinity.
    pub non_finite: lanecast_non_finite,
    /// Zero.
    pub reserved: [u8; 26],
}

/// What stands for the dtype of the source in [`lanecast_scaled_scheme::scale`]: the dtype of the number 0, which no scale has.
const SOURCE: DType = DType::Bool;

/// By the number of [`lanecast_scaled_scheme::quotient`].
const QUOTIENTS: &[Quotient] = &[
    Quotient::Exact,
    Quotient::Divide,
    Quotient::DivideSource,
    Quotient::TimesReciprocal,
    Quotient::TimesGlobalReciprocal,
    Quotient::TimesMultiplier,
    Quotient::DivideUnsigned,
];
/// By the number of `non_finite`; the first one is the default.
pub(super) const NON_FINITE: &[Option<NonFinite>] =
    &[None, Some(NonFinite::Poison), Some(NonFinite::Saturate), Some(NonFinite::Refuse)];

fn at<T: PartialEq>(value: T, values: &[T]) -> u8 {
    values.iter().position(|other| *other == value).unwrap_or(0) as u8
}

impl lanecast_scaled_scheme {
    /// The scheme of the library. The plan checks whether its parts fit each other.
    pub(super) fn read(&self) -> Result<Scheme, Failure> {
        if self.reserved != [0; 26] {
            let text = "lanecast_scaled_scheme.reserved is not zero; the header is newer than the library";
            return Err(Failure::Argument(LANECAST_ERR_BAD_OPTION, text));
        }
        let non_finite = pick("lanecast_scaled_scheme.non_finite", self.non_finite, NON_FINITE)?;
        Ok(Scheme {
            element: dtype(self.element)?,
            granularity: pick("lanecast_scaled_scheme.granularity", self.granularity, &self.granularities())?,
            scale: self.scale_type()?,
            rule: pick("lanecast_scaled_scheme.rule", self.rule, &self.rules())?,
            quotient: pick("lanecast_scaled_scheme.quotient", self.quotient, QUOTIENTS)?,
            empty: pick("lanecast_scaled_scheme.empty", self.empty, &self.empties())?,
            non_finite: non_finite.unwrap_or_default(),
        })
    }

    fn scale_type(&self) -> Result<ScaleType, Failure> {
        const GLOBALS: &[Option<Global>] = &[None, Some(Global::Multiplier), Some(Global::Divisor)];
        let global = pick("lanecast_scaled_scheme.global", self.global, GLOBALS)?;
        Ok(match (dtype(self.scale)?, global) {
            (DType::Float32, None) => ScaleType::Float32,
            (DType::Float16, None) => ScaleType::Float16,
            (DType::BFloat16, None) => ScaleType::BFloat16,
            (DType::Float8E8M0FNU, None) => ScaleType::E8M0,
            (DType::Float8E4M3FN, Some(global)) => ScaleType::E4M3(global),
            (SOURCE, None) => ScaleType::Source,
            (scale, _) => {
                let text = format!(
                    "scales cannot be {scale} with lanecast_scaled_scheme.global {}: take float8_e4m3fn with \
                     LANECAST_GLOBAL_MULTIPLIER or _DIVISOR, or float32, float16, bfloat16, float8_e8m0fnu or 0 with _NONE",
                    self.global
                );
                return Err(Failure::Text(LANECAST_ERR_BAD_TYPE, text));
            }
        })
    }

    /// By the number of `granularity`.
    fn granularities(&self) -> [Granularity; 4] {
        // A block beyond the address space is as long as its axis.
        let [rows, cols] = self.block.map(|len| usize::try_from(len).unwrap_or(usize::MAX));
        // No shape has an axis that does not fit.
        let axis = isize::try_from(self.axis).unwrap_or(isize::MAX);
        [
            Granularity::Tensor,
            Granularity::Axis(axis),
            Granularity::Block { axis, len: rows },
            Granularity::Tile { rows, cols },
        ]
    }

    /// By the number of `rule`.
    fn rules(&self) -> [ScaleRule; 11] {
        let Self { over, range, .. } = *self;
        [
            ScaleRule::Given,
            ScaleRule::Amax { over },
            ScaleRule::AmaxTwice { over },
            ScaleRule::AmaxTimesInverse { over, range },
            ScaleRule::Pow2(Pow2::Floor),
            ScaleRule::Pow2(Pow2::Even),
            ScaleRule::Pow2(Pow2::RoundUp),
            ScaleRule::Pow2(Pow2::Ceil),
            ScaleRule::MinMax,
            ScaleRule::AmaxTimesInverseSource { over, range },
            ScaleRule::AmaxOverProduct { over },
        ]
    }

    /// By the number of `empty`.
    fn empties(&self) -> [Empty; 4] {
        let Self { empty_scale: empty, least, .. } = *self;
        [Empty::One, Empty::Floor(least), Empty::AtLeast { empty, least }, Empty::Epsilon]
    }

    fn of(scheme: &Scheme) -> lanecast_scaled_scheme {
        let mut of = lanecast_scaled_scheme {
            element: number(scheme.element),
            scale: number(scheme.scale.dtype(SOURCE)),
            global: global(scheme.scale),
            quotient: at(scheme.quotient, QUOTIENTS),
            non_finite: at(Some(scheme.non_finite), NON_FINITE),
            ..lanecast_scaled_scheme::default()
        };
        match scheme.granularity {
            Granularity::Tensor => {}
            Granularity::Axis(axis) => of.axis = axis as i64,
            Granularity::Block { axis, len } => (of.axis, of.block) = (axis as i64, [len as u64, 0]),
            Granularity::Tile { rows, cols } => of.block = [rows as u64, cols as u64],
        }
        match scheme.rule {
            ScaleRule::Amax { over }
            | ScaleRule::AmaxTwice { over }
            | ScaleRule::AmaxOverProduct { over } => of.over = over,
            ScaleRule::AmaxTimesInverse { over, range }
            | ScaleRule::AmaxTimesInverseSource { over, range } => (of.over, of.range) = (over, range),
            ScaleRule::Given | ScaleRule::Pow2(_) | ScaleRule::MinMax => {}
        }
        match scheme.empty {
            Empty::One | Empty::Epsilon => {}
            Empty::Floor(least) => of.least = least,
            Empty::AtLeast { empty, least } => (of.empty_scale, of.least) = (empty, least),
        }
        of.granularity = at(scheme.granularity, &of.granularities());
        of.rule = at(scheme.rule, &of.rules());
        of.empty = at(scheme.empty, &of.empties());
        of
    }
}

/// How the scale of a tensor acts.
pub(super) fn global(scale: ScaleType) -> u8 {
    match scale {
        ScaleType::E4M3(Global::Multiplier) => LANECAST_GLOBAL_MULTIPLIER,
        ScaleType::E4M3(Global::Divisor) => LANECAST_GLOBAL_DIVISOR,
        _ => LANECAST_GLOBAL_NONE,
    }
}

const NAME: usize = 32;

/// The names of all schemes, each ending with 0.
static NAMES: [[u8; NAME]; Scheme::NAMED.len()] = {
    let mut names = [[0; NAME]; Scheme::NAMED.len()];
    let mut i = 0;
    while i < names.len() {
        let name = Scheme::NAMED[i].0.as_bytes();
        assert!(name.len() < NAME, "a longer name");
        let mut k = 0;
        while k < name.len() {
            names[i][k] = name[k];
            k += 1;
        }
        i += 1;
    }
    names
};

/// The scheme of a name.
///
/// # Safety
///
/// `name` is null or ends with 0.
pub(super) unsafe fn named(name: *const c_char) -> Result<Scheme, Failure> {
    // SAFETY: the caller's promise.
    let name = unsafe { text(name)? };
    Scheme::from_name(name).ok_or_else(|| {
        let text = format!("no scheme is called {name:?}; lanecast_scaled_name lists them");
        Failure::Text(LANECAST_ERR_BAD_NAME, text)
    })
}

/// The name of the scheme at `index`, counted from 0, as a static string such as "mx" or "nvfp4"; NULL after the last one.
/// `docs/scaled.md` of lanecast specifies the schemes.
#[unsafe(no_mangle)]
pub extern "C" fn lanecast_scaled_name(index: usize) -> *const c_char {
    NAMES.get(index).map_or(ptr::null(), |name| name.as_ptr().cast())
}

/// The scheme of this name, all of whose fields are written.
///
/// # Safety
///
/// `scheme` is NULL or a string that ends with 0; `out` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_scaled_scheme_named(
    scheme: *const c_char,
    out: *mut lanecast_scaled_scheme,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe { guarded(error, || put(out, lanecast_scaled_scheme::of(&named(scheme)?))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A scheme that is written and read is the same: those with names, and every value of every part.
    #[test]
    fn schemes_come_back() {
        let mut all: Vec<Scheme> = Scheme::NAMED.iter().map(|(_, scheme)| *scheme).collect();
        let of = lanecast_scaled_scheme {
            axis: -2,
            block: [5, 7],
            over: 3.0,
            range: 9.0,
            empty_scale: 0.5,
            least: 0.25,
            ..lanecast_scaled_scheme::default()
        };
        let base = Scheme::FP8_ROW;
        all.extend(of.granularities().map(|granularity| Scheme { granularity, ..base }));
        all.extend(of.rules().map(|rule| Scheme { rule, ..base }));
        all.extend(of.empties().map(|empty| Scheme { empty, ..base }));
        all.extend(QUOTIENTS.iter().map(|quotient| Scheme { quotient: *quotient, ..base }));
        all.extend(NON_FINITE.iter().flatten().map(|how| Scheme { non_finite: *how, ..base }));
        let scales = [
            ScaleType::Float32,
            ScaleType::Float16,
            ScaleType::BFloat16,
            ScaleType::E8M0,
            ScaleType::E4M3(Global::Multiplier),
            ScaleType::E4M3(Global::Divisor),
            ScaleType::Source,
        ];
        all.extend(scales.map(|scale| Scheme { scale, ..base }));
        all.extend(DType::ALL.iter().map(|element| Scheme { element: *element, ..base }));
        for scheme in all {
            let read = lanecast_scaled_scheme::of(&scheme).read();
            assert!(read.is_ok_and(|read| read == scheme), "{scheme:?}");
        }
    }

    /// The names of the parts lead to them: some of each list, its last one included.
    #[test]
    fn names_are_those_of_the_parts() {
        let of = lanecast_scaled_scheme::default();
        let (over, range) = (0.0, 0.0);
        let rules = of.rules();
        assert_eq!(rules[usize::from(LANECAST_SCALE_RULE_AMAX_TWICE)], ScaleRule::AmaxTwice { over });
        assert_eq!(rules[usize::from(LANECAST_SCALE_RULE_POW2_FLOOR)], ScaleRule::Pow2(Pow2::Floor));
        assert_eq!(rules[usize::from(LANECAST_SCALE_RULE_POW2_EVEN)], ScaleRule::Pow2(Pow2::Even));
        assert_eq!(rules[usize::from(LANECAST_SCALE_RULE_POW2_ROUND_UP)], ScaleRule::Pow2(Pow2::RoundUp));
        assert_eq!(rules[usize::from(LANECAST_SCALE_RULE_POW2_CEIL)], ScaleRule::Pow2(Pow2::Ceil));
        assert_eq!(rules[usize::from(LANECAST_SCALE_RULE_MIN_MAX)], ScaleRule::MinMax);
        let source = ScaleRule::AmaxTimesInverseSource { over, range };
        assert_eq!(rules[usize::from(LANECAST_SCALE_RULE_AMAX_TIMES_INVERSE_SOURCE)], source);
        let product = rules[usize::from(LANECAST_SCALE_RULE_AMAX_OVER_PRODUCT)];
        assert_eq!(product, ScaleRule::AmaxOverProduct { over });
        let tile = of.granularities()[usize::from(LANECAST_GRANULARITY_TILE)];
        assert_eq!(tile, Granularity::Tile { rows: 0, cols: 0 });
        assert_eq!(of.empties()[usize::from(LANECAST_EMPTY_EPSILON)], Empty::Epsilon);
        let quotient = |number: u8| QUOTIENTS[usize::from(number)];
        assert_eq!(quotient(LANECAST_QUOTIENT_DIVIDE_SOURCE), Quotient::DivideSource);
        assert_eq!(quotient(LANECAST_QUOTIENT_TIMES_GLOBAL_RECIPROCAL), Quotient::TimesGlobalReciprocal);
        assert_eq!(quotient(LANECAST_QUOTIENT_DIVIDE_UNSIGNED), Quotient::DivideUnsigned);
        let non_finite = NON_FINITE[usize::from(LANECAST_NON_FINITE_REFUSE)];
        assert_eq!(non_finite, Some(NonFinite::Refuse));
    }
}
