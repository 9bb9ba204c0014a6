//! Every cell of the table in the documentation of `CastPlan`: each operand with each outcome, on one thread and on several, gives the
//! bytes, the mask, the counts and the first rejected element of bytes cast on one thread.

use crate::support;
use lanecast::strided::{Layout, View, ViewMut};
use lanecast::{
    Bytes, BytesMut, CastError, CastOptions, CastPlan, CastReport, DType, Encoding, InPlace, Level, Source,
    Target, Uninit, half::bf16,
};

/// What all outcomes of a cast are.
#[derive(Debug, PartialEq)]
struct Outcomes {
    bytes: Vec<u8>,
    mask: Vec<u8>,
    marked: usize,
    report: CastReport,
    /// The index of the first rejected element.
    rejected: Option<usize>,
}

/// Runs every outcome with operands that `with` makes anew for each; it returns the bytes of the results.
fn outcomes(
    plan: &CastPlan,
    n: usize,
    mut with: impl FnMut(&mut dyn FnMut(Source<'_>, Target<'_>) -> Result<(), CastError>) -> Vec<u8>,
) -> Outcomes {
    let mut mask = vec![0xA5; n.div_ceil(8)];
    let (mut marked, mut report, mut rejected) = (0, CastReport::default(), None);
    let checked = plan.checked(Level::Range);
    let bytes = with(&mut |src, dst| plan.run(src, dst));
    let same = with(&mut |src, dst| checked.run_masked(src, dst, &mut mask).map(|k| marked = k));
    assert!(same == bytes, "{plan:?}: what is marked is cast");
    let same = with(&mut |src, dst| checked.run_counted(src, dst).map(|found| report = found));
    assert!(same == bytes, "{plan:?}: what is counted is cast");
    // Without a level, marks and counts are those of `Level::Range`.
    let (mut again, mut other) = (vec![0; mask.len()], CastReport::default());
    with(&mut |src, dst| plan.run_masked(src, dst, &mut again).map(drop));
    with(&mut |src, dst| plan.run_counted(src, dst).map(|found| other = found));
    assert_eq!((&again, other), (&mask, report), "{plan:?}");
    with(&mut |src, dst| match checked.run(src, dst) {
        Err(CastError::Rejected(found)) => {
            rejected = Some(found.index);
            Ok(())
        }
        done => done,
    });
    Outcomes { bytes, mask, marked, report, rejected }
}

/// The plan on one thread, and on several where there are some.
fn threads(plan: &CastPlan) -> Vec<CastPlan> {
    #[cfg(feature = "rayon")]
    if support::THREADS && !cfg!(miri) {
        use lanecast::{ParallelFor, Threads};
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("three threads");
        let host: std::sync::Arc<dyn ParallelFor> = std::sync::Arc::new(pool);
        return vec![plan.clone(), plan.with_threads(Threads::Host(host))];
    }
    support::say("SKIPPED: operands on several threads: there are none");
    vec![plan.clone()]
}

fn done(result: Result<(), CastError>) {
    result.expect("operands that fit");
}

/// The number of elements: as many as several threads share, in rows that end within a byte of a mask.
const SHAPE: [usize; 2] = if cfg!(miri) { [3, 13] } else { [301, 1003] };
const N: usize = SHAPE[0] * SHAPE[1];

/// float32 to int8, where a few elements are lost.
fn values() -> Vec<f32> {
    let value = |i: usize| if i % 1000 == 999 || i == N - 2 { 1e9 } else { (i % 100) as f32 };
    (0..N).map(value).collect()
}

fn bytes_of(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_ne_bytes()).collect()
}

