//! Scaled casts over several threads.

use super::{
    error::{ScaledError, byte_len, check_len},
    plan::ScaledPlan,
    report::Report,
    split::{Alone, Elements, InOrder, Run},
    view::Gathered,
};
use crate::{Encoding, strided::View, threads::Share, threads::Threads};
use alloc::vec::Vec;
use core::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

/// Picoseconds that an element takes one thread, about.
const ELEMENT: u64 = 300;

/// Several threads.
struct Over {
    threads: Threads,
    tasks: usize,
}

impl Run for Over {
    fn run<J: Send, R: Send>(
        &self,
        jobs: impl Iterator<Item = J> + Send,
        work: impl Fn(J, &mut Vec<u8>) -> Result<R, ScaledError> + Sync,
        take: impl FnMut(R) + Send,
    ) -> Result<(), ScaledError> {
        fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
            mutex.lock().unwrap_or_else(PoisonError::into_inner)
        }
        let (take, memory) = (Mutex::new(take), Mutex::new(Vec::new()));
        let first: Mutex<Option<(usize, ScaledError)>> = Mutex::new(None);
        self.threads.share(self.tasks, jobs.enumerate(), |(index, job)| {
            // As many buffers as there are threads at work.
            let mut own = locked(&memory).pop().unwrap_or_default();
            let done = work(job, &mut own);
            locked(&memory).push(own);
            match done {
                Ok(result) => {
                    (*locked(&take))(result);
                    ControlFlow::Continue(())
                }
                Err(error) => {
                    let mut first = locked(&first);
                    if first.as_ref().is_none_or(|(before, _)| index < *before) {
                        *first = Some((index, error));
                    }
                    ControlFlow::Break(())
                }
            }
        });
        match first.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }
}

/// The threads that are worth it for `n` elements, and the elements of a part.
fn over(n: usize, threads: Threads) -> Option<(Over, usize)> {
    let time = n as u64 / 1000 * ELEMENT;
    let share = Share::new(time, || threads.count())?;
    let part = (n as u64 / (time / share.chunk).max(1)).max(1);
    Some((Over { threads, tasks: share.tasks }, usize::try_from(part).unwrap_or(n)))
}

impl ScaledPlan {
    /// [`quantize_dynamic`](Self::quantize_dynamic) over several threads: the same codes, scales and report.
    ///
    /// # Errors
    ///
    /// As [`quantize_dynamic`](Self::quantize_dynamic).
    pub fn par_quantize_dynamic(
        &self,
        src: &[u8],
        data: &mut [u8],
        scales: &mut [u8],
        threads: Threads,
    ) -> Result<Report, ScaledError> {
        check_len("source", byte_len(self.from, self.elements())?, src.len())?;
        match over(self.elements(), threads) {
            None => self.quantize_dynamic(src, data, scales),
            Some((run, part)) => self.quantize_split(&self.in_order(src), &run, part, data, scales),
        }
    }

    /// [`quantize_dynamic_view`](Self::quantize_dynamic_view) over several threads: the same codes, scales and report.
    ///
    /// # Errors
    ///
    /// As [`quantize_dynamic_view`](Self::quantize_dynamic_view).
    pub fn par_quantize_dynamic_view(
        &self,
        src: &View<'_>,
        data: &mut [u8],
        scales: &mut [u8],
        threads: Threads,
    ) -> Result<Report, ScaledError> {
        let (elements, part) = (Gathered::new(self, src)?, self.panel());
        match over(self.elements(), threads) {
            None => self.quantize_split(&elements, &Alone, part, data, scales),
            Some((run, _)) => self.quantize_split(&elements, &run, part, data, scales),
        }
    }

    /// [`quantize`](Self::quantize) over several threads: the same codes and report.
    ///
    /// # Errors
    ///
    /// As [`quantize`](Self::quantize).
    pub fn par_quantize(
        &self,
        src: &[u8],
        scales: &[u8],
        global: f32,
        data: &mut [u8],
        threads: Threads,
    ) -> Result<Report, ScaledError> {
        check_len("source", byte_len(self.from, self.elements())?, src.len())?;
        match over(self.elements(), threads) {
            None => self.quantize(src, scales, global, data),
            Some((run, part)) => {
                self.quantize_given_split(&self.in_order(src), &run, part, (scales, global), data)
            }
        }
    }

