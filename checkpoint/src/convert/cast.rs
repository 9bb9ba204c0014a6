//! The cast of a stored tensor, in blocks.

use std::{io::Read, ops::Range};

use lanecast::{Bytes, BytesMut, CastOptions, CastPlan, CastReport, DType, Level};
use lanecast_files::{Error, Result};

use crate::{
    checkpoint::little,
    decode::Sink,
    error::{At, request},
    source::{Source, Stored},
    values::BYTES,
    write::{Loss, Notes},
};

/// Elements that are cast at once. They fill whole bytes in every dtype.
const PART: usize = 1 << 18;

/// Bytes of the smallest range of elements of `to` that can be cast alone.
pub(super) fn part(to: DType) -> u64 {
    little(to).byte_len(BYTES).map_or(u64::MAX, |bytes| bytes as u64)
}

/// Casts a range of the bytes of a tensor of `to`, or copies it if the tensor has this dtype.
pub(super) fn cast(
    source: &Source,
    tensor: &Stored,
    to: DType,
    range: Range<u64>,
    sink: &mut Sink<'_>,
) -> Result<Notes> {
    let place = |e: Error| e.tensor(source, tensor);
    let Some(from) = tensor.dtype() else {
        let what =
            format!("the tensor is {}, whose blocks are no numbers; dequantize it", tensor.described());
        return Err(place(request(what)));
    };
    let element = |byte: u64| usize::try_from(byte * 8 / u64::from(to.bits())).unwrap_or(usize::MAX);
    let (n, first) = (tensor.len(), element(range.start));
    let end = element(range.end).min(n);
    let len = |n| little(from).byte_len(n).unwrap_or(0);
    let mut file = source.reader(tensor, len(first))?;
    let failed = |e: std::io::Error| place(Error::reading(&e));
    let mut bytes = Vec::new();
    if from == to {
        for first in (first..end).step_by(PART) {
            bytes.resize(len(PART.min(end - first)), 0);
            file.read_exact(&mut bytes).map_err(failed)?;
            sink(&bytes)?;
        }
        return Ok(Notes::default());
    }
    let plan = CastPlan::new(little(from), little(to), &CastOptions::RUST).map_err(|e| place(e.into()))?;
    let plan = plan.checked(Level::Range);
    let mut out = Vec::new();
    let (mut counts, mut all_zero) = (CastReport::default(), n > 0);
    for first in (first..end).step_by(PART) {
        let count = PART.min(end - first);
        bytes.resize(len(count), 0);
        file.read_exact(&mut bytes).map_err(failed)?;
        out.resize(little(to).byte_len(count).unwrap_or(0), 0);
        let report = plan.run_counted(Bytes::new(&bytes, count), BytesMut::new(&mut out, count));
        counts = counts.and(&report.map_err(|e| place(e.into()))?);
        all_zero &= out.iter().all(|byte| *byte == 0);
        sink(&out)?;
    }
    let loss = Loss {
        tensor: tensor.name.clone(),
        to: to.name().to_owned(),
        elements: n as u64,
        out_of_range: counts.out_of_range(),
        became_zero: counts.underflowed_to_zero,
        all_zero,
    };
    Ok(Notes { warnings: Vec::new(), losses: vec![loss] })
}
