//! Dtypes, storages and byte orders as one number.

use crate::error::{
    Failure, LANECAST_ERR_BAD_NAME, LANECAST_ERR_BAD_TYPE, LANECAST_ERR_NULL_POINTER, guarded,
    lanecast_error, lanecast_status,
};
use lanecast::{ByteOrder, CastError, DType, Encoding, Storage};
use std::ffi::{CStr, c_char};

/// What a buffer holds: `LANECAST_FLOAT32` and so on, alone or with a flag. `LANECAST_TYPE_PACKED` is for elements of 2, 4 and 6 bits that
/// share bytes, the first in the lowest bits. `LANECAST_TYPE_LITTLE` and `LANECAST_TYPE_BIG` are for elements of more than one byte that are
/// not in the byte order of the host.
pub type lanecast_type = u32;

/// A flag: elements of less than 8 bits share bytes. It has no effect on other dtypes.
pub const LANECAST_TYPE_PACKED: lanecast_type = 0x100;
/// A flag: the least significant byte of an element comes first. It has no effect on elements of one byte.
pub const LANECAST_TYPE_LITTLE: lanecast_type = 0x200;
/// A flag: the most significant byte of an element comes first. It has no effect on elements of one byte.
pub const LANECAST_TYPE_BIG: lanecast_type = 0x400;

const FLAGS: u32 = LANECAST_TYPE_PACKED | LANECAST_TYPE_LITTLE | LANECAST_TYPE_BIG;
const DTYPES: usize = 64;
const NAME: usize = 24;

/// The names of all dtypes by their codes, each ending with 0.
static NAMES: [[u8; NAME]; DTYPES] = {
    let mut names = [[0; NAME]; DTYPES];
    let mut code = 0;
    while code < DTYPES {
        if let Some(dtype) = DType::from_code(code as u8) {
            let name = dtype.name().as_bytes();
            assert!(name.len() < NAME, "a longer name");
            let mut i = 0;
            while i < name.len() {
                names[code][i] = name[i];
                i += 1;
            }
        }
        code += 1;
    }
    names
};

/// A type as the library has it.
pub(crate) fn buffer(number: lanecast_type) -> Result<Encoding, Failure> {
    let bad = |text| Failure::Number(LANECAST_ERR_BAD_TYPE, text, i64::from(number));
    let dtype = u8::try_from(number & !FLAGS).ok().and_then(DType::from_code);
    let dtype = dtype.ok_or_else(|| bad("no lanecast_type has this number"))?;
    let order = match number & (LANECAST_TYPE_LITTLE | LANECAST_TYPE_BIG) {
        0 => ByteOrder::NATIVE,
        LANECAST_TYPE_LITTLE => ByteOrder::Little,
        LANECAST_TYPE_BIG => ByteOrder::Big,
        _ => return Err(bad("a lanecast_type is either LANECAST_TYPE_LITTLE or LANECAST_TYPE_BIG")),
    };
    let storage = if number & LANECAST_TYPE_PACKED != 0 { Storage::Packed } else { Storage::Byte };
    Ok(Encoding::with_storage(dtype, storage).with_order(order))
}

/// A type without storage and byte order.
pub(crate) fn dtype(number: lanecast_type) -> Result<DType, Failure> {
    let plain = number & FLAGS == 0;
    let dtype = u8::try_from(number).ok().and_then(DType::from_code).filter(|_| plain);
    dtype.ok_or(Failure::Number(LANECAST_ERR_BAD_TYPE, "not a dtype without flags", i64::from(number)))
}

pub(crate) fn number(dtype: DType) -> lanecast_type {
    u32::from(dtype.code())
}

/// The string at a pointer, if it is UTF-8.
///
/// # Safety
///
/// `text` is null or ends with 0.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(Failure::Argument(LANECAST_ERR_NULL_POINTER, "the name is NULL"));
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Failure::Argument(LANECAST_ERR_BAD_NAME, "the name is not UTF-8"))
}

/// A place for a result.
///
/// # Safety
///
/// `place` is null or can be written.
pub(crate) unsafe fn put<T>(place: *mut T, value: T) -> Result<(), Failure> {
    if place.is_null() {
        return Err(Failure::Argument(LANECAST_ERR_NULL_POINTER, "the place of the result is NULL"));
    }
    // SAFETY: the caller's promise; it is not read.
    unsafe { place.write(value) };
    Ok(())
}

