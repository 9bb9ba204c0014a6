//! Runs that round stochastically: through float64, block by block.

use super::outcome::{Outcome, Search, Tally};
use crate::error::CastError;
use crate::loss::{CastReport, Level};
use crate::stochastic::{Random, Stochastic};
use core::mem::MaybeUninit;
use lanecast_kernels::{
    Bytes, BytesMut, DType, Encoding, Flat, InPlaceBytes, Kernel, Kind, Layout, Loss, Losses, Lost, Rules,
    Tier, Uninit, View, ViewMut, loss,
};

/// Elements that are cast at once, in memory of the stack: whole bytes in every storage.
const BLOCK: usize = 512;

/// How a plan rounds stochastically.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stochastically {
    pub(super) random: Random,
    /// Elements to values of float64, exact.
    load: Kernel,
    /// Values of the target to its elements.
    store: Kernel,
    rules: Rules,
}

impl Stochastically {
    /// For a cast under these rules; `None` for a pair that does not round so.
    pub(super) fn new(cast: &Kernel, rules: &Rules, stochastic: Stochastic) -> Option<Stochastically> {
        let (from, to) = (cast.source(), cast.target());
        if from.dtype().kind() != Kind::Float {
            return None;
        }
        let random = Random::new(to.dtype(), stochastic)?;
        let middle = Encoding::new(DType::Float64);
        let load = Kernel::new(cast.tier(), from, middle, &Rules::common(DType::Float64, true))?;
        let store = Kernel::new(cast.tier(), middle, to, rules)?;
        Some(Stochastically { random, load, store, rules: *rules })
    }
}

/// The search of one part.
struct Part<'a> {
    by: &'a Stochastically,
    search: &'a Search,
    mask: &'a mut [u8],
    losses: Losses,
    marked: usize,
}

impl Stochastically {
    /// As the methods of [`Job`](super::job::Job) of the same names.
    pub(super) fn flat(
        &self,
        search: &Search,
        first: usize,
        flat: Flat<'_>,
        mask: &mut [u8],
    ) -> Result<Tally, CastError> {
        let Flat { src, dst, n } = flat;
        let (from, to) = (self.load.source(), self.store.target());
        let mut part = Part::new(self, search, mask);
        let mut values = [0.0; BLOCK];
        for at in (0..n).step_by(BLOCK) {
            let count = BLOCK.min(n - at);
            let values = &mut values[..count];
            self.load(&src[from.span(at, count)], values);
            part.round(first, at, values)?;
            self.store(values, &mut dst[to.span(at, count)]);
        }
        Ok(part.tally(n))
    }

    /// Casts a view, or only looks for losses.
    pub(super) fn views(
        &self,
        search: &Search,
        first: usize,
        (src, dst): (&View<'_>, Option<&mut ViewMut<'_>>),
        mask: &mut [u8],
    ) -> Result<Tally, CastError> {
        let (mut part, mut at) = (Part::new(self, search, mask), 0);
        self.rows(&mut part, first, &mut at, src.clone(), dst.map(ViewMut::reborrow), 0)?;
        Ok(part.tally(at))
    }

    pub(super) fn in_place(
        &self,
        search: &Search,
        mut bytes: InPlaceBytes<'_>,
        mask: &mut [u8],
    ) -> Result<Tally, CastError> {
        let (from, to, n) = (self.load.source(), self.store.target(), bytes.elements());
        let found = match bytes.read(from, 0, n) {
            Some(src) if search.level.is_some() => {
                self.views(search, 0, (&View::new(src, Layout::contiguous(from, &[n])?)?, None), mask)?
            }
            _ => Tally::default(),
        };
        let mut values = [0.0; BLOCK];
        let mut block = |at: usize| {
            let count = BLOCK.min(n - at);
            let values = &mut values[..count];
            self.load(bytes.read(from, at, count)?, values);
            self.random.round(at, values);
            self.store(values, bytes.write(to, at, count)?);
            Some(())
        };
        // No result may overwrite an element that has not been read.
        let starts = (0..n).step_by(BLOCK);
        let done = if from.bits_per_element() < to.bits_per_element() {
            starts.rev().try_for_each(&mut block)
        } else {
            starts.into_iter().try_for_each(&mut block)
        };
        done.map(|()| found).ok_or(CastError::TooLarge { elements: n, encoding: from })
    }

    /// The elements of a block; `src` has exactly their bytes.
    fn load(&self, src: &[u8], values: &mut [f64]) {
        let src = Bytes::new(src, values.len());
        self.load.run_direct(&src.into(), &mut values.into());
    }

    /// The results of a block; `dst` has exactly their bytes.
    fn store(&self, values: &[f64], dst: &mut [MaybeUninit<u8>]) {
        let mut dst = Uninit::new(dst);
        self.store.run_direct(&values.into(), &mut BytesMut::uninit(&mut dst, values.len()).into());
    }

