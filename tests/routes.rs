//! No plan takes the slow route: under every combination of rules a kernel of the tier answers, for every pair and storage.
//!
//! The route of elements one by one, in exact arithmetic, is what kernels are compared with. What the kernels answer is compared
//! in `tests/pairs.rs`; this only asks which way a cast goes.

use lanecast_kernels::{BufferType, DType, Flavor, Kernel, PowerRange, Rounding, Rules, Spec, Tier};

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

fn storages(dtype: &DType) -> impl Iterator<Item = BufferType> {
    [Some(BufferType::new(*dtype)), dtype.is_sub_byte().then(|| BufferType::packed(*dtype))]
        .into_iter()
        .flatten()
}

#[test]
#[ignore = "kernels for rules other than the common ones are on their way"]
fn no_plan_takes_the_exact_route() {
    let mut slow: Vec<String> = Vec::new();
    for &tier in Tier::ALL.iter().filter(|tier| tier.is_available()) {
        for from in DType::ALL.iter().flat_map(storages) {
            for to in DType::ALL.iter().flat_map(storages) {
                for rules in every_rule(to.dtype()) {
                    let kernel = Kernel::new(tier, from, to, &rules).expect("the tier is available");
                    if format!("{kernel:?}").ends_with("exact)") {
                        slow.push(format!("{kernel:?}: {rules:?}"));
                    }
                }
            }
        }
    }
    assert!(slow.is_empty(), "{} casts go element by element, such as\n{}", slow.len(), first(&slow));
}

/// A few of all, spread over the list.
fn first(all: &[String]) -> String {
    all.iter().step_by(all.len() / 20 + 1).map(|line| format!("  {line}\n")).collect()
}
