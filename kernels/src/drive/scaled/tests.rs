//! Compares the loops of every tier with their definitions, under Miri, too.

use super::*;
use crate::{DType, Encoding, Kernel, Rules, Tier, arch::TierToken};
use alloc::{vec, vec::Vec};

/// The loops that can run here, with the names of their tiers.
fn loops() -> impl Iterator<Item = (Tier, ScaledLoops)> {
    Tier::ALL.iter().filter_map(|tier| Some((*tier, ScaledLoops::new(*tier)?)))
}

struct Numbers(u32);

impl Numbers {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    /// A number of some binades around 1.
    fn float(&mut self) -> f32 {
        f32::from_bits((self.next() & 0x807F_FFFF) | (120 + self.next() % 16) << 23)
    }
}

fn words(values: &[f32]) -> Vec<Word> {
    values.iter().map(|x| x.to_ne_bytes()).collect()
}

fn floats(words: &[Word]) -> Vec<f32> {
    words.iter().map(|x| f32::from_ne_bytes(*x)).collect()
}

const SIZES: [(usize, usize); 9] =
    [(1, 1), (37, 1), (70, 7), (64, 16), (300, 16), (520, 32), (97, 32), (200, 200), (130, 64)];

#[test]
fn largest_magnitudes() {
    let mut numbers = Numbers(77);
    for (_, loops) in loops() {
        for (n, run) in SIZES {
            let x: Vec<u32> = (0..n).map(|_| numbers.next()).collect();
            let mut amaxes = vec![5_u32; n.div_ceil(run)];
            amaxes[0] = 0x7FFF_FFFF;
            let mut want = amaxes.clone();
            for (x, want) in x.chunks(run).zip(&mut want) {
                *want = x.iter().fold(*want, |amax, x| amax.max(x & 0x7FFF_FFFF));
            }
            loops.amax_32(&x.iter().map(|x| x.to_ne_bytes()).collect::<Vec<_>>(), run, &mut amaxes);
            assert_eq!(amaxes, want, "{n} in runs of {run}");
            let x: Vec<u16> = x.iter().map(|x| *x as u16).collect();
            let mut amaxes = vec![0_u16; n.div_ceil(run)];
            loops.amax_16(&x.iter().map(|x| x.to_ne_bytes()).collect::<Vec<_>>(), run, &mut amaxes);
            let of_run = |run: &[u16]| run.iter().map(|x| x & 0x7FFF).max();
            assert_eq!(amaxes, x.chunks(run).filter_map(of_run).collect::<Vec<_>>(), "{n} in runs of {run}");
        }
    }
}

/// Whether a result is on the same side of every multiple of 16 units as the exact value: below, equal, or above.
fn is_beside(got: f32, compare: impl Fn(f32) -> i32) -> bool {
    let got = got.abs();
    let below = f32::from_bits(got.to_bits() & !15);
    let above = f32::from_bits((got.to_bits() & !15) + 16);
    let side = |of: f32| if got > of { 1 } else { -i32::from(got < of) };
    [below, above].into_iter().all(|multiple| side(multiple) == compare(multiple))
}

fn sign(x: f64) -> i32 {
    if x > 0.0 { 1 } else { -i32::from(x < 0.0) }
}

/// Tests quotients near midpoints: products of a short number and the scale, and their neighbours.
#[test]
fn quotients_are_on_the_right_side() {
    let mut numbers = Numbers(5);
    for (tier, loops) in loops() {
        for block in [false, true] {
            for (n, run) in SIZES {
                let runs = n.div_ceil(run);
                // Scales of blocks have 4 significant bits.
                let short = |x: f32| if block { f32::from_bits(x.abs().to_bits() & !0xF_FFFF) } else { 1.0 };
                let blocks: Vec<f32> = (0..runs).map(|_| short(numbers.float())).collect();
                let scales: Vec<f32> = (0..runs).map(|_| numbers.float().abs()).collect();
                let factor: Vec<f32> = blocks.iter().zip(&scales).map(|(b, s)| 1.0 / (b * s)).collect();
                let x: Vec<f32> = (0..n)
                    .map(|i| {
                        let short =
                            f32::from_bits(numbers.next() & 0x801F_0000 | (120 + i as u32 % 16) << 23);
                        let near = (short * blocks[i / run] * scales[i / run]).to_bits();
                        match i % 4 {
                            0 => numbers.float(),
                            1 => f32::from_bits(near),
                            2 => f32::from_bits(near + 1),
                            _ => f32::from_bits(near - 1),
                        }
                    })
                    .collect();
                let factors = Factors { factor: &factor, block: &blocks, scale: &scales };
                let mut q = vec![[0; 4]; n];
                assert!(loops.step(Step::Quotient { block }, &words(&x), &mut q, run, &factors));
                for (i, q) in floats(&q).into_iter().enumerate() {
                    let scale = f64::from(blocks[i / run]) * f64::from(scales[i / run]);
                    // A product of 20 bits and 28 is exact.
                    let compare = |multiple: f32| sign(f64::from(x[i].abs()) - f64::from(multiple) * scale);
                    assert!(
                        is_beside(q, compare) && q.is_sign_negative() == x[i].is_sign_negative(),
                        "{tier}: {:e} by {scale:e} is not {q:e}",
                        x[i]
                    );
                }
            }
        }
    }
}

