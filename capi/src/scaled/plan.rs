//! Plans of scaled casts, which the library owns.

use super::scheme::{NON_FINITE, global, lanecast_scaled_scheme, named};
use super::values::{lanecast_non_finite, lanecast_storage};
use crate::error::{
    Failure, LANECAST_ERR_BAD_LAYOUT, LANECAST_ERR_BAD_OPTION, LANECAST_ERR_BAD_PLAN, LANECAST_ERR_NO_MEMORY,
    LANECAST_ERR_NULL_POINTER, guarded, lanecast_error, lanecast_status,
};
use crate::options::pick;
use crate::plan;
use crate::types::{LANECAST_TYPE_PACKED, buffer, dtype, lanecast_type, number, put};
use lanecast::scaled::{ScaledError, ScaledPlan, Scheme};
use lanecast::stochastic::{RandomBits, Stochastic};
use lanecast::{Encoding, Storage};
use std::alloc::{Layout, alloc};
use std::ffi::c_char;
use std::ptr;

/// A scaled cast of tensors of one type and shape, made by `lanecast_scaled_create` or `lanecast_scaled_create_from`. It may be shared between
/// threads.
pub struct lanecast_scaled_plan(());

/// What is behind the pointer to a plan.
#[repr(C)]
struct Content {
    magic: u64,
    plan: ScaledPlan,
}

const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<Content>();
};

/// The first word of a plan. It differs from the first word of a plain cast's plan.
fn magic() -> u64 {
    !plan::magic()
}

/// What a scheme leaves open. All zero is the default; a NULL pointer means the same.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct lanecast_scaled_options {
    /// The dtype of the codes, without flags; 0 means the dtype of the scheme.
    pub element: lanecast_type,
    /// How codes of less than 8 bits are stored.
    pub storage: lanecast_storage,
    /// Blocks with a NaN or an infinity; by default as the scheme says.
    pub non_finite: lanecast_non_finite,
    /// 1 counts the elements that are clipped or underflow, in the report, which takes a few percent more time; 0 does not.
    pub counts: u8,
    /// 1 sums the squared differences between elements and what their codes stand for, in the report; 0 does not.
    pub squared_error: u8,
    /// With `random_bits`: the key of the random numbers.
    pub seed: u64,
    /// With `random_bits`: selects a stream of random numbers, so that another tensor or step can have another one.
    pub stream: u64,
    /// With `random_bits`: the index of the first element, if the tensor is a part of another one.
    pub first_element: u64,
    /// 0 rounds to the nearest code; 8, 16 or 32 round stochastically, with that many random bits for each element.
    pub random_bits: u8,
    /// Zero.
    pub reserved_bytes: [u8; 3],
    /// The scale of the tensor beside the scales of blocks, if it is known beforehand; 0 finds it from the elements. Only of schemes that have
    /// one.
    pub global: f32,
    /// Zero.
    pub reserved: [u8; 24],
}

/// By the number of [`lanecast_scaled_options::storage`].
const STORAGE: &[Storage] = &[Storage::Packed, Storage::Packed, Storage::Byte];

/// What the buffers of a scaled cast hold.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lanecast_scaled_info {
    /// Elements of the tensor.
    pub elements: usize,
    /// Bytes of the source, if it is in C order and without gaps.
    pub source_len: usize,
    /// Bytes of the codes.
    pub data_len: usize,
    /// Scales: one for each block, in C order.
    pub scales: usize,
    /// Bytes of the scales.
    pub scales_len: usize,
    /// The type of the codes.
    pub data_type: lanecast_type,
    /// The type of the scales, which are in the byte order of the host.
    pub scale_type: lanecast_type,
    /// How the scale of the tensor acts: a `lanecast_global`.
    pub global: u32,
    /// Bytes of the zero points, one for each scale, stored as the codes are; 0 if the scheme has none.
    pub zeros_len: usize,
    /// Zero.
    pub reserved: [u64; 3],
}

