//! Arrays of any layout: the law is that of a loop over elements.
//!
//! Random shapes, orders of axes, gaps, directions, repeats, offsets, byte orders, storages and dtypes are held to a loop that casts
//! one element after the other, in a destination full of a pattern that must be left alone between the elements. Then
//! the layouts that have loops of their own, for all widths of elements, on all tiers.

mod oracle;
mod support;

use lanecast::strided::{Layout, View, ViewError, ViewMut};
use lanecast::{BufferType, ByteOrder, CastError, CastOptions, CastPlan, DType, Storage, Streaming, Tier};
use proptest::prelude::*;
use support::{rng::Rng, size, storages, tiers::tiers};

/// What stands between the elements of a destination.
const PATTERN: u8 = 0xA5;

/// How an axis lies in a buffer.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Over all that the axes inside it reach, and so many bytes more.
    Over(usize),
    /// The same, downwards.
    Back(usize),
    /// Nowhere: the element is repeated.
    Stay,
    /// So many bytes, whatever the elements take.
    Free(isize),
}

/// A layout with the axes nested in the order given, the first the innermost, from `offset` on; and the bytes of a buffer for it.
fn layout(
    buffer: BufferType,
    shape: &[usize],
    order: &[usize],
    steps: &[Step],
    offset: usize,
) -> (Layout, usize) {
    let mut strides = vec![0_isize; shape.len()];
    let packed = buffer.storage() == Storage::Packed;
    let mut reach = match shape.last() {
        Some(last) if packed => buffer.byte_len(*last).unwrap(),
        _ => size(buffer.dtype()),
    };
    // Downwards and in all.
    let (mut below, mut above) = (0, reach);
    for &axis in order {
        if packed && axis + 1 == shape.len() {
            strides[axis] = 1;
            continue;
        }
        let further = shape[axis].saturating_sub(1);
        strides[axis] = match steps[axis] {
            Step::Over(gap) => (reach + gap) as isize,
            Step::Back(gap) => -((reach + gap) as isize),
            Step::Stay => 0,
            Step::Free(step) => step,
        };
        let way = strides[axis].unsigned_abs() * further;
        if strides[axis] < 0 {
            below += way
        } else {
            above += way
        }
        reach += way;
    }
    let layout = Layout::new(buffer, shape, &strides).expect("a good layout");
    (layout.with_offset(offset + below), offset + below + above)
}

/// The bytes of all elements from the start of the buffer, with the number of the element along the last axis if that is packed, in
/// C order.
fn places(layout: &Layout) -> Vec<(usize, usize)> {
    let packed = layout.buffer().storage() == Storage::Packed;
    let mut all = vec![(layout.offset() as isize, 0)];
    for (axis, (len, stride)) in layout.shape().iter().zip(layout.strides()).enumerate() {
        let last = packed && axis + 1 == layout.shape().len();
        all = all
            .iter()
            .flat_map(|(at, _)| {
                (0..*len).map(move |i| if last { (*at, i) } else { (at + i as isize * stride, 0) })
            })
            .collect();
    }
    all.iter().map(|(at, i)| (*at as usize, *i)).collect()
}

/// The destination as a loop over elements leaves it.
fn one_by_one(plan: &CastPlan, src: &[u8], from: &Layout, dst: &[u8], to: &Layout) -> Vec<u8> {
    let mut out = dst.to_vec();
    let one = |buffer: BufferType| BufferType::new(buffer.dtype()).with_order(buffer.order());
    let cast =
        CastPlan::with_tier(one(plan.from()), one(plan.to()), &CastOptions::RUST, Tier::Scalar).unwrap();
    // Packed elements are taken out and put in bit by bit.
    let bits = |buffer: BufferType, at: usize, i: usize| {
        let width = buffer.bits_per_element() as usize;
        (i * width..(i + 1) * width).map(move |bit| (at + bit / 8, bit % 8))
    };
    for row in places(to).iter().filter(|(_, i)| *i == 0 && to.buffer().storage() == Storage::Packed) {
        let len = *to.shape().last().unwrap_or(&1);
        out[row.0..][..to.buffer().byte_len(len).unwrap()].fill(0);
    }
    for ((read, i), (written, j)) in places(from).into_iter().zip(places(to)) {
        let element = match from.buffer().storage() {
            Storage::Byte => src[read..][..size(from.buffer().dtype())].to_vec(),
            Storage::Packed => {
                let bits = bits(from.buffer(), read, i).enumerate();
                vec![bits.fold(0, |code, (k, (byte, bit))| code | (src[byte] >> bit & 1) << k)]
            }
        };
        let mut result = [0; 16];
        cast.run(&element, &mut result, 1).unwrap();
        match to.buffer().storage() {
            Storage::Byte => {
                let size = size(to.buffer().dtype());
                out[written..][..size].copy_from_slice(&result[..size]);
            }
            Storage::Packed => {
                for (k, (byte, bit)) in bits(to.buffer(), written, j).enumerate() {
                    out[byte] |= (result[0] >> k & 1) << bit;
                }
            }
        }
    }
    out
}

fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut rng = Rng(seed);
    (0..len).map(|_| rng.bits() as u8).collect()
}

/// Casts between two layouts and holds the whole buffer to the loop over elements.
fn check(plan: &CastPlan, (from, read): (Layout, usize), (to, written): (Layout, usize)) {
    let src = noise(read, 7);
    let start = vec![PATTERN; written + 9];
    let mut dst = start.clone();
    let view = View::new(&src, from).expect("inside");
    plan.run_strided(&view, &mut ViewMut::new(&mut dst, to).expect("inside, apart")).expect("the same shape");
    let want = one_by_one(plan, &src, &from, &start, &to);
    if let Some(at) = (0..dst.len()).find(|i| dst[*i] != want[*i]) {
        panic!("{plan:?}, {from:?} -> {to:?}: byte {at} is {:#x}, not {:#x}", dst[at], want[at]);
    }
}

fn buffer() -> impl Strategy<Value = BufferType> {
    (0..DType::ALL.len(), any::<bool>(), any::<bool>()).prop_map(|(i, packed, swapped)| {
        let dtype = DType::ALL[i];
        let order = match (swapped, ByteOrder::NATIVE) {
            (false, native) => native,
            (true, ByteOrder::Little) => ByteOrder::Big,
            (true, ByteOrder::Big) => ByteOrder::Little,
        };
        if packed { BufferType::packed(dtype) } else { BufferType::new(dtype).with_order(order) }
    })
}

fn axis(source: bool) -> impl Strategy<Value = Step> {
    let gap = prop_oneof![4 => Just(0_usize), 1 => 1..9_usize, 1 => Just(64_usize)];
    let upwards = gap.clone().prop_map(Step::Over);
    let downwards = gap.prop_map(Step::Back);
    let stay = Just(Step::Stay);
    let free = (-20..20_isize).prop_map(Step::Free);
    // Elements of a source may share bytes.
    let rare = u32::from(source);
    prop_oneof![6 => upwards, 2 => downwards, rare => stay, rare => free]
}

/// One side: the order of the axes, by sorting keys, and their steps.
fn side(source: bool) -> impl Strategy<Value = ([u8; 5], [Step; 5], usize)> {
    (any::<[u8; 5]>(), [axis(source), axis(source), axis(source), axis(source), axis(source)], 0..70_usize)
}

fn order(keys: [u8; 5], axes: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..axes).collect();
    order.sort_by_key(|axis| keys[*axis]);
    order
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
            check(&plan, source, destination);
        }
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
                    plan.run_strided_within(&mut buffer, &at(from), &at(to)).expect("each to its own place");
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
    plan.run_strided_within(&mut table, &from, &to).expect("side by side");
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
            let views = View::new(&src, from).unwrap().split(axis, at).unwrap();
            let (mut low, mut high) = ViewMut::new(&mut dst, to).unwrap().split(axis, at).unwrap();
            plan.run_strided(&views.1, &mut high).unwrap();
            plan.run_strided(&views.0, &mut low.reborrow()).unwrap();
            assert_eq!(dst, one_by_one(&plan, &src, &from, &start, &to), "{axis} at {at}");
        }
    }
    let nibbles = Layout::contiguous(BufferType::packed(DType::Int4), &[7]).unwrap();
    let bytes = [0; 4];
    let view = View::new(&bytes, nibbles).unwrap();
    assert_eq!(view.split(0, 3).unwrap_err(), ViewError::PackedRows { elements: 3 });
    assert_eq!(
        view.split(0, 4).map(|(a, b)| (a.layout().elements(), b.layout().elements())).unwrap(),
        (4, 3)
    );
    assert!(view.split(1, 0).is_err() && view.split(0, 8).is_err());
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
        plan.run_strided(src, &mut ViewMut::new(&mut dst, to).unwrap()).unwrap_err().to_string()
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
    assert!(matches!(View::new(&src, back.with_offset(4)), Err(ViewError::OutOfBounds { low: -4, .. })));
    assert!(View::new(&src, back.with_offset(8)).is_ok());
    assert!(matches!(View::new(&src, back.with_offset(usize::MAX)), Err(ViewError::OutOfBounds { .. })));
    let repeated = Layout::new(DType::Float16, &[4, 3], &[0, 2]).unwrap();
    assert_eq!(ViewMut::new(&mut dst, repeated).unwrap_err(), ViewError::Repeated { axis: 0 });
    let mut buffer = [1_u8; 64];
    let (from, to) = (Layout::contiguous(DType::Float32, &[4]).unwrap(), halves(&[4]));
    assert_eq!(
        plan.run_strided_within(&mut buffer, &from, &to.with_offset(2)),
        Err(CastError::Overlap { src: 0..16, dst: 2..10 })
    );
    assert!(plan.run_strided_within(&mut buffer, &from.with_offset(52), &to).is_err());
    assert_eq!(buffer, [1; 64]);
}
