//! What of a weight can be moved to a layout: the same scheme, or one whose scales hold the scales of the source.

use lanecast::DType;
use lanecast_files::{Error, Result};

use super::MIDDLE;
use crate::{
    checkpoint::Checkpoint,
    coding::{Axis, Codes, Coding, Factor, Id, ScaleData, Scales, Zeros},
    error::{At, lost, request},
};

/// What of a weight is moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::quantize) enum Move {
    /// NVFP4, with the scale of the tensor as the layout stores it.
    Nvfp4(f32),
    /// MXFP4, whose scales become scales of NVFP4.
    Mxfp4,
    /// MXFP4 as it is.
    Same,
    /// 4-bit integers.
    Int4(Int4),
}

/// 4-bit integers with a scale for each group of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::quantize) struct Int4 {
    /// Elements of a group; `None` if it is the row.
    pub(in crate::quantize) group: Option<usize>,
    /// Whether all zero points are 8.
    pub(in crate::quantize) symmetric: bool,
    /// The dtype of the scales.
    pub(in crate::quantize) scales: DType,
}

/// The refusal of a tensor.
fn refused(checkpoint: &Checkpoint, id: Id, error: Error) -> Error {
    error.tensor(&checkpoint.source, &checkpoint.source.tensors[id])
}

impl Move {
    /// The MXFP4 of a weight; `None` if it has other codes. `transposed` says whether a tensor has the inputs of the weight as rows.
    pub(in crate::quantize) fn mxfp4(coding: &Coding, transposed: bool) -> Option<Self> {
        let scales = coding.scales.as_ref().filter(|_| is_matrix(coding, transposed))?;
        let is_block = matches!(
            scales,
            Scales { data: ScaleData::Tensor(_, DType::Float8E8M0FNU), block: [1, 32], swizzled: None, .. }
        );
        let is_mxfp4 =
            matches!((&coding.values, coding.factor), (Codes::Float(DType::Float4E2M1FN), Factor::None));
        (is_block && is_mxfp4 && coding.cut.is_none()).then_some(Self::Same)
    }

    /// The NVFP4 that a weight becomes. `divides` says whether the layout divides by the scale of the tensor, and `transposed` whether a tensor
    /// has the inputs of the weight as rows.
    pub(in crate::quantize) fn nvfp4(
        checkpoint: &Checkpoint,
        coding: &Coding,
        divides: bool,
        transposed: bool,
    ) -> Result<Self> {
        let source = &checkpoint.source;
        let plain =
            matches!(coding.values, Codes::Float(DType::Float4E2M1FN)) && is_matrix(coding, transposed);
        let scales = coding.scales.as_ref().filter(|_| plain);
        let block = scales.map(|Scales { data, block, .. }| match data {
            ScaleData::Tensor(_, dtype) => (*dtype, *block),
            ScaleData::Nested(_) => (DType::Float32, *block),
        });
        let factor = match (block, coding.factor) {
            (Some((DType::Float8E8M0FNU, [1, 32])), Factor::None) => return Ok(Self::Mxfp4),
            (Some((DType::Float8E4M3FN, [1, 16])), Factor::Times(id)) => Some((id, false)),
            (Some((DType::Float8E4M3FN, [1, 16])), Factor::Over(id)) => Some((id, true)),
            (Some((DType::Float8E4M3FN, [1, 16])), Factor::None) => None,
            _ => {
                let what = "only weights of NVFP4 and MXFP4 become nvfp4 without a second rounding";
                return Err(refused(checkpoint, coding.codes, request(what)));
            }
        };
        let Some((id, is_divisor)) = factor else { return Ok(Self::Nvfp4(1.0)) };
        let bytes = source.read_all(&source.tensors[id])?;
        let stored = match (bytes.as_chunks().0, source.tensors[id].dtype()) {
            ([bytes], Some(DType::Float32)) => f32::from_le_bytes(*bytes),
            _ => f32::NAN,
        };
        if !(stored.is_finite() && stored > 0.0) {
            let what = "the scale of the tensor must be one float32, positive and finite";
            return Err(refused(checkpoint, id, request(what)));
        }
        let inverse = stored.recip();
        // Only powers of two have exact reciprocals: one bit of the significand is set, which normal numbers do not store.
        let (fraction, is_normal) = (stored.to_bits() & 0x7F_FFFF, stored.is_normal());
        let is_exact = inverse.is_finite() && fraction.count_ones() == u32::from(!is_normal);
        match (is_divisor == divides, is_exact) {
            (true, _) => Ok(Self::Nvfp4(stored)),
            (false, true) => Ok(Self::Nvfp4(inverse)),
            (false, false) => {
                let (of, to) = if divides { ("multiplies", "divides") } else { ("divides", "multiplies") };
                let what = format!(
                    "the scale of the tensor {of} by {stored:e}, and the layout {to} by its reciprocal, which no float32 is: every value would change"
                );
                Err(refused(checkpoint, id, lost(what)))
            }
        }
    }

    /// The 4-bit integers of a weight. `declared` says whether the configuration calls them symmetric.
    pub(in crate::quantize) fn int4(
        checkpoint: &Checkpoint,
        coding: &Coding,
        declared: bool,
    ) -> Result<Self> {
        let wrong = |what: String| Err(refused(checkpoint, coding.codes, request(what)));
        let (Codes::Unsigned, Factor::None, None, Some(scales)) =
            (&coding.values, coding.factor, coding.biases, &coding.scales)
        else {
            return wrong(
                "only integer codes with zero points become w4a16 without a second rounding".to_owned(),
            );
        };
        let bits = coding.packing.bits;
        if bits != 4 {
            return wrong(format!("w4a16 has codes of 4 bits, and the weight has codes of {bits}"));
        }
        let (ScaleData::Tensor(_, dtype), [1, group] | [group, 1], 1, None) =
            (&scales.data, scales.block, coding.batches, scales.swizzled)
        else {
            return wrong("w4a16 has a scale for each group of a row of a matrix".to_owned());
        };
        let inputs = if coding.transposed { coding.rows } else { coding.cols };
        let along = if coding.transposed { Axis::Rows } else { Axis::Columns };
        if let Some((id, axis)) = coding.groups {
            let groups = checkpoint.source.read_all(&checkpoint.source.tensors[id])?;
            let groups = groups.as_chunks().0.iter().map(|group| i32::from_le_bytes(*group));
            let is_moved = |(i, of): (usize, i32)| axis != along || usize::try_from(of) != Ok(i / group);
            let moved = groups.enumerate().position(is_moved);
            if let Some(i) = moved {
                let what = format!(
                    "entry {i} is not that of groups in the order of the inputs: the codes were made in the order of activations, \
                     which the layout does not store"
                );
                return Err(refused(checkpoint, id, request(what)));
            }
        }
        let symmetric = match coding.zeros {
            Zeros::Constant(zero) => zero == i32::from(MIDDLE),
            Zeros::Tensor { signed: false, .. } => declared,
            _ => return wrong("w4a16 has unsigned zero points".to_owned()),
        };
        let group = (group < inputs).then_some(group);
        Ok(Self::Int4(Int4 { group, symmetric, scales: *dtype }))
    }
}

/// Whether the rows of the stored matrices are rows of weights.
fn is_matrix(coding: &Coding, transposed: bool) -> bool {
    coding.transposed == transposed && coding.groups.is_none() && coding.biases.is_none()
}
