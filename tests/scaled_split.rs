//! Scaled casts over threads and of views: the answers of one thread on contiguous elements.

#![cfg(feature = "scaled")]

use lanecast::half::bf16;
use lanecast::scaled::{Granularity, Quantized, Report, ScaledError, ScaledPlan, Scheme};
use lanecast::strided::{Layout, View, ViewMut};
use lanecast::{ByteOrder, CastError, DType, Encoding, Source, Uninit};

/// Floats of several magnitudes, with a block of zeros here and there.
fn floats(n: usize) -> Vec<f32> {
    (0..n as u32)
        .map(|i| {
            let bits = i.wrapping_mul(0x9E37_79B1) ^ i >> 3;
            if i / 64 % 9 == 4 { -0.0 } else { f32::from_bits(bits & 0x807F_FFFF | (118 + bits % 9) << 23) }
        })
        .collect()
}

/// What a plan writes into memory that holds something else.
fn quantize<'s>(plan: &ScaledPlan, src: impl Into<Source<'s>>) -> (Report, Quantized) {
    let mut q = plan.alloc();
    q.data.fill(0xA5);
    q.scales.fill(0xA5);
    q.zero_points.iter_mut().for_each(|zeros| zeros.fill(0xA5));
    (plan.quantize(src, &mut q).expect("casts"), q)
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
        let view = View::new(bytemuck::cast_slice(&values), layout.clone()).expect("inside");
        let copy = gathered(&values, shape, strides);
        let asymmetric = [Granularity::Tensor, Granularity::Axis(0), Granularity::Block { axis: -1, len: 8 }]
            .map(|granularity| Scheme { granularity, ..Scheme::UINT4_GROUP128 });
        let symmetric =
            [Scheme::MX, Scheme::NVFP4, Scheme::FP8_TENSOR, Scheme::FP8_ROW, Scheme::FP8_BLOCK128];
        for scheme in symmetric.into_iter().chain(asymmetric) {
            let plan = ScaledPlan::new(DType::Float32, &scheme, shape).expect("fits");
            let plan = plan.with_squared_error().with_counts();
            let (report, q) = quantize(&plan, &copy);
            let got = quantize(&plan, &view);
            assert!(got == (report, q.clone()), "{scheme:?} {shape:?}: {:?}", got.0);
            // By given scales, and back to a view of the same layout.
            let mut given = Quantized { data: vec![0; q.data.len()], ..q.clone() };
            plan.quantize_given(&view, &mut given).expect("casts");
            let mut want = Quantized { data: vec![0; q.data.len()], ..q.clone() };
            plan.quantize_given(&copy, &mut want).expect("casts");
            assert!(given == want, "{scheme:?} {shape:?}");
            let (mut values, mut everywhere) = (vec![0.0_f32; copy.len()], values.clone());
            plan.dequantize(&q, &mut values).expect("casts");
            let mut out =
                ViewMut::new(bytemuck::cast_slice_mut(&mut everywhere), layout.clone()).expect("inside");
            plan.dequantize(&q, &mut out).expect("casts");
            assert!(gathered(&everywhere, shape, strides) == values, "{scheme:?} {shape:?}");
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
    let got = quantize(&plan, &view);
    assert_eq!(got, quantize(&plan, &values));
    let mut back = vec![0; swapped.len()];
    let mut out = ViewMut::new(&mut back, view.layout().clone()).expect("inside");
    plan.dequantize(&got.1, &mut out).expect("casts");
    let mut native = vec![0.0_f32; values.len()];
    plan.dequantize(&got.1, &mut native).expect("casts");
    assert!(
        back.iter().rev().eq(native.iter().rev().flat_map(|x| x.to_ne_bytes()).collect::<Vec<_>>().iter())
    );
    let refused = |view: &View<'_>| plan.quantize(view, &mut plan.alloc());
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
        let view = View::from_slice(&one[..n], shape).expect("inside");
        for granularity in [
            Granularity::Tensor,
            Granularity::Axis(0),
            Granularity::Axis(-1),
            Granularity::Block { axis: -1, len: 32 },
            Granularity::Block { axis: 0, len: 2 },
            Granularity::Tile { rows: 2, cols: 2 },
        ] {
            let asymmetric = Scheme::UINT4_GROUP128.with_element(DType::Int4);
            for scheme in [Scheme::MX, Scheme::NVFP4, Scheme::INT4_GROUP128, asymmetric] {
                let scheme = Scheme { granularity, ..scheme };
                // Without axes there is the tensor only.
                let Ok(plan) = ScaledPlan::new(DType::Float32, &scheme, shape) else {
                    assert!(shape.is_empty() && granularity != Granularity::Tensor);
                    continue;
                };
                let plan = plan.with_counts().with_squared_error();
                assert_eq!((plan.scales(), plan.data_len()), (n, n), "{scheme:?} {shape:?}");
                let (report, q) = quantize(&plan, &one[..n]);
                assert_eq!(report.elements, n as u64);
                assert_eq!(quantize(&plan, &view), (report, q.clone()), "{scheme:?} {shape:?}");
                let mut given = Quantized { data: vec![0xA5; n], ..q.clone() };
                plan.quantize_given(&one[..n], &mut given).expect("casts");
                assert_eq!(given, q, "{scheme:?} {shape:?}");
                let mut back = vec![bf16::ZERO; n];
                plan.dequantize(&q, &mut back).expect("casts");
                assert_eq!(back, [bf16::from_f32(3.0)][..n]);
                if !scheme.has_zero_points() {
                    let mut again = plan.alloc();
                    plan.requantize(&plan, &q, &mut again).expect("casts");
                    assert_eq!(again, q, "{scheme:?} {shape:?}");
                }
            }
        }
    }
}

