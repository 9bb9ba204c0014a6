//! [`QuantScheme`]: what the codes of a weight are, whatever layout stores them.

use std::{fmt, str::FromStr};

use lanecast::{
    DType,
    scaled::{NonFinite, Pow2, ScaleRule, ScaleType, Scheme},
};
use lanecast_files::Error;

use crate::error::{request, unsupported};

/// The codes that [`quantize`](crate::quantize) gives a weight of N rows (outputs) and K columns (inputs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[allow(non_camel_case_types, reason = "the names that ggml gave them")]
pub enum QuantScheme {
    /// `float8_e4m3fn` with a scale for each row; the runtime quantizes activations.
    Fp8Dynamic,
    /// `float8_e4m3fn` with a scale for each tile of 128 by 128.
    Fp8Block,
    /// `float8_e4m3fn` with one scale.
    Fp8Tensor,
    /// Microscaling: `float8_e4m3fn` with a power of two for 32 elements of a row.
    Mxfp8,
    /// Microscaling: `float4_e2m1fn` with a power of two for 32 elements of a row.
    Mxfp4,
    /// `float4_e2m1fn` with a scale of `float8_e4m3fn` for 16 elements of a row, and a `float32` for the tensor.
    Nvfp4,
    /// `int8` with a scale for each row; the runtime quantizes activations.
    Int8,
    /// `int4` with a scale for 128 elements of a row.
    W4a16,
    /// The 16 quantiles of a normal distribution, with the largest magnitude of 64 elements.
    Nf4,
    /// The 4-bit floats of bitsandbytes, with the largest magnitude of 64 elements.
    Fp4,
    /// Blocks of GGUF: `int8` with a float16 scale for 32 elements.
    Q8_0,
    /// Blocks of GGUF: `int4` with a float16 scale for 32 elements.
    Q4_0,
    /// Blocks of GGUF: `uint4` with a float16 scale and minimum for 32 elements.
    Q4_1,
    /// Blocks of GGUF: 5-bit integers with a float16 scale for 32 elements.
    Q5_0,
    /// Blocks of GGUF: unsigned 5-bit integers with a float16 scale and minimum for 32 elements.
    Q5_1,
}

/// A scheme as the library casts it. Schemes of tables and of GGUF have none.
struct Row {
    scheme: QuantScheme,
    name: &'static str,
    codes: Option<Scheme>,
    /// K must be a multiple of it.
    group: usize,
    /// The same with powers of two as scales, if the scheme can have them.
    powers: Option<ScaleType>,
}

const ROWS: &[Row] = &[
    Row {
        scheme: QuantScheme::Fp8Dynamic,
        name: "fp8-dynamic",
        codes: Some(Scheme::FP8_ROW),
        group: 1,
        powers: Some(ScaleType::Float32),
    },
    Row {
        scheme: QuantScheme::Fp8Block,
        name: "fp8-block",
        codes: Some(Scheme::FP8_BLOCK128),
        group: 1,
        powers: Some(ScaleType::Float32),
    },
    Row {
        scheme: QuantScheme::Fp8Tensor,
        name: "fp8-tensor",
        codes: Some(Scheme::FP8_TENSOR),
        group: 1,
        powers: None,
    },
    Row {
        scheme: QuantScheme::Mxfp8,
        name: "mxfp8",
        codes: Some(Scheme::MX),
        group: 32,
        powers: Some(ScaleType::E8M0),
    },
    Row {
        scheme: QuantScheme::Mxfp4,
        name: "mxfp4",
        codes: Some(Scheme::MX.with_element(DType::Float4E2M1FN)),
        group: 32,
        powers: Some(ScaleType::E8M0),
    },
    Row { scheme: QuantScheme::Nvfp4, name: "nvfp4", codes: Some(Scheme::NVFP4), group: 16, powers: None },
    Row { scheme: QuantScheme::Int8, name: "int8", codes: Some(Scheme::INT8_ROW), group: 1, powers: None },
    Row {
        scheme: QuantScheme::W4a16,
        name: "w4a16",
        codes: Some(Scheme::INT4_GROUP128),
        group: 128,
        powers: None,
    },
    Row { scheme: QuantScheme::Nf4, name: "nf4", codes: None, group: 1, powers: None },
    Row { scheme: QuantScheme::Fp4, name: "fp4", codes: None, group: 1, powers: None },
    Row { scheme: QuantScheme::Q8_0, name: "q8_0", codes: None, group: 32, powers: None },
    Row { scheme: QuantScheme::Q4_0, name: "q4_0", codes: None, group: 32, powers: None },
    Row { scheme: QuantScheme::Q4_1, name: "q4_1", codes: None, group: 32, powers: None },
    Row { scheme: QuantScheme::Q5_0, name: "q5_0", codes: None, group: 32, powers: None },
    Row { scheme: QuantScheme::Q5_1, name: "q5_1", codes: None, group: 32, powers: None },
];

