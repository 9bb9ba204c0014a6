//! Casts in two steps, for pairs that need no kernel of their own because an intermediate dtype changes no result.
//!
//! * *Complex numbers to all dtypes but bool and complex ones* are cast through their real part, which the first step copies.
//! * *Wide integers to floats with a short range* are cast through an integer of 8 bits, to which the first step saturates.
//!
//! Saturating changes no result. Let `2^e` be the first power of two out of the float's range. All numbers from `2^e` on have the same result: the
//! largest number, infinity or NaN, depending on the rules. The same holds for all numbers up to `-2^e`. The intermediate integer has the sign of
//! the source and holds `2^e` (and `-2^e`). A number that does not fit in it becomes one of its ends. Then both the number and the end are at
//! least `2^e`, or both are at most `-2^e`. All other numbers stay the same. The second step is a table lookup, under any rules.
//!
//! Integers of 64 bits could become floats with a longer range through 32 bits in the same way, but AVX2 took 2.5 times as long: most of these
//! integers fit in 32 bits, and a kernel of the pair only tests for that instead of saturating.

use crate::dtype::{DType, Flavor, Spec};

/// The dtype through which a pair is cast, if it is cast in two steps.
pub(crate) const fn through(from: DType, to: DType) -> Option<DType> {
    match from.spec() {
        // Both parts count.
        Spec::Complex(_) if matches!(to.spec(), Spec::Bool | Spec::Complex(_)) => None,
        Spec::Complex(_) => {
            let part = if matches!(from, DType::Complex64) { DType::Float32 } else { DType::Float64 };
            if to as u8 == part as u8 { None } else { Some(part) }
        }
        Spec::Int { bits: 16.., signed } => match to.spec() {
            // 2^6 is out of range.
            Spec::Float(f) if !matches!(f.flavor, Flavor::Exponent) && f.max_exponent() < 6 => {
                Some(if signed { DType::Int8 } else { DType::UInt8 })
            }
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::{self, PowerRange, Rounding, Rules};

    #[test]
    fn complex_numbers() {
        for &to in DType::EVERY {
            let both = matches!(to, DType::Bool | DType::Complex64 | DType::Complex128);
            let of = |part| (!both && to != part).then_some(part);
            assert_eq!(through(DType::Complex64, to), of(DType::Float32), "{to}");
            assert_eq!(through(DType::Complex128, to), of(DType::Float64), "{to}");
        }
    }

    #[test]
    fn integers() {
        for &to in DType::EVERY {
            let in_a_byte = matches!(
                to,
                DType::Float8E3M4
                    | DType::Float8E4M3B11FNUZ
                    | DType::Float6E2M3FN
                    | DType::Float6E3M2FN
                    | DType::Float4E2M1FN
            );
            assert_eq!(through(DType::Int64, to), in_a_byte.then_some(DType::Int8), "{to}");
            assert_eq!(through(DType::UInt64, to), in_a_byte.then_some(DType::UInt8), "{to}");
            assert_eq!(through(DType::Int32, to), in_a_byte.then_some(DType::Int8), "{to}");
            assert_eq!(through(DType::UInt16, to), in_a_byte.then_some(DType::UInt8), "{to}");
            assert_eq!(through(DType::Int8, to), None);
            assert_eq!(through(DType::Float32, to), None);
        }
    }

    /// Tests the integers around the ends of all integer and float ranges, under the rules of each.
    #[test]
    #[cfg_attr(miri, ignore = "safe code, and nearly half of the time of all tests there")]
    fn saturating_changes_no_result() {
        let around = |bit: u32| (-2_i128..=2).flat_map(move |k| [(1 << bit) + k, k - (1 << bit)]);
        let integers =
            || (0..=64).flat_map(around).chain([57344, 61440, 65504, 65519, 65520, 240, 448, 464, 480]);
        for (from, to) in DType::EVERY.iter().flat_map(|from| DType::EVERY.iter().map(move |to| (*from, *to)))
        {
            let (Some(middle), Spec::Int { bits, signed }) = (through(from, to), from.spec()) else {
                continue;
            };
            let (low, high) =
                if signed { (-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1_i128 << bits) - 1) };
            for x in integers().filter(|x| (low..=high).contains(x)) {
                let code = x as u128 & (u128::MAX >> (128 - bits));
                let saturated =
                    exact::encode(middle, exact::decode(from, code), &Rules::common(middle, true));
                for (rounding, saturate) in Rounding::ALL.iter().flat_map(|r| [(*r, false), (*r, true)]) {
                    let rules = Rules {
                        rounding,
                        fnuz_inf_nan: true,
                        power_range: PowerRange::Magnitude,
                        ..Rules::common(to, saturate)
                    };
                    let [want, got] = [(from, code), (middle, saturated)]
                        .map(|(dtype, code)| exact::encode(to, exact::decode(dtype, code), &rules));
                    assert_eq!(got, want, "{x}: {from} -> {middle} -> {to}, {rules:?}");
                }
            }
        }
    }
}
