//! Statuses and messages, and the guard that stops panics at the interface.

use lanecast::scaled::ScaledError;
use lanecast::{CastError, RejectionReason};
use std::ffi::{CStr, c_char};
use std::fmt::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of a call: `LANECAST_OK`, or why it failed.
pub type lanecast_status = i32;

/// Done.
pub const LANECAST_OK: lanecast_status = 0;
/// A pointer is NULL but must not be.
pub const LANECAST_ERR_NULL_POINTER: lanecast_status = 1;
/// A number is not a `lanecast_type`, the function does not accept this type, or an array does not have the type of the plan.
pub const LANECAST_ERR_BAD_TYPE: lanecast_status = 2;
/// An option, level, standard or reserved field has a value that the library does not know, the scale of a tensor is not positive and finite,
/// or the parts of a scheme do not fit each other or the function.
pub const LANECAST_ERR_BAD_OPTION: lanecast_status = 3;
/// The memory does not hold a plan made by this library's `lanecast_plan_init` or `lanecast_scaled_create`.
pub const LANECAST_ERR_BAD_PLAN: lanecast_status = 4;
/// The elements would take more bytes than an address space has.
pub const LANECAST_ERR_TOO_LARGE: lanecast_status = 5;
/// The source and the destination overlap, but not as a cast in place.
pub const LANECAST_ERR_OVERLAP: lanecast_status = 6;
/// A shape or its strides are invalid, shapes differ, the elements of a destination share memory, or a scheme needs an axis that the shape
/// does not have.
pub const LANECAST_ERR_BAD_LAYOUT: lanecast_status = 7;
/// This CPU cannot run the tier.
pub const LANECAST_ERR_NO_TIER: lanecast_status = 8;
/// A checked cast found an element that the target cannot represent, or a scaled cast a NaN or an infinity that it refuses.
pub const LANECAST_ERR_REJECTED: lanecast_status = 9;
/// The standard has no answer for these types.
pub const LANECAST_ERR_NO_PROMOTION: lanecast_status = 10;
/// No dtype, tier, profile or scheme has this name.
pub const LANECAST_ERR_BAD_NAME: lanecast_status = 11;
/// A defect in lanecast. The contents of the destination are unspecified.
pub const LANECAST_ERR_BUG: lanecast_status = 12;
/// No memory for the list of a batch or for a plan. Nothing was written.
pub const LANECAST_ERR_NO_MEMORY: lanecast_status = 13;
/// A tensor is on a device whose memory the CPU cannot address.
pub const LANECAST_ERR_BAD_DEVICE: lanecast_status = 14;
/// A buffer of a scaled cast does not have the bytes of the plan.
pub const LANECAST_ERR_BAD_LENGTH: lanecast_status = 15;

const NAMES: [&CStr; 16] = [
    c"ok",
    c"null pointer",
    c"bad type",
    c"bad option",
    c"bad plan",
    c"too large",
    c"overlap",
    c"bad layout",
    c"no tier",
    c"rejected",
    c"no promotion",
    c"bad name",
    c"bug",
    c"no memory",
    c"bad device",
    c"bad length",
];

/// Bytes of a message, its terminating 0 included; the header repeats the number.
const MESSAGE: usize = 224;

/// Why an element was rejected.
pub type lanecast_reason = u32;
/// There is no reason: no element was rejected, or it was rejected by a scaled cast.
pub const LANECAST_REASON_NONE: lanecast_reason = 0;
/// The element is NaN, which the target does not have.
pub const LANECAST_REASON_NAN: lanecast_reason = 1;
/// The element is out of range.
pub const LANECAST_REASON_OVERFLOW: lanecast_reason = 2;
/// The element is negative, and the target has no sign.
pub const LANECAST_REASON_NEGATIVE: lanecast_reason = 3;
/// The element is zero, which the target does not have.
pub const LANECAST_REASON_NO_ZERO: lanecast_reason = 4;
/// The element has an imaginary part, which the target does not have.
pub const LANECAST_REASON_IMAGINARY: lanecast_reason = 5;
/// The element would become zero.
pub const LANECAST_REASON_UNDERFLOW: lanecast_reason = 6;
/// The element would be rounded.
pub const LANECAST_REASON_INEXACT: lanecast_reason = 7;

