//! Two chains of tensors, decoded side by side: a thread for each decodes parts, and the caller takes as many values of both.

use std::{
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
};

use lanecast::{Bytes, BytesMut, CastOptions, CastPlan, DType, Encoding, Storage};
use lanecast_files::{Error, Result};

use super::pair::Chain;
use crate::checkpoint::{Checkpoint, little};

/// Elements of a part of a permuted matrix.
const PERMUTED: usize = 1 << 18;
/// Parts that wait in a queue.
const WAITING: usize = 1;

/// Values of one side, and their places among the values of the dtype that distances are counted in, if there is one.
#[derive(Clone, Copy)]
pub(super) struct Values<'a> {
    pub(super) values: &'a [f64],
    /// The values before they were rounded to the dtype of the other side; none if nothing was rounded.
    pub(super) exact: &'a [f64],
    pub(super) keys: &'a [i64],
}

/// What receives as many values of both sides.
type Take<'t> = dyn FnMut(Values<'_>, Values<'_>) -> Result<()> + 't;

/// How one side is decoded.
pub(super) struct Side<'a> {
    checkpoint: &'a Checkpoint,
    chain: &'a Chain<'a>,
    /// The dtype that tensors are decoded to.
    to: DType,
    /// Values of an element: real numbers.
    per_element: usize,
    /// The cast to the dtype of the other side, and that of exact values to `float64`.
    rounding: Option<(CastPlan, CastPlan)>,
    floats: CastPlan,
    keys: Option<Keys>,
}

impl<'a> Side<'a> {
    /// Decodes tensors to `to`, or to a wider dtype first, and counts places in `ulps`.
    pub(super) fn new(
        checkpoint: &'a Checkpoint,
        chain: &'a Chain<'a>,
        per_element: u64,
        to: DType,
        ulps: Option<DType>,
    ) -> Result<Self> {
        let real = if to == DType::Complex128 { DType::Float64 } else { to };
        let floats = CastPlan::new(little(real), DType::Float64, &CastOptions::RUST)?;
        let keys = ulps.map(|dtype| Keys::new(real, dtype)).transpose()?;
        let plan = |from: DType, to: Encoding| CastPlan::new(little(from), to, &CastOptions::RUST);
        let (to, rounding) = match chain.exact().filter(|wide| *wide != to) {
            Some(wide) => (wide, Some((plan(wide, little(to))?, plan(wide, DType::Float64.into())?))),
            None => (to, None),
        };
        Ok(Self { checkpoint, chain, to, per_element: per_element as usize, rounding, floats, keys })
    }

