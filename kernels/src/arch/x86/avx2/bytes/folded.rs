//! Sources of 8 and 6 bits to targets of at most a byte, where a table of half the codes and a rule give all results ([`Folded`]).

use super::{
    blocks::{BLOCK, for_each_block, load, store},
    lookup::shuffled,
};
use crate::{
    arch::x86::{avx2::simd::Avx2, intrinsics::*},
    format::lut::{
        Fold, Folded, Rule,
        folds::{self, Folds},
        rules::{self, Ruled},
    },
    vector::{
        Simd,
        kernel::{TableFn, WithTable, erased},
        padded_bits,
    },
};

/// The body of a table, from elements of `from` bits to elements of `to` bits. The common rules need no other bodies; rarer rules look results
/// up in whole tables.
pub(super) const fn kernel(table: &Folded, from: u32, to: u32) -> Option<TableFn<Folded>> {
    macro_rules! bodies {
        ($($fold:ident $rule:ident $patched:literal: $($from:literal)+ to $to:tt;)*) => {
            match (table.fold, table.rule, table.patch != 0, from) {
                $($((Fold::$fold, Rule::$rule, $patched, $from) => bodies!(@ $fold $rule $patched $from $to),)+)*
                _ => return None,
            }
        };
        (@ $fold:ident $rule:ident $patched:literal $from:literal [$($to:literal)+]) => {
            match to {
                $($to => body::<$from, $to, folds::$fold, rules::$rule, $patched>,)+
                _ => return None,
            }
        };
    }
    Some(bodies! {
        Six Flip false: 6 8 to [4 6 8];
        Six FlipNonzero false: 6 8 to [8];
        Six Negate false: 6 8 to [2 4 8];
        Six NegateByte false: 6 8 to [8];
        Six Clamp false: 6 8 to [2 4 8];
        Six Replace false: 6 8 to [2 4 8];
        Sign Flip false: 8 to [4 6 8];
        Sign Flip true: 8 to [4 6 8];
        Sign FlipNonzero false: 8 to [8];
        Sign FlipNonzero true: 8 to [8];
        Sign Negate false: 8 to [2 4 8];
        Sign NegateByte false: 8 to [8];
        Sign Clamp false: 8 to [2 4 8];
        Sign Replace false: 8 to [2 4 8];
        Sign Replace true: 8 to [8];
        Sign ReplaceNumber false: 8 to [8];
        Absolute Flip false: 8 to [4 6 8];
        Absolute FlipNonzero false: 8 to [8];
        Absolute Replace false: 8 to [8];
        Halved Add false: 8 to [4 6 8];
        Halved AddLimited false: 8 to [8];
        Window Same false: 8 to [2 4 6 8];
        Window Same true: 8 to [2 4 6 8];
    })
}

avx2_fn! {
    /// The body of the pairs with the same rule.
    ///
    /// # Safety
    ///
    /// As [`KernelFn`].
    unsafe fn body<const FROM: u32, const TO: u32, F: Folds, R: Ruled, const PATCHED: bool>(
        src: *const u8,
        dst: *mut u8,
        n: usize,
        data: &WithTable<Folded>,
    ) {
        // SAFETY: as in `wide`.
        unsafe {
            // No store changes a copy, so it stays in registers.
            let table = &core::ptr::from_ref(data.table()).read();
            for_each_block!(
                (FROM, TO),
                (src, dst, n),
                (body::<FROM, TO, F, R, PATCHED>, data),
                F::FOLD == Fold::Six,
                |src, dst| {
                    block::<FROM, TO, F, R, PATCHED>(src, dst, table);
                }
            );
        }
    }
}

/// # Safety
///
/// The CPU has the features of the kernel, and a block can be read and written.
#[inline(always)]
unsafe fn block<const FROM: u32, const TO: u32, F: Folds, R: Ruled, const PATCHED: bool>(
    src: *const u8,
    dst: *mut u8,
    table: &Folded,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let codes = load::<FROM>(src);
        let entries = entries::<F>(table, index::<F>(table, codes));
        // Moves the sign, or the bit that selects a half of the codes, to the top.
        let tops = if F::FOLD == Fold::Six { _mm256_slli_epi16::<2>(codes) } else { codes };
        let mut x = ruled::<R>(table, tops, entries);
        if PATCHED {
            let patched = _mm256_cmpeq_epi8(codes, splat(table.patched));
            x = _mm256_xor_si256(x, _mm256_and_si256(patched, splat(table.patch)));
        }
        store::<TO>(dst, x);
    }
}

