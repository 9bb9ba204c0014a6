//! One resolved cast. Plans enter the kernels here; a plan that looks for losses enters through [`Watch`](crate::Watch), which runs
//! these, and one of views through the strided casts.
//!
//! A cast goes one of two ways, decided once:
//!
//! * *direct*: both buffers are in byte storage, or the tier has a kernel that reads or writes packed elements itself; one call
//!   of the pair's kernel;
//! * *staged*: another packed buffer is unpacked or packed through a block on the stack around the kernel of byte storage.
//!
//! Rules are compared with the common ones after [`Rules::canonical`]. Under the common ones the table of the tier names the
//! kernel; under others [`Tier::rounded`], or for a source of a byte a table of its results, which is made with the plan.
//!
//! Elements in the other byte order are brought to that of the host around any of these, in `order`.

use crate::{
    arch::{self, Tier},
    data::{Data, Direction},
    dtype::{DType, Spec},
    exact::{self, Rules},
    format::{
        Element,
        packed::{NIBBLES, Nibbles},
    },
    fpenv,
    storage::BufferType,
    stream::{Streaming, stream},
    table::{Entry, KernelFn, same_bits},
    tabled::{self, Made, Tabled},
};
use alloc::vec::Vec;
use core::{fmt, mem::MaybeUninit, slice};

/// A cast between two buffer types under fixed rules, resolved for one tier.
#[derive(Clone, Copy)]
pub struct Kernel {
    /// The kernel of byte storage, around which other buffers are staged.
    body: KernelFn,
    /// The kernel that does all of the cast.
    direct: Option<KernelFn>,
    /// The kernel that does all of it if both sides are in the byte order of the host.
    native: Option<KernelFn>,
    /// The pair's kernel moves the bits of the elements as they are.
    moves: bool,
    from: BufferType,
    to: BufferType,
    tier: Tier,
    /// The kernels are those of the scalar tier, because the tier has none for these rules.
    borrowed: bool,
    /// Whether the host's floating-point environment has to be looked at.
    guarded: bool,
    /// The direction of rounding in which the kernel runs.
    direction: Direction,
    /// Bytes read and written above which the cast writes past the caches.
    stream_above: usize,
    /// The constants of the target under the rules.
    data: &'static Data,
    /// The results of packed elements, if a table of half bytes has them.
    nibbles: Option<&'static Nibbles>,
}

/// Elements of a stage: whole bytes of every packed width, small enough for the stack and the first cache.
pub(crate) const BLOCK: usize = 512;

/// Whether the pair's kernel on the tier has instructions that obey the floating-point environment. Those that have none are
/// called without looking at it, which takes longer than a short cast. `tests/fpenv.rs` of the root crate tries them all.
fn obeys_environment(tier: Tier, from: DType, to: DType) -> bool {
    let whole = |dtype: DType| matches!(dtype.spec(), Spec::Bool | Spec::Int { .. });
    let parts = |dtype: DType| match dtype.spec() {
        Spec::Float(f) | Spec::Complex(f) => f.bits(),
        _ => 0,
    };
    let moved = match (from, to) {
        (DType::BFloat16, DType::Float32 | DType::Complex64) => true,
        // The same parts.
        _ => parts(from) >= 32 && parts(from) == parts(to),
    };
    let tested = matches!(to, DType::Bool) && (parts(from) >= 32 || matches!(from, DType::BFloat16));
    // These tiers look these up; AVX-512 of bytes that are integers only what is short.
    let looked_up = from.size() == 1
        && match tier {
            Tier::Avx512 => {
                let integer = matches!(from, DType::Bool | DType::Int8 | DType::UInt8);
                to.size() <= 2 || parts(to) > 0 && !integer
            }
            Tier::Neon => {
                let powers = matches!(from, DType::Float8E8M0FNU);
                to.size() == 1
                    || parts(to) == 32
                    || matches!(to, DType::BFloat16)
                    || matches!(to, DType::Float16) && !powers
                    || from.is_sub_byte() && whole(to)
            }
            _ => false,
        };
    // A conversion that is exact is the same in all environments, if it is one instruction: a difference that is zero has a
    // sign that depends on the rounding mode. The others of AVX-512 bring their rounding mode with them.
    let free = match (tier, from.spec()) {
        (Tier::Avx512, Spec::Int { bits: 32 | 64, .. }) if matches!(to, DType::Float32 | DType::Float64) => {
            true
        }
        (Tier::Avx512, Spec::Int { bits: 16 | 32, .. }) if parts(to) == 64 => true,
        (Tier::Neon, Spec::Int { bits: ..=32, .. }) if parts(to) == 64 => true,
        (Tier::Avx2 | Tier::Avx512 | Tier::Neon, Spec::Bool | Spec::Int { bits: ..=16, .. }) => {
            parts(to) == 32
        }
        _ => false,
    };
    !(from as u8 == to as u8 || whole(from) && whole(to) || moved || tested || looked_up || free)
}

