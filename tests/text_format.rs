//! Elements to texts: round trips, shortest digits, the layout, the options.
#![cfg(feature = "text")]

use crate::oracle;
use crate::oracle::value::Value;
use crate::support::{load, rng::Rng, storages, store};
use lanecast::text::{Exponent, FormatPlan, ParsePlan, Special, Strings, TextOptions};
use lanecast::{
    Bytes, CastError, CastOptions, DType, E8M0Round, F8E4M3FN, Kind, Saturate,
    half::{bf16, f16},
    num_complex::Complex,
};

const TEXT: TextOptions = TextOptions::DEFAULT;

fn format(from: DType, options: &TextOptions, codes: &[u128]) -> Strings {
    let plan = FormatPlan::new(from, options).expect("a tier");
    plan.run(Bytes::new(&store(from.into(), codes), codes.len())).expect("the buffer is whole")
}

/// The text of Python's layout from the digits that the standard library finds: `{:e}` has no layout of its own.
fn python(scientific: &str) -> String {
    let (sign, scientific) = match scientific.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", scientific),
    };
    let (mantissa, exponent) = scientific.split_once('e').expect("an exponent");
    let exponent: i32 = exponent.parse().expect("digits");
    let digits = mantissa.replace('.', "");
    let text = match exponent {
        -4..0 => format!("0.{}{digits}", "0".repeat((-1 - exponent) as usize)),
        0..16 => {
            let whole = exponent as usize + 1;
            let padded = format!("{digits:0<whole$}");
            let fraction = padded[whole..].to_string();
            format!("{}.{}", &padded[..whole], if fraction.is_empty() { "0" } else { &fraction })
        }
        _ => format!("{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs()),
    };
    format!("{sign}{text}")
}

/// Every code of up to 16 bits, in every storage: its text is parsed to it, whatever the other options. Only codes that no number
/// has come back as the usual ones: NaN, of which the text tells neither sign nor payload.
#[test]
fn every_code_returns() {
    for &dtype in DType::ALL.iter().filter(|d| oracle::width(**d) <= 16) {
        let codes: Vec<u128> = match dtype {
            DType::Bool => vec![0, 1],
            _ => (0..1_u128 << oracle::width(dtype)).collect(),
        };
        let is_nan = |code: u128| matches!(oracle::value(dtype, code), Value::Nan(_));
        let nan = oracle::cast(DType::Float64, dtype, &CastOptions::RUST, 0x7FF8 << 48);
        let expected: Vec<u128> = codes.iter().map(|&code| if is_nan(code) { nan } else { code }).collect();
        let styles =
            [TEXT, TextOptions::ONNX.with_exponent(Exponent::Never), TEXT.with_trailing_dot_zero(false)];
        // Infinity is a value only where it is not clamped, and the nearest power of two is not the next one above.
        let options = CastOptions::RUST.with_saturate(Saturate::Off).with_e8m0_round(E8M0Round::Nearest);
        for (style, buffer) in styles.iter().zip(storages(dtype).into_iter().cycle()) {
            let plan = FormatPlan::new(buffer, style).expect("a tier");
            let texts = plan.run(Bytes::new(&store(buffer, &codes), codes.len())).expect("whole");
            assert_eq!(texts.len(), codes.len());
            let mut bytes = vec![0; codes.len() * 2];
            let parse = ParsePlan::new(buffer, &TEXT, &options).expect("a tier");
            assert_eq!(parse.run(&texts, &mut bytes), Ok(codes.len()));
            let got = load(buffer, &bytes, codes.len());
            for (i, (got, expected)) in got.iter().zip(&expected).enumerate() {
                assert_eq!(got, expected, "{buffer}: {:?}", texts.get(i));
            }
        }
    }
}

/// `float16`: no decimal with fewer digits is read as the code, and none with as many is nearer.
#[test]
fn halves_are_shortest() {
    let to_half =
        |x: f64| oracle::cast(DType::Float64, DType::Float16, &CastOptions::RUST, x.to_bits().into());
    let codes: Vec<u128> = (1..0x7C00)
        .step_by(if cfg!(miri) { 997 } else { 7 })
        .chain([1, 2, 3, 0x3FF, 0x400, 0x7BFF])
        .collect();
    let texts = format(DType::Float16, &TEXT, &codes);
    for (i, &code) in codes.iter().enumerate() {
        let text = texts.get(i).expect("ASCII");
        let exact = f64::from(f16::from_bits(code as u16).to_f32());
        // Scientific, with the digits that the text has: the decimals beside it are one more and one less in the last.
        let (digits, exponent) = significant(text);
        let read =
            |number: u64, exponent: i32| -> f64 { format!("{number}e{exponent}").parse().expect("a number") };
        let own = read(digits, exponent);
        assert_eq!(to_half(own), code, "{text}");
        for other in [digits - 1, digits + 1].map(|number| read(number, exponent)) {
            // Differences of neighbours are exact.
            let (mine, others) = ((own - exact).abs(), (other - exact).abs());
            assert!(mine <= others, "{text} for {exact}: {other} is nearer");
        }
        for shorter in [digits / 10, digits / 10 + 1].map(|number| read(number, exponent + 1)) {
            assert_ne!(to_half(shorter), code, "{text}: {shorter} is shorter");
        }
    }
}

