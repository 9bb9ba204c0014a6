//! Operands: elements in memory, of any layout.

use crate::error::{
    Failure, LANECAST_ERR_BAD_LAYOUT, LANECAST_ERR_BAD_OPTION, LANECAST_ERR_BAD_TYPE,
    LANECAST_ERR_NULL_POINTER, LANECAST_ERR_OVERLAP,
};
use crate::memory::overlap;
use crate::types::{buffer, lanecast_type};
use lanecast::strided::{Layout, MAX_AXES, View, ViewMut};
use lanecast::{Bytes, BytesMut, CastError, CastPlan, Encoding, InPlace, Source, Storage, Target};
use std::ffi::c_void;
use std::slice;

/// Elements in memory: `n` that follow each other, or an array of any shape and strides. Fields that are not needed are zero, so that
/// `(lanecast_array){.data = x, .n = 4, .type = LANECAST_FLOAT32}` is a whole one.
#[repr(C)]
pub struct lanecast_array {
    /// The first element, whose indices are all 0. Nothing is written to a source.
    pub data: *mut c_void,
    /// Elements, if `ndim` is 0; a scalar has 1. With a shape this field is ignored.
    pub n: usize,
    /// What the elements are, as the plan has it.
    pub r#type: lanecast_type,
    /// Axes of the shape, or 0 if there is no shape. There can be 64, without the axes of length 1; in scaled casts all count.
    pub ndim: i32,
    /// Elements along each axis.
    pub shape: *const i64,
    /// Bytes from one element to the next along each axis; they may be negative, and 0 in a source. NULL if the elements follow each
    /// other in C order. Packed elements share bytes along the last axis, whose stride is 1; each row begins at a whole byte.
    pub strides: *const i64,
    /// Zero.
    pub reserved: [u64; 2],
}

fn bad(text: &'static str, number: i64) -> Failure {
    Failure::Number(LANECAST_ERR_BAD_LAYOUT, text, number)
}

/// Which axes of an array its layout has.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Axes {
    /// All of them, for casts that count axes.
    All,
    /// Axes of other lengths than 1, so that they are few.
    Long,
    /// The same and the last one, along which packed elements share bytes whatever its length.
    LongAndLast,
}

impl lanecast_array {
    /// Whether the fields are valid for elements of this encoding.
    fn check(&self, encoding: Encoding) -> Result<(), Failure> {
        if self.reserved != [0; 2] {
            let text = "lanecast_array.reserved is not zero; the header is newer than the library";
            return Err(Failure::Argument(LANECAST_ERR_BAD_OPTION, text));
        }
        let given = buffer(self.r#type)?;
        if given != encoding {
            let text = format!("lanecast_array.type is {given}, but the plan has {encoding} on this side");
            return Err(Failure::Text(LANECAST_ERR_BAD_TYPE, text));
        }
        if self.ndim < 0 {
            return Err(bad("a negative number of axes", i64::from(self.ndim)));
        }
        if self.ndim > 0 && self.shape.is_null() {
            return Err(Failure::Argument(LANECAST_ERR_NULL_POINTER, "lanecast_array.shape is NULL"));
        }
        if self.ndim == 0 && (encoding.byte_len(self.n).is_none() || i64::try_from(self.n).is_err()) {
            return Err(CastError::TooLarge { elements: self.n, encoding }.into());
        }
        Ok(())
    }

    /// The shape of an array that was checked. Without axes, `flat` becomes the length of the only one.
    ///
    /// # Safety
    ///
    /// The shape can be read for the axes.
    unsafe fn shape<'a>(&self, flat: &'a mut [i64; 1]) -> &'a [i64] {
        *flat = [self.n as i64];
        match self.ndim {
            0 => flat,
            // SAFETY: the caller's array, which has a number for each axis.
            axes => unsafe { slice::from_raw_parts(self.shape, axes as usize) },
        }
    }

    /// The layout of the array, whose elements have this encoding.
    ///
    /// # Safety
    ///
    /// The shape, and the strides unless they are NULL, can be read for the axes.
    pub(crate) unsafe fn layout(&self, encoding: Encoding, which: Axes) -> Result<Layout, Failure> {
        self.check(encoding)?;
        let mut flat = [0];
        // SAFETY: the caller's promise.
        let shape = unsafe { self.shape(&mut flat) };
        let has_strides = self.ndim > 0 && !self.strides.is_null();
        // SAFETY: as above.
        let strides = has_strides.then(|| unsafe { slice::from_raw_parts(self.strides, shape.len()) });
        let (mut lengths, mut steps) = ([0_usize; MAX_AXES], [0_isize; MAX_AXES]);
        let mut kept = 0;
        for (axis, len) in shape.iter().enumerate() {
            let length =
                usize::try_from(*len).map_err(|_| bad("a negative or too large length in a shape", *len))?;
            let shares_bytes = axis + 1 == shape.len() && which == Axes::LongAndLast;
            if length == 1 && !shares_bytes && which != Axes::All {
                continue;
            }
            if kept == MAX_AXES {
                let text = match which {
                    Axes::All => "an array of a scaled cast may have 64 axes; number of axes",
                    _ => "an array may have 64 axes of other lengths than 1; number of axes",
                };
                return Err(bad(text, shape.len() as i64));
            }
            lengths[kept] = length;
            if let Some(strides) = strides.filter(|_| length != 1 || encoding.storage() == Storage::Packed) {
                steps[kept] =
                    isize::try_from(strides[axis]).map_err(|_| bad("too large a stride", strides[axis]))?;
            }
            kept += 1;
        }
        let layout = match strides {
            Some(_) => Layout::new(encoding, &lengths[..kept], &steps[..kept]),
            None => Layout::contiguous(encoding, &lengths[..kept]),
        };
        let layout = layout.map_err(CastError::View)?;
        if self.data.is_null() && layout.elements() > 0 {
            return Err(Failure::Argument(LANECAST_ERR_NULL_POINTER, "lanecast_array.data is NULL"));
        }
        Ok(layout)
    }
}

