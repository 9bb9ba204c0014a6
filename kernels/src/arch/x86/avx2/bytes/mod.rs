//! Casts of all dtypes that take a byte per element.
//!
//! Such a cast has 256 answers. To targets of a byte a kernel looks 32 of them up at once ([`lookup`]), where it can in half
//! the table with a rule for the rest ([`folded`]). To wider ones it makes
//! the 16 bits in which results differ, from smaller tables or on a line ([`sources`]), and unpacks them to the width of the
//! target ([`shapes`]). Tables and lines are data (`lut`, `linear`), so that one body serves all pairs of the same kind.
//! Integers of a whole byte are extended instead ([`widen`]). Packed elements are spread or packed on the way ([`load`],
//! [`store`]).

/// Does `$body` for every block of a cast between elements of `$from` and `$to` bits, less than 8 if they are packed. The last
/// block lies over some of the one before. If there is none, or elements are packed, the last ones are cast by `$whole`, a
/// kernel of the pair. `$tight`: there is so little to do that the loop itself counts. (Else a tight loop is the slower one: it
/// keeps all of a long table in registers, which leaves none for the rest.)
macro_rules! for_each_block {
    (($from:expr, $to:expr), ($src:expr, $dst:expr, $n:expr), ($whole:expr, $data:expr), $tight:expr, |$s:ident, $d:ident| $body:block) => {
        let (mut $s, mut $d, mut left) = ($src, $dst, $n);
        let (read, written) = (const { BLOCK * $from as usize / 8 }, const { BLOCK * $to as usize / 8 });
        loop {
            while $tight && left >= 2 * BLOCK {
                $body;
                ($s, $d) = ($s.add(read), $d.add(written));
                $body;
                ($s, $d) = ($s.add(read), $d.add(written));
                left -= 2 * BLOCK;
            }
            if left < BLOCK {
                if left == 0 {
                    return;
                }
                if $from < 8 || $to < 8 || $n < BLOCK {
                    return padded_bits::<Avx2>(
                        $whole,
                        BLOCK,
                        ($from as usize, $to as usize),
                        $s,
                        $d,
                        left,
                        $data,
                    );
                }
                let done = BLOCK - left;
                ($s, $d) = ($s.sub(done * $from as usize / 8), $d.sub(done * $to as usize / 8));
                left = BLOCK;
            }
            $body;
            ($s, $d) = ($s.add(read), $d.add(written));
            left -= BLOCK;
        }
    };
}

mod folded;
mod lookup;
mod shapes;
mod sources;
mod widen;

use super::{
    super::packing::spread,
    simd::{Avx2, store_packed},
};
use crate::arch::native::intrinsics::*;
use crate::{
    data::Data,
    dtype::{DType, Spec},
    format::Format,
    linear::{Entry, Top},
    lut::{self, FoldedOf, Lut, Saturating, Truncating, Words, Wrapping, choice},
    table::{KernelFn, PACKED_FROM, PACKED_TO, has_overflow_rule},
    vector::{padded_bits, short::padded},
};
use lookup::look_up;
use shapes::{C64, C128, F32, F64, H16, I16, I32, I64, Shape, W16};
use sources::{FNUZ, LAST, Linear, MAGNITUDE, NONE, SIGN, Shifted, Signed, Table, Truth};

/// Elements of a block.
const BLOCK: usize = 32;

/// A block of elements of `BITS` bits, one per byte.
///
/// # Safety
///
/// The CPU has the features of the kernel, and the block is readable.
#[inline(always)]
unsafe fn load<const BITS: u32>(p: *const u8) -> __m256i {
    // SAFETY: as the caller's.
    unsafe { if BITS == 8 { _mm256_loadu_si256(p.cast()) } else { spread::<BITS>(p) } }
}

/// # Safety
///
/// The CPU has the features of the kernel, and the block is writable; the codes have no bits above `BITS`.
#[inline(always)]
unsafe fn store<const BITS: u32>(p: *mut u8, codes: __m256i) {
    // SAFETY: as the caller's.
    unsafe { if BITS == 8 { _mm256_storeu_si256(p.cast(), codes) } else { store_packed::<BITS>(p, codes) } }
}

