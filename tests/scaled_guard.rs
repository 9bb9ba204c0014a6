//! Scaled casts touch no byte outside their buffers: all of these end exactly at an inaccessible page, or begin behind one. Their answers
//! are those on ordinary memory.

#![cfg(all(feature = "scaled", unix, not(miri)))]
#![allow(unsafe_code, reason = "inaccessible pages are not to be had without")]

use crate::guarded::{Guarded, set_case, set_place};
use crate::support::every_tier::on_every_tier;
use lanecast::DType;
use lanecast::scaled::{ScaledPlan, Scheme};

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
                    let (mut codes, mut scales) = (vec![0; plan.data_len()], vec![0; plan.scales_len()]);
                    let report = plan.quantize_dynamic(&source, &mut codes, &mut scales).expect("casts");
                    let mut back = vec![0; 2 * n * 4];
                    plan.dequantize(&codes, &scales, report.global, DType::Float32, &mut back)
                        .expect("casts");
                    let mut narrow = vec![0; 2 * n * 2];
                    plan.dequantize(&codes, &scales, report.global, DType::BFloat16, &mut narrow)
                        .expect("casts");
                    for at_end in [true, false] {
                        set_case(&format!(
                            "{name} of {from} on {tier}; elements of a row, buffers at the end:"
                        ));
                        set_place([n, at_end.into(), 0]);
                        let lens = [source.len(), codes.len(), scales.len(), back.len(), narrow.len()];
                        let mut at = lens.into_iter();
                        let [src, to, by, wide, half] =
                            pages.each_mut().map(|page| page.edge(at_end, at.next().expect("five buffers")));
                        src.copy_from_slice(&source);
                        let again = plan.quantize_dynamic(src, to, by).expect("casts");
                        assert_eq!((&*to, &*by, again), (&codes[..], &scales[..], report), "{name}: {n}");
                        plan.quantize(src, by, report.global, to).expect("casts");
                        assert_eq!(to, codes, "{name}: {n}, by given scales");
                        plan.dequantize(to, by, report.global, DType::Float32, wide).expect("casts");
                        plan.dequantize(to, by, report.global, DType::BFloat16, half).expect("casts");
                        assert_eq!((&*wide, &*half), (&back[..], &narrow[..]), "{name}: {n}");
                    }
                }
            }
        }
    });
}
