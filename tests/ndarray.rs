//! Arrays of `ndarray` against a loop over their elements.

#![cfg(feature = "ndarray")]

use lanecast::{
    AsType, CastError,
    half::f16,
    strided::{MAX_AXES, ViewError},
};
use ndarray::{Array, Array3, ArrayD, Axis, IxDyn, ShapeBuilder, s};

fn halves(array: &Array3<f32>) -> Array3<f16> {
    array.mapv(f16::from_f32)
}

/// Slices, steps, turned and reversed axes, repeats.
#[test]
fn any_view() {
    let all = Array3::from_shape_fn((5, 70, 9), |(i, j, k)| i as f32 * 100.0 + j as f32 - k as f32 * 0.125);
    let want = halves(&all);
    assert_eq!(all.astype::<f16>().unwrap(), want);
    assert_eq!(all.t().astype::<f16>().unwrap(), want.t());
    let part = s![1..;2, ..;-1, ..;3];
    assert_eq!(all.slice(part).astype::<f16>().unwrap(), want.slice(part));
    let swapped = all.view().permuted_axes([1, 2, 0]);
    assert_eq!(swapped.astype::<f16>().unwrap(), want.view().permuted_axes([1, 2, 0]));
    let row = all.slice(s![2, 3, ..]);
    let wide = row.broadcast((4, 9)).unwrap();
    assert_eq!(wide.astype::<f16>().unwrap(), want.slice(s![2, 3, ..]).broadcast((4, 9)).unwrap());
    let empty = all.slice(s![..0, .., ..]);
    assert_eq!(empty.astype::<u8>().unwrap().shape(), [0, 70, 9]);
}

/// The order of the source is kept if it is one of the two.
#[test]
fn order() {
    let fortran = Array::<f32, _>::zeros((3, 4).f());
    assert_eq!(fortran.astype::<f64>().unwrap().strides(), [1, 3]);
    assert_eq!(fortran.t().astype::<f64>().unwrap().strides(), [3, 1]);
    assert_eq!(fortran.slice(s![..2, ..]).astype::<f64>().unwrap().strides(), [4, 1]);
}

#[test]
fn into_a_part_of_another() {
    let all = Array3::from_shape_fn((2, 3, 4), |(i, j, k)| (i * 100 + j * 10 + k) as u8);
    let mut table = Array3::<i64>::from_elem((4, 3, 9), -1);
    all.view().cast_into(&mut table.slice_mut(s![1..3, ..;-1, 1..;2])).unwrap();
    for ((i, j, k), value) in table.indexed_iter() {
        let inside = (1..3).contains(&i) && k % 2 == 1;
        let want = if inside { i64::from(all[[i - 1, 2 - j, k / 2]]) } else { -1 };
        assert_eq!(*value, want, "{i} {j} {k}");
    }
    let wrong = all.view().cast_into(&mut table.slice_mut(s![1..3, .., ..]));
    assert!(matches!(wrong, Err(CastError::View(ViewError::LengthMismatch { axis: 2, src: 4, dst: 9 }))));
    let deep = ArrayD::<f32>::zeros(IxDyn(&[1; MAX_AXES + 1]));
    assert!(matches!(deep.astype::<f16>(), Err(CastError::View(ViewError::TooManyAxes { axes: 65 }))));
    let mut flipped = deep.remove_axis(Axis(0));
    flipped.invert_axis(Axis(3));
    assert!(flipped.astype::<f16>().is_ok());
}
