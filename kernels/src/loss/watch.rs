//! One cast with its losses.
//!
//! The source is taken in blocks, each small enough for the first cache. A block is cast first. Then its results are tested for loss,
//! where that shows in narrower results, and then its codes, which the cast has left in the cache. The callback receives every
//! block that lost a value, with the count of each kind of loss.

use super::{
    Loss, Losses,
    exactness::Rounds,
    loops::{Loops, SuspectFn},
    loss,
    questions::{Answers, BLOCK, InRange, Questions, Shape},
    ranges::{MOST, Ranges},
};
use crate::{
    buffer::read,
    dtype::{DType, Flavor, FloatSpec, Spec},
    exact::Rules,
    format::Element,
    fpenv,
    hub::parts_fit,
    kernel::Kernel,
    one::assert_size,
    storage::BufferType,
};
use alloc::vec::Vec;
use core::{mem::MaybeUninit, slice};

/// Elements of a block: whole bytes and, from a line on, whole lines of every storage.
const MOST_ELEMENTS: usize = 4096;
/// Bytes of a block of a cast that writes past the caches, which has blocks of its own.
const STREAMED: usize = 8 * BLOCK;

/// A kernel and the questions of its pair: a cast that says what it loses.
#[derive(Clone, Copy)]
pub struct Watch {
    kernel: Kernel,
    rules: Rules,
    questions: Questions,
    shape: Shape,
    loops: Loops,
    /// What the ranges are lost as.
    labels: [Loss; MOST],
    /// Casts results back, where that shows what is rounded.
    back: Option<Kernel>,
    /// Looks at the results first, if they are narrower and what is lost shows in them.
    results: Option<(SuspectFn, Questions)>,
    /// Brings elements of the source to bytes of their own in the order of the host, if they are packed or in the other one.
    unpack: Option<Kernel>,
    /// Nothing can be lost.
    idle: bool,
    guarded: bool,
}

/// A block of elements some of which were lost.
pub struct Block<'a> {
    watch: &'a Watch,
    /// The number of its first element.
    pub first: usize,
    /// How many elements it has.
    pub len: usize,
    answers: &'a Answers,
    /// The elements in byte storage.
    codes: &'a [u8],
}

impl Watch {
    /// A kernel with the same `rules` that it was made with, and what it is to be asked.
    ///
    /// `inexact`: whether values that are rounded in range are lost, too. `labelled`: whether it matters in which way.
    pub fn new(kernel: Kernel, rules: &Rules, inexact: bool, labelled: bool) -> Watch {
        let (from, to) = (kernel.from(), kernel.to());
        let (s, d) = (from.dtype(), to.dtype());
        let mut all = Ranges::new(s, d, rules);
        let rounds = if inexact { Rounded::new(s, d) } else { Rounded::NEVER };
        if let (Rounds::Differs, Some(f)) = (rounds.how, s.float_spec()) {
            all.push_rounded_ends(f, d, rules);
        }
        // What becomes zero is rounded as well, but a format that has no zero cannot be told so.
        let wanted = |loss: Loss| labelled || loss.is_out_of_range() || rounds.how == Rounds::Differs;
        let ranges = all.merged(wanted);
        let real = !matches!(d.spec(), Spec::Bool | Spec::Complex(_));
        let is_complex = |dtype: DType| matches!(dtype.spec(), Spec::Complex(_));
        let pairs = is_complex(s) && real;
        let mut labels = [Loss::Inexact; MOST];
        let mut asked = [InRange::default(); MOST];
        let exactly = if labelled { &all } else { &ranges };
        for ((range, label), asked) in exactly.get().iter().zip(&mut labels).zip(&mut asked) {
            *label = range.loss;
            *asked = InRange::new(range);
        }
        let suspected = match (rounds.how, s.float_spec(), d.float_spec()) {
            // What underflows is among them.
            (Rounds::Low, Some(from), Some(to)) if !pairs => {
                all.merged(|loss| loss.is_out_of_range()).with_subnormals(from, to)
            }
            _ => ranges,
        };
        let (how, suspects) = suspected.suspects(s, d, rounds.how);
        let width = s.alignment();
        let shape = Shape { width, pairs, ranges: how, exactness: rounds.how };
        let loops = kernel.tier().loops(shape);
        let results = match all.result_of_loss(s, d, rules, labelled) {
            // The imaginary parts of real numbers are zero.
            Some(code) if !inexact && to == BufferType::new(d) && is_complex(s) == is_complex(d) => {
                let shape = Shape { width: d.alignment(), pairs: false, ranges: 1, exactness: Rounds::Never };
                let mut suspects = [InRange::default(); MOST];
                suspects[0] = code;
                let questions = Questions { ranges: suspects, suspects, magnitude: 0, exactness: [0; 4] };
                Some((kernel.tier().loops(shape), questions))
            }
            _ => None,
        };
        let magnitude = s.float_spec().map_or(0, FloatSpec::magnitude_mask);
        let byte_rules = |to: DType| Rules::common(to, false);
        let back = match rounds.how {
            Rounds::Differs => Kernel::new(kernel.tier(), to, BufferType::new(s), &byte_rules(s)),
            _ => None,
        };
        let unpack = match from == BufferType::new(s) {
            true => None,
            false => Kernel::new(kernel.tier(), from, BufferType::new(s), &byte_rules(s)),
        };
        Watch {
            kernel,
            rules: *rules,
            questions: Questions { ranges: asked, suspects, magnitude, exactness: rounds.numbers },
            shape,
            loops,
            labels,
            back,
            results: results.map(|(loops, questions)| (loops.suspect, questions)),
            unpack,
            idle: ranges.get().is_empty() && !pairs && rounds.how == Rounds::Never,
            guarded: kernel.is_guarded()
                || loops.obeys_environment
                || results.is_some_and(|(loops, _)| loops.obeys_environment)
                || back.is_some_and(|back| back.is_guarded()),
        }
    }

