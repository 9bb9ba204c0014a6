//! The cast of a stored tensor, in blocks.

use std::io::Read;

use lanecast::{Bytes, BytesMut, CastOptions, CastPlan, CastReport, DType, Level};
use lanecast_files::{Error, Result};

use crate::{
    checkpoint::little,
    decode::Sink,
    error::{At, request},
    source::{Source, Stored},
    write::{Loss, Notes},
};

/// Elements that are cast at once. Those of every dtype fill whole bytes.
const PART: usize = 1 << 18;

/// Casts a tensor to little-endian elements of `to`, or copies it if it has this dtype.
pub(super) fn cast(source: &Source, tensor: &Stored, to: DType, sink: &mut Sink<'_>) -> Result<Notes> {
    let place = |e: Error| e.tensor(source, tensor);
    let Some(from) = tensor.dtype() else {
        let what =
            format!("the tensor is {}, whose blocks are no numbers; dequantize it", tensor.described());
        return Err(place(request(what)));
    };
    let mut file = source.reader(tensor, 0)?;
    let failed = |e: std::io::Error| place(Error::reading(&e));
    let mut bytes = Vec::new();
    if from == to {
        for first in (0..tensor.bytes).step_by(PART) {
            bytes.resize(PART.min(tensor.bytes - first), 0);
            file.read_exact(&mut bytes).map_err(failed)?;
            sink(&bytes)?;
        }
        return Ok(Notes::default());
    }
    let plan = CastPlan::new(little(from), little(to), &CastOptions::RUST).map_err(|e| place(e.into()))?;
    let plan = plan.checked(Level::Range);
    let (n, mut out) = (tensor.len(), Vec::new());
    let (mut counts, mut all_zero) = (CastReport::default(), n > 0);
    for first in (0..n).step_by(PART) {
        let count = PART.min(n - first);
        bytes.resize(little(from).byte_len(count).unwrap_or(0), 0);
        file.read_exact(&mut bytes).map_err(failed)?;
        out.resize(little(to).byte_len(count).unwrap_or(0), 0);
        let report = plan.run_counted(Bytes::new(&bytes, count), BytesMut::new(&mut out, count));
        counts = counts.and(&report.map_err(|e| place(e.into()))?);
        all_zero &= out.iter().all(|byte| *byte == 0);
        sink(&out)?;
    }
    let (out_of_range, became_zero) = (counts.out_of_range(), counts.underflowed_to_zero);
    let loss = (out_of_range + became_zero > 0).then(|| Loss {
        tensor: tensor.name.clone(),
        to: to.name().to_owned(),
        elements: n as u64,
        out_of_range,
        became_zero,
        all_zero,
    });
    Ok(Notes { warnings: Vec::new(), losses: loss.into_iter().collect() })
}
