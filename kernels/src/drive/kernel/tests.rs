//! Compares the kernels with `exact` under the common rules, and results that only `exact` computes with the kernels where both can. The full
//! comparison with the independent oracle is in `tests/` of the root crate; these tests are small enough for Miri.

use crate::route::Kernel;
use crate::{
    arch::Tier,
    dtype::{DType, Encoding, Flavor, Spec},
    exact::{
        self, PowerRange, Rounding, Rules,
        buffer::{read, write},
    },
    vector::machine::BLOCK_BYTES,
};
use alloc::{vec, vec::Vec};
use core::mem::MaybeUninit;

/// A few codes of a dtype at the edges: small numbers, both ends, patterns with one bit set and patterns with all lower bits set.
pub(crate) fn codes(dtype: DType) -> Vec<u128> {
    let bits = dtype.alignment() as u32 * 8;
    let part = (0..bits).flat_map(|i| [1_u128 << i, (1 << i) - 1, !((1 << i) - 1), 3 << i >> 1]);
    let mask = u128::MAX >> (128 - bits);
    // Miri is slow: it runs a few codes of each dtype, with every position covered over all dtypes.
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

/// Whether Miri, which is slow, runs this pair: a kernel from one byte has a table of 256 results, and one table is made like another.
pub(crate) fn is_run(from: DType, to: DType) -> bool {
    !cfg!(miri) || from.size() > 1 || (from.code() + to.code()).is_multiple_of(16)
}

fn all_common_rules(to: DType) -> impl Iterator<Item = Rules> {
    [false, true].into_iter().map(move |saturate| Rules::common(to, saturate))
}

/// All rules that change a result of the target, the ones that its dtype gives a meaning first.
pub(crate) fn all_rules(to: DType) -> Vec<Rules> {
    let mut rules = Vec::new();
    let whole = matches!(to.spec(), Spec::Int { .. });
    let flavor = to.float_spec().map(|f| f.flavor);
    let applies = |rounding: Rounding| match (flavor, rounding) {
        (Some(Flavor::Exponent), _) => {
            matches!(rounding, Rounding::NearestAway | Rounding::TowardZero | Rounding::Ceil)
        }
        _ => !(whole && rounding == Rounding::ToOdd),
    };
    for rounding in Rounding::ALL.into_iter().filter(|&rounding| applies(rounding)) {
        for saturate in [false, true] {
            let plain = Rules { rounding, ..Rules::common(to, saturate) };
            rules.push(plain);
            match flavor {
                Some(Flavor::Finite) => rules.push(Rules { finite_nan_max: true, ..plain }),
                Some(Flavor::Exponent) => {
                    rules.push(Rules { power_range: PowerRange::Rounded, ..plain });
                    rules.push(Rules { power_range: PowerRange::Magnitude, ..plain });
                }
                Some(Flavor::Fnuz) => rules.push(Rules { fnuz_inf_nan: true, ..plain }),
                _ if to == DType::Float8E5M2 => rules.push(Rules { e5m2_nan_7f: true, ..plain }),
                _ => {}
            }
        }
    }
    rules
}

pub(crate) fn run(kernel: &Kernel, src: &[u8], n: usize) -> Vec<u8> {
    let len = kernel.target().byte_len(n).expect("small");
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
        for &to in DType::ALL.iter().filter(|to| **to != from && is_run(from, **to)) {
            // bfloat16 to float32 is a shift that keeps a signalling NaN, which no rounding rule does.
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
        for &to in DType::ALL.iter().filter(|d| d.is_sub_byte() && is_run(from, **d)) {
            // Miri is slow: it runs more than one block for one pair only.
            let short = cfg!(miri) && (from, to) != (DType::Float6E2M3FN, DType::UInt2);
            for &n in if short { &[0, 1, 5][..] } else { &[0, 1, 5, BLOCK_BYTES - 1, BLOCK_BYTES + 2] } {
                let src: Vec<u8> = (0..n).map(|i| (i * 7) as u8).collect();
                let bytes = Kernel::new(Tier::Scalar, from.into(), to.into(), &rules(to)).expect("scalar");
                let want = run(&bytes, &src, n);
                // To packed, from packed to packed, and back.
                let (p, q) = (Encoding::packed(from), Encoding::packed(to));
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
