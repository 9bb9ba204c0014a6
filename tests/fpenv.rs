//! Results do not depend on the host's floating-point control register, and it is left as it was.
//!
//! Some programs set flush-to-zero, denormals-are-zero or another rounding mode for a thread, by loading a library
//! built with `-ffast-math` for one; some unmask exceptions, so that an operation that overflows or is inexact raises
//! a signal. Rust code may not run under such settings by the letter, but a library is called under them all the
//! same. Here the register is set by inline assembly around the call of a plan that was made before, for every pair,
//! option and tier, on values that are hard to cast; nothing else runs in between. A signal would end the whole test
//! program: run it with `LANECAST_TEST_TRACE=1` and `--test-threads=1` to see which cast was the last.

#![cfg(not(miri))]

#[cfg(feature = "scaled")]
#[path = "fpenv/scaled.rs"]
mod scaled;

use crate::support::check::Case;
use crate::support::{byte_len, options, patterns, storages, store, tiers::tiers};
use crate::{control, oracle, support};
#[cfg(feature = "text")]
use lanecast::text::{FormatPlan, ParsePlan, TextOptions};
use lanecast::{
    Bytes, BytesMut, CastError, CastOptions, CastPlan, CastReport, DType, IntRound, Level, half::f16,
};
#[cfg(feature = "text")]
use lanecast::{Kind, num_complex::Complex};
use std::hint::black_box;

/// Elements per cast: some vectors and a tail.
const N: usize = 333;

/// The states of the register; says so if there are none.
fn states(masked: bool) -> Vec<control::Control> {
    static ONCE: std::sync::Once = std::sync::Once::new();
    let states = control::states(masked);
    if states.is_empty() {
        ONCE.call_once(|| {
            let target = std::env::consts::ARCH;
            support::say(&format!("SKIPPED: floating-point environments: no control register on {target}"));
        });
    }
    states
}

fn check_pair(from: DType, to: DType, masked: bool) {
    let trace = std::env::var_os("LANECAST_TEST_TRACE").is_some();
    let source = patterns::sample(from, to, N, 11);
    for options in options::applicable(from, to) {
        let expected: Vec<u128> = source.iter().map(|&bits| oracle::cast(from, to, &options, bits)).collect();
        // Packed storage wraps the same arithmetic; one of the two is enough here.
        let (from, to) = (*storages(from).last().expect("one"), storages(to)[0]);
        let (src, want) = (store(from, &source), store(to, &expected));
        for &tier in tiers() {
            let case = Case { from, to, options: &options, tier };
            if trace {
                support::say(&case.to_string());
            }
            let plan = case.plan();
            for state in states(masked) {
                let mut dst = vec![0xA5; byte_len(to, N)];
                let mut result = Ok(());
                let (before, after) = control::under(state, &mut || {
                    result = plan.run(Bytes::new(&src, N), BytesMut::new(&mut dst, N))
                });
                assert_eq!(result, Ok(()));
                assert_eq!(
                    after, before,
                    "{case}: the control register ({state:?}) is another one after the cast"
                );
                assert!(dst == want, "{state:?}: {}", case.complaint(&source, &dst, &expected));
            }
        }
    }
}

/// Every `nth` dtype as a source, so that the tests share the work of the cores.
fn check(masked: bool, nth: usize, of: usize) {
    for &from in DType::ALL.iter().skip(nth).step_by(of) {
        for &to in DType::ALL {
            check_pair(from, to, masked);
        }
    }
}

#[test]
fn masked_even_sources() {
    check(true, 0, 2);
}

#[test]
fn masked_odd_sources() {
    check(true, 1, 2);
}

#[test]
fn unmasked_even_sources() {
    check(false, 0, 2);
}

#[test]
fn unmasked_odd_sources() {
    check(false, 1, 2);
}

/// All that can be asked of a cast.
#[derive(Debug, Default, PartialEq)]
struct Answers {
    counted: Option<Result<CastReport, CastError>>,
    checked: Option<Result<(), CastError>>,
    masked: Option<Result<usize, CastError>>,
    dst: Vec<u8>,
    validity: Vec<u8>,
}