/// The table for a packed source of 2 or 4 bits and a target that has a byte, or as many bits.
fn nibbles(from: BufferType, to: BufferType, saturate: bool) -> Option<&'static Nibbles> {
    let width = from.bits_per_element();
    let fits = to.bits_per_element() == if to.is_packed() { width } else { 8 };
    let (s, d) = (from.dtype(), to.dtype());
    (from.is_packed() && width <= 4 && fits).then(|| &NIBBLES[saturate as usize][s as usize][d as usize])
}

/// Whether whole bytes are copied.
fn is_packed_copy(from: BufferType, to: BufferType) -> bool {
    from == to && from.is_packed()
}

/// Bytes read and written above which a cast of the tier writes past the caches.
fn stream_above(tier: Tier, streaming: Streaming) -> usize {
    match streaming {
        _ if tier.non_temporal().is_none() => usize::MAX,
        Streaming::Auto => arch::last_cache(),
        Streaming::Always => 0,
        Streaming::Never => usize::MAX,
    }
}

impl Kernel {
    /// The cast from `from` to `to` on `tier`; `None` if the tier cannot run here.
    pub fn new(tier: Tier, from: BufferType, to: BufferType, rules: &Rules) -> Option<Kernel> {
        let kernels = tier.table().filter(|_| tier == Tier::Scalar || tier.is_available())?;
        let (s, d) = (from.dtype(), to.dtype());
        let rules = &rules.canonical(s, d);
        let mut other = !rules.is(&Rules::common(d, rules.saturate));
        if kernels.tabled.is_some() && s.size() == 1 && other {
            let find = |from, to| tabled::find(tier, from, to, rules);
            match find(s.into(), d.into()) {
                Tabled::Common => other = false,
                Tabled::Kernel(made) => {
                    let native = if from == s.into() && to == d.into() {
                        &Tabled::Other
                    } else {
                        find(from.native(), to.native())
                    };
                    return Some(Kernel::tabled(tier, from, to, rules, made, native));
                }
                Tabled::Nibbles(_) | Tabled::Other => {}
            }
        }
        // Around a kernel of byte storage packed sides are staged.
        let answers = |from: BufferType, to: BufferType| tier.rounded(from, to, rules);
        let own = if other { answers(s.into(), d.into()) } else { None };
        // Rules that a tier does not know cost speed, never an answer.
        let borrowed = other && own.is_none();
        let rounded = if borrowed { Tier::Scalar.rounded(s.into(), d.into(), rules) } else { own };
        let rounded_native = match own {
            Some(_) if from.is_packed() || to.is_packed() => answers(from.native(), to.native()),
            _ if from.is_packed() || to.is_packed() => None,
            _ => rounded,
        };
        let nibbles = if other { None } else { nibbles(from, to, rules.saturate) };
        let staged = kernels.get(s, d, rules.saturate);
        let native = match (from.is_packed(), to.is_packed()) {
            _ if rounded.is_some() => rounded_native.map(|rounded| Entry::new(rounded.run)),
            (false, false) => Some(staged),
            // Half bytes to half bytes need not be taken apart.
            (_, true) if nibbles.is_some() => None,
            _ => kernels.get_packed(from, to, rules.saturate),
        };
        let table = native.unwrap_or(staged).table;
        let data = match rounded {
            None if table.is_null() => Data::common(d, rules.saturate),
            _ => Data::kept(s, d, rules, rounded.and_then(|rounded| rounded.second), table),
        };
        let kernel = Kernel {
            direct: None,
            native: native.map(|entry| entry.run),
            moves: s == d || same_bits(s, d, rules.saturate),
            body: match rounded {
                Some(rounded) => rounded.run,
                None if is_packed_copy(from, to) => kernels.get(DType::UInt8, DType::UInt8, false).run,
                None => staged.run,
            },
            from,
            to,
            tier,
            guarded: other || obeys_environment(tier, s, d),
            borrowed,
            direction: rounded.map_or(Direction::NearestEven, |rounded| rounded.direction),
            stream_above: stream_above(tier, Streaming::Auto),
            nibbles,
            data,
        };
        Some(kernel.routed())
    }

