//! A single operand, for casts that do not read and write element by element.

use super::{
    OperandError, Written,
    bytes::{Reads, Source, Target, ViewTarget, Writes},
};
use crate::{drive::strided::View, dtype::Encoding};
use core::{mem::MaybeUninit, slice};

/// A single source.
#[derive(Debug)]
pub enum OneSource<'a> {
    /// The bytes of its elements.
    Bytes(&'a [u8]),
    /// A view.
    View(&'a View<'a>),
}

/// A single target.
#[derive(Debug)]
pub enum OneTarget<'a> {
    /// The memory of its elements.
    Bytes(Memory<'a>),
    /// A view.
    View(ViewTarget<'a>),
}

/// The memory of a target, which need not be initialised.
#[derive(Debug)]
pub struct Memory<'a> {
    memory: &'a mut [MaybeUninit<u8>],
    initialised: bool,
    written: Written<'a>,
}

impl<'a> Memory<'a> {
    /// The number of bytes.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks whether there are none")]
    pub fn len(&self) -> usize {
        self.memory.len()
    }

    /// The bytes. Bytes that were not initialised become zero, and count as written.
    pub fn bytes(self) -> &'a mut [u8] {
        let Memory { memory, initialised, written } = self;
        if !initialised {
            memory.fill(MaybeUninit::new(0));
        }
        // SAFETY: all bytes are initialised, some of them just now.
        unsafe { written.all() };
        // SAFETY: as above, and a `MaybeUninit<u8>` is laid out as a `u8`.
        unsafe { slice::from_raw_parts_mut(memory.as_mut_ptr().cast(), memory.len()) }
    }
}

impl<'a> Source<'a> {
    /// The encoding of a slice or a view; `None` for bytes, whose encoding the plan gives.
    pub fn encoding(&self) -> Option<Encoding> {
        match &self.0 {
            Reads::Bytes(bytes) => bytes.dtype.map(Encoding::new),
            Reads::View(view) => Some(view.encoding()),
            Reads::InPlace => None,
        }
    }

    /// The bytes of all elements, which are of the encoding `plan`, or a view, which may have another one.
    ///
    /// # Errors
    ///
    /// [`OperandError`] if a slice has another dtype, if there are fewer bytes than the elements take, or if there is no operand.
    pub fn one(self, plan: Encoding) -> Result<OneSource<'a>, OperandError> {
        match self.0 {
            Reads::Bytes(bytes) => bytes.cut(plan).map(OneSource::Bytes),
            Reads::View(view) => Ok(OneSource::View(view)),
            Reads::InPlace => Err(OperandError::NotBytes),
        }
    }
}

impl<'a> Target<'a> {
    /// The encoding of a slice or a view; `None` for bytes, whose encoding the plan gives.
    pub fn encoding(&self) -> Option<Encoding> {
        match &self.0 {
            Writes::Bytes(bytes) => bytes.dtype.map(Encoding::new),
            Writes::View(view) => Some(view.get().encoding()),
        }
    }

    /// The memory of all elements, which are of the encoding `plan`, or a view, which may have another one.
    ///
    /// # Errors
    ///
    /// As [`Source::one`].
    pub fn one(self, plan: Encoding) -> Result<OneTarget<'a>, OperandError> {
        match self.0 {
            Writes::Bytes(bytes) => {
                let initialised = bytes.initialised && !bytes.raw;
                let (memory, written) = bytes.cut(plan)?;
                Ok(OneTarget::Bytes(Memory { memory, initialised, written }))
            }
            Writes::View(view) => Ok(OneTarget::View(view)),
        }
    }
}
