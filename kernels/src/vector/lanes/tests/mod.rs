//! Compares every operation of a tier with the same operation of [`Portable`], over edges and random bits.
//!
//! [`list`] has the operations, the kinds of their operands, and the comparison of their results. The lanes of operands are all combinations of
//! edges or, if there are too many, some of them, and random bits. All operations run in every direction of the floating-point environment: those
//! that round in it must match the reference, and all others must not depend on it.

#[cfg(not(any(arm_tiers, wasm_tiers)))]
#[allow(dead_code, reason = "the macros of tables make functions that only tiers call")]
mod families;
mod inputs;
mod list;

use super::{Kernel, LaneOps};
use crate::{
    drive::fpenv,
    dtype::DType,
    exact::Rules,
    format::data::{Data, Direction},
    vector::{Blocks, portable::Portable},
};
use alloc::{format, string::String, vec, vec::Vec};
use core::{
    marker::PhantomData,
    mem::{ManuallyDrop, MaybeUninit},
    slice,
};
use inputs::Lane;

/// How an operation depends on the environment.
#[derive(Clone, Copy, PartialEq)]
enum Rounds {
    /// It does not depend on it.
    Never,
    /// It rounds in the direction of the environment.
    InDirection,
    /// It is called only in the default environment.
    ToNearest,
}

/// The lanes of results, and which values count as equal.
#[derive(Clone, Copy)]
enum Same {
    Bits8,
    Bits16,
    Bits32,
    Bits64,
    /// Float32: all NaNs are equal.
    Nan32,
    /// Float32: all NaNs are equal, and all zeros are equal.
    Zero32,
    /// Float64: all NaNs are equal.
    Nan64,
}

impl Same {
    fn size(self) -> usize {
        match self {
            Same::Bits8 => 1,
            Same::Bits16 => 2,
            Same::Bits32 | Same::Nan32 | Same::Zero32 => 4,
            Same::Bits64 | Same::Nan64 => 8,
        }
    }

    fn are(self, a: u64, b: u64) -> bool {
        let singles = [a, b].map(|x| f32::from_bits(x as u32));
        let doubles = [a, b].map(f64::from_bits);
        a == b
            || match self {
                Same::Nan32 => singles.iter().all(|x| x.is_nan()),
                Same::Zero32 => singles.iter().all(|x| x.is_nan()) || singles == [0.0; 2],
                Same::Nan64 => doubles.iter().all(|x| x.is_nan()),
                _ => false,
            }
    }
}

/// An operation, as a function from registers to registers.
trait Operation {
    const TEXT: &str;
    /// The kinds of the operands' lanes, and the number of registers of each operand.
    const OPERANDS: &[(Lane, usize)];
    const RESULT: Same;
}

/// An operation with the registers of a tier.
trait Runs<M: Blocks>: Operation {
    fn rounds() -> Rounds;
    fn run(m: M, operands: &mut impl Iterator<Item = M::V>) -> Vec<M::V>;
}

/// A token whose operations are tested.
pub(crate) trait Tested: Blocks {
    /// Calls `work` in a function that has the instructions of the token, if operations need that.
    #[inline(always)]
    fn within<R, F: FnOnce(Self) -> R>(self, work: F) -> R {
        work(self)
    }
}
impl<M: LaneOps> Tested for M {
    #[inline(always)]
    fn within<R, F: FnOnce(Self) -> R>(self, work: F) -> R {
        let (work, mut result) = (ManuallyDrop::new(work), MaybeUninit::<R>::uninit());
        let data = Data::new(DType::UInt8, &Rules::common(DType::UInt8, false));
        // SAFETY: `Call` takes the function from the first address, once, and puts its result at the second.
        unsafe {
            self.vectorize::<Call<F, R>>((&raw const *work).cast(), result.as_mut_ptr().cast(), 0, &data);
            result.assume_init()
        }
    }
}

/// Calls a function that it takes from the source, and writes the result to the destination.
struct Call<F, R>(PhantomData<(F, R)>);

impl<M, F: FnOnce(M) -> R, R> Kernel<M> for Call<F, R> {
    #[inline(always)]
    unsafe fn run(m: M, src: *const u8, dst: *mut u8, _: usize, _: &Data) {
        // SAFETY: the caller's function and place.
        unsafe { dst.cast::<R>().write(src.cast::<F>().read()(m)) }
    }
}

