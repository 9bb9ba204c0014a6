//! Casts a single element, in integer arithmetic.
//!
//! *Law.* [`cast_code`] returns the same code as the kernels for the pair and the rules: it casts the value through `exact`, or copies
//! the bits where `docs/semantics.md`, section 2, says so. It uses no floating-point register.

use crate::{
    dtype::{DType, Element, Spec},
    exact::{
        Rules,
        buffer::{read, write},
        decode, encode, to_bool,
    },
};
use core::{mem::MaybeUninit, slice};

/// The dtype of the parts of a complex dtype.
const fn part(complex: DType) -> DType {
    match complex {
        DType::Complex64 => DType::Float32,
        _ => DType::Float64,
    }
}

/// Casts the element of `from` in the low bits of `code` to an element of `to`, which is returned in the low bits. Higher bits of
/// `code` are ignored.
pub(crate) const fn cast_code(from: DType, to: DType, code: u128, rules: &Rules) -> u128 {
    let code = code & (u128::MAX >> (128 - from.bits()));
    match (from.spec(), to.spec()) {
        (Spec::Bool, Spec::Bool) => (code != 0) as u128,
        _ if from as u8 == to as u8 => code,
        (Spec::Complex(_), Spec::Bool) => {
            let (re, im) = decode(from, code);
            (to_bool(re) || to_bool(im)) as u128
        }
        (Spec::Complex(f), Spec::Complex(g)) => {
            let re = cast_code(part(from), part(to), code, rules);
            re | cast_code(part(from), part(to), code >> f.bits(), rules) << g.bits()
        }
        (Spec::Complex(_), _) => cast_code(part(from), to, code, rules),
        (_, Spec::Complex(_)) => cast_code(from, part(to), code, rules),
        // A signalling NaN stays signalling.
        _ if matches!((from, to), (DType::BFloat16, DType::Float32)) => code << 16,
        _ => encode(to, decode(from, code), rules),
    }
}

/// The rules of a pair under the default options.
#[cfg(feature = "num-traits")]
pub(crate) const fn default_rules(from: DType, to: DType) -> Rules {
    let wraps = matches!((from.spec(), to.spec()), (Spec::Bool | Spec::Int { .. }, Spec::Int { .. }));
    Rules::common(to, !wraps)
}

/// Asserts that a type has the size of its dtype, so that casts of an [`Element`] that breaks this promise do not compile.
pub(crate) const fn assert_size<E: Element>() {
    assert!(size_of::<E>() == E::DTYPE.size(), "an `Element` must have the size of its `DTYPE`");
}

/// Casts one element.
#[inline]
pub fn cast_one<S: Element, D: Element>(value: S, rules: &Rules) -> D {
    const { assert_size::<S>() };
    const { assert_size::<D>() };
    // SAFETY: elements have no padding (`Element`), so all bytes of `value` are initialised; it lives until the end of the function.
    let bytes = unsafe { slice::from_raw_parts((&raw const value).cast::<u8>(), size_of::<S>()) };
    let code = cast_code(S::DTYPE, D::DTYPE, read(bytes, S::DTYPE), rules);
    let mut out = MaybeUninit::<D>::zeroed();
    // SAFETY: the memory of `out`, whose bytes were all set to zero.
    let bytes = unsafe { slice::from_raw_parts_mut(out.as_mut_ptr().cast::<u8>(), size_of::<D>()) };
    write(code, D::DTYPE, bytes);
    // SAFETY: it was written, with an element that results from a cast to `D::DTYPE` and so is valid for `D` (`Element`).
    unsafe { out.assume_init() }
}

/// Tests small enough for Miri; `tests/typed.rs` of the root crate tests every pair.
#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    fn one<S: Element, D: Element>(value: S) -> D {
        cast_one(value, &Rules::common(D::DTYPE, true))
    }

    #[test]
    fn parts_and_copies() {
        let signalling = f32::from_bits(0x7F80_0001);
        let z: Complex<f32> = one(Complex::new(signalling, -0.0));
        assert_eq!((z.re.to_bits(), z.im.to_bits()), (0x7F80_0001, 1 << 31));
        let z: Complex<f64> = one(Complex::new(1.5_f32, -2.0));
        assert_eq!(
            (z, one::<_, i8>(z), one::<_, bool>(Complex::new(0.0, 1.0))),
            (Complex::new(1.5, -2.0), 1, true)
        );
        assert_eq!(one::<_, Complex<f32>>(half::bf16::from_bits(0x7F81)).re.to_bits(), 0x7F81_0000);
        assert_eq!((one::<_, u64>(u64::MAX), one::<_, bool>(2_u8), one::<_, u16>(true)), (u64::MAX, true, 1));
        assert_eq!(one::<_, crate::I4>(crate::I4::from_bits(0xF8)).to_bits(), 8);
    }
}
