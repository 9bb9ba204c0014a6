//! Arrays of any layout, their random samples, and the loop over elements that casts are held to.

use crate::support::{rng::Rng, size};
use lanecast::strided::Layout;
use lanecast::{ByteOrder, CastOptions, CastPlan, DType, Encoding, Storage, Tier};
use lanecast::{Bytes, BytesMut};
use proptest::prelude::*;

/// What stands between the elements of a destination.
pub const PATTERN: u8 = 0xA5;

/// How an axis lies in a buffer.
#[derive(Clone, Copy, Debug)]
pub enum Step {
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
pub fn layout(
    buffer: Encoding,
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
    let packed = layout.encoding().storage() == Storage::Packed;
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
pub fn one_by_one(plan: &CastPlan, src: &[u8], from: &Layout, dst: &[u8], to: &Layout) -> Vec<u8> {
    let mut out = dst.to_vec();
    let one = |buffer: Encoding| Encoding::new(buffer.dtype()).with_order(buffer.order());
    let cast = CastPlan::with_tier(one(plan.source()), one(plan.target()), &CastOptions::RUST, Tier::Scalar)
        .unwrap();
    // Packed elements are taken out and put in bit by bit.
    let bits = |buffer: Encoding, at: usize, i: usize| {
        let width = buffer.bits_per_element() as usize;
        (i * width..(i + 1) * width).map(move |bit| (at + bit / 8, bit % 8))
    };
    for row in places(to).iter().filter(|(_, i)| *i == 0 && to.encoding().storage() == Storage::Packed) {
        let len = *to.shape().last().unwrap_or(&1);
        out[row.0..][..to.encoding().byte_len(len).unwrap()].fill(0);
    }
    for ((read, i), (written, j)) in places(from).into_iter().zip(places(to)) {
        let element = match from.encoding().storage() {
            Storage::Byte => src[read..][..size(from.encoding().dtype())].to_vec(),
            Storage::Packed => {
                let bits = bits(from.encoding(), read, i).enumerate();
                vec![bits.fold(0, |code, (k, (byte, bit))| code | (src[byte] >> bit & 1) << k)]
            }
        };
        let mut result = [0; 16];
        cast.run(Bytes::new(&element, 1), BytesMut::new(&mut result, 1)).unwrap();
        match to.encoding().storage() {
            Storage::Byte => {
                let size = size(to.encoding().dtype());
                out[written..][..size].copy_from_slice(&result[..size]);
            }
            Storage::Packed => {
                for (k, (byte, bit)) in bits(to.encoding(), written, j).enumerate() {
                    out[byte] |= (result[0] >> k & 1) << bit;
                }
            }
        }
    }
    out
}

pub fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut rng = Rng(seed);
    (0..len).map(|_| rng.bits() as u8).collect()
}

pub fn buffer() -> impl Strategy<Value = Encoding> {
    (0..DType::ALL.len(), any::<bool>(), any::<bool>()).prop_map(|(i, packed, swapped)| {
        let dtype = DType::ALL[i];
        let order = match (swapped, ByteOrder::NATIVE) {
            (false, native) => native,
            (true, ByteOrder::Little) => ByteOrder::Big,
            (true, ByteOrder::Big) => ByteOrder::Little,
        };
        if packed { Encoding::packed(dtype) } else { Encoding::new(dtype).with_order(order) }
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
pub fn side(source: bool) -> impl Strategy<Value = ([u8; 5], [Step; 5], usize)> {
    (any::<[u8; 5]>(), [axis(source), axis(source), axis(source), axis(source), axis(source)], 0..70_usize)
}

pub fn order(keys: [u8; 5], axes: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..axes).collect();
    order.sort_by_key(|axis| keys[*axis]);
    order
}
