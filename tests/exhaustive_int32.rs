//! All 2^32 codes of `int32` and `uint32` to every target of up to 16 bits, with every `saturate`, `int_to_int` and
//! `e8m0_round`, on every tier: `cargo test --release --test library -- exhaustive_int32:: --ignored`. See `exhaustive_f32.rs`.

use crate::oracle;
use crate::support::options::applicable;
use crate::support::sweep::{Rule, run};
use lanecast::{CastOptions, DType, IntOverflow, IntRound, Kind, Saturate};

/// The signs and the binades; in one of them a cast does not turn back.
fn segments(signed: bool) -> Vec<(u32, u32)> {
    let mut all = vec![(0, 0)];
    all.extend((0..31).map(|k| (1 << k, (1 << k) | ((1 << k) - 1))));
    if signed {
        // -2^31, then towards -1.
        let negative = (0..31).rev().map(|k| (!((1_u32 << k) | ((1 << k) - 1)) + 1, !(1_u32 << k) + 1));
        all.push((0x8000_0000, 0x8000_0000));
        all.extend(negative);
    } else {
        all.push((0x8000_0000, !0));
    }
    all
}

fn rules(from: DType, widest: u32) -> Vec<Rule> {
    let default = CastOptions::RUST;
    let segments = segments(from.kind() == Kind::SignedInt);
    let mut rules = Vec::new();
    for &to in DType::ALL.iter().filter(|to| oracle::width(**to) <= widest) {
        let int = matches!(to.kind(), Kind::SignedInt | Kind::UnsignedInt);
        let shown = |o: &CastOptions| {
            let same =
                default.with_saturate(o.saturate).with_int_to_int(o.int_to_int).with_e8m0_round(o.e8m0_round);
            *o == same && o.saturate != Saturate::FnOnly
        };
        for options in applicable(from, to).into_iter().filter(shown) {
            rules.push(if int && options.int_to_int == IntOverflow::Wrap {
                Rule::direct(from, to, options, |code, _: IntRound| code as u16)
            } else {
                Rule::monotone(from, to, options, &segments)
            });
        }
    }
    rules
}

#[test]
#[ignore = "long: cargo test --release --test library -- exhaustive_int32:: --ignored"]
fn every_int32() {
    run(DType::Int32, &rules(DType::Int32, 16), 1);
}

#[test]
#[ignore = "long: cargo test --release --test library -- exhaustive_int32:: --ignored"]
fn every_uint32() {
    run(DType::UInt32, &rules(DType::UInt32, 16), 1);
}

#[test]
#[cfg_attr(miri, ignore = "thousands of calls")]
fn some_codes() {
    for from in [DType::Int32, DType::UInt32] {
        run(from, &rules(from, 8), 4099);
    }
}
