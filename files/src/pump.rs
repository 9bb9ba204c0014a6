//! Streaming casts: elements go from a reader through a cast to a writer, in blocks of bounded size.
//!
//! Files are little-endian unless they declare another byte order; the encodings of a lane carry it.

use std::io::{self, Read, Write};

use lanecast::{Bytes, BytesMut, CastError, CastPlan, CastReport, Encoding, Threads};

use crate::{
    error::{Error, Result},
    hooks::{Hooks, Progress},
    settings::Settings,
};

/// A block holds at most this many bytes on its larger side.
const BLOCK: usize = 4 << 20;

/// A streaming cast for one pair of encodings.
#[derive(Debug)]
pub struct Lane {
    plan: CastPlan,
    settings: Settings,
}

impl Lane {
    /// A lane for one pair.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the library refuses the pair.
    pub fn new(settings: &Settings, from: Encoding, to: Encoding) -> Result<Self> {
        let plan = settings.plan(from, to)?.checked(settings.on_loss.counts()).with_threads(Threads::Rayon);
        Ok(Self { plan, settings: *settings })
    }

    /// The encodings of the source and of the target.
    fn buffers(&self) -> (Encoding, Encoding) {
        (self.plan.source(), self.plan.target())
    }

    /// Casts a block of `n` elements, and counts what it loses. The first value that the settings refuse is an error.
    fn run(&self, source: &[u8], result: &mut [u8], n: usize) -> std::result::Result<CastReport, CastError> {
        let source = Bytes::new(source, n);
        let report = self.plan.run_counted(source, BytesMut::new(result, n))?;
        if let Some(level) = self.settings.on_loss.refuses(&report) {
            // Only a block that is refused is cast again, to find the value.
            self.plan.checked(level).run(source, BytesMut::new(result, n))?;
        }
        Ok(report)
    }

    /// The totals of a tensor that is cast to its end, unless the settings refuse them.
    fn finish(&self, passed: Passed) -> std::result::Result<Passed, Stopped> {
        let checked = self.settings.check_underflow(&passed.counts, self.buffers().1.dtype());
        checked.map(|()| passed).map_err(Stopped::Refused)
    }

    /// Elements per block, a number that fills whole bytes in every storage.
    fn block(&self) -> u64 {
        let (from, to) = self.buffers();
        let bits = from.bits_per_element().max(to.bits_per_element());
        (BLOCK as u64 * 8 / u64::from(bits.max(1))) / 64 * 64
    }
}

/// The size of `n` elements in bytes; `None` if it overflows.
pub fn byte_len(buffer: Encoding, n: u64) -> Option<u64> {
    let bits = u128::from(n) * u128::from(buffer.bits_per_element());
    u64::try_from(bits.div_ceil(8)).ok()
}

/// How many elements a stream holds.
#[derive(Clone, Copy, Debug)]
pub enum Extent {
    /// This many. Fewer are an error; any after them are not read.
    Elements(u64),
    /// All up to the end of the stream.
    All,
}

/// Totals of what went through a lane.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passed {
    /// Elements.
    pub elements: u64,
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Counts of values that did not fit.
    pub counts: CastReport,
}

/// Why a stream stopped.
#[derive(Debug)]
pub enum Stopped {
    /// The reader failed.
    Read(io::Error),
    /// The reader ended early, after this many elements.
    Short(u64),
    /// The reader ended inside an element, this many bytes before the end of it.
    Partial(u64),
    /// The writer failed.
    Write(io::Error),
    /// The library returned an error.
    Cast(CastError),
    /// The library returned an error, here in the terms of the file.
    Refused(Error),
    /// The caller cancelled.
    Cancelled,
}

impl Stopped {
    /// Converts to an [`Error`], for an input whose header states its length. `input` and `output` add the places.
    pub fn fail(self, input: impl FnOnce(Error) -> Error, output: impl FnOnce(Error) -> Error) -> Error {
        match self {
            Stopped::Read(e) => input(Error::reading(&e)),
            Stopped::Short(_) | Stopped::Partial(_) => input(Error::format("the data ends early")),
            Stopped::Write(e) => output(Error::writing(&e)),
            Stopped::Cast(e) => input(e.into()),
            Stopped::Refused(e) => input(e),
            Stopped::Cancelled => Error::Cancelled,
        }
    }
}

/// The buffers and hooks shared by all streams of a run.
#[derive(Debug)]
pub struct Pump<'a> {
    source: Vec<u8>,
    result: Vec<u8>,
    hooks: Hooks<'a>,
    progress: Progress,
}

impl<'a> Pump<'a> {
    /// A pump that reports the bytes read to `hooks`, out of `total` if that is known.
    pub fn new(hooks: Hooks<'a>, total: Option<u64>) -> Self {
        Self { source: Vec::new(), result: Vec::new(), hooks, progress: Progress { done: 0, total } }
    }

    /// Reports that `bytes` more bytes were read.
    pub(crate) fn advance(&mut self, bytes: u64) {
        self.progress.done = self.progress.done.saturating_add(bytes);
        self.hooks.report(self.progress);
    }

    /// Fails if the caller cancelled.
    pub(crate) fn check(&self) -> Result<()> {
        if self.hooks.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// The hook that cancels.
    pub(crate) fn canceller(&self) -> Option<&'a dyn Fn() -> bool> {
        self.hooks.canceller()
    }

    fn go_on(&self) -> std::result::Result<(), Stopped> {
        if self.hooks.is_cancelled() { Err(Stopped::Cancelled) } else { Ok(()) }
    }