/// The digits of a number without zeros at either end, and the power of ten of the last.
fn significant(text: &str) -> (u64, i32) {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut number: u64 = format!("{whole}{fraction}").parse().expect("digits");
    let mut exponent: i32 = exponent.parse::<i32>().expect("digits") - fraction.len() as i32;
    while number.is_multiple_of(10) {
        number /= 10;
        exponent += 1;
    }
    (number, exponent)
}

/// Random and hard `float32` and `float64`: the digits of the standard library in the layout of Python, and back to the bits.
#[test]
fn wide_floats() {
    let mut rng = Rng(11);
    let mut wide: Vec<u64> = (0..20_000).map(|_| rng.bits()).collect();
    wide.extend(
        (0..20_000)
            .map(|_| (rng.below(1 << 20) as f64 / [1.0, 8.0, 100.0, 1e4][rng.below(4) as usize]).to_bits()),
    );
    for power in -330..310 {
        let text = format!("1e{power}");
        let near: f64 = text.parse().expect("a number");
        wide.extend([near.to_bits().saturating_sub(1), near.to_bits(), near.to_bits() + 1]);
    }
    wide.retain(|bits| f64::from_bits(*bits).is_finite());
    let codes: Vec<u128> = wide.iter().map(|bits| (*bits).into()).collect();
    let texts = format(DType::Float64, &TEXT, &codes);
    let mut ties = 0;
    for (bits, text) in wide.iter().zip(&texts) {
        let x = f64::from_bits(*bits);
        let own = python(&format!("{x:e}"));
        if text != own {
            // Between two shortest that are as near, the standard library takes the upper one, and we the even one.
            assert_eq!(
                tie(&format!("{:.60e}", x.abs())),
                significant(text.trim_start_matches('-')).0,
                "{x} {text} {own}"
            );
            ties += 1;
        }
    }
    assert!(ties < 100, "{ties} of them");
    let back: Vec<f64> = lanecast::text::parse(&texts.iter().collect::<Vec<_>>()).expect("numbers");
    assert!(back.iter().map(|x| x.to_bits()).eq(wide));

    let mut narrow: Vec<u32> = (0..20_000).map(|_| rng.bits() as u32).collect();
    for power in -46..39 {
        let near: f32 = format!("1e{power}").parse().expect("a number");
        narrow.extend([near.to_bits().saturating_sub(1), near.to_bits(), near.to_bits() + 1]);
    }
    narrow.extend((0..20_000).map(|_| (rng.below(1 << 20) as f32 / 100.0).to_bits()));
    narrow.retain(|bits| f32::from_bits(*bits).is_finite());
    let codes: Vec<u128> = narrow.iter().map(|bits| (*bits).into()).collect();
    let texts = format(DType::Float32, &TEXT, &codes);
    let mut ties = 0;
    for (bits, text) in narrow.iter().zip(&texts) {
        let x = f32::from_bits(*bits);
        let own = python(&format!("{x:e}"));
        if text != own {
            assert_eq!(
                tie(&format!("{:.60e}", x.abs())),
                significant(text.trim_start_matches('-')).0,
                "{x} {text} {own}"
            );
            ties += 1;
        }
    }
    assert!(ties < 1000, "{ties} of them");
    let back: Vec<f32> = lanecast::text::parse(&texts.iter().collect::<Vec<_>>()).expect("numbers");
    assert!(back.iter().map(|x| x.to_bits()).eq(narrow));
}

/// Of an exact number that ends in 5, the digits before that, rounded to even.
fn tie(exact: &str) -> u64 {
    let digits = exact.split('e').next().unwrap_or_default().replace('.', "");
    let digits = digits.trim_end_matches('0').strip_suffix('5').expect("it is a tie");
    let number: u64 = digits.parse().expect("digits");
    number + number % 2
}