/// The body of the pairs of a kind; `whole` is it with the data of the pair. `TO` are the bits of `W`.
///
/// # Safety
///
/// As [`KernelFn`].
#[target_feature(enable = "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
#[inline(never)]
unsafe fn wide<Q: sources::Source, W: Shape, const FROM: u32, const TO: u32>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    constants: &Data,
    data: &Q::Data,
    whole: KernelFn,
) {
    // SAFETY: blocks that lie among the caller's elements.
    unsafe {
        for_each_block!((FROM, TO), (src, dst, n), (whole, constants), false, |src, dst| {
            W::emit(Q::words(data, W::order(load::<FROM>(src))), dst);
        });
    }
}

/// One pair: brings its data to the body.
///
/// # Safety
///
/// As [`KernelFn`].
unsafe fn cast_wide<T: Words, Q: sources::Of<T>, W: Shape, const FROM: u32>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    constants: &Data,
) {
    let whole = cast_wide::<T, Q, W, FROM>;
    // SAFETY: as the caller's.
    unsafe {
        match const { W::SIZE } {
            2 => wide::<Q, W, FROM, 16>(src, dst, n, constants, Q::DATA, whole),
            4 => wide::<Q, W, FROM, 32>(src, dst, n, constants, Q::DATA, whole),
            8 => wide::<Q, W, FROM, 64>(src, dst, n, constants, Q::DATA, whole),
            _ => wide::<Q, W, FROM, 128>(src, dst, n, constants, Q::DATA, whole),
        }
    }
}

/// The body of the pairs with a target of a byte or less; `whole` is it with the table of the pair. bool (`TRUTH`) is looked up
/// as 0 or 1.
///
/// # Safety
///
/// As [`KernelFn`].
#[target_feature(enable = "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
#[inline(never)]
unsafe fn narrow<const TRUTH: bool, const E: usize, const FROM: u32, const TO: u32>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    constants: &Data,
    lut: &Lut<E, 1>,
    whole: KernelFn,
) {
    // SAFETY: as in `wide`.
    unsafe {
        for_each_block!((FROM, TO), (src, dst, n), (whole, constants), E == 16, |src, dst| {
            let bytes = load::<FROM>(src);
            let index = if TRUTH { _mm256_min_epu8(bytes, _mm256_set1_epi8(1)) } else { bytes };
            let [codes] = look_up(lut, index);
            store::<TO>(dst, codes);
        });
    }
}

/// One pair: brings its table to the body.
///
/// # Safety
///
/// As [`KernelFn`].
unsafe fn cast_narrow<T: Words, const TRUTH: bool, const E: usize, const FROM: u32, const TO: u32>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    constants: &Data,
) {
    let lut = lut::Of::<T, choice::Differences, E, 1>::LUT;
    // SAFETY: as the caller's.
    unsafe { narrow::<TRUTH, E, FROM, TO>(src, dst, n, constants, lut, cast_narrow::<T, TRUTH, E, FROM, TO>) }
}

/// The kernel of a pair, if its source has one byte per element.
pub(super) const fn kernel<S: Format, D: Format>(saturate: bool) -> Option<KernelFn> {
    if S::DTYPE.size() != 1 {
        return None;
    }
    if let Some(extended) = extended::<S, D>(saturate) {
        return Some(extended);
    }
    Some(looked_up::<S, D, 8, 8>(saturate || !has_overflow_rule(D::DTYPE)))
}