/// The operands or the results of many calls: registers as bytes.
struct Memory {
    bytes: Vec<u8>,
    register: usize,
}

impl Memory {
    fn of<M: Blocks>(x: &[M::V]) -> Self {
        let mut memory = Memory { bytes: Vec::new(), register: size_of::<M::V>() };
        x.iter().for_each(|x| memory.push::<M>(x));
        memory
    }
    fn push<M: Blocks>(&mut self, x: &M::V) {
        // SAFETY: a register consists of its bytes.
        self.bytes.extend(unsafe { slice::from_raw_parts((&raw const *x).cast::<u8>(), self.register) });
    }
    fn registers<M: Blocks>(&self) -> impl Iterator<Item = M::V> {
        // SAFETY: the bytes of a register exist, and a register may contain any bytes.
        self.bytes.chunks_exact(self.register).map(|x| unsafe { x.as_ptr().cast::<M::V>().read_unaligned() })
    }
    /// The numbers in the lanes of some registers.
    fn lanes(&self, registers: core::ops::Range<usize>, size: usize) -> Vec<u64> {
        let bytes = &self.bytes[registers.start * self.register..registers.end * self.register];
        let number = |lane: &[u8]| match *lane {
            [x] => x as u64,
            [a, b] => u16::from_ne_bytes([a, b]) as u64,
            [a, b, c, d] => u32::from_ne_bytes([a, b, c, d]) as u64,
            _ => u64::from_ne_bytes(lane.try_into().unwrap()),
        };
        bytes.chunks_exact(size).map(number).collect()
    }
}

/// The token, the operands of all calls, and memory for their results.
struct Calls<'a, M> {
    m: M,
    operands: &'a Memory,
    results: Memory,
}