    /// The cast by a table of all results: `made` in byte storage, `native` of the elements as they are stored, if that is
    /// something else.
    fn tabled(
        tier: Tier,
        from: BufferType,
        to: BufferType,
        rules: &Rules,
        made: &Made,
        native: &'static Tabled,
    ) -> Kernel {
        let packed = from.is_packed() || to.is_packed();
        let (used, is_direct, nibbles) = match native {
            Tabled::Kernel(made) => (made, true, None),
            Tabled::Nibbles(table) => (made, false, Some(table)),
            Tabled::Other | Tabled::Common => (made, !packed, None),
        };
        let (s, d) = (from.dtype(), to.dtype());
        Kernel {
            body: made.run,
            borrowed: false,
            direct: None,
            native: is_direct.then_some(used.run),
            moves: false,
            from,
            to,
            tier,
            guarded: used.direction != Direction::NearestEven || obeys_environment(tier, s, d),
            direction: used.direction,
            stream_above: stream_above(tier, Streaming::Auto),
            data: Data::kept(s, d, rules, None, used.table),
            nibbles,
        }
        .routed()
    }

    /// The same with the kernel that does all of the cast in the byte orders of both sides.
    fn routed(self) -> Kernel {
        let direct = match (self.from.is_swapped(), self.to.is_swapped()) {
            (false, false) => self.native,
            // The bytes of both sides are the same, or the same in the other order.
            (true, true) if self.moves => self.native,
            _ if self.moves => Some(self.tier.swap(self.to.dtype())),
            _ => None,
        };
        Kernel { direct, ..self }
    }

    /// The same cast of a source in the byte order of the host.
    pub(crate) fn with_native_source(self) -> Kernel {
        Kernel { from: self.from.native(), ..self }.routed()
    }

    /// The same cast, writing past the caches when `streaming` says.
    pub fn with_streaming(self, streaming: Streaming) -> Kernel {
        Kernel { stream_above: stream_above(self.tier, streaming), ..self }
    }

    /// Whether a cast that reads and writes so many bytes in all writes past the caches.
    #[inline]
    pub const fn streams(&self, bytes: usize) -> bool {
        bytes > self.stream_above
    }

    /// Sets the direction of rounding that the kernel needs, if that is not the default of the guard that the caller holds.
    #[inline(always)]
    fn directed(&self) -> Option<fpenv::Guard> {
        (self.direction != Direction::NearestEven).then(|| fpenv::guard_in(self.direction))
    }

    /// Whether the host's floating-point environment has to be looked at.
    pub(crate) const fn is_guarded(&self) -> bool {
        self.guarded
    }