#[test]
fn every_cell() {
    let (values, n) = (values(), N);
    let raw = bytes_of(&values);
    let plan = CastPlan::of::<f32, i8>(&CastOptions::RUST);
    let want = outcomes(&plan, n, |run| {
        let mut out = vec![0; n];
        done(run(Bytes::new(&raw, n).into(), BytesMut::new(&mut out, n).into()));
        out
    });
    assert_eq!((want.marked, want.rejected), if cfg!(miri) { (1, Some(N - 2)) } else { (302, Some(999)) });
    let codes = |out: Vec<i8>| out.into_iter().map(|x| x as u8).collect::<Vec<u8>>();
    let layout = Layout::contiguous(DType::Float32, &SHAPE).expect("small");
    // The same values in the same order, in memory in Fortran order, and the results likewise.
    let turned = [SHAPE[1], SHAPE[0]];
    let fortran: Vec<f32> = (0..n).map(|i| values[i % SHAPE[0] * SHAPE[1] + i / SHAPE[0]]).collect();
    let columns = View::from_slice(&fortran, &turned).expect("inside").transposed();
    let rows = View::new(&raw, layout.clone()).expect("inside");
    for plan in threads(&plan) {
        let check = |operands: &str, got: Outcomes| assert!(got == want, "{plan:?}: {operands}");
        check(
            "slices",
            outcomes(&plan, n, |run| {
                let mut out = vec![0_i8; n];
                done(run((&values).into(), (&mut out).into()));
                codes(out)
            }),
        );
        check(
            "bytes that are longer, at odd addresses",
            outcomes(&plan, n, |run| {
                let mut src = vec![0; 1];
                src.extend(&raw);
                src.push(7);
                let mut out = vec![0xA5; n + 2];
                done(run(Bytes::new(&src[1..], n).into(), BytesMut::new(&mut out[1..], n).into()));
                assert_eq!((out[0], out[n + 1]), (0xA5, 0xA5));
                out[1..=n].to_vec()
            }),
        );
        check(
            "elements that are not initialised",
            outcomes(&plan, n, |run| {
                let mut memory = Vec::<i8>::with_capacity(n);
                let mut out = Uninit::new(&mut memory.spare_capacity_mut()[..n]);
                done(run((&values).into(), (&mut out).into()));
                // A rejected cast has written nothing that is handed out.
                match out.written() {
                    [] => vec![],
                    written => codes(written.to_vec()),
                }
            }),
        );
        check(
            "bytes that are not initialised, from a view",
            outcomes(&plan, n, |run| {
                let mut memory = Vec::<u8>::with_capacity(n + 3);
                let mut out = Uninit::new(&mut memory.spare_capacity_mut()[..n + 3]);
                done(run((&columns).into(), BytesMut::uninit(&mut out, n).into()));
                out.written().to_vec()
            }),
        );
        check(
            "a view to a view",
            outcomes(&plan, n, |run| {
                let mut out = vec![0_i8; n];
                let to = Layout::contiguous(DType::Int8, &SHAPE).expect("small");
                let mut memory = vec![0; n];
                let mut view = ViewMut::new(&mut memory, to).expect("inside");
                done(run((&columns).into(), (&mut view).into()));
                out.iter_mut().zip(memory).for_each(|(out, x)| *out = x as i8);
                codes(out)
            }),
        );
        check(
            "a view to a slice",
            outcomes(&plan, n, |run| {
                let mut out = vec![0_i8; n];
                done(run((&rows).into(), (&mut out).into()));
                codes(out)
            }),
        );
        check(
            "a slice to a view",
            outcomes(&plan, n, |run| {
                let mut out = vec![0_i8; n];
                let mut view = ViewMut::from_slice(&mut out, &SHAPE).expect("inside");
                done(run((&values).into(), (&mut view).into()));
                codes(out)
            }),
        );
        check(
            "in place",
            outcomes(&plan, n, |run| {
                let mut buffer = raw.clone();
                done(run(InPlace.into(), BytesMut::new(&mut buffer, n).into()));
                buffer[..n].to_vec()
            }),
        );
        // A source only.
        assert_eq!(plan.count(&values), Ok(want.report));
        assert_eq!(plan.count(&columns), Ok(want.report));
        assert_eq!(plan.count(Bytes::new(&raw, n)), Ok(want.report));
        // New and reused vectors.
        let mut reused = plan.run_to_vec::<i8>(&columns).expect("one dtype");
        assert!(reused.iter().map(|x| *x as u8).eq(want.bytes.iter().copied()));
        reused.truncate(3);
        let before = reused.clone();
        done(plan.run_extend(&values, &mut reused));
        assert!(reused[..3] == before && reused[3..].iter().map(|x| *x as u8).eq(want.bytes.iter().copied()));
        // Two ranges of one buffer.
        let mut buffer = raw.clone();
        buffer.resize(5 * n, 0);
        let to = Layout::contiguous(DType::Int8, &SHAPE).expect("small").with_offset(4 * n);
        done(plan.run_within(&mut buffer, &layout, &to));
        assert!(buffer[4 * n..] == want.bytes);
        let refused = plan.checked(Level::Range).run_within(&mut buffer, &layout, &to);
        let rejected = |result| match result {
            Err(CastError::Rejected(found)) => Some(found.index),
            _ => None,
        };
        assert_eq!(rejected(refused), want.rejected);
        assert_eq!(rejected(plan.checked(Level::Range).run_to_vec::<i8>(&values).map(drop)), want.rejected);
        // A rejected cast leaves a buffer as it was.
        let mut buffer = raw.clone();
        let refused = plan.checked(Level::Range).run(InPlace, BytesMut::new(&mut buffer, n));
        assert!(rejected(refused) == want.rejected && buffer == raw);
    }
}