    /// Sends all parts, each with elements of one tensor. Ends early if the receiver is gone.
    fn send(&self, to: &SyncSender<Part>) -> Result<()> {
        let source = self.rounding.as_ref().map_or(&self.floats, |(_, exact)| exact).source();
        let bits = source.bits_per_element() as usize;
        let mut narrow = Vec::new();
        for part in &self.chain.parts {
            let mut left = self.per_element * part.tensor.elements();
            let mut send = |bytes: &[u8]| {
                // The last byte may have room for more elements than there are.
                let n = left.min(8 * bytes.len() / bits);
                left -= n;
                let (mut values, mut exact) = (vec![0.0; n], Vec::new());
                let bytes = match &self.rounding {
                    Some((round, widen)) => {
                        exact.resize(n, 0.0);
                        widen.run(Bytes::new(bytes, n), &mut exact[..])?;
                        narrow.resize(little(round.target().dtype()).byte_len(n).unwrap_or(0), 0);
                        round.run(Bytes::new(bytes, n), BytesMut::new(&mut narrow, n))?;
                        &narrow
                    }
                    None => bytes,
                };
                self.floats.run(Bytes::new(bytes, n), &mut values[..])?;
                let keys = self.keys.as_ref().map_or(Ok(Vec::new()), |keys| keys.of(bytes, n))?;
                to.send(Part { values, exact, keys }).map_err(|_| Error::Cancelled)
            };
            let decode = |sink: &mut dyn FnMut(&[u8]) -> Result<()>| {
                self.checkpoint.decode_content(part.content, self.to, false, sink)
            };
            let Some(order) = self.chain.order else {
                decode(&mut send)?;
                continue;
            };
            // Whole matrices are gathered and permuted.
            let (size, mut matrix) = (bits / 8, Vec::new());
            let bytes = size * order.len();
            decode(&mut |mut more| {
                while !more.is_empty() {
                    let (now, later) = more.split_at(more.len().min(bytes - matrix.len()));
                    matrix.extend_from_slice(now);
                    more = later;
                    if matrix.len() == bytes {
                        order.permute(&matrix, size).chunks(size * PERMUTED).try_for_each(&mut send)?;
                        matrix.clear();
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// The places of values among the values of a float dtype, in ascending order; 0 and -0 have one place.
struct Keys {
    plan: CastPlan,
    dtype: DType,
}

impl Keys {
    fn new(from: DType, dtype: DType) -> Result<Self> {
        // An element of less than a byte has its own.
        let to = Encoding::with_storage(dtype, Storage::Byte);
        let to = if dtype.bits() < 8 { to } else { little(dtype) };
        Ok(Self { plan: CastPlan::new(little(from), to, &CastOptions::RUST)?, dtype })
    }

    fn of(&self, bytes: &[u8], n: usize) -> Result<Vec<i64>> {
        let size = self.dtype.size().max(1);
        let mut rounded = vec![0; n * size];
        self.plan.run(Bytes::new(bytes, n), BytesMut::new(&mut rounded, n))?;
        let is_signed = self.dtype != DType::Float8E8M0FNU;
        let sign = if is_signed { 1_u64 << (self.dtype.bits() - 1) } else { 0 };
        let key = |bytes: &[u8]| {
            let code = bytes.iter().rev().fold(0, |code, byte| code << 8 | u64::from(*byte));
            let magnitude = (code & sign.wrapping_sub(1)) as i64;
            if code & sign == 0 { magnitude } else { -magnitude }
        };
        Ok(rounded.chunks_exact(size).map(key).collect())
    }
}

struct Part {
    values: Vec<f64>,
    exact: Vec<f64>,
    keys: Vec<i64>,
}

/// The parts of one side as they arrive.
struct Cursor {
    parts: Receiver<Part>,
    part: Part,
    at: usize,
}

impl Cursor {
    fn new(parts: Receiver<Part>) -> Self {
        Self { parts, part: Part { values: Vec::new(), exact: Vec::new(), keys: Vec::new() }, at: 0 }
    }

    /// The number of values at hand; 0 at the end.
    fn left(&mut self) -> usize {
        while self.at == self.part.values.len() {
            let Ok(part) = self.parts.recv() else { return 0 };
            (self.part, self.at) = (part, 0);
        }
        self.part.values.len() - self.at
    }

    /// The next `n` values, of those at hand.
    fn take(&mut self, n: usize) -> Values<'_> {
        let range = self.at..self.at + n;
        self.at += n;
        let exact = if self.part.exact.is_empty() { &[] } else { &self.part.exact[range.clone()] };
        let keys = if self.part.keys.is_empty() { &[] } else { &self.part.keys[range.clone()] };
        Values { values: &self.part.values[range], exact, keys }
    }
}

/// Both sides.
pub(super) struct Streams;

impl Streams {
    /// Decodes both sides. `take` receives as many values of each, in C order.
    pub(super) fn run(sides: &[Side<'_>; 2], take: &mut Take<'_>) -> Result<()> {
        thread::scope(|scope| {
            let mut threads = Vec::new();
            let [mut a, mut b] = [0, 1].map(|i| {
                let (sender, receiver) = sync_channel(WAITING);
                threads.push(scope.spawn(move || sides[i].send(&sender)));
                Cursor::new(receiver)
            });
            let mut taken = Ok(());
            while taken.is_ok() {
                let n = a.left().min(b.left());
                if n == 0 {
                    break;
                }
                taken = take(a.take(n), b.take(n));
            }
            // A side that waits for room in its queue ends.
            drop((a, b));
            for thread in threads {
                let sent = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                // That it was cancelled is the consequence of another error, if there is one.
                if let (Ok(()), Err(error)) = (&taken, sent) {
                    taken = Err(error);
                }
            }
            taken
        })
    }
}
