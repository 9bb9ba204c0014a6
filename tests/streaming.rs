//! A cast that uses non-temporal stores writes the same bytes, and no others.

use crate::support::{rng::Rng, storages, tiers::tiers};
use lanecast::{Bytes, BytesMut};
use lanecast::{CastOptions, CastPlan, DType, Encoding, Streaming};

/// Fewer elements than a block, some blocks, and lengths that end inside a byte, a line, a block.
const LENGTHS: &[usize] = &[0, 1, 255, 700, 2048, 5003];
/// How far the source and the destination are from where they were allocated.
const OFFSETS: &[(usize, usize)] = &[(0, 0), (1, 0), (3, 1), (0, 61)];

fn check(from: Encoding, to: Encoding) {
    let mut rng = Rng(u64::from(from.dtype().code()) << 8 | u64::from(to.dtype().code()));
    let most = LENGTHS[LENGTHS.len() - 1];
    let noise: Vec<u8> = (0..from.byte_len(most).expect("small") + 64).map(|_| rng.bits() as u8).collect();
    for &tier in tiers() {
        let plan = CastPlan::with_tier(from, to, &CastOptions::RUST, tier).expect("an available tier");
        let (never, always) = (plan.with_streaming(Streaming::Never), plan.with_streaming(Streaming::Always));
        for &n in LENGTHS {
            for &(s, d) in OFFSETS {
                let len = to.byte_len(n).expect("small");
                let (mut want, mut got) = (vec![0xA5; len + 128], vec![0xA5; len + 128]);
                never
                    .run(Bytes::new(&noise[s..], n), BytesMut::new(&mut want[d..d + len], n))
                    .expect("large enough");
                always
                    .run(Bytes::new(&noise[s..], n), BytesMut::new(&mut got[d..d + len], n))
                    .expect("large enough");
                assert!(got == want, "{plan:?}, {n} elements, offsets {s} and {d}");
            }
        }
    }
}

/// All pairs of a source, packed and not.
fn check_source(from: DType) {
    for from in storages(from) {
        DType::ALL.iter().flat_map(|to| storages(*to)).for_each(|to| check(from, to));
    }
}

every_source!(check_source);

/// By itself a plan streams what no cache holds: the answer is the same.
#[test]
fn by_itself() {
    let n = 40 << 20;
    let src: Vec<u8> = (0..n).map(|i| (i * 7) as u8).collect();
    let plan = CastPlan::new(DType::UInt8, DType::Int16, &CastOptions::RUST).expect("a plan");
    let (mut auto, mut never) = (vec![1_u8; 2 * n], vec![2_u8; 2 * n]);
    plan.run(Bytes::new(&src, n), BytesMut::new(&mut auto, n)).expect("large enough");
    plan.with_streaming(Streaming::Never)
        .run(Bytes::new(&src, n), BytesMut::new(&mut never, n))
        .expect("large enough");
    assert!(auto == never);
}
