//! float16 and bfloat16 to narrow floats and to integers of 16 bits, where every code stands among ordinary ones, in every direction.
//!
//! Their kernels look at a block of elements together, go a quicker way if none is subnormal in the target or NaN, and
//! after one that is go the other way for some blocks. `pairs` casts every code, but in their order, so that whole blocks
//! are alike. Here every code is alone in its block, and some follow a block of another kind; the scalar tier, which `pairs`
//! holds to the oracle, says what is right.

use crate::support::{storages, tiers::tiers};
use lanecast::{Bytes, BytesMut};
use lanecast::{
    CastOptions, CastPlan, DType, Encoding, FloatRound, FnuzInf, IntOverflow, Kind, NanToFinite, Saturate,
    Tier,
};

/// More than the largest block.
const BLOCK: usize = 64;

/// An ordinary value: one and a half.
fn ordinary(from: DType) -> u16 {
    if from == DType::Float16 { 0x3E00 } else { 0x3FC0 }
}

/// Every code in a block of its own, at any place, among ordinary values.
fn alone(from: DType) -> Vec<u16> {
    let mut codes = vec![ordinary(from); BLOCK << 16];
    for code in 0..1 << 16 {
        // Neighbouring blocks are of other kinds.
        codes[code * BLOCK + code % 61] = (code as u16).wrapping_mul(0x9E37);
    }
    codes
}

/// Every code once, mixed.
fn mixed() -> Vec<u16> {
    (0..=u16::MAX).map(|code| code.wrapping_mul(0x9E37)).collect()
}

fn bytes(codes: &[u16]) -> Vec<u8> {
    codes.iter().flat_map(|code| code.to_ne_bytes()).collect()
}

fn targets() -> impl Iterator<Item = DType> {
    DType::ALL.iter().copied().filter(|to| {
        (to.kind() == Kind::Float && to.bits() <= 8) || matches!(to, DType::Int16 | DType::UInt16)
    })
}

/// The common options, with and without saturation, and those of other directions. What becomes of NaN and infinities varies, too.
fn options(to: DType) -> Vec<CastOptions> {
    let mut all = Vec::new();
    for (saturate, overflow) in [(Saturate::On, IntOverflow::Saturate), (Saturate::Off, IntOverflow::Wrap)] {
        let common = CastOptions::RUST.with_saturate(saturate).with_float_to_int(overflow);
        all.push(common);
        if to.kind() == Kind::Float {
            all.extend([FloatRound::NearestAway, FloatRound::TowardZero].map(|r| common.with_float_round(r)));
            let common = common.with_fnuz_inf(FnuzInf::Nan).with_nan_to_finite(NanToFinite::Max);
            let directions = [FloatRound::Up, FloatRound::Down, FloatRound::ToOdd];
            all.extend(directions.map(|r| common.with_float_round(r)));
        }
    }
    all
}

/// Calls `check` with the plan of the scalar tier and that of each other one.
fn for_each_plan(from: DType, mut check: impl FnMut(&CastPlan, &CastPlan)) {
    for to in targets().flat_map(storages) {
        for options in options(to.dtype()) {
            let plan = |tier| {
                CastPlan::with_tier(Encoding::new(from), to, &options, tier).expect("the tier is there")
            };
            let scalar = plan(Tier::Scalar);
            for &tier in tiers().iter().filter(|tier| **tier != Tier::Scalar) {
                check(&scalar, &plan(tier));
            }
        }
    }
}

fn compare(scalar: &CastPlan, plan: &CastPlan, src: &[u8], n: usize) {
    let len = plan.target().byte_len(n).expect("small");
    let run = |plan: &CastPlan| {
        let mut out = vec![0xA5; len + 64];
        plan.run(Bytes::new(src, n), BytesMut::new(&mut out, n)).expect("the buffers fit");
        out
    };
    let (want, got) = (run(scalar), run(plan));
    let wrong = want.iter().zip(&got).position(|(want, got)| want != got);
    assert_eq!(wrong, None, "the first wrong byte of {n} elements: {plan:?}");
}

fn every_code_among_ordinary_ones(from: DType) {
    let (alone, mixed) = (bytes(&alone(from)), bytes(&mixed()));
    for_each_plan(from, |scalar, plan| {
        compare(scalar, plan, &alone, alone.len() / 2);
        compare(scalar, plan, &mixed, mixed.len() / 2);
    });
}

/// The longest tests of all: one for each source, so that two cores share them.
#[test]
fn every_code_of_float16_among_ordinary_ones() {
    every_code_among_ordinary_ones(DType::Float16);
}

#[test]
fn every_code_of_bfloat16_among_ordinary_ones() {
    every_code_among_ordinary_ones(DType::BFloat16);
}

#[test]
fn every_length() {
    for from in [DType::Float16, DType::BFloat16] {
        let mixed = bytes(&mixed());
        let ordinary = bytes(&[ordinary(from); 5 * BLOCK]);
        for_each_plan(from, |scalar, plan| {
            for n in 0..=5 * BLOCK {
                compare(scalar, plan, &ordinary, n);
                compare(scalar, plan, &mixed[2 * n + 1..][..2 * n], n);
            }
        });
    }
}
