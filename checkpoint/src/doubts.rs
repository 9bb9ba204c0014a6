//! Weights whose values other readers may read differently, which a warning names.

use std::collections::BTreeMap;

use lanecast::DType;
use lanecast_files::Result;

use crate::{
    checkpoint::{Checkpoint, Content},
    coding::{Along, Codes, Coding, Factor, ScaleData, Zeros},
    quantize::set_of,
};

/// Elements whose codes are read at once.
const PART: usize = 1 << 20;

impl Checkpoint {
    /// What is doubtful about a weight that was decoded.
    pub(crate) fn doubts(&self, content: &Content) -> Result<Vec<String>> {
        let Content::Coded(coding) = content else { return Ok(Vec::new()) };
        if coding.elements == 0 {
            return Ok(Vec::new());
        }
        Ok([self.carried_zeros(coding)?, self.zero_scales(coding)?].into_iter().flatten().collect())
    }

    /// The tensor of a message.
    fn named(&self, id: usize) -> String {
        let tensor = &self.source.tensors[id];
        format!("{}, tensor \"{}\"", self.source.files[tensor.file].path.display(), tensor.name)
    }

    /// Zero points that are stored less one: a field of all ones is the zero point 0 if one is added to the field, as it is here. GPTQModel's
    /// kernels add to the whole word, so that the carry changes the next zero point.
    pub(crate) fn carried_zeros(&self, coding: &Coding) -> Result<Option<String>> {
        let (Zeros::Tensor { id, packing, less_one: true, .. }, Some(scales)) =
            (&coding.zeros, &coding.scales)
        else {
            return Ok(None);
        };
        let [rows, cols] = scales.grid;
        let bytes = self.source.read_all(&self.source.tensors[*id])?;
        if bytes.len() < packing.stored_rows(rows) * packing.pitch {
            // The decoder refuses it.
            return Ok(None);
        }
        let (ones, mut fields) = (u8::MAX >> (8 - packing.bits), vec![0; cols]);
        let mut count = 0;
        for row in 0..rows {
            packing.unpack(&bytes, row, 0..cols, &mut fields);
            count += fields.iter().filter(|field| **field == ones).count();
        }
        Ok((count > 0).then(|| {
            format!("{}: {count} fields of all ones are read as the zero point 0; some kernels carry the 1 into the next field", self.named(*id))
        }))
    }

    /// Scales of zero beside codes that are not zero: the values are zero, which the writer of the codes cannot have meant.
    fn zero_scales(&self, coding: &Coding) -> Result<Option<String>> {
        let Coding { packing, batches, rows, cols, .. } = *coding;
        let (Codes::Float(_) | Codes::Signed, Zeros::None, Some(scales)) =
            (&coding.values, &coding.zeros, &coding.scales)
        else {
            return Ok(None);
        };
        let ScaleData::Tensor(id, dtype) = scales.data else { return Ok(None) };
        // Powers of two are not zero.
        let is_plain = dtype != DType::Float8E8M0FNU
            && scales.swizzled.is_none()
            && coding.groups.is_none()
            && packing.along == Along::Rows;
        if !is_plain {
            return Ok(None);
        }
        let bytes = self.source.read_all(&self.source.tensors[id])?;
        let [grid_rows, grid_cols] = scales.grid;
        let is_zero = |block: usize| {
            let scale = &bytes[block * dtype.size()..][..dtype.size()];
            let (last, others) = (scale[dtype.size() - 1], &scale[..dtype.size() - 1]);
            last & 0x7F == 0 && others.iter().all(|byte| *byte == 0)
        };
        let sign = if matches!(coding.values, Codes::Signed) { 0 } else { 1 << (packing.bits - 1) };
        let [height, width] = scales.block;
        let step = (PART / cols.max(1) / height).max(1) * height;
        let (mut count, mut fields, mut codes) = (0, vec![0; cols], Vec::new());
        for batch in 0..batches {
            for first in (0..rows).step_by(step) {
                let end = rows.min(first + step);
                let blocks = |row: usize| {
                    let first = (batch * grid_rows + row / height) * grid_cols;
                    first..first + grid_cols
                };
                // Codes are read only beside a zero.
                let all = blocks(first).start..blocks(end - 1).end;
                if !all.clone().any(is_zero) {
                    continue;
                }
                codes.resize((end - first) * packing.pitch, 0);
                let start = (batch * rows + first) * packing.pitch;
                self.source.read(&self.source.tensors[coding.codes], start, &mut codes)?;
                let mut counted = vec![false; all.len()];
                for row in first..end {
                    packing.unpack(&codes, row - first, 0..cols, &mut fields);
                    for (block, fields) in blocks(row).zip(fields.chunks(width)) {
                        counted[block - all.start] |=
                            is_zero(block) && fields.iter().any(|field| field & !sign != 0);
                    }
                }
                count += counted.into_iter().filter(|counted| *counted).count();
            }
        }
        Ok((count > 0).then(|| {
            let blocks = if count == 1 { "1 scale is" } else { &format!("{count} scales are") };
            format!("{}: {blocks} zero beside codes that are not zero; the values are zero", self.named(id))
        }))
    }

    /// A warning about weights that a runtime fuses and whose scales of the tensor differ: it uses one of the scales for all.
    pub(crate) fn unequal_factors(&self) -> Result<Option<String>> {
        let mut sets: BTreeMap<String, Vec<(usize, Vec<u8>)>> = BTreeMap::new();
        for (tensor, content) in self.tensors().iter().zip(&self.contents) {
            let Content::Coded(coding) = content else { continue };
            let (Factor::Times(id) | Factor::Over(id)) = coding.factor else { continue };
            let module = tensor.name.strip_suffix(".weight").unwrap_or(&tensor.name);
            let set = set_of(module);
            let factor = self.source.read_all(&self.source.tensors[id])?;
            sets.entry(set).or_default().push((id, factor));
        }
        let differ = |of: &&Vec<(usize, Vec<u8>)>| of.iter().any(|(_, factor)| *factor != of[0].1);
        let mut unequal = sets.values().filter(differ);
        let Some(first) = unequal.next() else { return Ok(None) };
        let others = unequal.count();
        let more = if others > 0 { format!(" ({others} more such sets)") } else { String::new() };
        let names: Vec<&str> = first.iter().map(|(id, _)| &*self.source.tensors[*id].name).collect();
        let (file, names) = (self.named(first[0].0), names[1..].join("\", \""));
        Ok(Some(format!(
            "{file}: the scale differs from \"{names}\", and vLLM uses the largest for all of them{more}"
        )))
    }
}