/// Schemes that need activations of real inputs, and why.
const CALIBRATED: &[(&str, &str)] = &[
    ("fp8", "a static fp8 scheme has scales of activations; take fp8-dynamic"),
    ("fp8-static", "its scales of activations follow from real inputs; take fp8-dynamic"),
    ("int8-static", "its scales of activations follow from real inputs; take int8"),
    (
        "nvfp4-w4a4",
        "its scales of activations follow from real inputs; take nvfp4, which quantizes weights only",
    ),
    (
        "gptq",
        "its codes follow from the inputs of each layer; take w4a16, which rounds each weight to the nearest",
    ),
    (
        "awq",
        "its scales follow from the inputs of each layer; take w4a16, which rounds each weight to the nearest",
    ),
    ("smoothquant", "its factors follow from the inputs of each layer; take int8"),
];

impl QuantScheme {
    /// All schemes by their names.
    pub const NAMED: &'static [(&'static str, QuantScheme)] = {
        const N: usize = ROWS.len();
        const LIST: [(&str, QuantScheme); N] = {
            let mut list = [("", QuantScheme::Fp8Dynamic); N];
            let mut i = 0;
            while i < N {
                list[i] = (ROWS[i].name, ROWS[i].scheme);
                i += 1;
            }
            list
        };
        &LIST
    };

    fn row(self) -> &'static Row {
        // The rows are in the order of the variants, which a test checks.
        &ROWS[self as usize]
    }

    /// Its name, as the program spells it.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// What the number of columns must be a multiple of.
    pub(crate) fn group(self) -> usize {
        self.row().group
    }

    /// The cast of the library; `None` for tables. `lossless` requires powers of two as scales, which keep every digit.
    pub(crate) fn codes(self, lossless: bool) -> Option<Scheme> {
        let row = self.row();
        let scheme = row.codes?.with_non_finite(NonFinite::Refuse);
        Some(match row.powers.filter(|_| lossless) {
            Some(scale) => Scheme { scale, rule: ScaleRule::Pow2(Pow2::RoundUp), ..scheme },
            None => scheme,
        })
    }

    /// Whether codes and scales of other layouts are codes and scales of the scheme without a change.
    pub(crate) fn is_moved(self) -> bool {
        matches!(self, Self::Nvfp4 | Self::W4a16)
    }

    /// Whether its scales can be powers of two.
    pub(crate) fn has_powers(self) -> bool {
        self.row().powers.is_some()
    }
}

impl fmt::Display for QuantScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The names of a list, for messages.
pub(crate) fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

impl FromStr for QuantScheme {
    type Err = Error;

    /// The scheme of this name.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] with the reason if the scheme needs calibration; [`Error::Request`] with the names if there is no such scheme.
    fn from_str(name: &str) -> Result<Self, Error> {
        if let Some((_, scheme)) = Self::NAMED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            return Ok(*scheme);
        }
        if let Some((_, why)) = CALIBRATED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            return Err(unsupported(format!("the scheme \"{name}\" needs calibration: {why}")));
        }
        let names = listed(Self::NAMED.iter().map(|(name, _)| *name));
        Err(request(format!("there is no scheme \"{name}\", but {names}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_calibration_is_refused_with_the_reason() {
        for (name, scheme) in QuantScheme::NAMED {
            assert_eq!((scheme.name(), name.parse::<QuantScheme>().unwrap()), (*name, *scheme));
        }
        assert!(
            matches!("AWQ".parse::<QuantScheme>(), Err(Error::Unsupported(of)) if of.what.contains("inputs"))
        );
        assert!(
            matches!("int5".parse::<QuantScheme>(), Err(Error::Request(of)) if of.what.contains("mxfp4"))
        );
    }

    #[test]
    fn every_scheme_with_codes_is_one_of_the_library() {
        use lanecast::scaled::ScaledPlan;
        for (name, scheme) in QuantScheme::NAMED {
            for lossless in [false, true] {
                let Some(codes) = scheme.codes(lossless) else { continue };
                let plan = ScaledPlan::new(DType::BFloat16, &codes, &[3, 256]);
                assert!(plan.is_ok(), "{name}: {plan:?}");
                let powers = matches!(codes.rule, ScaleRule::Pow2(_));
                assert!(powers == scheme.has_powers() || !lossless, "{name}");
            }
        }
    }
}
