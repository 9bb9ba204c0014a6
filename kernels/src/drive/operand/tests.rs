//! Tests small enough for Miri; `tests/operands.rs` of the root crate tests every operand with every outcome.

use super::*;
use crate::{
    DType, Encoding, Kernel, Rules, Tier,
    drive::strided::{Layout, View, ViewMut},
};
use alloc::{vec, vec::Vec};
use core::ptr;

fn kernel(from: DType, to: DType) -> Kernel {
    let rules = Rules::common(to, true);
    Kernel::new(Tier::Scalar, from.into(), to.into(), &rules).expect("scalar")
}

#[test]
fn direct_runs() {
    let kernel = kernel(DType::Float32, DType::Int8);
    let (src, mut out) = ([1.5_f32, -300.0, 7.0], [0_i8; 3]);
    assert!(kernel.run_direct(&(&src).into(), &mut (&mut out).into()));
    assert_eq!(out, [1, -128, 7]);
    let mut memory = Vec::<i8>::with_capacity(3);
    let mut uninit = Uninit::new(memory.spare_capacity_mut());
    assert!(kernel.run_direct(&(&src).into(), &mut Target::from(&mut uninit)));
    assert_eq!(uninit.written(), [1, -128, 7]);
    // Bytes at an odd address; only the elements' own bytes are written.
    let mut bytes = vec![9];
    bytes.extend(src.iter().flat_map(|x| x.to_ne_bytes()));
    let mut memory = Vec::<u8>::with_capacity(5);
    let mut uninit = Uninit::new(&mut memory.spare_capacity_mut()[..5]);
    let dst = BytesMut::uninit(&mut uninit, 3);
    assert!(kernel.run_direct(&Bytes::new(&bytes[1..], 3).into(), &mut dst.into()));
    assert_eq!(uninit.written(), [1, 0x80, 7]);
    // `operands` reports operands that do not fit.
    assert!(!kernel.run_direct(&(&src).into(), &mut (&mut out[1..]).into()));
    assert!(!kernel.run_direct(&(&[1_i32; 3]).into(), &mut (&mut out).into()));
    assert!(!kernel.run_direct(&Bytes::new(&bytes, 4).into(), &mut BytesMut::new(&mut [0; 4], 4).into()));
}

#[test]
fn appended() {
    let kernel = kernel(DType::Int8, DType::Int32);
    let mut out = vec![5];
    let run = |src: &[i8], out: &mut Vec<i32>, n: usize| {
        append(out, n, |mut dst| if kernel.run_direct(&src.into(), &mut dst) { Ok(()) } else { Err(()) })
    };
    assert_eq!(run(&[1, -2], &mut out, 2), Ok(()));
    assert_eq!(run(&[1, -2], &mut out, 3), Err(()));
    assert_eq!(append(&mut out, 4, |_| Ok::<_, ()>(())), Ok(()), "nothing was written");
    assert_eq!(out, [5, 1, -2]);
}

#[test]
fn resolved() {
    let kernel = kernel(DType::Int16, DType::Int8);
    let values = [1_i16, 2, 3, 4, 5, 600];
    let view = View::from_slice(&values, &[2, 3]).expect("inside").transposed();
    // A view to bytes that are not initialised, in C order.
    let mut memory = Vec::<u8>::with_capacity(6);
    let mut uninit = Uninit::new(&mut memory.spare_capacity_mut()[..6]);
    let dst = BytesMut::uninit(&mut uninit, 6);
    let Ok((Operands::Views(src, mut dst), written)) = kernel.operands((&view).into(), dst.into()) else {
        panic!("a view and bytes of its shape")
    };
    kernel.run_strided(&src, &mut dst).expect("apart");
    // SAFETY: the cast has written all elements.
    unsafe { written.all() };
    assert_eq!(uninit.written(), [1, 4, 2, 5, 3, 127]);
    // A slice to a view.
    let mut out = [0_i8; 6];
    let mut turned = ViewMut::from_slice(&mut out, &[3, 2]).expect("inside");
    let Ok((Operands::Views(src, mut dst), _)) = kernel.operands((&values).into(), (&mut turned).into())
    else {
        panic!("a slice and a view")
    };
    kernel.run_strided(&src, &mut dst).expect("apart");
    assert_eq!(out, [1, 2, 3, 4, 5, 127]);
    // Split as threads do.
    let many = [3_i16; 20];
    let mut out = [0_i8; 20];
    let Ok((Operands::Flat(flat), _)) = kernel.operands((&many).into(), (&mut out).into()) else {
        panic!("slices")
    };
    let (low, high) = flat.split(8, (16, 8));
    for part in [high, low] {
        kernel.run_uninit(part.src, part.dst, part.n).expect("whole elements");
    }
    assert_eq!(out, [3; 20]);
}

#[test]
fn in_place() {
    let kernel = kernel(DType::Int16, DType::Int32);
    let mut buffer = vec![0; 20];
    buffer[..10].copy_from_slice([1_i16, -1, 3, -4, 5].map(i16::to_ne_bytes).as_flattened());
    fn resolve<'a>(kernel: &Kernel, dst: BytesMut<'a>) -> Result<InPlaceBytes<'a>, OperandError> {
        match kernel.operands(InPlace.into(), dst.into())?.0 {
            Operands::InPlace(bytes) => Ok(bytes),
            other => panic!("{other:?}"),
        }
    }
    let mut bytes = resolve(&kernel, BytesMut::new(&mut buffer, 5)).expect("room");
    let (from, to) = (kernel.source(), kernel.target());
    assert_eq!(bytes.read(from, 0, 2), Some([1_i16, -1].map(i16::to_ne_bytes).as_flattened()));
    assert_eq!((bytes.read(from, 0, 6), bytes.read(from, 1, 1)), (None, None));
    assert_eq!(bytes.write(to, 0, 5).map(|memory| memory.len()), Some(20));
    assert_eq!(bytes.run(&self::kernel(DType::Int16, DType::Int64)), None, "there is no room for these");
    assert_eq!(bytes.run(&kernel), Some(()));
    assert_eq!(buffer, [1_i32, -1, 3, -4, 5].map(i32::to_ne_bytes).as_flattened());
    let short = resolve(&kernel, BytesMut::new(&mut buffer, 6)).err();
    assert_eq!(short, Some(OperandError::Bytes { target: true, need: 24, have: 20 }));
    // SAFETY: there are no elements.
    let mut none = resolve(&kernel, unsafe { BytesMut::from_raw(ptr::null_mut(), 0, 0) }).expect("nothing");
    assert_eq!(none.read(from, 0, 0), Some(&[][..]));
    assert_eq!(none.run(&kernel), Some(()));
    let mut memory = Vec::<u8>::with_capacity(20);
    let mut uninit = Uninit::new(memory.spare_capacity_mut());
    assert_eq!(resolve(&kernel, BytesMut::uninit(&mut uninit, 5)).err(), Some(OperandError::NotBytes));
    let nowhere = Layout::contiguous(Encoding::new(DType::Int16), &[5]).expect("small");
    assert!(nowhere.check_bounds(9).is_err() && nowhere.check_bounds(10).is_ok());
}
