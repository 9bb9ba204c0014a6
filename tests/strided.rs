//! Arrays of any layout: the law is that of a loop over elements.
//!
//! Random shapes, orders of axes, gaps, directions, repeats, offsets, byte orders, storages and dtypes are held to a loop that casts
//! one element after the other, in a destination full of a pattern that must be left alone between the elements. Then
//! the layouts that have loops of their own, for all widths of elements, on all tiers.

#[path = "strided/arrays.rs"]
mod arrays;

use crate::support::{rng::Rng, size, storages, tiers::tiers};
use arrays::{PATTERN, Step, buffer, layout, noise, one_by_one, order, side};
use lanecast::strided::{Layout, View, ViewError, ViewMut};
use lanecast::{
    ByteOrder, Bytes, BytesMut, CastError, CastOptions, CastPlan, DType, Encoding, Level, Storage, Streaming,
};
use proptest::prelude::*;

/// Casts between two layouts and holds the whole buffer to the loop over elements.
fn check(plan: &CastPlan, (from, read): (Layout, usize), (to, written): (Layout, usize)) {
    let src = noise(read, 7);
    let start = vec![PATTERN; written + 9];
    let mut dst = start.clone();
    let view = View::new(&src, from.clone()).expect("inside");
    plan.run(&view, &mut ViewMut::new(&mut dst, to.clone()).expect("inside, apart")).expect("the same shape");
    let want = one_by_one(plan, &src, &from, &start, &to);
    if let Some(at) = (0..dst.len()).find(|i| dst[*i] != want[*i]) {
        panic!("{plan:?}, {from:?} -> {to:?}: byte {at} is {:#x}, not {:#x}", dst[at], want[at]);
    }
}

/// Casts between two layouts with an eye on losses: what is found is what the cast of the same elements without gaps finds.
fn check_losses(plan: &CastPlan, (from, read): (Layout, usize), to: (Layout, usize)) {
    check_losses_of(plan, &noise(read, 7), from, to);
}

