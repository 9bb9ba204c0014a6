//! Weights whose values other readers may read differently, which a warning names.

use lanecast_files::Result;

use crate::{
    checkpoint::{Checkpoint, Content},
    coding::Zeros,
};

impl Checkpoint {
    /// What is doubtful about a weight.
    ///
    /// Zero points that are stored less one: a field of all ones is the zero point 0 if one is added to the field, as it is here. GPTQModel's
    /// kernels add to the whole word, so that the carry changes the next zero point.
    pub(crate) fn doubt(&self, content: &Content) -> Result<Option<String>> {
        let Content::Coded(coding) = content else { return Ok(None) };
        if coding.elements == 0 {
            return Ok(None);
        }
        let (Zeros::Tensor { id, packing, less_one: true, .. }, Some(scales)) =
            (&coding.zeros, &coding.scales)
        else {
            return Ok(None);
        };
        let tensor = &self.source.tensors[*id];
        let [rows, cols] = scales.grid;
        let bytes = self.source.read_all(tensor)?;
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
        let file = self.source.files[tensor.file].path.display();
        Ok((count > 0).then(|| {
            format!("{file}, tensor \"{}\": {count} fields of all ones are read as the zero point 0; some kernels carry the 1 into the next field", tensor.name)
        }))
    }
}
