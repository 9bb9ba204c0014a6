//! `lanecast raw` against the library: every pair, storage and tier, every option, and the edges of streams.

use crate::common;
use std::process::Stdio;

use crate::common::{Folder, bad, f32s, feed, good, program, run, runs_in_program, stderr};
use lanecast::{
    Bytes, BytesMut, CastOptions, CastPlan, DType, E5M2Nan, E8M0Range, E8M0Round, Encoding, FloatRound,
    FnuzInf, IntOverflow, IntRound, NanToFinite, Saturate, Tier,
};
use serde_json::Value;

/// Bytes without a pattern.
fn noise(n: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..n).map(|_| next()).collect()
}

/// What the library says. Files are little-endian: run this on such a host.
fn expected(from: Encoding, to: Encoding, options: &CastOptions, source: &[u8], n: usize) -> Vec<u8> {
    let mut result = vec![0; to.byte_len(n).expect("a small buffer")];
    CastPlan::new(from, to, options)
        .expect("a plan")
        .run(Bytes::new(source, n), BytesMut::new(&mut result, n))
        .expect("enough bytes");
    result
}

/// Both storages of a dtype and their names, or its only one.
fn storages(dtype: DType) -> Vec<(Encoding, &'static str)> {
    let packed = (Encoding::packed(dtype), "packed");
    if dtype.is_sub_byte() { vec![packed, (Encoding::new(dtype), "byte")] } else { vec![packed] }
}

#[test]
#[cfg(target_endian = "little")]
fn every_pair_storage_and_tier() {
    const N: usize = 67;
    let tiers: Vec<Tier> =
        Tier::ALL.iter().copied().filter(|tier| runs_in_program(*tier) == Some(true)).collect();
    let source = noise(N * 16);
    for (from, from_storage) in DType::ALL.iter().flat_map(|dtype| storages(*dtype)) {
        for (to, to_storage) in DType::ALL.iter().flat_map(|dtype| storages(*dtype)) {
            let (f, t) = (from.dtype().name(), to.dtype().name());
            let bytes = &source[..from.byte_len(N).expect("a small buffer")];
            let wanted = expected(from, to, &CastOptions::RUST, bytes, N);
            for tier in &tiers {
                let storages = ["--from-storage", from_storage, "--to-storage", to_storage];
                let args = ["raw", "--from", f, "--to", t, "--tier", tier.name(), "-n", "67", "-q"];
                let result = good(run(&[&args[..], &storages].concat(), bytes));
                assert!(result == wanted, "{f} {from_storage} -> {t} {to_storage} on {}", tier.name());
            }
        }
    }
}

#[test]
fn either_byte_order() {
    let big = [0x3F, 0x80, 0, 0, 0xC3, 0x80, 0, 0];
    let raw = |orders: &[&str], to, input: &[u8]| {
        run(&[&["raw", "--from", "f32", "--to", to], orders].concat(), input)
    };
    assert_eq!(good(raw(&["--from-order", "big"], "i16", &big)), [1, 0, 0x00, 0xFF]);
    assert_eq!(good(raw(&["--from-order", "big", "--to-order", "big"], "i16", &big)), [0, 1, 0xFF, 0x00]);
    assert_eq!(good(raw(&["--to-order", "big"], "f32", &f32s(&[1.0, -256.0]))), big);
    assert_eq!(good(raw(&["--from-order", "big", "--to-order", "little"], "i8", &big)), [1, 0x80]);
    // The parts of a complex number stay where they are; one that is torn is none.
    let complex = ["raw", "--from", "c64", "--to", "c64", "--from-order", "big"];
    assert_eq!(good(run(&complex, &big)), f32s(&[1.0, -256.0]));
    bad(&run(&complex, &big[..7]), &[4]);
    let line = bad(&raw(&["--from-order", "big", "--on-loss", "error"], "i8", &big), &[6]);
    assert!(line.contains("element 1, the float32 -256.0,"), "{line}");
    bad(&raw(&["--from-order", "middle"], "i8", &big), &[2]);
}

