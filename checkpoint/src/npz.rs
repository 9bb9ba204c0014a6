//! Archives of arrays (`.npz`), read by `lanecast-files`.
//!
//! Members may be compressed, big-endian or in Fortran order, so their elements go through a temporary file (`spool`).

use std::{
    collections::HashMap,
    io::Read,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use lanecast::{ByteOrder, Bytes, BytesMut, CastOptions, CastPlan, DType, Encoding};
use lanecast_files::{Error, Place, Result, TensorFile, TensorInfo};

use crate::{
    checkpoint::little,
    error::{invalid, unsupported},
    source::{Elements, Source, Stored, TensorsFile, Via},
    spool::{in_c_order, wrong_length},
};

/// Elements that are copied at once.
const PART: usize = 1 << 18;

/// The archives of a checkpoint, by the index of the file.
pub(crate) type Archives = HashMap<usize, Mutex<TensorFile>>;

impl Source {
    /// Adds an archive, and returns its arrays.
    pub(crate) fn read_npz(
        &mut self,
        path: PathBuf,
        name: String,
        opened: TensorFile,
    ) -> Vec<Result<Stored>> {
        let (file, mut arrays) = (self.files.len(), Vec::new());
        self.files.push(TensorsFile::new(path, name));
        for (index, tensor) in opened.tensors().iter().enumerate() {
            // A member that is no array.
            if tensor.place == Place::Member && tensor.buffer.is_none() && tensor.shape.is_none() {
                let what = format!("{}: the member \"{}\" is no array", opened.path().display(), tensor.name);
                self.warnings.push(what);
                continue;
            }
            let place = |e: Error| e.at(format!("tensor \"{}\"", tensor.name)).in_path(opened.path());
            arrays.push(stored(tensor, index, file).map_err(place));
        }
        self.archives.insert(file, Mutex::new(opened));
        arrays
    }

    /// Writes the elements of an array, little-endian and in C order. An array in Fortran order is held in memory.
    pub(crate) fn member(
        &self,
        tensor: &Stored,
        index: usize,
        write: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let Some(archive) = self.archives.get(&tensor.file) else { return Ok(()) };
        let mut archive = archive.lock().unwrap_or_else(PoisonError::into_inner);
        let info = archive.tensors()[index].clone();
        let (dtype, n) = (tensor.dtype().unwrap_or(DType::UInt8), tensor.len());
        let Some(buffer) = info.buffer else { return Ok(()) };
        let mut convert = Convert::new(buffer)?;
        if info.fortran_order && tensor.shape.len() > 1 && n > 0 {
            let bytes = archive.read(index)?;
            let size = Encoding::new(dtype).byte_len(1).unwrap_or(1);
            let mut stride = 1;
            let strides: Vec<usize> = tensor
                .shape
                .iter()
                .map(|axis| {
                    stride *= axis;
                    stride / axis
                })
                .collect();
            let mut ordered = Vec::with_capacity(bytes.len());
            in_c_order(&bytes, &tensor.shape, &strides, size, &mut |row| {
                ordered.extend_from_slice(row);
                Ok(())
            })?;
            return write(convert.run(&ordered, n)?);
        }
        let mut reader = archive.reader(index)?;
        let mut bytes = Vec::new();
        for first in (0..n).step_by(PART) {
            let count = PART.min(n - first);
            bytes.resize(buffer.byte_len(count).unwrap_or(0), 0);
            reader.read_exact(&mut bytes).map_err(|e| Error::reading(&e))?;
            write(convert.run(&bytes, count)?)?;
        }
        // The end of the member, where its checksum is verified.
        match reader.read(&mut [0]).map_err(|e| Error::reading(&e))? {
            0 => Ok(()),
            _ => Err(wrong_length(tensor.bytes)),
        }
    }
}

/// An array as a tensor of a checkpoint.
fn stored(tensor: &TensorInfo, index: usize, file: usize) -> Result<Stored> {
    if tensor.place != Place::Member {
        return Err(unsupported("a field of a structured array is no tensor of a checkpoint"));
    }
    let dtype = tensor.dtype().ok_or_else(|| {
        unsupported(format!(
            "the descriptor \"{}\" does not tell the dtype of the elements",
            tensor.described
        ))
    })?;
    let whole = |axis: &u64| usize::try_from(*axis).ok();
    let shape: Option<Vec<usize>> = tensor.shape.iter().flatten().map(whole).collect();
    let n = shape.as_ref().and_then(|shape| shape.iter().try_fold(1_usize, |n, axis| n.checked_mul(*axis)));
    let bytes = n.and_then(|n| little(dtype).byte_len(n));
    let (Some(shape), Some(bytes)) = (shape, bytes) else {
        return Err(unsupported("the tensor is larger than memory could hold"));
    };
    if tensor.elements.is_some_and(|elements| Some(elements) != n.map(|n| n as u64)) {
        return Err(invalid("the shape and the number of elements disagree"));
    }
    let (name, elements) = (tensor.name.clone(), Elements::Plain(dtype));
    Ok(Stored { name, elements, shape, file, start: 0, bytes, via: Via::Member(index) })
}

/// Elements of a file made packed and little-endian. All bits stay: a cast would change the bits of some NaN.
struct Convert {
    plan: Option<CastPlan>,
    /// Bytes of a number whose order is reversed.
    swapped: Option<usize>,
    to: Encoding,
    out: Vec<u8>,
}

impl Convert {
    fn new(from: Encoding) -> Result<Self> {
        let (dtype, to) = (from.dtype(), little(from.dtype()));
        let plan = match dtype.bits() < 8 {
            true => Some(CastPlan::new(from, to, &CastOptions::RUST)?),
            false => None,
        };
        // Both parts of a complex number are numbers.
        let parts = if matches!(dtype, DType::Complex64 | DType::Complex128) { 2 } else { 1 };
        let unit = dtype.size() / parts;
        let swapped = (from.order() == ByteOrder::Big && unit > 1).then_some(unit);
        Ok(Self { plan, swapped, to, out: Vec::new() })
    }

    fn run<'b>(&'b mut self, bytes: &'b [u8], n: usize) -> Result<&'b [u8]> {
        if let Some(plan) = &self.plan {
            self.out.resize(self.to.byte_len(n).unwrap_or(0), 0);
            plan.run(Bytes::new(bytes, n), BytesMut::new(&mut self.out, n))?;
            return Ok(&self.out);
        }
        let Some(unit) = self.swapped else { return Ok(bytes) };
        self.out.clear();
        self.out.extend(bytes.chunks_exact(unit).flat_map(|number| number.iter().rev()));
        Ok(&self.out)
    }
}
