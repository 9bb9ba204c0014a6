//! All 2^32 codes of `float32` to every target of up to 16 bits, with every `saturate`, `float_to_int` and
//! `e8m0_round`, on every tier.
//!
//! `cargo test --release --test library -- exhaustive_f32:: --ignored` takes some minutes; `LANECAST_TEST_OPTIONS=all` adds
//! every other combination of the options that apply. How it can be done at all is told in `support/sweep.rs`. The
//! usual test run takes one block of codes in a thousand.

use crate::oracle;
use crate::support::options::applicable;
use crate::support::sweep::{Rule, run};
use lanecast::{CastOptions, DType, IntOverflow, IntRound, Kind, Saturate};

/// The parts of the code range in which casts are monotone: the binades, infinity, the NaNs below and above the quiet
/// bit.
fn segments() -> Vec<(u32, u32)> {
    let mut all = Vec::new();
    for sign in [0, 0x8000_0000] {
        // Zero and the smallest subnormal may be worlds apart; the first of the binades are the subnormals.
        all.push((sign, sign));
        all.extend((0..255_u32).map(|field| (sign | (field << 23).max(1), sign | field << 23 | 0x7F_FFFF)));
        let infinity = sign | 0x7F80_0000;
        all.extend([
            (infinity, infinity),
            (infinity + 1, infinity | 0x3F_FFFF),
            (infinity | 0x40_0000, infinity | 0x7F_FFFF),
        ]);
    }
    all
}

/// Section 5.3, wrap: the low bits of the value rounded to an integer; 0 for infinity and NaN.
fn wrapped(code: u32, round: IntRound) -> u16 {
    let (negative, field, fraction) = (code >> 31 != 0, code >> 23 & 0xFF, code & 0x7F_FFFF);
    // The value is `sig * 2^(exp - 150)`, its exponent 1 if it is subnormal.
    let (sig, exp) = if field == 0 { (fraction, 1) } else { (fraction | 1 << 23, field) };
    let magnitude = match exp {
        0xFF => 0,
        // From 2^(23 + 16) on no bit is left below 2^16.
        166.. => 0,
        150..=165 => sig << (exp - 150),
        // Below a half.
        ..126 => u32::from(sig != 0 && directed_away(negative, round)),
        126..=149 => {
            let shift = 150 - exp;
            let (whole, rest, half) = (sig >> shift, sig & ((1 << shift) - 1), 1 << (shift - 1));
            let away = match round {
                IntRound::TowardZero => false,
                IntRound::NearestEven => rest > half || (rest == half && whole & 1 == 1),
                IntRound::NearestAway => rest >= half,
                IntRound::Floor | IntRound::Ceil => rest != 0 && directed_away(negative, round),
                other => unreachable!("{other:?} is new, and has no rule here"),
            };
            whole + u32::from(away)
        }
    };
    (if negative { magnitude.wrapping_neg() } else { magnitude }) as u16
}

/// Whether a directed rounding of a fraction goes away from zero.
fn directed_away(negative: bool, round: IntRound) -> bool {
    round == if negative { IntRound::Floor } else { IntRound::Ceil }
}

/// The options of the usual run, or all. `FnOnly` is one of the others under another name.
fn wanted(options: &CastOptions, all: bool) -> bool {
    let default = CastOptions::RUST;
    let shown = default
        .with_saturate(options.saturate)
        .with_float_to_int(options.float_to_int)
        .with_e8m0_round(options.e8m0_round);
    all || (*options == shown && options.saturate != Saturate::FnOnly)
}

fn rules(all: bool, widest: u32) -> Vec<Rule> {
    let (from, segments) = (DType::Float32, segments());
    let mut rules = Vec::new();
    for &to in DType::ALL.iter().filter(|to| oracle::width(**to) <= widest) {
        let int = matches!(to.kind(), Kind::SignedInt | Kind::UnsignedInt);
        for options in applicable(from, to).into_iter().filter(|options| wanted(options, all)) {
            rules.push(if int && options.float_to_int == IntOverflow::Wrap {
                Rule::direct(from, to, options, wrapped)
            } else {
                Rule::monotone(from, to, options, &segments)
            });
        }
    }
    rules
}

#[test]
#[ignore = "long: cargo test --release --test library -- exhaustive_f32:: --ignored"]
fn every_code() {
    let all = std::env::var("LANECAST_TEST_OPTIONS").is_ok_and(|options| options == "all");
    run(DType::Float32, &rules(all, 16), 1);
}

#[test]
#[cfg_attr(miri, ignore = "thousands of calls")]
fn some_codes() {
    run(DType::Float32, &rules(false, 8), 4099);
}