/// The name of the dtype without flags, as a static string such as "float8_e4m3fn"; NULL if there is no such dtype.
#[unsafe(no_mangle)]
pub extern "C" fn lanecast_type_name(r#type: lanecast_type) -> *const c_char {
    let code = u8::try_from(r#type & !FLAGS).ok();
    match code.and_then(DType::from_code) {
        Some(dtype) => NAMES[dtype as usize].as_ptr().cast(),
        None => std::ptr::null(),
    }
}

/// The dtype with a name of lanecast's: "float8_e4m3fn", or a short form such as "f8e4m3fn" or "bf16". Names of other systems that
/// mean another dtype here ("i4" of NumPy) are read as lanecast's.
///
/// # Safety
///
/// `name` is NULL or a string that ends with 0; `out` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_type_parse(
    name: *const c_char,
    out: *mut lanecast_type,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let dtype: DType = text(name)?.parse().map_err(CastError::UnknownName)?;
            put(out, number(dtype))
        })
    }
}

/// The bytes that `n` elements take, a last partial byte included.
///
/// # Safety
///
/// `out` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_type_bytes(
    r#type: lanecast_type,
    n: usize,
    out: *mut usize,
) -> lanecast_status {
    // SAFETY: the pointer is as the caller promises.
    unsafe {
        guarded(std::ptr::null_mut(), || {
            let buffer = buffer(r#type)?;
            let bytes = buffer.byte_len(n).ok_or(CastError::TooLarge { elements: n, encoding: buffer })?;
            put(out, bytes)
        })
    }
}

/// `DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED`.
pub(crate) const PADDED: u64 = 4;

/// What a `DLDataType` and the flags of its tensor describe.
pub(crate) fn from_dlpack(code: u8, bits: u8, lanes: u16, flags: u64) -> Result<Encoding, Failure> {
    let bad = |text, number| Failure::Number(LANECAST_ERR_BAD_TYPE, text, number);
    let padded = flags & PADDED != 0;
    if let Some(encoding) = Encoding::from_dlpack(code, bits, lanes, padded) {
        return Ok(encoding);
    }
    match DType::from_dlpack(code, bits) {
        None => {
            let text = format!("no dtype of lanecast is the DLDataType of code {code} with {bits} bits");
            Err(Failure::Text(LANECAST_ERR_BAD_TYPE, text))
        }
        Some(DType::Float4E2M1FN) if lanes == 2 => {
            Err(bad("pairs of float4 are packed, but the flags say padded; DLDataType.lanes is", 2))
        }
        Some(_) => Err(bad("DLDataType.lanes is 1, or 2 for float4_e2m1fn, not", i64::from(lanes))),
    }
}

/// The type of a DLPack tensor's elements. Elements of less than 8 bits are packed, unless `flags` has
/// `DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED` (4). `lanes` is 1, or 2 for pairs of packed
/// float4, which are two elements.
///
/// # Safety
///
/// `out` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_type_from_dlpack(
    code: u8,
    bits: u8,
    lanes: u16,
    flags: u64,
    out: *mut lanecast_type,
) -> lanecast_status {
    // SAFETY: the pointer is as the caller promises.
    unsafe {
        guarded(std::ptr::null_mut(), || {
            let buffer = from_dlpack(code, bits, lanes, flags)?;
            let packed = buffer.dtype().is_sub_byte() && buffer.storage() == Storage::Packed;
            put(out, number(buffer.dtype()) | if packed { LANECAST_TYPE_PACKED } else { 0 })
        })
    }
}

/// The DLPack type code, bits and flags of a type; lanes are 1. DLPack has no byte order: only types in the byte order of the host are accepted.
///
/// # Safety
///
/// The places are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_type_to_dlpack(
    r#type: lanecast_type,
    code: *mut u8,
    bits: *mut u8,
    flags: *mut u64,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(std::ptr::null_mut(), || {
            let buffer = buffer(r#type)?;
            let known = buffer.dtype().dlpack().filter(|_| buffer.order() == ByteOrder::NATIVE);
            let bad = Failure::Argument(LANECAST_ERR_BAD_TYPE, "DLPack has no such type");
            let (kind, width) = known.ok_or(bad)?;
            if code.is_null() || bits.is_null() || flags.is_null() {
                return Err(Failure::Argument(LANECAST_ERR_NULL_POINTER, "a place of the result is NULL"));
            }
            let padded = buffer.dtype().is_sub_byte() && buffer.storage() == Storage::Byte;
            put(code, kind)?;
            put(bits, width)?;
            put(flags, if padded { PADDED } else { 0 })
        })
    }
}
