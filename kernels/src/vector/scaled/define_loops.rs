//! Defines the loops of a tier.

/// Defines `scaled`, the loops of a tier: `$function` names its features and `$simd` its registers.
#[allow(unused_macros, reason = "targets without vectors have no such tier")]
macro_rules! define_scaled {
    ($function:ident, $simd:ty) => {
        /// The loops of [`crate::vector::scaled`].
        pub(super) static SCALED: crate::vector::scaled::Loops = {
            use crate::vector::scaled::{
                Divide, Exact, Factors, Loops, PowerRule, Product, RegisterStep, Times, Word, amax, amax_of_halves,
                amax_of_runs, by_runs, counts, powers,
            };
            $function! {
                unsafe fn amax_32(x: &[Word], run: usize, amaxes: &mut [u32]) {
                    let runs = (x.len() / run).min(amaxes.len());
                    // SAFETY: the caller's promise for the instructions; these runs are whole.
                    let done = unsafe {
                        let m = <$simd as crate::vector::Simd>::new_unchecked();
                        match run {
                            16 => amax_of_runs::<$simd, 16>(m, x.as_ptr(), runs, amaxes.as_mut_ptr()),
                            32 => amax_of_runs::<$simd, 32>(m, x.as_ptr(), runs, amaxes.as_mut_ptr()),
                            _ => 0,
                        }
                    };
                    amax::<4, u32>(&x[done * run..], run, &mut amaxes[done..]);
                }
            }
            $function! {
                unsafe fn amax_16(x: &[[u8; 2]], run: usize, amaxes: &mut [u16]) {
                    const REGISTER: usize = size_of::<<$simd as crate::vector::Simd>::V>() / 2;
                    let runs = (x.len() / run).min(amaxes.len());
                    // SAFETY: the caller's promise for the instructions; these runs are whole.
                    let done = unsafe {
                        let m = <$simd as crate::vector::Simd>::new_unchecked();
                        if run == REGISTER {
                            amax_of_halves::<$simd, 1>(m, x.as_ptr(), runs, amaxes.as_mut_ptr())
                        } else if run == 2 * REGISTER {
                            amax_of_halves::<$simd, 2>(m, x.as_ptr(), runs, amaxes.as_mut_ptr())
                        } else {
                            0
                        }
                    };
                    amax::<2, u16>(&x[done * run..], run, &mut amaxes[done..]);
                }
            }
            $function! {
                unsafe fn powers_of(amaxes: &[u32], rule: PowerRule, codes: &mut [u8], factors: &mut [f32]) {
                    powers(amaxes, rule, codes, factors);
                }
            }
            $function! {
                unsafe fn counts_of(x: &[Word], q: &[Word], bounds: [f32; 2]) -> [u32; 3] {
                    counts(x, q, bounds)
                }
            }
            $function! {
                unsafe fn stepped<S: RegisterStep>(
                    x: *const Word,
                    q: *mut Word,
                    n: usize,
                    run: usize,
                    factors: &Factors<'_>,
                ) {
                    // SAFETY: the caller's promise is the same.
                    unsafe { by_runs::<$simd, S>(<$simd as crate::vector::Simd>::new_unchecked(), x, q, n, run, factors) }
                }
            }
            Loops {
                amax_32,
                amax_16,
                powers: powers_of,
                counts: counts_of,
                divide: stepped::<Divide>,
                times: stepped::<Times>,
                quotient: [stepped::<Exact<false>>, stepped::<Exact<true>>],
                product: [
                    [stepped::<Product<false, false>>, stepped::<Product<false, true>>],
                    [stepped::<Product<true, false>>, stepped::<Product<true, true>>],
                ],
            }
        };
    };
}
#[allow(unused_imports, reason = "as of the macro")]
pub(crate) use define_scaled;
