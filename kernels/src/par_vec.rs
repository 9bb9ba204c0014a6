//! A new vector that is filled part by part, on threads of the caller's choice.
//!
//! *The law.* Every element belongs to one part. A part is consumed when its elements are cast, and only then are they counted. So
//! if the count equals the length of the vector, all of it is initialised, whatever happened to the parts.

use crate::{format::Element, kernel::Kernel};
use alloc::vec::Vec;
use core::{
    mem::MaybeUninit,
    sync::atomic::{AtomicUsize, Ordering},
};

/// Elements to cast, and their place in a new vector.
#[derive(Debug)]
pub struct Part<'a, S, D> {
    src: &'a [S],
    dst: &'a mut [MaybeUninit<D>],
    /// Elements of all parts that have been cast.
    done: &'a AtomicUsize,
}

impl<'a, S: Element, D: Element> Part<'a, S, D> {
    /// Elements.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks whether a part is empty")]
    pub fn len(&self) -> usize {
        self.src.len()
    }

    /// The address of the first element in the new vector.
    pub fn address(&self) -> usize {
        self.dst.as_ptr().addr()
    }

    /// The first `at` elements, or all if there are fewer, and the others.
    pub fn split(self, at: usize) -> (Self, Self) {
        let at = at.min(self.src.len());
        let (src, src_rest) = self.src.split_at(at);
        let (dst, dst_rest) = self.dst.split_at_mut(at);
        (Part { src, dst, done: self.done }, Part { src: src_rest, dst: dst_rest, done: self.done })
    }

    /// Casts the elements; `None`, with nothing written, if the kernel is for other types.
    pub fn run(self, kernel: &Kernel) -> Option<()> {
        let written = kernel.run_elements_uninit(self.src, self.dst)?;
        self.done.fetch_add(written.len(), Ordering::Release);
        Some(())
    }
}

impl Kernel {
    /// [`run_to_vec`](Self::run_to_vec) in parts: `share` gets all elements as one part, splits it, and has the parts run with this
    /// kernel or another.
    ///
    /// `None` if the types are not those of the kernel or if a part was not run.
    pub fn run_to_vec_in_parts<S: Element, D: Element>(
        &self,
        src: &[S],
        share: impl FnOnce(Part<'_, S, D>),
    ) -> Option<Vec<D>> {
        let n = src.len();
        let mut out = Vec::with_capacity(n);
        let done = AtomicUsize::new(0);
        share(Part { src, dst: &mut out.spare_capacity_mut()[..n], done: &done });
        if done.load(Ordering::Acquire) != n {
            return None;
        }
        // SAFETY: the capacity is at least this. The parts are disjoint and have `n` elements together, each of them counts its
        // elements once, after it has initialised them, and `n` were counted. A cast to `D::DTYPE` writes valid
        // elements (`Element`); what other threads wrote was released before it was counted.
        unsafe { out.set_len(n) };
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, Rules, Tier};
    use alloc::vec;

    #[test]
    fn parts_that_are_missing() {
        let rules = Rules::common(DType::Int16, true);
        let kernel = Kernel::new(Tier::Scalar, DType::Int8.into(), DType::Int16.into(), &rules);
        let kernel = kernel.expect("there is always a scalar tier");
        let src = [1_i8, -2, 3];
        let all = kernel.run_to_vec_in_parts(&src, |part| {
            let (low, high) = part.split(1);
            assert_eq!((low.len(), high.len()), (1, 2));
            assert_eq!(high.address() - low.address(), 2);
            let (high, none) = high.split(7);
            assert!(none.run(&kernel).is_some() && high.run(&kernel).is_some() && low.run(&kernel).is_some());
        });
        assert_eq!(all, Some(vec![1_i16, -2, 3]));
        let missing = kernel.run_to_vec_in_parts::<_, i16>(&src, |part| {
            assert!(part.split(1).0.run(&kernel).is_some());
        });
        assert_eq!(missing, None);
        let wrong = kernel.run_to_vec_in_parts::<_, i32>(&src, |part| assert!(part.run(&kernel).is_none()));
        assert_eq!(wrong, None);
    }
}