impl Answers {
    fn ask(&mut self, plan: &CastPlan, level: Level, src: &[u8], n: usize) {
        let (counted, checked) = (plan.checked(level), plan.checked(level));
        self.checked = Some(checked.run(Bytes::new(src, n), BytesMut::new(&mut self.dst, n)));
        self.masked =
            Some(checked.run_masked(Bytes::new(src, n), BytesMut::new(&mut self.dst, n), &mut self.validity));
        self.counted = Some(counted.run_counted(Bytes::new(src, n), BytesMut::new(&mut self.dst, n)));
    }
}

/// Asks a cast all of it in these states, and compares with the answers in the default one.
fn check_asked(plan: &CastPlan, src: &[u8], n: usize, states: &[control::Control]) {
    for level in [Level::Range, Level::Exact] {
        let new = || Answers {
            dst: vec![0xA5; byte_len(plan.target(), n)],
            validity: vec![0; n.div_ceil(8)],
            ..Answers::default()
        };
        let mut want = new();
        want.ask(plan, level, src, n);
        for &state in states {
            let mut got = new();
            let (before, after) = control::under(state, &mut || got.ask(plan, level, src, n));
            assert_eq!(after, before, "{plan:?}, {level:?}: the control register ({state:?}) is another one");
            assert!(got == want, "{plan:?}, {level:?}, {state:?}: {got:?}, expected {want:?}");
        }
    }
}

/// Checked and counting casts: whether values are rounded is seen by additions. All states with the default options; of every
/// other combination the last one, which changes the most, and one more.
fn check_all_asked(masked: bool) {
    let trace = std::env::var_os("LANECAST_TEST_TRACE").is_some();
    let (states, n) = (states(masked), 67);
    let Some(&last) = states.last() else { return };
    for &from in DType::ALL {
        for &to in DType::ALL {
            let src = store(from.into(), &patterns::sample(from, to, n, 12));
            for (i, options) in options::applicable(from, to).iter().enumerate() {
                for &tier in tiers() {
                    let case = Case { from: from.into(), to: to.into(), options, tier };
                    if trace {
                        support::say(&format!("{case}, asked"));
                    }
                    let some = [states[i % states.len()], last];
                    check_asked(&case.plan(), &src, n, if i == 0 { &states } else { &some });
                }
            }
        }
    }
}

#[test]
fn masked_asked() {
    check_all_asked(true);
}

#[test]
fn unmasked_asked() {
    check_all_asked(false);
}

/// The reason of a rejection is found without arithmetic that takes a subnormal number for zero or traps on a NaN.
#[test]
fn reasons() {
    let options = CastOptions::RUST.with_int_round(IntRound::Floor);
    let plan = CastPlan::new(DType::Float64, DType::UInt8, &options).expect("a tier");
    let states: Vec<_> = [true, false].into_iter().flat_map(states).collect();
    for bad in [-f64::from_bits(1), f64::from_bits(0x7FF0_0000_0000_0001)] {
        check_asked(&plan, &bad.to_ne_bytes(), 1, &states);
    }
}

/// Texts, which are read and written in integer arithmetic, and rounded by casts.
#[cfg(feature = "text")]
#[test]
fn texts() {
    let texts: Vec<&str> =
        data!("text_format.tsv").lines().skip(1).filter_map(|row| row.split('\t').nth(2)).collect();
    for &dtype in DType::ALL.iter().filter(|d| matches!(d.kind(), Kind::Float | Kind::Complex)) {
        let parse = ParsePlan::new(dtype, &TextOptions::DEFAULT, &CastOptions::RUST).expect("a tier");
        let format = FormatPlan::new(dtype, &TextOptions::DEFAULT).expect("a tier");
        let run = |elements: &mut [u8]| {
            let parsed = parse.run(&texts, elements);
            (parsed, format.run(lanecast::Bytes::new(elements, texts.len())))
        };
        let mut want = vec![0; texts.len() * dtype.size()];
        let written = run(&mut want);
        assert_eq!(written.0, Ok(texts.len()));
        for state in [true, false].into_iter().flat_map(states) {
            let (mut got, mut again) = (vec![0; want.len()], None);
            let (before, after) = control::under(state, &mut || again = Some(run(&mut got)));
            assert_eq!(
                after, before,
                "{dtype}: the control register ({state:?}) is another one after the texts"
            );
            assert!(got == want && again.as_ref() == Some(&written), "{dtype}: texts differ in {state:?}");
        }
    }
}

