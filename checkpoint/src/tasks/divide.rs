//! How the bytes of files are divided among tasks.
//!
//! *Law.* The ranges of all tasks are all bytes, each once, in order. A range begins and ends where a tensor may be divided.
//!
//! *Method.* A task is filled with whole tensors until the next one does not fit. That one is cut, near where the task is full, at a multiple of
//! [`ALIGNED`] bytes of the file if it has a part there: file systems write whole pages and stripes faster than pieces of them.

use serde::{Deserialize, Serialize};

use crate::prepared::Extent;

/// Where cuts are best.
const ALIGNED: u64 = 1 << 20;

/// Bytes of a file of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(usize, u64, u64)", into = "(usize, u64, u64)")]
pub struct ByteRange {
    /// The index of the file in the plan.
    pub file: usize,
    /// The first byte, counted from the begin of the file.
    pub from: u64,
    /// The end.
    pub to: u64,
}

impl ByteRange {
    /// The number of bytes.
    pub fn bytes(&self) -> u64 {
        self.to.saturating_sub(self.from)
    }
}

impl From<(usize, u64, u64)> for ByteRange {
    fn from((file, from, to): (usize, u64, u64)) -> Self {
        Self { file, from, to }
    }
}

impl From<ByteRange> for (usize, u64, u64) {
    fn from(range: ByteRange) -> Self {
        (range.file, range.from, range.to)
    }
}

/// What is divided of a file: the place of the first byte, and tensors one after the other from there on.
pub(crate) struct Body {
    pub(crate) first: u64,
    pub(crate) extents: Vec<Extent>,
}

/// Divides files into tasks of about `size` bytes. A task has more bytes only if a part of a tensor has.
pub(crate) fn divide(files: impl IntoIterator<Item = Body>, size: u64) -> Vec<Vec<ByteRange>> {
    let mut tasks = Tasks { done: Vec::new(), ranges: Vec::new(), room: size, size };
    for (file, Body { first, extents }) in files.into_iter().enumerate() {
        let mut start = first;
        for extent in extents {
            let end = start + extent.bytes;
            let mut from = start;
            while from < end {
                let to = match cut(start, extent, from, tasks.room) {
                    Some(to) => to,
                    None if tasks.ranges.is_empty() => smallest(start, extent, from),
                    None => {
                        tasks.close();
                        continue;
                    }
                };
                tasks.add(ByteRange { file, from, to });
                if to < end {
                    tasks.close();
                }
                from = to;
            }
            start = end;
        }
    }
    tasks.close();
    tasks.done
}

struct Tasks {
    done: Vec<Vec<ByteRange>>,
    /// The task that is filled.
    ranges: Vec<ByteRange>,
    room: u64,
    size: u64,
}

impl Tasks {
    fn add(&mut self, range: ByteRange) {
        self.room = self.room.saturating_sub(range.bytes());
        match self.ranges.last_mut() {
            Some(last) if last.file == range.file && last.to == range.from => last.to = range.to,
            _ => self.ranges.push(range),
        }
    }

    fn close(&mut self) {
        if !self.ranges.is_empty() {
            self.done.push(std::mem::take(&mut self.ranges));
        }
        self.room = self.size;
    }
}

/// The end of a range of at most `room` bytes of an extent that begins at `start`; `None` if no part fits.
fn cut(start: u64, extent: Extent, from: u64, room: u64) -> Option<u64> {
    let (end, part) = (start + extent.bytes, extent.part.max(1));
    if end - from <= room {
        return Some(end);
    }
    let most = from + room;
    // The last quarter of the room has places enough, if there are any.
    let (last, least) = (most - most % ALIGNED, most - room / 4);
    let aligned = std::iter::successors(Some(last), |at| at.checked_sub(ALIGNED));
    let mut aligned = aligned.take_while(|at| *at > from && *at >= least);
    let best = aligned.find(|at| (at - start).is_multiple_of(part));
    best.or_else(|| Some(most - (most - start) % part).filter(|to| *to > from))
}

