//! What a plan says of itself: `CastPlan::explain`.

use lanecast::{
    ByteOrder, CastOptions, CastPlan, DType, Encoding, ExplainedStage, Explanation, FloatRound, Streaming,
    Tier,
};

const SWAPPED: ByteOrder =
    if matches!(ByteOrder::NATIVE, ByteOrder::Little) { ByteOrder::Big } else { ByteOrder::Little };

fn plan(from: Encoding, to: Encoding, options: &CastOptions, tier: Tier) -> CastPlan {
    CastPlan::with_tier(from, to, options, tier).expect("the tier is available")
}

fn storages(dtype: DType) -> impl Iterator<Item = Encoding> {
    let plain = Encoding::new(dtype);
    let others = [Encoding::packed(dtype), plain.with_order(SWAPPED)];
    std::iter::once(plain).chain(others.into_iter().filter(move |other| *other != plain))
}

fn tiers() -> impl Iterator<Item = Tier> {
    Tier::ALL.iter().copied().filter(|tier| tier.is_available())
}

/// Each stage reads what the one before it writes, the first the source, the last writes the destination; and says why.
#[test]
fn stages_fit_together() {
    let options = [CastOptions::RUST, CastOptions::RUST.with_float_round(FloatRound::TowardZero)];
    for tier in tiers() {
        for (from, to) in DType::ALL.iter().flat_map(|from| DType::ALL.iter().map(move |to| (*from, *to))) {
            for (from, to) in storages(from).flat_map(|from| storages(to).map(move |to| (from, to))) {
                for options in &options {
                    let explanation = plan(from, to, options, tier).explain();
                    let Explanation { stages, block, .. } = &explanation;
                    assert_eq!((explanation.from, explanation.to, explanation.tier), (from, to, tier));
                    assert_eq!(stages[0].from, from, "{explanation}");
                    assert_eq!(stages[stages.len() - 1].to, to, "{explanation}");
                    for pair in stages.windows(2) {
                        assert_eq!(pair[0].to, pair[1].from, "{explanation}");
                        assert_eq!(pair[0].to, Encoding::new(pair[0].to.dtype()), "{explanation}");
                    }
                    assert_eq!(stages.len() > 1, block.is_some(), "{explanation}");
                    assert!(block.is_none_or(|block| block.is_multiple_of(8)));
                    for ExplainedStage { name, kernel, why, .. } in stages {
                        assert!(why.ends_with('.') && !why.contains("  "), "{explanation}");
                        assert_eq!(kernel.is_some(), *name == "cast", "{explanation}");
                    }
                    assert!(stages.iter().any(|stage| stage.name == "cast"));
                    assert!(explanation.direction.is_none() || explanation.guarded);
                    assert!(explanation.picoseconds_per_element > 0);
                }
            }
        }
    }
}

fn names(explanation: &Explanation) -> Vec<(&'static str, Option<&'static str>)> {
    explanation.stages.iter().map(|stage| (stage.name, stage.kernel)).collect()
}

#[test]
fn routes_of_the_scalar_tier() {
    let of = |from: Encoding, to: Encoding| plan(from, to, &CastOptions::RUST, Tier::Scalar).explain();
    let swapped = |dtype: DType| Encoding::new(dtype).with_order(SWAPPED);
    let (f32, f16, packed) = (DType::Float32, DType::Float16, Encoding::packed);
    let scalar = ("cast", Some("scalar"));
    assert_eq!(names(&of(f32.into(), f16.into())), [scalar]);
    assert_eq!(names(&of(swapped(f32), swapped(f16))), [("swap", None), scalar, ("swap", None)]);
    assert_eq!(names(&of(swapped(f32), f32.into())), [("cast", Some("byte swap"))]);
    assert_eq!(names(&of(swapped(f32), swapped(f32))), [("cast", Some("copy"))]);
    assert_eq!(names(&of(f32.into(), packed(DType::Int4))), [scalar, ("pack", None)]);
    assert_eq!(names(&of(packed(DType::Int4), packed(DType::Int4))), [("cast", Some("copy"))]);
    assert_eq!(names(&of(packed(DType::Int4), DType::Int8.into())), [("cast", Some("half-byte lookup"))]);
    let two = of(swapped(DType::Int64), packed(DType::Float4E2M1FN));
    assert_eq!(two.stages.len(), 4, "{two}");
    assert_eq!((two.stages[1].to, two.block), (DType::Int8.into(), Some(256)));
    assert!(two.stages[1].why.contains("saturating to int8"), "{two}");
    let real = of(DType::Complex128.into(), DType::Int16.into());
    assert_eq!(names(&real), [scalar, scalar]);
    assert_eq!((real.stages[0].to, real.block), (DType::Float64.into(), Some(512)));
    assert!(real.stages[0].why.contains("real part"), "{real}");
}

#[test]
fn streaming_and_features() {
    for tier in tiers() {
        let plan = plan(DType::Float32.into(), DType::Float16.into(), &CastOptions::RUST, tier);
        let never = plan.with_streaming(Streaming::Never).explain();
        assert_eq!(never.streams_above, None);
        let always = plan.with_streaming(Streaming::Always).explain().streams_above;
        assert_eq!(always.is_some(), plan.explain().streams_above.is_some());
        assert!(always.is_none_or(|above| above == 0));
        assert!(never.to_string().contains("streaming  never"), "{never}");
        let own = tier.required_features();
        assert!(never.features.starts_with(own) && never.features.ends_with(tier.features()));
    }
}

/// The features of the tiers that this CPU has.
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
#[test]
fn required_features_are_there() {
    macro_rules! check {
        ($($name:tt)*) => {
            for tier in [Tier::Avx2, Tier::Avx512] {
                let listed = |name: &str| tier.required_features().contains(&name);
                let have = [$(!listed($name) || std::arch::is_x86_feature_detected!($name)),*];
                assert!(!tier.is_available() || have.iter().all(|have| *have), "{tier}");
                assert!(tier.required_features().iter().all(|name| [$($name),*].contains(name)), "{tier}");
            }
        };
    }
    check!("avx" "avx2" "fma" "f16c" "bmi1" "bmi2" "lzcnt" "popcnt" "avx512f" "avx512bw" "avx512vl" "avx512dq");
}
