//! Long destinations that begin beside a cache line: the results are those of an aligned one, and nothing beside them is written.

use crate::support::every_tier::on_every_tier;
use crate::support::rng::Rng;
use lanecast::{Bytes, BytesMut};
use lanecast::{CastOptions, CastPlan, DType, Encoding};

/// Elements: more than 4 KiB in every storage, and no whole number of bytes in packed ones.
const N: usize = 20_003;

/// A dtype in its storages.
fn storages(dtype: DType) -> impl Iterator<Item = Encoding> {
    let packed = (dtype.bits() < 8).then(|| Encoding::packed(dtype));
    [Some(Encoding::new(dtype)), packed].into_iter().flatten()
}

#[test]
fn addresses_do_not_matter() {
    let mut rng = Rng(0x11E5);
    let random: Vec<u8> = (0..16 * N + 192).map(|_| rng.bits() as u8).collect();
    let mut moved = random.clone();
    on_every_tier(|tier| {
        let mut offset = 0;
        for from in DType::ALL.iter().flat_map(|dtype| storages(*dtype)) {
            // The buffers of every pair, at other addresses each time.
            for to in DType::ALL.iter().flat_map(|dtype| storages(*dtype)) {
                let plan = CastPlan::new(from, to, &CastOptions::default()).expect("every pair has a cast");
                let (read, written) = (from.byte_len(N).expect("fits"), to.byte_len(N).expect("fits"));
                offset = offset % 63 + 1;
                // The same source at a line and elsewhere.
                let (line, behind) = (random.as_ptr().align_offset(64), 64 - offset);
                let mut aligned = vec![0; written + 64];
                let start = aligned.as_ptr().align_offset(64);
                plan.run(
                    Bytes::new(&random[line..line + read], N),
                    BytesMut::new(&mut aligned[start..start + written], N),
                )
                .expect("fits");
                moved[behind..behind + read].copy_from_slice(&random[line..line + read]);
                let mut other = vec![0xA5; written + 128 + 8];
                let at = other.as_ptr().align_offset(64) + offset;
                plan.run(
                    Bytes::new(&moved[behind..behind + read], N),
                    BytesMut::new(&mut other[at..at + written], N),
                )
                .expect("fits");
                assert!(
                    other[at..at + written] == aligned[start..start + written],
                    "{from} to {to} on {tier}: {offset} bytes behind a line"
                );
                let beside = [&other[..at], &other[at + written..]].concat();
                assert!(beside.iter().all(|byte| *byte == 0xA5), "{from} to {to} on {tier}: bytes beside it");
            }
        }
    });
}
