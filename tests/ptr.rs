//! Casts between addresses are those between buffers.

use lanecast::{Bytes, BytesMut};
use lanecast::{CastError, CastOptions, CastPlan, DType, Encoding};
use std::mem::MaybeUninit;
use std::ptr;

/// Every pair of some dtypes of all widths, in both storages.
fn pairs() -> impl Iterator<Item = (Encoding, Encoding)> {
    let all = [DType::Bool, DType::Int4, DType::UInt8, DType::Float6E2M3FN, DType::Float16, DType::Float32];
    let all = all.into_iter().chain([DType::Int64, DType::Complex64, DType::Complex128]);
    let all: Vec<_> = all.flat_map(|dtype| [Encoding::new(dtype), Encoding::packed(dtype)]).collect();
    all.clone().into_iter().flat_map(move |from| all.clone().into_iter().map(move |to| (from, to)))
}

const LENGTHS: &[usize] = if cfg!(miri) { &[0, 3, 600] } else { &[0, 1, 7, 64, 511, 513, 5000] };

#[test]
fn between_buffers_and_in_place() {
    for (from, to) in pairs() {
        let plan = CastPlan::new(from, to, &CastOptions::RUST).expect("a plan");
        for &n in LENGTHS {
            let (read, written) = (from.byte_len(n).expect("small"), to.byte_len(n).expect("small"));
            let src: Vec<u8> = (0..read).map(|i| (i * 37 + i / 256) as u8).collect();
            let mut want = vec![0; written];
            plan.run(Bytes::new(&src, n), BytesMut::new(&mut want, n)).expect("large enough");
            // Nothing is initialised but the source.
            let mut out = vec![MaybeUninit::<u8>::uninit(); written + 1];
            out[written].write(0xA5);
            // SAFETY: the bytes of `n` elements of either side, of vectors that nobody else uses.
            unsafe { plan.run_ptr(src.as_ptr(), out.as_mut_ptr().cast(), n) }.expect("apart");
            // SAFETY: written by the cast, and the last one above.
            let got: Vec<u8> = out.iter().map(|byte| unsafe { byte.assume_init() }).collect();
            assert_eq!((&got[..written], got[written]), (&want[..], 0xA5), "{plan:?}");

            let mut both = vec![MaybeUninit::<u8>::uninit(); read.max(written)];
            both.iter_mut().zip(&src).for_each(|(place, byte)| _ = place.write(*byte));
            let start = both.as_mut_ptr().cast::<u8>();
            // SAFETY: the vector has room for the elements of either side, and those of the source are initialised.
            unsafe { plan.run_ptr(start, start, n) }.expect("one address");
            // SAFETY: written by the cast.
            let got: Vec<u8> = both[..written].iter().map(|byte| unsafe { byte.assume_init() }).collect();
            assert_eq!(got, want, "{plan:?} in place");
        }
    }
}

#[test]
fn what_is_refused() {
    let plan = CastPlan::new(DType::Float32, DType::Float16, &CastOptions::RUST).expect("a plan");
    let mut buffer: Vec<u8> = (0..64).collect();
    let before = buffer.clone();
    let start = buffer.as_mut_ptr();
    // SAFETY: all of these are bytes of the buffer; four elements are 16 and 8 bytes.
    unsafe {
        let overlap = |src: usize, dst: usize| plan.run_ptr(start.add(src), start.add(dst), 4);
        assert_eq!(overlap(0, 15), Err(CastError::Overlap { src: 0..16, dst: 15..23 }));
        assert_eq!(overlap(7, 0), Err(CastError::Overlap { src: 7..23, dst: 0..8 }));
        assert_eq!(overlap(9, 10), Err(CastError::Overlap { src: 0..16, dst: 1..9 }));
    }
    assert_eq!(buffer, before);
    let start = buffer.as_mut_ptr();
    // SAFETY: as above, side by side; and none at all, which is neither read nor written.
    unsafe {
        assert_eq!(plan.run_ptr(start, start.add(16), 4), Ok(()));
        assert_eq!(plan.run_ptr(start.add(8), start, 4), Ok(()));
        assert_eq!(plan.run_ptr(ptr::null(), ptr::null_mut(), 0), Ok(()));
        let large = plan.run_ptr(start, start.add(16), usize::MAX / 2);
        assert!(matches!(large, Err(CastError::TooLarge { .. })), "{large:?}");
    }
}