#[test]
fn products_are_rounded_once_or_on_the_right_side() {
    let mut numbers = Numbers(11);
    for (tier, loops) in loops() {
        for block in [false, true] {
            for (n, run) in SIZES {
                let runs = n.div_ceil(run);
                let short = |x: f32| f32::from_bits(x.to_bits() & !0x1_FFFF);
                let blocks: Vec<f32> =
                    (0..runs).map(|_| f32::from_bits(numbers.float().abs().to_bits() & !0xF_FFFF)).collect();
                let scales: Vec<f32> = (0..runs).map(|_| numbers.float().abs()).collect();
                let x: Vec<f32> = (0..n).map(|_| short(numbers.float())).collect();
                let factors = Factors { factor: &[], block: &blocks, scale: &scales };
                let exact = |i: usize| {
                    let block = if block { f64::from(blocks[i / run]) } else { 1.0 };
                    f64::from(x[i]) * block * f64::from(scales[i / run])
                };
                let mut products = words(&x);
                let step = Step::Product { block, beside: false };
                assert!(loops.step_in_place(step, &mut products, run, &factors));
                let want: Vec<f32> = (0..n).map(|i| exact(i) as f32).collect();
                assert_eq!(floats(&products), want, "{tier}");
                let mut products = words(&x);
                let step = Step::Product { block, beside: true };
                assert!(loops.step_in_place(step, &mut products, run, &factors));
                for (i, got) in floats(&products).into_iter().enumerate() {
                    let compare = |multiple: f32| sign(exact(i).abs() - f64::from(multiple));
                    assert!(is_beside(got, compare), "{tier}: {:e} is not {got:e}", exact(i));
                }
            }
        }
    }
}

#[test]
fn special_values() {
    for (_, loops) in loops() {
        let x = words(&[f32::NAN, f32::INFINITY, -f32::INFINITY, 0.0, -0.0, f32::MAX, -1e-40]);
        let numbers = Factors { factor: &[2.0], block: &[1.0], scale: &[0.5] };
        for step in [Step::Times, Step::Quotient { block: false }, Step::Quotient { block: true }] {
            let mut q = vec![[0; 4]; x.len()];
            assert!(loops.step(step, &x, &mut q, x.len(), &numbers));
            let q = floats(&q);
            assert!(
                step == Step::Times || q[0].is_sign_positive(),
                "{step:?}: NaN has the sign of the element"
            );
            assert!(q[0].is_nan() && q[1] == f32::INFINITY && q[2] == -f32::INFINITY, "{step:?}: {q:?}");
            assert_eq!(
                (q[3].to_bits(), q[4].to_bits(), q[5] > f32::MAX / 4.0),
                (0, 1 << 31, true),
                "{step:?}"
            );
            assert!(q[6] < 0.0, "{step:?}");
        }
        let mut q = vec![[0; 4]; x.len()];
        assert!(loops.step(Step::Divide, &x, &mut q, 3, &Factors { factor: &[0.5, 4.0, 2.0], ..numbers }));
        assert_eq!(floats(&q)[5..], [f32::MAX / 4.0, -5e-41]);
        // Slices and factors that do not fit are rejected.
        assert!(!loops.step(Step::Divide, &x, &mut q, 2, &numbers), "four runs, one factor");
        assert!(!loops.step(Step::Times, &x, &mut q[1..], 8, &numbers), "one word less");
        assert!(!loops.step(Step::Times, &x, &mut q, 0, &numbers), "empty runs");
    }
}

