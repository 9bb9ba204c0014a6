//! Scaled casts in registers, by tables and with non-temporal stores: the bytes of a cast to float32, a step in memory and another cast.

#![cfg(feature = "scaled")]

use crate::support::rng::Rng;
use lanecast::scaled::{ScaledPlan, Scheme};
use lanecast::{ByteOrder, BytesMut, DType, Encoding, Tier};
use lanecast_kernels::scaled::{Factors, ProductTable, ScaledCast, ScaledLoops, Step};
use lanecast_kernels::{Kernel, Rounding, Rules};

/// A scale: any, a short one, or one whose product with 1.5 is rounded to a value halfway between two of bfloat16.
fn scale(rng: &mut Rng) -> f32 {
    let any = f32::from_bits((rng.bits() as u32 & 0x7F_FFFF) | (110 + rng.below(30) as u32) << 23);
    match rng.below(3) {
        0 => any,
        1 => f32::from_bits(any.to_bits() & 0xFFFF_0000),
        _ => f32::from_bits((any.to_bits() & 0xFFFF_0000) | 0x8000) / 1.5,
    }
}

fn kernel(tier: Tier, from: Encoding, to: DType) -> Kernel {
    Kernel::new(tier, from, to.into(), &Rules::common(to, true)).expect("every tier has it")
}

/// The lanes of a register. Without permutations of bytes (VBMI) AVX-512 has the loops of AVX2.
fn lanes(tier: Tier) -> usize {
    match tier {
        Tier::Avx512 if tier.features().contains(&"avx512vbmi") => 16,
        Tier::Avx512 | Tier::Avx2 => 8,
        _ => 4,
    }
}

/// Lengths and runs: runs of a block or more, and shorter ones.
const SHAPES: [(usize, usize); 10] = [
    (64, 4),
    (64, 8),
    (80, 16),
    (64, 16),
    (192, 32),
    (6400, 32),
    (512, 128),
    (9088, 64),
    (8200, 8200),
    (9000, 3000),
];

