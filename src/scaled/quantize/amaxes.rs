//! The largest magnitudes of blocks and tensors.

use super::{
    super::{
        blocks::Piece,
        error::ScaledError,
        packing::CHUNK,
        resolved::{INFINITY, MAGNITUDE, Resolved},
    },
    load::Buffer,
};
use alloc::vec::Vec;
use core::ops::Range;
use lanecast_kernels::scaled::{ScaledLoops, Word};

/// The largest magnitudes of the blocks of a slab.
pub(super) struct Amaxes {
    /// As codes of float32.
    pub(super) words: Vec<u32>,
    /// As codes of the source, if that has 16 bits.
    halves: Vec<u16>,
}

impl Amaxes {
    pub(super) fn new() -> Self {
        Self { words: Vec::new(), halves: Vec::new() }
    }

    pub(super) fn words(&self) -> &[Word] {
        bytemuck::cast_slice(&self.words)
    }
}

impl Resolved {
    /// The bits of the largest magnitude whose bits are below `limit`.
    pub(super) fn amax_bits(&self, src: &[u8], limit: u32) -> Result<u32, ScaledError> {
        let n = self.elements();
        let (mut amax, mut x) = (0, Buffer([[0; 4]; CHUNK]));
        if let Some(loops) = self.kernels.loops {
            let mut of_all = Amaxes { words: Vec::from([0]), halves: Vec::from([0]) };
            let whole = Piece { elements: 0..n, run: n.max(1), block: 0 };
            if self.amaxes_by(loops, src, &whole, &mut of_all)? && self.widen(&mut of_all)? < limit {
                return Ok(of_all.words[0]);
            }
        }
        for start in (0..n).step_by(CHUNK) {
            let x = self.load(src, start..n.min(start + CHUNK), &mut x)?;
            let magnitudes = x.iter().map(|x| u32::from_ne_bytes(*x) & MAGNITUDE);
            amax = magnitudes.filter(|x| *x < limit).fold(amax, u32::max);
        }
        Ok(amax)
    }

    /// The largest magnitudes of the blocks of a slab.
    pub(super) fn amaxes(
        &self,
        src: &[u8],
        elements: Range<usize>,
        blocks: &Range<usize>,
        finite: bool,
        amaxes: &mut Amaxes,
    ) -> Result<(), ScaledError> {
        amaxes.words.clear();
        amaxes.words.resize(blocks.len(), 0);
        amaxes.halves.clear();
        amaxes.halves.resize(blocks.len(), 0);
        if let (Some(loops), false) = (self.kernels.loops, finite) {
            let mut done = true;
            // Of long runs all at once: nothing is loaded for it.
            for mut piece in self.blocks.pieces(elements.clone(), usize::MAX) {
                piece.block -= blocks.start;
                done &= self.amaxes_by(loops, src, &piece, amaxes)?;
            }
            if done {
                self.widen(amaxes)?;
                return Ok(());
            }
        }
        let mut x = Buffer([[0; 4]; CHUNK]);
        for piece in self.blocks.pieces(elements, CHUNK) {
            let x = self.load(src, piece.elements.clone(), &mut x)?;
            let amaxes = &mut amaxes.words[piece.block - blocks.start..];
            for (run, amax) in x.chunks(piece.run).zip(amaxes) {
                let magnitudes = run.iter().map(|x| u32::from_ne_bytes(*x) & MAGNITUDE);
                *amax = magnitudes.filter(|x| !finite || *x < INFINITY).fold(*amax, u32::max);
            }
        }
        Ok(())
    }

    /// Raises the largest magnitudes of the blocks of a piece by the loops of a tier. `false` if those do not read such a source.
    fn amaxes_by(
        &self,
        loops: ScaledLoops,
        src: &[u8],
        piece: &Piece,
        amaxes: &mut Amaxes,
    ) -> Result<bool, ScaledError> {
        let size = self.source.dtype().size();
        let bytes = &src[piece.elements.start * size..piece.elements.end * size];
        let blocks = piece.block..piece.block + piece.blocks();
        match size {
            _ if !self.kernels.native => return Ok(false),
            2 => loops.amax_16(bytemuck::cast_slice(bytes), piece.run, &mut amaxes.halves[blocks]),
            _ => loops.amax_32(bytemuck::cast_slice(bytes), piece.run, &mut amaxes.words[blocks]),
        }
        Ok(true)
    }

    /// Magnitudes of the source as float32; returns the largest of them.
    fn widen(&self, amaxes: &mut Amaxes) -> Result<u32, ScaledError> {
        if self.source.dtype().size() == 2 {
            let n = amaxes.halves.len();
            let words = bytemuck::cast_slice_mut(&mut amaxes.words);
            self.kernels.load.run(bytemuck::cast_slice(&amaxes.halves), words, n)?;
        }
        Ok(amaxes.words.iter().fold(0, |a, b| a.max(*b)))
    }
}
