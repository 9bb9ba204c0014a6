//! Compares every pair under every rule with `exact`. `kernel::tests` checks the common rules.

use crate::{
    arch::Tier,
    drive::kernel::tests::{all_rules, bytes_of, codes, is_run, run},
    dtype::DType,
    exact::{self, Rules, buffer::read},
    route::Kernel,
};
use alloc::vec::Vec;

/// The code that `exact` returns, or `None` where bits are copied, which keeps a signalling NaN.
fn want(from: DType, to: DType, code: u128, rules: &Rules) -> Option<u128> {
    let value = exact::decode(from, code);
    let parts = |d: DType| d.float_spec().filter(|f| f.bits() >= 32);
    let copied = parts(to).is_some() && (parts(from) == parts(to) || from == DType::BFloat16);
    let nan = value.0.is_nan() || value.1.is_nan();
    (!(nan && copied)).then(|| exact::encode(to, value, rules))
}

#[test]
fn rules_agree_with_exact() {
    let mut turn = 0;
    for &from in DType::ALL {
        let mut codes = codes(from);
        if from.size() == 1 {
            // Enough codes to make the kernel build a table.
            codes.extend(0..256);
        }
        if from.float_spec().is_some_and(|f| f.bits() >= 16) && !cfg!(miri) {
            codes.extend(near_ties(from));
        }
        let src = bytes_of(from, &codes);
        for &to in DType::ALL.iter().filter(|to| **to != from && is_run(from, **to)) {
            for rules in all_rules(to) {
                turn += 1;
                // Miri is slow: it runs a sample.
                if cfg!(miri) && turn % 31 != 0 {
                    continue;
                }
                let kernel = Kernel::new(Tier::Scalar, from.into(), to.into(), &rules).expect("scalar");
                assert_ne!(kernel.address(), 0, "{kernel:?} goes through `exact`, {rules:?}");
                for n in [codes.len(), codes.len().min(70)] {
                    let got = run(&kernel, &src[..n * from.size()], n);
                    for (&code, got) in codes.iter().zip(got.chunks_exact(to.size())) {
                        if let Some(want) = want(from, to, code, &rules) {
                            assert_eq!(read(got, to), want, "{kernel:?} of {code:#x}, {rules:?}");
                        }
                    }
                }
            }
        }
    }
}

/// The values of small formats and the midpoints between them, as codes of a wide float, with their neighbours of both signs.
fn near_ties(from: DType) -> Vec<u128> {
    let f = from.float_spec().expect("a float");
    let mut codes = Vec::new();
    let small = [
        DType::Float8E4M3FN,
        DType::Float8E5M2,
        DType::Float8E5M2FNUZ,
        DType::Float8E8M0FNU,
        DType::Float8E3M4,
        DType::Float6E2M3FN,
        DType::Float4E2M1FN,
    ];
    for dtype in small {
        for code in 0..256 {
            let (x, _) = exact::decode(dtype, code);
            let (mut low, mut high) = (x, x);
            // A quarter of a unit of the longest format.
            (low.significand, low.exponent) = ((x.significand << 6).saturating_sub(1 << 1), x.exponent - 6);
            (high.significand, high.exponent) = ((x.significand << 6) + (1 << 5), x.exponent - 6);
            let values = if x.is_nan() { [x; 3] } else { [x, low, high] };
            for value in values {
                let code = exact::to_float(f, value, &Rules::common(DType::Float64, true)) as u128;
                codes.extend([code, code.wrapping_add(1), code.wrapping_sub(1).min(code)]);
            }
        }
    }
    codes.sort_unstable();
    codes.dedup();
    let mask = u128::MAX >> (128 - f.bits());
    codes.into_iter().map(|code| code & mask).collect()
}