/// The kernel of a pair of which the `SIDES` are packed, if its source has at most 8 bits.
pub(super) const fn packed<S: Format, D: Format, const SIDES: u8>(saturate: bool) -> Option<KernelFn> {
    const fn from<S: Format, D: Format, const FROM: u32>(packed_to: bool, saturate: bool) -> KernelFn {
        match D::DTYPE.bits() {
            2 if packed_to => looked_up::<S, D, FROM, 2>(saturate),
            4 if packed_to => looked_up::<S, D, FROM, 4>(saturate),
            6 if packed_to => looked_up::<S, D, FROM, 6>(saturate),
            _ => looked_up::<S, D, FROM, 8>(saturate),
        }
    }
    let packed_to = SIDES & PACKED_TO != 0;
    // Small tables map half bytes to bytes, and integers of a byte to shorter ones are soon made and packed afterwards.
    let mapped = S::DTYPE.bits() <= 4 && D::DTYPE.size() == 1 && !packed_to;
    if S::DTYPE.size() != 1 || mapped || lut::limits(S::DTYPE, D::DTYPE, saturate).is_some() {
        return None;
    }
    Some(match S::DTYPE.bits() {
        2 if SIDES & PACKED_FROM != 0 => from::<S, D, 2>(packed_to, saturate),
        4 if SIDES & PACKED_FROM != 0 => from::<S, D, 4>(packed_to, saturate),
        6 if SIDES & PACKED_FROM != 0 => from::<S, D, 6>(packed_to, saturate),
        _ => from::<S, D, 8>(packed_to, saturate),
    })
}

/// The kernels that extend or narrow integers of a byte.
const fn extended<S: Format, D: Format>(saturate: bool) -> Option<KernelFn> {
    use widen::{CLAMPED, SIGNED, TRUTH, UNSIGNED, Wide, widen as run};
    const fn of<D: Format, W: Wide>(from: u8) -> KernelFn {
        assert!(W::SIZE == D::DTYPE.size());
        match from {
            SIGNED => run::<W, SIGNED>,
            CLAMPED => run::<W, CLAMPED>,
            UNSIGNED => run::<W, UNSIGNED>,
            _ => run::<W, TRUTH>,
        }
    }
    if lut::limits(S::DTYPE, D::DTYPE, saturate).is_some() {
        return Some(if saturate { limited::<S, D, true> } else { limited::<S, D, false> });
    }
    let loses_sign = saturate && matches!(D::DTYPE.spec(), Spec::Int { signed: false, .. });
    let from = match S::DTYPE {
        DType::Bool => TRUTH,
        DType::UInt8 => UNSIGNED,
        DType::Int8 if loses_sign => CLAMPED,
        DType::Int8 => SIGNED,
        DType::Float8E8M0FNU => {
            let overflow = match (saturate, loses_sign) {
                (false, _) => shapes::WRAP,
                (true, false) => shapes::SIGNED,
                (true, true) => shapes::UNSIGNED,
            };
            return match D::DTYPE.spec() {
                Spec::Int { bits: 16, .. } => Some(powers::<2>(overflow)),
                Spec::Int { bits: 32, .. } => Some(powers::<4>(overflow)),
                Spec::Int { bits: 64, .. } => Some(powers::<8>(overflow)),
                _ => None,
            };
        }
        _ => return None,
    };
    if from == TRUTH {
        match D::DTYPE {
            DType::BFloat16 => return Some(cast_wide::<Saturating<S, D>, Truth, W16, 8>),
            DType::Float32 => return Some(cast_wide::<Saturating<S, f32>, Truth, F32, 8>),
            DType::Float64 => return Some(cast_wide::<Saturating<S, f64>, Truth, F64, 8>),
            DType::Complex64 => return Some(cast_wide::<Saturating<S, f32>, Truth, C64, 8>),
            DType::Complex128 => return Some(cast_wide::<Saturating<S, f64>, Truth, C128, 8>),
            _ => {}
        }
    }
    Some(match (D::DTYPE, D::DTYPE.spec()) {
        (_, Spec::Int { bits: 16, .. }) => of::<D, widen::I16>(from),
        (_, Spec::Int { bits: 32, .. }) => of::<D, widen::I32>(from),
        (_, Spec::Int { bits: 64, .. }) => of::<D, widen::I64>(from),
        (DType::Float16, _) => of::<D, widen::F16>(from),
        (DType::BFloat16, _) => of::<D, widen::BF16>(from),
        (DType::Float32, _) => of::<D, widen::F32>(from),
        (DType::Float64, _) => of::<D, widen::F64>(from),
        (DType::Complex64, _) => of::<D, widen::C64>(from),
        (DType::Complex128, _) => of::<D, widen::C128>(from),
        _ => return None,
    })
}