/// Memory that was not initialised has the same bytes afterwards, and a wrong length leaves it alone.
#[test]
fn uninitialised_destinations() {
    let src = floats(9 * 35);
    for scheme in [Scheme::MX.with_element(DType::Float6E2M3FN), Scheme::NVFP4, Scheme::INT8_ROW] {
        let plan = ScaledPlan::new(DType::Float32, &scheme, &[9, 35]).expect("fits");
        let (report, want) = quantize(&plan, &src);
        let mut codes = Box::<[u8]>::new_uninit_slice(want.data.len());
        let mut its = Box::<[u8]>::new_uninit_slice(want.scales.len());
        let mut q = Quantized::new(Uninit::new(&mut codes), Uninit::new(&mut its));
        assert_eq!(plan.quantize(&src, &mut q), Ok(report));
        assert_eq!((&*q.data.written(), &*q.scales.written()), (&want.data[..], &want.scales[..]));
        let mut q =
            Quantized { global: report.global, ..Quantized::new(Uninit::new(&mut codes), &want.scales) };
        plan.quantize_given(&src, &mut q).expect("casts");
        assert_eq!(q.data.written(), want.data);
        let mut values = vec![bf16::ZERO; 9 * 35];
        plan.dequantize(&want, &mut values).expect("casts");
        let mut back = Box::<[bf16]>::new_uninit_slice(values.len());
        let mut out = Uninit::new(&mut back);
        plan.dequantize(&want, &mut out).expect("casts");
        assert_eq!(out.written(), values);
        let mut q = Quantized::new(Uninit::new(&mut codes[1..]), Uninit::new(&mut its));
        assert!(matches!(plan.quantize(&src, &mut q), Err(ScaledError::Length { which: "data", .. })));
        assert!(q.data.written().is_empty());
    }
}

#[cfg(all(feature = "rayon", not(target_family = "wasm")))]
mod threads {
    use super::*;
    use lanecast::half::f16;
    use lanecast::scaled::Amax;
    use lanecast::scaled::NonFinite;
    use lanecast::{ParallelFor, Stochastic, Threads};
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

