//! Scaled casts over threads and of views: the answers of one thread on contiguous elements.

#![cfg(feature = "scaled")]

use lanecast::scaled::{Granularity, Quantized, Report, ScaledError, ScaledPlan, Scheme, requantize};
use lanecast::strided::{Layout, View};
use lanecast::{ByteOrder, CastError, DType, Encoding};

/// Floats of several magnitudes, with a block of zeros here and there.
fn floats(n: usize) -> Vec<f32> {
    (0..n as u32)
        .map(|i| {
            let bits = i.wrapping_mul(0x9E37_79B1) ^ i >> 3;
            if i / 64 % 9 == 4 { -0.0 } else { f32::from_bits(bits & 0x807F_FFFF | (118 + bits % 9) << 23) }
        })
        .collect()
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_ne_bytes()).collect()
}

type Answer = (Report, Vec<u8>, Vec<u8>);

fn quantize(
    plan: &ScaledPlan,
    cast: impl FnOnce(&mut [u8], &mut [u8]) -> Result<Report, ScaledError>,
) -> Answer {
    let (mut data, mut scales) = (vec![0xA5; plan.data_len()], vec![0xA5; plan.scales_len()]);
    (cast(&mut data, &mut scales).expect("casts"), data, scales)
}

type WithZeros = (Report, [Vec<u8>; 3]);

fn quantize_with_zeros(
    plan: &ScaledPlan,
    cast: impl FnOnce(&mut [u8], &mut [u8], &mut [u8]) -> Result<Report, ScaledError>,
) -> WithZeros {
    let mut buffers = [plan.data_len(), plan.scales_len(), plan.zeros_len()].map(|n| vec![0xA5; n]);
    let [data, scales, zeros] = &mut buffers;
    (cast(data, scales, zeros).expect("casts"), buffers)
}

fn alone_with_zeros(plan: &ScaledPlan, src: &[u8]) -> WithZeros {
    quantize_with_zeros(plan, |data, scales, zeros| plan.quantize_min_max(src, data, scales, zeros))
}

fn alone(plan: &ScaledPlan, src: &[u8]) -> Answer {
    quantize(plan, |data, scales| plan.quantize_dynamic(src, data, scales))
}

/// The elements at `index` of an array of this shape and these strides, in C order of the shape.
fn gathered(values: &[f32], shape: &[usize], strides: &[usize]) -> Vec<f32> {
    let n = shape.iter().product();
    let place = |mut i: usize| {
        let mut at = 0;
        for (len, stride) in shape.iter().zip(strides).rev() {
            at += i % len * stride;
            i /= len;
        }
        at
    };
    (0..n).map(|i| values[place(i)]).collect()
}

#[test]
fn views() {
    let values = floats(2 * 3 * 40 * 52);
    // Shapes and strides in elements: transposed, permuted, contiguous, and with one axis.
    let layouts: [(&[usize], &[usize]); 5] = [
        (&[52, 240], &[1, 52]),
        (&[40, 6, 52], &[52, 2080, 1]),
        (&[52, 2, 3, 40], &[1, 6240, 2080, 52]),
        (&[240, 52], &[52, 1]),
        (&[3120], &[2]),
    ];
    // The interpreter of Miri is slow.
    for (shape, strides) in layouts.into_iter().take(if cfg!(miri) { 1 } else { 5 }) {
        let steps: Vec<isize> = strides.iter().map(|stride| 4 * *stride as isize).collect();
        let layout = Layout::new(DType::Float32, shape, &steps).expect("a layout");
        let bytes_of_all = bytes(&values);
        let view = View::new(&bytes_of_all, layout).expect("inside");
        let copy = bytes(&gathered(&values, shape, strides));
        for scheme in [Scheme::MX, Scheme::NVFP4, Scheme::FP8_TENSOR, Scheme::FP8_ROW, Scheme::FP8_BLOCK128] {
            let plan = ScaledPlan::new(DType::Float32, &scheme, shape)
                .expect("fits")
                .with_squared_error()
                .with_counts();
            let got = quantize(&plan, |data, scales| plan.quantize_dynamic_view(&view, data, scales));
            assert!(got == alone(&plan, &copy), "{scheme:?} {shape:?}: {:?}", got.0);
        }
        for granularity in
            [Granularity::Tensor, Granularity::Axis(0), Granularity::Block { axis: -1, len: 8 }]
        {
            let scheme = Scheme { granularity, ..Scheme::UINT4_GROUP128 };
            let plan = ScaledPlan::new(DType::Float32, &scheme, shape).expect("fits");
            let plan = plan.with_squared_error().with_counts();
            let got = quantize_with_zeros(&plan, |data, scales, zeros| {
                plan.quantize_min_max_view(&view, data, scales, zeros)
            });
            assert!(got == alone_with_zeros(&plan, &copy), "{scheme:?} {shape:?}: {:?}", got.0);
        }
    }
}