/// `float8_e8m0fnu` to integers.
const fn powers<const BYTES: usize>(overflow: u8) -> KernelFn
where
    widen::Powers<BYTES, { shapes::WRAP }>: widen::Wide,
    widen::Powers<BYTES, { shapes::SIGNED }>: widen::Wide,
    widen::Powers<BYTES, { shapes::UNSIGNED }>: widen::Wide,
{
    use widen::{Powers, UNSIGNED, widen};
    match overflow {
        shapes::WRAP => widen::<Powers<BYTES, { shapes::WRAP }>, UNSIGNED>,
        shapes::SIGNED => widen::<Powers<BYTES, { shapes::SIGNED }>, UNSIGNED>,
        _ => widen::<Powers<BYTES, { shapes::UNSIGNED }>, UNSIGNED>,
    }
}

/// # Safety
///
/// As [`KernelFn`].
unsafe fn limited<S: Format, D: Format, const SATURATE: bool>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    constants: &Data,
) {
    let limits = const {
        match lut::limits(S::DTYPE, D::DTYPE, SATURATE) {
            Some(limits) => limits,
            None => panic!("not a pair of limits"),
        }
    };
    // SAFETY: as the caller's.
    unsafe {
        if limits.signed {
            widen::narrow::<true>(src, dst, n, constants, limits, limited::<S, D, SATURATE>)
        } else {
            widen::narrow::<false>(src, dst, n, constants, limits, limited::<S, D, SATURATE>)
        }
    }
}

/// The body that serves a pair, by the kind of the source and the shape of the target.
const fn looked_up<S: Format, D: Format, const FROM: u32, const TO: u32>(saturate: bool) -> KernelFn {
    const fn narrow<
        S: Format,
        D: Format,
        const TRUTH: bool,
        const E: usize,
        const FROM: u32,
        const TO: u32,
    >(
        saturate: bool,
    ) -> KernelFn {
        if saturate {
            cast_narrow::<Saturating<S, D>, TRUTH, E, FROM, TO>
        } else {
            cast_narrow::<Wrapping<S, D>, TRUTH, E, FROM, TO>
        }
    }
    if S::DTYPE.bits() >= 6 && D::DTYPE.size() == 1 {
        let folded = if saturate {
            folded::kernel::<Saturating<S, D>, FROM, TO>()
        } else {
            folded::kernel::<Wrapping<S, D>, FROM, TO>()
        };
        if let Some(folded) = folded {
            return folded;
        }
    }
    match (S::DTYPE, S::DTYPE.bits(), D::DTYPE.size()) {
        (DType::Bool, _, 1) => narrow::<S, D, true, 16, FROM, TO>(saturate),
        (_, ..=4, 1) => narrow::<S, D, false, 16, FROM, TO>(saturate),
        (_, ..=6, 1) => narrow::<S, D, false, 64, FROM, TO>(saturate),
        (_, _, 1) => narrow::<S, D, false, 256, FROM, TO>(saturate),
        (_, ..=4, _) => shaped::<S, D, Table<16>, Table<16>, Table<16>, FROM>(saturate),
        (_, ..=6, _) => shaped::<S, D, Signed, Signed, Table<64>, FROM>(saturate),
        // They begin as float16 does, and so do its words.
        (DType::Float8E5M2FNUZ, ..) => {
            shaped_8::<S, D, Shifted<FNUZ, true>, Shifted<FNUZ, false>, FROM>(saturate)
        }
        (DType::Float8E5M2, ..) => {
            shaped_8::<S, D, Shifted<LAST, true>, Shifted<LAST, false>, FROM>(saturate)
        }
        (from, ..) => match (Entry::of(from), Top::of(from)) {
            (Some(Entry::Last), _) => {
                shaped_8::<S, D, Shifted<LAST, true>, Shifted<LAST, true>, FROM>(saturate)
            }
            (Some(Entry::None), _) => {
                shaped_8::<S, D, Shifted<NONE, true>, Shifted<NONE, true>, FROM>(saturate)
            }
            (Some(Entry::Fnuz), _) => {
                shaped_8::<S, D, Shifted<FNUZ, true>, Shifted<FNUZ, true>, FROM>(saturate)
            }
            (None, Top::Sign) => shaped_8::<S, D, Linear<SIGN>, Linear<SIGN>, FROM>(saturate),
            (None, Top::Magnitude) => shaped_8::<S, D, Linear<MAGNITUDE>, Linear<MAGNITUDE>, FROM>(saturate),
        },
    }
}

