//! Elements that arrive in any pieces, worked on in blocks on several threads.
//!
//! *Law.* Results are merged in the order of the blocks, so that sums of floats do not depend on the threads. Memory holds a few blocks for
//! each thread.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, sync_channel},
    },
    thread,
};

use lanecast::Encoding;

use super::Feed;
use crate::{
    error::{Error, Result},
    pump::byte_len,
};

/// How the elements are divided.
#[derive(Clone, Copy)]
pub(super) struct Division {
    pub(super) encoding: Encoding,
    /// All elements.
    pub(super) elements: u64,
    /// Elements of a block, which fill whole bytes; the last block may be shorter.
    pub(super) block: u64,
    pub(super) threads: usize,
}

impl Division {
    fn bytes(&self, elements: u64) -> Result<usize> {
        let bytes = byte_len(self.encoding, elements).and_then(|bytes| usize::try_from(bytes).ok());
        bytes.ok_or_else(|| Error::unsupported("the tensor is larger than memory could hold"))
    }

    /// Calls `work` with the bytes and the number of the elements of each block, and `merge` with the results in order.
    pub(super) fn run<P: Send>(
        &self,
        feed: &mut Feed<'_>,
        work: &(dyn Fn(&[u8], usize) -> Result<P> + Sync),
        merge: &mut (dyn FnMut(P) + Send),
    ) -> Result<()> {
        let blocks = self.elements.div_ceil(self.block.max(1));
        let threads = self.threads.min(usize::try_from(blocks).unwrap_or(usize::MAX));
        if threads <= 1 {
            return self.cut(feed, &mut |_, bytes, n| {
                merge(work(&bytes, n)?);
                Ok(())
            });
        }
        let merger = Mutex::new(Merger { next: 0, waiting: BTreeMap::new(), merge });
        let (error, failed) = (Mutex::new(None), AtomicBool::new(false));
        let (sender, receiver) = sync_channel::<(u64, Vec<u8>, usize)>(threads);
        let receiver = Arc::new(Mutex::new(receiver));
        let fed = thread::scope(|scope| {
            for _ in 0..threads {
                let (receiver, merger, error, failed) = (receiver.clone(), &merger, &error, &failed);
                scope.spawn(move || {
                    while let Some((index, bytes, n)) = next(&receiver) {
                        match work(&bytes, n) {
                            Ok(part) => lock(merger).put(index, part),
                            Err(e) => {
                                lock(error).get_or_insert(e);
                                failed.store(true, Ordering::Relaxed);
                                return;
                            }
                        }
                    }
                });
            }
            // The receiver ends with its threads, so that a block is not sent to nobody if they panic.
            drop(receiver);
            let fed = self.cut(feed, &mut |index, bytes, n| match failed.load(Ordering::Relaxed) {
                true => Err(Error::Cancelled),
                false => sender.send((index, bytes, n)).map_err(|_| Error::Cancelled),
            });
            drop(sender);
            fed
        });
        match error.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => fed,
        }
    }

    /// Calls `take` with the index, the bytes and the number of the elements of each block.
    fn cut(
        &self,
        feed: &mut Feed<'_>,
        take: &mut dyn FnMut(u64, Vec<u8>, usize) -> Result<()>,
    ) -> Result<()> {
        let size = |left: u64| self.bytes(left.min(self.block));
        let (mut left, mut index, mut bytes, mut want) = (self.elements, 0, Vec::new(), size(self.elements)?);
        feed(&mut |mut piece| {
            while left > 0 && !piece.is_empty() {
                if bytes.capacity() == 0 {
                    bytes.reserve_exact(want);
                }
                let (now, later) = piece.split_at(piece.len().min(want - bytes.len()));
                bytes.extend_from_slice(now);
                piece = later;
                if bytes.len() == want {
                    let n = left.min(self.block);
                    take(index, std::mem::take(&mut bytes), n as usize)?;
                    (left, index) = (left - n, index + 1);
                    want = size(left)?;
                }
            }
            match piece {
                [] => Ok(()),
                _ => Err(Error::format("the data ends late")),
            }
        })?;
        if left > 0 { Err(Error::format("the data ends early")) } else { Ok(()) }
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The next block; `None` at the end.
fn next<T>(receiver: &Mutex<Receiver<T>>) -> Option<T> {
    lock(receiver).recv().ok()
}

/// Results that wait for those before them.
struct Merger<'m, P> {
    next: u64,
    waiting: BTreeMap<u64, P>,
    merge: &'m mut (dyn FnMut(P) + Send),
}

impl<P> Merger<'_, P> {
    fn put(&mut self, index: u64, part: P) {
        self.waiting.insert(index, part);
        while let Some(part) = self.waiting.remove(&self.next) {
            (self.merge)(part);
            self.next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use lanecast::DType;

    use super::{super::Sink, *};

    /// Feeds 1000 bytes in pieces of several sizes.
    fn feed(sink: &mut Sink<'_>) -> Result<()> {
        let bytes: Vec<u8> = (0..1000_u32).map(|i| i as u8).collect();
        bytes[..7].chunks(3).chain(bytes[7..].chunks(130)).try_for_each(sink)
    }

    fn division(elements: u64, threads: usize) -> Division {
        Division { encoding: DType::UInt8.into(), elements, block: 64, threads }
    }

    #[test]
    fn blocks_are_merged_in_order_on_any_number_of_threads() {
        for threads in [1, 2, 5] {
            let mut merged = Vec::new();
            let work = |bytes: &[u8], n: usize| {
                assert_eq!(bytes.len(), n);
                // Earlier blocks take longer.
                thread::sleep(std::time::Duration::from_micros(u64::from(255 - bytes[0]) * 8));
                Ok(bytes.to_vec())
            };
            let run = division(1000, threads).run(&mut feed, &work, &mut |part| merged.push(part));
            run.expect("blocks");
            assert!(merged[..15].iter().all(|part| part.len() == 64) && merged[15].len() == 40);
            assert!(merged.concat().into_iter().eq((0..1000_u32).map(|i| i as u8)));
        }
    }

    #[test]
    fn errors_end_the_work() {
        let work = |_: &[u8], _: usize| Ok(());
        for (elements, why) in [(1001, "early"), (999, "late")] {
            let error =
                division(elements, 2).run(&mut feed, &work, &mut |()| {}).expect_err("another length");
            assert!(error.to_string().contains(why), "{error}");
        }
        for threads in [1, 3] {
            let work = |bytes: &[u8], _: usize| match bytes[0] {
                128 => Err(Error::request("block 2")),
                _ => Ok(()),
            };
            let error = division(1000, threads).run(&mut feed, &work, &mut |()| {}).expect_err("a block");
            assert!(error.to_string().contains("block 2"), "{error}");
        }
    }

    #[test]
    fn a_panic_ends_the_work() {
        let work = |_: &[u8], _: usize| -> Result<()> { panic!("a test") };
        let run = || division(1000, 2).run(&mut feed, &work, &mut |()| {});
        assert!(std::panic::catch_unwind(run).is_err());
    }
}
