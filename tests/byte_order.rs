//! A cast with a side in the byte order that the host does not have is the native cast with bytes reversed before or after it,
//! whatever way it goes.

use crate::support::{options, patterns, storages, store, tiers::tiers};
use lanecast::InPlace;
#[cfg(feature = "text")]
use lanecast::text::{FormatPlan, ParsePlan, TextOptions};
use lanecast::{
    ByteOrder, Bytes, BytesMut, CastError, CastOptions, CastPlan, DType, E5M2Nan, Encoding, FloatRound,
    IntRound, Level, Side, Streaming, Tier, Uninit,
    num_complex::Complex,
    strided::{Layout, View, ViewMut},
};
use std::mem::MaybeUninit;

const OTHER: ByteOrder = match ByteOrder::NATIVE {
    ByteOrder::Little => ByteOrder::Big,
    ByteOrder::Big => ByteOrder::Little,
};

/// None, fewer than a register, whole registers, more than a block of any kind.
const LENGTHS: &[usize] = &[0, 1, 31, 64, 513, 2500];
/// How far the source and the destination are from where they were allocated.
const OFFSETS: &[(usize, usize)] = &[(0, 0), (1, 3)];
const CANARY: u8 = 0xA5;

/// Elements in the other order, or in that of the host again: of complex numbers each part for itself.
fn reversed(bytes: &[u8], of: Encoding) -> Vec<u8> {
    let part = match of.dtype() {
        _ if !of.is_swapped() => 1,
        DType::Complex64 => 4,
        DType::Complex128 => 8,
        dtype => dtype.size(),
    };
    bytes.chunks(part).flat_map(|word| word.iter().rev().copied()).collect()
}

/// A pair of encodings with one side or both in the other order; none if neither has wide elements.
fn swapped(from: Encoding, to: Encoding) -> Vec<(Encoding, Encoding)> {
    let mut all = vec![
        (from.with_order(OTHER), to),
        (from, to.with_order(OTHER)),
        (from.with_order(OTHER), to.with_order(OTHER)),
    ];
    all.retain(|(from, to)| from.is_swapped() || to.is_swapped());
    all.dedup();
    all
}

/// One cast, and what the native one does.
struct Check<'a> {
    plan: CastPlan,
    native: CastPlan,
    /// Native elements.
    source: &'a [u8],
}

