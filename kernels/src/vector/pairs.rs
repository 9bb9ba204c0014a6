//! Properties of pairs that select their kernels.

use crate::dtype::{DType, Spec};

/// Whether the kernel of a pair copies.
pub(crate) const fn is_copy(from: DType, to: DType, saturate: bool) -> bool {
    from as u8 == to as u8 || same_bits(from, to, saturate) || same_truth(from, to)
}

/// Whether a target has a separate kernel for each overflow rule.
pub(crate) const fn has_overflow_rule(to: DType) -> bool {
    match to.spec() {
        Spec::Int { .. } => true,
        Spec::Float(f) => f.bits() == 8,
        Spec::Bool | Spec::Complex(_) => false,
    }
}

/// Whether the target contains all values of the source, which are integers.
pub(crate) const fn has_all_values(from: DType, to: DType) -> bool {
    match (from.spec(), to.spec()) {
        (Spec::Bool, Spec::Int { .. }) => true,
        (Spec::Int { bits: from, signed: false }, Spec::Int { bits, signed }) => bits >= from + signed as u32,
        (Spec::Int { bits: from, signed: true }, Spec::Int { bits, signed }) => signed && bits >= from,
        _ => false,
    }
}

/// Whether a cast between integers changes no bit.
pub(crate) const fn same_bits(from: DType, to: DType, saturate: bool) -> bool {
    let ints = matches!((from.spec(), to.spec()), (Spec::Int { bits: 8.., .. }, Spec::Int { bits: 8.., .. }));
    ints && from.bits() == to.bits() && !saturate
}

/// Whether every byte but 0 becomes 1, as when bool is copied.
pub(crate) const fn same_truth(from: DType, to: DType) -> bool {
    const fn byte(dtype: DType) -> bool {
        matches!(dtype, DType::Bool | DType::Int8 | DType::UInt8)
    }
    byte(from) && byte(to) && (matches!(from, DType::Bool) || matches!(to, DType::Bool))
}