/// Blocks, whose encoding is arithmetic in float32.
#[cfg(feature = "gguf")]
#[test]
fn blocks() {
    use lanecast::{gguf, half::bf16};
    for &format in gguf::BlockFormat::ALL {
        let n = 6 * format.block_elements();
        let source: Vec<f32> = (0..n as u32)
            .map(|i| f32::from_bits((i.wrapping_mul(0x9E37_79B1) & 0x83FF_FFFF) + (i / 32 % 8) * 0x0C00_0000))
            .collect();
        let mut random = support::rng::Rng(6);
        let run = |blocks: &mut [u8], single: &mut [f32], half: &mut [bf16]| {
            let encoded = format.can_encode().then(|| gguf::quantize(format, &source, blocks));
            (encoded, gguf::dequantize(format, blocks, single), gguf::dequantize(format, blocks, half))
        };
        let mut want: Vec<u8> = (0..6 * format.block_bytes()).map(|_| random.bits() as u8).collect();
        let fresh = want.clone();
        let (mut single, mut half) = (vec![0.0; n], vec![bf16::ZERO; n]);
        let result = run(&mut want, &mut single, &mut half);
        let codes = |single: &[f32], half: &[bf16]| -> Vec<(u32, u16)> {
            single.iter().zip(half).map(|(single, half)| (single.to_bits(), half.to_bits())).collect()
        };
        for state in [true, false].into_iter().flat_map(states) {
            let (mut got, mut floats, mut halves) = (fresh.clone(), vec![0.0; n], vec![bf16::ZERO; n]);
            let mut again = None;
            let (before, after) =
                control::under(state, &mut || again = Some(run(&mut got, &mut floats, &mut halves)));
            assert_eq!(after, before, "{format}: the control register ({state:?}) is another one");
            assert_eq!(again.as_ref(), Some(&result), "{format} in {state:?}");
            assert!(got == want, "{format}: blocks differ in {state:?}");
            assert!(
                codes(&floats, &halves) == codes(&single, &half),
                "{format}: elements differ in {state:?}"
            );
        }
    }
}

/// The operators of ONNX that quantize, whose quotients, sums and products are arithmetic in every precision.
#[cfg(feature = "onnx")]
#[test]
fn onnx_linear() {
    use lanecast::onnx::{DequantizeLinear, DynamicQuantizeLinear, LinearAttributes, QuantizeLinear, Tensor};
    let (x, scale): (Vec<u8>, Vec<u8>) = (0..1024_u32)
        .map(|i| {
            let bits = (i.wrapping_mul(0x9E37_79B1) & 0x83FF_FFFF) + (i / 128) * 0x0C00_0000;
            // Of about the same magnitude, so that the quotients are elements.
            (bits.to_le_bytes(), ((bits & 0x7FFF_FFFF) / 7 * 6).to_le_bytes())
        })
        .fold((Vec::new(), Vec::new()), |(mut x, mut scale), (a, b)| {
            x.extend(a);
            scale.extend(b);
            (x, scale)
        });
    let zeros = [3_u8; 1024];
    let blocks = LinearAttributes::NONE.with_axis(0).with_block_size(1);
    let shape: &[usize] = &[1024];
    for precision in [DType::Float16, DType::BFloat16, DType::Float32, DType::Float64] {
        for to in [DType::Int8, DType::Float8E5M2] {
            let attributes = blocks.with_precision(precision);
            let zero = (to == DType::Int8).then(|| Tensor::new(shape, &zeros));
            let attributes = if zero.is_some() { attributes } else { attributes.with_output_dtype(to) };
            let float = DType::Float32;
            let node = QuantizeLinear::new(25, float, float, zero.map(|_| to), &attributes).expect("a node");
            let back = blocks.with_output_dtype(DType::Float16);
            let back = DequantizeLinear::new(25, to, float, zero.map(|_| to), &back).expect("a node");
            let dynamic = DynamicQuantizeLinear::new(25).expect("a node");
            let (x, scale) = (Tensor::new(shape, &x), Tensor::new(shape, &scale));
            let run = || {
                let (mut y, mut again, mut bytes) = (vec![0; 1024], vec![0; 2048], vec![0; 1024]);
                node.run(x, scale, zero, &mut y).expect("fits");
                back.run(Tensor::new(shape, &y), scale, zero, &mut again).expect("fits");
                let found = dynamic.run(x.data, &mut bytes, 1024).expect("fits");
                (y, again, bytes, found.scale.to_bits(), found.zero_point)
            };
            let want = run();
            for state in [true, false].into_iter().flat_map(states) {
                let mut got = None;
                let (before, after) = control::under(state, &mut || got = Some(run()));
                assert_eq!(
                    after, before,
                    "{to} {precision}: the control register ({state:?}) is another one"
                );
                assert!(got.as_ref() == Some(&want), "{to} {precision}: differs in {state:?}");
            }
        }
    }
}

