//! The powers of five to 128 bits, made by the compiler.
//!
//! *Law.* `POWERS[q - MIN]` is `5^q` scaled by a power of two into `2^127..2^128` and truncated, which is exact from `q = 0` to 55.
//! From -27 to -1 it is one more than the truncated value, so that the products of a tie can be recognised (Lemire, "Number parsing
//! at a gigabyte per second", 2021, section 5).

/// The least power: the largest mantissa of 64 bits times `10^(MIN - 1)` is nearer to 0 than to the smallest positive `float64`.
pub(super) const MIN: i32 = -342;
/// The largest power: `10^(MAX + 1)` is above the largest `float64`.
pub(super) const MAX: i32 = 308;

/// Limbs of 64 bits, the lowest first. `2^N` has to keep 128 bits after a division by `5^342`, a number of 795 bits, and `5^308`
/// has 716.
const LIMBS: usize = 16;

/// See the module.
pub(super) static POWERS: [u128; (MAX - MIN + 1) as usize] = {
    let mut powers = [0; (MAX - MIN + 1) as usize];
    // 5^q, upwards.
    let (mut x, mut q) = ([0_u64; LIMBS], 0);
    x[0] = 1;
    while q <= MAX {
        powers[(q - MIN) as usize] = top(&x);
        let (mut carry, mut i) = (0, 0);
        while i < LIMBS {
            let product = x[i] as u128 * 5 + carry;
            x[i] = product as u64;
            carry = product >> 64;
            i += 1;
        }
        q += 1;
    }
    // floor(2^N / 5^-q), downwards: floors of floors are the floors of the whole.
    (x, q) = ([0; LIMBS], 0);
    x[LIMBS - 1] = 1 << 63;
    while q > MIN {
        q -= 1;
        let (mut rest, mut i) = (0, LIMBS);
        while i > 0 {
            i -= 1;
            let part = rest << 64 | x[i] as u128;
            x[i] = (part / 5) as u64;
            rest = part % 5;
        }
        powers[(q - MIN) as usize] = top(&x) + (q >= -27) as u128;
    }
    powers
};

/// The highest 128 bits, from the highest that is set.
const fn top(x: &[u64; LIMBS]) -> u128 {
    let mut i = LIMBS - 1;
    while x[i] == 0 {
        i -= 1;
    }
    let (a, b, c) = (x[i], if i >= 1 { x[i - 1] } else { 0 }, if i >= 2 { x[i - 2] } else { 0 });
    let high = (a as u128) << 64 | b as u128;
    match a.leading_zeros() {
        0 => high,
        zeros => high << zeros | (c >> (64 - zeros)) as u128,
    }
}
