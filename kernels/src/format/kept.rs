//! Values that are made when first needed, and kept as long as the program runs.
//!
//! They are in a linked list that only grows, by an atomic exchange of its head. So readers share the values without locks through plain
//! references. Nothing in a list is ever freed or changed, so the number of possible keys must be bounded.

use alloc::boxed::Box;
use core::{
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

/// Values by key.
pub(crate) struct Kept<K: 'static, V: 'static>(AtomicPtr<Entry<K, V>>);

struct Entry<K: 'static, V: 'static> {
    key: K,
    value: V,
    next: *const Entry<K, V>,
}

impl<K: PartialEq + Send + Sync, V: Send + Sync> Kept<K, V> {
    pub(crate) const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// The value of a key, made if it does not exist yet. If two threads make it at the same time, only one result is kept.
    pub(crate) fn get(&'static self, key: K, make: impl FnOnce() -> V) -> &'static V {
        let mut first = self.0.load(Ordering::Acquire);
        if let Some(value) = find(first, &key) {
            return value;
        }
        let mut entry = Box::new(Entry { key, value: make(), next: first });
        loop {
            entry.next = first;
            let new = Box::into_raw(entry);
            match self.0.compare_exchange(first, new, Ordering::AcqRel, Ordering::Acquire) {
                // SAFETY: nothing in a list is ever freed or changed.
                Ok(_) => return unsafe { &(*new).value },
                Err(other) => {
                    // SAFETY: it came from a box, and no other thread has seen it.
                    entry = unsafe { Box::from_raw(new) };
                    first = other;
                    if let Some(value) = find(first, &entry.key) {
                        return value;
                    }
                }
            }
        }
    }
}

fn find<K: PartialEq, V>(first: *const Entry<K, V>, key: &K) -> Option<&'static V> {
    // SAFETY: an entry is published together with all that it points to, and is never freed or changed.
    let mut entry = unsafe { first.as_ref() };
    while let Some(Entry { key: of, value, next }) = entry {
        if of == key {
            return Some(value);
        }
        // SAFETY: as above.
        entry = unsafe { next.as_ref() };
    }
    None
}
