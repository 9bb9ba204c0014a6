//! What a dtype or a scheme would make of a tensor, tried on its blocks.

use lanecast::{
    Bytes, BytesMut, CastPlan, CastReport, DType, Encoding, Kind, Level,
    scaled::{Granularity, ScaleType, ScaledPlan, Scheme},
    strided::View,
};

use super::{Elements, Target, WhatIf};
use crate::{error::Result, pump::byte_len, settings::Settings};

/// A target, prepared for the elements of a tensor.
pub(super) struct Trial {
    to: &'static str,
    kind: Prepared,
}

enum Prepared {
    /// A cast, and the cast back to float64 unless the elements are complex.
    Cast(Box<CastPlan>, Option<Box<CastPlan>>),
    Scale(Box<Scaled>),
    /// A scheme that does not take the tensor.
    None,
}

struct Scaled {
    scheme: Scheme,
    to_float32: CastPlan,
    panel: Panel,
    /// Bytes of the codes and of all scales.
    bytes: u64,
}

/// The parts of a tensor that a scheme can take alone, and what their shapes are.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Panel {
    /// A number of elements of a line, or multiples of it.
    Line(usize),
    /// A number of rows, which have these axes.
    Rows(usize, Vec<usize>),
    /// All of it.
    Whole,
    /// All of it, with the first axis varying fastest.
    Fortran,
}

/// What was lost of some elements.
#[derive(Clone, Copy, Default)]
pub(super) struct Lost {
    pub(super) counts: CastReport,
    /// The sum of the squares of the errors; NaN if there is none.
    pub(super) noise: f64,
}

impl Lost {
    pub(super) fn merge(&mut self, other: &Self) {
        self.counts = self.counts.and(&other.counts);
        self.noise += other.noise;
    }
}

/// A block of a tensor.
pub(super) struct Block<'b> {
    pub(super) source: &'b [u8],
    pub(super) n: usize,
    /// The numbers, two for a complex one.
    pub(super) numbers: &'b [f64],
}

impl Trial {
    pub(super) fn new(of: &Elements, target: &Target, settings: &Settings) -> Result<Self> {
        let (from, is_complex) = (of.encoding, of.encoding.dtype().kind() == Kind::Complex);
        let to = target.name();
        let kind = match target {
            Target::DType(dtype) => {
                let there = settings.plan(from, Encoding::packed(*dtype))?.checked(Level::Exact);
                let back = match is_complex || dtype.kind() == Kind::Complex {
                    true => None,
                    false => Some(Box::new(settings.plan(there.target(), DType::Float64.into())?)),
                };
                Prepared::Cast(Box::new(there), back)
            }
            Target::Scheme(_) if is_complex => Prepared::None,
            Target::Scheme(scheme) => {
                let to_float32 = settings.plan(from, DType::Float32.into())?;
                match bytes(scheme, &of.shape) {
                    Some(bytes) => {
                        let panel = Panel::of(scheme, of);
                        Prepared::Scale(Box::new(Scaled { scheme: *scheme, to_float32, panel, bytes }))
                    }
                    None => Prepared::None,
                }
            }
        };
        Ok(Self { to, kind })
    }

    /// Elements that every block but the last has a multiple of.
    pub(super) fn unit(&self, elements: u64) -> u64 {
        let Prepared::Scale(scaled) = &self.kind else { return 1 };
        match &scaled.panel {
            Panel::Line(n) => *n as u64,
            Panel::Rows(n, axes) => axes.iter().fold(*n as u64, |n, axis| n.saturating_mul(*axis as u64)),
            Panel::Whole | Panel::Fortran => elements,
        }
    }

    /// Whether the largest magnitude of the tensor has to be known first.
    pub(super) fn needs_amax(&self) -> bool {
        matches!(&self.kind, Prepared::Scale(scaled) if needs_amax(&scaled.scheme))
    }

