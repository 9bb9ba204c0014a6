//! From floats of a byte and integers of a few bits: results are looked up.
//!
//! A cast of 256 codes is a table, but tables for every pair, storage and rule would be most of the library. Since a cast is `decode` and
//! `encode`, this module keeps only the values of each source, as float32. A call with many elements runs the float32 kernel of the target on
//! these values to make the table of results. A call with few elements looks the values up, block by block, and runs the same kernel on each
//! block.

use super::staged::Then;
use crate::{
    dtype::DType,
    exact::{FLOAT32, Rules, decode, to_float},
    format::{Format, data::Data},
    vector::kernel::KernelFn,
};
use core::{mem::MaybeUninit, slice};

/// The values of all codes of a source, as bits of float32.
type Values = [u32; 256];

const fn values(from: DType) -> Values {
    let rules = Rules::common(DType::Float32, true);
    let mut values = [0; 256];
    let mut code = 0;
    while code < 256 {
        values[code] = to_float(FLOAT32, decode(from, code as u128).0, &rules) as u32;
        code += 1;
    }
    values
}

/// A float of up to 8 bits to any other dtype, or an integer of up to 4 bits to a float.
///
/// # Safety
///
/// As [`KernelFn`].
pub(super) unsafe fn look_up<S: Format, T: Then>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
    let then = T::from_f32(data);
    // SAFETY: the caller's promise is the same. From this number of elements on, codes repeat.
    unsafe { by_value(src, dst, n, const { &values(S::DTYPE) }, 1 << S::DTYPE.bits(), then, data) };
}

/// One result of up to 16 bytes for each code.
#[repr(C, align(16))]
struct Results(MaybeUninit<[u8; 16 * 256]>);

/// # Safety
///
/// As [`KernelFn`]; `then` is the kernel from float32 to the target of `data`.
#[inline(never)]
unsafe fn by_value(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    values: &Values,
    codes: usize,
    then: KernelFn,
    data: &Data,
) {
    let size = data.to.size();
    if matches!(data.to, DType::Float32) {
        // SAFETY: the caller's promise is the same; the values are the results.
        return unsafe { results::<u32>(src, dst, n, values.as_ptr().cast()) };
    }
    if n < 2 * codes {
        // SAFETY: the caller's promise is the same.
        return unsafe { few(src, dst, n, values, then, data) };
    }
    let mut table = Results(MaybeUninit::uninit());
    let table = table.0.as_mut_ptr().cast::<u8>();
    // SAFETY: `codes` values exist, and the table has room for their results. All entries up to `known` are initialised, and then as many are
    // copied after them, up to the end of the 256 entries; 256 and `codes` are powers of two.
    unsafe {
        then(values.as_ptr().cast(), table, codes, data);
        let mut known = codes;
        while known < 256 {
            table.copy_to_nonoverlapping(table.add(known * size), known * size);
            known *= 2;
        }
    }
    // SAFETY: the caller's promise is the same, for elements of this size; the table has results for all codes.
    unsafe {
        match size {
            1 => results::<u8>(src, dst, n, table),
            2 => results::<u16>(src, dst, n, table),
            4 => results::<u32>(src, dst, n, table),
            8 => results::<u64>(src, dst, n, table),
            _ => results::<[u64; 2]>(src, dst, n, table),
        }
    }
}

/// # Safety
///
/// As [`KernelFn`]; `table` holds 256 results of the target's size.
#[inline(always)]
unsafe fn results<T: Copy>(src: *const u8, dst: *mut u8, n: usize, table: *const u8) {
    const STEP: usize = 8;
    let (dst, table) = (dst.cast::<T>(), table.cast::<T>());
    // SAFETY: the element is one of `n`, and the table has a result for every code.
    let one = |i| unsafe { dst.add(i).write_unaligned(table.add(*src.add(i) as usize).read_unaligned()) };
    let whole = n / STEP * STEP;
    for first in (0..whole).step_by(STEP) {
        (0..STEP).for_each(|i| one(first + i));
    }
    (whole..n).for_each(one);
}

/// # Safety
///
/// As [`KernelFn`]; `then` is the kernel from float32 to the target of `data`.
unsafe fn few(src: *const u8, dst: *mut u8, n: usize, values: &Values, then: KernelFn, data: &Data) {
    const BLOCK: usize = 64;
    let mut block = [0_u32; BLOCK];
    for first in (0..n).step_by(BLOCK) {
        let count = BLOCK.min(n - first);
        // SAFETY: these are codes of the source, which the caller grants.
        let codes = unsafe { slice::from_raw_parts(src.add(first), count) };
        for (value, code) in block.iter_mut().zip(codes) {
            *value = values[*code as usize];
        }
        // SAFETY: the block has as many values, and the caller grants as many elements of the destination.
        unsafe { then(block.as_ptr().cast(), dst.add(first * data.to.size()), count, data) };
    }
}
