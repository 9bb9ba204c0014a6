//! `use lanecast::*` beside `use ndarray::*`: no name that users write is ambiguous.
#![cfg(feature = "ndarray")]

use lanecast::*;
use ndarray::*;

#[test]
fn both_globs() {
    // Types of both crates, and paths through the other one.
    let table: Array2<f32> = ndarray::array![[1.0, 2.5], [300.0, -1.0]];
    let bytes: ArrayD<u8> = table.view().into_dyn().astype().expect("few axes");
    assert_eq!(bytes, Array::from_elem(IxDyn(&[2, 2]), 0) + arr2(&[[1, 2], [255, 0]]));
    let wrapped: Array2<u8> = CastOptions::NUMPY.astype(&table.slice(s![.., ..;-1])).expect("few axes");
    assert_eq!(wrapped, aview2(&[[2, 1], [255, 44]]));
    let mut turned = Array::from_elem((2, 2).f(), half::f16::ZERO);
    let rounded = CastOptions::RUST.with_float_round(FloatRound::Up);
    rounded.cast_array(&table.t(), &mut turned.view_mut()).expect("equal shapes");
    assert_eq!(turned[[1, 0]].to_f32(), 2.5);

    let view = strided::View::try_from(table.view()).expect("few axes");
    assert_eq!(view.layout().shape(), table.shape());
    let _lock = crate::support::every_tier::lock();
    let plan: Result<CastPlan, CastError> = CastPlan::new(DType::Float32, DType::Int8, &CastOptions::RUST);
    assert_eq!(plan.expect("a plan").tier(), tier::active());
    let mut sums = Array1::<f32>::zeros(2);
    Zip::from(&mut sums).and(table.axis_iter(Axis(0))).for_each(|sum, row| *sum = row.sum());
    let mut out = [0_i8; 2];
    cast(sums.as_slice().expect("contiguous"), &mut out).expect("equal lengths");
    assert_eq!(out, [3, 127]);
    let (kind, side, storage) = (Kind::Float, Side::Source, Storage::Packed);
    assert_eq!(format!("{kind:?} {side} {storage:?}"), "Float source Packed");
}