    fn host(threads: usize) -> Threads {
        Threads::Host(Arc::new(Host(threads)))
    }

    #[test]
    fn threads_change_nothing() {
        let src = floats(SHAPE.iter().product());
        let transposed = View::from_slice(&src, &[SHAPE[1], SHAPE[0]]).expect("inside").transposed();
        let columns = [Scheme::INT8_ROW, Scheme::UINT4_GROUP128]
            .map(|scheme| Scheme { granularity: Granularity::Axis(1), ..scheme });
        let tensor = Scheme { granularity: Granularity::Tensor, ..Scheme::UINT8_ROW };
        let named = [Scheme::MX, Scheme::NVFP4, Scheme::FP8_TENSOR, Scheme::TE_NVFP4, tensor];
        for scheme in named.into_iter().chain(columns).chain([Scheme::UINT8_ROW, Scheme::UINT4_GROUP128]) {
            let plan = ScaledPlan::new(DType::Float32, &scheme, &SHAPE).expect("fits");
            let plan = plan.with_squared_error().with_counts().with_stochastic(Stochastic::default());
            let (want, of_view) = (quantize(&plan, &src), quantize(&plan, &transposed));
            let given = |plan: &ScaledPlan| {
                let mut q = Quantized { data: vec![0; want.1.data.len()], ..want.1.clone() };
                (plan.quantize_given(&src, &mut q).expect("casts"), q)
            };
            let values = |plan: &ScaledPlan| {
                let (mut flat, mut columns) = (vec![f16::ZERO; src.len()], vec![f16::ZERO; src.len()]);
                plan.dequantize(&want.1, &mut flat).expect("casts");
                let steps = [2, 2 * SHAPE[0] as isize];
                let layout = Layout::new(DType::Float16, &SHAPE, &steps).expect("a layout");
                let bytes = bytemuck::cast_slice_mut(&mut columns);
                plan.dequantize(&want.1, &mut ViewMut::new(bytes, layout).expect("inside")).expect("casts");
                (flat, columns)
            };
            let (given_alone, values_alone) = (given(&plan), values(&plan));
            for threads in [1, 2, 5] {
                let plan = plan.with_threads(host(threads));
                let got = quantize(&plan, &src);
                assert!(got == want, "{scheme:?}: {:?} {:?}", got.0, want.0);
                let got = quantize(&plan, &transposed);
                assert!(got == of_view, "{scheme:?}: {:?} {:?}", got.0, of_view.0);
                assert!(given(&plan) == given_alone, "{scheme:?}");
                assert!(values(&plan) == values_alone, "{scheme:?}");
                assert_eq!(plan.amax(&src), Amax::of(DType::Float32, &src));
            }
        }
    }

    #[test]
    fn wrong_lengths_and_refused_blocks() {
        let mut values = floats(SHAPE.iter().product());
        values[7 * SHAPE[1] / 4] = f32::NAN;
        for scheme in [Scheme::FP8_ROW, Scheme::UINT8_ROW] {
            let scheme = scheme.with_non_finite(NonFinite::Refuse);
            let plan = ScaledPlan::new(DType::Float32, &scheme, &SHAPE).expect("fits").with_threads(host(3));
            let mut q = plan.alloc();
            assert_eq!(plan.quantize(&values, &mut q), Err(ScaledError::NonFinite { block: 1 }));
            let short = plan.quantize(&values[..2], &mut q);
            assert!(matches!(short, Err(ScaledError::Length { which: "source", have: 8, .. })));
            q.scales.pop();
            let short = plan.quantize(&values, &mut q);
            assert!(matches!(short, Err(ScaledError::Length { which: "scales", .. })));
            let short = plan.dequantize(&q, &mut values.clone());
            assert!(matches!(short, Err(ScaledError::Length { which: "scales", .. })));
        }
    }
}
