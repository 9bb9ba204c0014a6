//! The arithmetic of the operators, one element at a time, on random nodes: every version, dtype, granularity and precision.
//!
//! Quotients, sums and products are taken in float64 and rounded by the oracle of the casts. For float32 and narrower operands that
//! is as good as one rounding, since float64 has more than twice as many bits.

use super::number;
use crate::oracle::{self, packed};
use crate::support::rng::Rng;
use lanecast::onnx::{DequantizeLinear, LinearAttributes, Operator, Port, QuantizeLinear, Tensor};
use lanecast::{CastOptions, DType, Kind, Saturate};

const RUST: &CastOptions = &CastOptions::RUST;

/// The value of an element, which float64 has exactly.
fn float(dtype: DType, bits: u128) -> f64 {
    f64::from_bits(oracle::cast(dtype, DType::Float64, RUST, bits) as u64)
}

/// A result in a precision: `operand` if that is NaN, else a positive NaN for others.
fn rounded(precision: DType, operand: (DType, u128), result: f64) -> u128 {
    if float(operand.0, operand.1).is_nan() {
        return oracle::cast(operand.0, precision, RUST, operand.1);
    }
    let result = if result.is_nan() { f64::NAN } else { result };
    oracle::cast(DType::Float64, precision, RUST, u128::from(result.to_bits()))
}

struct Quantize {
    x: DType,
    scale: DType,
    to: DType,
    precision: Option<DType>,
    saturate: Option<bool>,
}

impl Quantize {
    fn element(&self, x: u128, scale: u128, zero: Option<u128>) -> u128 {
        let precision = self.precision.unwrap_or(match self.scale {
            DType::Int32 => DType::Float64,
            DType::Float8E8M0FNU => DType::Float32,
            scale => scale,
        });
        let x = (precision, oracle::cast(self.x, precision, RUST, x));
        let scale = oracle::cast(self.scale, precision, RUST, scale);
        let quotient = rounded(precision, x, float(x.0, x.1) / float(precision, scale));
        let zero_value = zero.map_or(0.0, |zero| float(self.to, zero));
        let value = float(precision, quotient);
        if self.to.kind() != Kind::Float {
            let nearest = if value.is_nan() { 0.0 } else { value.clamp(-1e9, 1e9).round_ties_even() };
            let sum = u128::from((nearest + zero_value).to_bits());
            return oracle::cast(DType::Float64, self.to, RUST, sum);
        }
        let saturate = if self.saturate == Some(false) { Saturate::Off } else { Saturate::On };
        let sum = match zero {
            Some(_) if self.to.bits() < 8 => rounded(precision, (precision, quotient), value + zero_value),
            _ => quotient,
        };
        oracle::cast(precision, self.to, &RUST.with_saturate(saturate), sum)
    }
}

fn dequantize(x: DType, scale: DType, to: DType, [bits, factor]: [u128; 2], zero: Option<u128>) -> u128 {
    let single = oracle::cast(x, DType::Float32, RUST, bits);
    let difference = match x {
        DType::Int32 => float(DType::Float32, single),
        _ => float(x, bits) - zero.map_or(0.0, |zero| float(x, zero)),
    };
    let scale = oracle::cast(scale, DType::Float32, RUST, factor);
    let product = difference * float(DType::Float32, scale);
    oracle::cast(DType::Float32, to, RUST, rounded(DType::Float32, (x, bits), product))
}

/// Shapes of an input and its scale, the attributes `axis` and `block_size`, and the scale of every element.
struct Shapes {
    x: Vec<usize>,
    scale: Vec<usize>,
    axis: Option<i64>,
    block: Option<usize>,
    of: Vec<usize>,
}