    /// The cast.
    pub const fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The same, writing past the caches when `streaming` says.
    #[must_use]
    pub fn with_streaming(self, streaming: crate::Streaming) -> Watch {
        Watch { kernel: self.kernel.with_streaming(streaming), ..self }
    }

    /// Whether the pair can lose anything that is asked for.
    pub const fn is_idle(&self) -> bool {
        self.idle
    }

    /// Casts `n` elements as [`Kernel::run`], and calls `hit` with every block that lost something, in their order. If that
    /// answers false, what follows is left out and the result is false.
    ///
    /// `None`, with nothing written, if either buffer is shorter than `n` elements.
    #[inline]
    pub fn run(
        &self,
        src: &[u8],
        dst: &mut [u8],
        n: usize,
        hit: impl FnMut(&Block<'_>) -> bool,
    ) -> Option<bool> {
        // SAFETY: the same memory; `run_uninit` writes only initialised bytes.
        let dst = unsafe { slice::from_raw_parts_mut(dst.as_mut_ptr().cast(), dst.len()) };
        self.run_uninit(src, dst, n, hit)
    }

    /// [`run`](Self::run) between slices of the kernel's element types; `None` as of [`Kernel::run_elements`].
    pub fn run_elements<S: Element, D: Element>(
        &self,
        src: &[S],
        dst: &mut [D],
        hit: impl FnMut(&Block<'_>) -> bool,
    ) -> Option<bool> {
        // SAFETY: the same memory; `run_elements_uninit` writes only initialised elements.
        let dst = unsafe { slice::from_raw_parts_mut(dst.as_mut_ptr().cast::<MaybeUninit<D>>(), dst.len()) };
        self.run_elements_uninit(src, dst, hit)
    }

    /// [`run_elements`](Self::run_elements) into a new vector, which is there if no call of `hit` answered false.
    pub fn run_to_vec<S: Element, D: Element>(
        &self,
        src: &[S],
        hit: impl FnMut(&Block<'_>) -> bool,
    ) -> Option<Option<Vec<D>>> {
        let mut out = Vec::with_capacity(src.len());
        if !self.run_elements_uninit(src, &mut out.spare_capacity_mut()[..src.len()], hit)? {
            return Some(None);
        }
        // SAFETY: the capacity is at least this; the run was not stopped, so it initialised as many elements.
        unsafe { out.set_len(src.len()) };
        Some(Some(out))
    }

    fn run_elements_uninit<S: Element, D: Element>(
        &self,
        src: &[S],
        dst: &mut [MaybeUninit<D>],
        hit: impl FnMut(&Block<'_>) -> bool,
    ) -> Option<bool> {
        const { assert_size::<S>() };
        const { assert_size::<D>() };
        let (from, to) = (self.kernel.from(), self.kernel.to());
        let typed = from == BufferType::new(S::DTYPE) && to == BufferType::new(D::DTYPE);
        if !typed || src.len() != dst.len() {
            return None;
        }
        // SAFETY: elements have no padding (`Element`), so all their bytes are initialised.
        let bytes = unsafe { slice::from_raw_parts(src.as_ptr().cast::<u8>(), size_of_val(src)) };
        // SAFETY: the same memory, of which nothing is claimed to be initialised.
        let out = unsafe { slice::from_raw_parts_mut(dst.as_mut_ptr().cast(), size_of_val(dst)) };
        self.run_uninit(bytes, out, src.len(), hit)
    }

    /// As [`run`](Self::run). If the result is true, all `n` elements are written.
    fn run_uninit(
        &self,
        src: &[u8],
        dst: &mut [MaybeUninit<u8>],
        n: usize,
        mut hit: impl FnMut(&Block<'_>) -> bool,
    ) -> Option<bool> {
        if self.idle {
            return self.kernel.run_uninit(src, dst, n).map(|_| true);
        }
        let (from, to) = (self.kernel.from(), self.kernel.to());
        let src = src.get(..from.byte_len(n)?)?;
        let dst = dst.get_mut(..to.byte_len(n)?)?;
        let _guard = self.guarded.then(fpenv::guard);
        // Results that are looked at again had better be in a cache.
        let streams = self.back.is_none() && self.kernel.streams(src.len() + dst.len());
        let kernel = self.kernel.with_streaming(match streams {
            true => crate::Streaming::Always,
            false => crate::Streaming::Never,
        });
        let budget = if streams { STREAMED } else { BLOCK };
        let elements = (budget / from.dtype().size()).min(if streams { STREAMED } else { MOST_ELEMENTS });
        // Those past the caches would come back from memory.
        let results = self.results.as_ref().filter(|_| !streams);
        let mut unpacked = [MaybeUninit::<u8>::uninit(); MOST_ELEMENTS];
        let mut returned = [MaybeUninit::<u8>::uninit(); BLOCK];
        let size = from.dtype().size();
        let elements = if self.unpack.is_some() { MOST_ELEMENTS / size } else { elements };
        // Elements of the other order are swapped once for the questions and the cast.
        let swapped = from.is_swapped();
        let kernel = if swapped { kernel.with_native_source() } else { kernel };
        for first in (0..n).step_by(elements) {
            let len = elements.min(n - first);
            let src = &src[from.span(first, len)];
            let dst = &mut dst[to.span(first, len)];
            let codes = match &self.unpack {
                // SAFETY: the slices are those of `len` elements; the guard is held.
                Some(unpack) => unsafe { unpack.run_unguarded(src, &mut unpacked[..len * size], len) },
                None => src,
            };
            let src = if swapped { codes } else { src };
            // SAFETY: the slices are those of `len` elements; the guard is held if a kernel needs one.
            let out = unsafe { kernel.run_cut(src, dst, len) };
            let back: &[u8] = match &self.back {
                // SAFETY: as above.
                Some(back) => unsafe { back.run_unguarded(out, &mut returned[..codes.len()], len) },
                None => &[],
            };
            // SAFETY: the kernel proves its tier; the guard is held if any of the loops needs it.
            let suspected = unsafe {
                results.is_none_or(|(suspect, questions)| suspect(questions, 0, out, &[]))
                    && self.loops.suspects(self.shape, &self.questions, (codes, back))
            };
            if !suspected {
                continue;
            }
            // Those that are written past the caches are longer; they have no results to look at.
            for (i, codes) in codes.chunks(BLOCK).enumerate() {
                // SAFETY: as above.
                let answers = unsafe { self.loops.answers(self.shape, &self.questions, (codes, back)) };
                let (first, len) = (first + i * BLOCK / size, codes.len() / size);
                if answers.any() && !hit(&Block { watch: self, first, len, answers: &answers, codes }) {
                    return Some(false);
                }
            }
        }
        Some(true)
    }
}

impl Block<'_> {
    /// What was lost, if the watch was told that it matters.
    pub fn losses(&self) -> Losses {
        let mut losses = Losses::default();
        for (label, n) in self.watch.labels.iter().zip(self.answers.ranges) {
            losses.add(*label, n);
        }
        losses.add(Loss::Imaginary, self.answers.imaginary);
        losses.add(Loss::Inexact, self.answers.inexact);
        losses
    }

    /// Whether each of the elements from `at` on is lost, up to 64 of them: the lowest bit is that of `at`, which is a multiple
    /// of 64. None is behind the block.
    pub fn flags(&self, at: usize) -> u64 {
        let width = self.watch.shape.width;
        // A part of a complex number has a bit of its own.
        if self.watch.kernel.from().dtype().size() == width {
            return self.answers.flags(width, at / 64);
        }
        let pairs = |i: usize| {
            let flags = self.answers.flags(width, i);
            (0..32).fold(0, |out, i| out | u64::from(flags >> (2 * i) & 3 != 0) << i)
        };
        let i = (at / 64).saturating_mul(2);
        pairs(i) | pairs(i.saturating_add(1)) << 32
    }

    /// The dtypes of the cast.
    pub fn dtypes(&self) -> (DType, DType) {
        (self.watch.kernel.from().dtype(), self.watch.kernel.to().dtype())
    }

    /// The code of the element `i` of the block in the low bits, the real part lowest, and what is lost of its parts; `None` if
    /// the block has no such element.
    pub fn loss(&self, i: usize) -> Option<(u128, [Option<Loss>; 2])> {
        let (from, to) = self.dtypes();
        let code = read(self.codes.chunks_exact(from.size()).nth(i)?, from);
        Some((code, loss(from, to, code, &self.watch.rules)))
    }
}

/// How rounding in range is seen, with its numbers.
#[derive(Clone, Copy)]
struct Rounded {
    how: Rounds,
    numbers: [u64; 4],
}

impl Rounded {
    const NEVER: Self = Self { how: Rounds::Never, numbers: [0; 4] };

    fn new(from: DType, to: DType) -> Self {
        match (from.spec(), to.spec()) {
            _ if from == to || parts_fit(from, to) => Self::NEVER,
            (Spec::Bool, _) | (_, Spec::Bool) | (Spec::Int { .. }, Spec::Int { .. }) => Self::NEVER,
            (Spec::Int { bits, signed }, Spec::Float(f) | Spec::Complex(f)) => {
                let digits = f.mantissa_bits + 1;
                if bits - signed as u32 <= digits {
                    Self::NEVER
                } else if from.is_sub_byte() {
                    Self::differs(from)
                } else {
                    let signed = if signed { u64::MAX } else { 0 };
                    Self { how: Rounds::Digits, numbers: [signed, digits as u64, 0, 0] }
                }
            }
            (Spec::Float(s) | Spec::Complex(s), Spec::Int { .. }) if s.bits() >= 32 => {
                Self::fraction(s, 0, 0)
            }
            (Spec::Float(s) | Spec::Complex(s), Spec::Float(f) | Spec::Complex(f))
                if s.bits() >= 32 && f.flavor != Flavor::Exponent =>
            {
                let low = (1 << (s.mantissa_bits - f.mantissa_bits)) - 1;
                let fraction = Self::fraction(s, low, f.min_exponent());
                // Few values of a wide target are subnormal.
                Self { how: if f.bits() >= 16 { Rounds::Low } else { fraction.how }, ..fraction }
            }
            _ => Self::differs(from),
        }
    }

    /// A source whose bits `low` have to be zero, and whose values have to be multiples of `2^unit`.
    fn fraction(s: FloatSpec, low: u64, unit: i32) -> Self {
        // The float whose last bit is the unit.
        let step = ((unit + s.mantissa_bits as i32 + s.bias) as u64) << s.mantissa_bits;
        Self { how: Rounds::Fraction, numbers: [s.magnitude_mask(), s.exponent_field(), low, step] }
    }

    fn differs(from: DType) -> Self {
        let bits = u64::MAX >> (64 - 8 * from.alignment() as u32);
        let numbers = match from.spec() {
            Spec::Float(s) | Spec::Complex(s) => {
                let magnitude = s.magnitude_mask();
                let (mask, first) = match s.flavor {
                    Flavor::Fnuz => (magnitude | s.sign_mask(), s.sign_mask()),
                    _ => (magnitude, s.infinity().unwrap_or(s.max_finite()) + 1),
                };
                let last = if s.flavor == Flavor::Fnuz { first } else { magnitude };
                [magnitude, mask, first, (last + 1).saturating_sub(first)]
            }
            Spec::Bool => [bits, 0, 0, 0],
            Spec::Int { bits, .. } => [u64::MAX >> (64 - bits), 0, 0, 0],
        };
        Self { how: Rounds::Differs, numbers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Tier;
    use alloc::vec;

    /// Every way through the blocks, in all storages, also where nothing is initialised before: small enough for Miri.
    #[test]
    fn blocks() {
        let lengths: &[usize] = if cfg!(miri) { &[0, 65] } else { &[0, 1, 65, 4097, 9001] };
        for (from, to) in [
            (DType::Float32.into(), DType::UInt8.into()),
            (DType::Float32.into(), DType::BFloat16.into()),
            (DType::Float16.into(), BufferType::new(DType::Float8E4M3FN)),
            (BufferType::packed(DType::Int4), BufferType::packed(DType::UInt4)),
            (DType::Complex64.into(), DType::Float32.into()),
            (DType::Int32.into(), DType::Float32.into()),
        ] {
            let rules = Rules::common(to.dtype(), true);
            let kernel = Kernel::new(Tier::Scalar, from, to, &rules).expect("scalar");
            for &n in lengths {
                let len = from.byte_len(n).expect("small");
                let src: Vec<u8> = (0..len).map(|i| (i * 37 + i / 256) as u8).collect();
                let mut plain = vec![0; to.byte_len(n).expect("small")];
                kernel.run(&src, &mut plain, n).expect("large enough");
                let ways = [(false, false), (true, true), (false, true), (true, false)];
                // Miri is slow: it sees both ends.
                for &(inexact, labelled) in &ways[..if cfg!(miri) { 2 } else { 4 }] {
                    let watch = Watch::new(kernel, &rules, inexact, labelled);
                    let mut dst = vec![0xA5; plain.len() + 1];
                    let (mut flagged, mut lost, mut counted) = (0, 0, 0);
                    let ran = watch.run(&src, &mut dst, n, |block| {
                        for at in (0..block.len).step_by(64) {
                            flagged += block.flags(at).count_ones() as usize;
                        }
                        for i in 0..block.len {
                            let (_, losses) = block.loss(i).expect("of the block");
                            let asked = |loss: &Loss| {
                                loss.is_out_of_range() || inexact || labelled && *loss == Loss::Underflow
                            };
                            let mut parts = losses.iter().flatten();
                            counted += parts.clone().filter(|loss| asked(loss)).count() as u64;
                            lost += usize::from(parts.any(asked));
                        }
                        if labelled {
                            counted -= Loss::ALL.iter().map(|loss| block.losses().of(*loss)).sum::<u64>();
                        }
                        assert!(block.loss(block.len).is_none() && block.flags(usize::MAX) == 0);
                        true
                    });
                    assert_eq!(ran, Some(true));
                    assert_eq!((&dst[..plain.len()], dst[plain.len()]), (&plain[..], 0xA5), "{kernel:?}");
                    assert_eq!(flagged, lost, "{kernel:?}, {inexact}, {labelled}");
                    assert!(!labelled || counted == 0, "{kernel:?}, {inexact}");
                    assert!(
                        watch.run(&src, &mut plain[1.min(n)..].to_vec(), n, |_| true).is_none() || n == 0
                    );
                }
            }
        }
        let rules = Rules::common(DType::UInt8, true);
        let kernel =
            Kernel::new(Tier::Scalar, DType::Float32.into(), DType::UInt8.into(), &rules).expect("scalar");
        let watch = Watch::new(kernel, &rules, false, false);
        let cast = |src: &[f32]| watch.run_to_vec::<f32, u8>(src, |_| false);
        assert_eq!(cast(&[1.0; 70]), Some(Some(vec![1; 70])));
        assert_eq!(cast(&[1.0, -1.0]), Some(None), "stopped");
        assert!(watch.run_to_vec::<f64, u8>(&[1.0], |_| true).is_none());
    }
}
