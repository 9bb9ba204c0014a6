//! The values of two checkpoints, against sums over elements that share nothing with the crate.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use lanecast::DType::{
    self, BFloat16, Complex64, Float4E2M1FN, Float8E4M3FN, Float16, Float32, Float64, Int64,
};
use lanecast_checkpoint::{Callbacks, Checkpoint, Comparison, Difference, Error, Step, compare};
use tempfile::TempDir;

use crate::common::{Goldens, floats, write};

type Tensor<'t> = (&'t str, DType, &'t [u64], Vec<u8>);

fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn open(path: &Path) -> Checkpoint {
    Checkpoint::open(path).unwrap_or_else(|e| panic!("{e}"))
}

fn run(a: &Path, b: &Path) -> Comparison {
    compare(&open(a), &open(b), Callbacks::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// A file of tensors.
fn file(tensors: &[Tensor<'_>]) -> (TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.safetensors");
    write(&path, tensors);
    (folder, path)
}

/// Compares two files that have one tensor each.
fn pair(a: Tensor<'_>, b: Tensor<'_>) -> Difference {
    let ((_a, a), (_b, b)) = (file(&[a]), file(&[b]));
    let mut found = run(&a, &b);
    assert!(found.has_same_tensors(), "{found:?}");
    found.tensors.remove(0)
}

/// Checkpoints whose library rounds more than once, and how far its values are from exact ones.
const TOLERANCES: &[(&str, f64)] = &[
    ("bnb_int8", 1.25e-7),
    ("comfy_nvfp4", 8.95e-8),
    ("mlx", 0.01),
    ("modelopt_mixed", 1.05e-7),
    ("modelopt_nvfp4", 7.45e-8),
    ("modelopt_w4a16_nvfp4", 1.15e-7),
];

#[test]
fn golden_checkpoints_are_equal_to_the_values_of_their_libraries() {
    let goldens = Goldens::unpack();
    let mut weights = 0;
    for name in goldens.names() {
        let expected = goldens.path("expected").join(format!("{name}.safetensors"));
        if !expected.exists() {
            continue;
        }
        let found = run(&goldens.path(&name), &expected);
        assert!(found.only_a.is_empty() && found.only_b.is_empty(), "{name}: {found:?}");
        // Padded weights have other shapes.
        assert!(found.incomparable.is_empty() || name.starts_with("comfy_"), "{name}: {found:?}");
        let tolerance =
            TOLERANCES.iter().find(|(of, _)| *of == name).map_or(0.0, |(_, tolerance)| *tolerance);
        for tensor in &found.tensors {
            assert!(tensor.relative <= tolerance && tensor.not_finite == 0, "{name}: {tensor:?}");
            if tolerance == 0.0 {
                let ulps = tensor.ulps.as_ref().map_or(0, |ulps| ulps.largest);
                let errors = (tensor.different, tensor.largest, tensor.mean, tensor.sqnr, ulps);
                assert_eq!(errors, (0, 0.0, 0.0, f64::INFINITY, 0), "{name}: {tensor:?}");
            }
            weights += usize::from(tensor.a != tensor.b);
        }
        assert_eq!(
            found.is_equal(),
            found.tensors.iter().all(|of| of.different == 0 && of.rounded == 0)
                && found.incomparable.is_empty()
        );
    }
    assert!(weights > 40, "{weights} weights");
}

/// The place of a float32 among all, by its bits.
fn place(value: f32) -> i64 {
    let bits = i64::from(value.to_bits() & 0x7FFF_FFFF);
    if value.is_sign_negative() { -bits } else { bits }
}

/// The place of the nearest bfloat16 (ties to even), by a quotient that is exact.
fn bfloat16_place(value: f64) -> i64 {
    let exponent = ((value.abs().to_bits() >> 52) as i32 - 1023).max(-126);
    let steps = (value.abs() / 2_f64.powi(exponent - 7)).round_ties_even() as i64;
    let magnitude = i64::from(exponent + 126) * 128 + steps;
    if value.is_sign_negative() { -magnitude } else { magnitude }
}

/// Expects the errors that a loop over all values finds.
#[track_caller]
fn naive(have: &Difference, a: &[f64], b: &[f64], places: impl Fn(f64) -> i64) {
    let near = |have: f64, want: f64| assert!((have - want).abs() <= 1e-12 * want.abs(), "{have} {want}");
    let errors: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let n = errors.len() as f64;
    let sum = |terms: &dyn Fn(usize) -> f64| (0..errors.len()).map(terms).sum::<f64>();
    let largest = errors.iter().fold(0.0_f64, |largest, error| largest.max(error.abs()));
    assert_eq!(have.largest, largest);
    assert_eq!(errors[have.largest_at as usize].abs(), largest);
    assert_eq!(have.different, errors.iter().filter(|error| **error != 0.0).count() as u64);
    near(have.mean, sum(&|i| errors[i].abs()) / n);
    let (noise, signal) = (sum(&|i| errors[i] * errors[i]), sum(&|i| b[i] * b[i]));
    near(have.relative, (noise / signal).sqrt());
    near(have.sqnr, 10.0 * (signal / noise).log10());
    let cosine = sum(&|i| a[i] * b[i]) / (sum(&|i| a[i] * a[i]).sqrt() * signal.sqrt());
    near(have.cosine.expect("a cosine"), cosine);
    let distances: Vec<u64> = a.iter().zip(b).map(|(a, b)| places(*a).abs_diff(places(*b))).collect();
    let ulps = have.ulps.as_ref().expect("floats");
    assert_eq!(ulps.largest, *distances.iter().max().expect("values"));
    near(ulps.mean, distances.iter().sum::<u64>() as f64 / n);
    let mut histogram = vec![0; ulps.histogram.len()];
    for distance in distances {
        // 0, 1, 2 and 3, 4 to 7, ...
        let entry = (0..64).find(|i| distance < 1 << i).expect("an entry");
        histogram[entry] += 1;
    }
    assert_eq!(ulps.histogram, histogram);
}

/// The exact values of a checkpoint.
fn values(path: &Path, name: &str) -> Vec<f64> {
    let checkpoint = open(path);
    let mut values = vec![0.0_f64; checkpoint.find(name).expect("a tensor").elements()];
    checkpoint.read(name, &mut values).expect("values");
    values
}

#[test]
fn errors_are_those_of_a_loop_over_all_values() {
    let goldens = Goldens::unpack();
    // Codes against codes: distances in bfloat16.
    let (a, b) = (goldens.path("modelopt_nvfp4"), goldens.path("modelopt_fp8"));
    let found = run(&a, &b);
    assert_eq!((&*found.layout_a, &*found.layout_b), ("ModelOpt", "ModelOpt"));
    let mut coded = 0;
    for tensor in found.tensors.iter().filter(|tensor| tensor.a == "ModelOpt" && tensor.b == "ModelOpt") {
        let (a, b) = (values(&a, &tensor.name), values(&b, &tensor.name));
        assert_eq!(tensor.ulps.as_ref().map(|ulps| &*ulps.dtype), Some("bfloat16"));
        naive(tensor, &a, &b, bfloat16_place);
        coded += 1;
    }
    assert_eq!(coded, 7);
    // Codes against float32: distances in float32.
    let name = "model.layers.0.mlp.up_proj.weight";
    let exact: Vec<f64> = values(&a, name).into_iter().map(|x| f64::from(x as f32)).collect();
    let other: Vec<f32> =
        exact.iter().enumerate().map(|(i, x)| (x * 1.01) as f32 + (i % 7) as f32 * 1e-3).collect();
    let checkpoint = open(&a);
    let shape: Vec<u64> =
        checkpoint.find(name).expect("a weight").shape.iter().map(|axis| *axis as u64).collect();
    let (_folder, b) = file(&[(name, Float32, &shape, f32s(&other))]);
    let found = run(&a, &b);
    let [tensor] = &found.tensors[..] else { panic!("{found:?}") };
    assert_eq!(
        (&*tensor.a, &*tensor.b, &tensor.ulps.as_ref().expect("ulps").dtype[..]),
        ("ModelOpt", "float32", "float32")
    );
    assert_eq!((found.only_a.len(), found.only_b.len()), (checkpoint.tensors().len() - 1, 0));
    let other: Vec<f64> = other.into_iter().map(f64::from).collect();
    naive(tensor, &exact, &other, |value| place(value as f32));
}

/// Plain tensors are compared exactly, in the dtype of fewer digits for distances.
#[test]
fn plain_tensors_are_compared_exactly() {
    let x: Vec<f32> = (0..1000).map(|i| (i as f32 * 0.37).sin() * 3.0).collect();
    let rounded: Vec<f32> = x.iter().map(|x| lanecast::half::bf16::from_f32(*x).to_f32()).collect();
    let bf16: Vec<u8> = rounded.iter().flat_map(|x| x.to_bits().to_le_bytes()[2..].to_vec()).collect();
    let found = pair(("x", BFloat16, &[10, 100], bf16.clone()), ("x", Float32, &[10, 100], f32s(&x)));
    let wide = |x: &[f32]| x.iter().copied().map(f64::from).collect::<Vec<_>>();
    assert_eq!((&*found.a, &*found.b, &found.shape[..]), ("bfloat16", "float32", &[10, 100][..]));
    naive(&found, &wide(&rounded), &wide(&x), bfloat16_place);
    let ulps = found.ulps.expect("ulps");
    assert_eq!((&*ulps.dtype, ulps.largest), ("bfloat16", 0));
    let same = pair(("x", BFloat16, &[1000], bf16.clone()), ("x", BFloat16, &[1000], bf16));
    assert_eq!((same.different, same.relative, same.sqnr), (0, 0.0, f64::INFINITY));
    assert!((same.cosine.expect("a cosine") - 1.0).abs() < 1e-12);
    // float16 has more digits than bfloat16 and a smaller range.
    let half = lanecast::half::f16::from_f32(1.0).to_le_bytes().to_vec();
    let found = pair(("x", Float16, &[1], half), ("x", BFloat16, &[1], vec![0x81, 0x3F]));
    let ulps = found.ulps.expect("ulps");
    assert_eq!(
        (found.largest, &*ulps.dtype, ulps.largest, ulps.histogram),
        (0.0078125, "bfloat16", 1, vec![0, 1])
    );
}

#[test]
fn numbers_that_are_not_finite_are_counted() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let a = f32s(&[nan, inf, -inf, nan, 1.0, inf, 2.0, -0.0]);
    let b = f32s(&[nan, inf, inf, 1.0, nan, 3.0, 1.0, 0.0]);
    let found = pair(("x", Float32, &[8], a), ("x", Float32, &[8], b));
    assert_eq!((found.values, found.different, found.not_finite), (8, 5, 4));
    assert_eq!((found.largest, found.largest_at, found.mean, found.relative), (1.0, 6, 0.5, 1.0));
    let ulps = found.ulps.expect("ulps");
    assert_eq!((ulps.largest, &ulps.histogram[..1]), (1 << 23, &[1][..]));
    // Nothing but zeros, and errors of nothing.
    let zero = pair(("x", Float32, &[2], f32s(&[0.0, 0.0])), ("x", Float32, &[2], f32s(&[0.0, 0.0])));
    assert_eq!((zero.relative, zero.sqnr, zero.cosine), (0.0, f64::INFINITY, None));
    let zero = pair(("x", Float32, &[1], f32s(&[1.0])), ("x", Float32, &[1], f32s(&[0.0])));
    assert_eq!((zero.relative, zero.sqnr, zero.cosine), (f64::INFINITY, f64::NEG_INFINITY, None));
    let empty = pair(("x", Float32, &[0, 4], Vec::new()), ("x", Float32, &[0, 4], Vec::new()));
    assert_eq!((empty.values, empty.different, empty.relative, empty.mean), (0, 0, 0.0, 0.0));
}

#[test]
fn integers_and_complex_numbers_are_values_too() {
    // float64 does not tell these apart.
    let long = |x: i64| ("x", Int64, &[1_u64][..], x.to_le_bytes().to_vec());
    let found = pair(long((1 << 60) + 1), long(1 << 60));
    assert_eq!((found.different, found.largest, found.ulps), (1, 0.0, None));
    assert_eq!(pair(long(5), long(3)).largest, 2.0);
    // Two elements in a byte: 0.5, 1, 1.5 and -6.
    let packed = ("x", Float4E2M1FN, &[4_u64][..], vec![0x21, 0xF3]);
    let found = pair(packed, ("x", Float32, &[4], f32s(&[0.5, 1.0, 1.5, -4.0])));
    assert_eq!((found.values, found.different, found.largest, found.largest_at), (4, 1, 2.0, 3));
    let ulps = found.ulps.expect("ulps");
    assert_eq!((&*ulps.dtype, ulps.largest, ulps.mean), ("float4_e2m1fn", 1, 0.25));
    let complex = pair(("x", Complex64, &[1], f32s(&[1.0, 2.0])), ("x", Complex64, &[1], f32s(&[1.0, 4.0])));
    assert_eq!((complex.values, complex.different, complex.largest, complex.largest_at), (2, 1, 2.0, 1));
    let real = pair(("x", Complex64, &[1], f32s(&[1.0, 2.0])), ("x", Float32, &[1], f32s(&[1.0])));
    assert_eq!((real.values, real.largest, real.largest_at), (2, 2.0, 1));
    let ulps = real.ulps.expect("ulps");
    assert_eq!((&*ulps.dtype, ulps.largest), ("float32", 1 << 30));
    let double = pair(
        ("x", Float64, &[1], 1.0_f64.to_le_bytes().to_vec()),
        ("x", Float64, &[1], 1.0_f64.next_up().to_le_bytes().to_vec()),
    );
    assert_eq!((double.ulps.expect("ulps").largest, double.largest), (1, f64::EPSILON));
}

#[test]
fn tensors_of_other_names_and_shapes_are_listed() {
    let one = |name, shape| -> Tensor<'static> { (name, Float32, shape, f32s(&[1.0, 2.0])) };
    let (_a, a) = file(&[one("both", &[2]), one("left", &[2]), one("shape", &[2, 1])]);
    let (_b, b) = file(&[one("both", &[2]), one("right", &[2]), one("shape", &[1, 2])]);
    let found = run(&a, &b);
    assert_eq!((&found.only_a[..], &found.only_b[..]), (&["left".to_owned()][..], &["right".to_owned()][..]));
    let [other] = &found.incomparable[..] else { panic!("{found:?}") };
    assert_eq!((&*other.name, &*other.a, &*other.b), ("shape", "float32 [2, 1]", "float32 [1, 2]"));
    assert_eq!((found.tensors.len(), found.tensors[0].different), (1, 0));
    assert!(!found.is_equal() && !found.has_same_tensors());
    assert!(run(&a, &a).is_equal());
}

/// The exact product of a code and a scale of float32 has more digits than the plain tensors of the other side.
#[test]
fn values_that_only_rounding_makes_equal_are_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = r#"{"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]}}"#;
    fs::write(folder.path().join("config.json"), config).expect("a file");
    let model = |scale: f32| -> [Tensor<'_>; 2] {
        [
            // 1, 1.125 and 0.
            ("m.up.weight", Float8E4M3FN, &[1, 3], vec![0x38, 0x39, 0]),
            ("m.up.weight_scale_inv", Float32, &[1, 1], f32s(&[scale])),
        ]
    };
    write(&folder.path().join("model.safetensors"), &model(0.1));
    // 0.1 is a float32, and 1.125 * 0.1 is none.
    let wide = f32s(&[0.1, (1.125 * f64::from(0.1_f32)) as f32, 0.0]);
    let half = |x: f64| lanecast::half::bf16::from_f64(x).to_le_bytes();
    let narrow = [half(f64::from(0.1_f32)), half(1.125 * f64::from(0.1_f32)), half(0.0)].concat();
    for (dtype, data, rounded) in [(Float32, wide, 1), (BFloat16, narrow, 2)] {
        let (_folder, plain) = file(&[("m.up.weight", dtype, &[1, 3], data)]);
        for (a, b) in [(folder.path(), &*plain), (&*plain, folder.path())] {
            let found = run(a, b);
            assert_eq!((found.tensors[0].different, found.tensors[0].rounded), (0, rounded), "{dtype}");
            assert!(!found.is_equal());
        }
    }
    // The same codes with a scale that only a bfloat16 has: codes are compared with codes exactly.
    let other = tempfile::tempdir().expect("a folder");
    fs::write(other.path().join("config.json"), config).expect("a file");
    let scale = lanecast::half::bf16::from_f32(0.1).to_f32();
    write(&other.path().join("model.safetensors"), &model(scale));
    let found = run(folder.path(), other.path());
    assert_eq!((found.tensors[0].different, found.tensors[0].rounded), (2, 0));
    assert!(run(folder.path(), folder.path()).is_equal());
    // float64 has all digits.
    let exact = [f64::from(0.1_f32), 1.125 * f64::from(0.1_f32), 0.0].map(f64::to_le_bytes).concat();
    let (_folder, plain) = file(&[("m.up.weight", Float64, &[1, 3], exact)]);
    assert!(run(folder.path(), &plain).is_equal());
}

/// A weight of several parts on both sides, whose parts end at different places.
#[test]
fn parts_of_both_sides_are_paired() {
    let (rows, cols) = (1111_u64, 1024_u64);
    let n = (rows * cols) as usize;
    let codes: Vec<u8> = (0..n).map(|i| (i * 37 % 0x7F) as u8).collect();
    let scales: Vec<f32> = (0..9 * 8).map(|i| 0.5 + i as f32).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let config = r#"{"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]}}"#;
    fs::write(folder.path().join("config.json"), config).expect("a file");
    let path = folder.path().join("model.safetensors");
    write(
        &path,
        &[
            ("m.up.weight", Float8E4M3FN, &[rows, cols], codes.clone()),
            ("m.up.weight_scale_inv", Float32, &[9, 8], f32s(&scales)),
        ],
    );
    let table = floats(Float8E4M3FN, &codes);
    let value = |i: usize| (table[i] * f64::from(scales[i / 1024 / 128 * 8 + i % 1024 / 128])) as f32;
    let mut plain: Vec<f32> = (0..n).map(value).collect();
    let (_folder, exact) = file(&[("m.up.weight", Float32, &[rows, cols], f32s(&plain))]);
    assert!(run(folder.path(), &exact).is_equal());
    let places = [0, 1, 300_000, n / 2, n - 1];
    for i in places {
        plain[i] += 1.0;
    }
    let (_folder, other) = file(&[("m.up.weight", Float32, &[rows, cols], f32s(&plain))]);
    let found = &run(folder.path(), &other).tensors[0];
    assert_eq!((found.values, found.different, found.largest), (n as u64, places.len() as u64, 1.0));
    assert_eq!(found.mean, places.len() as f64 / n as f64);
}

#[test]
fn work_is_told_and_cancelled() {
    let goldens = Goldens::unpack();
    let (a, b) =
        (open(&goldens.path("deepseek_v3")), open(&goldens.path("expected/deepseek_v3.safetensors")));
    let mut steps: Vec<(String, u64, u64)> = Vec::new();
    let mut progress = |step: Step<'_>| {
        assert_eq!(step.file, "model.safetensors");
        steps.push((step.tensor.to_owned(), step.done, step.total));
    };
    compare(&a, &b, Callbacks { progress: Some(&mut progress), cancelled: None }).expect("a result");
    assert!(steps.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{steps:?}");
    let (_, done, total) = steps.last().expect("steps");
    let stored = |of: &Checkpoint| of.tensors().iter().map(|tensor| tensor.stored_bytes).sum::<u64>();
    assert_eq!((*done, *total), (stored(&a) + stored(&b), stored(&a) + stored(&b)));
    let asked = AtomicUsize::new(0);
    let cancelled = || asked.fetch_add(1, Ordering::Relaxed) > 1;
    let callbacks = Callbacks { progress: None, cancelled: Some(&cancelled) };
    assert!(matches!(compare(&a, &b, callbacks), Err(Error::Cancelled)));
}

/// The error of one side ends the other.
#[test]
fn errors_name_the_tensor() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = r#"{"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]}}"#;
    fs::write(folder.path().join("config.json"), config).expect("a file");
    let codes: Tensor<'_> = ("m.up.weight", Float8E4M3FN, &[2, 4], vec![0x38; 8]);
    let scale: Tensor<'_> = ("m.up.weight_scale_inv", Float32, &[1, 1], f32s(&[f32::NAN]));
    write(&folder.path().join("model.safetensors"), &[codes, scale]);
    let (_folder, plain) = file(&[("m.up.weight", Float32, &[2, 4], f32s(&[1.0; 8]))]);
    for (a, b) in [(folder.path(), &*plain), (&*plain, folder.path())] {
        let error = compare(&open(a), &open(b), Callbacks::default()).expect_err("NaN").to_string();
        assert!(error.contains("m.up.weight_scale_inv") && error.contains("NaN"), "{error}");
    }
    let (a, b) = (open(folder.path()).with_nan_allowed(), open(&plain));
    let found = compare(&a, &b, Callbacks::default()).expect("a result");
    assert_eq!((found.tensors[0].not_finite, found.tensors[0].values), (8, 8));
}