/// Elements in the other byte order are swapped on the way, and of a wrong dtype or shape refused.
#[test]
fn views_of_other_buffers() {
    let values = floats(64 * 5);
    let swapped: Vec<u8> = values
        .iter()
        .flat_map(|x| {
            let mut bytes = x.to_ne_bytes();
            bytes.reverse();
            bytes
        })
        .collect();
    let other = if cfg!(target_endian = "little") { ByteOrder::Big } else { ByteOrder::Little };
    let buffer = Encoding::new(DType::Float32).with_order(other);
    let view = View::new(&swapped, Layout::contiguous(buffer, &[5, 64]).expect("a layout")).expect("inside");
    let plan = ScaledPlan::new(DType::Float32, &Scheme::MX, &[5, 64]).expect("fits");
    let got = quantize(&plan, |data, scales| plan.quantize_dynamic_view(&view, data, scales));
    assert_eq!(got, alone(&plan, &bytes(&values)));
    let (mut data, mut scales) = (vec![0; plan.data_len()], vec![0; plan.scales_len()]);
    let mut refused = |view: &View<'_>| plan.quantize_dynamic_view(view, &mut data, &mut scales);
    assert_eq!(refused(&view.transposed()), Err(ScaledError::OtherShape));
    let halves = [lanecast::half::f16::ONE; 320];
    let halves = View::from_slice(&halves, &[5, 64]).expect("inside");
    assert!(matches!(refused(&halves), Err(ScaledError::Cast(CastError::WrongElement { .. }))));
}

