//! Casts of typed slices, whose pair of element types and kernels are known at compile time.
//!
//! A dynamic plan looks up its kernel in tables of all pairs, so a program that makes one plan links every kernel. Here each
//! pair is a separate static that refers to its kernels, one per tier and set of CPU features. A typed cast refers to one static,
//! and the linker drops all others with their kernels. The statics are in this crate and not generic, so that a program built
//! without optimisation runs the kernels that were optimised here.
//!
//! The rules are the common ones, as in `CastOptions::RUST`. Everything else goes through [`Kernel`](crate::Kernel).

use crate::vector::opaque::opaque;
use crate::{
    arch::{self, TierToken},
    drive::{blocks::Stack, fpenv, stream::stream},
    dtype::{DType, NOT_BUILT, Spec, for_each_dtype},
    exact::{Rules, one::assert_size, steps},
    format::{data::Data, *},
    vector::{
        kernel::{Entry, KernelFn, PairEntry},
        machine::{BLOCK_BYTES, BLOCK_ELEMENTS},
        pairs::same_bits,
    },
};
use alloc::vec::Vec;
use core::{marker::PhantomData, mem::MaybeUninit, slice};

/// The kernels of a pair.
#[allow(
    clippy::large_enum_variant,
    reason = "each pair is a static of its own; a reference would be one more to follow"
)]
pub(crate) enum Pair {
    /// One kernel for each variant of the code ([`TierToken::variant`]).
    One([Variant; arch::VARIANTS]),
    /// A kernel to an intermediate dtype, and a kernel from that dtype to the target ([`steps`]).
    Two([Variant; arch::VARIANTS], [Variant; arch::VARIANTS]),
}

/// The kernel of a pair for a tier and a set of CPU features.
#[derive(Clone, Copy)]
pub(crate) struct Variant {
    run: KernelFn,
    /// Whether the floating-point environment may change its results.
    guarded: bool,
    data: Data,
}

/// Whether out-of-range values saturate by default: `CastOptions::RUST`.
pub const fn saturates_by_default(from: DType, to: DType) -> bool {
    !matches!((from.spec(), to.spec()), (Spec::Bool | Spec::Int { .. }, Spec::Int { .. }))
}

/// The constants of a target, computed once.
struct Constants<D, const SATURATE: bool>(PhantomData<D>);

impl<D: Format, const SATURATE: bool> Constants<D, SATURATE> {
    const DATA: Data = Data::new(D::DTYPE, &Rules::common(D::DTYPE, SATURATE));
}

impl Pair {
    const fn new<S: Format, D: Format>() -> Pair {
        let (from, to) = (S::DTYPE, D::DTYPE);
        /// The pair through the intermediate dtype `M`.
        const fn two<S: Format, M: Format, D: Format>() -> Pair {
            assert!(M::DTYPE.size() * BLOCK_ELEMENTS <= BLOCK_BYTES);
            Pair::Two(variants::<S, M>(true), variants::<M, D>(true))
        }
        match steps::through(from, to) {
            _ if !from.is_built() || !to.is_built() => Pair::One(variants::<S, D>(true)),
            None => Pair::One(variants::<S, D>(saturates_by_default(from, to))),
            Some(DType::Int8) => two::<S, i8, D>(),
            Some(DType::UInt8) => two::<S, u8, D>(),
            Some(DType::Float32) => two::<S, f32, D>(),
            Some(DType::Float64) => two::<S, f64, D>(),
            Some(_) => panic!("`steps` has no other intermediate dtypes"),
        }
    }
}

const fn variants<S: Format, D: Format>(saturate: bool) -> [Variant; arch::VARIANTS] {
    let entries = arch::entries::<S, D>(saturate);
    let data = if saturate { Constants::<D, true>::DATA } else { Constants::<D, false>::DATA };
    let mut variants = [Variant { run: entries[0].entry.run, guarded: true, data }; arch::VARIANTS];
    let mut i = 0;
    while i < arch::VARIANTS {
        let PairEntry { entry: Entry { run, table }, guarded } = entries[i];
        variants[i] = Variant { run, guarded, data: Data { table, ..data } };
        i += 1;
    }
    variants
}