/// The plan behind a pointer of C.
///
/// # Safety
///
/// `plan` is null, or a word can be read there; a plan was not destroyed.
unsafe fn content<'a>(plan: *const lanecast_scaled_plan) -> Result<&'a Content, Failure> {
    if plan.is_null() {
        return Err(Failure::Argument(LANECAST_ERR_NULL_POINTER, "the plan is NULL"));
    }
    // SAFETY: the caller's promise.
    if unsafe { plan.cast::<u64>().read_unaligned() } != magic() {
        let text = "the memory holds no scaled plan of this library: call lanecast_scaled_create first";
        return Err(Failure::Argument(LANECAST_ERR_BAD_PLAN, text));
    }
    // SAFETY: only `lanecast_scaled_create` writes the number, in front of a plan.
    Ok(unsafe { &*plan.cast::<Content>() })
}

/// The plan of the library.
///
/// # Safety
///
/// As for [`content`].
pub(super) unsafe fn read<'a>(plan: *const lanecast_scaled_plan) -> Result<&'a ScaledPlan, Failure> {
    // SAFETY: the caller's promise.
    Ok(unsafe { &content(plan)?.plan })
}

impl lanecast_scaled_options {
    /// The plan of a scheme under these options.
    fn plan(&self, mut scheme: Scheme, from: Encoding, shape: &[usize]) -> Result<ScaledPlan, Failure> {
        if self.reserved_bytes != [0; 3] || self.reserved != [0; 24] {
            let text = "lanecast_scaled_options.reserved is not zero; the header is newer than the library";
            return Err(Failure::Argument(LANECAST_ERR_BAD_OPTION, text));
        }
        if self.element != 0 {
            scheme = scheme.with_element(dtype(self.element)?);
        }
        if let Some(how) = pick("lanecast_scaled_options.non_finite", self.non_finite, NON_FINITE)? {
            scheme = scheme.with_non_finite(how);
        }
        let storage = pick("lanecast_scaled_options.storage", self.storage, STORAGE)?;
        let counts = pick("lanecast_scaled_options.counts", self.counts, &[false, true])?;
        let squared_error =
            pick("lanecast_scaled_options.squared_error", self.squared_error, &[false, true])?;
        let bits = match self.random_bits {
            0 => None,
            8 => Some(RandomBits::Eight),
            16 => Some(RandomBits::Sixteen),
            32 => Some(RandomBits::ThirtyTwo),
            other => {
                let text = "lanecast_scaled_options.random_bits is 0, 8, 16 or 32, not";
                return Err(Failure::Number(LANECAST_ERR_BAD_OPTION, text, i64::from(other)));
            }
        };
        let mut plan = ScaledPlan::new(from, &scheme, shape)?.with_storage(storage);
        if counts {
            plan = plan.with_counts();
        }
        if squared_error {
            plan = plan.with_squared_error();
        }
        if let Some(bits) = bits {
            let Self { seed, stream, first_element, .. } = *self;
            plan = plan.with_stochastic(Stochastic { seed, stream, bits, first: first_element });
        }
        if self.global != 0.0 {
            plan = plan.with_global(self.global)?;
        }
        Ok(plan)
    }
}

/// The lengths of axes.
///
/// # Safety
///
/// `shape` is null or can be read for `ndim` numbers.
unsafe fn lengths(shape: *const i64, ndim: i32) -> Result<Vec<usize>, Failure> {
    let bad = |text, number| Failure::Number(LANECAST_ERR_BAD_LAYOUT, text, number);
    let axes = usize::try_from(ndim).map_err(|_| bad("a negative number of axes", i64::from(ndim)))?;
    if axes > 0 && shape.is_null() {
        return Err(Failure::Argument(LANECAST_ERR_NULL_POINTER, "the shape is NULL"));
    }
    let mut lengths = Vec::new();
    if lengths.try_reserve_exact(axes).is_err() {
        return Err(Failure::Argument(LANECAST_ERR_NO_MEMORY, "no memory for the shape"));
    }
    for axis in 0..axes {
        // SAFETY: the caller's array, which has a number for each axis.
        let length = unsafe { *shape.add(axis) };
        let bad = |_| bad("a negative or too large length in the shape", length);
        lengths.push(usize::try_from(length).map_err(bad)?);
    }
    Ok(lengths)
}

