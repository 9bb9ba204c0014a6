//! The scales of every weight: finite, and zero only where all codes are zero.

use lanecast::DType;
use lanecast_files::Result;

use super::{Finding, Kind, Severity, Subject, of_error, of_warning};
use crate::{
    checkpoint::Content,
    coding::{Along, Axis, Codes, Coding, Id, ScaleData, Scales},
    decode::{Decoder, Line},
    error::At,
};

/// Adds a finding for each tensor of scales that is damaged, and for each weight that it makes ambiguous.
pub(super) fn check(of: &Subject<'_>, findings: &mut Vec<Finding>) {
    for (_, content) in of.contents() {
        match content {
            Content::Plain(_) => {}
            Content::Blocks(..) => {
                // The error is that of the first scale that is NaN.
                let decoded =
                    of.checkpoint.decode_content(content, DType::Float32, false, &mut |_: &[u8]| Ok(()));
                findings.extend(decoded.err().map(of_error));
            }
            Content::Coded(coding) => match weight(of, coding, findings) {
                // Scales of zero are a finding already.
                Ok(()) => match of.checkpoint.carried_zeros(coding) {
                    Ok(doubt) => findings.extend(doubt.map(|doubt| of_warning(&doubt))),
                    Err(error) => findings.push(of_error(error)),
                },
                Err(error) => findings.push(of_error(error)),
            },
        }
    }
}

/// The values of a kind that are not finite.
#[derive(Default)]
struct NotFinite {
    count: u64,
    first: Option<(usize, usize, f64)>,
}

impl NotFinite {
    fn add(&mut self, row: usize, values: &[f64]) {
        for (col, value) in values.iter().enumerate().filter(|(_, value)| !value.is_finite()) {
            self.count += 1;
            self.first.get_or_insert((row, col, *value));
        }
    }

    fn finding(&self, of: &Subject<'_>, id: Id, what: &str) -> Option<Finding> {
        let (row, col, value) = self.first?;
        let n = self.count;
        let (verb, noun) = if n == 1 { ("is", what.to_owned()) } else { ("are", plural(what)) };
        let what = format!("{n} {noun} {verb} NaN or infinite, first block ({row}, {col}): {value}");
        let remedy = "quantize the weight again; `dequantize --allow-nan` decodes its codes all the same";
        let tensor = &of.checkpoint.source.tensors[id];
        Some(of.finding(Kind::NotFinite, Severity::Error, tensor, what, remedy))
    }
}

fn plural(what: &str) -> String {
    if what.ends_with('s') { format!("{what}es") } else { format!("{what}s") }
}

fn weight(of: &Subject<'_>, coding: &Coding, findings: &mut Vec<Finding>) -> Result<()> {
    let source = &of.checkpoint.source;
    let decoder = Decoder::new(source, coding, true)?;
    if coding.elements == 0 {
        return Ok(());
    }
    if let Codes::Table(values) = &coding.values {
        let values: Vec<f64> = values.iter().copied().map(f64::from).collect();
        let mut entries = NotFinite::default();
        entries.add(0, &values);
        if let Some((_, entry, value)) = entries.first {
            let what = format!("entry {entry} of the table of codes is {value}");
            let remedy = "quantize the weight again";
            findings.push(of.finding(Kind::NotFinite, Severity::Error, decoder.codes, what, remedy));
        }
    }
    let Some(scales) = &coding.scales else { return Ok(()) };
    let id = match &scales.data {
        ScaleData::Tensor(id, _) => *id,
        ScaleData::Nested(nested) => nested.absmax,
    };
    let [rows, cols] = scales.grid;
    let (mut line, mut zero) = (Line::default(), vec![false; coding.batches * rows * cols]);
    let (mut of_scales, mut of_biases) = (NotFinite::default(), NotFinite::default());
    for row in 0..coding.batches * rows {
        decoder.load(&mut line, row)?;
        of_scales.add(row, &line.scales);
        of_biases.add(row, &line.biases);
        for (zero, scale) in zero[row * cols..].iter_mut().zip(&line.scales) {
            *zero = *scale == 0.0;
        }
    }
    findings.extend(of_scales.finding(of, id, "scale"));
    findings.extend(coding.biases.and_then(|biases| of_biases.finding(of, biases, "bias")));
    // With a bias, a block of equal values has the scale 0.
    if coding.biases.is_none() && zero.contains(&true) {
        let hidden = hidden(&decoder, scales, &zero).map_err(|e| e.tensor(source, decoder.codes))?;
        if hidden > 0 {
            let blocks = if hidden == 1 { "block" } else { "blocks" };
            let what =
                format!("{hidden} {blocks} have the scale 0 and codes other than 0, which decode to 0");
            let remedy =
                "quantize the weight again with larger scales, or check that the values are negligible";
            let tensor = &source.tensors[id];
            findings.push(of.finding(Kind::ZeroScale, Severity::Warning, tensor, what, remedy));
        }
    }
    Ok(())
}

/// The number of blocks of scale 0 that have a code other than zero.
fn hidden(decoder: &Decoder<'_>, scales: &Scales, zero: &[bool]) -> Result<usize> {
    let Coding { packing, batches, rows, cols, elements, groups, .. } = *decoder.coding;
    let [grid_rows, grid_cols] = scales.grid;
    let axis = groups.map(|(_, axis)| axis);
    let (mut line, mut fields) = (Line::default(), vec![0; cols]);
    let mut found = vec![false; zero.len()];
    for batch in 0..batches {
        // Words that run down a column need the whole matrix for each row.
        let whole = match packing.along {
            Along::Columns => Some(decoder.patch(batch, 0..rows, 0..cols)?),
            Along::Rows => None,
        };
        for row in 0..rows {
            let block = if axis == Some(Axis::Rows) { decoder.groups[row] } else { row / scales.block[0] };
            let block = batch * grid_rows + block;
            let first = block * grid_cols;
            if !zero[first..first + grid_cols].contains(&true) {
                continue;
            }
            decoder.load(&mut line, block)?;
            match &whole {
                Some(whole) => whole.unpack(row, 0..cols, &mut fields),
                None => decoder.patch(batch, row..row + 1, 0..cols)?.unpack(row, 0..cols, &mut fields),
            }
            // The last row may be shorter.
            let cols = cols.min(elements.saturating_sub((batch * rows + row) * cols));
            for (col, field) in fields[..cols].iter().enumerate() {
                let of =
                    if axis == Some(Axis::Columns) { decoder.groups[col] } else { col / scales.block[1] };
                let origin = line.zeros.get(of).copied().unwrap_or(0.0);
                found[first + of] |= zero[first + of] && decoder.table[usize::from(*field)] != origin;
            }
        }
    }
    Ok(found.into_iter().filter(|found| *found).count())
}
