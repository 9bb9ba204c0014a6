//! Where the elements stand does not matter, and nothing else is touched.
//!
//! For every pair, storage and tier, with default options: every length from 0 to 300, the source and the destination at every byte offset
//! from 0 to 15, canaries before and after the destination, packed lengths that end inside a byte (the rest of which
//! is written 0 and ignored on read), a source that goes on behind the last element, and a source that stays what it
//! was. With every other combination of the options that apply to the pair: some lengths.

use crate::oracle;
use crate::support::check::Case;
use crate::support::{byte_len, options, patterns, rng::Rng, storages, store, tiers::tiers};
use lanecast::{Bytes, BytesMut};
use lanecast::{CastOptions, DType, Encoding, Storage};
use std::sync::OnceLock;

const LENGTHS: usize = if cfg!(miri) { 131 } else { 300 };
const OFFSETS: usize = 16;
const MARGIN: usize = 48;

/// `n` elements from a source at byte `src_offset` of its buffer to a destination at byte `dst_offset` of its own.
struct Placement {
    n: usize,
    src_offset: usize,
    dst_offset: usize,
}

/// One case with its buffers.
struct Bench<'a> {
    case: Case<'a>,
    source: &'a [u128],
    expected: &'a [u128],
    /// The source, followed by noise.
    src: Vec<u8>,
    /// The destination as it has to become.
    dst: Vec<u8>,
    noise: &'static [u8],
}

/// Bytes without meaning, more than the longest buffer.
fn noise() -> &'static [u8] {
    static NOISE: OnceLock<Vec<u8>> = OnceLock::new();
    NOISE.get_or_init(|| {
        let mut rng = Rng(99);
        (0..LENGTHS * 16 + 256).map(|_| rng.bits() as u8).collect()
    })
}

impl<'a> Bench<'a> {
    fn new(case: Case<'a>, source: &'a [u128], expected: &'a [u128]) -> Self {
        let noise = noise();
        let src = [store(case.from, source), noise[..64].to_vec()].concat();
        Bench { case, source, expected, src, dst: store(case.to, expected), noise }
    }

    /// The bytes of the first `n` results: those of all, with the bits behind the last one cleared.
    fn result(&self, n: usize) -> Vec<u8> {
        let mut bytes = self.dst[..byte_len(self.case.to, n)].to_vec();
        let used = n * oracle::width(self.case.to.dtype()) as usize % 8;
        if self.case.to.storage() == Storage::Packed && used != 0 {
            *bytes.last_mut().expect("bits of a byte") &= (1 << used) - 1;
        }
        bytes
    }

    /// Runs the cast there. `exact` gives the plan only the bytes that it needs; otherwise both buffers go on.
    fn check(&self, at: &Placement, exact: bool) {
        let &Placement { n, src_offset, dst_offset } = at;
        let (from, to) = (self.case.from, self.case.to);
        let more = if exact { 0 } else { MARGIN };
        // The source, shifted in memory: what stands before and behind it is noise.
        let mut src_buffer = self.noise[..src_offset].to_vec();
        src_buffer.extend_from_slice(&self.src[..byte_len(from, n) + more.min(64)]);
        let before = src_buffer.clone();
        let len = byte_len(to, n);
        let mut dst_buffer = self.noise[..MARGIN + dst_offset + len + MARGIN].to_vec();
        let range = MARGIN + dst_offset..MARGIN + dst_offset + len + more;
        let plan = self.case.plan();
        let ran = plan
            .run(Bytes::new(&src_buffer[src_offset..], n), BytesMut::new(&mut dst_buffer[range.clone()], n));
        let place = || format!("{}: {n} elements, offsets {src_offset} and {dst_offset}", self.case);
        ran.unwrap_or_else(|e| panic!("{}: {e}", place()));
        let (head, rest) = dst_buffer.split_at(range.start);
        let (got, tail) = rest.split_at(len);
        assert!(head == &self.noise[..head.len()], "{}: wrote before the destination", place());
        assert!(
            tail == &self.noise[range.start + len..][..tail.len()],
            "{}: wrote behind the destination",
            place()
        );
        if got != self.result(n) {
            panic!("{}\n{}", place(), self.case.complaint(&self.source[..n], got, &self.expected[..n]));
        }
        assert!(src_buffer == before, "{}: the source has changed", place());
    }

    fn check_all(&self, lengths: &[usize]) {
        // All pairs of offsets in an order that is new for each length; 37 and 256 have no common factor.
        let mut turn = 0;
        for &n in lengths {
            for exact in [true, false] {
                let k = turn * 37 % (OFFSETS * OFFSETS);
                self.check(&Placement { n, src_offset: k / OFFSETS, dst_offset: k % OFFSETS }, exact);
                turn += 1;
            }
        }
    }
}

/// Every length; under Miri, which is a thousand times slower, those around the widths of vectors.
fn lengths() -> Vec<usize> {
    if cfg!(miri) { vec![0, 1, 3, 15, 17, 33, 66, 131] } else { (0..=LENGTHS).collect() }
}

/// Of other options than the default: the ends, and lengths that are no multiples of anything.
const SOME: [usize; 8] = [0, 1, 7, 31, 66, 129, 203, LENGTHS];

fn check_source(from: DType) {
    for &to in DType::ALL {
        let source = patterns::sample(from, to, LENGTHS, 7);
        for (i, options) in options::applicable(from, to).iter().enumerate() {
            if cfg!(miri) && i > 0 {
                break;
            }
            let lengths = if i == 0 { lengths() } else { SOME.to_vec() };
            let cast = |&bits: &u128| oracle::cast(from, to, options, bits);
            let expected: Vec<u128> = source.iter().map(cast).collect();
            for from in storages(from) {
                for to in storages(to) {
                    for &tier in tiers() {
                        let bench = Bench::new(Case { from, to, options, tier }, &source, &expected);
                        bench.check_all(&lengths);
                    }
                }
            }
        }
    }
}

every_source!(check_source);

/// Bits that belong to no element: of the last byte of a packed buffer, and above an element stored one per byte.
#[test]
fn unused_bits_are_ignored_and_written_zero() {
    for dtype in [DType::Int2, DType::UInt4, DType::Float6E2M3FN] {
        let (width, options) = (oracle::width(dtype), CastOptions::RUST);
        for &tier in tiers() {
            for n in 1..140 {
                let codes: Vec<u128> = (0..n as u128).map(|i| (i * 5 + 1) & oracle::mask(dtype)).collect();
                let packed = Encoding::packed(dtype);
                let clean = store(packed, &codes);
                let mut dirty = clean.clone();
                let used = n * width as usize % 8;
                if used != 0 {
                    *dirty.last_mut().expect("n > 0") |= !0 << used;
                }
                for (to, expected) in [(packed, clean), (dtype.into(), store(dtype.into(), &codes))] {
                    Case { from: packed, to, options: &options, tier }
                        .check(&codes, &dirty, &codes, &expected);
                    let garbage: Vec<u8> = codes.iter().map(|&c| c as u8 | !0 << width).collect();
                    Case { from: dtype.into(), to, options: &options, tier }
                        .check(&codes, &garbage, &codes, &expected);
                }
            }
        }
    }
}
