//! What is refused, with which fields, and that nothing is written then.

use crate::support::{self, every_tier};
use lanecast::{
    Bytes, BytesMut, CastError, CastOptions, CastPlan, DType, Encoding, F4E2M1FN, Side, Tier, Uninit, cast,
    strided::Layout, strided::ViewError, tier,
};
use std::mem::MaybeUninit;

const OPTIONS: CastOptions = CastOptions::RUST;

#[test]
fn slices_of_different_lengths() {
    let mut dst = [7_u8; 2];
    let error = Err(CastError::LengthMismatch { src: 3, dst: 2 });
    assert_eq!(cast(&[1.0_f32, 2.0, 3.0], &mut dst), error);
    assert_eq!(OPTIONS.cast(&[1.0_f32, 2.0, 3.0], &mut dst), error);
    assert_eq!(dst, [7, 7]);
    let mut uninit = [MaybeUninit::<u8>::uninit(); 2];
    let mut uninit = Uninit::new(&mut uninit);
    assert_eq!(CastPlan::of::<f32, u8>(&OPTIONS).run(&[1.0_f32, 2.0, 3.0], &mut uninit), error);
    assert!(uninit.written().is_empty());
    assert_eq!(cast::<f32, u8>(&[], &mut []), Ok(()));
}

/// One byte less than needed on either side, for every pair and storage.
#[test]
fn buffers_that_are_too_small() {
    for &from in DType::ALL {
        for &to in DType::ALL {
            for from in support::storages(from) {
                for to in support::storages(to) {
                    for n in [1, 5, 64] {
                        too_small(from, to, n);
                    }
                }
            }
        }
    }
}

fn too_small(from: Encoding, to: Encoding, n: usize) {
    let plan = CastPlan::new(from, to, &OPTIONS).expect("a plan");
    let (s, d) = (support::byte_len(from, n), support::byte_len(to, n));
    let (src, mut dst) = (vec![0; s], vec![0xA5; d]);
    let error = CastError::BufferTooSmall { which: Side::Source, need: s, have: s - 1 };
    assert_eq!(plan.run(Bytes::new(&src[..s - 1], n), BytesMut::new(&mut dst, n)), Err(error));
    let error = CastError::BufferTooSmall { which: Side::Destination, need: d, have: d - 1 };
    assert_eq!(plan.run(Bytes::new(&src, n), BytesMut::new(&mut dst[..d - 1], n)), Err(error.clone()));
    let mut uninit = vec![MaybeUninit::new(0xA5); d - 1];
    let mut uninit = Uninit::new(&mut uninit);
    assert_eq!(plan.run(Bytes::new(&src, n), BytesMut::uninit(&mut uninit, n)), Err(error));
    assert!(uninit.written().is_empty());
    assert!(dst.iter().all(|b| *b == 0xA5), "{plan:?}: wrote although it failed");
    assert_eq!(plan.run(Bytes::new(&[], 0), BytesMut::new(&mut [], 0)), Ok(()));
}

#[test]
fn more_elements_than_memory() {
    for (from, to) in
        [(DType::Float32, DType::Int8), (DType::Int8, DType::Float32), (DType::Int8, DType::UInt8)]
    {
        let plan = CastPlan::new(from, to, &OPTIONS).expect("a plan");
        let (from, to) = (Encoding::new(from), Encoding::new(to));
        // So that 4 n overflows, and so that it only exceeds what a buffer can have.
        for n in [usize::MAX, usize::MAX / 4 + 2, isize::MAX as usize + 1] {
            // The source is looked at first.
            let expected = match from.byte_len(n) {
                None => CastError::TooLarge { elements: n, encoding: from },
                Some(need) => CastError::BufferTooSmall { which: Side::Source, need, have: 8 },
            };
            assert_eq!(
                plan.run(Bytes::new(&[0; 8], n), BytesMut::new(&mut [0; 8], n)),
                Err(expected),
                "{from} -> {to}, {n}"
            );
        }
    }
}

