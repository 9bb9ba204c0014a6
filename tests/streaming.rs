//! A cast that writes past the caches writes the same bytes, and no others.

mod oracle;
mod support;

use lanecast::{BufferType, CastOptions, CastPlan, DType, Streaming};
use support::{rng::Rng, storages, tiers::tiers};

/// Fewer elements than a block, some blocks, and lengths that end inside a byte, a line, a block.
const LENGTHS: &[usize] = &[0, 1, 255, 700, 2048, 5003];
/// How far the source and the destination are from where they were allocated.
const OFFSETS: &[(usize, usize)] = &[(0, 0), (1, 0), (3, 1), (0, 61)];

fn check(from: BufferType, to: BufferType) {
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
                never.run(&noise[s..], &mut want[d..d + len], n).expect("large enough");
                always.run(&noise[s..], &mut got[d..d + len], n).expect("large enough");
                assert!(got == want, "{plan:?}, {n} elements, offsets {s} and {d}");
            }
        }
    }
}

macro_rules! sources {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                let from: DType = stringify!($name).parse().expect("the name of a dtype");
                for from in storages(from) {
                    DType::ALL.iter().flat_map(|to| storages(*to)).for_each(|to| check(from, to));
                }
            }
        )*
        #[test]
        fn every_dtype_stands_in_the_list() {
            assert!(DType::ALL.iter().map(|d| d.name()).eq([$(stringify!($name)),*]));
        }
    };
}

sources! {
    bool int2 int4 int8 int16 int32 int64 uint2 uint4 uint8 uint16 uint32 uint64 float16 bfloat16 float32
    float64 complex64 complex128 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu
    float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float6_e2m3fn float6_e3m2fn float4_e2m1fn
}

/// By itself a plan streams what no cache holds: the answer is the same.
#[test]
fn by_itself() {
    let n = 40 << 20;
    let src: Vec<u8> = (0..n).map(|i| (i * 7) as u8).collect();
    let plan = CastPlan::new(DType::UInt8, DType::Int16, &CastOptions::RUST).expect("a plan");
    let (mut auto, mut never) = (vec![1_u8; 2 * n], vec![2_u8; 2 * n]);
    plan.run(&src, &mut auto, n).expect("large enough");
    plan.with_streaming(Streaming::Never).run(&src, &mut never, n).expect("large enough");
    assert!(auto == never);
}
