//! After a `fork` the threads of rayon are in the parent only: a child that waits for them waits for ever. Casts in the child
//! run on the thread that calls.
//!
//! One test, since it forks: a test beside it could hold a lock of the allocator's or of the terminal at that moment.
#![cfg(all(unix, feature = "rayon"))]

use lanecast::{BatchItem, Bytes, BytesMut, CastOptions, CastPlan, DType, Threads, cast_batch};
use std::io::Write;

/// Elements: tens of milliseconds of one thread.
const N: usize = 20_000_000;
/// Seconds after which a child that hangs is ended.
const PATIENCE: u32 = 60;

/// Runs `child` in a forked process; what it returns is its exit status, -1 if it was ended by a signal.
fn fork(child: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child runs the code of this test only, which the other threads of this process (those of the pool, and of the test
    // harness, which waits) hold no lock of, and leaves by `_exit`.
    unsafe {
        match libc::fork() {
            -1 => panic!("fork: {}", std::io::Error::last_os_error()),
            0 => {
                libc::alarm(PATIENCE);
                libc::_exit(child());
            }
            id => {
                let mut status = 0;
                assert_eq!(libc::waitpid(id, &mut status, 0), id);
                if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -1 }
            }
        }
    }
}

fn cast(src: &[f32]) -> i32 {
    let plan = CastPlan::new(DType::Float32, DType::UInt8, &CastOptions::RUST).expect("a plan");
    let mut dst = vec![0_u8; src.len()];
    plan.with_threads(Threads::Rayon).run(src, &mut dst).expect("equal lengths");
    let first = dst.iter().enumerate().all(|(i, x)| *x == (i % 251) as u8);
    let bytes = vec![0; 4 * N];
    let mut out = vec![1; N];
    let item = BatchItem::new(&plan, Bytes::new(&bytes, N), BytesMut::new(&mut out, N));
    cast_batch(vec![item.expect("large enough")], &Threads::Rayon).expect("nothing is checked");
    if first && out.iter().all(|x| *x == 0) { 0 } else { 1 }
}

#[test]
fn a_child_casts_alone() {
    if cfg!(miri) || cfg!(not(any(target_arch = "x86_64", target_arch = "aarch64"))) {
        // The test harness holds back `println!` and `eprintln!` of a test that passes.
        let _ = writeln!(std::io::stderr(), "SKIPPED: casts after a fork: this looks like an emulator");
        return;
    }
    let src: Vec<f32> = (0..N).map(|i| (i % 251) as f32).collect();
    // The host has used the pool and we have not: a child cannot know that there is nobody in it.
    let (a, b) = rayon::join(|| 1, || 2);
    assert_eq!((a, b), (1, 2));
    assert_eq!(fork(|| cast(&src)), 0, "the pool was used by the host only");
    // We have used it, too.
    assert_eq!(cast(&src), 0);
    assert_eq!(fork(|| cast(&src)), 0, "the pool was used by us");
    // A child of a child; and a child with a pool of its own, which does exist.
    assert_eq!(fork(|| fork(|| cast(&src))), 0);
    let own = || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("two threads");
        pool.install(|| cast(&src))
    };
    assert_eq!(fork(own), 0, "a pool that the child has made");
    // A worker that forks is the one thread of its pool.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("three threads");
    assert_eq!(pool.install(|| fork(|| cast(&src))), 0, "a worker that was not seen before");
    pool.broadcast(|_| assert_eq!(cast(&src), 0));
    assert_eq!(pool.install(|| fork(|| cast(&src))), 0, "a worker that was");
    // And the parent goes on as before.
    assert_eq!(cast(&src), 0);
}