#[test]
fn powers_and_counts() {
    for (_, loops) in loops() {
        let amaxes = [0, 1, 0x0080_0000, 0x3F80_0000, 0x3FE0_0000, 0x3FE0_0001, 0x7F7F_FFFF, 0x7F80_0000];
        let (mut codes, mut factors) = ([0; 8], [0.0; 8]);
        // e4m3: the largest code is 1.75 * 2^8.
        let rule = PowerRule { addend: 0x7F_FFFF - 0x60_0000, exponent: 8 };
        loops.powers(&amaxes, rule, &mut codes, &mut factors);
        assert_eq!(codes, [0, 0, 0, 119, 119, 120, 247, 0xFF]);
        for (code, factor) in codes.into_iter().zip(factors) {
            let want =
                if code == 0xFF { f64::NAN } else { f64::from_bits((1023 + 127 - u64::from(code)) << 52) };
            assert!(f64::from(factor) == want || factor.is_nan() && want.is_nan(), "{code}: {factor:e}");
        }
        let x = words(&[1.0, 0.0, 2.0, 3.0, f32::NAN, 4.0]);
        let q = words(&[0.1, 0.1, 9.0, -8.0, f32::NAN, f32::INFINITY]);
        assert_eq!(loops.counts(&x, &q, 8.0, 0.25), [2, 1, 1]);
    }
}

/// Compares all results of a cast of `src`, with regular and with non-temporal stores, with `want`. The slices are exactly as long as needed, so
/// that Miri detects every access outside them. Returns the number of elements in whole blocks.
fn compare(cast: &ScaledCast, src: &[u8], want: &[u8], n: usize, run: usize, factors: &Factors<'_>) -> usize {
    let mut got = vec![0xA5; want.len()];
    let done = cast.run(src, &mut got, n, run, factors);
    let bytes = done * want.len() / n;
    assert_eq!(got[..bytes], want[..bytes], "{n} in runs of {run}");
    let mut got = vec![0xA5; want.len() + 64 + 6];
    let start = got.as_ptr().align_offset(64) + 6;
    let dst = &mut got[start..start + want.len()];
    assert_eq!(cast.stream().run(src, dst, n, run, factors), done);
    assert_eq!(dst[..bytes], want[..bytes], "{n} in runs of {run}, with non-temporal stores");
    done
}

/// Safe code may read or publish the results of a call before it drops the stream. As below, kernels run here only under Miri.
#[test]
fn stores_of_every_call_are_ordered() {
    let fences = || crate::vector::non_temporal::FENCES.get();
    let mut found = false;
    for (tier, _) in
        loops().filter(|(tier, _)| TierToken::new(*tier).is_some_and(|tier| tier.non_temporal().is_some()))
    {
        let to = Encoding::new(DType::Float8E4M3FN);
        let kernel = Kernel::new(tier, DType::Float32.into(), to, &Rules::common(to.dtype(), true));
        let cast = kernel.and_then(|kernel| ScaledCast::new(&kernel, DType::Float32, Step::Times));
        let Some(cast) = cast else { continue };
        let (src, mut dst, ones) = (vec![0; 4 * 512], vec![0; 512], [1.0; 16]);
        let mut stream = cast.stream();
        for _ in 0..2 {
            let before = fences();
            let factors = Factors { factor: &ones, block: &[], scale: &ones };
            assert_eq!(stream.run(&src, &mut dst, 512, 32, &factors), 512);
            assert!(fences() > before, "{tier}");
            found = true;
        }
    }
    assert_eq!(found, cfg!(miri) && cfg!(target_arch = "x86_64") && Tier::Avx2.is_available());
}