impl Check<'_> {
    /// The source of the plan and the result it has to give.
    fn case(&self, n: usize) -> (Vec<u8>, Vec<u8>) {
        let (read, written) =
            (self.native.source().byte_len(n).unwrap(), self.native.target().byte_len(n).unwrap());
        let mut want = vec![0; written];
        self.native.run(Bytes::new(self.source, n), BytesMut::new(&mut want, n)).unwrap();
        (reversed(&self.source[..read], self.plan.source()), reversed(&want, self.plan.target()))
    }

    /// Between two buffers at an offset, with nothing written outside.
    fn run(&self, plan: &CastPlan, n: usize, (s, d): (usize, usize)) {
        let (src, want) = self.case(n);
        let src = [&vec![CANARY; s][..], &src].concat();
        let mut dst = vec![CANARY; d + want.len() + 70];
        plan.run(Bytes::new(&src[s..], n), BytesMut::new(&mut dst[d..], n)).unwrap();
        let outside = dst[..d].iter().chain(&dst[d + want.len()..]);
        assert!(outside.copied().all(|byte| byte == CANARY), "{plan:?}, {n} elements: wrote outside");
        assert!(dst[d..][..want.len()] == want, "{plan:?}, {n} elements at {s} and {d}");
    }

    /// All other ways.
    fn ways(&self, n: usize) {
        let (plan, (src, want)) = (&self.plan, self.case(n));
        self.run(&plan.with_streaming(Streaming::Always), n, (3, 2));
        let mut memory = vec![MaybeUninit::uninit(); want.len() + 1];
        let mut memory = Uninit::new(&mut memory);
        plan.run(Bytes::new(&src, n), BytesMut::uninit(&mut memory, n)).unwrap();
        assert!(*memory.written() == want, "{plan:?}, uninitialised");
        let longest = src.len().max(want.len());
        let mut buffer = vec![CANARY; longest + 9];
        buffer[..src.len()].copy_from_slice(&src);
        plan.run(InPlace, BytesMut::new(&mut buffer[..longest], n)).unwrap();
        assert!(buffer[..want.len()] == want && buffer[longest..] == [CANARY; 9], "{plan:?}, in place");
        for (s, d) in [(0, src.len() + 1), (want.len() + 5, 2)] {
            let mut buffer = vec![CANARY; src.len() + want.len() + 8];
            buffer[s..][..src.len()].copy_from_slice(&src);
            let layout = |of, at| Layout::contiguous(of, &[n]).unwrap().with_offset(at);
            plan.run_within(&mut buffer, &layout(plan.source(), s), &layout(plan.target(), d)).unwrap();
            assert!(buffer[s..][..src.len()] == src && buffer[d..][..want.len()] == want, "{plan:?}, within");
        }
        for level in [Level::Range, Level::Exact] {
            self.losses(level, n, &src);
        }
    }

    /// What is rejected, marked and counted is what the native cast loses, also with non-temporal stores.
    fn losses(&self, level: Level, n: usize, src: &[u8]) {
        let plan = &self.plan;
        let len = plan.target().byte_len(n).unwrap();
        let (mut want, mut got) = (vec![0; len], vec![0; len]);
        let (native, checked) = (self.native.checked(level), plan.checked(level));
        let expected = native.run(Bytes::new(self.source, n), BytesMut::new(&mut want, n));
        assert_eq!(
            checked.run(Bytes::new(src, n), BytesMut::new(&mut got, n)),
            expected,
            "{checked:?}, {level:?}"
        );
        assert!(expected.is_err() || got == reversed(&want, plan.target()), "{checked:?}, {level:?}");
        let (mut valid, mut marked) = (vec![0; n.div_ceil(8)], vec![0; n.div_ceil(8)]);
        let lost = native.run_masked(Bytes::new(self.source, n), BytesMut::new(&mut want, n), &mut valid);
        for streaming in [Streaming::Never, Streaming::Always] {
            let checked = checked.with_streaming(streaming);
            got.fill(CANARY);
            assert_eq!(
                checked.run_masked(Bytes::new(src, n), BytesMut::new(&mut got, n), &mut marked),
                lost,
                "{checked:?}, {level:?}"
            );
            assert!(
                marked == valid && got == reversed(&want, plan.target()),
                "{checked:?}, {level:?}, masked"
            );
        }
        let report =
            self.native.checked(level).run_counted(Bytes::new(self.source, n), BytesMut::new(&mut want, n));
        assert_eq!(
            plan.checked(level).run_counted(Bytes::new(src, n), BytesMut::new(&mut got, n)),
            report,
            "{plan:?}, {level:?}, counted"
        );
        assert!(got == reversed(&want, plan.target()), "{plan:?}, {level:?}, counted");
    }
}

fn check_pair(from: DType, to: DType) {
    let codes = patterns::sample(from, to, LENGTHS[LENGTHS.len() - 1], 17);
    for (i, options) in options::applicable(from, to).iter().enumerate() {
        for (from, to) in
            storages(from).into_iter().flat_map(|s| storages(to).into_iter().map(move |d| (s, d)))
        {
            let source = &store(from, &codes)[..];
            for (s, d) in swapped(from, to) {
                for &tier in tiers() {
                    let plan = |from, to| CastPlan::with_tier(from, to, options, tier).unwrap();
                    let check = Check { plan: plan(s, d), native: plan(from, to), source };
                    if i == 0 {
                        for n in LENGTHS {
                            OFFSETS.iter().for_each(|offsets| check.run(&check.plan, *n, *offsets));
                        }
                        check.ways(1500);
                    } else if s.is_swapped() || i % 4 == 0 {
                        check.run(&check.plan, 333, (1, 0));
                    }
                }
            }
        }
    }
}

