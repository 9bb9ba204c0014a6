//! The members of a ZIP archive that is no `.npz` file, such as a file of PyTorch.
//!
//! An archive is opened with the limits of `.npz` files: its directory is small, members do not overlap, and local headers agree with the
//! directory.

use std::{io::Read, path::Path};

use zip::CompressionMethod;

use crate::{
    error::{Error, Result},
    formats::{
        Input,
        format::quoted,
        npz::archive::{self, open_archive, open_member, reading},
    },
};

/// A member.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its size in bytes, when it is decompressed.
    pub bytes: u64,
    /// The first of its bytes in the file, if they are stored there as they are: not compressed, not encrypted.
    pub stored_at: Option<u64>,
}

/// An opened archive.
pub struct Archive {
    archive: archive::Archive,
    members: Vec<Member>,
}

impl std::fmt::Debug for Archive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Archive").field("members", &self.members).finish_non_exhaustive()
    }
}

impl Archive {
    /// Opens an archive and reads its directory.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be opened; [`Error::Format`] if it is no archive, or a damaged one; [`Error::Unsupported`] if its
    /// directory is too large.
    pub fn open(path: &Path) -> Result<Self> {
        Self::of(Input::open(path)?).map_err(|e| e.in_path(path))
    }

    fn of(input: Input) -> Result<Self> {
        let length = input.length;
        let mut archive = open_archive(input.file)?;
        let mut members = Vec::new();
        for index in 0..archive.len() {
            let entry = archive.by_index_data(index).map_err(reading)?;
            let (name, bytes) = (entry.name().map_err(reading)?.into_owned(), entry.size());
            let plain = entry.compression() == CompressionMethod::Stored
                && !entry.encrypted()
                && entry.compressed_size() == bytes;
            let stored_at = match plain {
                true => archive.by_index_raw(index).map_err(reading)?.data_start(),
                false => None,
            };
            if stored_at.is_some_and(|start| start.checked_add(bytes).is_none_or(|end| end > length)) {
                let what = "the member extends beyond the end of the file";
                return Err(Error::format(what).at(quoted("member", &name)));
            }
            members.push(Member { name, bytes, stored_at });
        }
        Ok(Self { archive, members })
    }

    /// The members, in the order of the directory.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The bytes of a member, which are at most `limit`.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if there are more or if the compression is not known, [`Error::Format`] or [`Error::Io`] if they cannot be read.
    ///
    /// # Panics
    ///
    /// If `index` is out of range.
    pub fn read(&mut self, index: usize, limit: u64) -> Result<Vec<u8>> {
        let name = &self.members[index].name;
        let place = |e: Error| e.at(quoted("member", name));
        let mut bytes = Vec::new();
        let member = open_member(&mut self.archive, index).map_err(place)?;
        member
            .take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|e| place(Error::reading(&e)))?;
        match bytes.len() as u64 > limit {
            true => Err(place(Error::unsupported(format!("the member has more than {limit} bytes")))),
            false => Ok(bytes),
        }
    }
}