macro_rules! define_pairs {
    ($($kind:ident ($variant:ident, $format:ty, $code:literal, $name:literal, $spec:expr, [$($alias:literal),*]))*) => {
        /// The static of a pair. Used in a constant, it refers to no other pair.
        const fn pair(from: DType, to: DType) -> &'static Pair {
            match from {
                $(DType::$variant => for_each_dtype!(pairs_from, ($format, to)),)*
            }
        }
    };
}
macro_rules! pairs_from {
    (($source:ty, $to:ident); $($kind:ident ($variant:ident, $format:ty, $code:literal, $name:literal, $spec:expr, [$($alias:literal),*]))*) => {
        match $to {
            $(DType::$variant => {
                static PAIR: Pair = Pair::new::<$source, $format>();
                &PAIR
            })*
        }
    };
}
for_each_dtype!(define_pairs);

/// The total of bytes read and written up to which no cast uses non-temporal stores.
const NEVER_STREAMED: usize = 1 << 20;

impl Variant {
    /// # Safety
    ///
    /// As [`KernelFn`] of the pair, under any floating-point environment.
    #[inline(always)]
    unsafe fn run(&self, src: *const u8, dst: *mut u8, n: usize) {
        let _guard = self.guarded.then(fpenv::guard);
        // SAFETY: the memory and the CPU are the caller's promise. The constants belong to the kernel, and the guard is held if the
        // environment could change its results.
        unsafe { opaque(self.run)(src, dst, n, &self.data) };
    }
}

impl Pair {
    /// Casts `n` elements of `sizes` bytes.
    ///
    /// # Safety
    ///
    /// `src` is readable for `n` elements of the pair's source and `dst` is writable for `n` elements of its target; the two do not overlap.
    /// `sizes` are the sizes of these elements in bytes, and all elements take at most [`isize::MAX`] bytes on either side.
    #[inline(always)]
    pub(crate) unsafe fn run(
        &'static self,
        tier: TierToken,
        src: *const u8,
        dst: *mut u8,
        n: usize,
        sizes: (usize, usize),
    ) {
        if n * (sizes.0 + sizes.1) > NEVER_STREAMED {
            // SAFETY: the caller's memory and sizes.
            return unsafe { self.run_large(tier, src, dst, n, sizes) };
        }
        // SAFETY: the caller's memory and sizes.
        unsafe { self.run_small(tier, src, dst, n, sizes) };
    }

    /// # Safety
    ///
    /// As [`run`](Self::run).
    #[inline(always)]
    unsafe fn run_small(
        &'static self,
        tier: TierToken,
        src: *const u8,
        dst: *mut u8,
        n: usize,
        sizes: (usize, usize),
    ) {
        match self {
            // SAFETY: the kernel belongs to the pair and to the tier, which can run here by the token; the memory is the caller's.
            Pair::One(variants) => unsafe { variants[tier.variant()].run(src, dst, n) },
            // SAFETY: the first kernel reads the pair's source, the second reads what it writes and writes the pair's target
            // (`Pair::new`); the memory and the sizes are the caller's, and the token proves the tier.
            Pair::Two(first, second) => unsafe {
                in_two_steps(&first[tier.variant()], &second[tier.variant()], src, dst, n, sizes)
            },
        }
    }

    /// # Safety
    ///
    /// As [`run`](Self::run).
    #[cold]
    unsafe fn run_large(
        &'static self,
        tier: TierToken,
        src: *const u8,
        dst: *mut u8,
        n: usize,
        sizes: (usize, usize),
    ) {
        let bytes = n * (sizes.0 + sizes.1);
        let Some(tools) = tier.non_temporal().filter(|tools| bytes > (tools.last_cache)()) else {
            // SAFETY: the memory and the sizes are the caller's.
            return unsafe { self.run_small(tier, src, dst, n, sizes) };
        };
        // SAFETY: `src` is readable and `dst` writable for `n` elements of these sizes, which are at most `isize::MAX` bytes and do not overlap;
        // `dst` need not be initialised.
        let (src, dst) = unsafe {
            (slice::from_raw_parts(src, n * sizes.0), slice::from_raw_parts_mut(dst.cast(), n * sizes.1))
        };
        let bits = (8 * sizes.0 as u32, 8 * sizes.1 as u32);
        // SAFETY: `tier`, which has these tools, can run here; the slices are the bytes of `n` elements.
        unsafe {
            stream(tools, src, dst, n, bits, |src, dst, count| {
                // SAFETY: the driver gives the bytes of `count` elements on either side.
                self.run_small(tier, src.as_ptr(), dst.as_mut_ptr().cast(), count, sizes);
            });
        }
    }
}

