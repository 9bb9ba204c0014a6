//! Nodes and tensors that are refused, with messages that say what to do.

use super::floats;
use lanecast::onnx::{
    AttributeValue, DequantizeLinear, DynamicQuantizeLinear, LinearAttributes, OnnxError, QuantizeLinear,
    Tensor,
};
use lanecast::{CastError, DType, Side};

const NONE: &LinearAttributes = &LinearAttributes::NONE;

fn quantize(
    opset: u32,
    types: (DType, DType),
    zero_point: Option<DType>,
    attributes: &LinearAttributes,
) -> String {
    match QuantizeLinear::new(opset, types.0, types.1, zero_point, attributes) {
        Ok(node) => panic!("{node:?}"),
        Err(error) => error.to_string(),
    }
}

fn dequantize(opset: u32, types: (DType, DType), zero_point: Option<DType>) -> String {
    match DequantizeLinear::new(opset, types.0, types.1, zero_point, NONE) {
        Ok(node) => panic!("{node:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn nodes() {
    use DType::{Float8E8M0FNU, Float16, Float32, Int8, Int32, UInt8};
    let cases = [
        (
            quantize(9, (Float32, Float32), None, NONE),
            "opset 9 has no QuantizeLinear, which begins with opset 10",
        ),
        (
            quantize(13, (Float16, Float32), None, NONE),
            "QuantizeLinear-13 does not take float16; opset 19 is the first that does",
        ),
        (
            quantize(23, (Float32, Float8E8M0FNU), None, NONE),
            "QuantizeLinear-23 does not take float8_e8m0fnu as a scale; opset 24 is the first that does",
        ),
        (
            quantize(21, (Float32, Float16), None, NONE),
            "the scale of QuantizeLinear-21 has the dtype of its input, which is float32, but is float16; opset 23 is \
             the first where they may differ so",
        ),
        (
            quantize(19, (Float32, Float32), Some(DType::Int4), NONE),
            "QuantizeLinear-19 does not give int4; opset 21 is the first that does",
        ),
        (
            quantize(21, (Float32, Float32), Some(Int8), &NONE.with_output_dtype(UInt8)),
            "the zero point is int8 but the quantized elements are uint8: make them equal",
        ),
        (
            quantize(21, (Float32, Float32), None, &NONE.with_output_dtype(Float32)),
            "QuantizeLinear-21 does not give float32; no version of QuantizeLinear does",
        ),
        (
            quantize(21, (Float32, Float32), None, &NONE.with_precision(Float16)),
            "QuantizeLinear-21 has no attribute \"precision\"; opset 23 is the first that has it",
        ),
        (
            quantize(23, (Float32, Float32), None, &NONE.with_precision(Int32)),
            "the attribute precision has to be FLOAT (1), FLOAT16 (10), DOUBLE (11) or BFLOAT16 (16)",
        ),
        (
            dequantize(13, (DType::Int16, Float32), None),
            "DequantizeLinear-13 does not take int16; opset 21 is the first that does",
        ),
        (
            dequantize(13, (UInt8, Float32), Some(Int8)),
            "the zero point is int8 but the quantized elements are uint8: make them equal",
        ),
        (
            dequantize(24, (UInt8, Float8E8M0FNU), None),
            "the attribute output_dtype has to be given, since the scale is float8_e8m0fnu: FLOAT (1), FLOAT16 (10) or \
             BFLOAT16 (16)",
        ),
    ];
    for (got, want) in cases {
        assert_eq!(got, want);
    }
    let dynamic = DynamicQuantizeLinear::new(10).map(|_| ()).map_err(|error| error.to_string());
    assert_eq!(dynamic, Err("opset 10 has no DynamicQuantizeLinear, which begins with opset 11".into()));
}

#[test]
fn attributes() {
    use AttributeValue::{Int, Other, String};
    let node = |name: &str, value| QuantizeLinear::from_attributes(25, 1, 1, None, &[(name, value)]);
    let bad = [
        ("axis", String(b"1")),
        ("block_size", Int(-1)),
        ("block_size", Other),
        ("output_dtype", String(b"UINT8")),
        ("output_dtype", Int(8)),
        ("precision", Other),
        ("precision", Int(2)),
        ("saturate", Int(2)),
    ];
    for (name, value) in bad {
        let error = node(name, value).expect_err("refused");
        assert!(
            matches!(error, OnnxError::AttributeValue { name: n, .. } if n == name),
            "{name} {value:?}: {error}"
        );
        assert!(error.to_string().contains(name));
    }
    for code in [99, -1, 1 << 40] {
        assert_eq!(node("output_dtype", Int(code)).map(|_| ()), Err(OnnxError::UnknownCode(code)));
    }
    assert!(matches!(node("to", Int(1)), Err(OnnxError::NoAttribute { since: None, .. })));
    for name in ["axis", "block_size", "output_dtype", "precision", "saturate"] {
        let twice = [(name, Int(1)), (name, Int(1))];
        let error = QuantizeLinear::from_attributes(25, 1, 1, None, &twice).map(|_| ());
        assert_eq!(error, Err(OnnxError::Twice(name)));
    }
    // Text is no type of these operators, and 0 is none at all.
    assert!(matches!(QuantizeLinear::from_attributes(25, 8, 1, None, &[]), Err(OnnxError::Type { .. })));
    assert!(matches!(DequantizeLinear::from_attributes(25, 2, 8, None, &[]), Err(OnnxError::Type { .. })));
    assert!(matches!(DequantizeLinear::from_attributes(25, 2, 0, None, &[]), Err(OnnxError::UnknownCode(0))));
    assert!(matches!(DynamicQuantizeLinear::from_attributes(11, 10, &[]), Err(OnnxError::Type { .. })));
}

#[test]
fn tensors() {
    let float = DType::Float32;
    let node = QuantizeLinear::new(21, float, float, Some(DType::Int8), NONE).expect("a node");
    let blocked = NONE.with_block_size(2);
    let blocks = QuantizeLinear::new(21, float, float, Some(DType::Int8), &blocked).expect("a node");
    let old = QuantizeLinear::new(10, float, float, Some(DType::Int8), NONE).expect("a node");
    let bytes = floats(&[1.0; 6]);
    let refused = |node: &QuantizeLinear, scale: &[usize], zero: Option<&[usize]>, lengths: [usize; 4]| {
        let mut y = [0xA5; 7];
        let x = Tensor::new(&[2, 3], &bytes[..lengths[0]]);
        let zero = zero.map(|shape| Tensor::new(shape, &bytes[..lengths[2]]));
        let result = node.run(x, Tensor::new(scale, &bytes[..lengths[1]]), zero, &mut y[..lengths[3]]);
        assert_eq!(y, [0xA5; 7], "nothing is written");
        result.expect_err("refused").to_string()
    };
    let cases = [
        (
            refused(&node, &[2], Some(&[2]), [24, 8, 2, 6]),
            "the scale has the shape [2] but needs [3]: one scale for each index of the axis, or a scalar; scales of \
             blocks need the attribute block_size",
        ),
        (
            refused(&blocks, &[2, 3], Some(&[2, 3]), [24, 24, 6, 6]),
            "the scale has the shape [2, 3] but needs [2, 2]: one scale for each block of block_size elements along the \
             axis, or a scalar",
        ),
        (
            refused(&old, &[3], Some(&[3]), [24, 12, 3, 6]),
            "the scale has the shape [3] but needs []: before opset 13 the tensor has one scale, a scalar",
        ),
        (
            refused(&node, &[3], Some(&[]), [24, 12, 1, 6]),
            "the zero point has the shape [] but needs [3]: that of the scale",
        ),
        (
            refused(&node, &[], None, [24, 4, 0, 6]),
            "the node has a zero point, which is missing here; give its tensor",
        ),
        (
            refused(&node, &[], Some(&[]), [23, 4, 1, 6]),
            "the input has 23 bytes, but its shape and dtype need 24",
        ),
        (
            refused(&node, &[], Some(&[]), [24, 5, 1, 6]),
            "the scale has 5 bytes, but its shape and dtype need 4",
        ),
        (
            refused(&node, &[], Some(&[]), [24, 4, 2, 6]),
            "the zero point has 2 bytes, but its shape and dtype need 1",
        ),
        (
            refused(&node, &[], Some(&[]), [24, 4, 1, 7]),
            "the output has 7 bytes, but its shape and dtype need 6",
        ),
    ];
    for (got, want) in cases {
        assert_eq!(got, want);
    }
    let plain = QuantizeLinear::new(21, float, float, None, NONE).expect("a node");
    assert_eq!(
        refused(&plain, &[], Some(&[]), [24, 4, 1, 6]),
        "the node was made without a zero point; make it with the dtype of the zero point"
    );
    let far = QuantizeLinear::new(21, float, float, Some(DType::Int8), &NONE.with_axis(2)).expect("a node");
    assert_eq!(
        refused(&far, &[3], Some(&[3]), [24, 12, 3, 6]),
        "the attribute axis is 2, but the input has 2 axes: from -2 to 1 are possible"
    );
    let one = floats(&[1.0]);
    let error = node.run(Tensor::scalar(&one), Tensor::new(&[2], &bytes[..8]), None, &mut [0]);
    assert_eq!(
        error.expect_err("refused").to_string(),
        "the attribute axis is 1, but the input is a scalar: give one scale"
    );
    let huge = [usize::MAX, 2];
    let error = plain.run(Tensor::new(&huge, &[]), Tensor::scalar(&one), None, &mut []);
    assert_eq!(error, Err(OnnxError::TooLarge(huge.into())));
    let large = [usize::MAX / 2];
    let error = plain.run(Tensor::new(&large, &[]), Tensor::scalar(&one), None, &mut []);
    assert!(matches!(error, Err(OnnxError::Cast(CastError::TooLarge { .. }))));

    let node = DequantizeLinear::new(13, DType::Int32, float, Some(DType::Int32), NONE).expect("a node");
    let zeros: Vec<u8> = [0_i32, 0, 7].iter().flat_map(|zero| zero.to_le_bytes()).collect();
    let (x, scale) = (Tensor::new(&[2, 3], &bytes), Tensor::new(&[3], &bytes[..12]));
    let error = node.run(x, scale, Some(Tensor::new(&[3], &zeros)), &mut [0; 24]).expect_err("refused");
    assert_eq!(error, OnnxError::NotZero { dtype: DType::Int32, index: 2 });
    assert_eq!(
        error.to_string(),
        "zero point 2 is not 0, as it has to be for int32; leave the zero point out"
    );

    let dynamic = DynamicQuantizeLinear::new(11).expect("a node");
    for (x, y, which, need, have) in [(11, 3, Side::Source, 12, 11), (12, 2, Side::Destination, 3, 2)] {
        let error = dynamic.run(&bytes[..x], &mut vec![0; y], 3);
        assert_eq!(error, Err(OnnxError::Cast(CastError::BufferTooSmall { which, need, have })));
    }
    assert!(matches!(
        dynamic.run(&[], &mut [], usize::MAX),
        Err(OnnxError::Cast(CastError::TooLarge { .. }))
    ));
}

/// Ones are as good as a scalar, and an empty input has no output.
#[test]
fn single_scales_and_empty_inputs() {
    let float = DType::Float32;
    let node = QuantizeLinear::new(13, float, float, Some(DType::UInt8), NONE).expect("a node");
    let (x, one) = (floats(&[1.0, 2.5, -4.0]), floats(&[1.0]));
    for shapes in [[&[][..], &[]], [&[1], &[]], [&[], &[1]], [&[1, 1], &[1]]] {
        let mut y = [0xA5; 3];
        let zero = Tensor::new(shapes[1], &[9]);
        node.run(Tensor::new(&[3], &x), Tensor::new(shapes[0], &one), Some(zero), &mut y).expect("fits");
        assert_eq!(y, [10, 11, 5], "{shapes:?}");
    }
    let empty = Tensor::new(&[2, 0], &[]);
    assert_eq!(node.run(empty, empty, Some(empty), &mut []).expect_err("not a scale").to_string(), {
        "the scale has the shape [2, 0] but needs [0]: one scale for each index of the axis, or a scalar; scales of \
         blocks need the attribute block_size"
    });
    let none = Tensor::new(&[0], &[]);
    assert_eq!(node.run(empty, none, Some(none), &mut []), Ok(()));
}
