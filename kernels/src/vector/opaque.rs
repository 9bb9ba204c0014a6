//! Calls that the compiler does not move.

use super::kernel::KernelFn;

/// A pointer to a function whose arithmetic must stay between the two writes of the control register.
#[allow(dead_code, reason = "some targets hide pointers without assembly")]
pub(crate) trait Function: Copy {
    fn pointer(self) -> *const ();
    /// # Safety
    ///
    /// The pointer points to a function of this type.
    unsafe fn from_pointer(pointer: *const ()) -> Self;
}

macro_rules! functions {
    ($($function:ty),*) => {$(
        impl $crate::vector::opaque::Function for $function {
            #[inline(always)]
            fn pointer(self) -> *const () {
                self as *const ()
            }
            #[inline(always)]
            unsafe fn from_pointer(pointer: *const ()) -> Self {
                // SAFETY: the caller's promise; function pointers have the same size as other pointers on all targets.
                unsafe { core::mem::transmute::<*const (), Self>(pointer) }
            }
        }
    )*};
}
pub(crate) use functions;

functions!(KernelFn);

impl<A: ?Sized, B: ?Sized, R> Function for fn(&A, &mut B) -> R {
    #[inline(always)]
    fn pointer(self) -> *const () {
        self as *const ()
    }
    #[inline(always)]
    unsafe fn from_pointer(pointer: *const ()) -> Self {
        // SAFETY: the caller's promise; function pointers have the same size as other pointers on all targets.
        unsafe { core::mem::transmute::<*const (), Self>(pointer) }
    }
}

/// The same function, hidden from the compiler.
#[inline(always)]
pub(crate) fn opaque<F: Function>(function: F) -> F {
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"), not(miri)))]
    {
        let mut pointer = function.pointer();
        // SAFETY: there are no instructions; the pointer is unchanged.
        unsafe { core::arch::asm!("/* {} */", inout(reg) pointer, options(nostack, preserves_flags)) };
        // SAFETY: it is the pointer to `function`.
        unsafe { F::from_pointer(pointer) }
    }
    #[cfg(not(all(
        any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"),
        not(miri)
    )))]
    core::hint::black_box(function)
}