    /// The constants of the target under the rules.
    pub(crate) const fn data(&self) -> &'static Data {
        self.data
    }

    /// Calls a kernel of the pair.
    ///
    /// # Safety
    ///
    /// As [`KernelFn`].
    #[inline(always)]
    unsafe fn call(&self, kernel: KernelFn, src: *const u8, dst: *mut u8, n: usize) {
        // SAFETY: the caller's promise.
        unsafe { fpenv::opaque(kernel)(src, dst, n, self.data) }
    }

    /// What the source holds.
    pub const fn from(&self) -> BufferType {
        self.from
    }
    /// What the destination holds.
    pub const fn to(&self) -> BufferType {
        self.to
    }
    /// The tier whose kernel runs.
    pub const fn tier(&self) -> Tier {
        self.tier
    }

    /// Where the machine code of the pair's kernel stands, for tools that look at it.
    #[doc(hidden)]
    pub fn address(&self) -> usize {
        self.direct.unwrap_or(self.body) as usize
    }

    /// Casts `n` elements and returns the bytes of the destination that were written; `None`, with nothing written, if
    /// either buffer is shorter than `n` elements. Longer buffers are left alone behind them.
    #[inline]
    pub fn run<'a>(&self, src: &[u8], dst: &'a mut [u8], n: usize) -> Option<&'a mut [u8]> {
        // SAFETY: the same memory; `run_uninit` writes only initialised bytes.
        let dst = unsafe { slice::from_raw_parts_mut(dst.as_mut_ptr().cast(), dst.len()) };
        self.run_uninit(src, dst, n)
    }

    /// [`run`](Self::run) into memory that need not be initialised.
    #[inline]
    pub fn run_uninit<'a>(
        &self,
        src: &[u8],
        dst: &'a mut [MaybeUninit<u8>],
        n: usize,
    ) -> Option<&'a mut [u8]> {
        let src = src.get(..self.from.byte_len(n)?)?;
        let dst = dst.get_mut(..self.to.byte_len(n)?)?;
        let _guard = self.guarded.then(fpenv::guard);
        // SAFETY: both were just cut to the bytes of `n` elements; the guard lives to the end of the function.
        Some(unsafe { self.run_cut(src, dst, n) })
    }

    /// One cast between buffers that were looked at, past the caches if they are large.
    ///
    /// # Safety
    ///
    /// As [`run_unguarded`](Self::run_unguarded).
    #[inline(always)]
    pub(crate) unsafe fn run_cut<'a>(
        &self,
        src: &[u8],
        dst: &'a mut [MaybeUninit<u8>],
        n: usize,
    ) -> &'a mut [u8] {
        if self.streams(src.len() + dst.len()) {
            // SAFETY: as the caller's.
            return unsafe { self.run_streaming(src, dst, n) };
        }
        // SAFETY: as the caller's.
        unsafe { self.run_unguarded(src, dst, n) }
    }

    /// # Safety
    ///
    /// As [`run_unguarded`](Self::run_unguarded).
    #[cold]
    unsafe fn run_streaming<'a>(&self, src: &[u8], dst: &'a mut [MaybeUninit<u8>], n: usize) -> &'a mut [u8] {
        let Some(tools) = self.tier.non_temporal() else {
            // SAFETY: as the caller's.
            return unsafe { self.run_unguarded(src, dst, n) };
        };
        let bits = (self.from.bits_per_element(), self.to.bits_per_element());
        // SAFETY: `new` checked the tier; the slices are the bytes of `n` elements.
        unsafe {
            stream(tools, src, dst, n, bits, |src, dst, count| {
                // SAFETY: the driver gives the bytes of `count` elements; the guard is the caller's.
                self.run_unguarded(src, dst, count);
            });
        }
        // SAFETY: the driver stored what the kernel wrote, which is every byte of the `n` elements.
        unsafe { slice::from_raw_parts_mut(dst.as_mut_ptr().cast(), dst.len()) }
    }

    /// One cast between buffers that were looked at.
    ///
    /// # Safety
    ///
    /// The slices are exactly the bytes of `n` elements, and the caller holds the guard of the floating-point environment.
    #[inline(always)]
    pub(crate) unsafe fn run_unguarded<'a>(
        &self,
        src: &[u8],
        dst: &'a mut [MaybeUninit<u8>],
        n: usize,
    ) -> &'a mut [u8] {
        debug_assert!(self.from.byte_len(n) == Some(src.len()) && self.to.byte_len(n) == Some(dst.len()));
        let _direction = self.directed();
        match self.direct {
            // SAFETY: by the caller, both slices have the bytes of `n` elements of the pair the kernel was looked up for,
            // and the guard is held; a shared and an exclusive slice do not overlap; `new` checked the tier.
            Some(kernel) => unsafe { self.call(kernel, src.as_ptr(), dst.as_mut_ptr().cast(), n) },
            // SAFETY: as the caller's.
            None => unsafe { self.run_in_blocks(src, dst, n) },
        }
        // SAFETY: the kernel, or the stages between them, wrote every byte of the `n` elements.
        unsafe { slice::from_raw_parts_mut(dst.as_mut_ptr().cast(), dst.len()) }
    }

    /// # Safety
    ///
    /// As [`run_unguarded`](Self::run_unguarded).
    #[inline(never)]
    unsafe fn run_in_blocks(&self, src: &[u8], dst: &mut [MaybeUninit<u8>], n: usize) {
        if self.from.is_swapped() || self.to.is_swapped() {
            // SAFETY: as the caller's.
            return unsafe { self.run_swapped(src, dst, n) };
        }
        // SAFETY: as the caller's.
        unsafe { self.run_staged(src, dst, n) };
    }

    /// One cast of elements of both dtypes in the byte order of the host, whatever the order of the sides; writes all of
    /// `dst`.
    ///
    /// # Safety
    ///
    /// As [`run_unguarded`](Self::run_unguarded).
    #[inline(always)]
    pub(crate) unsafe fn run_native(&self, src: &[u8], dst: &mut [MaybeUninit<u8>], n: usize) {
        let _direction = self.directed();
        match self.native {
            // SAFETY: as in `run_unguarded`.
            Some(kernel) => unsafe { self.call(kernel, src.as_ptr(), dst.as_mut_ptr().cast(), n) },
            // SAFETY: as the caller's.
            None => unsafe { self.run_staged(src, dst, n) },
        }
    }

    /// [`run`](Self::run) between slices of the kernel's element types, from the first to the last element of both.
    ///
    /// `None`, with nothing written, if the types are not those of the kernel in byte storage and the order of the host, or the
    /// lengths differ.
    #[inline]
    pub fn run_elements<'a, S: Element, D: Element>(
        &self,
        src: &[S],
        dst: &'a mut [D],
    ) -> Option<&'a mut [D]> {
        // SAFETY: the same memory; `run_elements_uninit` writes only initialised elements.
        let dst = unsafe { slice::from_raw_parts_mut(dst.as_mut_ptr().cast(), dst.len()) };
        self.run_elements_uninit(src, dst)
    }

    /// [`run_elements`](Self::run_elements) into memory that need not be initialised.
    #[inline]
    pub fn run_elements_uninit<'a, S: Element, D: Element>(
        &self,
        src: &[S],
        dst: &'a mut [MaybeUninit<D>],
    ) -> Option<&'a mut [D]> {
        let typed = self.from == BufferType::new(S::DTYPE) && self.to == BufferType::new(D::DTYPE);
        if !typed || src.len() != dst.len() {
            return None;
        }
        let n = src.len();
        // SAFETY: elements have no padding (`Element`), so all their bytes are initialised.
        let bytes = unsafe { slice::from_raw_parts(src.as_ptr().cast::<u8>(), size_of_val(src)) };
        // SAFETY: the same memory, of which nothing is claimed to be initialised.
        let out = unsafe { slice::from_raw_parts_mut(dst.as_mut_ptr().cast(), size_of_val(dst)) };
        self.run_uninit(bytes, out, n)?;
        // SAFETY: `run_uninit` wrote all `n` elements, and what a cast to `D::DTYPE` writes is valid for `D` (`Element`).
        Some(unsafe { slice::from_raw_parts_mut(dst.as_mut_ptr().cast::<D>(), n) })
    }

    /// [`run_elements`](Self::run_elements) into a new vector.
    #[inline]
    pub fn run_to_vec<S: Element, D: Element>(&self, src: &[S]) -> Option<Vec<D>> {
        let mut out = Vec::with_capacity(src.len());
        self.run_elements_uninit(src, &mut out.spare_capacity_mut()[..src.len()])?;
        // SAFETY: the capacity is at least this, and the run initialised as many elements.
        unsafe { out.set_len(src.len()) };
        Some(out)
    }

    /// Clears the bits behind the last of `n` packed elements.
    ///
    /// # Safety
    ///
    /// The last byte of `dst` has been written.
    unsafe fn clear_unused(&self, dst: &mut [MaybeUninit<u8>], n: usize) {
        // No overflow: the bits of all whole bytes before cannot matter.
        let used = (n % 8) * self.to.bits_per_element() as usize % 8;
        if let (Some(last), true) = (dst.last_mut(), used != 0) {
            // SAFETY: the caller's promise.
            let byte = unsafe { last.assume_init() };
            last.write(byte & !(0xFF << used));
        }
    }

    /// All of a cast that has no kernel for all of it. The byte order of the sides is passed over: elements are in that of
    /// the host. Writes all of `dst`.
    ///
    /// # Safety
    ///
    /// As [`run_unguarded`](Self::run_unguarded).
    #[inline(never)]
    unsafe fn run_staged(&self, src: &[u8], dst: &mut [MaybeUninit<u8>], n: usize) {
        if is_packed_copy(self.from, self.to) {
            let copy = self.body;
            // The bits as they are, but for those behind the last element.
            // SAFETY: `copy` copies bytes (`new`), and by the caller these are slices of as many; `&mut` does not overlap.
            // Then all of `dst` has been written.
            unsafe {
                self.call(copy, src.as_ptr(), dst.as_mut_ptr().cast(), dst.len());
                self.clear_unused(dst, n);
            }
            return;
        }
        let packing = self.tier.packing();
        if let Some(table) = self.nibbles {
            let width = self.from.bits_per_element();
            let (src, out) = (src.as_ptr(), dst.as_mut_ptr().cast());
            if !self.to.is_packed() {
                // SAFETY: `new` checked the tier, and that the source is packed and the target has a byte per element; the
                // caller, that the slices are those of `n` of them.
                unsafe { packing.map[width as usize / 2 - 1](src, out, n, table) };
                return;
            }
            // SAFETY: as above; the target has as many bits as the source, so as many bytes, all of which are written.
            unsafe {
                packing.map[2](src, out, dst.len(), table);
                self.clear_unused(dst, n);
            }
            return;
        }
        let mut unpacked = [MaybeUninit::<u8>::uninit(); BLOCK];
        let mut to_pack = [MaybeUninit::<u8>::uninit(); BLOCK];
        for first in (0..n).step_by(BLOCK) {
            let count = BLOCK.min(n - first);
            let src = &src[self.from.span(first, count)];
            let dst = &mut dst[self.to.span(first, count)];
            let src = if self.from.is_packed() {
                let codes = &mut unpacked[..count];
                // SAFETY: `new` checked the tier; `src` are the bytes of `count` elements, all of which are written.
                unsafe {
                    packing.unpack(self.from.bits_per_element(), src, codes);
                    slice::from_raw_parts(codes.as_ptr().cast(), count)
                }
            } else {
                src
            };
            let out = if self.to.is_packed() { &mut to_pack[..count] } else { &mut *dst };
            // SAFETY: `src` and `out` are `count` elements in byte storage, and by the caller the guard is held.
            unsafe {
                self.call(self.body, src.as_ptr(), out.as_mut_ptr().cast(), count);
            }
            // SAFETY: every byte of `out` was just written.
            let out = unsafe { slice::from_raw_parts_mut(out.as_mut_ptr().cast::<u8>(), out.len()) };
            if self.to.is_packed() {
                // SAFETY: as for unpacking.
                unsafe { packing.pack(self.to.bits_per_element(), out, dst) };
            }
        }
    }
}

