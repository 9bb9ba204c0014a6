//! Scaled casts touch no byte outside their buffers: all of these end exactly at an inaccessible page, or begin behind one. Their answers
//! are those on ordinary memory.

#![cfg(all(feature = "scaled", unix, not(miri)))]
#![allow(unsafe_code, reason = "inaccessible pages are not to be had without")]

use crate::guarded::{Guarded, set_case, set_place};
use crate::support::every_tier::on_every_tier;
use lanecast::scaled::{Quantized, ScaledPlan, Scheme};
use lanecast::{Bytes, BytesMut, DType};

#[test]
fn nothing_beside_the_buffers() {
    let schemes = [
        ("mx", Scheme::MX),
        ("mx of 4 bits", Scheme::MX.with_element(DType::Float4E2M1FN)),
        ("mx of 6 bits", Scheme::MX.with_element(DType::Float6E2M3FN)),
        ("nvfp4", Scheme::NVFP4),
        ("fp8-row", Scheme::FP8_ROW),
        ("int8-row", Scheme::INT8_ROW),
        ("int4-group128", Scheme::INT4_GROUP128),
    ];
    let lengths = (1..=136).chain([191, 192, 193, 255, 256, 257, 1023, 1024, 1025]);
    let lengths: Vec<usize> = lengths.collect();
    let mut pages: [Guarded; 5] = std::array::from_fn(|_| Guarded::new(2 * 1025 * 4));
    on_every_tier(|tier| {
        for (name, scheme) in &schemes {
            for from in [DType::Float32, DType::BFloat16, DType::Float16] {
                for &n in &lengths {
                    // Two rows, the second of which begins anywhere.
                    let plan = ScaledPlan::new(from, scheme, &[2, n]).expect("fits");
                    let source: Vec<u8> =
                        (0..2 * n * from.size()).map(|i| (i * 37 % 61 + 32) as u8).collect();
                    let mut want = plan.alloc();
                    let report = plan.quantize(Bytes::new(&source, 2 * n), &mut want).expect("casts");
                    let [to_wide, to_half] =
                        [DType::Float32, DType::BFloat16].map(|output| plan.with_output(output));
                    let (mut back, mut narrow) = (vec![0; 2 * n * 4], vec![0; 2 * n * 2]);
                    to_wide.dequantize(&want, BytesMut::new(&mut back, 2 * n)).expect("casts");
                    to_half.dequantize(&want, BytesMut::new(&mut narrow, 2 * n)).expect("casts");
                    for at_end in [true, false] {
                        set_case(&format!(
                            "{name} of {from} on {tier}; elements of a row, buffers at the end:"
                        ));
                        set_place([n, at_end.into(), 0]);
                        let lens =
                            [source.len(), want.data.len(), want.scales.len(), back.len(), narrow.len()];
                        let mut at = lens.into_iter();
                        let [src, to, by, wide, half] =
                            pages.each_mut().map(|page| page.edge(at_end, at.next().expect("five buffers")));
                        src.copy_from_slice(&source);
                        let (src, mut q) = (Bytes::new(src, 2 * n), Quantized::new(to, by));
                        let again = plan.quantize(src, &mut q).expect("casts");
                        assert_eq!(again, report, "{name}: {n}");
                        assert_eq!((&*q.data, &*q.scales), (&*want.data, &*want.scales), "{name}: {n}");
                        plan.quantize_given(src, &mut q).expect("casts");
                        assert_eq!(q.data, want.data, "{name}: {n}, by given scales");
                        to_wide.dequantize(&q, BytesMut::new(wide, 2 * n)).expect("casts");
                        to_half.dequantize(&q, BytesMut::new(half, 2 * n)).expect("casts");
                        assert_eq!((&*wide, &*half), (&back[..], &narrow[..]), "{name}: {n}");
                    }
                }
            }
        }
    });
}
