//! One tensor of a checkpoint, decoded to memory.

use std::ops::Range;

use lanecast::{Bytes, CastOptions, CastPlan, DType, Element};
use lanecast_files::Result;

use crate::{
    checkpoint::{Checkpoint, little},
    error::request,
    parallel::{count, in_order},
};

/// Elements that a thread decodes at once, about.
const PART: usize = 1 << 20;

impl Checkpoint {
    /// Decodes a tensor into a slice of as many elements, in C order, on [several threads](Self::with_threads).
    ///
    /// # Errors
    ///
    /// [`Request`](crate::Error::Request) if there is no such tensor or the slice has another length; [`Format`](crate::Error::Format) if its
    /// parts are damaged or a scale is NaN or infinite; [`Unsupported`](crate::Error::Unsupported) if it cannot be cast to this dtype.
    pub fn read<T: Element>(&self, name: &str, out: &mut [T]) -> Result<()> {
        let to = T::DTYPE;
        self.check_len(name, out.len())?;
        // Little-endian elements become those of the host.
        let copy = CastPlan::new(little(to), to, &CastOptions::RUST)?;
        self.read_parts(
            name,
            to,
            out,
            |n| n,
            |bytes, out| {
                let n = bytes.len() / to.size();
                copy.run(Bytes::new(bytes, n), &mut out[..n])?;
                Ok(n)
            },
        )
    }

    /// Decodes a tensor to little-endian elements of a dtype, in C order, on [several threads](Self::with_threads).
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn read_bytes(&self, name: &str, to: DType, out: &mut [u8]) -> Result<()> {
        let n = self.content(name)?.0.elements();
        if little(to).byte_len(n) != Some(out.len()) {
            return Err(request(format!("{n} elements of {to} do not have {} bytes", out.len()))
                .at(format!("tensor \"{name}\"")));
        }
        self.read_parts(
            name,
            to,
            out,
            |n| little(to).byte_len(n).unwrap_or(0),
            |bytes, out| {
                out[..bytes.len()].copy_from_slice(bytes);
                Ok(bytes.len())
            },
        )
    }

    /// Decodes parts of a tensor to parts of `out`. `len` is the number of its items that a number of elements takes; `put` writes decoded bytes to the front of a slice,
    /// and returns the number of items.
    fn read_parts<T: Send>(
        &self,
        name: &str,
        to: DType,
        out: &mut [T],
        len: impl Fn(usize) -> usize,
        put: impl Fn(&[u8], &mut [T]) -> Result<usize> + Sync,
    ) -> Result<()> {
        let (_, content) = self.content(name)?;
        let (n, unit) = (self.elements(content), self.unit(content));
        let step = (PART / unit).max(1) * unit;
        let read = |range: Range<usize>, out: &mut [T]| {
            let mut done = 0;
            self.decode_range(content, to, false, range, &mut |bytes| {
                done += put(bytes, &mut out[done..])?;
                Ok(())
            })
        };
        let threads = count(self.threads).min(n.div_ceil(step));
        if threads <= 1 {
            return read(0..n, out);
        }
        let parts = out.chunks_mut(len(step)).enumerate();
        let jobs = parts.map(|(i, out)| ((i * step..n.min((i + 1) * step), out), 0));
        in_order(threads, jobs, |(range, out), _| read(range, out), |_| Ok(()))
    }

    fn check_len(&self, name: &str, have: usize) -> Result<()> {
        let want = self.content(name)?.0.elements();
        if want == have {
            return Ok(());
        }
        Err(request(format!("the tensor has {want} elements, and the slice {have}"))
            .at(format!("tensor \"{name}\"")))
    }

    /// Decodes a tensor in parts: `sink` takes little-endian elements of `to`, in C order. Floats of at least 16 bits are the dtypes that
    /// codes decode to.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), and the errors of `sink`.
    pub fn decode(&self, name: &str, to: DType, sink: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let (_, content) = self.content(name)?;
        self.decode_content(content, to, false, sink)
    }

    /// As [`decode`](Self::decode), by the plain decoder, without the loops of [`lanecast::scaled`].
    #[doc(hidden)]
    pub fn decode_plainly(
        &self,
        name: &str,
        to: DType,
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let (_, content) = self.content(name)?;
        self.decode_content(content, to, true, sink)
    }
}