/// All pairs of a source.
fn check_source(from: DType) {
    DType::ALL.iter().for_each(|to| check_pair(from, *to));
}

every_source!(check_source);

/// In bytes that anybody can read.
#[test]
fn by_hand() {
    let big = |dtype| Encoding::new(dtype).with_order(ByteOrder::Big);
    let little = |dtype| Encoding::new(dtype).with_order(ByteOrder::Little);
    let cast = |from, to, src: &[u8], n| {
        let mut out = vec![0; Encoding::byte_len(to, n).unwrap()];
        CastPlan::new(from, to, &CastOptions::RUST)
            .unwrap()
            .run(Bytes::new(src, n), BytesMut::new(&mut out, n))
            .unwrap();
        out
    };
    let one = [0x3F, 0x80, 0, 0, 0xC0, 0x20, 0, 0];
    assert_eq!(cast(big(DType::Float32), little(DType::Float16), &one, 2), [0x00, 0x3C, 0x00, 0xC1]);
    assert_eq!(cast(big(DType::Float32), big(DType::Int16), &one, 2), [0, 1, 0xFF, 0xFE]);
    assert_eq!(cast(big(DType::Float32), DType::Int8.into(), &one, 2), [1, 0xFE]);
    assert_eq!(cast(DType::UInt8.into(), big(DType::UInt32), &[7], 1), [0, 0, 0, 7]);
    // The parts of a complex number stay where they are.
    let z = [1, 2, 3, 4, 5, 6, 7, 8];
    assert_eq!(cast(big(DType::Complex64), little(DType::Complex64), &z, 1), [4, 3, 2, 1, 8, 7, 6, 5]);
    assert_eq!(cast(little(DType::Float64), big(DType::Float64), &z, 1), [8, 7, 6, 5, 4, 3, 2, 1]);
    // A signalling NaN keeps its payload.
    assert_eq!(cast(big(DType::Float32), little(DType::Float32), &[0xFF, 0x80, 1, 2], 1), [2, 1, 0x80, 0xFF]);
}

/// Options that the kernels of tables do not answer.
#[test]
fn rare_options() {
    let [big, native] =
        [DType::Float32, DType::Float8E5M2].map(|d| Encoding::new(d).with_order(ByteOrder::Big));
    let nan: Vec<u8> = [f32::NAN, 1.9, -1.9].iter().flat_map(|x| x.to_be_bytes()).collect();
    let mut out = [0; 3];
    let options = CastOptions::RUST.with_e5m2_nan(E5M2Nan::Code7F);
    CastPlan::new(big, native, &options)
        .unwrap()
        .run(Bytes::new(&nan, 3), BytesMut::new(&mut out, 3))
        .unwrap();
    assert_eq!(out, [0x7F, 0x40, 0xC0]);
    let options = CastOptions::RUST.with_int_round(IntRound::Floor).with_float_round(FloatRound::TowardZero);
    CastPlan::new(big, DType::Int8, &options)
        .unwrap()
        .run(Bytes::new(&nan, 3), BytesMut::new(&mut out, 3))
        .unwrap();
    assert_eq!(out, [0, 1, 0xFE]);
}

