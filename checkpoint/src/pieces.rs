//! Pieces of a tensor that are equally far apart: columns of a matrix.

use std::io::{Read, Seek};

use lanecast_files::{Error, Result};

use crate::{
    error::At,
    source::{Source, Stored},
};

/// Pieces that begin at most this number of bytes apart are read together.
const PAGE: usize = 1 << 12;
/// Bytes that are read at once for such pieces.
const SPAN: usize = 1 << 16;

impl Source {
    /// Reads `count` pieces of `width` bytes, which begin `pitch` bytes apart, the first of them at `first`. Bytes behind the tensor
    /// are zero.
    pub(crate) fn read_pieces(
        &self,
        tensor: &Stored,
        first: usize,
        [pitch, width]: [usize; 2],
        count: usize,
    ) -> Result<Vec<u8>> {
        let mut bytes = vec![0; count * width];
        let fits = |at: usize, len: usize| tensor.bytes.saturating_sub(at).min(len);
        if pitch == width || count <= 1 {
            let have = fits(first, bytes.len());
            self.read(tensor, first, &mut bytes[..have])?;
            return Ok(bytes);
        }
        if pitch <= PAGE && width > 0 {
            return self.read_close_pieces(tensor, first, [pitch, width], bytes);
        }
        let mut file = self.reader(tensor, first)?;
        let failed = |e| Error::reading(&e).tensor(self, tensor);
        for (i, piece) in bytes.chunks_exact_mut(width.max(1)).enumerate() {
            let have = fits(first + i * pitch, width);
            file.read_exact(&mut piece[..have]).map_err(failed)?;
            file.seek_relative((pitch - width) as i64).map_err(failed)?;
        }
        Ok(bytes)
    }

    /// As [`read_pieces`](Self::read_pieces), with the bytes between the pieces: if pieces are close together, a system call for each
    /// takes longer.
    fn read_close_pieces(
        &self,
        tensor: &Stored,
        first: usize,
        [pitch, width]: [usize; 2],
        mut bytes: Vec<u8>,
    ) -> Result<Vec<u8>> {
        let mut file = self.reader(tensor, first)?;
        let mut span = vec![0; SPAN / pitch * pitch];
        let mut at = first;
        for pieces in bytes.chunks_mut(SPAN / pitch * width) {
            let len = (pieces.len() / width - 1) * pitch + width;
            let have = tensor.bytes.saturating_sub(at).min(pieces.len() / width * pitch);
            file.read_exact(&mut span[..have]).map_err(|e| Error::reading(&e).tensor(self, tensor))?;
            span[have.min(len)..len].fill(0);
            for (piece, span) in pieces.chunks_exact_mut(width).zip(span.chunks(pitch)) {
                piece.copy_from_slice(&span[..width]);
            }
            at += pieces.len() / width * pitch;
        }
        Ok(bytes)
    }
}