    /// What is lost of a block. `amax` is the largest magnitude of the tensor, if it is needed.
    pub(super) fn run(&self, block: &Block<'_>, shape: &[usize], amax: f64) -> Result<Lost> {
        match &self.kind {
            Prepared::None => Ok(Lost { noise: f64::NAN, ..Lost::default() }),
            Prepared::Cast(there, back) => {
                let source = Bytes::new(block.source, block.n);
                let Some(back) = back else {
                    return Ok(Lost { counts: there.count(source)?, noise: f64::NAN });
                };
                let mut codes = vec![0; there.target().byte_len(block.n).unwrap_or(0)];
                let mut values = vec![0.0_f64; block.n];
                let counts = there.run_counted(source, BytesMut::new(&mut codes, block.n))?;
                back.run(Bytes::new(&codes, block.n), &mut values[..])?;
                let error = |(x, y): (&f64, &f64)| (x - y).powi(2);
                Ok(Lost { counts, noise: block.numbers.iter().zip(&values).map(error).sum() })
            }
            Prepared::Scale(scaled) => {
                let mut values = vec![0.0_f32; block.n];
                scaled.to_float32.run(Bytes::new(block.source, block.n), &mut values[..])?;
                // A scheme that refuses the values, such as infinities, has no ratio.
                let noise = scaled.noise(&values, shape, amax as f32).unwrap_or(f64::NAN);
                Ok(Lost { noise, ..Lost::default() })
            }
        }
    }

    /// What is lost of all elements. `squares` is the sum of their squares.
    pub(super) fn what_if(&self, elements: u64, lost: &Lost, squares: f64) -> WhatIf {
        let (bytes, counts) = match &self.kind {
            Prepared::Cast(there, _) => (byte_len(there.target(), elements), Some(lost.counts)),
            Prepared::Scale(scaled) => (Some(scaled.bytes), None),
            Prepared::None => (None, None),
        };
        let sqnr = Some(10.0 * (squares / lost.noise).log10()).filter(|sqnr| sqnr.is_finite());
        WhatIf { to: self.to, bytes, sqnr, counts }
    }
}

impl Scaled {
    /// The sum of the squares of the errors of a panel.
    fn noise(&self, values: &[f32], whole: &[usize], amax: f32) -> Option<f64> {
        let shape = match &self.panel {
            Panel::Line(_) => vec![values.len()],
            Panel::Rows(_, axes) => {
                let row: usize = axes.iter().product();
                [&[values.len() / row.max(1)], &axes[..]].concat()
            }
            Panel::Whole | Panel::Fortran => whole.to_vec(),
        };
        let mut plan = ScaledPlan::new(DType::Float32, &self.scheme, &shape).ok()?.with_squared_error();
        if has_global(&self.scheme) {
            plan = plan.with_amax(amax).ok()?;
        }
        let mut codes = plan.alloc();
        let report = match self.panel {
            Panel::Fortran => {
                let reversed: Vec<usize> = whole.iter().rev().copied().collect();
                let view = View::from_slice(values, &reversed).ok()?.transposed();
                plan.quantize(&view, &mut codes)
            }
            _ if self.scheme.granularity == Granularity::Tensor => {
                // The scale of all follows from the largest magnitude alone.
                let largest = ScaledPlan::new(DType::Float32, &self.scheme, &[1]).ok()?;
                let mut only = largest.alloc();
                largest.quantize(&[amax], &mut only).ok()?;
                codes.scales = only.scales;
                plan.quantize_given(values, &mut codes)
            }
            _ => plan.quantize(values, &mut codes),
        };
        report.ok()?.squared_error
    }
}

/// Whether the scales of a part depend on all of the tensor.
pub(super) fn needs_amax(scheme: &Scheme) -> bool {
    scheme.granularity == Granularity::Tensor || has_global(scheme)
}

fn has_global(scheme: &Scheme) -> bool {
    matches!(scheme.scale, ScaleType::E4M3(_))
}

/// Bytes that a scheme takes for a tensor; `None` if it does not take it.
fn bytes(scheme: &Scheme, shape: &[usize]) -> Option<u64> {
    let plan = ScaledPlan::new(DType::Float32, scheme, shape).ok()?;
    let parts = [plan.data_len(), plan.scales_len(), plan.zero_points_len()];
    let global = if has_global(scheme) { 4 } else { 0 };
    Some(parts.iter().fold(global, |sum, bytes| sum + *bytes as u64))
}

