//! [`Kept`]: scales of a weight that were made with its codes, until they are written.
//!
//! *Law.* A scale that is kept is the one that a cast of its own would make. Few bytes are kept: scales that do not fit are made again.
//!
//! Codes and scales are tensors of their own, and one cast makes both. If the codes come first in the file, the scales follow soon.

use std::{
    collections::BTreeMap,
    mem,
    ops::Range,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// Bytes of scales that all weights keep.
const MOST: u64 = 8 << 20;

/// The bytes that may still be kept.
#[derive(Debug)]
pub(super) struct Room(AtomicU64);

impl Room {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self(AtomicU64::new(MOST)))
    }

    fn take(&self, bytes: u64) -> bool {
        let less = |room: u64| room.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    fn give(&self, bytes: u64) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Ranges of the bytes of a tensor by their first byte: the end, and the bytes once they are made.
type Ranges = BTreeMap<u64, (u64, Option<Vec<u8>>)>;

/// Bytes of the scales of a weight.
#[derive(Debug)]
pub(super) struct Kept {
    ranges: Mutex<Ranges>,
    made: Condvar,
    room: Arc<Room>,
}

impl Kept {
    pub(super) fn new(room: &Arc<Room>) -> Self {
        Self { ranges: Mutex::default(), made: Condvar::new(), room: room.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, Ranges> {
        self.ranges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Announces a range that will be made, if there is room for it.
    pub(super) fn begin(&self, range: Range<u64>) -> Option<Slot<'_>> {
        let mut ranges = self.lock();
        let is_free = overlapping(&ranges, &range).next().is_none();
        (is_free && self.room.take(range.end - range.start)).then(|| {
            ranges.insert(range.start, (range.end, None));
            Slot { kept: self, range, bytes: Vec::new(), is_whole: false }
        })
    }

    /// The bytes of a range, if all of them were or are being made. They are then not kept any more.
    pub(super) fn take(&self, range: &Range<u64>) -> Option<Vec<u8>> {
        let mut ranges = self.lock();
        while overlapping(&ranges, range).any(|(_, (_, bytes))| bytes.is_none()) {
            ranges = self.made.wait(ranges).unwrap_or_else(PoisonError::into_inner);
        }
        let mut out = Vec::new();
        for (first, (end, bytes)) in overlapping(&ranges, range) {
            let at = range.start + out.len() as u64;
            if *first > at {
                return None;
            }
            let (from, to) = ((at - first) as usize, (end.min(&range.end) - first) as usize);
            out.extend_from_slice(bytes.as_ref()?.get(from..to)?);
        }
        if out.len() as u64 != range.end - range.start {
            return None;
        }
        let done: Vec<u64> = (overlapping(&ranges, range))
            .filter(|(_, (end, _))| *end <= range.end)
            .map(|(first, _)| *first)
            .collect();
        for first in done {
            if let Some((end, _)) = ranges.remove(&first) {
                self.room.give(end - first);
            }
        }
        Some(out)
    }
}

/// The ranges that have bytes in common with another one, in order. Ranges do not overlap.
fn overlapping<'r>(
    ranges: &'r Ranges,
    with: &Range<u64>,
) -> impl Iterator<Item = (&'r u64, &'r (u64, Option<Vec<u8>>))> + use<'r> {
    let start = with.start;
    ranges.range(..with.end).filter(move |(_, (end, _))| *end > start)
}

/// A range that is being made. Without [`finish`](Self::finish) nothing is kept of it.
pub(super) struct Slot<'k> {
    kept: &'k Kept,
    range: Range<u64>,
    pub(super) bytes: Vec<u8>,
    is_whole: bool,
}

impl Slot<'_> {
    pub(super) fn finish(mut self) {
        self.is_whole = true;
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let mut ranges = self.kept.lock();
        match self.is_whole {
            true => _ = ranges.insert(self.range.start, (self.range.end, Some(mem::take(&mut self.bytes)))),
            false => {
                ranges.remove(&self.range.start);
                self.kept.room.give(self.range.end - self.range.start);
            }
        }
        self.kept.made.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::{thread, time::Duration};

    use super::*;

    fn keep(kept: &Kept, range: Range<u64>) {
        let mut slot = kept.begin(range.clone()).expect("room");
        slot.bytes.extend(range.map(|byte| byte as u8));
        slot.finish();
    }

    #[test]
    fn ranges_are_taken_once_and_only_whole() {
        let room = Room::new();
        let kept = Kept::new(&room);
        keep(&kept, 0..10);
        keep(&kept, 10..30);
        keep(&kept, 40..50);
        assert!(kept.begin(5..7).is_none());
        assert_eq!(kept.take(&(30..50)), None);
        assert_eq!(kept.take(&(20..50)), None);
        assert_eq!(kept.take(&(5..20)), Some((5..20).collect()));
        assert_eq!(kept.take(&(0..10)), None);
        assert_eq!(kept.take(&(20..30)), Some((20..30).collect()));
        assert_eq!(kept.take(&(40..50)), Some((40..50).collect()));
        assert_eq!(room.0.load(Ordering::Relaxed), MOST);
    }

    #[test]
    fn room_is_limited_and_given_back() {
        let room = Room::new();
        let kept = [Kept::new(&room), Kept::new(&room)];
        let slot = kept[0].begin(0..MOST - 1);
        assert!(slot.is_some() && kept[1].begin(0..2).is_none());
        drop(slot);
        assert!(kept[1].begin(0..2).is_some() && kept[0].take(&(0..1)).is_none());
    }

    #[test]
    fn ranges_in_the_making_are_waited_for() {
        let kept = Kept::new(&Room::new());
        let mut slot = kept.begin(0..4).expect("room");
        thread::scope(|scope| {
            let taken = scope.spawn(|| kept.take(&(0..4)));
            thread::sleep(Duration::from_millis(20));
            slot.bytes = vec![7; 4];
            slot.finish();
            assert_eq!(taken.join().expect("a result"), Some(vec![7; 4]));
        });
    }
}
