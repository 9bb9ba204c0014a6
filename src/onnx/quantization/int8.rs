//! `float32` to integers of 8 bits and back: one loop over the elements, without memory in between.

use super::{
    layout::{Layout, Run},
    operand::{CHUNK, Window},
};
use crate::{onnx::error::OnnxError, tier};
use core::marker::PhantomData;
use lanecast_kernels::{DType, Work, run_work};

/// Runs of at least this many elements are worth a call of a loop.
const LONG: usize = 32;
/// Where the unit in the last place is 1, an addition rounds to integers, and the last bits are the bits of the integer.
const UNIT: f32 = 1.5 / f32::EPSILON;

/// The integers of 8 bits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Int8 {
    Signed,
    Unsigned,
}

impl Int8 {
    pub(super) fn new(dtype: DType) -> Option<Self> {
        match dtype {
            DType::Int8 => Some(Self::Signed),
            DType::UInt8 => Some(Self::Unsigned),
            _ => None,
        }
    }

    fn range(self) -> [f32; 2] {
        match self {
            Self::Signed => [-128.0, 127.0],
            Self::Unsigned => [0.0, 255.0],
        }
    }

    /// What makes an unsigned integer of the bits, and how much larger that is.
    fn flip(self) -> (u8, f32) {
        match self {
            Self::Signed => (0x80, 128.0),
            Self::Unsigned => (0, 0.0),
        }
    }
}

/// The direction of a cast.
#[derive(Clone, Copy, Debug)]
pub(super) enum Direction {
    Quantize(Int8),
    Dequantize(Int8),
}

/// Elements as they are stored.
struct Elements<'a, T> {
    x: &'a [T],
    int: Int8,
    /// How many consecutive elements have the same scale and zero point; at least 1.
    run: usize,
    scales: &'a [f32],
    zero_points: &'a [f32],
}

/// The loops of a direction: from elements of `T`.
struct Loops<T>(PhantomData<T>);

macro_rules! work {
    ($from:ty => $to:ty, |$elements:ident| $held:expr, $function:ident) => {
        impl<'a> Work for Loops<&'a [$from]> {
            type Source = Elements<'a, $from>;
            type Destination = [$to];
            type Output = ();

            #[inline(always)]
            fn run($elements: &Self::Source, y: &mut [$to]) {
                let (x, run, held) = ($elements.x, $elements.run, $held);
                let operands = $elements.scales.iter().zip($elements.zero_points);
                if run == 1 {
                    for ((y, x), (scale, zero_point)) in y.iter_mut().zip(x).zip(operands) {
                        *y = $function(*x, *scale, *zero_point, held);
                    }
                    return;
                }
                for ((y, x), (scale, zero_point)) in y.chunks_mut(run).zip(x.chunks(run)).zip(operands) {
                    for (y, x) in y.iter_mut().zip(x) {
                        *y = $function(*x, *scale, *zero_point, held);
                    }
                }
            }
        }
    };
}
work!([u8; 4] => u8, |elements| elements.int.range(), quantized);
work!(u8 => [u8; 4], |elements| elements.int.flip(), dequantized);

/// The quotient rounded to an integer, ties to even, and the zero point added, saturated; the zero point for NaN.
#[inline(always)]
fn quantized(x: [u8; 4], scale: f32, zero_point: f32, [least, most]: [f32; 2]) -> u8 {
    let quotient = f32::from_le_bytes(x) / scale;
    let quotient = if quotient.is_nan() { 0.0 } else { quotient };
    // Integers do not cross these bounds when they are rounded.
    let (least, most) = (least - zero_point, most - zero_point);
    let quotient = if quotient > least { quotient } else { least };
    let quotient = if quotient < most { quotient } else { most };
    ((quotient + UNIT).to_bits() as u8).wrapping_add((zero_point + UNIT).to_bits() as u8)
}

/// The product of the scale and what the element is above the zero point; NaN is positive.
#[inline(always)]
fn dequantized(x: u8, scale: f32, zero_point: f32, (flip, excess): (u8, f32)) -> [u8; 4] {
    let product = (f32::from(x ^ flip) - (zero_point + excess)) * scale;
    (if product.is_nan() { f32::NAN } else { product }).to_le_bytes()
}

