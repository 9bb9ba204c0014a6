//! Tensors that their file does not have as elements in C order at an offset: tensors of archives, and views with other strides.
//!
//! *Law.* Readers see little-endian elements in C order, wherever they come from.
//!
//! *Method.* The first read writes all elements of a tensor to a temporary file without a name, and later reads read that. The file of the
//! last such tensor is kept: a decoder reads the codes of one weight in order, and its scales at once.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    sync::{Arc, Mutex, PoisonError},
};

use lanecast::DType;
use lanecast_files::{Error, Result};

use crate::{
    error::{At, invalid},
    source::{Source, Stored, Via},
};

/// The elements of a tensor in a temporary file.
type Shared = Arc<Mutex<File>>;

/// The last tensor that was written to a temporary file, by its name.
#[derive(Debug, Default)]
pub(crate) struct Spool(Mutex<Option<(String, Shared)>>);

/// A reader of a temporary file with a position of its own.
pub(crate) struct SpoolReader {
    file: Shared,
    at: u64,
}

impl SpoolReader {
    pub(crate) fn new(file: Shared, at: u64) -> Self {
        Self { file, at }
    }
}

impl Read for SpoolReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.at))?;
        let n = file.read(buffer)?;
        self.at += n as u64;
        Ok(n)
    }
}

impl Seek for SpoolReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // Other readers move the file, so that a place counts from that of this one.
        let to = match to {
            SeekFrom::Current(distance) => {
                SeekFrom::Start(self.at.checked_add_signed(distance).ok_or(io::ErrorKind::InvalidInput)?)
            }
            other => other,
        };
        self.at = file.seek(to)?;
        Ok(self.at)
    }
}

impl Source {
    /// The elements of a tensor that is not in its file as they are.
    pub(crate) fn spooled(&self, tensor: &Stored) -> Result<Shared> {
        let mut last = self.spool.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((name, file)) = &*last
            && *name == tensor.name
        {
            return Ok(file.clone());
        }
        // The older file goes before the newer one grows.
        *last = None;
        let folder = std::env::temp_dir();
        let failed = |e: io::Error| Error::system("cannot write a temporary file", &e).at_path(&folder);
        let mut file = tempfile::tempfile_in(&folder).map_err(failed)?;
        let mut write = |bytes: &[u8]| file.write_all(bytes).map_err(failed);
        match &tensor.via {
            Via::File => {}
            Via::Strides(strides) => self.gather(tensor, strides, &mut write)?,
            Via::Member(index) => {
                self.member(tensor, *index, &mut write).map_err(|e| e.tensor(self, tensor))?
            }
        }
        let file = Arc::new(Mutex::new(file));
        *last = Some((tensor.name.clone(), file.clone()));
        Ok(file)
    }

    /// Writes the elements of a view in C order. The part of the file that has them is held in memory.
    fn gather(
        &self,
        tensor: &Stored,
        strides: &[usize],
        write: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let size = tensor.dtype().map_or(1, DType::size);
        let last: usize = tensor.shape.iter().zip(strides).map(|(axis, stride)| (axis - 1) * stride).sum();
        let mut bytes = vec![0; (last + 1) * size];
        let mut file = self.file(tensor, 0)?;
        file.read_exact(&mut bytes).map_err(|e| Error::reading(&e).tensor(self, tensor))?;
        in_c_order(&bytes, &tensor.shape, strides, size, write)
    }
}

/// Writes elements of `size` bytes in C order of `shape`, row by row. The element of indices i, j, ... is at the index
/// `i * strides[0] + j * strides[1] + ...` of `bytes`. No axis is empty.
pub(crate) fn in_c_order(
    bytes: &[u8],
    shape: &[usize],
    strides: &[usize],
    size: usize,
    write: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let (Some((cols, outer)), Some((step, outer_strides))) = (shape.split_last(), strides.split_last())
    else {
        return write(&bytes[..size]);
    };
    let mut index = vec![0; outer.len()];
    let mut row = Vec::with_capacity(cols * size);
    loop {
        let first: usize = index.iter().zip(outer_strides).map(|(i, stride)| i * stride).sum();
        row.clear();
        for col in 0..*cols {
            let at = (first + col * step) * size;
            row.extend_from_slice(&bytes[at..at + size]);
        }
        write(&row)?;
        // The next row: the last index that can grow does, and those behind it begin again.
        let Some(axis) = (0..outer.len()).rev().find(|axis| index[*axis] + 1 < outer[*axis]) else {
            return Ok(());
        };
        index[axis] += 1;
        index[axis + 1..].fill(0);
    }
}

/// The error of a tensor that ends early or late.
pub(crate) fn wrong_length(bytes: usize) -> Error {
    invalid(format!("the tensor does not have the {bytes} bytes that dtype and shape need"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_give_transposes_and_slices() {
        let bytes: Vec<u8> = (0..24).collect();
        let gathered = |shape: &[usize], strides: &[usize], size: usize| {
            let mut out = Vec::new();
            in_c_order(&bytes, shape, strides, size, &mut |row| {
                out.extend_from_slice(row);
                Ok(())
            })
            .expect("elements");
            out
        };
        assert_eq!(gathered(&[2, 3], &[3, 1], 1), [0, 1, 2, 3, 4, 5]);
        assert_eq!(gathered(&[3, 2], &[1, 3], 1), [0, 3, 1, 4, 2, 5]);
        assert_eq!(gathered(&[2, 2], &[1, 2], 2), [0, 1, 4, 5, 2, 3, 6, 7]);
        assert_eq!(gathered(&[2, 1, 2], &[12, 7, 4], 1), [0, 4, 12, 16]);
        assert_eq!(gathered(&[], &[], 4), [0, 1, 2, 3]);
        // Column order of [2, 3, 4] is C order of the reversed axes.
        let fortran = gathered(&[2, 3, 4], &[1, 2, 6], 1);
        assert!((0..24).all(|i| fortran[(i % 2) * 12 + (i / 2 % 3) * 4 + i / 6] == i as u8));
    }
}