/// The end of the smallest range.
fn smallest(start: u64, extent: Extent, from: u64) -> u64 {
    from.saturating_add(extent.part.max(1)).min(start + extent.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(first: u64, extents: &[(u64, u64)]) -> Body {
        Body {
            first,
            extents: extents.iter().map(|(bytes, part)| Extent { bytes: *bytes, part: *part }).collect(),
        }
    }

    fn rows(tasks: &[Vec<ByteRange>]) -> Vec<Vec<(usize, u64, u64)>> {
        tasks.iter().map(|ranges| ranges.iter().map(|range| (*range).into()).collect()).collect()
    }

    #[test]
    fn small_tensors_share_a_task_and_large_ones_are_cut() {
        let whole = u64::MAX;
        let files = || [body(8, &[(3, whole), (4, whole), (0, whole), (30, 4)]), body(100, &[(5, whole)])];
        assert_eq!(
            rows(&divide(files(), 10)),
            [
                vec![(0, 8, 15)],
                vec![(0, 15, 23)],
                vec![(0, 23, 31)],
                vec![(0, 31, 39)],
                vec![(0, 39, 45)],
                vec![(1, 100, 105)]
            ]
        );
        assert_eq!(rows(&divide(files(), 1000)), [[(0, 8, 45), (1, 100, 105)]]);
        // A tensor that cannot be divided is a task of its own, and so is a part.
        assert_eq!(
            rows(&divide([body(0, &[(1, 1), (9, whole), (9, 5)])], 2)),
            [[(0, 0, 1)], [(0, 1, 10)], [(0, 10, 15)], [(0, 15, 19)]]
        );
        assert!(divide([body(8, &[]), body(9, &[(0, 1)])], 4).is_empty());
    }

    #[test]
    fn cuts_are_aligned_where_the_parts_are() {
        let of = |first, part| {
            let tasks = divide([body(first, &[(64 << 20, part)])], 16 << 20);
            tasks[1..].iter().filter(|ranges| ranges[0].from.is_multiple_of(ALIGNED)).count()
        };
        assert_eq!((of(136, 2), of(136, 8), of(136, 16), of(1 << 13, 1 << 13)), (4, 4, 0, 4));
        // Rows of 11008 elements of bfloat16 meet a multiple of 1 MiB once in 43.
        assert_eq!(of(512, 22016), 0);
    }

    /// Random tensors, parts and sizes.
    #[test]
    fn all_bytes_are_in_one_range_each() {
        let mut state = 1_u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        for _ in 0..300 {
            let files: Vec<(u64, Vec<(u64, u64)>)> = (0..1 + random(4))
                .map(|_| {
                    let extents = (0..random(6)).map(|_| {
                        let part = if random(3) == 0 { u64::MAX } else { 1 + random(50) };
                        (random(1000), part)
                    });
                    let extents = extents.collect();
                    (8 + random(99), extents)
                })
                .collect();
            let size = 1 + random(400);
            let tasks = divide(files.iter().map(|(first, extents)| body(*first, extents)), size);
            let mut ranges = tasks.iter().flatten().copied();
            let mut range = ranges.next();
            for (file, (first, extents)) in files.iter().enumerate() {
                let (mut at, mut start) = (*first, *first);
                for (bytes, part) in extents {
                    let end = start + bytes;
                    while at < end {
                        let now = range.expect("a range");
                        assert_eq!((now.file, now.from.max(at)), (file, at));
                        at = now.to.min(end);
                        assert!(at == end || (at - start).is_multiple_of(*part), "{now:?}");
                        if now.to == at {
                            range = ranges.next();
                        }
                    }
                    start = end;
                }
            }
            assert_eq!(range, None);
            for ranges in &tasks {
                let bytes: u64 = ranges.iter().map(ByteRange::bytes).sum();
                assert!(bytes > 0 && (bytes <= size || ranges.len() == 1), "{bytes} {size}");
            }
        }
    }
}