/// Slices are of the host's order.
#[test]
fn slices_are_native() {
    let other = |dtype| Encoding::new(dtype).with_order(OTHER);
    let options = &CastOptions::RUST;
    let order = if OTHER == ByteOrder::Big { "big-endian" } else { "little-endian" };
    let said = |error: Option<CastError>, which| {
        assert!(
            matches!(error, Some(CastError::WrongElement { which: side, .. }) if side == which),
            "{error:?}"
        );
        let text = format!("the {which} is a slice of float32 but the plan is for float32 ({order})");
        assert_eq!(error.unwrap().to_string(), text);
    };
    let plan = CastPlan::new(other(DType::Float32), DType::Float64, options).unwrap();
    said(plan.run(&[1.0_f32], &mut [0.0_f64]).err(), Side::Source);
    said(plan.run_to_vec::<f64>(&[1.0_f32]).err(), Side::Source);
    said(plan.checked(Level::Range).run(&[1.0_f32], &mut [0.0_f64]).err(), Side::Source);
    said(plan.checked(Level::Range).run_masked(&[1.0_f32], &mut [0.0_f64], &mut [0]).err(), Side::Source);
    said(plan.checked(Level::Range).run_counted(&[1.0_f32], &mut [0.0_f64]).err(), Side::Source);
    let plan = CastPlan::new(DType::Float64, other(DType::Float32), options).unwrap();
    said(plan.run(&[1.0_f64], &mut [0.0_f32]).err(), Side::Destination);
    said(plan.checked(Level::Exact).run_to_vec::<f32>(&[1.0_f64]).err(), Side::Destination);
    #[cfg(feature = "text")]
    {
        let text = &TextOptions::DEFAULT;
        said(FormatPlan::new(other(DType::Float32), text).unwrap().run(&[1.0_f32]).err(), Side::Source);
        let parsed =
            ParsePlan::new(other(DType::Float32), text, options).unwrap().run_to_vec::<_, f32>(["1"]);
        let text = format!("the destination is a slice of float32 but the plan is for float32 ({order})");
        assert_eq!(parsed.unwrap_err().to_string(), text);
    }
}

/// An order of elements of a byte is none: the plan is the same.
#[test]
fn bytes_have_no_order() {
    for &dtype in DType::ALL.iter().filter(|dtype| dtype.size() == 1) {
        for buffer in storages(dtype) {
            assert_eq!(buffer.with_order(OTHER), buffer);
            assert_eq!(buffer.with_order(OTHER).order(), ByteOrder::NATIVE);
        }
    }
    let plan = CastPlan::new(Encoding::new(DType::UInt8).with_order(OTHER), DType::Int8, &CastOptions::RUST);
    assert_eq!(plan.unwrap().run(&[200_u8], &mut [0_i8]), Ok(()));
}

/// The element that is rejected is named by its value and its place, in a later block too.
#[test]
fn rejections() {
    let other = Encoding::new(DType::Float64).with_order(OTHER);
    for &tier in tiers() {
        for place in [0, 511, 512, 1499] {
            let mut values = vec![1.0_f64; 1500];
            values[place] = -1.5;
            let native: Vec<u8> = values.iter().flat_map(|x| x.to_ne_bytes()).collect();
            for to in [Encoding::new(DType::UInt8), Encoding::new(DType::UInt32).with_order(OTHER)] {
                let plan = CastPlan::with_tier(other, to, &CastOptions::RUST, tier).unwrap();
                let mut out = vec![0; 6000];
                let error = plan
                    .checked(Level::Range)
                    .run(Bytes::new(&reversed(&native, other), 1500), BytesMut::new(&mut out, 1500))
                    .unwrap_err();
                let text = format!(
                    "element {place}, the float64 -1.5, does not fit in {}: it has no sign",
                    to.dtype()
                );
                assert_eq!(error.to_string(), text, "{plan:?}");
            }
        }
    }
}

