//! `.npz`: a ZIP archive of `.npy` members.
//!
//! Members that are cast are decompressed, cast and compressed again as a stream; all others are copied in
//! their compressed form. No size stated in the archive is trusted before it is checked: entries must not
//! overlap, the directory entry and the array header must agree on the length of a member, and a member is
//! read to its end, where its checksum is verified.

pub(crate) mod archive;
mod fuse;
mod recast;

use std::{io::Read, mem::ManuallyDrop};

use lanecast::DType;
use zip::{CompressionMethod, ZipWriter, result::ZipError, write::FullFileOptions};

use self::{
    archive::{Archive, LARGE, array_name, compression, name_and_size, open_archive, open_member, writing},
    fuse::Fuse,
    recast::Recast,
};
use super::{
    format::{Contents, FileFormat, Job, NewTensor, Place, Probe, TensorInfo, Work, is_field, quoted},
    input::Input,
    npy,
};
use crate::{
    error::{Error, Result},
    extensions,
    output::Output,
};

/// The format.
#[derive(Debug)]
pub struct Npz;

impl FileFormat for Npz {
    fn name(&self) -> &'static str {
        "npz"
    }

    fn extensions(&self) -> &'static [&'static str] {
        extensions::NPZ
    }

    fn help(&self) -> &'static str {
        include_str!("help.txt")
    }

    fn hidden(&self, dtype: DType) -> Option<String> {
        npy::Npy.hidden(dtype)
    }

    /// Recognises archives whose first member is a `.npy` file, and archives without members. Other formats, such as PyTorch's `.pt`,
    /// are archives too.
    fn recognizes(&self, probe: &mut Probe<'_>) -> bool {
        let head = probe.head;
        if head.starts_with(b"PK\x05\x06") {
            return probe.length == 22;
        }
        let Some(&[low, high]) = head.get(26..28) else { return false };
        let name = head.get(30..).unwrap_or_default();
        let name = name.get(..usize::from(u16::from_le_bytes([low, high])));
        head.starts_with(b"PK\x03\x04") && name.is_some_and(|name| name.ends_with(b".npy"))
    }

    fn holds_checkpoints(&self) -> bool {
        true
    }

    fn open(&self, input: Input) -> Result<Box<dyn Contents>> {
        Ok(Box::new(Opened::new(input)?))
    }

    fn plan<'a>(&self, input: Input, job: &'a Job) -> Result<Box<dyn Work + 'a>> {
        Ok(Box::new(Recast::new(input, job)?))
    }

    /// Writes without compression, as `numpy.savez` does.
    fn write(
        &self,
        tensors: &[NewTensor<'_>],
        metadata: &[(String, String)],
        output: &mut Output,
    ) -> Result<()> {
        if !metadata.is_empty() {
            let what = "a .npz file has no metadata";
            return Err(Error::unsupported(what).advise("leave it out, or write another format"));
        }
        let shown = output.path().to_owned();
        let failed = |e: ZipError| writing(e).at_path(&shown);
        let mut zip = ManuallyDrop::new(ZipWriter::new(Fuse::new(output.writer(), None)));
        for tensor in tensors {
            let large = tensor.data.len() as u64 >= LARGE;
            let options =
                FullFileOptions::default().compression_method(CompressionMethod::Stored).large_file(large);
            zip.start_file(format!("{}.npy", tensor.name), options).map_err(failed)?;
            npy::write_array(tensor, &mut *zip, |e| Error::writing(e).at_path(&shown))?;
        }
        ManuallyDrop::into_inner(zip).finish().map_err(failed)?.result().map_err(|e| e.at_path(&shown))
    }
}

/// An archive opened to be read.
struct Opened {
    archive: Archive,
    tensors: Vec<TensorInfo>,
    /// The member of each tensor.
    members: Vec<usize>,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened").field("tensors", &self.tensors).finish_non_exhaustive()
    }
}

impl Opened {
    fn new(input: Input) -> Result<Self> {
        let mut archive = open_archive(input.file)?;
        let (mut tensors, mut members) = (Vec::new(), Vec::new());
        for index in 0..archive.len() {
            let (name, size) = name_and_size(&archive, index)?;
            let listed = match array_name(&name) {
                Some(array) => open_member(&mut archive, index)
                    .and_then(|mut member| npy::read_header(&mut member, size))
                    .and_then(|header| npy::listed(array, &header, size, Place::Member))
                    .map_err(|e| e.at(quoted("member", &name)))?,
                None => vec![TensorInfo {
                    name,
                    buffer: None,
                    described: "not an array".into(),
                    shape: None,
                    fortran_order: false,
                    elements: None,
                    bytes: size,
                    place: Place::Member,
                    compression: None,
                }],
            };
            let compression = compression(&archive, index)?;
            let listed = listed
                .into_iter()
                .map(|tensor| TensorInfo { compression: Some(compression.clone()), ..tensor });
            tensors.extend(listed);
            members.resize(tensors.len(), index);
        }
        Ok(Self { archive, tensors, members })
    }
}

impl Contents for Opened {
    fn tensors(&self) -> &[TensorInfo] {
        &self.tensors
    }

    fn metadata(&self) -> &[(String, String)] {
        &[]
    }

    fn reader(&mut self, index: usize) -> Result<Box<dyn Read + '_>> {
        if self.tensors[index].place == Place::Field {
            return Err(is_field());
        }
        let mut member = open_member(&mut self.archive, self.members[index])?;
        let size = member.size();
        // A member that is not an array has no array header.
        if member.name().is_ok_and(|name| array_name(&name).is_some()) {
            let header = npy::header::Header::read(&mut member, size)?;
            let data = npy::data_len(&header, size)?;
            if data < size.saturating_sub(header.bytes) {
                return Ok(Box::new(member.take(data)));
            }
        }
        Ok(Box::new(member))
    }
}
