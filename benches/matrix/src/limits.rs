//! The limits themselves: what the pure-traffic loops reach beside `memcpy`, for every ratio of bytes read to bytes written.
//!
//! A limit that is not one would flatter the casts; this is how to look.

use crate::pool::{PAGE, Pool};
use crate::{
    measure::{Contender, Effort, measure},
    traffic::Traffic,
};
use lanecast::{DType, Encoding, Tier};
use std::{cell::RefCell, hint::black_box, time::Duration};

/// Pairs that make all ratios that are powers of two.
const SHAPES: &[(DType, DType)] = &[
    (DType::UInt2, DType::Complex128),
    (DType::UInt8, DType::Float64),
    (DType::UInt8, DType::Float32),
    (DType::UInt8, DType::Float16),
    (DType::UInt8, DType::UInt8),
    (DType::Float16, DType::UInt8),
    (DType::Float32, DType::UInt8),
    (DType::Float64, DType::UInt8),
    (DType::Complex128, DType::UInt2),
];

/// A table of the limits, in GB/s.
pub fn limits(tiers: &[Tier], footprints: &[usize]) -> String {
    let mut text = String::from("tier    read:written     bytes  traffic streaming memcpy GB/s\n");
    let largest = footprints.iter().copied().max().unwrap_or(0);
    // Both sides of a `memcpy` may be up to half a footprint longer than those of the loop.
    let mut pool = Pool::new(2 * largest);
    for &footprint in footprints {
        for &tier in tiers {
            for &(from, to) in SHAPES {
                let (from, to) = (Encoding::packed(from), Encoding::packed(to));
                let bits = (from.bits_per_element() + to.bits_per_element()) as usize;
                let step = crate::cells::step(from, to);
                let n = footprint * 8 / bits / step * step;
                let [read, written] = [from, to].map(|buffer| buffer.byte_len(n).unwrap_or_default());
                let half = (read + written) / 2;
                let (src, dst) = pool.bytes().split_at_mut(read.max(half).next_multiple_of(PAGE));
                let (src, dst) = (&*src, &RefCell::new(dst));
                let mover = |traffic: Traffic| -> Contender<'_> {
                    Box::new(move |calls| {
                        let dst = &mut dst.borrow_mut()[..written];
                        for _ in 0..calls {
                            traffic.run(black_box(&src[..read]), black_box(&mut *dst));
                        }
                    })
                };
                let copy: Contender<'_> = Box::new(|calls| {
                    let dst = &mut dst.borrow_mut()[..half];
                    for _ in 0..calls {
                        black_box(&mut *dst).copy_from_slice(black_box(&src[..half]));
                    }
                });
                let loops = [Traffic::new, Traffic::streaming].map(|new| mover(new(tier, from, to)));
                let [ordinary, streaming] = loops;
                let effort = Effort {
                    budget: Duration::from_millis(200),
                    min_rounds: 5,
                    max_rounds: 1000,
                    turn: Duration::from_micros(50),
                };
                let rounds = measure(&mut [ordinary, streaming, copy], &effort);
                let rate = |k| (read + written) as f64 / rounds.time(k);
                text += &format!(
                    "{tier:7} {:>12} {:9} {:8.1} {:9.1} {:6.1}\n",
                    format!("{}:{}", from.bits_per_element(), to.bits_per_element()),
                    read + written,
                    rate(0),
                    rate(1),
                    rate(2)
                );
            }
        }
    }
    text
}
