//! Core.
use lanecast_kernels::{DType, Kernel, Rounding, Rules, Spec, Tier};
fn words(from: DType, seed: u64) -> Vec<u8> {
    let n = 20000usize;
    let mut s = seed;
    let mut next = || {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        s
    };
    let size = from.size();
    if size == 2 {
        return (0..65536u32).flat_map(|x| (x as u16).to_le_bytes()).collect();
    }
    let mut out = Vec::new();
    for i in 0..n {
        let part = from.alignment();
        for _ in 0..size / part {
            let mut x = next();
            if from.float_spec().is_some() || matches!(from.spec(), Spec::Complex(_)) {
                let (mb, eb) = if part == 4 { (23, 8) } else { (52, 11) };
                let bias = (1u64 << (eb - 1)) - 1;
                match i % 6 {
                    0 | 1 => {
                        let e = bias.wrapping_add(next() % 48).wrapping_sub(24);
                        x = (x & 1) << (mb + eb) | e << mb | (x >> 3 & ((1 << mb) - 1));
                    }
                    2 => {
                        let e = bias.wrapping_add(next() % 48).wrapping_sub(24);
                        let k = mb - next() % 13;
                        x = (x & 1) << (mb + eb) | e << mb | ((x >> 3 & ((1 << mb) - 1)) >> k << k);
                    }
                    3 => {
                        let k = mb - next() % 13;
                        let e = next() % (1 << eb);
                        x = (x & 1) << (mb + eb) | e << mb | ((x >> 3 & ((1 << mb) - 1)) >> k << k);
                        let d = next() % 3;
                        x = x.wrapping_add(d).wrapping_sub(1);
                    }
                    4 => {
                        let e = bias.wrapping_sub(130).wrapping_add(next() % 260);
                        x = (x & 1) << (mb + eb) | (e & ((1 << eb) - 1)) << mb | (x >> 3 & ((1 << mb) - 1));
                        if next() % 3 == 0 {
                            x = x >> mb << mb;
                        }
                    }
                    _ => {
                        if next() % 4 == 0 {
                            x = [
                                0,
                                1 << (mb + eb),
                                ((1 << eb) - 1) << mb,
                                ((1 << eb) - 1) << mb | 1,
                                1,
                                (1 << (mb + eb)) | 1,
                            ][(next() % 6) as usize];
                        }
                    }
                }
            } else {
                let k = next() % 64;
                x >>= k;
                if next() % 4 == 0 {
                    x = x >> (k / 2) << (k / 2);
                }
                if next() % 3 == 0 {
                    x = x.wrapping_neg();
                }
                if next() % 5 == 0 {
                    x = x.wrapping_add(1)
                }
            }
            out.extend_from_slice(&x.to_le_bytes()[..part]);
        }
    }
    out
}
#[test]
fn core() {
    let mut bad = 0;
    for &tier in &[Tier::Avx2, Tier::Avx512] {
        for &from in DType::ALL {
            if from.size() == 1 {
                continue;
            }
            let src = words(from, 88172645463325252);
            let n = src.len() / from.size();
            for &to in DType::ALL {
                let Spec::Float(f) = to.spec() else { continue };
                if f.bits() > 16 || from == to {
                    continue;
                }
                if to == DType::Float8E8M0FNU {
                    continue;
                }
                for rounding in [
                    Rounding::NearestEven,
                    Rounding::NearestAway,
                    Rounding::TowardZero,
                    Rounding::Floor,
                    Rounding::Ceil,
                    Rounding::ToOdd,
                ] {
                    for flags in 0..16 {
                        let rules = Rules {
                            rounding,
                            saturate: flags & 1 != 0,
                            e5m2_nan_7f: flags & 2 != 0,
                            finite_nan_max: flags & 4 != 0,
                            fnuz_inf_nan: flags & 8 != 0,
                            ..Rules::common(to, true)
                        };
                        if flags & 2 != 0 && to != DType::Float8E5M2 {
                            continue;
                        }
                        if flags & 4 != 0 && f.bits() >= 8 {
                            continue;
                        }
                        if flags & 8 != 0 && !format!("{to:?}").contains("FNUZ") {
                            continue;
                        }
                        let kernel = Kernel::new(tier, from.into(), to.into(), &rules).unwrap();
                        if format!("{kernel:?}").contains("scalar kernels") {
                            println!("EXACT {kernel:?} {rules:?}");
                            bad += 1;
                            continue;
                        }
                        let scalar = Kernel::new(Tier::Scalar, from.into(), to.into(), &rules).unwrap();
                        let mut got = vec![0; n * to.size()];
                        let mut want = got.clone();
                        kernel.run(&src, &mut got, n).unwrap();
                        scalar.run(&src, &mut want, n).unwrap();
                        if got != want {
                            let i = (0..n)
                                .find(|i| {
                                    got[i * to.size()..][..to.size()] != want[i * to.size()..][..to.size()]
                                })
                                .unwrap();
                            println!(
                                "BAD {kernel:?} {rules:?} {:02x?} got {:02x?} want {:02x?}",
                                &src[i * from.size()..][..from.size()].iter().rev().collect::<Vec<_>>(),
                                &got[i * to.size()..][..to.size()],
                                &want[i * to.size()..][..to.size()]
                            );
                            bad += 1;
                        }
                    }
                }
            }
        }
    }
    assert_eq!(bad, 0);
}
