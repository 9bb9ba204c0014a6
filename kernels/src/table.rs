//! The cross product: for each tier, overflow rule, source and target, a kernel.
//!
//! Rules that are not common (`exact::Rules`) are parameters of encode and never multiply the pairs: `Kernel` sends them
//! through `exact`.

use crate::dtype::{COUNT, DType, Spec};

/// One loop over elements in byte storage.
///
/// # Safety
///
/// For a kernel of the pair (S, D) and `n` elements: `src` is readable for `n * S::DTYPE.size()` bytes and `dst` writable for
/// `n * D::DTYPE.size()` bytes, at any alignment; the two do not overlap; the CPU has the tier of the kernel; the
/// floating-point environment is the default.
pub(crate) type KernelFn = unsafe fn(src: *const u8, dst: *mut u8, n: usize);

/// The kernels of one tier.
pub(crate) struct Table {
    /// `[saturate][from][to]`
    pub(crate) kernels: [[[KernelFn; COUNT]; COUNT]; 2],
}

impl Table {
    #[inline]
    pub(crate) const fn get(&self, from: DType, to: DType, saturate: bool) -> KernelFn {
        self.kernels[saturate as usize][from as usize][to as usize]
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

/// Makes `table::<FINE>()`, the table of a tier, from three functions in its file, which calls this on the list: `copy::<S>`,
/// the kernel of a dtype to itself; `direct::<S, D, FINE>(saturate)`, the kernels of pairs that have a better one, and `cast::<S, D, SATURATE>`, the kernel of
/// all others. `FINE` are the finer features that `direct` may use beyond those of the tier, a bit set of the tier's own.
macro_rules! define_table {
    ($($kind:ident ($variant:ident, $format:ty, $code:literal, $name:literal, $spec:expr, [$($alias:literal),*]))*) => {
        const fn kernel<S: Format, D: Format, const FINE: u8>(saturate: bool) -> KernelFn {
            let (from, to) = (<S as Element>::DTYPE, <D as Element>::DTYPE);
            if from as u8 == to as u8 {
                copy::<S>
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
            Table { kernels: [rows::<FINE>(false), rows::<FINE>(true)] }
        }
    };
}
pub(crate) use define_table;