/// Runs two kernels, block by block.
///
/// Never inlined: it has a block on the stack.
///
/// # Safety
///
/// As [`Pair::run`], for the pair of the source of `first` and the target of `second`. `second` reads what `first` writes: elements of at most
/// [`BLOCK_BYTES`] / [`BLOCK_ELEMENTS`] bytes.
#[inline(never)]
unsafe fn in_two_steps(
    first: &Variant,
    second: &Variant,
    mut src: *const u8,
    mut dst: *mut u8,
    mut n: usize,
    sizes: (usize, usize),
) {
    let mut block = Stack::<BLOCK_BYTES>::new();
    let block = block.start();
    while n > 0 {
        let count = n.min(BLOCK_ELEMENTS);
        // SAFETY: `count` of the caller's elements are on either side, and the block has room for `count` elements between the steps; the first
        // step writes all that the second reads.
        unsafe {
            first.run(src, block, count);
            second.run(block, dst, count);
            (src, dst) = (src.add(count * sizes.0), dst.add(count * sizes.1));
        }
        n -= count;
    }
}

/// Fails to compile, if used in a constant, when this build leaves out one of the dtypes.
pub const fn assert_built<S: Element, D: Element>() {
    if !S::DTYPE.is_built() || !D::DTYPE.is_built() {
        panic!("{}", NOT_BUILT);
    }
}

/// The pair of two element types.
struct Of<S, D>(PhantomData<(S, D)>);

impl<S: Element, D: Element> Of<S, D> {
    const PAIR: &'static Pair = {
        assert_built::<S, D>();
        pair(S::DTYPE, D::DTYPE)
    };
    /// Whether the cast changes no bit: there are no unused bits, and integers of the same width wrap to the same bits.
    const IS_COPY: bool = {
        let (from, to) = (S::DTYPE, D::DTYPE);
        let same = from as u8 == to as u8 || same_bits(from, to, saturates_by_default(from, to));
        // A `bool` of a slice is 0 or 1.
        same && (from.bits() >= 8 || matches!(from, DType::Bool))
    };
}

/// Casts every element of `src` to the element of `dst` at the same index under the common rules. Returns false, and writes nothing,
/// if the lengths differ.
#[inline]
pub fn cast_slices<S: Element, D: Element>(
    tier: impl FnOnce() -> TierToken,
    src: &[S],
    dst: &mut [D],
) -> bool {
    // SAFETY: the same memory; `cast_uninit` writes only initialised elements.
    let dst = unsafe { slice::from_raw_parts_mut(dst.as_mut_ptr().cast::<MaybeUninit<D>>(), dst.len()) };
    cast_uninit(tier, src, dst).is_some()
}

/// [`cast_slices`] into a new vector.
#[inline]
pub fn cast_to_vec<S: Element, D: Element>(tier: impl FnOnce() -> TierToken, src: &[S]) -> Vec<D> {
    let mut out = Vec::with_capacity(src.len());
    if cast_uninit(tier, src, &mut out.spare_capacity_mut()[..src.len()]).is_some() {
        // SAFETY: the capacity is at least this, and the cast initialised as many elements.
        unsafe { out.set_len(src.len()) };
    }
    out
}

/// [`cast_slices`] into memory that need not be initialised; returns the elements.
#[inline]
pub fn cast_uninit<'a, S: Element, D: Element>(
    tier: impl FnOnce() -> TierToken,
    src: &[S],
    dst: &'a mut [MaybeUninit<D>],
) -> Option<&'a mut [D]> {
    const { assert_size::<S>() };
    const { assert_size::<D>() };
    let n = src.len();
    if n != dst.len() {
        return None;
    }
    let sizes = (size_of::<S>(), size_of::<D>());
    // SAFETY: `n` elements of each slice, a shared and an exclusive one. The types belong to the pair; elements have no padding,
    // so all their bytes are initialised, and what a cast to `D::DTYPE` writes is valid for `D` (`Element`).
    unsafe {
        if Of::<S, D>::IS_COPY {
            dst.as_mut_ptr().cast::<S>().copy_from_nonoverlapping(src.as_ptr(), n);
        } else {
            Of::<S, D>::PAIR.run(tier(), src.as_ptr().cast(), dst.as_mut_ptr().cast(), n, sizes);
        }
        Some(slice::from_raw_parts_mut(dst.as_mut_ptr().cast::<D>(), n))
    }
}