    /// Casts the elements of `reader` into `writer`.
    ///
    /// # Errors
    ///
    /// [`Stopped`] says which side failed; [`Stopped::fail`] turns it into an [`Error`].
    pub fn cast(
        &mut self,
        lane: &mut Lane,
        reader: &mut dyn Read,
        writer: &mut dyn Write,
        extent: Extent,
    ) -> std::result::Result<Passed, Stopped> {
        let (from, to) = lane.buffers();
        let mut passed = Passed::default();
        loop {
            let wanted = match extent {
                Extent::Elements(n) => (n - passed.elements).min(lane.block()),
                Extent::All => lane.block(),
            };
            if wanted == 0 {
                return lane.finish(passed);
            }
            self.go_on()?;
            let wanted_bytes = block_len(from, wanted);
            if self.source.len() < wanted_bytes {
                self.source.resize(wanted_bytes, 0);
            }
            let have = read_up_to(reader, &mut self.source[..wanted_bytes]).map_err(Stopped::Read)?;
            let bits = u64::from(from.bits_per_element());
            let got = if have == wanted_bytes { wanted } else { have as u64 * 8 / bits };
            if got > 0 {
                self.block(lane, &mut passed, writer, have, got)?;
                passed.elements += got;
                passed.bytes_in += have as u64;
                passed.bytes_out += block_len(to, got) as u64;
            }
            if have < wanted_bytes {
                return match extent {
                    Extent::Elements(_) => Err(Stopped::Short(passed.elements)),
                    // Packed elements may leave spare bits in the last byte.
                    Extent::All => match (have as u64).checked_rem(bits / 8) {
                        Some(torn) if torn > 0 => Err(Stopped::Partial(bits / 8 - torn)),
                        _ => lane.finish(passed),
                    },
                };
            }
        }
    }

    /// Casts the `n` elements in the first `have` bytes of the source buffer.
    fn block(
        &mut self,
        lane: &mut Lane,
        passed: &mut Passed,
        writer: &mut dyn Write,
        have: usize,
        n: u64,
    ) -> std::result::Result<(), Stopped> {
        let result_bytes = block_len(lane.buffers().1, n);
        if self.result.len() < result_bytes {
            self.result.resize(result_bytes, 0);
        }
        let (source, result) = (&self.source[..have], &mut self.result[..result_bytes]);
        let report = lane.run(source, result, n as usize).map_err(|error| {
            Stopped::Cast(match error {
                CastError::Rejected(found) => {
                    CastError::Rejected(found.after(usize::try_from(passed.elements).unwrap_or(usize::MAX)))
                }
                error => error,
            })
        })?;
        passed.counts = passed.counts.and(&report);
        writer.write_all(result).map_err(Stopped::Write)?;
        self.advance(have as u64);
        Ok(())
    }

    /// Casts `n` items of these sizes from `reader` to `writer`, a block at a time. `cast` is given the source
    /// items, zeroed room for the destination items, the number of items, and the number of items before them.
    pub(crate) fn items(
        &mut self,
        (from, to): (usize, usize),
        n: u64,
        reader: &mut dyn Read,
        writer: &mut dyn Write,
        mut cast: impl FnMut(&[u8], &mut [u8], usize, u64) -> std::result::Result<(), Stopped>,
    ) -> std::result::Result<(), Stopped> {
        let block = (BLOCK / from.max(to).max(1)).max(1);
        self.result.fill(0);
        let mut done = 0;
        while done < n && from.max(to) > 0 {
            self.go_on()?;
            let items = (n - done).min(block as u64) as usize;
            let (have, made) = (items * from, items * to);
            self.source.resize(self.source.len().max(have), 0);
            self.result.resize(self.result.len().max(made), 0);
            let (source, result) = (&mut self.source[..have], &mut self.result[..made]);
            if read_up_to(reader, source).map_err(Stopped::Read)? < have {
                return Err(Stopped::Short(done));
            }
            cast(source, result, items, done)?;
            writer.write_all(result).map_err(Stopped::Write)?;
            self.advance(have as u64);
            done += items as u64;
        }
        Ok(())
    }

    /// Copies exactly `bytes` bytes.
    ///
    /// # Errors
    ///
    /// [`Stopped`], as [`cast`](Self::cast).
    pub fn copy(
        &mut self,
        reader: &mut dyn Read,
        writer: &mut dyn Write,
        mut bytes: u64,
    ) -> std::result::Result<(), Stopped> {
        while bytes > 0 {
            self.go_on()?;
            let length = bytes.min(BLOCK as u64) as usize;
            if self.source.len() < length {
                self.source.resize(length, 0);
            }
            let block = &mut self.source[..length];
            if read_up_to(reader, block).map_err(Stopped::Read)? < length {
                return Err(Stopped::Short(0));
            }
            writer.write_all(block).map_err(Stopped::Write)?;
            bytes -= length as u64;
            self.advance(length as u64);
        }
        Ok(())
    }
}

/// The size in bytes of the `n` elements of a block, which never overflows.
fn block_len(buffer: Encoding, n: u64) -> usize {
    (n * u64::from(buffer.bits_per_element())).div_ceil(8) as usize
}

/// Fills `buffer`, or as much of it as the reader has bytes for.
fn read_up_to(reader: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut have = 0;
    while have < buffer.len() {
        match reader.read(&mut buffer[have..]) {
            Ok(0) => break,
            Ok(n) => have += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(have)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanecast::DType;

    #[test]
    fn lengths_do_not_overflow() {
        assert_eq!(byte_len(DType::Complex128.into(), u64::MAX), None);
        assert_eq!(byte_len(Encoding::packed(DType::Int4), u64::MAX), Some(1 << 63));
        assert_eq!(byte_len(Encoding::packed(DType::Float6E2M3FN), 5), Some(4));
    }
}