/// The operands of a cast.
#[expect(clippy::large_enum_variant, reason = "it lives for a call, and nothing may be allocated")]
pub(crate) enum Operands<'a> {
    /// This number of elements, one after the other.
    Flat(Source<'a>, Target<'a>, usize),
    /// Arrays of one shape.
    Views(View<'a>, ViewMut<'a>),
}

impl<'a> Operands<'a> {
    /// `n` elements at two addresses, or at one, where they are cast in place.
    ///
    /// # Safety
    ///
    /// As for `lanecast_run`, except for the plan. What is in the memory comes from C, so nothing says that it is not initialised.
    pub(crate) unsafe fn flat(
        plan: &CastPlan,
        src: *const c_void,
        dst: *mut c_void,
        n: usize,
    ) -> Result<Operands<'a>, Failure> {
        let bytes =
            |side: Encoding| side.byte_len(n).ok_or(CastError::TooLarge { elements: n, encoding: side });
        let (read, written) = (bytes(plan.source())?, bytes(plan.target())?);
        not_null(src, dst, n)?;
        if n > 0 && src.addr() == dst.addr() {
            // SAFETY: the caller's memory has room for both sides.
            let bytes = unsafe { BytesMut::from_raw(dst.cast(), read.max(written), n) };
            return Ok(Operands::Flat(InPlace.into(), bytes.into(), n));
        }
        if overlap(src.addr(), read, dst.addr(), written) {
            let text = "the source and the destination share bytes but do not begin at the same address";
            return Err(Failure::Argument(LANECAST_ERR_OVERLAP, text));
        }
        // SAFETY: the caller's memory, which was just found to be apart.
        let (src, dst) =
            unsafe { (Bytes::from_raw(src.cast(), read, n), BytesMut::from_raw(dst.cast(), written, n)) };
        Ok(Operands::Flat(src.into(), dst.into(), n))
    }

    /// Two arrays.
    ///
    /// # Safety
    ///
    /// As for `lanecast_run_array`.
    pub(crate) unsafe fn arrays(
        plan: &CastPlan,
        src: *const lanecast_array,
        dst: *const lanecast_array,
    ) -> Result<Operands<'a>, Failure> {
        // SAFETY: the pointers are as the caller promises.
        let (Some(src), Some(dst)) = (unsafe { (src.as_ref(), dst.as_ref()) }) else {
            return Err(Failure::Argument(LANECAST_ERR_NULL_POINTER, "an array is NULL"));
        };
        let (from, to) = (plan.source(), plan.target());
        src.check(from)?;
        dst.check(to)?;
        let mut flat = ([0], [0]);
        // SAFETY: as above.
        same_shape(unsafe { src.shape(&mut flat.0) }, unsafe { dst.shape(&mut flat.1) })?;
        if src.ndim == 0 && dst.ndim == 0 {
            // SAFETY: as above.
            return unsafe { Self::flat(plan, src.data, dst.data, src.n) };
        }
        let packed = [from, to].iter().any(|encoding| encoding.storage() == Storage::Packed);
        let which = if packed { Axes::LongAndLast } else { Axes::Long };
        // SAFETY: as above; the elements of both are the caller's memory.
        unsafe {
            let (from, to) = (src.layout(from, which)?, dst.layout(to, which)?);
            let to = ViewMut::from_raw(dst.data.cast(), to).map_err(CastError::View)?;
            Ok(Operands::Views(View::from_raw(src.data.cast_const().cast(), from), to))
        }
    }

    /// How many elements there are.
    pub(crate) fn elements(&self) -> usize {
        match self {
            Operands::Flat(_, _, n) => *n,
            Operands::Views(src, _) => src.layout().elements(),
        }
    }

    /// Gives them to a run.
    pub(crate) fn run<T>(
        self,
        run: impl FnOnce(Source<'_>, Target<'_>) -> Result<T, CastError>,
    ) -> Result<T, Failure> {
        Ok(match self {
            Operands::Flat(src, dst, _) => run(src, dst),
            Operands::Views(src, mut dst) => run((&src).into(), (&mut dst).into()),
        }?)
    }
}

/// Whether the addresses of elements lead to memory.
#[inline]
pub(crate) fn not_null(src: *const c_void, dst: *const c_void, n: usize) -> Result<(), Failure> {
    match (n, src.is_null(), dst.is_null()) {
        (0, ..) | (_, false, false) => Ok(()),
        (_, true, _) => Err(Failure::Argument(LANECAST_ERR_NULL_POINTER, "the source is NULL")),
        (_, _, true) => Err(Failure::Argument(LANECAST_ERR_NULL_POINTER, "the destination is NULL")),
    }
}

fn same_shape(src: &[i64], dst: &[i64]) -> Result<(), Failure> {
    let text = if src.len() != dst.len() {
        format!("the source has {} axes but the destination {}", src.len(), dst.len())
    } else if let Some(axis) = (0..src.len()).find(|axis| src[*axis] != dst[*axis]) {
        let (from, to) = (src[axis], dst[axis]);
        format!("axis {axis} has {from} elements in the source but {to} in the destination")
    } else {
        return Ok(());
    };
    Err(Failure::Text(LANECAST_ERR_BAD_LAYOUT, text + "; make the shapes equal"))
}