/// Why a call failed. It is only written on failure.
#[repr(C)]
pub struct lanecast_error {
    /// The status that the call returned.
    pub status: lanecast_status,
    /// For `LANECAST_ERR_REJECTED` of a plain cast why the element was rejected; otherwise `LANECAST_REASON_NONE`.
    pub reason: lanecast_reason,
    /// For `LANECAST_ERR_REJECTED` the index of the element, in C order, and for a scaled cast that of its block; for a batch the index of the item.
    /// Otherwise 0.
    pub index: u64,
    /// For `LANECAST_ERR_REJECTED` the bits of the element, least significant word first, a complex number's real part lowest. Otherwise, and for
    /// scaled casts, 0.
    pub code: [u64; 2],
    /// What is wrong and what to do: UTF-8, terminated by 0; a message that is too long is cut between characters.
    pub message: [c_char; 224],
}

/// A failure on its way to the caller.
pub(crate) enum Failure {
    /// An error of the library.
    Cast(CastError),
    /// An error of a scaled cast.
    Scaled(ScaledError),
    /// The failure of the batch item with this index.
    Item(usize, Box<Failure>),
    /// An invalid argument, with a message.
    Argument(lanecast_status, &'static str),
    /// An invalid number, which ends the message.
    Number(lanecast_status, &'static str, i64),
    /// A failure with a message made at run time.
    Text(lanecast_status, String),
}

impl From<CastError> for Failure {
    fn from(error: CastError) -> Self {
        Failure::Cast(error)
    }
}

impl From<ScaledError> for Failure {
    fn from(error: ScaledError) -> Self {
        Failure::Scaled(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Cast(error) => error.fmt(f),
            Failure::Scaled(error) => error.fmt(f),
            Failure::Item(index, failure) => write!(f, "item {index}: {failure}"),
            Failure::Argument(_, text) => f.write_str(text),
            Failure::Number(_, text, number) => write!(f, "{text}: {number}"),
            Failure::Text(_, text) => f.write_str(text),
        }
    }
}

fn status_of(error: &CastError) -> lanecast_status {
    match error {
        CastError::Overlap { .. } => LANECAST_ERR_OVERLAP,
        CastError::TooLarge { .. } => LANECAST_ERR_TOO_LARGE,
        CastError::View(_) => LANECAST_ERR_BAD_LAYOUT,
        CastError::Rejected(_) => LANECAST_ERR_REJECTED,
        CastError::NotBuilt { .. } => LANECAST_ERR_BAD_TYPE,
        CastError::UnknownName(_) => LANECAST_ERR_BAD_NAME,
        CastError::Unsupported { .. } => LANECAST_ERR_NO_TIER,
        // The others are about slices, which this crate makes itself.
        _ => LANECAST_ERR_BUG,
    }
}

fn status_of_scaled(error: &ScaledError) -> lanecast_status {
    match error {
        ScaledError::Source { .. } | ScaledError::Target { .. } | ScaledError::Element { .. } => {
            LANECAST_ERR_BAD_TYPE
        }
        ScaledError::Scheme { .. }
        | ScaledError::Number { .. }
        | ScaledError::Global { .. }
        | ScaledError::TwoScales
        | ScaledError::Amax { .. } => LANECAST_ERR_BAD_OPTION,
        ScaledError::Axis { .. } | ScaledError::EmptyBlock | ScaledError::OtherShape => {
            LANECAST_ERR_BAD_LAYOUT
        }
        ScaledError::Shape => LANECAST_ERR_TOO_LARGE,
        ScaledError::Length { .. } => LANECAST_ERR_BAD_LENGTH,
        ScaledError::NonFinite { .. } => LANECAST_ERR_REJECTED,
        ScaledError::Cast(error) => status_of(error),
        _ => LANECAST_ERR_BUG,
    }
}

impl Failure {
    fn status(&self) -> lanecast_status {
        match self {
            Failure::Cast(error) => status_of(error),
            Failure::Scaled(error) => status_of_scaled(error),
            Failure::Item(_, failure) => failure.status(),
            Failure::Argument(status, _) | Failure::Number(status, ..) | Failure::Text(status, _) => *status,
        }
    }

    fn fill(&self, error: &mut lanecast_error) {
        error.status = self.status();
        (error.reason, error.index, error.code) = (LANECAST_REASON_NONE, 0, [0; 2]);
        match self {
            Failure::Cast(CastError::Rejected(rejection)) => {
                error.reason = match rejection.reason {
                    RejectionReason::Nan => LANECAST_REASON_NAN,
                    RejectionReason::Overflow => LANECAST_REASON_OVERFLOW,
                    RejectionReason::Negative => LANECAST_REASON_NEGATIVE,
                    RejectionReason::NoZero => LANECAST_REASON_NO_ZERO,
                    RejectionReason::Imaginary => LANECAST_REASON_IMAGINARY,
                    RejectionReason::Underflow => LANECAST_REASON_UNDERFLOW,
                    RejectionReason::Inexact => LANECAST_REASON_INEXACT,
                    _ => LANECAST_REASON_NONE,
                };
                error.index = rejection.index as u64;
                let code = rejection.value.code();
                error.code = [code as u64, (code >> 64) as u64];
            }
            Failure::Scaled(ScaledError::NonFinite { block }) => error.index = *block as u64,
            Failure::Item(index, _) => error.index = *index as u64,
            _ => {}
        }
        let mut message = Message { error, len: 0 };
        // An error only means that the rest did not fit.
        let _ = write!(message, "{self}");
        message.end();
    }
}

/// As much of a text as takes at most `room` bytes, cut between characters.
pub(crate) fn cut(text: &str, room: usize) -> &str {
    let end = (0..=room.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

/// Writes as much as fits, cut between characters.
struct Message<'a> {
    error: &'a mut lanecast_error,
    len: usize,
}

impl Message<'_> {
    fn end(&mut self) {
        self.error.message[self.len..].fill(0);
    }
}

impl Write for Message<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let fitting = cut(text, MESSAGE - 1 - self.len);
        for (place, byte) in self.error.message[self.len..].iter_mut().zip(fitting.bytes()) {
            *place = byte as c_char;
        }
        self.len += fitting.len();
        // Nothing follows what was cut.
        if fitting.len() < text.len() { Err(fmt::Error) } else { Ok(()) }
    }
}

