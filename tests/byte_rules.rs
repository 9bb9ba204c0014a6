//! Sources of a byte or less under every rule: the vector tiers give the bits of the scalar one.

use lanecast_kernels::{DType, Encoding, Flavor, Kernel, PowerRange, Rounding, Rules, Spec, Tier};

fn of_byte() -> impl Iterator<Item = DType> {
    DType::ALL.iter().copied().filter(|dtype| dtype.size() == 1)
}

/// All rules that a target reads.
fn all_rules(to: DType) -> Vec<Rules> {
    let common = Rules::common(to, true);
    let mut all = vec![common];
    let mut with = |vary: &dyn Fn(&mut Rules, usize), count: usize| {
        all = all
            .iter()
            .flat_map(|rules| {
                (0..count).map(move |i| {
                    let mut rules = *rules;
                    vary(&mut rules, i);
                    rules
                })
            })
            .collect();
    };
    with(&|rules, i| rules.saturate = i == 1, 2);
    match to.spec() {
        Spec::Bool | Spec::Complex(_) => {}
        Spec::Int { .. } => with(&|rules, i| rules.rounding = Rounding::ALL[i], 5),
        Spec::Float(f) if f.flavor == Flavor::Exponent => {
            let roundings = [Rounding::Ceil, Rounding::TowardZero, Rounding::NearestAway];
            let ranges = [PowerRange::Exact, PowerRange::Rounded, PowerRange::Magnitude];
            with(&|rules, i| rules.rounding = roundings[i], 3);
            with(&|rules, i| rules.power_range = ranges[i], 3);
        }
        Spec::Float(f) => {
            with(&|rules, i| rules.rounding = Rounding::ALL[i], 6);
            match f.flavor {
                Flavor::Finite => with(&|rules, i| rules.finite_nan_max = i == 1, 2),
                Flavor::Fnuz => with(&|rules, i| rules.fnuz_inf_nan = i == 1, 2),
                _ if to == DType::Float8E5M2 => with(&|rules, i| rules.e5m2_nan_7f = i == 1, 2),
                _ => {}
            }
        }
    }
    all
}

fn storages(dtype: DType) -> Vec<Encoding> {
    let mut all = vec![Encoding::new(dtype)];
    if dtype.is_sub_byte() {
        all.push(Encoding::packed(dtype));
    }
    all
}

fn cast(kernel: &Kernel, src: &[u8], n: usize) -> Vec<u8> {
    let len = kernel.target().byte_len(n).expect("small");
    let mut dst = vec![0xA5; len + 1];
    assert_eq!(kernel.run(src, &mut dst, n).expect("long enough").len(), len);
    assert_eq!(dst.pop(), Some(0xA5), "{kernel:?} writes behind the end");
    dst
}

#[test]
fn vector_tiers_agree_with_the_scalar_one() {
    let tiers: Vec<_> =
        Tier::ALL.iter().copied().filter(|t| *t != Tier::Scalar && t.is_available()).collect();
    // Every code, also those with bits that the dtype does not use, in two orders.
    let src: Vec<u8> = (0..=255).chain((0..=255).map(|i: u8| i.wrapping_mul(151).wrapping_add(3))).collect();
    for from in of_byte() {
        for to in DType::ALL.iter().copied().filter(|to| *to != from) {
            for rules in all_rules(to) {
                for (from, to) in
                    storages(from).into_iter().flat_map(|f| storages(to).into_iter().map(move |t| (f, t)))
                {
                    for n in [512, 256, 97, 33, 7] {
                        let kernel = |tier| Kernel::new(tier, from, to, &rules).expect("available");
                        let want = cast(&kernel(Tier::Scalar), &src, n);
                        for tier in &tiers {
                            let kernel = kernel(*tier);
                            assert!(
                                !format!("{kernel:?}").contains("scalar kernels"),
                                "{kernel:?} {rules:?}"
                            );
                            let got = cast(&kernel, &src, n);
                            assert!(got == want, "{kernel:?} {rules:?} {n}: {got:02X?} {want:02X?}");
                        }
                    }
                }
            }
        }
    }
}

/// Rough ratios of every rule to the common ones; `cargo test --release --test library -- byte_rules:: --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn ratios() {
    use std::time::Instant;
    const N: usize = 1 << 15;
    let src: Vec<u8> = (0..N).map(|i| ((i * 151) >> 3) as u8).collect();
    let mut dst = vec![0; 16 * N];
    for tier in [Tier::Avx2, Tier::Avx512].into_iter().filter(|t| t.is_available()) {
        let (mut logs, mut count, mut above) = (0.0, 0, 0);
        for from in of_byte() {
            for to in DType::ALL.iter().copied().filter(|to| *to != from) {
                for (from, to) in
                    storages(from).into_iter().flat_map(|f| storages(to).into_iter().map(move |t| (f, t)))
                {
                    let mut time = |kernel: &Kernel| {
                        (0..9)
                            .map(|_| {
                                let start = Instant::now();
                                for _ in 0..4 {
                                    kernel.run(&src, &mut dst, N);
                                }
                                start.elapsed()
                            })
                            .min()
                            .expect("some")
                            .as_nanos() as f64
                    };
                    for rules in all_rules(to.dtype()) {
                        let common = Kernel::new(tier, from, to, &Rules::common(to.dtype(), rules.saturate))
                            .expect("available");
                        let kernel = Kernel::new(tier, from, to, &rules).expect("available");
                        if kernel.address() == common.address() && rules.rounding == Rounding::NearestEven {
                            continue;
                        }
                        let ratio = time(&kernel) / time(&common);
                        logs += ratio.ln();
                        count += 1;
                        if ratio > 1.5 {
                            above += 1;
                            println!("{kernel:?} {:?} sat {}: {ratio:.2}", rules.rounding, rules.saturate);
                        }
                    }
                }
            }
        }
        println!("{tier}: geometric mean {:.3} of {count}, {above} above 1.5", (logs / count as f64).exp());
    }
}