/// Single values and their text, in integer arithmetic as well.
#[test]
fn single_values() {
    use lanecast::{F4E2M1FN, F8E4M3FN, F8E8M0FNU, U4, cast_one};
    // Ties, numbers near them, and subnormal ones of all formats, as bits: floats are only made where they are cast.
    let sources =
        [1.0625, -1.0625 - 1e-12, 464.0, 1e-3, 3e-39, 1e-40, 2f64.powi(-127), 5e-324, f64::INFINITY, 1e300]
            .map(f64::to_bits);
    let run = || {
        sources.map(|bits| {
            let x = f64::from_bits(bits);
            let (half, float): (f16, f32) = (cast_one(x), cast_one(x));
            let (code, power) = (F8E4M3FN::from_f64(x), F8E8M0FNU::from_f64(x));
            let order = code.partial_cmp(&F8E4M3FN::ONE).map(|order| order as i8);
            let least = power.partial_cmp(&F8E8M0FNU::MIN).map(|order| order as i8);
            let codes = [code.to_bits(), power.to_bits(), F8E4M3FN::from_f32(float).to_bits()];
            (
                half.to_bits(),
                float.to_bits(),
                codes,
                [order, least],
                cast_one::<_, u64>(x),
                code.to_f64().to_bits(),
            )
        })
    };
    let texts = [
        "1.0625",
        "1.062500000000000000000000000000000000001",
        "0.1e1",
        "-5.0",
        "1e-400",
        "6.9999999999999999999",
        "15.9",
    ];
    let read = || {
        texts.map(|text| {
            let codes = [text.parse().map(F8E4M3FN::to_bits), text.parse().map(F4E2M1FN::to_bits)];
            (codes.map(Result::ok), text.parse::<U4>().ok())
        })
    };
    let want = (run(), read());
    for state in [true, false].into_iter().flat_map(states) {
        let mut got = None;
        let (before, after) = control::under(state, &mut || got = Some((run(), read())));
        assert_eq!(after, before);
        assert_eq!(got.as_ref(), Some(&want), "{state:?}");
    }
}

/// As slices, too: subnormal parts are no zeros.
#[cfg(feature = "text")]
#[test]
fn texts_of_slices() {
    let complex = [Complex::new(f32::from_bits(1), f32::from_bits(1)), Complex::new(0.0, -f32::from_bits(3))];
    let wide = complex.map(|z| Complex::new(f64::from_bits(z.re.to_bits().into()), f64::MIN_POSITIVE / 4.0));
    let (halves, floats) = ([f16::from_bits(1); 3], [f32::from_bits(1), 0.0, 1e-39]);
    let run = || {
        use lanecast::text::format;
        [format(&complex), format(&wide), format(&halves), format(&floats)]
    };
    let want = run();
    assert_eq!(want[0].as_ref().map(|texts| texts.get(0)), Ok(Some("(1e-45+1e-45j)")));
    for state in [true, false].into_iter().flat_map(states) {
        let mut got = None;
        let (before, after) = control::under(state, &mut || got = Some(run()));
        assert_eq!(after, before);
        assert!(got.as_ref() == Some(&want), "{state:?}");
    }
}

/// The assembly does what it says: the register takes the states, and arithmetic feels them.
#[test]
fn the_register_is_really_set() {
    let (mut sum, mut tiny) = (0.0, 0.0);
    let old = control::read();
    for state in states(true) {
        let (before, after) = control::under(state, &mut || {
            sum = black_box(1.0_f32) + black_box(f32::EPSILON / 4.0);
            tiny = black_box(f32::from_bits(1)) + black_box(0.0);
        });
        // Other CPUs may lack some of the bits.
        let taken = if cfg!(target_arch = "aarch64") { before } else { state };
        assert_eq!((before, after), (taken, taken));
        assert_eq!(sum > 1.0, control::rounds_up(state), "{state:?}: a sum is rounded");
        assert_eq!(tiny == 0.0, control::flushes(state), "{state:?}: a subnormal number is flushed");
    }
    assert_eq!(control::read(), old);
}
