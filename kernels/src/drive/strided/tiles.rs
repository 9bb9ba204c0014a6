//! Transpositions in tiles: squares of the innermost axis of the destination and the innermost axis of the source.
//!
//! A tile is several cache lines along both axes. It is cast row by row in the order of the source and transposed on the stack
//! (`tile`), or transposed first if the source elements are narrower than the results, and written in whole lines, with non-temporal
//! stores where contiguous casts use them.

use super::{
    MAX_AXES,
    nest::{Axis, ONCE, Odometer},
    places::{PIECE, Places},
    run::{Cast, Runs, ask_rows},
};
use crate::{
    drive::blocks::Stack,
    vector::{
        machine::{CACHE_LINE, RUN},
        non_temporal::NonTemporal,
    },
};

/// Bytes of a tile and of its results together, a part of the first-level cache and of small stacks.
const TILE: usize = (48 << 10) + CACHE_LINE;
/// The number of rows, or of elements in a row, below which a tile is not cast row by row.
const FEW: usize = 16;

impl<R: Runs> Cast<'_, R> {
    /// The axis with the smallest stride in the source, if it is not the innermost axis of the destination and tiles are worthwhile for both.
    pub(super) fn turned(&self, axes: &[Axis]) -> Option<usize> {
        let step = |axis: &Axis| axis.src.unsigned_abs();
        let (other, axis) =
            axes.iter().enumerate().filter(|(_, axis)| axis.src != 0).min_by_key(|(_, axis)| step(axis))?;
        let inner = &axes[0];
        (other > 0 && inner.src != 0 && step(inner) >= 2 * step(axis) && axis.len * inner.len >= RUN)
            .then_some(other)
    }

    /// Casts in tiles of the innermost axis of the destination (x) and the innermost axis of the source (y).
    ///
    /// # Safety
    ///
    /// As [`all`](Self::all), not in place.
    #[inline(never)]
    pub(super) unsafe fn tiles(
        &mut self,
        src: *const u8,
        dst: *mut u8,
        first: isize,
        x: Axis,
        outer: &[Axis],
        other: usize,
    ) {
        // The axes of the outer loops.
        let mut rest = [ONCE; MAX_AXES];
        let mut count = 0;
        for (i, axis) in outer.iter().enumerate() {
            if i + 1 != other {
                rest[count] = *axis;
                count += 1;
            }
        }
        let y = outer[other - 1];
        let streams = self.ahead.filter(|_| self.kernel.streams(usize::MAX));
        let (wide, high) = self.tile_of(x.len, y.len, streams.is_some());
        // For a few long rows the hardware prefetcher does better.
        let ahead = self.ahead.filter(|_| wide >= FEW && high >= FEW);
        for start in Odometer::new(&rest[..count]) {
            // Non-temporal stores write whole lines: tiles begin at lines of the destination, if all rows of the tile do.
            let over = dst.addr().wrapping_add_signed(start.dst) % CACHE_LINE;
            let rows_alike = x.dst == self.d as isize && y.dst.unsigned_abs().is_multiple_of(CACHE_LINE);
            let past = streams.filter(|_| rows_alike && over.is_multiple_of(self.d));
            let head = if past.is_some() { wide - over / self.d % wide } else { wide };
            for row in (0..y.len).step_by(high) {
                let mut col = 0;
                while col < x.len {
                    let start = start.moved(col as isize, &x).moved(row as isize, &y);
                    let wide = if col == 0 { head } else { wide };
                    let len = [wide.min(x.len - col), high.min(y.len - row)];
                    let (src, dst) = (src.wrapping_offset(start.src), dst.wrapping_offset(start.dst));
                    if let Some(tools) = ahead {
                        let next = match wide < x.len {
                            true => [wide as isize * x.src, wide as isize * x.dst],
                            false => [high as isize * y.src, high as isize * y.dst],
                        };
                        ask_rows(tools, src.wrapping_offset(next[0]), x.src, wide, high * self.s);
                        if past.is_none() {
                            ask_rows(tools, dst.wrapping_offset(next[1]), y.dst, high, wide * self.d);
                        }
                    }
                    let whole =
                        (len[0] * self.d).is_multiple_of(CACHE_LINE) && dst.addr().is_multiple_of(CACHE_LINE);
                    // SAFETY: the elements of a tile on both sides. Its rows are whole lines if they are stored non-temporally.
                    unsafe {
                        self.tile(src, dst, first + start.index, x, y, len, past.filter(|_| whole));
                    }
                    col += len[0];
                }
            }
        }
        if let Some(tools) = streams {
            (tools.fence)();
        }
    }

    /// The size of a tile along the axes of the destination and of the source: several cache lines each, and more along one axis if the other is
    /// short.
    fn tile_of(&self, x: usize, y: usize, streams: bool) -> (usize, usize) {
        let size = self.d + if streams { self.s.max(self.d) } else { self.s };
        let most = ((TILE - CACHE_LINE) / size).min(PIECE);
        let (wide, high) = (x.min((256 / self.d).clamp(32, 128)), y.min(128));
        // Short pieces of a few long rows make loads and stores alternate.
        let long = |few: usize| most / 8 / few;
        if high < FEW {
            (x.min(long(high)), high)
        } else if wide < FEW {
            (wide, y.min(long(wide)))
        } else {
            // Kernels are slower for the elements after whole registers.
            let power = |most: usize| 1 << most.ilog2();
            let wide = wide.min(power(most / FEW));
            (wide, high.min(power(most / wide)))
        }
    }

    /// Casts a tile of `len` elements along both axes; its first element has the index `first`.
    ///
    /// # Safety
    ///
    /// As [`all`](Self::all); the tile is one that `tile_of` allows. With `past`, its rows in the destination are whole lines.
    #[expect(clippy::too_many_arguments, reason = "a tile has two sides and two axes")]
    unsafe fn tile(
        &mut self,
        src: *const u8,
        dst: *mut u8,
        first: isize,
        x: Axis,
        y: Axis,
        [wide, high]: [usize; 2],
        past: Option<&NonTemporal>,
    ) {
        let (s, d, copy) = (self.s, self.d, self.kernel.token().copy());
        let mut room = Stack::<TILE>::new();
        let elements = room.start();
        let size = wide * high * if past.is_some() { s.max(d) } else { s };
        // SAFETY: the stack has room for the elements of a tile and their results or, if results are stored non-temporally, for twice the wider of
        // the two (`tile_of`).
        let results = unsafe { elements.add(size.next_multiple_of(CACHE_LINE)) };
        let dense = y.src == s as isize;
        // The rows of the source: `wide` rows of `high` elements.
        let row = |size: usize| (high * size) as isize;
        // SAFETY: elements of the tile; the stack has room for all of them on either side.
        unsafe {
            if 2 * s <= d && wide >= FEW && x.dst == d as isize && !R::SLOW {
                // The elements are transposed first, because they are narrower, and then cast into the destination.
                let mut from = src;
                if !(dense && x.src == row(s)) {
                    copy(s, src, [y.src, x.src], results, [s as isize, row(s)], [high, wide]);
                    from = results;
                }
                let turned = (wide * s) as isize;
                self.turn(s, from, row(s), elements, turned, [wide, high]);
                for i in 0..high as isize {
                    let (row, dst) = (elements.offset(i * turned), dst.offset(i * y.dst));
                    let places = Places::row(first + i * y.index, x);
                    match past {
                        Some(tools) => {
                            self.run(row, results, wide, &places);
                            (tools.store)(results, dst, wide * d);
                        }
                        None => _ = self.run(row, dst, wide, &places),
                    }
                }
                return;
            }
            let mut from = src;
            if dense && x.src != row(s) && high >= FEW && !R::SLOW {
                for i in 0..wide as isize {
                    let places = Places::row(first + i * x.index, y);
                    self.run(src.offset(i * x.src), results.offset(i * row(d)), high, &places);
                }
            } else {
                if !(dense && x.src == row(s)) {
                    copy(s, src, [y.src, x.src], elements, [s as isize, row(s)], [high, wide]);
                    from = elements;
                }
                let places = Places::plane(first, [y, x], high, ONCE);
                if !self.run(from, results, high * wide, &places) {
                    return;
                }
            }
            if let Some(tools) = past {
                let turned = (wide * d) as isize;
                self.turn(d, results, row(d), elements, turned, [wide, high]);
                for i in 0..high as isize {
                    (tools.store)(elements.offset(i * turned), dst.offset(i * y.dst), wide * d);
                }
            } else if x.dst == d as isize {
                self.turn(d, results, row(d), dst, y.dst, [wide, high]);
            } else {
                copy(d, results, [row(d), d as isize], dst, [x.dst, y.dst], [wide, high]);
            }
        }
    }

    /// # Safety
    ///
    /// As [`Turn`](crate::vector::moves::tile::Turn), for elements of `size` bytes.
    unsafe fn turn(
        &self,
        size: usize,
        src: *const u8,
        from: isize,
        dst: *mut u8,
        to: isize,
        [rows, cols]: [usize; 2],
    ) {
        let turn = self.kernel.token().transpose()[size.trailing_zeros() as usize];
        // SAFETY: the caller's promise; the kernel proves its tier.
        unsafe { turn(src, from, dst, to, rows, cols) }
    }
}