/// Casts elements in byte storage one by one, in exact integer arithmetic; what tests and benchmarks compare kernels with.
///
/// Elements that only one of the buffers has are left alone.
#[doc(hidden)]
pub fn cast_exact(from: DType, to: DType, src: &[u8], dst: &mut [u8], rules: &Rules) {
    for (code, out) in src.chunks_exact(from.size()).zip(dst.chunks_exact_mut(to.size())) {
        write(exact::encode(to, exact::decode(from, read(code, from)), rules), to, out);
    }
}

/// The parts of an element in native byte order, the first part lowest.
pub(crate) fn read(bytes: &[u8], dtype: DType) -> u128 {
    let part = dtype.alignment();
    bytes.chunks_exact(part).rev().fold(0, |code, bytes| {
        let mut word = [0; 8];
        if cfg!(target_endian = "little") {
            word[..part].copy_from_slice(bytes);
        } else {
            word[8 - part..].copy_from_slice(bytes);
        }
        code << (8 * part) | u64::from_ne_bytes(word) as u128
    })
}

fn write(mut code: u128, dtype: DType, out: &mut [u8]) {
    let part = dtype.alignment();
    for bytes in out.chunks_exact_mut(part) {
        let word = (code as u64).to_ne_bytes();
        let word = if cfg!(target_endian = "little") { &word[..part] } else { &word[8 - part..] };
        bytes.copy_from_slice(word);
        code >>= 8 * part;
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let route = if self.direct.is_some() { "direct" } else { "staged" };
        let borrowed = if self.borrowed { ", by scalar kernels" } else { "" };
        write!(f, "Kernel({} -> {}, {}, {route}{borrowed})", self.from, self.to, self.tier)
    }
}