    /// Casts the elements of a view in C order, from the axis `axis` on; `at` elements come before them.
    fn rows(
        &self,
        part: &mut Part<'_>,
        first: usize,
        at: &mut usize,
        src: View<'_>,
        dst: Option<ViewMut<'_>>,
        axis: usize,
    ) -> Result<(), CastError> {
        let shape = src.layout().shape();
        let (len, is_last) = (shape.get(axis).copied().unwrap_or(1), axis + 1 >= shape.len());
        let size = if is_last { BLOCK } else { 1 };
        let (mut src, mut dst, mut left) = (src, dst, len);
        while left > size {
            let (src_part, src_rest) = src.split(axis, size)?;
            let (dst_part, dst_rest) = match dst {
                Some(dst) => dst.split(axis, size).map(|(part, rest)| (Some(part), Some(rest)))?,
                None => (None, None),
            };
            self.row_or_rows(part, first, at, src_part, dst_part, axis, is_last)?;
            (src, dst, left) = (src_rest, dst_rest, left - size);
        }
        if left > 0 { self.row_or_rows(part, first, at, src, dst, axis, is_last) } else { Ok(()) }
    }

    #[expect(clippy::too_many_arguments, reason = "a recursion")]
    fn row_or_rows(
        &self,
        part: &mut Part<'_>,
        first: usize,
        at: &mut usize,
        src: View<'_>,
        dst: Option<ViewMut<'_>>,
        axis: usize,
        is_last: bool,
    ) -> Result<(), CastError> {
        if !is_last {
            return self.rows(part, first, at, src, dst, axis + 1);
        }
        let shape = src.layout().clone();
        let count = shape.elements();
        let mut values = [0.0; BLOCK];
        let values = &mut values[..count];
        self.load.run_strided(&src, &mut ViewMut::from_slice(values, shape.shape())?)?;
        part.round(first, *at, values)?;
        if let Some(mut dst) = dst {
            self.store.run_strided(&View::from_slice(values, shape.shape())?, &mut dst)?;
        }
        *at += count;
        Ok(())
    }
}

impl<'a> Part<'a> {
    fn new(by: &'a Stochastically, search: &'a Search, mask: &'a mut [u8]) -> Self {
        Part { by, search, mask, losses: Losses::default(), marked: 0 }
    }

    /// Rounds values. The first value has the index `at` in the part and `first + at` in the cast.
    fn round(&mut self, first: usize, at: usize, values: &mut [f64]) -> Result<(), CastError> {
        let Some(level) = self.search.level else {
            self.by.random.round(first + at, values);
            return Ok(());
        };
        let mut before = [0.0; BLOCK];
        let before = &mut before[..values.len()];
        before.copy_from_slice(values);
        self.by.random.round(first + at, values);
        for (i, (before, after)) in before.iter().zip(values).enumerate() {
            let Some(loss) = self.lost(before.to_bits(), after.to_bits(), level) else { continue };
            let i = at + i;
            match self.search.outcome {
                Outcome::Results => {
                    let lost = Lost { index: i, code: self.code(*before), loss };
                    return Err(self.search.rejected(&lost, first));
                }
                Outcome::Mask => {
                    self.mask[i / 8] &= !(1 << (i % 8));
                    self.marked += 1;
                }
                Outcome::Counts => self.losses.add(loss, 1),
            }
        }
        Ok(())
    }

    /// The loss of a value that was rounded, by bits: the host's floating-point environment does not matter.
    fn lost(&self, before: u64, after: u64, level: Level) -> Option<Loss> {
        let to = self.by.store.target().dtype();
        let of = |bits: u64| loss(DType::Float64, to, bits.into(), &self.by.rules)[0];
        let out_of_range = |bits| of(bits).filter(|loss| loss.is_out_of_range());
        if let Some(loss) = out_of_range(before).or_else(|| out_of_range(after)) {
            // The rounding itself makes finite values the largest of a float.
            let is_finite = before << 1 < 0x7FF0_0000_0000_0000 << 1;
            return Some(if is_finite && to.kind() == Kind::Float { Loss::Saturated } else { loss });
        }
        let counts = self.search.outcome == Outcome::Counts;
        match (before == after, after << 1 == 0) {
            (true, _) => None,
            (false, true) if before << 1 == 0 => None,
            (false, true) => (counts || level != Level::Range).then_some(Loss::Underflow),
            (false, false) => (level == Level::Exact).then_some(Loss::Inexact),
        }
    }

    /// The code of a value of the source.
    fn code(&self, value: f64) -> u128 {
        let of = self.by.load.source().dtype();
        let mut out = [0; 8];
        let rules = Rules::common(of, true);
        if let Some(kernel) =
            Kernel::new(Tier::Scalar, Encoding::new(DType::Float64), Encoding::new(of), &rules)
        {
            kernel.run(&value.to_ne_bytes(), &mut out, 1);
        }
        let [a, b, c, d, ..] = out;
        match of.size() {
            1 => a.into(),
            2 => u16::from_ne_bytes([a, b]).into(),
            4 => u32::from_ne_bytes([a, b, c, d]).into(),
            _ => u64::from_ne_bytes(out).into(),
        }
    }

    fn tally(self, n: usize) -> Tally {
        Tally { marked: self.marked, report: CastReport::new(n, &self.losses) }
    }
}
