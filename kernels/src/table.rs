//! The cross product: for each tier, overflow rule, source and target, a kernel.
//!
//! Rules that are not common (`exact::Rules`) are parameters of encode and never multiply the pairs: `Kernel` sends them
//! through `exact`.

use crate::{
    data::{Data, Direction},
    dtype::{COUNT, DType, Spec},
    storage::BufferType,
};

/// One loop over elements in byte storage.
///
/// # Safety
///
/// For a kernel of the pair (S, D) and `n` elements: `src` is readable for `n * S::DTYPE.size()` bytes and `dst` writable for
/// `n * D::DTYPE.size()` bytes, at any alignment; the two do not overlap; the CPU has the tier of the kernel; the
/// floating-point environment is the default, or differs from it in the direction that the kernel was chosen for; `data` is that
/// of the target under the rules of the cast.
pub(crate) type KernelFn = unsafe fn(src: *const u8, dst: *mut u8, n: usize, data: &Data);

/// A kernel for rules that are not common, and the direction in which it has to run.
#[derive(Clone, Copy)]
pub(crate) struct Rounded {
    pub(crate) run: KernelFn,
    pub(crate) direction: Direction,
    /// The second of two steps.
    pub(crate) second: Option<KernelFn>,
}

/// The kernel of a pair, or those of its two steps.
#[derive(Clone, Copy)]
pub(crate) struct Steps {
    pub(crate) first: KernelFn,
    pub(crate) second: Option<KernelFn>,
}

/// The kernels of one tier.
pub(crate) struct Table {
    /// `[saturate][from][to]`
    pub(crate) kernels: [[[KernelFn; COUNT]; COUNT]; 2],
    /// Those with a packed side, if the tier has any.
    pub(crate) packed: Option<&'static PackedTable>,
}

/// The kernels of a tier that read or write packed storage themselves. Pairs that have none are cast in byte storage and
/// unpacked or packed block by block.
pub(crate) struct PackedTable {
    /// `[which side is packed][saturate][from][to]`
    pub(crate) kernels: [[[[Option<KernelFn>; COUNT]; COUNT]; 2]; 3],
}

/// The sides that are packed, as bits: at least one of them.
pub(crate) const PACKED_FROM: u8 = 1;
pub(crate) const PACKED_TO: u8 = 2;

impl Table {
    #[inline]
    pub(crate) const fn get(&self, from: DType, to: DType, saturate: bool) -> KernelFn {
        self.kernels[saturate as usize][from as usize][to as usize]
    }

    /// The kernel of a pair with a packed side, if it has one.
    #[inline]
    pub(crate) fn get_packed(&self, from: BufferType, to: BufferType, saturate: bool) -> Option<KernelFn> {
        let sides =
            from.is_packed() as usize * PACKED_FROM as usize + to.is_packed() as usize * PACKED_TO as usize;
        self.packed?.kernels[sides.checked_sub(1)?][saturate as usize][from.dtype() as usize]
            [to.dtype() as usize]
    }
}

/// Whether a target has a kernel for each answer to overflow.
pub(crate) const fn has_overflow_rule(to: DType) -> bool {
    match to.spec() {
        Spec::Int { .. } => true,
        Spec::Float(f) => f.bits() == 8,
        Spec::Bool | Spec::Complex(_) => false,
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

/// Makes `table::<FINE>()`, the table of a tier, from three functions in its file, which calls this on the list: `copy::<S>`,
/// the kernel of a dtype to itself; `direct::<S, D, FINE>(saturate)`, the kernels of pairs that have a better one, and `cast::<S, D, SATURATE>`, the kernel of
/// all others. `FINE` are the finer features that `direct` may use beyond those of the tier, a bit set of the tier's own.
macro_rules! define_table {
    ($($kind:ident ($variant:ident, $format:ty, $code:literal, $name:literal, $spec:expr, [$($alias:literal),*]))*) => {
        const fn kernel<S: Format, D: Format, const FINE: u8>(saturate: bool) -> KernelFn {
            let (from, to) = (<S as Element>::DTYPE, <D as Element>::DTYPE);
            if from as u8 == to as u8 || same_bits(from, to, saturate) {
                copy::<S>
            } else if same_truth(from, to) {
                copy::<bool>
            } else if let Some(kernel) = direct::<S, D, FINE>(saturate) {
                kernel
            } else if saturate || !has_overflow_rule(to) {
                cast::<S, D, true>
            } else {
                cast::<S, D::Wrapping, false>
            }
        }
        const fn row<S: Format, const FINE: u8>(saturate: bool) -> [KernelFn; COUNT] {
            [$(kernel::<S, $format, FINE>(saturate)),*]
        }
        const fn rows<const FINE: u8>(saturate: bool) -> [[KernelFn; COUNT]; COUNT] {
            [$(row::<$format, FINE>(saturate)),*]
        }
        const fn table<const FINE: u8>() -> Table {
            Table { kernels: [rows::<FINE>(false), rows::<FINE>(true)], packed: None }
        }
    };
}
pub(crate) use define_table;

/// Makes `packed_table::<FINE>()` from the tier's `packed::<S, D, FINE, SIDES>(saturate)`, the kernels of pairs of which the
/// `SIDES` are packed.
macro_rules! define_packed_table {
    ($($kind:ident ($variant:ident, $format:ty, $code:literal, $name:literal, $spec:expr, [$($alias:literal),*]))*) => {
        const fn packed_kernel<S: Format, D: Format, const FINE: u8, const SIDES: u8>(
            saturate: bool,
        ) -> Option<KernelFn> {
            let (from, to) = (<S as Element>::DTYPE, <D as Element>::DTYPE);
            let packable = (SIDES & PACKED_FROM == 0 || from.is_sub_byte()) && (SIDES & PACKED_TO == 0 || to.is_sub_byte());
            if packable && (from as u8 != to as u8 || SIDES != PACKED_FROM | PACKED_TO) {
                packed::<S, D, FINE, SIDES>(saturate || !has_overflow_rule(to))
            } else {
                None
            }
        }
        const fn packed_row<S: Format, const FINE: u8, const SIDES: u8>(saturate: bool) -> [Option<KernelFn>; COUNT] {
            [$(packed_kernel::<S, $format, FINE, SIDES>(saturate)),*]
        }
        const fn packed_rows<const FINE: u8, const SIDES: u8>() -> [[[Option<KernelFn>; COUNT]; COUNT]; 2] {
            [[$(packed_row::<$format, FINE, SIDES>(false)),*], [$(packed_row::<$format, FINE, SIDES>(true)),*]]
        }
        const fn packed_table<const FINE: u8>() -> PackedTable {
            PackedTable {
                kernels: [
                    packed_rows::<FINE, PACKED_FROM>(),
                    packed_rows::<FINE, PACKED_TO>(),
                    packed_rows::<FINE, { PACKED_FROM | PACKED_TO }>(),
                ],
            }
        }
    };
}
pub(crate) use define_packed_table;