#[test]
fn integers() {
    let mut rng = Rng(12);
    for &dtype in DType::ALL.iter().filter(|d| matches!(d.kind(), Kind::SignedInt | Kind::UnsignedInt)) {
        let info = dtype.iinfo().expect("an integer");
        let mut numbers = vec![info.min, info.min + 1, -1, 0, 1, 9, 10, 99, 100, info.max - 1, info.max];
        numbers.extend((0..300).map(|_| info.min + (rng.bits() as i128).rem_euclid(info.max - info.min + 1)));
        numbers.retain(|n| (info.min..=info.max).contains(n));
        let codes: Vec<u128> = numbers.iter().map(|n| *n as u128 & oracle::mask(dtype)).collect();
        let texts = format(dtype, &TEXT, &codes);
        for (number, text) in numbers.iter().zip(&texts) {
            assert_eq!(text, number.to_string(), "{dtype}");
        }
    }
}

#[test]
fn bools() {
    let plan = FormatPlan::new(DType::Bool, &TEXT).expect("a tier");
    // A byte that is neither 0 nor 1 is true, also where texts are looked up.
    for n in [3, 3000] {
        let bytes: Vec<u8> = [0, 1, 0xA5].into_iter().cycle().take(n).collect();
        let texts = plan.run(Bytes::new(&bytes, n)).expect("whole");
        assert!(texts.iter().eq(["False", "True", "True"].into_iter().cycle().take(n)));
    }
}

/// As Python's `str` has it.
#[test]
fn complex() {
    let nan = f64::NAN;
    let cases: &[(f64, f64, &str)] = &[
        (1.0, 2.0, "(1+2j)"),
        (0.0, 2.0, "2j"),
        (0.0, -0.0, "-0j"),
        (0.0, 0.0, "0j"),
        (-0.0, 0.0, "(-0+0j)"),
        (-0.0, -2.5, "(-0-2.5j)"),
        (1e16, 1e-5, "(1e+16+1e-05j)"),
        (100_000.0, 0.125, "(100000+0.125j)"),
        (f64::INFINITY, f64::NEG_INFINITY, "(inf-infj)"),
        (nan, -nan, "(nan+nanj)"),
        (0.0, nan, "nanj"),
        (0.1, 1e300, "(0.1+1e+300j)"),
    ];
    let wide: Vec<Complex<f64>> = cases.iter().map(|(re, im, _)| Complex::new(*re, *im)).collect();
    let texts = lanecast::text::format(&wide).expect("a tier");
    assert!(texts.iter().eq(cases.iter().map(|(_, _, text)| *text)));
    let back: Vec<Complex<f64>> =
        lanecast::text::parse(&texts.iter().collect::<Vec<_>>()).expect("complex numbers");
    let bits = |x: f64| if x.is_nan() { None } else { Some(x.to_bits()) };
    for (wide, back) in wide.iter().zip(&back) {
        assert_eq!((bits(wide.re), bits(wide.im)), (bits(back.re), bits(back.im)));
    }

    let mut rng = Rng(13);
    let narrow: Vec<Complex<f32>> = (0..2000)
        .map(|_| Complex::new(f32::from_bits(rng.bits() as u32), f32::from_bits(rng.bits() as u32)))
        .filter(|z| !z.re.is_nan() && !z.im.is_nan())
        .collect();
    let texts = lanecast::text::format(&narrow).expect("a tier");
    let back: Vec<Complex<f32>> =
        lanecast::text::parse(&texts.iter().collect::<Vec<_>>()).expect("complex numbers");
    let bits = |z: &Complex<f32>| (z.re.to_bits(), z.im.to_bits());
    assert!(back.iter().map(bits).eq(narrow.iter().map(bits)));
    let onnx = FormatPlan::new(DType::Complex64, &TextOptions::ONNX).expect("a tier");
    let odd = onnx.run(&[Complex::new(f32::NEG_INFINITY, f32::NAN)]).expect("its element");
    assert_eq!(odd.get(0), Some("(-INF+NaNj)"));
}