/// Packed and swapped elements, and results that are wider than their source.
#[test]
fn other_encodings() {
    let n = if cfg!(miri) { 40 } else { 100_001 };
    let packed = Encoding::packed(DType::Int4);
    let big = Encoding::new(DType::Int16).with_order(lanecast::ByteOrder::Big);
    for (from, to) in [(packed, big), (big, packed), (packed, Encoding::packed(DType::UInt2))] {
        let plan = CastPlan::new(from, to, &CastOptions::RUST).expect("a plan");
        let (read, written) = (support::byte_len(from, n), support::byte_len(to, n));
        let raw: Vec<u8> = (0..read).map(|i| (i * 37 + i / 256) as u8).collect();
        let want = outcomes(&plan, n, |run| {
            let mut out = vec![0; written];
            done(run(Bytes::new(&raw, n).into(), BytesMut::new(&mut out, n).into()));
            out
        });
        let view = View::new(&raw, Layout::contiguous(from, &[n]).expect("small")).expect("inside");
        for plan in threads(&plan) {
            let got = outcomes(&plan, n, |run| {
                let mut buffer = raw.clone();
                buffer.resize(read.max(written), 0);
                done(run(InPlace.into(), BytesMut::new(&mut buffer, n).into()));
                buffer.truncate(written);
                buffer
            });
            assert!(got == want, "{plan:?}: in place");
            let got = outcomes(&plan, n, |run| {
                let mut out = vec![0; written];
                done(run((&view).into(), BytesMut::new(&mut out, n).into()));
                out
            });
            assert!(got == want, "{plan:?}: views");
            assert_eq!(plan.count(&view), Ok(want.report));
        }
    }
}

/// By address, in all modes.
#[test]
#[allow(unsafe_code, reason = "addresses")]
fn by_address() {
    let (values, n) = (values(), N);
    let plan = CastPlan::of::<f32, bf16>(&CastOptions::RUST);
    let want = plan.run_to_vec::<bf16>(&values).expect("one dtype");
    for plan in threads(&plan).into_iter().chain(threads(&plan.checked(Level::Range))) {
        let mut out = vec![bf16::ZERO; n];
        // SAFETY: the bytes of `n` elements of both vectors.
        done(unsafe { plan.run_ptr(values.as_ptr().cast(), out.as_mut_ptr().cast(), n) });
        assert!(out == want, "{plan:?}");
        let mut buffer = bytes_of(&values);
        let start = buffer.as_mut_ptr();
        // SAFETY: the bytes of `n` elements of float32, which hold as many of bfloat16.
        done(unsafe { plan.run_ptr(start, start, n) });
        let halves = buffer[..2 * n].chunks_exact(2).map(|x| bf16::from_ne_bytes([x[0], x[1]]));
        assert!(halves.eq(want.iter().copied()), "{plan:?}, in place");
        // SAFETY: as above; the two ranges overlap, which is refused.
        let overlap = unsafe { plan.run_ptr(start, start.wrapping_add(2), n / 2) };
        assert!(matches!(overlap, Err(CastError::Overlap { .. })), "{plan:?}");
        // SAFETY: there are no elements.
        done(unsafe { plan.run_ptr(std::ptr::null(), std::ptr::null_mut(), 0) });
    }
}
