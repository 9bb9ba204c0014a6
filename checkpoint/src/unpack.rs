//! Fields of a few bits, unpacked to a byte each.

use std::ops::Range;

use crate::coding::{Along, Order, Packing};

/// The place of code `i` of eight in a word of AWQ.
const AWQ: [usize; 8] = [0, 4, 1, 5, 2, 6, 3, 7];

impl Packing {
    /// Writes the fields of `row` in the columns `cols` to `out`. `matrix` begins with row 0.
    pub(crate) fn unpack(&self, matrix: &[u8], row: usize, cols: Range<usize>, out: &mut [u8]) {
        if self.along == Along::Columns {
            return self.unpack_down(matrix, row, cols, out);
        }
        let row = &matrix[row * self.pitch..(row + 1) * self.pitch];
        match (self.order, self.bits) {
            (Order::LowFirst, 8) => out.copy_from_slice(&row[cols]),
            (Order::LowFirst, 4) if cols.start.is_multiple_of(2) => {
                pairs(&row[cols.start / 2..], out, |byte| [byte & 15, byte >> 4])
            }
            (Order::HighNibbleFirst, 4) if cols.start.is_multiple_of(2) => {
                pairs(&row[cols.start / 2..], out, |byte| [byte >> 4, byte & 15]);
            }
            (Order::LowFirst, bits) => {
                let mask = u16::MAX >> (16 - bits);
                for (out, col) in out.iter_mut().zip(cols) {
                    let bit = col * bits as usize;
                    let next = row.get(bit / 8 + 1).copied().unwrap_or(0);
                    let both = u16::from_le_bytes([row[bit / 8], next]);
                    *out = (both >> (bit % 8) & mask) as u8;
                }
            }
            (Order::HighNibbleFirst, _) => {
                for (out, col) in out.iter_mut().zip(cols) {
                    *out = row[col / 2] >> (4 * (1 - col % 2)) & 15;
                }
            }
            (Order::Awq, _) => {
                for (out, col) in out.iter_mut().zip(cols) {
                    let place = AWQ[col % 8];
                    *out = row[4 * (col / 8) + place / 2] >> (4 * (place % 2)) & 15;
                }
            }
        }
    }

    /// Rows that share a stored row.
    pub(crate) const fn deep(&self) -> usize {
        match self.along {
            Along::Rows => 1,
            Along::Columns => 32 / self.bits as usize,
        }
    }

    /// Sets the fields of `row`, which are zero before. `matrix` begins with row 0; fields have 4 bits.
    pub(crate) fn pack(&self, matrix: &mut [u8], row: usize, fields: &[u8]) {
        debug_assert_eq!(self.bits, 4);
        if self.along == Along::Columns {
            let (row, place) = (row / 8 * self.pitch, row % 8);
            let words = matrix[row..row + self.pitch].chunks_exact_mut(4).zip(fields);
            return words.for_each(|(word, field)| word[place / 2] |= field << (4 * (place % 2)));
        }
        let row = &mut matrix[row * self.pitch..(row + 1) * self.pitch];
        for (col, field) in fields.iter().enumerate() {
            let (byte, high) = match self.order {
                Order::LowFirst => (col / 2, col % 2),
                Order::HighNibbleFirst => (col / 2, 1 - col % 2),
                Order::Awq => (4 * (col / 8) + AWQ[col % 8] / 2, AWQ[col % 8] % 2),
            };
            row[byte] |= field << (4 * high);
        }
    }

    fn unpack_down(&self, matrix: &[u8], row: usize, cols: Range<usize>, out: &mut [u8]) {
        let (bit, mask) = (row * self.bits as usize, u64::from(u8::MAX >> (8 - self.bits)));
        let (word, shift) = (bit / 32, bit % 32);
        let crosses = shift + self.bits as usize > 32;
        let words = |word: usize| matrix[word * self.pitch..][4 * cols.start..4 * cols.end].as_chunks().0;
        let (low, high) = (words(word), words(if crosses { word + 1 } else { word }));
        for (out, (low, high)) in out.iter_mut().zip(low.iter().zip(high)) {
            let high = if crosses { u32::from_le_bytes(*high) } else { 0 };
            *out = ((u64::from(u32::from_le_bytes(*low)) | u64::from(high) << 32) >> shift & mask) as u8;
        }
    }
}