fn check_losses_of(plan: &CastPlan, src: &[u8], from: Layout, (to, written): (Layout, usize)) {
    let plain = |buffer: Encoding| Encoding::new(buffer.dtype()).with_order(buffer.order());
    // The elements one after the other, by a cast to their own dtype.
    let keep = CastPlan::new(from.encoding(), plain(from.encoding()), &CastOptions::RUST).unwrap();
    let flat = Layout::contiguous(plain(from.encoding()), from.shape()).unwrap();
    let n = flat.elements();
    let flat = one_by_one(&keep, src, &from, &vec![0; n * size(from.encoding().dtype())], &flat);
    let flat_plan =
        CastPlan::with_tier(plain(plan.source()), plain(plan.target()), &CastOptions::RUST, plan.tier())
            .unwrap();
    let start = vec![PATTERN; written + 9];
    let want = one_by_one(plan, src, &from, &start, &to);
    let view = View::new(src, from.clone()).expect("inside");
    for level in [Level::Range, Level::Exact] {
        let mut out = vec![0; n * size(to.encoding().dtype())];
        let mut dst = start.clone();
        let got = plan.checked(level).run_counted(&view, &mut ViewMut::new(&mut dst, to.clone()).unwrap());
        assert_eq!(
            got,
            flat_plan.checked(level).run_counted(Bytes::new(&flat, n), BytesMut::new(&mut out, n)),
            "{plan:?}, {from:?} -> {to:?}"
        );
        assert!(dst == want, "{plan:?}, {from:?} -> {to:?}, counted");
        assert_eq!(plan.checked(level).count(&view), got, "{plan:?}, {from:?}, dropped");
        let (plan, flat_plan) = (plan.checked(level), flat_plan.checked(level));
        let mut masks = [vec![PATTERN; n.div_ceil(8) + 1], vec![PATTERN; n.div_ceil(8) + 1]];
        let mut dst = start.clone();
        let got = plan.run_masked(&view, &mut ViewMut::new(&mut dst, to.clone()).unwrap(), &mut masks[0]);
        let wanted = flat_plan.run_masked(Bytes::new(&flat, n), BytesMut::new(&mut out, n), &mut masks[1]);
        assert_eq!((got, &masks[0]), (wanted, &masks[1]), "{plan:?}, {from:?} -> {to:?}");
        assert!(dst == want, "{plan:?}, {from:?} -> {to:?}, masked");
        let mut dst = start.clone();
        let got = plan.run(&view, &mut ViewMut::new(&mut dst, to.clone()).unwrap());
        assert_eq!(
            got,
            flat_plan.run(Bytes::new(&flat, n), BytesMut::new(&mut out, n)),
            "{plan:?}, {from:?} -> {to:?}"
        );
        // Elements have been cast or are unchanged; packed ones share bytes.
        let packed = to.encoding().storage() == Storage::Packed;
        let cast = |i: usize| dst[i] == want[i] || dst[i] == start[i] && got.is_err();
        assert!(packed || (0..dst.len()).all(cast), "{plan:?}, {from:?} -> {to:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else if cfg!(target_arch = "x86_64") { 1200 } else { 150 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_layout(
        from in buffer(),
        to in buffer(),
        axes in 0..5_usize,
        lengths in prop::array::uniform5(0..9_usize),
        long in prop_oneof![2 => Just(None), 3 => (0..4_usize, 10..140_usize).prop_map(Some)],
        src in side(true),
        dst in side(false),
    ) {
        let mut shape = lengths[..axes].to_vec();
        // Empty ones are rare, axes of several vectors are not.
        for (len, keep) in shape.iter_mut().zip(src.0) {
            *len = (*len).max(usize::from(keep > 10));
        }
        if let Some((axis, len)) = long.filter(|(axis, _)| *axis < axes) {
            shape[axis] = len;
        }
        let source = layout(from, &shape, &order(src.0, axes), &src.1, src.2);
        let destination = layout(to, &shape, &order(dst.0, axes), &dst.1, dst.2);
        for &tier in tiers() {
            let plan = CastPlan::with_tier(from, to, &CastOptions::RUST, tier).unwrap();
            check(&plan, source.clone(), destination.clone());
        }
        let tier = tiers()[lengths[4] % tiers().len()];
        check_losses(&CastPlan::with_tier(from, to, &CastOptions::RUST, tier).unwrap(), source, destination);
    }
}

/// Dtypes of every width, with a cast from each to each.
const WIDTHS: [DType; 5] =
    [DType::UInt8, DType::BFloat16, DType::Float32, DType::Complex64, DType::Complex128];

/// Both axes in turn as the innermost of either side, upwards and downwards, and sides around those of tiles and blocks.
#[test]
fn two_axes() {
    let shapes: &[[usize; 2]] = if cfg!(miri) {
        &[[17, 20]]
    } else {
        &[[1, 600], [3, 200], [200, 3], [17, 20], [70, 131], [129, 65]]
    };
    for &tier in tiers() {
        for from in WIDTHS {
            for to in WIDTHS {
                let plan = CastPlan::with_tier(from, to, &CastOptions::RUST, tier).unwrap();
                for shape in shapes {
                    for ways in 0..if cfg!(miri) { 2 } else { 16 } {
                        let order = if ways & 1 == 0 { [0, 1] } else { [1, 0] };
                        let step = |back| if back { Step::Back(0) } else { Step::Over(0) };
                        let gaps = if ways & 8 == 0 { step(ways & 4 != 0) } else { Step::Over(12) };
                        let source = layout(from.into(), shape, &order, &[step(ways & 2 != 0), gaps], 0);
                        let destination = layout(to.into(), shape, &[1, 0], &[Step::Over(0); 2], 1);
                        check(&plan, source, destination);
                    }
                }
            }
        }
    }
}

/// Rows that share blocks, rows of several blocks and packed rows that end inside a byte of the mask, all with losses.
#[test]
fn losses() {
    let nibbles = Encoding::packed(DType::Int4);
    for &tier in tiers() {
        for (from, to) in [
            (DType::Float32.into(), DType::Int8.into()),
            (DType::Complex64.into(), DType::Float16.into()),
            (nibbles, DType::UInt8.into()),
            (DType::Int8.into(), Encoding::packed(DType::UInt2)),
            (nibbles, Encoding::packed(DType::UInt4)),
            (Encoding::packed(DType::Float6E2M3FN), Encoding::packed(DType::Float4E2M1FN)),
        ] {
            let plan = CastPlan::with_tier(from, to, &CastOptions::RUST, tier).unwrap();
            for shape in [[3, 700], [300, 7], [2, 513], [9, 64], [1, 5000]] {
                for gap in [0, 3] {
                    let source = layout(from, &shape, &[1, 0], &[Step::Over(gap), Step::Over(gap)], 0);
                    let turned = layout(from, &shape, &[0, 1], &[Step::Over(gap), Step::Back(0)], 0);
                    let destination = layout(to, &shape, &[1, 0], &[Step::Over(gap), Step::Over(0)], 1);
                    check_losses(&plan, source, destination.clone());
                    if from.storage() == Storage::Byte {
                        check_losses(&plan, turned, destination);
                    }
                }
            }
        }
    }
}

/// Few elements are lost, none or nearly all: the first of them in C order may come late in memory.
#[test]
fn few_losses() {
    use DType::*;
    let swapped = |dtype: DType| {
        let other = if ByteOrder::NATIVE == ByteOrder::Little { ByteOrder::Big } else { ByteOrder::Little };
        Encoding::new(dtype).with_order(other)
    };
    let mut rng = Rng(3);
    for &tier in tiers() {
        for (from, to, bad) in [
            (Float32.into(), Int8.into(), 1e9),
            (swapped(Float32), Int8.into(), f32::NAN),
            (Float32.into(), swapped(Float16), 1e9),
            (Int8.into(), UInt64.into(), -3.0),
            (UInt16.into(), Int8.into(), 300.0),
            (Float64.into(), BFloat16.into(), f32::NAN),
            (Float64.into(), Float16.into(), -1e30),
            (Complex128.into(), Complex64.into(), f32::INFINITY),
            (Complex64.into(), Float8E4M3FN.into(), 1e9),
            (Encoding::packed(Int4), Encoding::packed(UInt2), -1.0),
            (Int16.into(), Encoding::packed(Int2), 7.0),
        ] {
            let plan = CastPlan::with_tier(from, to, &CastOptions::RUST, tier).unwrap();
            let fill = CastPlan::new(Float32, from, &CastOptions::RUST).unwrap();
            let packed = [from, to].map(|side| side.storage() == Storage::Packed);
            for (shape, src_order, dst_order, repeated) in [
                (vec![150, 192], [0, 1, 2], [1, 0, 2], None),
                (vec![150, 192], [1, 0, 2], [0, 1, 2], None),
                (vec![7, 90, 40], [1, 0, 2], [2, 1, 0], None),
                (vec![40, 64, 3], [2, 1, 0], [0, 1, 2], None),
                (vec![3, 50, 60], [2, 1, 0], [2, 1, 0], Some(0)),
                (vec![50, 3, 60], [2, 1, 0], [2, 1, 0], Some(1)),
                (vec![50, 60, 130], [2, 1, 0], [2, 1, 0], Some(2)),
                (vec![2, 3, 4000], [2, 0, 1], [2, 1, 0], None),
            ] {
                for (odds, back) in [(9000, false), (9000, true), (3, true)] {
                    let axes = shape.len();
                    let step = if back { Step::Back(0) } else { Step::Over(0) };
                    let ordered =
                        |order: [usize; 3]| order.into_iter().filter(|i| *i < axes).collect::<Vec<_>>();
                    let mut base = shape.clone();
                    if let Some(axis) = repeated.filter(|axis| !(packed[0] && axis + 1 == axes)) {
                        base[axis] = 1;
                    }
                    let (layout_of, len) =
                        layout(from, &base, &ordered(src_order), &[step, Step::Over(0), step], 3);
                    let n = layout_of.elements();
                    let values: Vec<f32> = (0..n)
                        .map(
                            |i| if (rng.bits() as usize).is_multiple_of(odds) { bad } else { (i % 2) as f32 },
                        )
                        .collect();
                    let mut src = vec![0; len];
                    let view = View::from_slice(&values, &base).unwrap();
                    fill.run(&view, &mut ViewMut::new(&mut src, layout_of.clone()).unwrap()).unwrap();
                    let source = layout_of.broadcast(&shape).unwrap();
                    let steps = [Step::Over(5), step, Step::Over(0)];
                    let destination = layout(to, &shape, &ordered(dst_order), &steps, 1);
                    check_losses_of(&plan, &src, source, destination);
                }
            }
        }
    }
}

/// Several threads find what one finds.
#[cfg(feature = "rayon")]
#[test]
fn losses_over_threads() {
    use lanecast::Threads;
    let mut rng = Rng(5);
    for (from, to) in [
        (DType::Float32.into(), DType::Int8.into()),
        (DType::Int16.into(), Encoding::packed(DType::Int4)),
        (Encoding::packed(DType::Int4), DType::UInt8.into()),
    ] {
        let plan = CastPlan::new(from, to, &CastOptions::RUST).unwrap();
        let fill = CastPlan::new(DType::Float32, from, &CastOptions::RUST).unwrap();
        for shape in [[1, 300_001], [301, 1003], [70_001, 5]] {
            for odds in [usize::MAX, 150_000, 3] {
                let order = if from.storage() == Storage::Packed { [1, 0] } else { [0, 1] };
                let (source, read) = layout(from, &shape, &order, &[Step::Back(2), Step::Over(0)], 1);
                let (to, written) = layout(to, &shape, &[1, 0], &[Step::Over(0); 2], 0);
                let n = source.elements();
                let lost =
                    |rng: &mut Rng| if (rng.bits() as usize).is_multiple_of(odds) { -5.0 } else { 1.0 };
                let values: Vec<f32> = (0..n).map(|_| lost(&mut rng)).collect();
                let (mut src, mut dst) = (vec![0; read], vec![0; written]);
                let all = View::from_slice(&values, &shape).unwrap();
                fill.run(&all, &mut ViewMut::new(&mut src, source.clone()).unwrap()).unwrap();
                let view = View::new(&src, source).unwrap();
                let (checked, counted) = (plan.checked(Level::Range), plan.checked(Level::Range));
                let mut masks = [vec![PATTERN; n.div_ceil(8)], vec![PATTERN; n.div_ceil(8)]];
                let threads = || Threads::Rayon;
                let mut out = ViewMut::new(&mut dst, to).unwrap();
                let one = checked.run_masked(&view, &mut out, &mut masks[0]);
                assert_eq!(checked.with_threads(threads()).run_masked(&view, &mut out, &mut masks[1]), one);
                assert!(masks[0] == masks[1], "{plan:?}, {shape:?}");
                let one = counted.run_counted(&view, &mut out);
                assert_eq!(counted.with_threads(threads()).run_counted(&view, &mut out), one);
                let one = checked.run(&view, &mut out);
                assert_eq!(checked.with_threads(threads()).run(&view, &mut out), one);
            }
        }
    }
}

/// What is found in place, and what is refused.
#[test]
fn losses_in_place() {
    let plan = CastPlan::new(DType::Float32, DType::Int16, &CastOptions::RUST).unwrap();
    let mut values: Vec<f32> = (0..1500).map(|i| if i % 700 == 650 { 1e9 } else { i as f32 }).collect();
    let start = values.as_mut_ptr().cast::<u8>();
    let at = |dtype: DType| Layout::new(dtype, &[1500], &[4]).unwrap();
    // SAFETY: the elements of one vector, read and written by nobody else while the views exist; `run` checks how the two
    // lie to each other.
    let (view, mut out) = unsafe {
        (View::from_raw(start, at(DType::Float32)), ViewMut::from_raw(start, at(DType::Int16)).unwrap())
    };
    let report = plan.checked(Level::Range).run_counted(&view, &mut out).unwrap();
    assert_eq!(report.to_string(), "1500 elements, saturated 2");
    let low =
        |x: f32| if cfg!(target_endian = "little") { x.to_bits() as i16 } else { (x.to_bits() >> 16) as i16 };
    assert_eq!([0, 649, 650, 1499].map(|i| low(values[i])), [0, 649, i16::MAX, 1499]);
    let mut short = [0; 3];
    let (src, mut out) = ([1.0_f32; 30], [0_i16; 30]);
    let view = View::from_slice(&src, &[30]).unwrap();
    let mut out = ViewMut::from_slice(&mut out, &[30]).unwrap();
    let refused = plan.checked(Level::Range).run_masked(&view, &mut out, &mut short);
    assert_eq!(refused, Err(CastError::ValidityTooSmall { need: 4, have: 3 }));
}

/// Planes, rows, columns and single elements that are repeated.
#[test]
fn repeats() {
    for &tier in tiers() {
        for (from, to) in
            [(DType::Float64, DType::Float16), (DType::UInt8, DType::Complex128), (DType::Int32, DType::Int8)]
        {
            let plan = CastPlan::with_tier(from, to, &CastOptions::RUST, tier).unwrap();
            for kept in 0..8_usize {
                let shape = [5, 6, 70];
                let one: Vec<usize> = (0..3).map(|i| if kept >> i & 1 == 0 { 1 } else { shape[i] }).collect();
                let small = Layout::contiguous(from, &one).unwrap();
                let wide = small.broadcast(&shape).unwrap();
                let destination = layout(to.into(), &shape, &[2, 1, 0], &[Step::Over(0); 3], 0);
                check(&plan, (wide, small.elements() * size(from)), destination);
            }
        }
    }
}

/// Long runs with gaps are written with non-temporal stores as contiguous buffers are.
#[test]
fn past_the_caches() {
    for &tier in tiers() {
        let plan = CastPlan::with_tier(DType::Float32, DType::Float16, &CastOptions::RUST, tier).unwrap();
        let plan = plan.with_streaming(Streaming::Always);
        let shape = [3, if cfg!(miri) { 100 } else { 5000 }];
        let source = layout(DType::Float32.into(), &shape, &[1, 0], &[Step::Over(40), Step::Over(0)], 4);
        let destination = layout(DType::Float16.into(), &shape, &[1, 0], &[Step::Over(6), Step::Over(0)], 2);
        check(&plan, source, destination);
        if cfg!(miri) || tier.name() == "scalar" {
            continue;
        }
        // Tiles of whole lines, after some elements before the first line; narrower elements and wider ones.
        for (from, to) in [(DType::Float32, DType::Float16), (DType::UInt8, DType::Float32)] {
            let plan = CastPlan::with_tier(from, to, &CastOptions::RUST, tier).unwrap();
            let shape = [1300, 1024];
            for offset in [0, 1, 4, 20, 64] {
                let source = layout(from.into(), &shape, &[0, 1], &[Step::Over(0); 2], 0);
                let destination = layout(to.into(), &shape, &[1, 0], &[Step::Over(0); 2], offset);
                check(&plan.with_streaming(Streaming::Always), source, destination);
            }
        }
    }
}

/// Packed rows with bytes between them, against bytes in every order.
#[test]
fn packed_rows() {
    for &tier in tiers() {
        for dtype in [DType::Int2, DType::UInt4, DType::Float4E2M1FN, DType::Float6E3M2FN] {
            for from in storages(dtype) {
                for to in storages(dtype).into_iter().chain([DType::Float32.into()]) {
                    let plan = CastPlan::with_tier(from, to, &CastOptions::RUST, tier).unwrap();
                    for shape in [[3, 5], [2, 700], [4, 8]] {
                        for (gap, order) in [(0, [1, 0]), (3, [1, 0]), (0, [0, 1])] {
                            let steps = [Step::Over(gap), Step::Over(0)];
                            let source = layout(from, &shape, &order, &steps, 1);
                            check(&plan, source, layout(to, &shape, &[1, 0], &steps, 0));
                        }
                    }
                }
            }
        }
    }
}

/// Every element becomes its own result at its own place.
#[test]
fn in_place() {
    let narrower = |from, to| size(to) <= size(from);
    for &tier in tiers() {
        for (from, to) in WIDTHS.iter().flat_map(|from| WIDTHS.map(|to| (*from, to))) {
            let plan = CastPlan::with_tier(from, to, &CastOptions::RUST, tier).unwrap();
            let gap = 16 - size(if narrower(from, to) { from } else { to });
            for order in [[0, 1], [1, 0]] {
                for steps in [[Step::Over(gap), Step::Over(gap)], [Step::Back(0), Step::Over(gap)]] {
                    let widest = if narrower(from, to) { from } else { to };
                    let (place, len) = layout(widest.into(), &[23, 41], &order, &steps, 3);
                    let at = |dtype: DType| {
                        Layout::new(dtype, place.shape(), place.strides())
                            .unwrap()
                            .with_offset(place.offset())
                    };
                    let start = noise(len + 7, 3);
                    let mut buffer = start.clone();
                    plan.run_within(&mut buffer, &at(from), &at(to)).expect("each to its own place");
                    assert_eq!(
                        buffer,
                        one_by_one(&plan, &start, &at(from), &start, &at(to)),
                        "{plan:?} {place:?}"
                    );
                }
            }
        }
    }
}

/// Columns of one table: nothing is shared, though the bytes from the first to the last are.
#[test]
fn side_by_side() {
    let plan = CastPlan::new(DType::Float32, DType::Float64, &CastOptions::RUST).unwrap();
    let start = noise(100 * 12, 5);
    let mut table = start.clone();
    let (from, to) = (
        Layout::new(DType::Float32, &[100], &[12]).unwrap(),
        Layout::new(DType::Float64, &[100], &[12]).unwrap().with_offset(4),
    );
    plan.run_within(&mut table, &from, &to).expect("side by side");
    assert_eq!(table, one_by_one(&plan, &start, &from, &start, &to));
}

/// The parts of a split view are all of it.
#[test]
fn parts() {
    let shape = [6, 10, 33];
    let steps = [Step::Over(0), Step::Back(3), Step::Over(0)];
    let plan = CastPlan::new(DType::Float32, DType::Float16, &CastOptions::RUST).unwrap();
    for axis in 0..3 {
        for at in [0, 1, shape[axis] / 2, shape[axis]] {
            let (from, read) = layout(DType::Float32.into(), &shape, &[0, 1, 2], &steps, 5);
            let (to, written) = layout(DType::Float16.into(), &shape, &[2, 0, 1], &steps, 2);
            let (src, start) = (noise(read, 1), vec![PATTERN; written + 9]);
            let mut dst = start.clone();
            let views = View::new(&src, from.clone()).unwrap().split(axis, at).unwrap();
            let (mut low, mut high) = ViewMut::new(&mut dst, to.clone()).unwrap().split(axis, at).unwrap();
            plan.run(&views.1, &mut high).unwrap();
            plan.run(&views.0, &mut low.reborrow()).unwrap();
            assert_eq!(dst, one_by_one(&plan, &src, &from, &start, &to), "{axis} at {at}");
        }
    }
    let nibbles = Layout::contiguous(Encoding::packed(DType::Int4), &[7]).unwrap();
    let bytes = [0; 4];
    let view = View::new(&bytes, nibbles).unwrap();
    assert_eq!(view.clone().split(0, 3).unwrap_err(), ViewError::PackedRows { elements: 3 });
    assert_eq!(
        view.clone().split(0, 4).map(|(a, b)| (a.layout().elements(), b.layout().elements())).unwrap(),
        (4, 3)
    );
    assert!(view.clone().split(1, 0).is_err() && view.split(0, 8).is_err());
}

/// What cannot be cast is refused, and nothing is written.
#[test]
fn refusals() {
    let plan = CastPlan::new(DType::Float32, DType::Float16, &CastOptions::RUST).unwrap();
    let src = [0_u8; 64];
    let mut dst = [PATTERN; 64];
    let floats =
        |shape: &[usize]| View::new(&src, Layout::contiguous(DType::Float32, shape).unwrap()).unwrap();
    let mut run = |src: &View<'_>, to: Layout| {
        plan.run(src, &mut ViewMut::new(&mut dst, to).unwrap()).unwrap_err().to_string()
    };
    let halves = |shape: &[usize]| Layout::contiguous(DType::Float16, shape).unwrap();
    assert_eq!(
        run(&floats(&[4]), halves(&[2, 2])),
        "the source has 1 axes and the destination 2; repeat the source with `broadcast`"
    );
    assert_eq!(
        run(&floats(&[2, 3]), halves(&[2, 4])),
        "axis 1 has 3 elements in the source and 4 in the destination; repeat the source with `broadcast`"
    );
    let bytes = Layout::contiguous(DType::UInt8, &[4]).unwrap();
    assert_eq!(run(&floats(&[4]), bytes), "a view of uint8 for a cast of float16");
    assert_eq!(dst, [PATTERN; 64]);
    assert_eq!(
        View::new(&src, Layout::contiguous(DType::Float32, &[17]).unwrap()).unwrap_err().to_string(),
        "the elements lie in the bytes 0..68 of a buffer of 64 bytes"
    );
    let back = Layout::new(DType::Float32, &[3], &[-4]).unwrap();
    assert!(matches!(
        View::new(&src, back.clone().with_offset(4)),
        Err(ViewError::OutOfBounds { low: -4, .. })
    ));
    assert!(View::new(&src, back.clone().with_offset(8)).is_ok());
    assert!(matches!(View::new(&src, back.with_offset(usize::MAX)), Err(ViewError::OutOfBounds { .. })));
    let repeated = Layout::new(DType::Float16, &[4, 3], &[0, 2]).unwrap();
    assert_eq!(ViewMut::new(&mut dst, repeated).unwrap_err(), ViewError::Repeated { axis: 0 });
    let mut buffer = [1_u8; 64];
    let (from, to) = (Layout::contiguous(DType::Float32, &[4]).unwrap(), halves(&[4]));
    assert_eq!(
        plan.run_within(&mut buffer, &from, &to.clone().with_offset(2)),
        Err(CastError::Overlap { src: 0..16, dst: 2..10 })
    );
    assert!(plan.run_within(&mut buffer, &from.with_offset(52), &to).is_err());
    assert_eq!(buffer, [1; 64]);
}