#[test]
fn every_tier_is_reachable_or_refused() {
    for tier in Tier::ALL {
        let output = run(&["raw", "--from", "f32", "--to", "f16", "--tier", tier.name()], &f32s(&[1.0]));
        if runs_in_program(*tier).unwrap_or(output.status.success()) {
            assert_eq!(good(output), [0x00, 0x3C]);
        } else {
            let line = bad(&output, &[5]);
            assert!(line.contains(tier.name()), "{line}");
            eprintln!("skipped: tier {} cannot run here: {line}", tier.name());
        }
    }
    bad(&run(&["raw", "--from", "f32", "--to", "f16", "--tier", "sse9"], &[]), &[2]);
    for (tier, codes) in
        [("scalar", [0]), ("sse9", [2]), ("neon", [if cfg!(target_arch = "aarch64") { 0 } else { 5 }])]
    {
        let mut command = program();
        command.args(["raw", "--from", "f32", "--to", "f16"]).env("LANECAST_TIER", tier);
        let output = command.stdin(Stdio::null()).output().expect("the program runs");
        assert!(output.status.code().is_some_and(|code| codes.contains(&code)), "{tier}: {output:?}");
        let named = String::from_utf8_lossy(&output.stderr).contains("LANECAST_TIER");
        assert_eq!(named, codes != [0], "{tier}: {output:?}");
    }
    for (names, code) in [("", 0), ("avx512vbmi, bf16,", 0), ("avx512bf16,avx2", 2)] {
        let mut command = program();
        command.args(["raw", "--from", "f32", "--to", "f16"]).env("LANECAST_DISABLE", names);
        let output = command.stdin(Stdio::null()).output().expect("the program runs");
        assert_eq!(output.status.code(), Some(code), "{names}: {output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr).contains(r#""avx2""#), code != 0, "{output:?}");
    }
}

#[test]
#[cfg(target_endian = "little")]
fn every_option_reaches_the_kernels() {
    let inf = f32::INFINITY;
    let values = [
        1.5,
        2.5,
        -0.5,
        -1.7,
        300.0,
        -300.0,
        1e9,
        3.3,
        465.0,
        70000.0,
        inf,
        -inf,
        f32::NAN,
        -f32::NAN,
        0.1,
        1e-39,
    ];
    let rust = CastOptions::RUST;
    let (wrap, saturate) = (IntOverflow::Wrap, IntOverflow::Saturate);
    let cases: Vec<(&[&str], DType, CastOptions)> = vec![
        (&["--no-saturate"], DType::Float8E4M3FN, rust.with_saturate(Saturate::Off)),
        (
            &["--profile", "numpy", "--saturate"],
            DType::Float8E4M3FN,
            CastOptions::NUMPY.with_saturate(Saturate::On),
        ),
        (&["--saturate", "--no-saturate"], DType::Float8E5M2, rust.with_saturate(Saturate::Off)),
        (&["--no-saturate", "--saturate"], DType::Float8E5M2, rust),
        (&["--e8m0-round", "up"], DType::Float8E8M0FNU, rust),
        (&["--e8m0-round", "down"], DType::Float8E8M0FNU, rust.with_e8m0_round(E8M0Round::Down)),
        (&["--e8m0-round", "nearest"], DType::Float8E8M0FNU, rust.with_e8m0_round(E8M0Round::Nearest)),
        (&["--e8m0-range", "exact"], DType::Float8E8M0FNU, rust),
        (
            &["--no-saturate", "--e8m0-range", "rounded"],
            DType::Float8E8M0FNU,
            rust.with_saturate(Saturate::Off).with_e8m0_range(E8M0Range::Rounded),
        ),
        (&["--e8m0-range", "magnitude"], DType::Float8E8M0FNU, rust.with_e8m0_range(E8M0Range::Magnitude)),
        (&["--float-to-int", "wrap"], DType::Int8, rust.with_float_to_int(wrap)),
        (&["--profile", "onnx", "--float-to-int", "saturate"], DType::Int8, rust.with_float_to_int(saturate)),
        (&["--int-round", "toward-zero"], DType::Int16, rust),
        (&["--int-round", "nearest-even"], DType::Int16, rust.with_int_round(IntRound::NearestEven)),
        (&["--int-round", "nearest-away"], DType::Int16, rust.with_int_round(IntRound::NearestAway)),
        (&["--int-round", "floor"], DType::Int16, rust.with_int_round(IntRound::Floor)),
        (&["--int-round", "ceil"], DType::Int16, rust.with_int_round(IntRound::Ceil)),
        (&["--float-round", "nearest-even"], DType::BFloat16, rust),
        (&["--float-round", "nearest-away"], DType::BFloat16, rust.with_float_round(FloatRound::NearestAway)),
        (&["--float-round", "toward-zero"], DType::BFloat16, rust.with_float_round(FloatRound::TowardZero)),
        (&["--float-round", "up"], DType::BFloat16, rust.with_float_round(FloatRound::Up)),
        (&["--float-round", "down"], DType::Float8E4M3FN, rust.with_float_round(FloatRound::Down)),
        (&["--float-round", "to-odd"], DType::Float16, rust.with_float_round(FloatRound::ToOdd)),
        (&["--e5m2-nan", "7f"], DType::Float8E5M2, rust.with_e5m2_nan(E5M2Nan::Code7F)),
        (
            &["--profile", "torch", "--e5m2-nan", "7e"],
            DType::Float8E5M2,
            CastOptions::TORCH.with_e5m2_nan(E5M2Nan::Code7E),
        ),
        (&["--nan-to-finite", "max"], DType::Float4E2M1FN, rust.with_nan_to_finite(NanToFinite::Max)),
        (&["--profile", "CUDA", "--nan-to-finite", "zero"], DType::Float4E2M1FN, rust),
        (&["--fnuz-inf", "nan"], DType::Float8E4M3FNUZ, rust.with_fnuz_inf(FnuzInf::Nan)),
    ];
    let source = f32s(&values);
    let check = |flags: &[&str], from: DType, to: DType, options: &CastOptions, source: &[u8], n: usize| {
        let args =
            [&["raw", "--from", from.name(), "--to", to.name(), "--to-storage", "byte"], flags].concat();
        let result = good(run(&args, source));
        assert_eq!(result, expected(from.into(), to.into(), options, source, n), "{flags:?}");
        result
    };
    for (flags, to, options) in &cases {
        let result = check(flags, DType::Float32, *to, options, &source, values.len());
        if *options != rust {
            let plain = expected(DType::Float32.into(), (*to).into(), &rust, &source, values.len());
            assert!(flags[0] == "--profile" || result != plain, "{flags:?} is of no effect here");
        }
    }
    let ints: Vec<u8> = [300_i16, -300, 5].iter().flat_map(|x| x.to_le_bytes()).collect();
    let saturating = rust.with_int_to_int(saturate);
    assert_eq!(
        check(&["--int-to-int", "saturate"], DType::Int16, DType::Int8, &saturating, &ints, 3),
        [127, 128, 5]
    );
    assert_eq!(check(&["--int-to-int", "wrap"], DType::Int16, DType::Int8, &rust, &ints, 3), [44, 212, 5]);
    for (name, options) in CastOptions::PROFILES {
        for to in [
            DType::Float8E8M0FNU,
            DType::Int8,
            DType::Float8E4M3FN,
            DType::Float8E5M2,
            DType::Float4E2M1FN,
            DType::Float8E5M2FNUZ,
        ] {
            check(&["--profile", name], DType::Float32, to, options, &source, values.len());
        }
    }
}

#[test]
fn the_count_of_elements() {
    let raw = |from: &str, to: &str, more: &[&str], input: &[u8]| {
        run(&[&["raw", "--from", from, "--to", to], more].concat(), input)
    };
    // Of the input, of -n, of neither.
    assert_eq!(good(raw("u8", "u16", &[], &[1, 2, 3])), [1, 0, 2, 0, 3, 0]);
    assert_eq!(good(raw("u8", "u16", &["-n", "2"], &[1, 2, 3])), [1, 0, 2, 0]);
    assert!(good(raw("u8", "u16", &["-n", "0"], &[1, 2, 3])).is_empty());
    assert!(good(raw("f32", "f16", &[], &[])).is_empty());
    // As many packed elements as there is room for.
    assert_eq!(good(raw("u4", "u8", &[], &[0x21, 0x43])), [1, 2, 3, 4]);
    assert_eq!(good(raw("u4", "u8", &["-n", "3"], &[0x21, 0x43])), [1, 2, 3]);
    assert_eq!(good(raw("u2", "u8", &[], &[0b11_10_01_00])), [0, 1, 2, 3]);
    assert_eq!(good(raw("e2m3", "u8", &[], &[0, 0])).len(), 2);
    assert_eq!(good(raw("e2m3", "u8", &[], &[0; 4])).len(), 5);
    assert_eq!(good(raw("u8", "u4", &[], &[1, 2, 3])), [0x21, 0x03]);
    assert_eq!(good(raw("u8", "u4", &["--to-storage", "byte"], &[1, 2, 3])), [1, 2, 3]);
    // Not a whole number of elements, or fewer than asked for.
    assert!(bad(&raw("f32", "f16", &[], &[0; 6]), &[4]).contains("lacks 2 bytes"));
    let line = bad(&raw("f32", "f16", &["-n", "3"], &[0; 8]), &[4]);
    assert!(line.contains("has 2 elements") && line.contains("asks for 3"), "{line}");
    bad(&raw("u4", "u8", &["-n", "5"], &[0; 2]), &[4]);
    bad(&raw("f32", "f16", &["-n", "18446744073709551615"], &[0; 8]), &[4]);
    bad(&raw("f32", "f16", &["-n", "-1"], &[]), &[2]);
}

#[test]
fn streams_longer_than_a_block() {
    // Packed on both sides, over several blocks and with a torn end.
    let source = noise(9_000_001);
    let wide = good(run(&["raw", "--from", "int4", "--to", "int8"], &source));
    assert_eq!(wide.len(), 2 * source.len());
    assert!(good(run(&["raw", "--from", "int8", "--to", "int4"], &wide)) == source);
    let folder = Folder::new();
    folder.write("in.bin", &source);
    good(folder.run(&["raw", "--from", "e3m2", "--to", "e3m2", "in.bin", "out.bin"]));
    let (result, elements) = (folder.read("out.bin"), source.len() * 8 / 6);
    assert_eq!(result.len(), (elements * 6).div_ceil(8));
    assert!(result[..result.len() - 1] == source[..result.len() - 1]);
}

#[test]
fn files_and_standard_streams() {
    let folder = Folder::new();
    folder.write("in.bin", &f32s(&[1.0, 2.0]));
    let args = ["raw", "--from", "f32", "--to", "f16"];
    let halves = [0x00, 0x3C, 0x00, 0x40];
    assert_eq!(good(folder.run(&[&args[..], &["in.bin"]].concat())), halves);
    assert_eq!(good(folder.run(&[&args[..], &["in.bin", "-"]].concat())), halves);
    let silent = good(common::run_in(folder.path(), &[&args[..], &["-", "out.bin"]].concat(), &f32s(&[1.0])));
    assert!(silent.is_empty());
    assert_eq!(folder.read("out.bin"), halves[..2]);
    bad(&folder.run(&[&args[..], &["in.bin", "out.bin"]].concat()), &[3]);
    assert_eq!(folder.read("out.bin"), halves[..2]);
    let report = good(folder.run(&[&args[..], &["in.bin", "out.bin", "--force", "--json"]].concat()));
    let report: Value = serde_json::from_slice(&report).expect("one JSON object");
    assert_eq!((&report["elements"], &report["bytes_out"]), (&2.into(), &4.into()));
    assert_eq!(folder.read("out.bin"), halves);
    // A file that ends badly leaves what is there.
    folder.write("torn.bin", &[0; 7]);
    bad(&folder.run(&[&args[..], &["torn.bin", "out.bin", "--force"]].concat()), &[4]);
    assert_eq!(folder.read("out.bin"), halves);
    bad(&folder.run(&[&args[..], &["missing.bin"]].concat()), &[3]);
    bad(&folder.run(&[&args[..], &["."]].concat()), &[3]);
    assert_eq!(folder.names(), ["in.bin", "out.bin", "torn.bin"]);
    // To standard output, the report goes to standard error.
    let output = feed(program().args(args).arg("--json"), &f32s(&[1e9]));
    assert_eq!(output.stdout, [0x00, 0x7C]);
    let report: Value = serde_json::from_str(&stderr(&output)).expect("one JSON object");
    assert_eq!(report["overflowed_to_infinity"], 1);
}

#[test]
fn a_reader_that_leaves_is_no_news() {
    let mut child = program()
        .args(["raw", "--from", "u8", "--to", "f64", "/dev/zero"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!((output.status.code(), stderr(&output)), (Some(141), String::new()));
}

#[test]
#[cfg(target_os = "linux")]
fn devices_are_written_to_and_stay_devices() {
    let args = ["raw", "--from", "u8", "--to", "f64", "/dev/zero", "-n", "100000"];
    good(run(&[&args[..], &["/dev/null"]].concat(), &[]));
    let line = bad(&run(&[&args[..], &["/dev/full"]].concat(), &[]), &[3]);
    assert!(line.contains("/dev/full") && line.contains("no space left"), "{line}");
    use std::os::unix::fs::FileTypeExt;
    let kind = std::fs::metadata("/dev/null").expect("it is there").file_type();
    assert!(kind.is_char_device());
}
