//! Plans as keys: they are equal if they cast the same in the same way.

use lanecast::{
    ByteOrder, CastOptions, CastPlan, DType, E5M2Nan, Encoding, FloatRound, IntOverflow, Level, Streaming,
    Tier,
};
use std::collections::HashSet;

const OPTIONS: CastOptions = CastOptions::RUST;

fn plan(from: impl Into<Encoding>, to: impl Into<Encoding>, options: &CastOptions) -> CastPlan {
    CastPlan::with_tier(from, to, options, Tier::Scalar).expect("a plan")
}

#[test]
fn what_defines_a_plan() {
    let base = plan(DType::Float32, DType::Int8, &OPTIONS);
    assert_eq!(base, plan(DType::Float32, DType::Int8, &OPTIONS));
    // Options that have no say in the pair.
    let others = OPTIONS.with_int_to_int(IntOverflow::Saturate).with_float_round(FloatRound::Up);
    assert_eq!(base, plan(DType::Float32, DType::Int8, &others.with_e5m2_nan(E5M2Nan::Code7F)));
    let different = [
        base.clone(),
        plan(DType::Float64, DType::Int8, &OPTIONS),
        plan(DType::Float32, DType::UInt8, &OPTIONS),
        plan(DType::Float32, DType::Int8, &CastOptions::ONNX),
        plan(Encoding::new(DType::Float32).with_order(ByteOrder::Big), DType::Int8, &OPTIONS),
        plan(Encoding::new(DType::Float32).with_order(ByteOrder::Little), DType::Int8, &CastOptions::ONNX),
        plan(DType::Float32, DType::Int4, &OPTIONS),
        plan(DType::Float32, Encoding::packed(DType::Int4), &OPTIONS),
        base.checked(Level::Range),
        base.checked(Level::Exact),
    ];
    // One of the two byte orders is that of the host.
    let keys: HashSet<CastPlan> = different.iter().cloned().collect();
    assert_eq!(keys.len(), different.len() - 1);
    // What changes only the time does not count.
    assert_eq!(base, base.with_streaming(Streaming::Never));
    for &tier in Tier::ALL.iter().filter(|tier| **tier != Tier::Scalar && tier.is_available()) {
        let other =
            CastPlan::with_tier(DType::Float32, DType::Int8, &OPTIONS, tier).expect("it is available");
        assert!(base != other && !keys.contains(&other));
    }
}

#[test]
fn checked_plans() {
    let base = plan(DType::Float32, DType::Int8, &OPTIONS);
    let other = plan(DType::Float32, DType::UInt8, &OPTIONS);
    assert_eq!(base.checked(Level::Range), base.checked(Level::Range));
    let checked: HashSet<_> =
        [base.checked(Level::Range), base.checked(Level::Exact), other.checked(Level::Exact)].into();
    assert_eq!(checked.len(), 3);
    assert_eq!(base.checked(Level::Range), base.checked(Level::Exact).checked(Level::Range));
    assert_eq!((base.level(), base.checked(Level::Exact).level()), (None, Some(Level::Exact)));
}