impl Panel {
    /// The panels of a tensor.
    fn of(scheme: &Scheme, of: &Elements) -> Self {
        let (shape, granularity) = (&of.shape[..], scheme.granularity);
        let has_zero_points = scheme.has_zero_points();
        let several = shape.iter().filter(|axis| **axis > 1).count() > 1;
        if of.fortran_order && several && granularity != Granularity::Tensor {
            return Self::Fortran;
        }
        match (granularity, shape) {
            (Granularity::Tensor, _) if !has_zero_points => Self::Line(1),
            (_, []) => Self::Whole,
            (Granularity::Axis(0), [_]) => Self::Line(1),
            (Granularity::Axis(0), [_, row @ ..]) => Self::Rows(1, row.to_vec()),
            (Granularity::Block { axis: -1, len }, [_]) => Self::Line(len),
            (Granularity::Block { axis: -1, .. }, [.., row]) => Self::Rows(1, vec![*row]),
            (Granularity::Tile { cols, .. }, [_]) => Self::Line(cols),
            (Granularity::Tile { rows, .. }, [.., n, row]) if shape.len() == 2 || n % rows.max(1) == 0 => {
                Self::Rows(rows, vec![*row])
            }
            (Granularity::Tile { .. }, [.., n, row]) => Self::Rows(1, vec![*n, *row]),
            _ => Self::Whole,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::in_files;

    fn elements(shape: &[usize], fortran_order: bool) -> Elements {
        Elements { encoding: in_files(DType::Float32), shape: shape.to_vec(), fortran_order }
    }

    /// The noise of panels and of the whole tensor, quantized at once.
    fn noises(scheme: &Scheme, shape: &[usize], fortran_order: bool) -> [f64; 2] {
        let n = shape.iter().product();
        let values: Vec<f32> = (0..n).map(|i: usize| ((i * 7919 % 1009) as f32 - 500.0) * 0.37).collect();
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        let amax = values.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        let of = elements(shape, fortran_order);
        let trial = Trial::new(&of, &Target::Scheme(*scheme), &Settings::default()).expect("a scheme");
        let unit = trial.unit(n as u64) as usize;
        let lost = values.chunks(unit).zip(bytes.chunks(4 * unit)).map(|(part, source)| {
            let numbers: Vec<f64> = part.iter().map(|x| f64::from(*x)).collect();
            let block = Block { source, n: part.len(), numbers: &numbers };
            trial.run(&block, shape, f64::from(amax)).expect("a block").noise
        });
        let in_c_order: Vec<f32> = match (fortran_order, shape) {
            (true, [rows, cols]) => (0..n).map(|i| values[i % cols * rows + i / cols]).collect(),
            _ => values.clone(),
        };
        let plan = ScaledPlan::new(DType::Float32, scheme, shape).expect("a plan").with_squared_error();
        let whole = plan.quantize(&in_c_order, &mut plan.alloc()).expect("codes").squared_error;
        [lost.sum(), whole.expect("a sum")]
    }

    #[test]
    fn panels_have_the_errors_of_the_whole() {
        let shapes: [&[usize]; 5] = [&[300, 144], &[3, 128, 48], &[3, 130, 48], &[2, 3, 5, 32], &[400]];
        for (name, scheme) in Scheme::NAMED {
            for shape in shapes {
                for fortran_order in [false, true] {
                    if fortran_order && shape.len() != 2 {
                        continue;
                    }
                    let [parts, whole] = noises(scheme, shape, fortran_order);
                    let near = (parts - whole).abs() <= 1e-9 * whole;
                    assert!(near, "{name} {shape:?} {fortran_order}: {parts} {whole}");
                }
            }
        }
    }

    #[test]
    fn panels_are_small_where_the_scheme_allows_it() {
        let unit = |scheme: Scheme, shape: &[usize]| {
            let of = elements(shape, false);
            let trial = Trial::new(&of, &Target::Scheme(scheme), &Settings::default()).expect("a scheme");
            (trial.unit(u64::MAX), trial.needs_amax())
        };
        assert_eq!(unit(Scheme::FP8_TENSOR, &[4096, 4096]), (1, true));
        assert_eq!(unit(Scheme::NVFP4, &[4096, 4096]), (4096, true));
        assert_eq!(unit(Scheme::MX, &[4096]), (32, false));
        assert_eq!(unit(Scheme::FP8_BLOCK128, &[4096, 512]), (128 * 512, false));
        assert_eq!(unit(Scheme::FP8_BLOCK128, &[8, 130, 512]), (130 * 512, false));
        assert_eq!(unit(Scheme::INT8_ROW, &[8, 130, 512]), (130 * 512, false));
    }
}
