//! Casts leave the upper halves of the vector registers clean. Otherwise, SSE instructions of the caller may take 100 ns more.
//!
//! The compiler cleans them at the end of most functions. Which ones it misses depends on its optimisations, so run this test in a release
//! build too.

#![cfg(all(target_arch = "x86_64", not(miri)))]

#[path = "../../../tests/support/every_tier.rs"]
mod every_tier;

use every_tier::on_every_tier;
use lanecast::{ByteOrder, Bytes, BytesMut, CastOptions, CastPlan, DType, Encoding, FloatRound};
use std::arch::{asm, x86_64::__cpuid_count};

const LENGTHS: [usize; 6] = [1, 5, 8, 32, 70, 300];

/// The upper halves of the registers of AVX, and those of AVX-512, in the list of the state in use.
const UPPER: u32 = 1 << 2 | 1 << 6;

/// Whether the CPU tells which state is in use: the operating system saves state with XSAVE, and XGETBV knows register 1.
fn is_told() -> bool {
    #[allow(unused_unsafe, reason = "safe in newer versions of Rust")]
    // SAFETY: every CPU of 64 bits has the instruction.
    let (features, states) = unsafe { (__cpuid_count(1, 0), __cpuid_count(0xD, 1)) };
    features.ecx >> 27 & 1 == 1 && states.eax >> 2 & 1 == 1
}

/// The state in use. [`is_told`] holds.
fn in_use() -> u32 {
    let (low, _high): (u32, u32);
    // SAFETY: the CPU has the instruction and the register.
    unsafe { asm!("xgetbv", in("ecx") 1, out("eax") low, out("edx") _high, options(nomem, nostack)) };
    low
}

/// Every dtype in its storages, and with its bytes swapped.
fn buffers() -> impl Iterator<Item = Encoding> {
    DType::ALL.iter().flat_map(|dtype| {
        let packed = (dtype.bits() < 8).then(|| Encoding::packed(*dtype));
        let swapped = (dtype.size() > 1).then(|| Encoding::new(*dtype).with_order(ByteOrder::Big));
        [Some(Encoding::new(*dtype)), packed, swapped].into_iter().flatten()
    })
}

#[test]
fn casts_leave_them_clean() {
    if !is_told() {
        return println!("SKIPPED: upper halves of registers: the CPU does not tell which state is in use");
    }
    if std::is_x86_feature_detected!("avx") {
        // SAFETY: the CPU has AVX; all bits of a register that the compiler knows to be written.
        unsafe { asm!("vpcmpeqd ymm0, ymm0, ymm0", out("ymm0") _) };
        assert_ne!(in_use() & UPPER, 0, "registers that are written are told");
        // SAFETY: as above; nothing is in the upper halves that anybody knows of.
        unsafe { asm!("vzeroupper") };
    }
    let src = vec![0x3C; 16 * 300];
    let mut dst = vec![0; 16 * 300];
    let options = [CastOptions::RUST, CastOptions::RUST.with_float_round(FloatRound::TowardZero)];
    on_every_tier(|tier| {
        for from in buffers() {
            for to in buffers() {
                for options in &options {
                    let plan = CastPlan::new(from, to, options).expect("every pair has a cast");
                    for n in LENGTHS {
                        let (read, written) =
                            (from.byte_len(n).expect("fits"), to.byte_len(n).expect("fits"));
                        let (src, dst) = (&src[..read], &mut dst[..written]);
                        plan.run(Bytes::new(src, n), BytesMut::new(dst, n)).expect("fits");
                        assert_eq!(
                            in_use() & UPPER,
                            0,
                            "{from} to {to} on {tier}, {n} elements, {options:?}"
                        );
                    }
                }
            }
        }
    });
}
