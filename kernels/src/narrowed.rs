//! Casts of wide integers to floats whose range ends far below 127, through 8-bit integers.
//!
//! All values beyond one end of the range of such a float have the same result. So saturating to 8 bits first changes no result, and
//! casts from 8-bit integers are table lookups under any rules.

use crate::dtype::{DType, Flavor, Spec};

/// The 8-bit integer through which a pair is cast, if it is one of these pairs.
pub(crate) const fn through(from: DType, to: DType) -> Option<DType> {
    let is_short = match to.spec() {
        // 2^6 is beyond the range, and so is every value that rounds to it.
        Spec::Float(f) => !matches!(f.flavor, Flavor::Exponent) && f.max_exponent() < 6,
        _ => false,
    };
    match from.spec() {
        Spec::Int { bits: 16.., signed } if is_short => Some(if signed { DType::Int8 } else { DType::UInt8 }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs() {
        for &to in DType::EVERY {
            let short = matches!(
                to,
                DType::Float8E3M4
                    | DType::Float8E4M3B11FNUZ
                    | DType::Float6E2M3FN
                    | DType::Float6E3M2FN
                    | DType::Float4E2M1FN
            );
            assert_eq!(through(DType::Int64, to), short.then_some(DType::Int8), "{to}");
            assert_eq!(through(DType::UInt16, to), short.then_some(DType::UInt8), "{to}");
            assert_eq!(through(DType::Int8, to), None);
            assert_eq!(through(DType::Float32, to), None);
        }
    }
}
