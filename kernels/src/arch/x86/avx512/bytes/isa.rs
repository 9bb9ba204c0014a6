//! What depends on VBMI.

use super::{
    lookup::{Permuted, Shuffled, Table},
    *,
};
use core::marker::PhantomData;

/// The tables of an instruction set, and the body compiled for it.
pub(super) trait Isa: Copy + 'static {
    type T64: Table<64>;
    type T128: Table<128>;
    type T256: Table<256>;
    /// Whether bytes can be taken from anywhere in a register, and eight bits from anywhere in eight bytes.
    const MULTISHIFT: bool;
    /// The body compiled for these instructions, with the table of the pair in its data.
    type Body<L: Load, Q: Planes<E, P>, W: Shape<P>, const E: usize, const P: usize>: Body;
}

/// A kernel as a constant of a type: constants can name it, and only what they name is compiled.
pub(super) trait Body {
    const RUN: KernelFn;
}

/// The body for the instructions of `I`.
pub(super) const fn body<I: Isa, L: Load, Q: Planes<E, P>, W: Shape<P>, const E: usize, const P: usize>()
-> KernelFn {
    <I::Body<L, Q, W, E, P> as Body>::RUN
}

/// With VBMI.
#[derive(Clone, Copy)]
pub(super) struct Vbmi;

/// Without: words can be permuted, bytes only within lanes.
#[derive(Clone, Copy)]
pub(super) struct Words;

impl Isa for Vbmi {
    type T64 = Permuted<1>;
    type T128 = Permuted<2>;
    type T256 = Permuted<4>;
    const MULTISHIFT: bool = true;
    type Body<L: Load, Q: Planes<E, P>, W: Shape<P>, const E: usize, const P: usize> =
        WithVbmi<L, Q, W, E, P>;
}

/// The type of [`with_vbmi`].
pub(super) struct WithVbmi<L, Q, W, const E: usize, const P: usize>(PhantomData<(L, Q, W)>);

impl<L: Load, Q: Planes<E, P>, W: Shape<P>, const E: usize, const P: usize> Body for WithVbmi<L, Q, W, E, P> {
    const RUN: KernelFn = with_vbmi::<L, Q, W, E, P>;
}

impl Isa for Words {
    type T64 = Shuffled<4>;
    type T128 = Shuffled<8>;
    type T256 = Shuffled<16>;
    const MULTISHIFT: bool = false;
    type Body<L: Load, Q: Planes<E, P>, W: Shape<P>, const E: usize, const P: usize> =
        WithoutVbmi<L, Q, W, E, P>;
}

/// The type of [`without_vbmi`].
pub(super) struct WithoutVbmi<L, Q, W, const E: usize, const P: usize>(PhantomData<(L, Q, W)>);

impl<L: Load, Q: Planes<E, P>, W: Shape<P>, const E: usize, const P: usize> Body
    for WithoutVbmi<L, Q, W, E, P>
{
    const RUN: KernelFn = without_vbmi::<L, Q, W, E, P>;
}

vbmi_fn! {
    /// # Safety
    ///
    /// As [`run`].
    unsafe fn with_vbmi<L: Load, Q: Planes<E, P>, W: Shape<P>, const E: usize, const P: usize>(
        src: *const u8,
        dst: *mut u8,
        n: usize,
        data: &Data,
    ) {
        // SAFETY: as the caller's.
        unsafe { super::run::<Vbmi, L, Q, W, E, P>(src, dst, n, data) }
    }
}

avx512_fn! {
    /// # Safety
    ///
    /// As [`run`].
    unsafe fn without_vbmi<L: Load, Q: Planes<E, P>, W: Shape<P>, const E: usize, const P: usize>(
        src: *const u8,
        dst: *mut u8,
        n: usize,
        data: &Data,
    ) {
        // SAFETY: as the caller's.
        unsafe { super::run::<Words, L, Q, W, E, P>(src, dst, n, data) }
    }
}
