//! `QuantizeLinear`, `DequantizeLinear` and `DynamicQuantizeLinear` against ONNX: the schemas of every version, the answers of its
//! reference evaluator, whose faults are named here, and of onnxruntime; and an oracle of the arithmetic.
#![cfg(feature = "onnx")]

#[path = "onnx/linear_errors.rs"]
mod errors;
#[path = "onnx/linear_oracle.rs"]
mod random;

use crate::oracle::packed;
use crate::support::data::{ditto_rows, dtype, rows};
use crate::support::every_tier::on_every_tier;
use crate::{oracle, support};
use lanecast::DType;
use lanecast::onnx::{
    AttributeValue, DequantizeLinear, DynamicQuantizeLinear, DynamicScale, ElementType, LinearAttributes,
    OnnxError, Operator, Port, QuantizeLinear, Tensor,
};

const NONE: &LinearAttributes = &LinearAttributes::NONE;

/// One of the two nodes.
#[expect(clippy::large_enum_variant, reason = "two of a kind, in a test")]
enum Node {
    Quantize(QuantizeLinear),
    Dequantize(DequantizeLinear),
}

impl Node {
    /// A node from the numbers of its types and its attributes.
    fn new(
        operator: Operator,
        opset: u32,
        [x, scale]: [DType; 2],
        zero_point: Option<DType>,
        attributes: &[(&str, AttributeValue<'_>)],
    ) -> Result<Self, OnnxError> {
        let (x, scale, zero_point) = (number(x), number(scale), zero_point.map(number));
        Ok(match operator {
            Operator::QuantizeLinear => {
                Node::Quantize(QuantizeLinear::from_attributes(opset, x, scale, zero_point, attributes)?)
            }
            Operator::DequantizeLinear => {
                Node::Dequantize(DequantizeLinear::from_attributes(opset, x, scale, zero_point, attributes)?)
            }
            other => panic!("{other}"),
        })
    }

    /// The output, of which there are so many elements.
    fn run(
        &self,
        n: usize,
        x: Tensor<'_>,
        scale: Tensor<'_>,
        zero: Option<Tensor<'_>>,
    ) -> Result<Vec<u8>, OnnxError> {
        let to = match self {
            Node::Quantize(node) => node.target(),
            Node::Dequantize(node) => node.target(),
        };
        let mut y = vec![0xA5; packed::byte_len(to, n)];
        match self {
            Node::Quantize(node) => node.run(x, scale, zero, &mut y)?,
            Node::Dequantize(node) => node.run(x, scale, zero, &mut y)?,
        }
        Ok(y)
    }
}

fn number(dtype: DType) -> i32 {
    ElementType::from(dtype).code().unwrap_or_else(|| panic!("ONNX has no {dtype}"))
}

fn operators() -> [Operator; 3] {
    [Operator::QuantizeLinear, Operator::DequantizeLinear, Operator::DynamicQuantizeLinear]
}

fn operator(name: &str) -> Operator {
    operators().into_iter().find(|o| o.to_string() == name).unwrap_or_else(|| panic!("{name}"))
}

/// Operator, version, attributes, types of the input, the scale and the output.
type Schema = (Operator, u32, Vec<&'static str>, [Vec<DType>; 3]);

/// The rows of `onnx_linear_types.tsv`.
fn schemas() -> Vec<Schema> {
    let words = |cell: &'static str| cell.split(' ').filter(|word| *word != "-");
    let dtype = |name| ElementType::from_name(name).and_then(ElementType::dtype).expect("a type of numbers");
    rows(data!("onnx_linear_types.tsv"))[1..]
        .iter()
        .map(|row| {
            let types = [3, 4, 5].map(|i| words(row[i]).map(dtype).collect());
            (operator(row[0]), row[1].parse().expect("a version"), words(row[2]).collect(), types)
        })
        .collect()
}

#[test]
fn versions_and_types_are_those_of_the_schemas() {
    for operator in operators() {
        let versions: Vec<u32> = schemas().iter().filter(|s| s.0 == operator).map(|s| s.1).collect();
        assert_eq!(operator.versions(), versions);
        for (port, index) in [(Port::Input, 0), (Port::Scale, 1), (Port::Output, 2)] {
            for &dtype in DType::ALL {
                let has = |schema: &&Schema| schema.3[index].contains(&dtype);
                let all = schemas();
                let first = all.iter().filter(|schema| schema.0 == operator).find(has).map(|schema| schema.1);
                assert_eq!(operator.since_on(port, dtype), first, "{operator} {port:?} {dtype}");
            }
            assert_eq!(operator.since_on(port, ElementType::String), None);
        }
    }
    // Of the combinations that the types of 19 and 21 leave, those with equal types of input and scale are there.
    let mut made = 0;
    for (operator, version, _, [inputs, scales, outputs]) in schemas() {
        for &x in DType::ALL {
            for &scale in DType::ALL {
                let quantize = QuantizeLinear::new(version, x, scale, None, NONE);
                let dequantize = DequantizeLinear::new(version, x, scale, None, NONE);
                let fits = inputs.contains(&x) && scales.contains(&scale);
                match operator {
                    Operator::QuantizeLinear => {
                        let equal = !(19..23).contains(&version) || x == scale;
                        assert_eq!(quantize.is_ok(), fits && equal, "{operator}-{version} {x} {scale}");
                        made += usize::from(quantize.is_ok());
                    }
                    Operator::DequantizeLinear => {
                        let given = outputs.contains(&scale);
                        assert_eq!(dequantize.is_ok(), fits && given, "{operator}-{version} {x} {scale}");
                        made += usize::from(dequantize.is_ok());
                    }
                    _ => {}
                }
            }
        }
    }
    assert_eq!(
        made,
        2 + 2 + 4 + 4 + 16 + 20 + 20 + 20 + 3 + 3 + 7 * 3 + 11 * 3 + 12 * 3 * 2 + 14 * 3 + 16 * 3
    );
}

/// The table of versions in `docs/scaled.md`, which is that of `QuantizeLinear`, and the differences of `DequantizeLinear` below it.
#[test]
fn the_document_says_the_same() {
    let (_, section) = include_str!("../docs/scaled.md").split_once("\n## ONNX\n").expect("the section");
    let (_, table) = section.split_once("|---|---|---|---|---|\n").expect("the table");
    let (table, _) = table.split_once("\n\n").expect("its end");
    let (quantize, dequantize) = (Operator::QuantizeLinear, Operator::DequantizeLinear);
    let mut versions = Vec::new();
    for row in table.lines() {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let names = |i: usize| {
            let names = cells[i].split(", ").filter(|name| !name.is_empty());
            names.map(|name| name.trim_matches('`')).collect::<Vec<_>>()
        };
        let version: u32 = cells[0].parse().expect("a version");
        for (index, port) in [(1, Port::Input), (2, Port::Scale), (3, Port::Output)] {
            let mut want = DType::ALL.to_vec();
            want.retain(|dtype| quantize.since_on(port, *dtype) == Some(version));
            let mut got: Vec<DType> = names(index).into_iter().map(dtype).collect();
            got.sort_by_key(|dtype| DType::ALL.iter().position(|other| other == dtype));
            assert_eq!(got, want, "version {version}, {port:?}");
        }
        let all = schemas();
        let attributes = |version| {
            let older = all.iter().rfind(|schema| schema.0 == quantize && schema.1 <= version);
            older.map_or(Vec::new(), |schema| schema.2.clone())
        };
        let mut added = attributes(version);
        added.retain(|name| !attributes(version - 1).contains(name));
        assert_eq!(names(4), added, "version {version}");
        versions.push(version);
    }
    assert_eq!(quantize.versions(), versions);
    for &dtype in DType::ALL {
        let quantized = dequantize.since_on(Port::Input, dtype);
        let scale = dequantize.since_on(Port::Scale, dtype);
        match dtype {
            DType::Int32 => assert_eq!((quantized, scale), (Some(10), None)),
            _ => {
                assert_eq!(quantized, quantize.since_on(Port::Output, dtype), "{dtype}");
                assert_eq!(scale, quantize.since_on(Port::Scale, dtype), "{dtype}");
            }
        }
    }
}

#[test]
fn attributes_are_those_of_the_schemas() {
    let attributes = [("axis", 1), ("block_size", 0), ("output_dtype", 0), ("precision", 0), ("saturate", 1)];
    for (operator, version, names, _) in schemas() {
        for (name, value) in attributes {
            let given = [(name, AttributeValue::Int(value))];
            let result = match operator {
                Operator::DynamicQuantizeLinear => {
                    DynamicQuantizeLinear::from_attributes(version, 1, &given).map(|_| ())
                }
                Operator::QuantizeLinear => {
                    QuantizeLinear::from_attributes(version, 1, 1, None, &given).map(|_| ())
                }
                _ => DequantizeLinear::from_attributes(version, 2, 1, None, &given).map(|_| ()),
            };
            let all = schemas();
            let since = all.iter().find(|s| s.0 == operator && s.2.contains(&name)).map(|s| s.1);
            match names.contains(&name) {
                true => assert_eq!(result, Ok(()), "{operator}-{version} {name}"),
                false => {
                    let name = name.into();
                    assert_eq!(result, Err(OnnxError::NoAttribute { operator, version, name, since }));
                }
            }
        }
    }
}

/// The nodes of `onnx_linear.tsv`. Where quotients are NaN the evaluator's integers are undefined, and ours are the zero point.
///
/// Two faults of the evaluator are known among them. It converts quotients of 2^31 and more through `int32`, so that they become the
/// wrong end of the range: the table has the right end. And it takes `float8_e8m0fnu` scales in opset 23, whose schema does not.
#[test]
fn golden_nodes() {
    let mut data: &[u8] = include_bytes!("data/onnx_linear.bin");
    let (mut quantized, mut dequantized, mut refused) = (0, 0, 0);
    let mut inputs = [Vec::new(), Vec::new(), Vec::new()];
    for row in &ditto_rows(data!("onnx_linear.tsv"))[1..] {
        let [op, case, opset, words, x, x_shape, scale, scale_shape, zero, y, same] = row[..] else {
            panic!("{row:?}")
        };
        let shape = |text: &str| -> Vec<usize> {
            let lengths = text.split('x').filter(|len| !len.is_empty());
            lengths.map(|len| len.parse().expect("a length")).collect()
        };
        let (x_shape, scale_shape) = (shape(x_shape), shape(scale_shape));
        let counts = [x_shape.iter().product(), scale_shape.iter().product::<usize>()];
        let mut take = |dtype, n| {
            let (tensor, rest) = data.split_at(packed::byte_len(dtype, n));
            data = rest;
            tensor.to_vec()
        };
        let dtypes = [(x, counts[0], 'x'), (scale, counts[1], 's'), (zero, counts[1], 'z')];
        for ((name, n, letter), tensor) in dtypes.into_iter().zip(&mut inputs) {
            if !name.is_empty() && !same.contains(letter) {
                *tensor = take(dtype(name), n);
            }
        }
        let want = take(dtype(y), counts[0]);

        let attributes: Vec<_> = words
            .split(' ')
            .filter(|word| !word.is_empty())
            .map(|word| {
                let (name, value) = word.split_once('=').expect("a value");
                let value = match name {
                    "output_dtype" | "precision" => number(dtype(value)).into(),
                    _ => value.parse().expect("a number"),
                };
                (name, AttributeValue::Int(value))
            })
            .collect();
        let types = [dtype(x), dtype(scale)];
        let zero_type = (!zero.is_empty()).then(|| dtype(zero));
        let mut opset: u32 = opset.parse().expect("an opset");
        if opset == 23 && scale == "e8m0" {
            let refusal = Node::new(operator(op), opset, types, zero_type, &attributes).err();
            assert!(
                matches!(refusal, Some(OnnxError::Type { port: Port::Scale, since: Some(24), .. })),
                "{row:?}"
            );
            (opset, refused) = (24, refused + 1);
        }
        let node = Node::new(operator(op), opset, types, zero_type, &attributes);
        let node = node.unwrap_or_else(|e| panic!("{row:?}: {e}"));
        match &node {
            Node::Quantize(_) => quantized += 1,
            Node::Dequantize(_) => dequantized += 1,
        }
        let [x, scale, zero] = &inputs;
        let zero_point = zero_type.map(|_| Tensor::new(&scale_shape, zero));
        let (x, scale) = (Tensor::new(&x_shape, x), Tensor::new(&scale_shape, scale));
        on_every_tier(|tier| {
            let got = node.run(counts[0], x, scale, zero_point);
            assert_eq!(got.as_ref(), Ok(&want), "{op} {case} {opset} on {tier} {row:?}");
        });
    }
    assert_eq!((quantized, dequantized, refused, data.len()), (878, 609, 3, 0));
}

fn floats(x: &[f32]) -> Vec<u8> {
    x.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// A node without attributes on one row of elements, with one scale and one zero point, or none.
fn row(
    operator: Operator,
    opset: u32,
    (x, elements): (DType, &[u8]),
    (scale, factor): (DType, &[u8]),
    zero: Option<(DType, &[u8])>,
) -> Result<Vec<u8>, OnnxError> {
    let n = elements.len() * 8 / oracle::width(x) as usize;
    let node = Node::new(operator, opset, [x, scale], zero.map(|(dtype, _)| dtype), &[])?;
    let zero = zero.map(|(_, zero)| Tensor::scalar(zero));
    node.run(n, Tensor::new(&[n], elements), Tensor::scalar(factor), zero)
}

/// Quotients of float16 are rounded to float16; onnxruntime 1.31.1 divides in float32 and gives 31, as `docs/scaled.md` says.
#[test]
fn quotients_of_float16() {
    let (half, eight_and_a_quarter, scale) =
        (DType::Float16, 0x4820_u16.to_le_bytes(), 0x3431_u16.to_le_bytes());
    let zero = Some((DType::Int8, &[0][..]));
    assert_eq!(
        row(Operator::QuantizeLinear, 25, (half, &eight_and_a_quarter), (half, &scale), zero),
        Ok(vec![32])
    );
    let (float, x, scale) = (DType::Float32, floats(&[8.25]), floats(&[1073.0 / 4096.0]));
    assert_eq!(row(Operator::QuantizeLinear, 25, (float, &x), (float, &scale), zero), Ok(vec![31]));
    let page = include_str!("../docs/scaled.md");
    assert!(page.contains(
        "8.25 by the scale 0.261962890625 is 31.49301 in `float32`, which becomes 31, and 31.5 in `float16`"
    ));
}

/// What ReferenceEvaluator of onnx 1.23.2 answers, and why this is a fault by the text of the operators.
#[test]
fn faults_of_the_reference_evaluator() {
    let (quantize, dequantize) = (Operator::QuantizeLinear, Operator::DequantizeLinear);
    let (float, one) = (DType::Float32, floats(&[1.0]));
    // It converts the quotient to int32, which wraps: [0, 0, 0].
    let x = floats(&[3e9, -3e9, f32::INFINITY]);
    assert_eq!(row(quantize, 13, (float, &x), (float, &one), None), Ok(vec![255, 0, 255]));
    // It divides in the wider dtype; by the text the dtype of the scale is the precision, here float16: 1.
    let x = floats(&[0.50001]);
    assert_eq!(row(quantize, 23, (float, &x), (DType::Float16, &[0x00, 0x3C]), None), Ok(vec![0]));
    // It divides int32 by float32 in float64; the precision is float32, in which 16777217 is 16777216: 1.
    let x = 16_777_217_i32.to_le_bytes();
    let scale = floats(&[33_554_432.0]);
    assert_eq!(row(quantize, 13, (DType::Int32, &x), (float, &scale), None), Ok(vec![0]));
    // It takes dtypes of inputs that the version does not have, here scales of float16 for a float32 input in opset 21.
    let refusal = row(quantize, 21, (float, &one), (DType::Float16, &[0x00, 0x3C]), None);
    assert!(matches!(refusal, Err(OnnxError::ScaleType { version: 21, since: 23, .. })), "{refusal:?}");
    // It does not subtract zero points of float4_e2m1fn, which by the text are subtracted: 2.
    let (four, zero) = (DType::Float4E2M1FN, [0x02]);
    let got = row(dequantize, 23, (four, &[0x44]), (float, &one), Some((four, &zero)));
    assert_eq!(got, Ok(floats(&[1.0, 1.0])));
    // It adds them in QuantizeLinear, as the text has it, so that -0 becomes 0.
    let got = row(quantize, 23, (float, &floats(&[2.0, -0.0])), (float, &one), Some((four, &zero)));
    assert_eq!(got, Ok(vec![0x25]));
    // It ignores zero points of 8-bit floats in QuantizeLinear, and refuses those that are not 0 in DequantizeLinear.
    let eight = DType::Float8E4M3FN;
    let refused = Err(OnnxError::NotZero { dtype: eight, index: 0 });
    assert_eq!(row(quantize, 19, (float, &one), (float, &one), Some((eight, &[0x38]))), refused);
    assert_eq!(row(dequantize, 19, (eight, &[0x38]), (float, &one), Some((eight, &[0x38]))), refused);
    // It multiplies in float32 and then rounds to the output; not a fault, but since opset 23 the text has the precision of the
    // output, in which 65535 would be infinite. onnxruntime agrees with the evaluator, and so do we.
    let (scale, x) = ([0x00, 0x1C], 65535_u16.to_le_bytes());
    let got = row(dequantize, 21, (DType::UInt16, &x), (DType::Float16, &scale), None);
    assert_eq!(got, Ok(vec![0x00, 0x5C]));
    // Its DynamicQuantizeLinear of zeros has the scale 1/255; the formula gives 0, onnxruntime 1.
    let zeros = DynamicQuantizeLinear::new(11).and_then(|node| node.run(&[0; 12], &mut [1; 3], 3));
    assert_eq!(zeros, Ok(DynamicScale { scale: 1.0, zero_point: 0 }));
}

#[test]
fn dynamic_scales_of_onnxruntime() {
    let node = DynamicQuantizeLinear::new(25).expect("a node");
    assert_eq!(node.version(), 11);
    let mut tested = 0;
    for row in &rows(data!("onnx_dynamic.tsv"))[1..] {
        let code = |digits: &str| f32::from_bits(support::data::code(DType::Float32, digits) as u32);
        let x: Vec<f32> = row[0].split(' ').map(code).collect();
        let want = DynamicScale { scale: code(row[1]), zero_point: row[2].parse().expect("a byte") };
        let mut y = vec![0xA5; x.len()];
        assert_eq!(node.run(&floats(&x), &mut y, x.len()), Ok(want), "{row:?}");
        let hex: String = y.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, row[3], "{row:?}");
        tested += 1;
    }
    assert_eq!(tested, 20);
}

#[test]
fn dynamic_scales_by_the_formula() {
    let node = DynamicQuantizeLinear::new(11).expect("a node");
    let mut rng = support::rng::Rng(11);
    for n in (0..70).chain([511, 512, 513, 1500]) {
        let magnitude = (rng.below(60) as f32 - 30.0).exp2();
        let x: Vec<f32> = (0..n).map(|_| (rng.below(2001) as f32 / 1000.0 - 0.7) * magnitude).collect();
        // The range includes 0; every step is rounded to float32.
        let high = x.iter().copied().fold(0.0, f32::max);
        let low = x.iter().copied().fold(0.0, f32::min);
        let scale = if high == low { 1.0 } else { (high - low) / 255.0 };
        let zero_point = (0.0 - low / scale).clamp(0.0, 255.0).round_ties_even();
        let want: Vec<u8> =
            x.iter().map(|x| ((x / scale).round_ties_even() + zero_point).clamp(0.0, 255.0) as u8).collect();
        let mut y = vec![0xA5; n + 1];
        let got = node.run(&floats(&x), &mut y, n).expect("room");
        assert_eq!(got, DynamicScale { scale, zero_point: zero_point as u8 });
        assert_eq!((&y[..n], y[n]), (&want[..], 0xA5));
    }
    // NaN is not in the range and becomes the zero point.
    let mut y = [0; 3];
    let got = node.run(&floats(&[f32::NAN, 1.0, -1.0]), &mut y, 3);
    assert_eq!(got, Ok(DynamicScale { scale: 2.0 / 255.0, zero_point: 127 }));
    assert_eq!(y, [127, 254, 0]);
}
