//! Scaled casts through the interface: every scheme gives the answers of the library in Rust.

use crate::build::{Linked, Program, has, temporary, tried};
use crate::standards::SANITIZED;
use lanecast::scaled::{Quantized, ScaledPlan, Scheme};
use lanecast::stochastic::{RandomBits, Stochastic};
use lanecast::{Bytes, BytesMut, CastOptions, CastPlan, DType, Storage};
use std::fmt::Write as _;
use std::{fs, process};

/// Elements of many magnitudes and both signs, a block of zeros, and, if `special`, an infinity and a NaN.
fn source(from: DType, n: usize, special: bool) -> Vec<u8> {
    let mut state = 0x9E37_79B9_u32;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    let mut values: Vec<f32> = (0..n)
        .map(|i| {
            let exponent = match i / 50 % 3 {
                0 => 127,
                1 => 112 + draw() % 24,
                _ => 120 + draw() % 8,
            };
            f32::from_bits(draw() & 0x807F_FFFF | exponent << 23)
        })
        .collect();
    values.iter_mut().skip(n / 2).take(40).for_each(|x| *x *= 0.0);
    if special {
        (values[1], values[n - 1]) = (f32::INFINITY, f32::NAN);
    }
    let plan = CastPlan::new(DType::Float32, from, &CastOptions::RUST).expect("a pair");
    let mut out = vec![0; n * from.size()];
    plan.run(&values, BytesMut::new(&mut out, n)).expect("a cast");
    out
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut out, byte| {
        write!(out, "{byte:02x}").expect("memory");
        out
    })
}

/// A line of the file: a cast and the answers of the library.
fn line(
    name: &str,
    element: Option<DType>,
    from: DType,
    storage: Storage,
    shape: &[usize],
    special: bool,
    random: Option<RandomBits>,
) -> String {
    let scheme = Scheme::from_name(name).expect("a scheme");
    let scheme = element.map_or(scheme, |element| scheme.with_element(element));
    let plan = ScaledPlan::new(from, &scheme, shape).expect("it fits");
    let mut plan = plan.with_storage(storage).with_counts().with_squared_error();
    if let Some(bits) = random {
        let stochastic = Stochastic { seed: 0x0123_4567_89AB_CDEF, stream: 5, bits, first: 3 };
        plan = plan.with_stochastic(stochastic);
    }
    let src = source(from, plan.elements(), special);
    let elements = Bytes::new(&src, plan.elements());
    let mut quantized = Quantized::new(vec![0; plan.data_len()], vec![0; plan.scales_len()]);
    let report = plan.quantize(elements, &mut quantized).expect("a cast");
    let [clipped, underflowed] = [report.clipped, report.underflowed].map(|n| n.expect("counted"));
    let counts = [report.elements, report.empty, report.poisoned, clipped, underflowed];
    let mut numbers: Vec<u8> = counts.iter().flat_map(|n| n.to_ne_bytes()).collect();
    numbers.extend(report.global.unwrap_or(1.0).to_ne_bytes());
    numbers.extend(report.squared_error.expect("summed").to_ne_bytes());
    let amax = plan.amax(elements).expect("its length").largest();
    let back = |to: DType| {
        let mut out = vec![0; plan.elements() * to.size()];
        let dst = BytesMut::new(&mut out, plan.elements());
        plan.with_output(to).dequantize(&quantized, dst).expect("a cast");
        hex(&out)
    };
    let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
    let codes = element.map_or(0, DType::code);
    let storage = match storage {
        Storage::Packed => lanecast_capi::LANECAST_STORAGE_PACKED,
        Storage::Byte => lanecast_capi::LANECAST_STORAGE_BYTE,
    };
    let fields = [
        name.to_string(),
        from.code().to_string(),
        codes.to_string(),
        storage.to_string(),
        random.map_or(0, RandomBits::count).to_string(),
        shape.join(","),
        hex(&src),
        hex(&quantized.data),
        hex(&quantized.scales),
        hex(&numbers),
        hex(&amax.to_ne_bytes()),
        back(DType::Float32),
        back(DType::BFloat16),
    ];
    fields.join("\t")
}

#[test]
fn every_scheme() {
    if !tried() {
        return;
    }
    let mut lines = Vec::new();
    for (name, _) in Scheme::NAMED.iter().filter(|(_, scheme)| !scheme.has_zero_points()) {
        for from in [DType::Float32, DType::BFloat16, DType::Float16] {
            for (storage, shape) in
                [(Storage::Packed, &[3, 37][..]), (Storage::Byte, &[2, 130]), (Storage::Packed, &[2, 5, 31])]
            {
                for special in [false, true] {
                    let random = special.then_some(RandomBits::Sixteen);
                    lines.push(line(name, None, from, storage, shape, special, None));
                    lines.extend(random.map(|_| line(name, None, from, storage, shape, special, random)));
                }
            }
        }
    }
    // Scales of the tensor are finite where an infinity poisons its block only.
    for element in [
        DType::Float4E2M1FN,
        DType::Float6E2M3FN,
        DType::Float6E3M2FN,
        DType::Float8E5M2,
        DType::Int8,
        DType::Int4,
    ] {
        for storage in [Storage::Packed, Storage::Byte] {
            for random in [None, Some(RandomBits::Eight), Some(RandomBits::ThirtyTwo)] {
                lines.push(line("mx", Some(element), DType::Float32, storage, &[5, 45], true, random));
            }
        }
    }
    let path = temporary().join(format!("scaled-{}.tsv", process::id()));
    fs::write(&path, lines.join("\n") + "\n").expect("written");
    let casts = format!("-DCASTS={}", lines.len());
    let flags: Vec<&str> = SANITIZED.iter().copied().chain([casts.as_str()]).collect();
    for compiler in ["gcc", "clang"].into_iter().filter(|compiler| has(compiler)) {
        let flags = &flags;
        let program =
            Program { source: "scaled_golden.c", compiler, standard: "c99", linked: Linked::Shared, flags };
        program.check(&[path.to_str().expect("a path in UTF-8")]);
    }
    fs::remove_file(&path).expect("removed");
}

/// The example in C++, by `lanecast.hpp`.
#[test]
fn example_in_cpp() {
    if !tried() {
        return;
    }
    for compiler in ["g++", "clang++"].into_iter().filter(|compiler| has(compiler)) {
        for standard in ["c++17", "c++20"] {
            let source = "../../examples/cpp/scaled.cpp";
            let program = Program { source, compiler, standard, linked: Linked::Shared, flags: SANITIZED };
            let printed = crate::build::run(&mut program.compile());
            let lines: Vec<&str> = printed.lines().collect();
            // The last value is 65.025, between 64 and 72: codes from 2^6 to 2^7 are 8 apart.
            assert_eq!(
                lines,
                [
                    "256 elements, 8 scales of float8_e8m0fnu; the last is 64 of 65.025, the largest magnitude 65.025",
                    "the data must have 256 bytes for this shape and scheme, and has 255",
                ]
            );
        }
    }
}

/// What else `lanecast.hpp` has for scaled casts.
#[test]
fn plans_in_cpp() {
    if !tried() {
        return;
    }
    for compiler in ["g++", "clang++"].into_iter().filter(|compiler| has(compiler)) {
        for standard in ["c++17", "c++20"] {
            let (source, linked) = ("scaled_plans.cpp", Linked::Shared);
            Program { source, compiler, standard, linked, flags: SANITIZED }.check(&[]);
        }
    }
}