impl Shapes {
    fn random(rng: &mut Rng, version: u32) -> Self {
        let axes = rng.below(3) as usize + 1;
        let mut x: Vec<usize> = (0..axes).map(|_| rng.below(7) as usize + 1).collect();
        // Some inputs are longer than what is decoded at once.
        if rng.below(3) == 0 {
            x.iter_mut().for_each(|len| *len = (*len).min(2));
            x[rng.below(axes as u64) as usize] = rng.below(1200) as usize;
        }
        let axis = rng.below(axes as u64) as usize;
        let granularity = match version {
            10 => 0,
            13 | 19 => rng.below(2),
            _ => rng.below(3),
        };
        let block = rng.below(9) as usize + 1;
        let mut scale = match granularity {
            0 => vec![],
            1 => vec![x[axis]],
            _ => x.clone(),
        };
        if granularity == 2 {
            scale[axis] = x[axis].div_ceil(block);
        }
        let of = (0..x.iter().product()).map(|element| {
            let mut rest: usize = element;
            let mut index = x.clone();
            for (place, len) in index.iter_mut().zip(&x).rev() {
                (*place, rest) = (rest % len, rest / len);
            }
            match granularity {
                0 => 0,
                1 => index[axis],
                _ => {
                    index[axis] /= block;
                    index.iter().zip(&scale).fold(0, |flat, (i, len)| flat * len + i)
                }
            }
        });
        let of = of.collect();
        let negative = rng.below(2) == 0;
        let axis = if negative { axis as i64 - axes as i64 } else { axis as i64 };
        // A lone scale is one for the tensor, whatever the axis.
        Shapes {
            axis: (granularity > 0).then_some(axis),
            block: (granularity == 2).then_some(block),
            x,
            scale,
            of,
        }
    }
}

fn choose<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.below(all.len() as u64) as usize]
}

/// The dtypes of a port in a version.
fn dtypes(operator: Operator, version: u32, port: Port) -> Vec<DType> {
    let has = |dtype: &&DType| operator.since_on(port, **dtype).is_some_and(|since| since <= version);
    DType::ALL.iter().filter(has).copied().collect()
}

/// A code: any, or that of a number of everyday size, half of which are multiples of 1/2.
fn code(rng: &mut Rng, dtype: DType) -> u128 {
    let number = match rng.below(8) {
        0 => return rng.wide() & oracle::mask(dtype),
        1..5 => (rng.below(4000) as f64 - 2000.0) / 2.0,
        _ => (rng.below(1 << 40) as f64 / (1_u64 << 36) as f64 - 8.0) * 2.0_f64.powi(rng.below(8) as i32),
    };
    oracle::cast(DType::Float64, dtype, RUST, u128::from(number.to_bits()))
}

/// The code of a scale: mostly a small power of two, so that there are ties.
fn factor(rng: &mut Rng, dtype: DType) -> u128 {
    let number = match rng.below(8) {
        0 => return rng.wide() & oracle::mask(dtype),
        1..4 => 2.0_f64.powi(rng.below(6) as i32 - 3),
        _ => (rng.below(5000) + 1) as f64 / 1000.0,
    };
    oracle::cast(DType::Float64, dtype, RUST, u128::from(number.to_bits()))
}