/// Quantizes elements by one scale and one zero point.
pub(super) fn quantize(x: &[[u8; 4]], int: Int8, scale: f32, zero_point: f32, y: &mut [u8]) {
    let elements = Elements { x, int, run: x.len().max(1), scales: &[scale], zero_points: &[zero_point] };
    run_work::<Loops<&[[u8; 4]]>>(tier::token(), &elements, y);
}

/// The range of the numbers among some elements and 0.
pub(super) fn extent(x: &[[u8; 4]]) -> [f32; 2] {
    let mut found = [0.0; 2];
    run_work::<Extent>(tier::token(), x, &mut found);
    found
}

struct Extent;

impl Work for Extent {
    type Source = [[u8; 4]];
    type Destination = [f32; 2];
    type Output = ();

    #[inline(always)]
    fn run(x: &[[u8; 4]], found: &mut [f32; 2]) {
        // Several minima and maxima, since a chain of comparisons would be slow.
        let mut range = [[0.0; 32]; 2];
        let (blocks, rest) = x.as_chunks();
        for block in blocks {
            range = wider(range, block);
        }
        let mut last = [[0; 4]; 32];
        last[..rest.len()].copy_from_slice(rest);
        let [low, high] = wider(range, &last);
        *found = [low.into_iter().fold(0.0, f32::min), high.into_iter().fold(0.0, f32::max)];
    }
}

/// The minima and maxima, extended by the elements of a block. Comparisons ignore NaN.
#[inline(always)]
fn wider([mut low, mut high]: [[f32; 32]; 2], block: &[[u8; 4]; 32]) -> [[f32; 32]; 2] {
    for ((x, low), high) in block.iter().zip(&mut low).zip(&mut high) {
        let x = f32::from_le_bytes(*x);
        *low = if x < *low { x } else { *low };
        *high = if x > *high { x } else { *high };
    }
    [low, high]
}

/// Whether runs of this layout are long enough for [`run`].
pub(super) fn worthwhile(layout: &Layout) -> bool {
    layout.run_len() >= LONG
}

/// Runs a node whose precision is `float32`: casts the bytes of `x` to the bytes of `y`.
pub(super) fn run(
    direction: Direction,
    layout: &Layout,
    mut scales: Window<'_, f32>,
    mut zero_points: Option<Window<'_, f32>>,
    x: &[u8],
    y: &mut [u8],
) -> Result<(), OnnxError> {
    let mut done = 0;
    let regular = layout.regular();
    let runs = layout.runs(if regular.is_some() { 0..0 } else { 0..layout.elements }).map(|run| (run, 1));
    let regular = regular.map(|len| (Run { len, scale: 0, each: false }, layout.scales));
    for (Run { len, mut scale, each }, count) in regular.into_iter().chain(runs) {
        // The elements of a scale, and the scales that are left.
        let (run, mut left) = if each { (1, len) } else { (len, count) };
        while left > 0 {
            let mut scales = scales.at(scale, left.min(CHUNK))?;
            let zero_points = match &mut zero_points {
                Some(zero_points) => zero_points.at(scale, scales.len())?,
                None => &[0.0; CHUNK][..scales.len()],
            };
            scales = &scales[..zero_points.len()];
            let range = done..done + scales.len() * run;
            match direction {
                Direction::Quantize(int) => {
                    let x = &x.as_chunks().0[range.clone()];
                    let elements = Elements { x, int, run, scales, zero_points };
                    run_work::<Loops<&[[u8; 4]]>>(tier::token(), &elements, &mut y[range.clone()]);
                }
                Direction::Dequantize(int) => {
                    let elements = Elements { x: &x[range.clone()], int, run, scales, zero_points };
                    let y = &mut y.as_chunks_mut().0[range.clone()];
                    run_work::<Loops<&[u8]>>(tier::token(), &elements, y);
                }
            }
            (done, scale, left) = (range.end, scale + scales.len(), left - scales.len());
        }
    }
    Ok(())
}