/// The kernels against `exact` under the common rules, and what only `exact` answers against the kernels where both can.
/// The full comparison with the independent oracle is in `tests/` of the root crate; these are small enough for Miri.
#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::exact::Rounding;
    use alloc::vec;

    /// A few telling codes of a dtype: small numbers, both ends, and patterns of one bit and of all below it.
    pub(crate) fn codes(dtype: DType) -> Vec<u128> {
        let bits = dtype.alignment() as u32 * 8;
        let part = (0..bits).flat_map(|i| [1_u128 << i, (1 << i) - 1, !((1 << i) - 1), 3 << i >> 1]);
        let mask = u128::MAX >> (128 - bits);
        // Miri is slow: of every dtype it sees a handful, in all positions over the dtypes.
        let step = if cfg!(miri) { 4 * bits as usize / 7 } else { 1 };
        part.enumerate()
            .skip(if cfg!(miri) { dtype.code() as usize % 7 } else { 0 })
            .step_by(step)
            .map(|(i, code)| match dtype.spec() {
                Spec::Complex(_) => (code & mask) | ((i as u128).wrapping_mul(code) & mask) << bits,
                _ => code & mask,
            })
            .collect()
    }

    fn all_common_rules(to: DType) -> impl Iterator<Item = Rules> {
        [false, true].into_iter().map(move |saturate| Rules::common(to, saturate))
    }

    pub(crate) fn run(kernel: &Kernel, src: &[u8], n: usize) -> Vec<u8> {
        let len = kernel.to().byte_len(n).expect("small");
        let mut dst = vec![0xAA; len + 3];
        assert_eq!(kernel.run(src, &mut dst, n).expect("large enough").len(), len);
        assert_eq!(dst[len..], [0xAA; 3], "nothing behind the elements is written");
        dst[..len].to_vec()
    }

    pub(crate) fn bytes_of(dtype: DType, codes: &[u128]) -> Vec<u8> {
        let mut src = vec![0; codes.len() * dtype.size()];
        for (code, out) in codes.iter().zip(src.chunks_exact_mut(dtype.size())) {
            write(*code, dtype, out);
        }
        src
    }

    #[test]
    fn kernels_agree_with_exact() {
        for &from in DType::ALL {
            let codes = codes(from);
            let src = bytes_of(from, &codes);
            for &to in DType::ALL.iter().filter(|to| **to != from) {
                // bfloat16 to float32 is a shift that leaves a signalling NaN as it is, which is no rounding rule.
                let pure = from == DType::BFloat16 && matches!(to, DType::Float32 | DType::Complex64);
                let part = |d: DType| if let Spec::Complex(f) = d.spec() { Some(f) } else { None };
                let parts_copied = match (from.spec(), to.spec()) {
                    (Spec::Float(f), Spec::Complex(_)) => part(to) == Some(f),
                    (Spec::Complex(_), Spec::Float(f)) => part(from) == Some(f),
                    _ => false,
                };
                for rules in all_common_rules(to) {
                    let kernel = Kernel::new(Tier::Scalar, from.into(), to.into(), &rules).expect("scalar");
                    let got = run(&kernel, &src, codes.len());
                    for (code, got) in codes.iter().zip(got.chunks_exact(to.size())) {
                        let value = exact::decode(from, *code);
                        let nan = value.0.is_nan() || value.1.is_nan();
                        if nan && (pure || parts_copied) {
                            continue;
                        }
                        let want = exact::encode(to, value, &rules);
                        assert_eq!(read(got, to), want, "{kernel:?} of {code:#x}, {rules:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_dtype_to_itself_is_a_copy() {
        for &dtype in DType::ALL {
            let codes = codes(dtype);
            let src = bytes_of(dtype, &codes);
            let rules = Rules { e5m2_nan_7f: true, ..Rules::common(dtype, false) };
            let kernel = Kernel::new(Tier::Scalar, dtype.into(), dtype.into(), &rules).expect("scalar");
            let got = run(&kernel, &src, codes.len());
            for (code, got) in codes.iter().zip(got.chunks_exact(dtype.size())) {
                let want = match dtype {
                    DType::Bool => (*code != 0) as u128,
                    _ => code & (u128::MAX >> (128 - dtype.bits())),
                };
                assert_eq!(read(got, dtype), want);
            }
        }
    }

    #[test]
    fn packed_storage_is_the_same_cast() {
        let rules = |to| Rules::common(to, true);
        for &from in DType::ALL.iter().filter(|d| d.is_sub_byte()) {
            for &to in DType::ALL.iter().filter(|d| d.is_sub_byte()) {
                // Miri is slow: it sees more than one block of one pair.
                let short = cfg!(miri) && (from, to) != (DType::Float6E2M3FN, DType::UInt2);
                for &n in if short { &[0, 1, 5][..] } else { &[0, 1, 5, BLOCK - 1, BLOCK + 2] } {
                    let src: Vec<u8> = (0..n).map(|i| (i * 7) as u8).collect();
                    let bytes =
                        Kernel::new(Tier::Scalar, from.into(), to.into(), &rules(to)).expect("scalar");
                    let want = run(&bytes, &src, n);
                    // To packed, from packed to packed, and back.
                    let (p, q) = (BufferType::packed(from), BufferType::packed(to));
                    let pack = Kernel::new(Tier::Scalar, from.into(), p, &rules(from)).expect("scalar");
                    let cast = Kernel::new(Tier::Scalar, p, q, &rules(to)).expect("scalar");
                    let unpack = Kernel::new(Tier::Scalar, q, to.into(), &rules(to)).expect("scalar");
                    let got = run(&unpack, &run(&cast, &run(&pack, &src, n), n), n);
                    assert_eq!(got, want, "{from} -> {to}");
                }
            }
        }
    }

    #[test]
    fn rules_that_cannot_matter_are_passed_over() {
        let matters = |from, to, rules: &Rules| {
            rules.canonical(from, to) != Rules::common(to, rules.canonical(from, to).saturate)
        };
        let truncate = |to| Rules { rounding: Rounding::TowardZero, ..Rules::common(to, true) };
        assert!(matters(DType::Float32, DType::Float16, &truncate(DType::Float16)));
        assert!(!matters(DType::Float16, DType::Float32, &truncate(DType::Float32)));
        assert!(!matters(DType::BFloat16, DType::Complex64, &truncate(DType::Complex64)));
        assert!(!matters(DType::Int16, DType::Int8, &truncate(DType::Int8)));
        let nearest = Rules { rounding: Rounding::NearestEven, ..Rules::common(DType::Int8, true) };
        assert!(matters(DType::Float32, DType::Int8, &nearest));
        assert!(!matters(DType::Int32, DType::Int8, &nearest));
        let max = Rules { finite_nan_max: true, ..Rules::common(DType::Float4E2M1FN, true) };
        assert!(matters(DType::Float32, DType::Float4E2M1FN, &max));
        assert!(!matters(DType::Int32, DType::Float4E2M1FN, &max));
    }

    #[test]
    fn typed_slices_are_checked() {
        let kernel = Kernel::new(
            Tier::Scalar,
            DType::Float32.into(),
            DType::Bool.into(),
            &Rules::common(DType::Bool, true),
        )
        .expect("scalar");
        let mut out = [MaybeUninit::<bool>::uninit(); 3];
        let written = kernel.run_elements_uninit(&[0.0_f32, f32::NAN, -0.0], &mut out);
        assert_eq!(written, Some(&mut [false, true, false][..]));
        let mut out = [true; 3];
        assert!(kernel.run_elements(&[0.0_f32; 3], &mut out).is_some_and(|out| out == [false; 3]));
        assert!(kernel.run_elements(&[0.0_f32; 2], &mut out).is_none());
        assert!(kernel.run_elements(&[0.0_f64; 3], &mut out).is_none());
        assert!(kernel.run(&[0; 11], &mut [0; 3], 3).is_none());
        assert!(kernel.run(&[0; 12], &mut [0; 2], 3).is_none());
        assert!(kernel.run(&[], &mut [], usize::MAX).is_none());
    }
}