    /// [`dequantize`](Self::dequantize) over several threads: the same values.
    ///
    /// # Errors
    ///
    /// As [`dequantize`](Self::dequantize).
    pub fn par_dequantize(
        &self,
        data: &[u8],
        scales: &[u8],
        global: f32,
        to: impl Into<Encoding>,
        dst: &mut [u8],
        threads: Threads,
    ) -> Result<(), ScaledError> {
        let to = to.into();
        match over(self.elements(), threads) {
            None => self.dequantize(data, scales, global, to, dst),
            Some((run, part)) => self.dequantize_split(&run, part, (data, scales, global), to, dst),
        }
    }

    /// [`quantize_min_max`](Self::quantize_min_max) over several threads: the same codes, scales, zero points and report.
    ///
    /// # Errors
    ///
    /// As [`quantize_min_max`](Self::quantize_min_max).
    pub fn par_quantize_min_max(
        &self,
        src: &[u8],
        data: &mut [u8],
        scales: &mut [u8],
        zeros: &mut [u8],
        threads: Threads,
    ) -> Result<Report, ScaledError> {
        check_len("source", byte_len(self.from, self.elements())?, src.len())?;
        match over(self.elements(), threads) {
            None => self.quantize_min_max(src, data, scales, zeros),
            Some((run, part)) => {
                self.quantize_min_max_split(&self.in_order(src), &run, part, [data, scales, zeros])
            }
        }
    }

    /// [`quantize_min_max_view`](Self::quantize_min_max_view) over several threads: the same codes, scales, zero points and report.
    ///
    /// # Errors
    ///
    /// As [`quantize_min_max_view`](Self::quantize_min_max_view).
    pub fn par_quantize_min_max_view(
        &self,
        src: &View<'_>,
        data: &mut [u8],
        scales: &mut [u8],
        zeros: &mut [u8],
        threads: Threads,
    ) -> Result<Report, ScaledError> {
        let (elements, part, buffers) = (Gathered::new(self, src)?, self.panel(), [data, scales, zeros]);
        match over(self.elements(), threads) {
            None => self.quantize_min_max_split(&elements, &Alone, part, buffers),
            Some((run, _)) => self.quantize_min_max_split(&elements, &run, part, buffers),
        }
    }

    /// [`dequantize_min_max`](Self::dequantize_min_max) over several threads: the same values.
    ///
    /// # Errors
    ///
    /// As [`dequantize_min_max`](Self::dequantize_min_max).
    pub fn par_dequantize_min_max(
        &self,
        data: &[u8],
        scales: &[u8],
        zeros: &[u8],
        to: impl Into<Encoding>,
        dst: &mut [u8],
        threads: Threads,
    ) -> Result<(), ScaledError> {
        let to = to.into();
        match over(self.elements(), threads) {
            None => self.dequantize_min_max(data, scales, zeros, to, dst),
            Some((run, part)) => self.dequantize_min_max_split(&run, part, [data, scales, zeros], to, dst),
        }
    }

    /// [`amax`](Self::amax) over several threads.
    ///
    /// # Errors
    ///
    /// As [`amax`](Self::amax).
    pub fn par_amax(&self, src: &[u8], threads: Threads) -> Result<f32, ScaledError> {
        check_len("source", byte_len(self.from, self.elements())?, src.len())?;
        match over(self.elements(), threads) {
            None => self.amax(src),
            Some((run, part)) => {
                self.amax_split(&self.in_order(src), &run, part, u32::MAX).map(f32::from_bits)
            }
        }
    }

    fn in_order<'s>(&self, src: &'s [u8]) -> impl Elements + use<'s> {
        InOrder(src, self.from.dtype().size())
    }
}