#[test]
fn slices_of_another_dtype() {
    let plan = CastPlan::new(DType::Float32, DType::Int8, &OPTIONS).expect("a plan");
    let wrong = |which, plan, slice| Err(CastError::WrongElement { which, plan, slice });
    let int8 = Encoding::new(DType::Int8);
    assert_eq!(plan.run(&[1_i32], &mut [0_i8]), wrong(Side::Source, DType::Float32.into(), DType::Int32));
    assert_eq!(plan.run(&[1_f32], &mut [0_u8]), wrong(Side::Destination, int8, DType::UInt8));
    assert_eq!(plan.run(&[1_f32], &mut [0_i8; 2]), Err(CastError::LengthMismatch { src: 1, dst: 2 }));
    let packed = Encoding::packed(DType::Float4E2M1FN);
    let plan = CastPlan::new(DType::Float32, packed, &OPTIONS).expect("a plan");
    let mut dst = [F4E2M1FN::default()];
    assert_eq!(plan.run(&[1_f32], &mut dst), wrong(Side::Destination, packed, DType::Float4E2M1FN));
}

#[test]
fn overlap() {
    let plan = CastPlan::new(DType::Float32, DType::Int8, &OPTIONS).expect("a plan");
    let mut buffer = [0; 64];
    let mut within = |src: usize, dst: usize, n: usize| {
        let layout = |dtype, at| Layout::contiguous(dtype, &[n]).expect("small").with_offset(at);
        plan.run_within(&mut buffer, &layout(DType::Float32, src), &layout(DType::Int8, dst))
    };
    // Ranges count from the lowest byte of both.
    let refused = |src: std::ops::Range<usize>, dst| Err(CastError::Overlap { src, dst });
    assert_eq!(within(0, 15, 4), refused(0..16, 15..19));
    assert_eq!(within(15, 12, 4), refused(3..19, 0..4));
    assert_eq!(within(8, 8, 4), refused(0..16, 0..4));
    assert_eq!(within(0, 16, 4), Ok(()));
    assert_eq!(within(4, 0, 4), Ok(()));
    assert_eq!(within(8, 8, 0), Ok(()), "nothing overlaps nothing");
    let outside = |low, high| Err(CastError::View(ViewError::OutOfBounds { low, high, have: 64 }));
    assert_eq!(within(49, 0, 4), outside(49, 65));
    assert_eq!(within(0, 61, 4), outside(61, 65));
    assert!(matches!(within(usize::MAX, 0, 4), Err(CastError::View(_))));
}

#[test]
fn names_and_tiers() {
    let error = CastError::from("float9".parse::<DType>().expect_err("no such dtype"));
    assert!(matches!(&error, CastError::UnknownName(unknown) if unknown.name == "float9"));
    assert!(error.to_string().contains("float9"), "{error}");
    assert!("avx1024".parse::<Tier>().is_err());

    let _lock = every_tier::lock();
    for &tier in Tier::ALL {
        let plan = CastPlan::with_tier(DType::Int8, DType::Int16, &OPTIONS, tier);
        assert_eq!(tier.name().parse::<Tier>().ok(), Some(tier));
        if tier.is_available() {
            assert_eq!(plan.expect("a plan").tier(), tier);
        } else {
            let error = CastError::Unsupported { tier, status: tier.status() };
            assert_eq!(plan.map(|_| ()), Err(error.clone()));
            let before = tier::active();
            assert_eq!(tier::force(Some(tier)), Err(error));
            assert_eq!(tier::active(), before, "nothing has changed");
        }
    }
    assert!(Tier::Scalar.is_available(), "the scalar tier is everywhere");
    tier::force(Some(Tier::Scalar)).expect("it is available");
    assert_eq!(tier::active(), Tier::Scalar);
    assert_eq!(CastPlan::new(DType::Int8, DType::Int16, &OPTIONS).expect("a plan").tier(), Tier::Scalar);
    tier::force(None).expect("nothing is forced");
    assert!(!tier::reason().is_empty());
}

/// A dtype that a Cargo feature leaves out has a name and a number, and no plan.
#[test]
fn dtypes_that_are_left_out() {
    for &dtype in DType::EVERY {
        assert_eq!(DType::ALL.contains(&dtype), dtype.is_built());
        assert!(dtype.is_built() || dtype.feature().is_some());
        for (from, to) in [(dtype, DType::Float32), (DType::Float32, dtype)] {
            let plan = CastPlan::new(from, to, &CastOptions::RUST);
            assert_eq!(plan.is_ok(), dtype.is_built(), "{from} -> {to}");
            if let Err(error) = plan {
                assert_eq!(error, CastError::NotBuilt { dtype });
                let feature = dtype.feature().expect("one that is left out has one");
                assert!(error.to_string().contains(&format!("`{feature}`")), "{error}");
            }
        }
    }
}