/// Makes a plan by a scheme.
///
/// # Safety
///
/// As for [`lanecast_scaled_create`], and for `scheme` as it says itself.
unsafe fn create(
    plan: *mut *mut lanecast_scaled_plan,
    scheme: impl FnOnce() -> Result<Scheme, Failure>,
    from: lanecast_type,
    (shape, ndim): (*const i64, i32),
    options: *const lanecast_scaled_options,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            if plan.is_null() {
                return Err(Failure::Argument(LANECAST_ERR_NULL_POINTER, "the place of the plan is NULL"));
            }
            let (scheme, source) = (scheme()?, buffer(from)?);
            let options = options.as_ref().copied().unwrap_or_default();
            let made = options.plan(scheme, source, &lengths(shape, ndim)?)?;
            let place = alloc(Layout::new::<Content>()).cast::<Content>();
            if place.is_null() {
                return Err(Failure::Argument(LANECAST_ERR_NO_MEMORY, "no memory for the plan"));
            }
            place.write(Content { magic: magic(), plan: made });
            plan.write(place.cast());
            Ok(())
        })
    }
}

/// Makes a plan for scaled casts by the scheme of this name: between tensors of the type `from` (float16, bfloat16 or float32, in either byte
/// order) and of this shape, and their codes and scales. Tensors are in C order and without gaps, unless they are given as a `lanecast_array`. If
/// `options` is NULL, the default options apply. On failure `*plan` is not written. `lanecast_scaled_destroy` frees the plan.
///
/// # Safety
///
/// `plan` and `error` are NULL or can be written; `scheme` is NULL or a string that ends with 0; `shape` is NULL or has `ndim` numbers;
/// `options` is NULL or can be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_scaled_create(
    plan: *mut *mut lanecast_scaled_plan,
    scheme: *const c_char,
    from: lanecast_type,
    shape: *const i64,
    ndim: i32,
    options: *const lanecast_scaled_options,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe { create(plan, || named(scheme), from, (shape, ndim), options, error) }
}

/// As `lanecast_scaled_create`, by a scheme of the caller, which is not needed afterwards.
///
/// # Safety
///
/// As for `lanecast_scaled_create`; `scheme` is NULL or can be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_scaled_create_from(
    plan: *mut *mut lanecast_scaled_plan,
    scheme: *const lanecast_scaled_scheme,
    from: lanecast_type,
    shape: *const i64,
    ndim: i32,
    options: *const lanecast_scaled_options,
    error: *mut lanecast_error,
) -> lanecast_status {
    let null = Failure::Argument(LANECAST_ERR_NULL_POINTER, "the scheme is NULL");
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        let scheme = || scheme.as_ref().ok_or(null)?.read();
        create(plan, scheme, from, (shape, ndim), options, error)
    }
}

/// Frees a plan. NULL is allowed.
///
/// # Safety
///
/// `plan` is NULL or a plan of `lanecast_scaled_create`, which no other call uses now or later.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_scaled_destroy(plan: *mut lanecast_scaled_plan) -> lanecast_status {
    // SAFETY: the pointer is as the caller promises.
    unsafe {
        guarded(ptr::null_mut(), || {
            if plan.is_null() {
                return Ok(());
            }
            content(plan)?;
            let place = plan.cast::<Content>();
            // A pointer that is used again is noticed, as long as nobody else has the memory.
            (&raw mut (*place).magic).write_volatile(0);
            // `lanecast_scaled_create` allocated the memory with the layout that a box has.
            drop(Box::from_raw(place));
            Ok(())
        })
    }
}

/// The bytes and the types of the buffers of a plan.
///
/// # Safety
///
/// `plan` is NULL or a plan; `out` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_scaled_describe(
    plan: *const lanecast_scaled_plan,
    out: *mut lanecast_scaled_info,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let Content { plan, .. } = content(plan)?;
            let data = plan.data_encoding();
            let packed = data.dtype().is_sub_byte() && data.storage() == Storage::Packed;
            let info = lanecast_scaled_info {
                elements: plan.elements(),
                source_len: plan.source().byte_len(plan.elements()).ok_or(ScaledError::Shape)?,
                data_len: plan.data_len(),
                scales: plan.scales(),
                scales_len: plan.scales_len(),
                data_type: number(data.dtype()) | if packed { LANECAST_TYPE_PACKED } else { 0 },
                scale_type: number(plan.scale_encoding().dtype()),
                global: u32::from(global(plan.scheme().scale)),
                zeros_len: plan.zero_points_len(),
                reserved: [0; 3],
            };
            put(out, info)
        })
    }
}