/// Calls an operation with all operands; for the environment, this is a kernel.
///
/// # Safety
///
/// `dst` is the address of the [`Calls`], which nothing else refers to.
unsafe fn run<O: Runs<M>, M: Tested>(_: *const u8, dst: *mut u8, _: usize, _: &Data) {
    // SAFETY: the caller's promise.
    let Calls { m, operands, results } = unsafe { &mut *dst.cast::<Calls<'_, M>>() };
    m.within(|m| {
        let mut operands = operands.registers::<M>().peekable();
        while operands.peek().is_some() {
            O::run(m, &mut operands).iter().for_each(|x| results.push::<M>(x));
        }
    });
}

/// The results of an operation in a direction of the environment.
fn results<O: Runs<M>, M: Tested>(m: M, operands: &Memory, direction: Direction) -> Memory {
    let mut calls = Calls { m, operands, results: Memory { bytes: vec![], register: operands.register } };
    let (dst, data) = ((&raw mut calls).cast::<u8>(), Data::common(DType::Float32, true));
    let _guard = fpenv::guard();
    // SAFETY: the address of the calls.
    unsafe {
        if direction == Direction::NearestEven {
            run::<O, M>(dst, dst, 0, data);
        } else {
            fpenv::call_in(direction, run::<O, M>, dst, dst, 0, data);
        }
    }
    calls.results
}

/// The comparison for a tier with registers of `BYTES` bytes.
struct Check<F, const BYTES: usize> {
    token: F,
    directions: &'static [Direction],
    failures: Vec<String>,
}

impl<M: Tested, F: Fn(Direction) -> M, const BYTES: usize> Check<F, BYTES> {
    fn new(directions: &'static [Direction], token: F) -> Self {
        assert_eq!(size_of::<M::V>(), BYTES);
        Check { token, directions, failures: vec![] }
    }

    fn operation<O: Runs<M> + Runs<Portable<BYTES, true>>>(&mut self) {
        let operands = Memory { bytes: inputs::operands(BYTES, O::OPERANDS), register: BYTES };
        for &direction in self.directions {
            let in_reference = match <O as Runs<M>>::rounds() {
                Rounds::ToNearest if direction != Direction::NearestEven => continue,
                Rounds::InDirection => direction,
                _ => Direction::NearestEven,
            };
            let expected = results::<O, _>(
                Portable::<BYTES, true>::new(in_reference),
                &operands,
                Direction::NearestEven,
            );
            let found = results::<O, _>((self.token)(direction), &operands, direction);
            self.compare::<O>(direction, &operands, &expected, &found);
        }
    }

    /// Records the first call whose results differ.
    fn compare<O: Operation>(
        &mut self,
        direction: Direction,
        operands: &Memory,
        expected: &Memory,
        found: &Memory,
    ) {
        assert_eq!(expected.bytes.len(), found.bytes.len(), "{}", O::TEXT);
        let count = |x: &Memory| x.bytes.len() / BYTES;
        let size = O::RESULT.size();
        let [want, got] = [expected, found].map(|x| x.lanes(0..count(x), size));
        let differs = want.iter().zip(&got).filter(|(a, b)| !O::RESULT.are(**a, **b)).count();
        let Some(first) = want.iter().zip(&got).position(|(a, b)| !O::RESULT.are(*a, *b)) else { return };
        let taken: usize = O::OPERANDS.iter().map(|(_, count)| count).sum();
        let calls = count(operands) / taken;
        let returned = count(expected) / calls;
        let call = first * size / BYTES / returned;
        let mut text = format!("{} in {direction:?}: {differs} of {} lanes differ", O::TEXT, want.len());
        let mut at = call * taken;
        for &(lane, count) in O::OPERANDS {
            text += &format!("\n    operand  {:X?}", operands.lanes(at..at + count, lane.size()));
            at += count;
        }
        let results = call * returned..(call + 1) * returned;
        text += &format!("\n    expected {:X?}", expected.lanes(results.clone(), size));
        text += &format!("\n    found    {:X?}", found.lanes(results, size));
        self.failures.push(text);
    }

    fn end(self) {
        assert!(self.failures.is_empty(), "{}", self.failures.join("\n"));
    }
}

/// Compares every operation with the same operation of [`Portable`] in several directions, set in the environment and in tokens that have one.
pub(crate) fn check<M: LaneOps, const BYTES: usize>(
    directions: &'static [Direction],
    token: impl Fn(Direction) -> M,
) {
    let mut check = Check::<_, BYTES>::new(directions, token);
    list::all(&mut check);
    check.end();
}

/// The same for the operations that all tiers have.
#[cfg(x86_tiers)]
pub(crate) fn check_blocks<M: Tested, const BYTES: usize>(
    directions: &'static [Direction],
    token: impl Fn(Direction) -> M,
) {
    let mut check = Check::<_, BYTES>::new(directions, token);
    list::blocks(&mut check);
    check.end();
}

/// All directions, for tiers that obey directions.
#[allow(dead_code, reason = "not every target has such a tier")]
pub(crate) const DIRECTIONS: &[Direction] =
    &[Direction::NearestEven, Direction::Down, Direction::Up, Direction::TowardZero];

/// Compares the reference with itself, which tests that the operations run, in registers of any length.
#[test]
#[cfg_attr(miri, ignore = "slow, and safe code: Miri runs the families on it")]
fn portable() {
    check::<_, 16>(&[Direction::NearestEven], Portable::<16, true>::new);
    check::<_, 32>(&[Direction::NearestEven], Portable::<32, true>::new);
    check::<_, 64>(&[Direction::NearestEven], Portable::<64, true>::new);
}

/// Checks that the list contains every operation of the traits.
#[test]
#[cfg_attr(miri, ignore = "safe code over text")]
fn all_operations_are_listed() {
    let (own, simd) = (include_str!("../ops.rs"), include_str!("../../simd.rs"));
    let blocks = include_str!("../../blocks.rs");
    let simd = simd.split("pub(crate) trait Simd").nth(1).expect("the trait");
    let blocks = blocks.split("pub(crate) trait Casts").next().expect("the trait before it");
    let list = include_str!("list.rs");
    let own = own.split("pub(crate) trait LaneOps").nth(1).expect("the trait");
    for line in own.lines().chain(simd.lines()).chain(blocks.lines()) {
        let Some(method) = line.strip_prefix("    fn ").or_else(|| line.strip_prefix("    unsafe fn "))
        else {
            continue;
        };
        let name = method.split(['(', '<']).next().expect("a name");
        let listed = ["(", "::<"].iter().any(|end| list.contains(&format!("m.{name}{end}")));
        // These create tokens and functions.
        let makes = ["new_unchecked", "under", "vectorize"];
        assert!(listed || makes.contains(&name), "{name} is not in the list");
    }
}
