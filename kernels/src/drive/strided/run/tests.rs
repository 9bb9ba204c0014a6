//! Casts between views, element by element, on the scalar tier.

use super::*;
use crate::{arch::Tier, dtype::DType, exact::Rules};
use alloc::{vec, vec::Vec};

fn kernel(from: Encoding, to: Encoding) -> Kernel {
    Kernel::new(Tier::Scalar, from, to, &Rules::common(to.dtype(), true)).expect("scalar")
}

/// Casts between two layouts of two axes, the last axis packed or not, and compares element by element.
fn check(from: Layout, to: Layout) {
    let kernel = kernel(from.encoding(), to.encoding());
    let len = |layout: &Layout| {
        let span = layout.span().expect("small");
        layout.offset() + span.end as usize
    };
    let src: Vec<u8> = (0..len(&from)).map(|i| (i * 37 + i / 256) as u8).collect();
    let mut dst = vec![0xA5; len(&to) + 3];
    let view = View::new(&src, from.clone()).expect("inside");
    kernel.run_strided(&view, &mut ViewMut::new(&mut dst, to.clone()).expect("inside")).expect("alike");
    let mut want = vec![0xA5; len(&to) + 3];
    let [rows, cols] = [0, 1].map(|axis| from.shape()[axis]);
    let place = |layout: &Layout, row: usize, col: usize| {
        let [y, x] = [0, 1].map(|axis| layout.strides()[axis]);
        layout.offset().wrapping_add_signed(row as isize * y + col as isize * x)
    };
    for row in 0..rows {
        // A packed row is cast as a whole.
        let packed = from.encoding().is_packed();
        for col in 0..if packed { 1 } else { cols } {
            let n = if packed { cols } else { 1 };
            let (s, d) = (&src[place(&from, row, col)..], &mut want[place(&to, row, col)..]);
            kernel.run(s, d, n).expect("inside");
        }
    }
    assert_eq!(dst, want, "{from:?} -> {to:?}");
}

#[test]
fn all_ways() {
    let layout = |of: Encoding, shape: [usize; 2], strides: [isize; 2], offset: usize| {
        Layout::new(of, &shape, &strides).expect("a good layout").with_offset(offset)
    };
    let (wide, half, byte) = (DType::Float32.into(), DType::Float16.into(), DType::UInt8.into());
    let high = if cfg!(miri) { 9 } else { 70 };
    // Runs; a transposition that casts or transposes first; few elements of one axis; blocks of one plane and of parts of a row; repeats.
    check(layout(wide, [2, 80], [330, 4], 0), layout(half, [2, 80], [170, 2], 1));
    check(layout(wide, [high, 20], [4, 300], 0), layout(half, [high, 20], [40, 2], 0));
    check(layout(byte, [high, 20], [1, 75], 0), layout(wide, [high, 20], [81, 4], 0));
    check(layout(wide, [high, 20], [4, 300], 0), layout(half, [high, 20], [84, 4], 0));
    check(layout(wide, [3, 30], [4, 12], 0), layout(half, [3, 30], [60, 2], 0));
    check(layout(wide, [5, 7], [30, -4], 24), layout(half, [5, 7], [15, 2], 0));
    check(layout(wide, [1, 600], [0, 8], 0), layout(half, [1, 600], [0, 3], 0));
    check(layout(wide, [6, 9], [4, 0], 0), layout(half, [6, 9], [18, 2], 0));
    check(layout(wide, [6, 9], [0, 4], 0), layout(half, [6, 9], [18, 2], 0));
    let nibbles = Encoding::packed(DType::Int4);
    check(layout(nibbles, [3, 7], [5, 1], 0), layout(byte, [3, 7], [7, 1], 0));
}

#[test]
fn in_place() {
    let kernel = kernel(DType::Float32.into(), DType::Float16.into());
    let mut buffer: Vec<u8> = (0..200).map(|i| (i * 37) as u8).collect();
    let mut want = buffer.clone();
    for i in 0..25 {
        let mut out = [0; 2];
        kernel.run(&buffer[8 * i..], &mut out, 1).expect("inside");
        want[8 * i..][..2].copy_from_slice(&out);
    }
    let at = |dtype: DType| Layout::new(dtype, &[25], &[8]).expect("a good layout");
    let start = buffer.as_mut_ptr();
    // SAFETY: both lie in the buffer, which nothing else accesses; the cast checks how they relate to each other.
    let (src, dst) =
        unsafe { (View::from_raw(start, at(DType::Float32)), ViewMut::from_raw(start, at(DType::Float16))) };
    kernel.run_strided(&src, &mut dst.expect("apart")).expect("each to its own place");
    assert_eq!(buffer, want);
}
