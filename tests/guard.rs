//! Not a byte outside the buffers is read or written: the buffers end exactly at an inaccessible page, or start exactly
//! behind one.
//!
//! For every pair, storage, overflow rule and tier: every length from 0 to four blocks of 64 elements and a few larger,
//! in all four placements. The answers are those of the scalar tier on ordinary memory, and the bytes on the open side
//! of the destination stay as they were.

#![allow(unsafe_code, reason = "inaccessible pages are not to be had without")]

use crate::support;

#[cfg(all(unix, not(miri)))]
mod check {
    use super::support;
    use crate::guarded::{Guarded, set_case, set_place};
    use crate::oracle;
    use crate::support::{byte_len, check::Case, patterns, storages, store, tiers::tiers};
    use lanecast::{Bytes, BytesMut, CastOptions, DType, IntOverflow, Kind, Saturate, Storage, Tier};

    const LONGEST: usize = 1025;
    /// What stands beside the destination and in it before.
    const CANARY: u8 = 0xA5;
    /// How much of it is looked at.
    const MARGIN: usize = 192;

    /// The default options, and the other answer to overflow where the pair has one.
    fn overflow_rules(from: DType, to: DType) -> Vec<CastOptions> {
        let default = CastOptions::RUST;
        let other = default
            .with_float_to_int(IntOverflow::Wrap)
            .with_int_to_int(IntOverflow::Saturate)
            .with_saturate(Saturate::Off);
        let ruled = matches!(to.kind(), Kind::SignedInt | Kind::UnsignedInt)
            || (to.kind() == Kind::Float && to.bits() == 8);
        if from != to && ruled { vec![default, other] } else { vec![default] }
    }

    /// The lengths.
    fn lengths() -> impl Iterator<Item = usize> {
        (0..=256).chain([511, 512, 513, LONGEST])
    }

    struct Pages {
        src: Guarded,
        dst: Guarded,
    }

    /// One case: the source, and the destination as the scalar tier makes it of all of it.
    struct Expected<'a> {
        case: Case<'a>,
        src: &'a [u8],
        dst: &'a [u8],
        codes: &'a [u128],
    }

    impl Expected<'_> {
        /// `n` elements; the buffers stand at the ends of their pages or at the starts.
        fn check(&self, pages: &mut Pages, n: usize, src_at_end: bool, dst_at_end: bool) {
            let (from, to) = (self.case.from, self.case.to);
            let (read, written) = (byte_len(from, n), byte_len(to, n));
            set_place([n, src_at_end.into(), dst_at_end.into()]);
            let src = pages.src.edge(src_at_end, read);
            src.copy_from_slice(&self.src[..read]);
            let around = pages.dst.edge(dst_at_end, written + MARGIN);
            around.fill(CANARY);
            let (beside, dst) = if dst_at_end {
                around.split_at_mut(MARGIN)
            } else {
                let (dst, beside) = around.split_at_mut(written);
                (beside, dst)
            };
            let place = || format!("{}: {n} elements, at end: {src_at_end}, {dst_at_end}", self.case);
            self.case
                .plan()
                .run(Bytes::new(src, n), BytesMut::new(dst, n))
                .unwrap_or_else(|e| panic!("{}: {e}", place()));
            assert!(beside.iter().all(|b| *b == CANARY), "{}: wrote beside the destination", place());
            // The bits of a packed destination behind the last element are zero.
            let used = n * oracle::width(to.dtype()) as usize % 8;
            let whole = if to.storage() == Storage::Packed && used != 0 { written - 1 } else { written };
            let tail = |byte: u8| byte & !(0xFF << used);
            let right = dst[..whole] == self.dst[..whole]
                && (whole == written || dst[whole] == tail(self.dst[whole]));
            if !right {
                let expected = support::load(to, self.dst, n);
                panic!("{}\n{}", place(), self.case.complaint(&self.codes[..n], dst, &expected));
            }
        }
    }

    /// Every cast of a source.
    pub fn source(from: DType) {
        let widest = LONGEST * 16 + MARGIN;
        let mut pages = Pages { src: Guarded::new(widest), dst: Guarded::new(widest) };
        for &to in DType::ALL {
            let codes = patterns::sample(from, to, LONGEST, 11);
            for options in overflow_rules(from, to) {
                for from in storages(from) {
                    let src = store(from, &codes);
                    for to in storages(to) {
                        let scalar = Case { from, to, options: &options, tier: Tier::Scalar };
                        let mut dst = vec![0; byte_len(to, LONGEST)];
                        scalar
                            .plan()
                            .run(Bytes::new(&src, LONGEST), BytesMut::new(&mut dst, LONGEST))
                            .expect("ordinary memory");
                        for &tier in tiers() {
                            let case = Case { tier, ..scalar };
                            set_case(&format!("{case}; elements, source and destination at the end:"));
                            let expected = Expected { case, src: &src, dst: &dst, codes: &codes };
                            for (src_at_end, dst_at_end) in
                                [(true, true), (false, false), (true, false), (false, true)]
                            {
                                for n in lengths() {
                                    expected.check(&mut pages, n, src_at_end, dst_at_end);
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// The overflow rules are those that change the kernel.
    #[test]
    fn rules() {
        assert_eq!(overflow_rules(DType::Float32, DType::Float16).len(), 1);
        assert_eq!(overflow_rules(DType::Float32, DType::Int8).len(), 2);
        assert_eq!(overflow_rules(DType::Int8, DType::Int8).len(), 1);
        assert!(lengths().max() == Some(LONGEST));
    }

    /// The pages do what they are for.
    #[test]
    fn pages_are_zero_and_whole() {
        let mut pages = Guarded::new(5000);
        assert!(pages.bytes().len() >= 5000 && pages.bytes().iter().all(|b| *b == 0));
        pages.edge(true, 3).copy_from_slice(&[1, 2, 3]);
        pages.edge(false, 2).copy_from_slice(&[4, 5]);
        assert!(pages.bytes().starts_with(&[4, 5]) && pages.bytes().ends_with(&[1, 2, 3]));
    }
}

#[cfg(not(all(unix, not(miri))))]
mod check {
    /// Nothing here.
    pub fn source(_: lanecast::DType) {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| super::support::say("SKIPPED: guard pages: they need Unix, and not under Miri"));
    }
}

every_source!(check::source);