/// Runs the body of a function; what is wrong with it, a panic included, goes to `error` if that is not null.
///
/// # Safety
///
/// `error` is null or can be written.
pub(crate) unsafe fn guarded(
    error: *mut lanecast_error,
    body: impl FnOnce() -> Result<(), Failure>,
) -> lanecast_status {
    let failure = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return LANECAST_OK,
        Ok(Err(failure)) => failure,
        Err(panic) => {
            // Its destructor may be anybody's code.
            std::mem::forget(panic);
            Failure::Argument(
                LANECAST_ERR_BUG,
                "a defect of lanecast; please report what was called with what",
            )
        }
    };
    if !error.is_null() {
        // SAFETY: the caller's promise. All of it is plain numbers, any of which will do, and memory of C is not known to be uninitialised.
        failure.fill(unsafe { &mut *error });
    }
    failure.status()
}

/// The name of a status, as a static string; NULL if there is no such status.
#[unsafe(no_mangle)]
pub extern "C" fn lanecast_status_name(status: lanecast_status) -> *const c_char {
    let name = usize::try_from(status).ok().and_then(|status| NAMES.get(status));
    name.map_or(std::ptr::null(), |name| name.as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> lanecast_error {
        lanecast_error { status: 0, reason: 9, index: 9, code: [9; 2], message: [1; MESSAGE] }
    }

    fn message(error: &lanecast_error) -> &str {
        // SAFETY: `fill` ends the message with 0.
        unsafe { CStr::from_ptr(error.message.as_ptr()) }.to_str().expect("UTF-8")
    }

    #[test]
    fn no_panic_leaves() {
        let mut error = empty();
        // SAFETY: the place can be written.
        let status = unsafe { guarded(&raw mut error, || panic!("a defect")) };
        assert_eq!((status, error.status, error.index), (LANECAST_ERR_BUG, LANECAST_ERR_BUG, 0));
        assert!(message(&error).contains("report"));
        // SAFETY: null is allowed.
        assert_eq!(unsafe { guarded(std::ptr::null_mut(), || panic!("a defect")) }, LANECAST_ERR_BUG);
    }

    #[test]
    fn long_messages_end_with_a_whole_character() {
        for start in 0..3 {
            let mut error = empty();
            let text = "x".repeat(start) + &"\u{20AC}".repeat(100);
            Failure::Text(LANECAST_ERR_BAD_NAME, text.clone()).fill(&mut error);
            let got = message(&error);
            assert!(text.starts_with(got) && (MESSAGE - 3..MESSAGE).contains(&got.len()), "{}", got.len());
        }
    }
}