#[test]
fn quantize_linear() {
    let mut rng = Rng(2024);
    let operator = Operator::QuantizeLinear;
    let rounds = if cfg!(miri) { 1 } else { 20 };
    for &version in operator.versions() {
        let [inputs, scales, outputs] =
            [Port::Input, Port::Scale, Port::Output].map(|port| dtypes(operator, version, port));
        for &to in outputs.iter().cycle().take(outputs.len() * rounds) {
            let x = choose(&mut rng, &inputs);
            let scale = if (19..23).contains(&version) { x } else { choose(&mut rng, &scales) };
            let precisions = [DType::Float16, DType::BFloat16, DType::Float32, DType::Float64];
            let precision = (version >= 23 && rng.below(2) == 0).then(|| choose(&mut rng, &precisions));
            let saturate = (version >= 19 && rng.below(2) == 0).then(|| rng.below(2) == 0);
            let named = version < 21 && to != DType::UInt8 || rng.below(2) == 0;
            let shapes = Shapes::random(&mut rng, version);
            let mut attributes = LinearAttributes::NONE;
            attributes.axis = shapes.axis;
            attributes.block_size = shapes.block;
            attributes.output_dtype = (!named && to != DType::UInt8).then_some(to);
            attributes.precision = precision;
            attributes.saturate = saturate;
            let node =
                QuantizeLinear::new(version, x, scale, named.then_some(to), &attributes).expect("a node");
            assert_eq!((node.version(), node.source(), node.scale(), node.target()), (version, x, scale, to));

            let elements: Vec<u128> = shapes.of.iter().map(|_| code(&mut rng, x)).collect();
            let scale_count: usize = shapes.scale.iter().product();
            let factors: Vec<u128> = (0..scale_count).map(|_| factor(&mut rng, scale)).collect();
            let zero_of_floats = to.kind() == Kind::Float && to.bits() == 8;
            let zeros: Vec<u128> = (0..scale_count)
                .map(|_| if zero_of_floats { 0 } else { rng.wide() & oracle::mask(to) })
                .collect();
            let oracle = Quantize { x, scale, to, precision, saturate };
            let want: Vec<u128> = elements
                .iter()
                .zip(&shapes.of)
                .map(|(element, &of)| oracle.element(*element, factors[of], named.then(|| zeros[of])))
                .collect();

            let mut y = vec![0xA5; packed::byte_len(to, elements.len())];
            let zeros = packed::pack(to, &zeros);
            let zero_point = named.then(|| Tensor::new(&shapes.scale, &zeros));
            let (elements, factors) = (packed::pack(x, &elements), packed::pack(scale, &factors));
            let x_tensor = Tensor::new(&shapes.x, &elements);
            node.run(x_tensor, Tensor::new(&shapes.scale, &factors), zero_point, &mut y).expect("fits");
            let got = packed::unpack(to, &y, want.len());
            if let Some(at) = (0..want.len()).find(|&i| got[i] != want[i]) {
                let x_code = packed::unpack(x, &elements, want.len())[at];
                panic!(
                    "{version} {x} {scale} {to} {attributes:?}, element {at}: {x_code:#x} becomes {:#x}, not {:#x}",
                    got[at], want[at]
                );
            }
            assert_eq!(y, packed::pack(to, &want), "unused bits");
        }
    }
}

#[test]
fn dequantize_linear() {
    let mut rng = Rng(2025);
    let operator = Operator::DequantizeLinear;
    let rounds = if cfg!(miri) { 1 } else { 20 };
    for &version in operator.versions() {
        let [inputs, scales, outputs] =
            [Port::Input, Port::Scale, Port::Output].map(|port| dtypes(operator, version, port));
        for &x in inputs.iter().cycle().take(inputs.len() * rounds) {
            let scale = choose(&mut rng, &scales);
            let given = version >= 23 && (scale == DType::Float8E8M0FNU || rng.below(2) == 0);
            let to = if given { choose(&mut rng, &outputs) } else { scale };
            let shapes = Shapes::random(&mut rng, version);
            let mut attributes = LinearAttributes::NONE;
            attributes.axis = shapes.axis;
            attributes.block_size = shapes.block;
            attributes.output_dtype = given.then_some(to);

            let named = rng.below(2) == 0;
            let node =
                DequantizeLinear::new(version, x, scale, named.then_some(x), &attributes).expect("a node");
            assert_eq!((node.version(), node.source(), node.scale(), node.target()), (version, x, scale, to));

            let elements: Vec<u128> = shapes.of.iter().map(|_| rng.wide() & oracle::mask(x)).collect();
            let scale_count: usize = shapes.scale.iter().product();
            let factors: Vec<u128> = (0..scale_count).map(|_| factor(&mut rng, scale)).collect();
            let only_zero = x == DType::Int32 || x.kind() == Kind::Float && x.bits() == 8;
            let zeros: Vec<u128> =
                (0..scale_count).map(|_| if only_zero { 0 } else { rng.wide() & oracle::mask(x) }).collect();
            let want: Vec<u128> = elements
                .iter()
                .zip(&shapes.of)
                .map(|(&element, &of)| {
                    dequantize(x, scale, to, [element, factors[of]], named.then(|| zeros[of]))
                })
                .collect();

            let mut y = vec![0xA5; packed::byte_len(to, elements.len())];
            let zeros = packed::pack(x, &zeros);
            let zero_point = named.then(|| Tensor::new(&shapes.scale, &zeros));
            let (raw, factors) = (packed::pack(x, &elements), packed::pack(scale, &factors));
            let scales = Tensor::new(&shapes.scale, &factors);
            node.run(Tensor::new(&shapes.x, &raw), scales, zero_point, &mut y).expect("fits");
            let got = packed::unpack(to, &y, want.len());
            if let Some(at) = (0..want.len()).find(|&i| got[i] != want[i]) {
                panic!(
                    "{version} {x} {scale} {to} {attributes:?}, element {at}: {:#x} becomes {:#x}, not {:#x}",
                    elements[at], got[at], want[at]
                );
            }
        }
    }
}