/// Tensors without elements, and one without axes, on every path.
#[test]
fn nothing_and_one_element() {
    let one = [3.0_f32];
    let shapes: [&[usize]; 6] = [&[0], &[0, 5], &[5, 0], &[2, 0, 3], &[1, 1, 1], &[]];
    for shape in shapes {
        let n = shape.iter().product();
        let src = bytes(&one[..n]);
        let view = View::from_slice(&one[..n], shape).expect("inside");
        for granularity in [
            Granularity::Tensor,
            Granularity::Axis(0),
            Granularity::Axis(-1),
            Granularity::Block { axis: -1, len: 32 },
            Granularity::Block { axis: 0, len: 2 },
            Granularity::Tile { rows: 2, cols: 2 },
        ] {
            for scheme in [Scheme::MX, Scheme::NVFP4, Scheme::INT4_GROUP128] {
                let scheme = Scheme { granularity, ..scheme };
                // Without axes there is the tensor only.
                let Ok(plan) = ScaledPlan::new(DType::Float32, &scheme, shape) else {
                    assert!(shape.is_empty() && granularity != Granularity::Tensor);
                    continue;
                };
                let plan = plan.with_counts().with_squared_error();
                assert_eq!((plan.scales(), plan.data_len()), (n, n), "{scheme:?} {shape:?}");
                let want = alone(&plan, &src);
                assert_eq!(want.0.elements, n as u64);
                let got = quantize(&plan, |data, scales| plan.quantize_dynamic_view(&view, data, scales));
                assert_eq!(got, want, "{scheme:?} {shape:?}");
                let mut codes = vec![0xA5; n];
                plan.quantize(&src, &want.2, want.0.global, &mut codes).expect("casts");
                assert_eq!(codes, want.1, "{scheme:?} {shape:?}");
                let mut back = vec![0; 2 * n];
                plan.dequantize(&want.1, &want.2, want.0.global, DType::BFloat16, &mut back).expect("casts");
                assert_eq!(back, lanecast::half::bf16::from_f32(3.0).to_ne_bytes()[..2 * n]);
                let (mut again, mut scales) = (vec![0xA5; n], vec![0xA5; want.2.len()]);
                let of = Quantized { data: &want.1, scales: &want.2, global: want.0.global };
                requantize(&plan, of, &plan, &mut again, &mut scales).expect("casts");
                assert_eq!((again, scales), (want.1, want.2), "{scheme:?} {shape:?}");
            }
            let scheme = Scheme { granularity, ..Scheme::UINT4_GROUP128 }.with_element(DType::Int4);
            if let Ok(plan) = ScaledPlan::new(DType::Float32, &scheme, shape) {
                let (mut data, mut scales, mut zeros) = (vec![0; n], vec![0; 4 * n], vec![0; n]);
                let report = plan.quantize_min_max(&src, &mut data, &mut scales, &mut zeros).expect("casts");
                assert_eq!(report.elements, n as u64);
                let mut back = vec![0; 4 * n];
                plan.dequantize_min_max(&data, &scales, &zeros, DType::Float32, &mut back).expect("casts");
                assert_eq!(back, src);
            }
        }
    }
}

/// Memory that was not initialised has the same bytes afterwards, and a wrong length leaves it alone.
#[test]
fn uninitialised_destinations() {
    let src = bytes(&floats(9 * 35));
    for scheme in [Scheme::MX.with_element(DType::Float6E2M3FN), Scheme::NVFP4, Scheme::INT8_ROW] {
        let plan = ScaledPlan::new(DType::Float32, &scheme, &[9, 35]).expect("fits");
        let (report, data, scales) = alone(&plan, &src);
        let (mut codes, mut its) = (Box::new_uninit_slice(data.len()), Box::new_uninit_slice(scales.len()));
        let written = plan.quantize_dynamic_uninit(&src, &mut codes, &mut its).expect("casts");
        assert_eq!((written.report, &*written.data, &*written.scales), (report, &data[..], &scales[..]));
        let mut codes = Box::new_uninit_slice(data.len());
        let (given, _) = plan.quantize_uninit(&src, &scales, report.global, &mut codes).expect("casts");
        assert_eq!(given, data);
        let mut values = vec![0; 2 * 9 * 35];
        plan.dequantize(&data, &scales, report.global, DType::BFloat16, &mut values).expect("casts");
        let mut back = Box::new_uninit_slice(values.len());
        let got = plan.dequantize_uninit(&data, &scales, report.global, DType::BFloat16, &mut back);
        assert_eq!(got.expect("casts"), values);
        let short = plan.quantize_dynamic_uninit(&src, &mut codes[1..], &mut its);
        assert!(matches!(short, Err(ScaledError::Length { which: "data", .. })));
    }
}

#[cfg(all(feature = "rayon", not(target_family = "wasm")))]
mod threads {
    use super::*;
    use lanecast::stochastic::Stochastic;
    use lanecast::{Bytes, BytesMut, CastOptions, CastPlan, ParallelFor, Threads};
    use std::sync::Arc;

    /// So many threads, started for each loop.
    struct Host(usize);

    impl ParallelFor for Host {
        fn threads(&self) -> usize {
            self.0
        }

        fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
            std::thread::scope(|scope| {
                (0..tasks).for_each(|index| _ = scope.spawn(move || task(index)));
            });
        }
    }

    /// As many elements as are worth two threads, in rows that end within a byte if codes are packed.
    const SHAPE: [usize; 2] = if cfg!(miri) { [3, 5] } else { [397, 409] };

    #[test]
    fn threads_change_nothing() {
        let values = floats(SHAPE.iter().product());
        let src = bytes(&values);
        let transposed = View::from_slice(&values, &[SHAPE[1], SHAPE[0]]).expect("inside").transposed();
        let column = Scheme { granularity: Granularity::Axis(1), ..Scheme::INT8_ROW };
        for scheme in [Scheme::MX, Scheme::NVFP4, Scheme::FP8_TENSOR, Scheme::TE_NVFP4, column] {
            let plan = ScaledPlan::new(DType::Float32, &scheme, &SHAPE)
                .expect("fits")
                .with_squared_error()
                .with_counts();
            let plan = plan.stochastic(Stochastic::default());
            let want = alone(&plan, &src);
            let of_view =
                quantize(&plan, |data, scales| plan.quantize_dynamic_view(&transposed, data, scales));
            let (report, data, scales) = &want;
            let mut codes = vec![0; data.len()];
            let given = plan.quantize(&src, scales, report.global, &mut codes).expect("casts");
            let mut values = vec![0; 2 * src.len() / 4];
            plan.dequantize(data, scales, report.global, DType::Float16, &mut values).expect("casts");
            for threads in [2, 5] {
                let host = Arc::new(Host(threads));
                let threads = Threads::Host(host.clone());
                let got = quantize(&plan, |data, scales| {
                    plan.par_quantize_dynamic(&src, data, scales, threads.clone())
                });
                assert!(got == want, "{scheme:?}: {:?} {report:?}", got.0);
                let got = quantize(&plan, |data, scales| {
                    plan.par_quantize_dynamic_view(&transposed, data, scales, threads.clone())
                });
                assert!(got == of_view, "{scheme:?}: {:?}", got.0);
                let mut again = vec![0; data.len()];
                let got = plan.par_quantize(&src, scales, report.global, &mut again, threads.clone());
                assert!(got == Ok(given) && again == codes, "{scheme:?}: {got:?} {given:?}");
                let mut back = vec![0; values.len()];
                plan.par_dequantize(data, scales, report.global, DType::Float16, &mut back, threads.clone())
                    .expect("casts");
                assert!(back == values, "{scheme:?}");
                assert_eq!(plan.par_amax(&src, threads.clone()), plan.amax(&src));
            }
        }
    }

    #[test]
    fn threads_change_no_zero_point() {
        let values = floats(SHAPE.iter().product());
        let src = bytes(&values);
        let transposed = View::from_slice(&values, &[SHAPE[1], SHAPE[0]]).expect("inside").transposed();
        let column = Scheme { granularity: Granularity::Axis(1), ..Scheme::UINT4_GROUP128 };
        let tensor = Scheme { granularity: Granularity::Tensor, ..Scheme::UINT8_ROW };
        for scheme in [Scheme::UINT8_ROW, Scheme::UINT4_GROUP128, column, tensor] {
            let plan = ScaledPlan::new(DType::Float32, &scheme, &SHAPE).expect("fits");
            let plan = plan.with_squared_error().with_counts().stochastic(Stochastic::default());
            let want = alone_with_zeros(&plan, &src);
            let of_view = quantize_with_zeros(&plan, |data, scales, zeros| {
                plan.quantize_min_max_view(&transposed, data, scales, zeros)
            });
            let [data, scales, zeros] = &want.1;
            let mut values = vec![0; 2 * src.len() / 4];
            plan.dequantize_min_max(data, scales, zeros, DType::Float16, &mut values).expect("casts");
            for threads in [1, 2, 5] {
                let host = Arc::new(Host(threads));
                let threads = Threads::Host(host.clone());
                let got = quantize_with_zeros(&plan, |data, scales, zeros| {
                    plan.par_quantize_min_max(&src, data, scales, zeros, threads.clone())
                });
                assert!(got == want, "{scheme:?}: {:?} {:?}", got.0, want.0);
                let got = quantize_with_zeros(&plan, |data, scales, zeros| {
                    plan.par_quantize_min_max_view(&transposed, data, scales, zeros, threads.clone())
                });
                assert!(got == of_view, "{scheme:?}: {:?} {:?}", got.0, of_view.0);
                let mut back = vec![0; values.len()];
                plan.par_dequantize_min_max(data, scales, zeros, DType::Float16, &mut back, threads.clone())
                    .expect("casts");
                assert!(back == values, "{scheme:?}");
            }
        }
    }

    #[test]
    fn wrong_lengths_and_refused_blocks() {
        let mut values = floats(SHAPE.iter().product());
        values[7 * SHAPE[1] / 4] = f32::NAN;
        let scheme = Scheme::FP8_ROW.with_non_finite(lanecast::scaled::NonFinite::Refuse);
        let plan = ScaledPlan::new(DType::Float32, &scheme, &SHAPE).expect("fits");
        let (mut data, mut scales) = (vec![0; plan.data_len()], vec![0; plan.scales_len()]);
        let host = Arc::new(Host(3));
        let mut cast =
            |src: &[u8]| plan.par_quantize_dynamic(src, &mut data, &mut scales, Threads::Host(host.clone()));
        assert_eq!(cast(&bytes(&values)), Err(ScaledError::NonFinite { block: 1 }));
        assert!(matches!(cast(&[0; 8]), Err(ScaledError::Length { which: "source", have: 8, .. })));
        let refused = plan.par_quantize_min_max(
            &bytes(&values),
            &mut data,
            &mut scales,
            &mut [],
            Threads::Host(host.clone()),
        );
        assert!(matches!(refused, Err(ScaledError::Scheme { .. })));
        let scheme = Scheme::UINT8_ROW.with_non_finite(lanecast::scaled::NonFinite::Refuse);
        let plan = ScaledPlan::new(DType::Float32, &scheme, &SHAPE).expect("fits");
        let mut zeros = vec![0; plan.zeros_len()];
        let mut cast = |src: &[u8], zeros: &mut [u8]| {
            plan.par_quantize_min_max(src, &mut data, &mut scales, zeros, Threads::Host(host.clone()))
        };
        assert_eq!(cast(&bytes(&values), &mut zeros), Err(ScaledError::NonFinite { block: 1 }));
        assert!(matches!(cast(&[0; 8], &mut zeros), Err(ScaledError::Length { which: "source", .. })));
        let short = cast(&bytes(&values), &mut zeros[1..]);
        assert!(matches!(short, Err(ScaledError::Length { which: "zero points", .. })));
        let mut back = vec![0; 4 * values.len()];
        let to = DType::Float32;
        let short =
            plan.par_dequantize_min_max(&data, &scales, &[], to, &mut back, Threads::Host(host.clone()));
        assert!(matches!(short, Err(ScaledError::Length { which: "zero points", .. })));
    }

    #[test]
    fn plain_stochastic_casts() {
        let src = bytes(&floats(SHAPE.iter().product()));
        let n = src.len() / 4;
        for to in [Encoding::new(DType::Int8), Encoding::packed(DType::Float4E2M1FN)] {
            let plan = CastPlan::new(DType::Float32, to, &CastOptions::RUST).expect("a pair");
            let plan =
                plan.with_stochastic(Stochastic { first: 3, ..Stochastic::default() }).expect("floats");
            let mut want = vec![0; to.byte_len(n).expect("small")];
            plan.run(Bytes::new(&src, n), BytesMut::new(&mut want, n)).expect("long enough");
            for threads in [1, 3] {
                let mut got = vec![0; want.len()];
                let plan = plan.with_threads(Threads::Host(Arc::new(Host(threads))));
                plan.run(Bytes::new(&src, n), BytesMut::new(&mut got, n)).expect("long enough");
                assert!(got == want, "{to}");
            }
        }
    }
}