/// Texts of elements, and elements of texts.
#[cfg(feature = "text")]
#[test]
fn texts() {
    let numbers = ["1.5", "-2", "1e3", "NaN", "0.1"];
    let options = &CastOptions::RUST;
    for dtype in [DType::Float16, DType::Float32, DType::Float64, DType::Complex64, DType::Complex128] {
        let (native, other) = (Encoding::new(dtype), Encoding::new(dtype).with_order(OTHER));
        let parse = |to, dst: &mut [u8]| {
            ParsePlan::new(to, &TextOptions::DEFAULT, options).unwrap().run(numbers, dst)
        };
        let (mut want, mut got) = (vec![0; 5 * dtype.size()], vec![CANARY; 5 * dtype.size()]);
        parse(native, &mut want).unwrap();
        assert_eq!(parse(other, &mut got).unwrap(), 5);
        assert_eq!(got, reversed(&want, other), "{other}");
        let format = |from, src: &[u8]| {
            FormatPlan::new(from, &TextOptions::DEFAULT).unwrap().run(Bytes::new(src, 5)).unwrap()
        };
        assert_eq!(format(other, &got), format(native, &want), "{other}");
        let (mut a, mut b) = (vec![], vec![]);
        let one =
            |from, src: &[u8], out| FormatPlan::new(from, &TextOptions::DEFAULT).unwrap().run_one(src, out);
        one(other, &got, &mut a).unwrap();
        one(native, &want, &mut b).unwrap();
        assert_eq!(a, b);
    }
    let big = Encoding::new(DType::UInt32).with_order(ByteOrder::Big);
    let plan = ParsePlan::new(big, &TextOptions::DEFAULT, options).unwrap();
    let mut out = [0; 4];
    plan.run(["258"], &mut out).unwrap();
    assert_eq!(out, [0, 0, 1, 2]);
    let many: Vec<String> = (0..2000).map(|i| i.to_string()).collect();
    let mut out = vec![0; 8000];
    plan.run(&many, &mut out).unwrap();
    assert!(out.chunks(4).enumerate().all(|(i, word)| *word == (i as u32).to_be_bytes()));
    let texts = FormatPlan::new(big, &TextOptions::DEFAULT).unwrap().run(Bytes::new(&out, 2000)).unwrap();
    assert!(texts.iter().eq(&many));
}

/// Over threads: chunks begin where their elements do.
#[cfg(feature = "rayon")]
#[test]
fn threads_agree() {
    use lanecast::Threads;
    let n = if cfg!(miri) { 100 } else { 1_000_003 };
    let noise: Vec<u8> = (0..8 * n).map(|i| ((i * 151) >> 3) as u8).collect();
    for (from, to) in
        [(DType::Complex64, DType::Float32), (DType::Float32, DType::Float32), (DType::Int64, DType::Int4)]
    {
        for (from, to) in swapped(Encoding::packed(from), Encoding::packed(to)) {
            let plan = CastPlan::new(from, to, &CastOptions::RUST).unwrap();
            let len = to.byte_len(n).unwrap();
            let (mut one, mut many) = (vec![0; len], vec![0; len]);
            plan.run(Bytes::new(&noise, n), BytesMut::new(&mut one, n)).unwrap();
            plan.with_threads(Threads::Rayon)
                .run(Bytes::new(&noise, n), BytesMut::new(&mut many, n))
                .unwrap();
            assert!(one == many, "{plan:?}");
            let checked = plan.checked(Level::Range);
            assert_eq!(
                checked.with_threads(Threads::Rayon).run(Bytes::new(&noise, n), BytesMut::new(&mut many, n)),
                checked.run(Bytes::new(&noise, n), BytesMut::new(&mut one, n))
            );
            let counted = plan.checked(Level::Exact);
            assert_eq!(
                counted
                    .with_threads(Threads::Rayon)
                    .run_counted(Bytes::new(&noise, n), BytesMut::new(&mut many, n)),
                counted.run_counted(Bytes::new(&noise, n), BytesMut::new(&mut one, n))
            );
            assert!(one == many, "{plan:?}");
        }
    }
}

/// Nothing is written when a buffer is too small.
#[test]
fn shortages() {
    let other = Encoding::new(DType::Complex128).with_order(OTHER);
    let plan = CastPlan::with_tier(other, other.native(), &CastOptions::RUST, Tier::best()).unwrap();
    let mut out = [CANARY; 32];
    let short = CastError::BufferTooSmall { which: Side::Source, need: 32, have: 31 };
    assert_eq!(plan.run(Bytes::new(&[0; 31], 2), BytesMut::new(&mut out, 2)), Err(short));
    assert_eq!(
        plan.run(Bytes::new(&[], usize::MAX), BytesMut::new(&mut out, usize::MAX)),
        Err(CastError::TooLarge { elements: usize::MAX, encoding: other })
    );
    assert_eq!(out, [CANARY; 32]);
    let z = Complex { re: 1.0_f64, im: 2.0 };
    assert!(plan.run(&[z], &mut [z]).is_err());
}