/// Scales that are no numbers, in runs of all lengths around those that have loops of their own.
#[test]
fn scales_that_are_no_numbers() {
    for x in [DType::Int8, DType::UInt8] {
        let node = DequantizeLinear::new(13, x, DType::Float32, Some(x), &LinearAttributes::NONE);
        let node = node.expect("a node");
        for scale in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN, 0.0, -0.0] {
            for n in [1, 31, 32, 33, 256] {
                let codes: Vec<u8> = (0..n).map(|i| i as u8).collect();
                let zero = 3;
                let mut y = vec![0; 4 * n];
                let (bytes, zeros) = (scale.to_le_bytes(), [zero]);
                let shape = [n];
                let (tensor, zeros) = (Tensor::new(&shape, &codes), Tensor::scalar(&zeros));
                node.run(tensor, Tensor::scalar(&bytes), Some(zeros), &mut y).expect("fits");
                for (code, y) in codes.iter().zip(y.as_chunks().0) {
                    let codes = [u128::from(*code), u128::from(scale.to_bits())];
                    let want = dequantize(x, DType::Float32, DType::Float32, codes, Some(zero.into()));
                    assert_eq!(u128::from(u32::from_le_bytes(*y)), want, "{x} {code} times {scale}, {n}");
                }
            }
        }
    }
}

/// Numbers and dtypes name the same node.
#[test]
fn attributes_by_number() {
    use lanecast::onnx::AttributeValue::Int;
    let attributes = LinearAttributes::NONE
        .with_axis(-1)
        .with_block_size(16)
        .with_output_dtype(DType::Float4E2M1FN)
        .with_precision(DType::BFloat16)
        .with_saturate(false);
    let named = [
        ("axis", Int(-1)),
        ("block_size", Int(16)),
        ("output_dtype", Int(number(DType::Float4E2M1FN).into())),
        ("precision", Int(number(DType::BFloat16).into())),
        ("saturate", Int(0)),
    ];
    let node = QuantizeLinear::from_attributes(25, 1, number(DType::Float8E8M0FNU), None, &named);
    let node = node.expect("a node");
    assert_eq!((node.attributes(), node.target()), (&attributes, DType::Float4E2M1FN));
    assert_eq!((node.precision(), node.zero_point()), (DType::BFloat16, None));
    let given = [("output_dtype", Int(10)), ("block_size", Int(0)), ("axis", Int(0))];
    let node = DequantizeLinear::from_attributes(25, 22, 1, Some(22), &given).expect("a node");
    assert_eq!((node.target(), node.zero_point()), (DType::Float16, Some(DType::Int4)));
    let want = LinearAttributes::NONE.with_output_dtype(DType::Float16).with_block_size(0).with_axis(0);
    assert_eq!(node.attributes(), &want);
}