/// Scaling in registers gives the codes of a step in memory followed by a cast. Without Miri, kernels of tiers are tested from outside.
#[test]
fn in_registers_as_in_memory() {
    let mut numbers = Numbers(21);
    let mut found = 0;
    for (tier, loops) in loops() {
        let (small, quotient) = (Encoding::new(DType::Float8E4M3FN), Step::Quotient { block: false });
        for (to, step) in [
            (small, Step::Times),
            (small, quotient),
            (Encoding::packed(DType::Float4E2M1FN), Step::Times),
            (Encoding::new(DType::Int8), quotient),
        ] {
            let kernel = Kernel::new(tier, DType::Float32.into(), to, &Rules::common(to.dtype(), true));
            let Some(kernel) = kernel else { continue };
            for from in [DType::Float32, DType::BFloat16] {
                let Some(cast) = ScaledCast::new(&kernel, from, step) else { continue };
                found += 1;
                for (n, run) in [(64_usize, 16_usize), (192, 32), (200, 64), (300, 300), (40, 7), (576, 576)]
                {
                    let short = if from == DType::Float32 { u32::MAX } else { 0xFFFF_0000 };
                    let x: Vec<u32> = (0..n).map(|_| numbers.float().to_bits() & short).collect();
                    let power = if step == Step::Times { 0x7F80_0000 } else { u32::MAX };
                    let mut scale = || f32::from_bits(numbers.float().abs().to_bits() & power);
                    let scale: Vec<f32> = (0..n.div_ceil(run)).map(|_| scale()).collect();
                    let factor: Vec<f32> = scale.iter().map(|scale| 1.0 / scale).collect();
                    let factors = Factors { factor: &factor, block: &[], scale: &scale };
                    let src: Vec<u8> = match from {
                        DType::Float32 => x.iter().flat_map(|x| x.to_ne_bytes()).collect(),
                        _ => x.iter().flat_map(|x| ((x >> 16) as u16).to_ne_bytes()).collect(),
                    };
                    let x: Vec<Word> = x.iter().map(|x| x.to_ne_bytes()).collect();
                    let (mut q, mut want) =
                        (vec![[0; 4]; n], vec![0; n * to.bits_per_element() as usize / 8]);
                    assert!(loops.step(step, &x, &mut q, run, &factors));
                    kernel.run(q.as_flattened(), &mut want, n).expect("fits");
                    let done = compare(&cast, &src, &want, n, run, &factors);
                    // AVX-512 loads bfloat16 as two registers of the same run.
                    let apart = tier == Tier::Avx512 && from == DType::BFloat16 && run == 16;
                    let covered = run != 7 && n >= 64 && !apart;
                    assert!(done <= n && (done > 0) == covered, "{tier}: {done} of {n}");
                }
            }
        }
    }
    assert_eq!(found > 0, cfg!(miri) && cfg!(target_arch = "x86_64") && Tier::Avx2.is_available());
}

/// The same for codes, and for tables of products.
#[test]
fn decoded_in_registers_as_in_memory() {
    let mut numbers = Numbers(22);
    let (mut decoders, mut tables) = (0, 0);
    let types = [
        Encoding::new(DType::Float8E4M3FN),
        Encoding::new(DType::Int8),
        Encoding::packed(DType::Float4E2M1FN),
    ];
    for (tier, loops) in loops() {
        for (from, to, block) in types.iter().flat_map(|from| {
            [(*from, DType::Float32, from.is_packed()), (*from, DType::BFloat16, from.is_packed())]
        }) {
            let step = Step::Product { block, beside: to == DType::BFloat16 };
            let load = Kernel::new(tier, from, DType::Float32.into(), &Rules::common(DType::Float32, true));
            let store = Kernel::new(tier, DType::Float32.into(), to.into(), &Rules::common(to, true));
            let (Some(load), Some(store)) = (load, store) else { continue };
            let Some(decoder) = ScaledCast::decoder(&load, &store, step) else { continue };
            decoders += 1;
            // More than one step of a stream, for one pair only: Miri is slow.
            let long = from == types[0] && to == DType::Float32;
            for (n, run) in [(64, 16), (128, 128), (1088, 1088)].into_iter().take(2 + usize::from(long)) {
                // Under Miri, a NaN that arithmetic produces has an arbitrary sign.
                let codes: Vec<u8> = (0..n * from.bits_per_element() as usize / 8)
                    .map(|_| numbers.next() as u8)
                    .map(|code| if code & 0x7F == 0x7F { 0 } else { code })
                    .collect();
                let scale: Vec<f32> = (0..n / run).map(|_| numbers.float().abs()).collect();
                let short = |x: f32| f32::from_bits(x.abs().to_bits() & !0xF_FFFF);
                let blocks: Vec<f32> = scale.iter().map(|_| short(numbers.float())).collect();
                let factors = Factors { factor: &[], block: &blocks, scale: &scale };
                let (mut x, mut want) = (vec![[0; 4]; n], vec![0; n * to.size()]);
                load.run(&codes, x.as_flattened_mut(), n).expect("fits");
                assert!(loops.step_in_place(step, &mut x, run, &factors));
                store.run(x.as_flattened(), &mut want, n).expect("fits");
                assert_eq!(compare(&decoder, &codes, &want, n, run, &factors), n, "{tier}: {from} to {to}");
                let (Some(table), 128) = (ProductTable::new(decoder), n) else { continue };
                tables += 1;
                let mut got = vec![0; want.len()];
                assert!(table.run(&codes, &mut got, 2, 71, 57, &factors));
                want[2 * 57..2 * 71].fill(0);
                assert_eq!(got, want, "{tier}: {from} by a table");
            }
        }
    }
    let here = cfg!(miri) && cfg!(target_arch = "x86_64") && Tier::Avx2.is_available();
    assert_eq!([decoders > 0, tables > 0], [here, here && Tier::Avx512.is_available()]);
}