/// Between arrays of any layout: whatever is gathered, turned or copied keeps its order.
#[test]
fn strided_arrays() {
    let shape = [37, 45];
    let n = shape[0] * shape[1];
    let noise: Vec<u8> = (0..16 * n).map(|i| ((i * 151) >> 3) as u8).collect();
    for (s, d) in [
        (DType::Float32, DType::Float16),
        (DType::UInt16, DType::Complex64),
        (DType::Float32, DType::Float32),
        (DType::Complex64, DType::Complex64),
        (DType::Float64, DType::Int8),
    ] {
        let (s, d) = (Encoding::new(s), Encoding::new(d));
        let run = |from: Encoding, to: Encoding, turn: usize, tier: Tier| {
            let layout = |of, turned: bool| {
                let layout = Layout::contiguous(of, if turned { &[45, 37] } else { &shape }).unwrap();
                if turned { layout.transposed() } else { layout }
            };
            let source = reversed(&noise[..from.byte_len(n).unwrap()], from);
            let mut out = vec![CANARY; to.byte_len(n).unwrap()];
            let src = View::new(&source, layout(from, turn % 2 == 1)).unwrap();
            let mut dst = ViewMut::new(&mut out, layout(to, turn >= 2)).unwrap();
            let plan = CastPlan::with_tier(from, to, &CastOptions::RUST, tier).unwrap();
            plan.run(&src, &mut dst).unwrap();
            reversed(&out, to)
        };
        for (from, to) in swapped(s, d) {
            for &tier in tiers() {
                for turn in 0..4 {
                    assert!(
                        run(from, to, turn, tier) == run(s, d, turn, tier),
                        "{from} -> {to}, {tier}, {turn}"
                    );
                }
            }
        }
    }
}

/// Rough ratios to the native cast in the second cache; `cargo test --release --test library -- byte_order:: --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn ratios() {
    use std::time::Instant;
    let wide = DType::ALL.iter().filter(|dtype| Encoding::new(**dtype).with_order(OTHER).is_swapped());
    let noise: Vec<u8> = (0..1 << 20).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let mut dst = vec![0; 1 << 20];
    for &tier in tiers() {
        let (mut logs, mut count, mut worst) = (0.0, 0, Vec::new());
        for from in wide.clone() {
            for to in DType::ALL.iter().filter(|to| *to != from) {
                let (from, to) = (Encoding::new(*from), Encoding::new(*to));
                // Half a mebibyte for both sides.
                let n = (1 << 22) / (from.bits_per_element() + to.bits_per_element()) as usize;
                let mut time = |from: Encoding, to: Encoding| {
                    let plan = CastPlan::with_tier(from, to, &CastOptions::RUST, tier).unwrap();
                    let times = (0..15).map(|_| {
                        let start = Instant::now();
                        plan.run(Bytes::new(&noise, n), BytesMut::new(&mut dst, n)).unwrap();
                        start.elapsed()
                    });
                    times.min().unwrap().as_nanos() as f64
                };
                let native = time(from, to);
                for (source, target) in swapped(from, to) {
                    let ratio = time(source, target) / native;
                    logs += ratio.ln();
                    count += 1;
                    worst.push((ratio, format!("{source} to {target}")));
                }
            }
        }
        worst.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mean = (logs / f64::from(count)).exp();
        let above = worst.iter().filter(|(ratio, _)| *ratio > 1.15).count();
        println!("{tier}: geometric mean {mean:.3} of {count}, {above} above 1.15");
        worst.iter().step_by(worst.len() / 12 + 1).for_each(|(ratio, cast)| println!("  {ratio:.2} {cast}"));
    }
}