#[test]
fn options() {
    let numbers = [
        0.0,
        -0.0,
        1.0,
        -72.0,
        0.5,
        1e16,
        -1.5e20,
        1e-5,
        1.25e-7,
        123456.75,
        f32::INFINITY,
        -f32::INFINITY,
        f32::NAN,
    ];
    let of = |options: TextOptions| -> Vec<String> {
        let plan = FormatPlan::new(DType::Float32, &options).expect("a tier");
        let texts = plan.run(&numbers).expect("its element");
        texts.iter().map(|text| text.to_owned()).collect()
    };
    let onnx = ["NaN", "INF", "-INF"];
    assert_eq!(
        of(TEXT),
        [
            "0.0",
            "-0.0",
            "1.0",
            "-72.0",
            "0.5",
            "1e+16",
            "-1.5e+20",
            "1e-05",
            "1.25e-07",
            "123456.75",
            "inf",
            "-inf",
            "nan"
        ]
    );
    assert_eq!(of(TEXT.with_special(Special::Onnx))[10..], [onnx[1], onnx[2], onnx[0]]);
    assert_eq!(
        of(TEXT.with_exponent(Exponent::Never))[5..9],
        ["10000000000000000.0", "-150000000000000000000.0", "0.00001", "0.000000125"]
    );
    assert_eq!(of(TEXT.with_trailing_dot_zero(false))[..6], ["0", "-0", "1", "-72", "0.5", "1e+16"]);
    assert_eq!(
        of(TEXT.with_trailing_dot_zero(false).with_exponent(Exponent::Never))[5..7],
        ["10000000000000000", "-150000000000000000000"]
    );
    // The ends of float64, without exponents.
    let never = FormatPlan::new(DType::Float64, &TEXT.with_exponent(Exponent::Never)).expect("a tier");
    let texts = never.run(&[f64::MAX, 5e-324]).expect("its element");
    assert_eq!(texts.get(0), Some(&format!("17976931348623157{}.0", "0".repeat(292))[..]));
    assert_eq!(texts.get(1), Some(&format!("0.{}5", "0".repeat(323))[..]));
    let halves = [f16::from_f32(1.0), f16::from_f32(65504.0), f16::from_bits(1), f16::NEG_ZERO];
    let plan = FormatPlan::new(DType::Float16, &TEXT.with_trailing_dot_zero(false)).expect("a tier");
    let texts = plan.run(&halves).expect("its element");
    assert!(texts.iter().eq(["1", "65500", "6e-08", "-0"]));
}

/// Slices, bytes, one element and look-ups give the same texts.
#[test]
fn ways() {
    let mut rng = Rng(14);
    let codes: Vec<u8> = (0..5000).map(|_| rng.bits() as u8).collect();
    let floats: Vec<F8E4M3FN> = codes.iter().map(|code| F8E4M3FN::from_bits(*code)).collect();
    let plan = FormatPlan::new(DType::Float8E4M3FN, &TEXT).expect("a tier");
    let texts = plan.run(Bytes::new(&codes, codes.len())).expect("whole");
    assert_eq!(plan.run(&floats).expect("its element"), texts);
    let mut one = Vec::new();
    let mut all = Strings::new();
    for (i, code) in codes.iter().enumerate() {
        one.clear();
        plan.run_one(&[*code], &mut one).expect("whole");
        assert_eq!(&one[..], texts[i].as_bytes());
    }
    plan.run_into(Bytes::new(&codes[..77], 77), &mut all).expect("whole");
    plan.run_into(Bytes::new(&codes[77..], codes.len() - 77), &mut all).expect("whole");
    assert_eq!(all, texts);
    // Packed storage of all lengths.
    for dtype in [DType::Int2, DType::UInt4, DType::Float6E3M2FN, DType::Float4E2M1FN] {
        let codes: Vec<u128> = codes.iter().map(|code| u128::from(*code) & oracle::mask(dtype)).collect();
        for n in [0, 1, 2, 3, 5, 255, 257, 1023, 1024, 1025, 1029] {
            let texts = storages(dtype).into_iter().map(|buffer| {
                let plan = FormatPlan::new(buffer, &TEXT).expect("a tier");
                plan.run(Bytes::new(&store(buffer, &codes[..n]), n)).expect("whole")
            });
            let texts: Vec<Strings> = texts.collect();
            assert_eq!(texts[0].len(), n);
            assert_eq!(texts[0], texts[1], "{dtype}");
            assert!(texts[0].iter().eq(format(dtype, &TEXT, &codes).iter().take(n)));
        }
    }
    let bf: Vec<bf16> = [1.5, -0.1, 3e38].map(bf16::from_f32).to_vec();
    let texts = lanecast::text::format(&bf).expect("a tier");
    assert!(texts.iter().eq(["1.5", "-0.100097656", "3.0040553e+38"]));
}

#[test]
fn errors() {
    let plan = FormatPlan::new(DType::Float32, &TEXT).expect("a tier");
    let mut texts = Strings::from_iter(["kept"]);
    let short = plan.run_into(Bytes::new(&[0; 7], 2), &mut texts).expect_err("a byte is missing");
    assert!(matches!(short, CastError::BufferTooSmall { need: 8, have: 7, .. }));
    assert!(matches!(plan.run(Bytes::new(&[], usize::MAX)), Err(CastError::TooLarge { .. })));
    assert!(matches!(plan.run_one(&[0; 3], &mut Vec::new()), Err(CastError::BufferTooSmall { .. })));
    assert!(matches!(plan.run(&[0.0_f64; 0]), Err(CastError::WrongElement { .. })));
    assert!(texts.iter().eq(["kept"]));
}
