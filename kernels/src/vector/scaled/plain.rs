//! Loops that the compiler vectorises with the features of the function into which they are inlined.

use super::{PowerRule, Word};

/// The bits of infinity as float32.
const INFINITY: u32 = 0x7F80_0000;

/// A code whose magnitude is compared as an integer.
pub(crate) trait Code<const BYTES: usize>: Copy + Ord {
    const ZERO: Self;
    /// The code at an address, without its sign.
    fn magnitude(bytes: [u8; BYTES]) -> Self;
}

impl Code<4> for u32 {
    const ZERO: u32 = 0;
    #[inline(always)]
    fn magnitude(bytes: [u8; 4]) -> u32 {
        u32::from_ne_bytes(bytes) & 0x7FFF_FFFF
    }
}

impl Code<2> for u16 {
    const ZERO: u16 = 0;
    #[inline(always)]
    fn magnitude(bytes: [u8; 2]) -> u16 {
        u16::from_ne_bytes(bytes) & 0x7FFF
    }
}

/// Raises the largest magnitude of each run.
#[inline(always)]
pub(crate) fn amax<const BYTES: usize, C: Code<BYTES>>(x: &[[u8; BYTES]], run: usize, amaxes: &mut [C]) {
    match run {
        1 => x.iter().zip(amaxes).for_each(|(x, amax)| *amax = (*amax).max(C::magnitude(*x))),
        // Known lengths make one or two registers of a run.
        16 => amax_of::<BYTES, C, 16>(x, amaxes),
        32 => amax_of::<BYTES, C, 32>(x, amaxes),
        _ => {
            for (x, amax) in x.chunks(run).zip(amaxes) {
                *amax = (*amax).max(largest(x));
            }
        }
    }
}

#[inline(always)]
fn largest<const BYTES: usize, C: Code<BYTES>>(x: &[[u8; BYTES]]) -> C {
    x.iter().fold(C::ZERO, |amax, x| amax.max(C::magnitude(*x)))
}

#[inline(always)]
fn amax_of<const BYTES: usize, C: Code<BYTES>, const RUN: usize>(x: &[[u8; BYTES]], amaxes: &mut [C]) {
    let (whole, rest) = x.as_chunks::<RUN>();
    for (x, amax) in whole.iter().zip(amaxes.iter_mut()) {
        *amax = (*amax).max(largest(x));
    }
    if let (false, Some(amax)) = (rest.is_empty(), amaxes.get_mut(whole.len())) {
        *amax = (*amax).max(largest(rest));
    }
}

/// `ScaledLoops::powers`.
#[inline(always)]
pub(crate) fn powers(amaxes: &[u32], rule: PowerRule, codes: &mut [u8], factors: &mut [f32]) {
    for ((amax, code), factor) in amaxes.iter().zip(codes).zip(factors) {
        let field = (amax.wrapping_add(rule.addend) >> 23) as i32 - rule.exponent as i32;
        let field = field.clamp(0, 254) as u32;
        // 2^-127 is half the smallest normal number.
        let reciprocal = if field == 254 { 1 << 22 } else { (254 - field) << 23 };
        let finite = *amax < INFINITY;
        *code = if finite { field as u8 } else { 0xFF };
        *factor = f32::from_bits(if finite { reciprocal } else { 0x7FC0_0000 });
    }
}

/// `ScaledLoops::counts`.
#[inline(always)]
pub(crate) fn counts(x: &[Word], q: &[Word], [max, tiny]: [f32; 2]) -> [u32; 3] {
    let (max, tiny) = (max.to_bits(), tiny.to_bits());
    let [mut above, mut below, mut nan] = [0; 3];
    for (x, q) in x.iter().zip(q) {
        let (x, q) = (u32::magnitude(*x), u32::magnitude(*q));
        above += u32::from(q > max) & u32::from(q <= INFINITY);
        below += u32::from(q <= tiny) & u32::from(x != 0);
        nan += u32::from(q > INFINITY) & u32::from(x != 0);
    }
    [above, below, nan]
}