/// # Safety
///
/// The CPU has the features of the kernel.
#[inline(always)]
unsafe fn splat(x: u8) -> __m256i {
    // SAFETY: the caller's CPU has the features.
    unsafe { _mm256_set1_epi8(x as i8) }
}

/// Applies [`Fold`] to codes.
///
/// # Safety
///
/// The CPU has the features of the kernel.
#[inline(always)]
unsafe fn index<F: Folds>(table: &Folded, codes: __m256i) -> __m256i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        match F::FOLD {
            Fold::Sign => _mm256_and_si256(codes, splat(0x7F)),
            Fold::Six => _mm256_and_si256(codes, splat(0x1F)),
            Fold::Absolute => _mm256_min_epu8(_mm256_abs_epi8(codes), splat(0x7F)),
            Fold::Halved => {
                let halves = _mm256_and_si256(_mm256_srli_epi16::<1>(codes), splat(0x7F));
                let odd = _mm256_or_si256(halves, _mm256_and_si256(codes, splat(1)));
                _mm256_blendv_epi8(codes, odd, codes)
            }
            Fold::Window => {
                _mm256_min_epu8(_mm256_subs_epu8(codes, splat(table.base)), splat(Folded::WINDOW - 1))
            }
        }
    }
}

/// Combines the differences up to the entry of each index: see `lookup`.
///
/// # Safety
///
/// The CPU has the features of the kernel.
#[inline(always)]
unsafe fn entries<F: Folds>(table: &Folded, mut index: __m256i) -> __m256i {
    let parts = const {
        match F::FOLD {
            Fold::Window => Folded::WINDOW as usize / 16,
            Fold::Six => 2,
            Fold::Sign | Fold::Absolute | Fold::Halved => 8,
        }
    };
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let mut found = shuffled(&table.differences, 0, index);
        let mut part = 1;
        while part < parts {
            // Saturating: a negative index stays negative. One constant for all parts leaves registers to the table.
            index = _mm256_subs_epi8(index, splat(16));
            found = _mm256_xor_si256(found, shuffled(&table.differences, part, index));
            part += 1;
        }
        found
    }
}

/// Applies [`Rule`] to entries.
///
/// # Safety
///
/// The CPU has the features of the kernel.
#[inline(always)]
unsafe fn ruled<R: Ruled>(table: &Folded, tops: __m256i, entries: __m256i) -> __m256i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let (zero, mask) = (_mm256_setzero_si256(), splat(table.mask));
        match R::RULE {
            Rule::Flip => _mm256_xor_si256(entries, _mm256_and_si256(_mm256_cmpgt_epi8(zero, tops), mask)),
            // NaN already has its sign.
            Rule::FlipNonzero => {
                let sign = _mm256_sign_epi8(_mm256_and_si256(tops, mask), entries);
                _mm256_or_si256(entries, sign)
            }
            Rule::Add => _mm256_blendv_epi8(entries, _mm256_add_epi8(entries, mask), tops),
            Rule::AddLimited => {
                let sum = _mm256_min_epu8(_mm256_add_epi8(entries, mask), splat(table.max));
                _mm256_blendv_epi8(entries, sum, tops)
            }
            Rule::Negate => _mm256_and_si256(_mm256_sign_epi8(entries, tops), mask),
            Rule::NegateByte => _mm256_sign_epi8(entries, tops),
            Rule::Clamp => {
                let other = _mm256_min_epi8(_mm256_subs_epi8(zero, entries), splat(table.max));
                _mm256_and_si256(_mm256_blendv_epi8(other, entries, tops), mask)
            }
            Rule::Replace => _mm256_blendv_epi8(entries, mask, tops),
            Rule::ReplaceNumber => {
                let nan = _mm256_cmpeq_epi8(entries, splat(0xFF));
                _mm256_blendv_epi8(entries, nan, tops)
            }
            Rule::Same => entries,
        }
    }
}
