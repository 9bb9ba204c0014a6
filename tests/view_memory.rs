//! The memory of casts between views: none is allocated, and a small stack is enough.

use crate::support::{size, tiers::tiers};
use lanecast::strided::{Layout, View, ViewMut};
use lanecast::{CastOptions, CastPlan, DType, Level, Tier};
use std::alloc::{GlobalAlloc, System};
use std::cell::Cell;

/// The allocator of the system, which counts the bytes that this thread asks for.
struct Counting;

thread_local! {
    static ALLOCATED: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the allocator of the system.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: std::alloc::Layout) -> *mut u8 {
        ALLOCATED.set(ALLOCATED.get() + layout.size() as u64);
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: std::alloc::Layout) {
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(start, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Every kind of cast between a transposed and a contiguous view of `[width, height]` elements, with a mask.
fn run(plans: &[CastPlan; 3], shape: &[usize; 2], src: &[u8], dst: &mut [u8], mask: &mut [u8]) {
    let [plan, checked @ ..] = plans;
    let turned = [shape[1], shape[0]];
    let from = Layout::contiguous(plan.source(), &turned).unwrap().transposed();
    let to = Layout::contiguous(plan.target(), shape).unwrap();
    let view = View::new(src, from).unwrap();
    let mut out = ViewMut::new(dst, to).unwrap();
    plan.run(&view, &mut out).unwrap();
    for checked in checked {
        checked.run_masked(&view, &mut out, mask).unwrap();
        let counts = checked.run_counted(&view, &mut out).unwrap();
        assert_eq!(checked.count(&view), Ok(counts));
        _ = checked.run(&view, &mut out);
    }
}

/// The plain plan and two checked ones: making those allocates their tests, running them nothing.
fn plans(from: DType, to: DType, tier: Tier) -> [CastPlan; 3] {
    let plan = CastPlan::with_tier(from, to, &CastOptions::RUST, tier).unwrap();
    [plan.clone(), plan.checked(Level::Range), plan.checked(Level::Exact)]
}

#[test]
fn nothing_is_allocated() {
    let shape = [300, 400];
    let n = shape[0] * shape[1];
    for &tier in tiers() {
        for (from, to) in [(DType::Float32, DType::Int8), (DType::Int8, DType::UInt64)] {
            let plan = plans(from, to, tier);
            let src: Vec<u8> = (0..n * size(from)).map(|i| (i % 251) as u8).collect();
            let (mut dst, mut mask) = (vec![0; n * size(to)], vec![0; n.div_ceil(8)]);
            let before = ALLOCATED.get();
            run(&plan, &shape, &src, &mut dst, &mut mask);
            assert_eq!(ALLOCATED.get() - before, 0, "{plan:?}");
        }
    }
}

/// Layouts of up to eight axes hold them in place.
#[test]
fn eight_axes_are_not_allocated() {
    let plan = CastPlan::new(DType::Float32, DType::Int8, &CastOptions::RUST).unwrap();
    let (src, mut dst) = ([0; 4 << 8], [0; 1 << 8]);
    let mut run = |axes: usize| {
        let shape: Vec<usize> = (0..axes).map(|axis| if axis < 8 { 2 } else { 1 }).collect();
        let before = ALLOCATED.get();
        let from = Layout::contiguous(plan.source(), &shape).unwrap();
        let to = Layout::contiguous(plan.target(), &shape).unwrap();
        plan.run(&View::new(&src, from).unwrap(), &mut ViewMut::new(&mut dst, to).unwrap()).unwrap();
        ALLOCATED.get() - before
    };
    assert_eq!(run(8), 0);
    assert_ne!(run(9), 0);
}

/// What `lanecast::strided` promises. A stack that is too small ends the process.
#[cfg(not(target_family = "wasm"))]
#[test]
fn a_small_stack_is_enough() {
    const STACK: usize = 112 << 10;
    let dtypes = [DType::Bool, DType::Int8, DType::Float8E4M3FN, DType::Float16, DType::Float32];
    let dtypes = dtypes.into_iter().chain([DType::Int64, DType::Complex128]);
    let shape = [200, 300];
    let n = shape[0] * shape[1];
    for (from, to) in dtypes.clone().flat_map(|from| dtypes.clone().map(move |to| (from, to))) {
        for &tier in tiers() {
            let plan = plans(from, to, tier);
            let src: Vec<u8> = (0..n * size(from)).map(|i| (i % 251) as u8).collect();
            let (mut dst, mut mask) = (vec![0; n * size(to)], vec![0; n.div_ceil(8)]);
            let streaming = plan.each_ref().map(|plan| plan.with_streaming(lanecast::Streaming::Always));
            let casts = move || {
                run(&plan, &shape, &src, &mut dst, &mut mask);
                run(&streaming, &shape, &src, &mut dst, &mut mask);
            };
            let small = std::thread::Builder::new().stack_size(STACK).spawn(casts).expect("a thread");
            small.join().expect("it ran");
        }
    }
}
