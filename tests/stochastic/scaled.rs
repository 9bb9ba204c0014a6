//! Stochastic rounding of scaled casts.

use super::*;

/// Scaled: the fraction is that of the exact quotient by the stored scale, also where it is a multiple of 2^-32 or just below one.
#[test]
fn scaled_codes_are_those_of_the_definition() {
    let mut next = noise(5);
    let (rows, cols) = if cfg!(miri) { (2, 32) } else { (8, 96) };
    let schemes = [Scheme::FP8_ROW, Scheme::NVFP4, Scheme::MX, Scheme::INT8_ROW];
    for (i, scheme) in schemes.into_iter().enumerate() {
        let magnitudes = magnitudes(scheme.element);
        for bits in BITS {
            let random = Stochastic { seed: i as u64, stream: 8, bits, first: 11 };
            let plan = ScaledPlan::new(DType::Float32, &scheme, &[rows, cols]).expect("fits");
            let plan = plan.with_storage(Storage::Byte).with_stochastic(random);
            let scale_codes: Vec<u8> = (0..plan.scales())
                .flat_map(|_| match scheme.scale.dtype(DType::Float32) {
                    DType::Float32 => {
                        f32::from_bits(0x3F80_0000 | (next() as u32 & 0x007F_F000)).to_ne_bytes().to_vec()
                    }
                    DType::Float8E8M0FNU => vec![120 + (next() % 16) as u8],
                    _ => vec![1 + (next() % 0x7E) as u8],
                })
                .collect();
            let global = 0.375_f32 + f32::EPSILON;
            // What codes of 1 mean is the scale of their block.
            let one = decoded(
                scheme.element,
                &(0..=127).collect::<Vec<u8>>()[..magnitudes.len()],
                magnitudes.len(),
            );
            let one = one.iter().position(|x| *x == 1.0).expect("1 has a code") as u8;
            let mut q = Quantized::new(vec![one; rows * cols], scale_codes).with_global(global);
            let mut scales = vec![0.0_f64; rows * cols];
            plan.dequantize(&q, &mut scales).expect("casts");
            let src: Vec<f32> = doubles(&magnitudes, rows * cols, &mut next)
                .iter()
                .zip(&scales)
                .map(|(x, scale)| (x * scale) as f32)
                .collect();
            plan.quantize_given(&src, &mut q).expect("casts");
            for (i, value) in decoded(scheme.element, &q.data, rows * cols).into_iter().enumerate() {
                if scheme.element == DType::Int8 && f64::from(src[i]) < -127.0 * scales[i] {
                    continue;
                }
                let want = oracle(&magnitudes, src[i].into(), scales[i], random, i as u64 + 11);
                assert_eq!(value.abs(), want, "{scheme:?}, {bits:?}: {:e} by {:e}", src[i], scales[i]);
            }
        }
    }
}

/// Rows are cast alone as within the tensor, and scales are those of the nearest codes.
#[test]
fn scaled_parts() {
    let src: Vec<f32> = (0..16 * 65).map(|i| i as f32 * 0.37 % 3.0 - 1.4).collect();
    let random = Stochastic { seed: 3, stream: 1 << 40, bits: RandomBits::Eight, first: 0 };
    let row = Granularity::Axis(0);
    for scheme in [
        Scheme::MX,
        Scheme::MX.with_element(DType::Int8),
        Scheme::FP8_ROW.with_quotient(Quotient::Divide),
        Scheme { granularity: row, ..Scheme::INT4_GROUP128 },
    ] {
        let cast = |shape: &[usize], src: &[f32], first: u64| {
            let nearest = ScaledPlan::new(DType::Float32, &scheme, shape).expect("fits");
            let nearest = nearest.with_storage(Storage::Byte);
            let plan = nearest.with_stochastic(Stochastic { first, ..random });
            let (mut q, mut other) = (plan.alloc(), plan.alloc());
            plan.quantize(src, &mut q).expect("casts");
            nearest.quantize(src, &mut other).expect("casts");
            assert_eq!(q.scales, other.scales);
            assert_ne!(q.data, other.data, "{scheme:?}");
            q.data
        };
        let whole = cast(&[16, 65], &src, 0);
        for row in [1, 7] {
            let alone = cast(&[1, 65], &src[65 * row..65 * (row + 1)], 65 * row as u64);
            assert_eq!(alone, whole[65 * row..65 * (row + 1)], "{scheme:?}");
        }
    }
}
