//! Lists the pairs that no tier casts by instructions that obey the floating-point environment.
//!
//! Reading the environment takes longer than a short cast, so kernels without such instructions are called without reading it. A kernel counts
//! as obedient unless its tier says otherwise, in its file `backend.rs`. `tests/fpenv.rs` of the root crate checks all pairs.

use crate::dtype::{DType, Spec};

/// Whether a dtype has no fraction.
pub(super) const fn is_whole(dtype: DType) -> bool {
    matches!(dtype.spec(), Spec::Bool | Spec::Int { .. })
}

/// The bits of a float or of one part of a complex number; 0 for an integer.
pub(super) const fn parts(dtype: DType) -> u32 {
    match dtype.spec() {
        Spec::Float(f) | Spec::Complex(f) => f.bits(),
        _ => 0,
    }
}

/// Pairs that are cast by integer instructions: elements that are moved, integers to integers, and floats whose bits show whether they are zero.
pub(super) const fn by_integers(from: DType, to: DType) -> bool {
    let moved = match (from, to) {
        (DType::BFloat16, DType::Float32 | DType::Complex64) => true,
        // The parts are the same.
        _ => parts(from) >= 32 && parts(from) == parts(to),
    };
    let tested = matches!(to, DType::Bool) && (parts(from) >= 32 || matches!(from, DType::BFloat16));
    from as u8 == to as u8 || is_whole(from) && is_whole(to) || moved || tested
}

/// Integers of up to 16 bits to float32 or to complex numbers of float32, where one exact instruction converts them. A sum or difference would
/// not do, even an exact one: the sign of a zero depends on the rounding direction.
pub(super) const fn exact_to_float32(from: DType, to: DType) -> bool {
    matches!(from.spec(), Spec::Bool | Spec::Int { bits: ..=16, .. }) && parts(to) == 32
}