/// What a decoder makes: the whole blocks of it.
type Run = fn(&ScaledCast, &[u8], &mut [u8], usize, usize, &Factors<'_>) -> usize;

#[test]
fn decoders_agree_with_steps_in_memory() {
    let mut rng = Rng(0x5CA1_ED01);
    let mut tables = 0;
    let tiers = Tier::ALL.iter().copied().filter(|tier| tier.is_available());
    for (tier, loops) in tiers.filter_map(|tier| Some((tier, ScaledLoops::new(tier)?))) {
        let mut decoders = 0;
        let lanes = lanes(tier);
        let eights = [DType::Float8E4M3FN, DType::Float8E5M2, DType::Int8].map(Encoding::new);
        let fours = [DType::Float4E2M1FN, DType::Int4].map(Encoding::packed);
        for from in eights.into_iter().chain(fours) {
            for to in [DType::Float32, DType::BFloat16] {
                for (block, beside) in [(false, false), (false, true), (true, false), (true, true)] {
                    let step = Step::Product { block, beside };
                    let (load, store) =
                        (kernel(tier, from, DType::Float32), kernel(tier, DType::Float32.into(), to));
                    let Some(decoder) = ScaledCast::decoder(&load, &store, step) else { continue };
                    decoders += 1;
                    // Powers of two are the only scales whose products are stored as they are.
                    let exact = to == DType::BFloat16 && !beside;
                    for (n, run) in SHAPES {
                        let codes: Vec<u8> =
                            (0..n * from.bits_per_element() as usize / 8).map(|_| rng.bits() as u8).collect();
                        let scales: Vec<f32> = (0..n / run)
                            .map(|_| scale(&mut rng))
                            .map(|x| if exact { f32::from_bits(x.to_bits() & 0x7F80_0000) } else { x })
                            .collect();
                        let blocks: Vec<f32> = scales
                            .iter()
                            .map(|_| f32::from_bits(scale(&mut rng).to_bits() & 0x7FF0_0000))
                            .collect();
                        let factors = Factors { factor: &[], block: &blocks, scale: &scales };
                        let (mut words, mut want) = (vec![[0; 4]; n], vec![0; n * to.size()]);
                        load.run(&codes, words.as_flattened_mut(), n).expect("fits");
                        assert!(loops.step_in_place(step, &mut words, run, &factors));
                        store.run(words.as_flattened(), &mut want, n).expect("fits");
                        let ways: [Run; 2] = [ScaledCast::run, |cast, src, dst, n, run, factors| {
                            cast.stream().run(src, dst, n, run, factors)
                        }];
                        for (way, offset) in
                            ways.into_iter().flat_map(|way| [0, 16, 60].map(|offset| (way, offset)))
                        {
                            let mut got = vec![0xA5; want.len() + 128];
                            let start = got.as_ptr().align_offset(64) + offset;
                            let dst = &mut got[start..start + want.len()];
                            let done = way(&decoder, &codes, dst, n, run, &factors) * to.size();
                            // A run has whole blocks, or a block whole runs of whole registers.
                            let block = 4 * lanes;
                            let short = block.is_multiple_of(run) && run.is_multiple_of(lanes);
                            assert_eq!(
                                done > 0,
                                run == n || run.is_multiple_of(block) || short,
                                "{tier}, {from} to {to}: {n} in runs of {run}"
                            );
                            assert_eq!(
                                dst[..done],
                                want[..done],
                                "{tier}, {from} to {to}, {step:?}: {n} in runs of {run}"
                            );
                            let outside = [&got[..start], &got[start + done..]].concat();
                            assert!(
                                outside.iter().all(|byte| *byte == 0xA5),
                                "{tier}: nothing else is written"
                            );
                        }
                        let Some(table) = ProductTable::new(decoder) else { continue };
                        tables += 1;
                        let mut got = vec![0xA5; want.len()];
                        for (i, scale) in scales.iter().enumerate() {
                            let (start, factors) =
                                (i * run, Factors { scale: &[*scale], ..Factors::default() });
                            let dst = &mut got[2 * start..2 * (start + run)];
                            assert!(!table.run(
                                &codes[start..start + run - 1],
                                dst,
                                2,
                                run / 2,
                                run / 2,
                                &factors
                            ));
                            assert!(table.run(
                                &codes[start..start + run],
                                dst,
                                2,
                                run / 2,
                                run / 2,
                                &factors
                            ));
                        }
                        assert_eq!(got, want, "{tier}, {from} to {to} by tables: {n} in runs of {run}");
                    }
                }
            }
        }
        assert_eq!(decoders, 17, "{tier}");
    }
    if tables == 0 {
        println!("SKIPPED: tables of products: this CPU has no permutations of bytes (AVX-512 VBMI)");
    }
}

/// An element whose quotient by a scale has a code; in one of three blocks, some that have none: far too large, tiny, or no number.
fn element(rng: &mut Rng, scale: f32, wild: bool) -> f32 {
    let bits = rng.bits() as u32;
    match rng.below(32) {
        0 => f32::from_bits(bits & 0x8000_0000),
        1 if wild => f32::from_bits(bits),
        2 if wild => f32::from_bits(bits | 0x7F80_0000),
        3 if wild => f32::from_bits((bits & 0x8000_0000) | 0x7F80_0000),
        4 if wild => f32::from_bits((bits & 0x807F_FFFF) | (142 + bits % 100) << 23),
        5..16 => f32::from_bits((bits & 0x8078_0000) | (120 + bits % 16) << 23) * scale,
        _ => f32::from_bits((bits & 0x807F_FFFF) | (120 + bits % 16) << 23) * scale,
    }
}

#[test]
fn quantizers_agree_with_steps_in_memory() {
    let mut rng = Rng(0x5CA1_ED03);
    let tiers = Tier::ALL.iter().copied().filter(|tier| tier.is_available());
    for (tier, loops) in tiers.filter_map(|tier| Some((tier, ScaledLoops::new(tier)?))) {
        let mut quantizers = 0;
        let eights = [DType::Float8E4M3FN, DType::Float8E5M2, DType::Int8].map(Encoding::new);
        let fours = [DType::Float4E2M1FN, DType::Int4].map(Encoding::packed);
        for to in eights.into_iter().chain(fours) {
            let rules = Rules { rounding: Rounding::NearestEven, ..Rules::common(to.dtype(), true) };
            let store = Kernel::new(tier, DType::Float32.into(), to, &rules).expect("every tier has it");
            let quotients = [false, true].map(|block| Step::Quotient { block });
            for (step, from) in [Step::Times, quotients[0], quotients[1]]
                .into_iter()
                .flat_map(|step| [DType::Float32, DType::BFloat16].map(|from| (step, from)))
            {
                let Some(cast) = ScaledCast::new(&store, from, step) else { continue };
                quantizers += 1;
                for (n, run) in SHAPES {
                    let mut scales: Vec<f32> = (0..n / run).map(|_| scale(&mut rng)).collect();
                    if step == Step::Times {
                        scales.iter_mut().for_each(|x| *x = f32::from_bits(x.to_bits() & 0x7F80_0000));
                    }
                    let block = |_| f32::from_bits(scale(&mut rng).to_bits() & 0x7FF0_0000);
                    let blocks: Vec<f32> = scales.iter().map(block).collect();
                    let by = |i: usize| match step {
                        Step::Quotient { block: true } => scales[i] * blocks[i],
                        _ => scales[i],
                    };
                    let factor: Vec<f32> = (0..n / run).map(|i| 1.0 / by(i)).collect();
                    let factors = Factors { factor: &factor, block: &blocks, scale: &scales };
                    let short = if from == DType::Float32 { u32::MAX } else { 0xFFFF_0000 };
                    let x: Vec<u32> = (0..n)
                        .map(|i| element(&mut rng, by(i / run), (i / 64) % 3 == 0).to_bits() & short)
                        .collect();
                    let src: Vec<u8> = match from {
                        DType::Float32 => x.iter().flat_map(|x| x.to_ne_bytes()).collect(),
                        _ => x.iter().flat_map(|x| ((x >> 16) as u16).to_ne_bytes()).collect(),
                    };
                    let mut q: Vec<[u8; 4]> = x.iter().map(|x| x.to_ne_bytes()).collect();
                    assert!(loops.step_in_place(step, &mut q, run, &factors));
                    let mut want = vec![0; n * to.bits_per_element() as usize / 8];
                    store.run(q.as_flattened(), &mut want, n).expect("fits");
                    let mut got = vec![0xA5; want.len()];
                    let done = cast.run(&src, &mut got, n, run, &factors);
                    let what = format!("{tier}, {from} to {to}, {step:?}: {n} in runs of {run}");
                    assert!(done > 0 || !(run.is_multiple_of(4 * lanes(tier)) || run == n), "{what}");
                    let (codes, rest) = got.split_at(done * to.bits_per_element() as usize / 8);
                    let at = codes.iter().zip(&want).position(|(got, want)| got != want);
                    assert!(at.is_none(), "{what}: byte {at:?}");
                    assert!(rest.iter().all(|byte| *byte == 0xA5), "{what}: nothing else is written");
                }
            }
        }
        assert_eq!(quantizers, 16, "{tier}");
    }
}

/// Lengths that overflow when they become bytes, runs that are empty, slices that are too short: nothing is done.
#[test]
fn what_does_not_fit_is_refused() {
    for tier in Tier::ALL.iter().copied().filter(|tier| tier.is_available()) {
        let step = Step::Product { block: false, beside: true };
        let load = kernel(tier, DType::Float8E4M3FN.into(), DType::Float32);
        let store = kernel(tier, DType::Float32.into(), DType::BFloat16);
        let Some(decoder) = ScaledCast::decoder(&load, &store, step) else { continue };
        let (codes, mut dst) = ([0x38; 256], [0xA5; 512]);
        let factors = Factors { scale: &[1.0], ..Factors::default() };
        for (src, len, n, run) in [
            (&codes[..], 512, 256, 0),
            (&codes, 512, 256, 128),
            (&codes, 512, usize::MAX, usize::MAX),
            (&codes, 511, 256, 256),
            (&codes[..255], 512, 256, 256),
        ] {
            let dst = &mut dst[..len];
            assert_eq!(decoder.run(src, dst, n, run, &factors), 0, "{tier}: {n} in runs of {run}");
            assert_eq!(decoder.stream().run(src, dst, n, run, &factors), 0, "{tier}: {n} in runs of {run}");
        }
        assert_eq!(dst, [0xA5; 512], "{tier}");
    }
}

/// Values in the other byte order are the same values, by whatever loops.
#[test]
fn the_other_byte_order_has_the_same_values() {
    let other = match ByteOrder::NATIVE {
        ByteOrder::Little => ByteOrder::Big,
        ByteOrder::Big => ByteOrder::Little,
    };
    let mut rng = Rng(0x5CA1_ED02);
    for (name, scheme) in Scheme::NAMED.iter().filter(|(_, scheme)| !scheme.has_zero_points()) {
        let plan = ScaledPlan::new(DType::Float32, scheme, &[2, 4160]).expect("fits");
        let n = plan.elements();
        let src: Vec<f32> = (0..n).map(|_| scale(&mut rng)).collect();
        let mut q = plan.alloc();
        plan.quantize(&src, &mut q).expect("casts");
        for to in [DType::Float16, DType::BFloat16, DType::Float32, DType::Float64] {
            let (mut got, mut want) = (vec![0; n * to.size()], vec![0; n * to.size()]);
            plan.with_output(to).dequantize(&q, BytesMut::new(&mut want, n)).expect("casts");
            let swapped = Encoding::new(to).with_order(other);
            plan.with_output(swapped).dequantize(&q, BytesMut::new(&mut got, n)).expect("casts");
            got.chunks_exact_mut(to.size()).for_each(<[u8]>::reverse);
            assert!(got == want, "{name} to {to}");
        }
    }
}
