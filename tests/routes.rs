//! No plan borrows slower kernels: under every combination of rules a kernel of the tier answers, for every pair and storage.
//!
//! What the kernels answer is compared in `tests/pairs.rs`; this only checks which kernels a plan takes.

use lanecast_kernels::{DType, Encoding, Flavor, Kernel, PowerRange, Rounding, Rules, Spec, Tier};

/// The roundings that mean something for a target.
fn roundings(to: DType) -> &'static [Rounding] {
    use Rounding::{Ceil, Floor, NearestAway, NearestEven, ToOdd, TowardZero};
    match to.spec() {
        Spec::Int { .. } => &[TowardZero, NearestEven, NearestAway, Floor, Ceil],
        Spec::Float(f) if f.flavor == Flavor::Exponent => &[Ceil, TowardZero, NearestAway],
        _ => &[NearestEven, NearestAway, TowardZero, Floor, Ceil, ToOdd],
    }
}

/// Every combination of rules, also of those that do not matter to the target.
fn every_rule(to: DType) -> impl Iterator<Item = Rules> {
    roundings(to).iter().flat_map(|&rounding| {
        let ranges = [PowerRange::Exact, PowerRange::Rounded, PowerRange::Magnitude];
        (0..16).flat_map(move |bits| {
            ranges.map(|power_range| Rules {
                saturate: bits & 1 != 0,
                rounding,
                e5m2_nan_7f: bits & 2 != 0,
                finite_nan_max: bits & 4 != 0,
                fnuz_inf_nan: bits & 8 != 0,
                power_range,
            })
        })
    })
}

fn storages(dtype: &DType) -> impl Iterator<Item = Encoding> {
    [Some(Encoding::new(*dtype)), dtype.is_sub_byte().then(|| Encoding::packed(*dtype))].into_iter().flatten()
}

#[test]
fn no_plan_borrows_scalar_kernels() {
    let mut slow: Vec<String> = Vec::new();
    for &tier in Tier::ALL.iter().filter(|tier| tier.is_available()) {
        for from in DType::ALL.iter().flat_map(storages) {
            for to in DType::ALL.iter().flat_map(storages) {
                for rules in every_rule(to.dtype()) {
                    let kernel = Kernel::new(tier, from, to, &rules).expect("the tier is available");
                    if format!("{kernel:?}").contains("scalar kernels") {
                        slow.push(format!("{kernel:?}: {rules:?}"));
                    }
                }
            }
        }
    }
    assert!(
        slow.is_empty(),
        "{} casts borrow kernels of the scalar tier, such as\n{}",
        slow.len(),
        first(&slow)
    );
}

/// A few of all, spread over the list.
fn first(all: &[String]) -> String {
    all.iter().step_by(all.len() / 20 + 1).map(|line| format!("  {line}\n")).collect()
}
