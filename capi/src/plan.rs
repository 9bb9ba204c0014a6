//! Plans in the caller's memory.

use crate::array::not_null;
use crate::error::{
    Failure, LANECAST_ERR_BAD_PLAN, LANECAST_ERR_NULL_POINTER, cut, guarded, lanecast_error, lanecast_status,
};
use crate::memory::put_if_wanted;
use crate::options::lanecast_options;
use crate::types::{buffer, lanecast_type};
use lanecast::{CastOptions, CastPlan, Streaming};
use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;

/// A cast from one type to another under fixed options, made by `lanecast_plan_init`. It is a plain value that may be copied and shared
/// between threads, is valid as long as the library is loaded, and needs no cleanup.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lanecast_plan {
    /// Private to the library.
    pub opaque: [u64; 16],
}

/// What a plan's memory holds.
///
/// C programs copy the plan as bytes and never drop it: its mode and its threads are the defaults, which own nothing.
#[repr(C)]
struct Content {
    magic: u64,
    plan: CastPlan,
}

const _: () = {
    assert!(size_of::<Content>() <= size_of::<lanecast_plan>(), "a plan of C has room for a plan");
    assert!(align_of::<Content>() <= align_of::<lanecast_plan>(), "a plan of C is aligned as a plan is");
};

/// A number that neither stray memory nor a plan of another version or another loaded copy of the library begins with: it depends on
/// this copy's address.
pub(crate) fn magic() -> u64 {
    static HERE: u8 = 0;
    0x6C61_6E65_6361_7374 ^ (&raw const HERE).addr() as u64
}

/// The plan in the caller's memory.
///
/// # Safety
///
/// `plan` is null, or leads to a `lanecast_plan` that nothing writes meanwhile.
#[inline]
pub(crate) unsafe fn read<'a>(plan: *const lanecast_plan) -> Result<&'a CastPlan, Failure> {
    if plan.is_null() {
        return Err(Failure::Argument(LANECAST_ERR_NULL_POINTER, "the plan is NULL"));
    }
    // SAFETY: there is a word, by the caller.
    if unsafe { plan.cast::<u64>().read() } != magic() {
        let text = "the memory holds no plan of this library: call lanecast_plan_init first";
        return Err(Failure::Argument(LANECAST_ERR_BAD_PLAN, text));
    }
    // SAFETY: only `lanecast_plan_init` writes the magic number, and it writes a whole plan with it; copies are whole.
    Ok(unsafe { &(*plan.cast::<Content>()).plan })
}

/// The plan of a cast.
///
/// # Safety
///
/// `options` is null or can be read.
unsafe fn make(
    from: lanecast_type,
    to: lanecast_type,
    options: *const lanecast_options,
) -> Result<CastPlan, Failure> {
    let (from, to) = (buffer(from)?, buffer(to)?);
    // SAFETY: the caller's promise.
    let (options, streaming, tier) = match unsafe { options.as_ref() } {
        Some(options) => options.read()?,
        None => (CastOptions::RUST, Streaming::Auto, None),
    };
    let made = match tier {
        Some(tier) => CastPlan::with_tier(from, to, &options, tier),
        None => CastPlan::new(from, to, &options),
    };
    Ok(made?.with_streaming(streaming))
}

/// Casts `n` elements of the type `from` at `src` to `n` elements of the type `to` at `dst`, on the calling thread: `lanecast_plan_init` and
/// `lanecast_run` in one call. If `options` is NULL, the default options apply. The cast is in place if both addresses are the same.
///
/// # Safety
///
/// `src` is readable and `dst` writable for the bytes of `n` elements (`lanecast_type_bytes`), and until the call returns nothing else
/// writes the source or accesses the destination. `options` is NULL or readable; `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_cast(
    src: *const c_void,
    from: lanecast_type,
    dst: *mut c_void,
    to: lanecast_type,
    n: usize,
    options: *const lanecast_options,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let plan = make(from, to, options)?;
            not_null(src, dst, n)?;
            Ok(plan.run_ptr(src.cast(), dst.cast(), n)?)
        })
    }
}

/// Makes a plan. If `options` is NULL, the default options apply. On failure `plan` is not written.
///
/// # Safety
///
/// `plan` and `error` are NULL or can be written; `options` is NULL or can be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_plan_init(
    plan: *mut lanecast_plan,
    from: lanecast_type,
    to: lanecast_type,
    options: *const lanecast_options,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            if plan.is_null() {
                return Err(Failure::Argument(LANECAST_ERR_NULL_POINTER, "the plan is NULL"));
            }
            let made = make(from, to, options)?;
            // C programs copy plans as memory, so the words behind the content must be initialised as well.
            plan.write(lanecast_plan { opaque: [0; 16] });
            plan.cast::<MaybeUninit<Content>>()
                .write(MaybeUninit::new(Content { magic: magic(), plan: made }));
            Ok(())
        })
    }
}

/// Describes what the plan does and why, as `lanecast explain` prints it: lines of UTF-8. As `snprintf`: at most `capacity` bytes are
/// written, the last of them 0, and `*length`, unless it is NULL, becomes the length of the whole text without its end.
///
/// # Safety
///
/// `plan` is NULL or leads to a plan; `text` can be written for `capacity` bytes; `length` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_explain(
    plan: *const lanecast_plan,
    text: *mut c_char,
    capacity: usize,
    length: *mut usize,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let whole = read(plan)?.explain().to_string();
            if capacity > 0 {
                if text.is_null() {
                    return Err(Failure::Argument(
                        LANECAST_ERR_NULL_POINTER,
                        "the place of the text is NULL",
                    ));
                }
                let fitting = cut(&whole, capacity - 1);
                text.cast::<u8>().copy_from_nonoverlapping(fitting.as_ptr(), fitting.len());
                text.add(fitting.len()).write(0);
            }
            put_if_wanted(length, whole.len());
            Ok(())
        })
    }
}