/// Writes the two fields of each byte.
fn pairs(bytes: &[u8], out: &mut [u8], fields: impl Fn(u8) -> [u8; 2]) {
    let (whole, last) = out.as_chunks_mut();
    for (out, byte) in whole.iter_mut().zip(bytes) {
        *out = fields(*byte);
    }
    if let ([last], Some(byte)) = (last, bytes.get(whole.len())) {
        [*last, _] = fields(*byte);
    }
}

/// The place of a scale in tiles of 128 rows by 4 columns; `cols` is the number of stored columns, a multiple of 4.
pub(crate) fn swizzle(row: usize, col: usize, cols: usize) -> usize {
    ((row / 128) * (cols / 4) + col / 4) * 512 + (row % 32) * 16 + (row % 128) / 32 * 4 + col % 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_fields_are_unpacked_again() {
        let (rows, cols) = (19, 40);
        let field = |row: usize, col: usize| (row * 7 + col * 3) as u8 & 15;
        for packing in [
            Packing::rows(4, 20),
            Packing::rows(4, 20).with_order(Order::HighNibbleFirst),
            Packing::rows(4, 20).with_order(Order::Awq),
            Packing::columns(4, cols),
        ] {
            let mut matrix = vec![0; packing.stored_rows(rows) * packing.pitch];
            for row in 0..rows {
                packing.pack(&mut matrix, row, &(0..cols).map(|col| field(row, col)).collect::<Vec<u8>>());
            }
            for row in 0..rows {
                let mut out = vec![0; cols];
                packing.unpack(&matrix, row, 0..cols, &mut out);
                assert!(
                    out.iter().enumerate().all(|(col, have)| *have == field(row, col)),
                    "{packing:?} {row}"
                );
            }
        }
    }

    /// Fields of every width, set bit by bit, along rows and down columns.
    #[test]
    fn fields_are_where_their_bits_are() {
        for bits in 1..=8_u32 {
            let (rows, cols) = (33, 5);
            let field = |row: usize, col: usize| (row * 37 + col * 11) as u8 & u8::MAX >> (8 - bits);
            let mut along = vec![0_u8; rows * 8];
            let mut down = vec![0_u8; (rows * bits as usize).div_ceil(32) * 4 * cols];
            for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
                for i in (0..bits as usize).filter(|i| field(row, col) >> i & 1 == 1) {
                    let (a, d) = (col * bits as usize + i, row * bits as usize + i);
                    along[row * 8 + a / 8] |= 1 << (a % 8);
                    down[(d / 32 * cols + col) * 4 + d % 32 / 8] |= 1 << (d % 8);
                }
            }
            for row in 0..rows {
                let want: Vec<u8> = (1..cols).map(|col| field(row, col)).collect();
                let mut have = vec![0; cols - 1];
                Packing::rows(bits, 8).unpack(&along, row, 1..cols, &mut have);
                assert_eq!(have, want, "{bits} bits, row {row}");
                Packing::columns(bits, cols).unpack(&down, row, 1..cols, &mut have);
                assert_eq!(have, want, "{bits} bits down, row {row}");
            }
        }
    }

    #[test]
    fn nibbles_have_orders_of_their_own() {
        let word = 0x7654_3210_u32.to_le_bytes();
        let order = |order| {
            let mut out = [0; 8];
            Packing::rows(4, 4).with_order(order).unpack(&word, 0, 0..8, &mut out);
            out
        };
        assert_eq!(order(Order::LowFirst), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(order(Order::HighNibbleFirst), [1, 0, 3, 2, 5, 4, 7, 6]);
        // Nibble i of a word holds code 0 2 4 6 1 3 5 7 [i].
        assert_eq!(order(Order::Awq), [0, 4, 1, 5, 2, 6, 3, 7]);
    }
}