/// [`shaped`] of an 8-bit float, whose integers are all made of float32.
const fn shaped_8<S: Format, D: Format, Q, H, const FROM: u32>(saturate: bool) -> KernelFn
where
    Q: sources::Of<Saturating<S, D>>
        + sources::Of<Wrapping<S, D>>
        + sources::Of<Saturating<S, f32>>
        + sources::Of<Saturating<S, f64>>
        + sources::Of<Truncating<S, 32, false>>
        + sources::Of<Truncating<S, 32, true>>,
    H: sources::Of<Saturating<S, D>>,
{
    shaped::<S, D, Q, H, Q, FROM>(saturate)
}

/// The body that serves a target of more than a byte. Many targets need the same words.
/// The words of float16 are made by `H`, those of 16-bit integers by `I`.
const fn shaped<S: Format, D: Format, Q, H, I, const FROM: u32>(saturate: bool) -> KernelFn
where
    Q: sources::Of<Saturating<S, f32>>
        + sources::Of<Saturating<S, f64>>
        + sources::Of<Truncating<S, 32, false>>
        + sources::Of<Truncating<S, 32, true>>,
    H: sources::Of<Saturating<S, D>>,
    I: sources::Of<Saturating<S, D>> + sources::Of<Wrapping<S, D>>,
{
    use shapes::{SIGNED, UNSIGNED, WRAP};
    match (D::DTYPE, D::DTYPE.size()) {
        // Powers of two from far below to far above.
        (DType::Float16, _) if matches!(S::DTYPE, DType::Float8E8M0FNU) => {
            cast_wide::<Saturating<S, f32>, Q, H16, FROM>
        }
        (DType::Float16, _) => cast_wide::<Saturating<S, D>, H, W16, FROM>,
        (DType::BFloat16, _) => cast_wide::<Saturating<S, f32>, Q, W16, FROM>,
        (DType::Float32, _) => cast_wide::<Saturating<S, f32>, Q, F32, FROM>,
        (DType::Complex64, _) => cast_wide::<Saturating<S, f32>, Q, C64, FROM>,
        (DType::Float64, _) => cast_wide::<Saturating<S, f64>, Q, F64, FROM>,
        (DType::Complex128, _) => cast_wide::<Saturating<S, f64>, Q, C128, FROM>,
        (_, 2) if S::DTYPE.is_sub_byte() => {
            if saturate {
                cast_wide::<Saturating<S, D>, I, W16, FROM>
            } else {
                cast_wide::<Wrapping<S, D>, I, W16, FROM>
            }
        }
        (_, 2) if !saturate => cast_wide::<Truncating<S, 32, false>, Q, I16<WRAP>, FROM>,
        (_, 4) if !saturate => cast_wide::<Truncating<S, 32, false>, Q, I32<WRAP>, FROM>,
        (_, 8) if !saturate => cast_wide::<Truncating<S, 32, false>, Q, I64<WRAP>, FROM>,
        (DType::Int16, _) => cast_wide::<Truncating<S, 32, true>, Q, I16<SIGNED>, FROM>,
        (DType::UInt16, _) => cast_wide::<Truncating<S, 32, true>, Q, I16<UNSIGNED>, FROM>,
        (DType::Int32, _) => cast_wide::<Truncating<S, 32, true>, Q, I32<SIGNED>, FROM>,
        (DType::UInt32, _) => cast_wide::<Truncating<S, 32, true>, Q, I32<UNSIGNED>, FROM>,
        (DType::Int64, _) => cast_wide::<Truncating<S, 32, true>, Q, I64<SIGNED>, FROM>,
        _ => cast_wide::<Truncating<S, 32, true>, Q, I64<UNSIGNED>, FROM>,
    }
}
