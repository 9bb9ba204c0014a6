//! Small random models, and the values that a scheme gives their weights: a loop over elements in float64 that shares nothing with the
//! crate.

use std::{
    fs,
    path::{Path, PathBuf},
};

use lanecast::{
    DType::{self, BFloat16},
    half::bf16,
};
use lanecast_checkpoint::{
    Callbacks, Checkpoint, Error, QuantScheme, QuantizeOptions, QuantizeReport, quantize,
};
use lanecast_files::TensorFile;
use serde_json::Value;

use super::write;

/// Numbers of about a normal distribution, by a linear congruential generator.
pub fn random(n: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 24) as f32 - 0.5
    };
    (0..n).map(|_| bf16::from_f32((0..6).map(|_| uniform()).sum::<f32>() * 0.05).to_f32()).collect()
}

/// The bytes of numbers in bfloat16, which holds those of [`random`].
pub fn halves(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| bf16::from_f32(*value).to_le_bytes()).collect()
}

pub fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The weights of a layer, their rows and columns.
pub const WEIGHTS: &[(&str, usize, usize)] = &[
    ("model.layers.0.self_attn.q_proj", 128, 128),
    ("model.layers.0.self_attn.k_proj", 32, 128),
    ("model.layers.0.self_attn.v_proj", 32, 128),
    ("model.layers.0.self_attn.o_proj", 128, 128),
    ("model.layers.0.mlp.gate_proj", 288, 128),
    ("model.layers.0.mlp.up_proj", 288, 128),
    ("model.layers.0.mlp.down_proj", 128, 384),
];

/// What stays.
pub const OTHERS: &[(&str, &[u64])] = &[
    ("lm_head.weight", &[16, 128]),
    ("model.embed_tokens.weight", &[16, 128]),
    ("model.layers.0.input_layernorm.weight", &[128]),
    ("model.layers.0.mlp.gate.weight", &[8, 128]),
];

pub const CONFIG: &str = r#"{"model_type": "llama", "rms_norm_eps": 1e-05, "dtype": "bfloat16"}"#;

/// The values of a weight, or of what stays. One row is zero, and one block.
pub fn values(name: &str, n: usize) -> Vec<f32> {
    let seed = name.bytes().fold(7_u64, |seed, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
    let mut values = random(n, seed);
    if n > 1024 {
        values[..128].fill(0.0);
        values[512..576].fill(-0.0);
    }
    values
}

/// Writes the model to a folder of this name.
pub fn model(root: &Path, name: &str) -> PathBuf {
    let folder = root.join(name);
    fs::create_dir_all(&folder).expect("a folder");
    let weights: Vec<(String, Vec<u64>)> = WEIGHTS
        .iter()
        .map(|(module, rows, cols)| (format!("{module}.weight"), vec![*rows as u64, *cols as u64]))
        .chain(OTHERS.iter().map(|(name, shape)| (name.to_string(), shape.to_vec())))
        .collect();
    let tensors: Vec<(&str, DType, &[u64], Vec<u8>)> = weights
        .iter()
        .map(|(name, shape)| {
            let n = shape.iter().product::<u64>() as usize;
            (&**name, BFloat16, &**shape, halves(&values(name, n)))
        })
        .collect();
    write(&folder.join("model.safetensors"), &tensors);
    fs::write(folder.join("config.json"), CONFIG).expect("a file");
    fs::write(folder.join("tokenizer.json"), "{}").expect("a file");
    folder
}

/// The values of positive codes in order: `exponent` bits, `mantissa` bits, up to the largest.
fn floats(exponent: i32, mantissa: i32, largest: f64) -> Vec<f64> {
    let bias = (1 << (exponent - 1)) - 1;
    let value = |code: i32| {
        let (e, m) = (code >> mantissa, f64::from(code & ((1 << mantissa) - 1)) / f64::from(1 << mantissa));
        if e == 0 { m * 2_f64.powi(1 - bias) } else { (1.0 + m) * 2_f64.powi(e - bias) }
    };
    (0..1 << (exponent + mantissa)).map(value).filter(|value| *value <= largest).collect()
}

fn e4m3() -> Vec<f64> {
    floats(4, 3, 448.0)
}

fn e2m1() -> Vec<f64> {
    floats(2, 1, 6.0)
}

/// The code nearest to `x / scale`, ties to the even one, times the scale. Products with midpoints are exact.
pub fn nearest(codes: &[f64], x: f64, scale: f64) -> f64 {
    let (mut best, magnitude) = (0, x.abs());
    for i in 1..codes.len() {
        let midpoint = (codes[i - 1] + codes[i]) / 2.0 * scale;
        if magnitude > midpoint || magnitude == midpoint && i % 2 == 0 {
            best = i;
        }
    }
    (codes[best] * scale).copysign(x)
}

fn amax(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |largest, x| largest.max(x.abs()))
}

fn narrow(x: f64) -> f64 {
    f64::from(x as f32)
}

/// The values of NVFP4 whose scale of the tensor is a divisor, as [`expected`].
pub fn divided(values: &[f32], cols: usize, shared: f64) -> Vec<f64> {
    let divisor = narrow(2688.0 / shared);
    let scale = |amax: f64| nearest(&e4m3(), amax * divisor / 6.0, 1.0) / divisor;
    blocks(values, cols, (1, 16, &e2m1()), &scale)
}

/// The values that a scheme gives a matrix. `shared` is the largest magnitude of all weights that share the scale of the tensor.
pub fn expected(scheme: QuantScheme, values: &[f32], cols: usize, shared: f64) -> Vec<f64> {
    let rows = values.len() / cols;
    // Rows and columns of a block.
    let (height, width, codes) = match scheme {
        QuantScheme::Fp8Dynamic => (1, cols, e4m3()),
        QuantScheme::Fp8Block => (128, 128, e4m3()),
        QuantScheme::Fp8Tensor => (rows, cols, e4m3()),
        QuantScheme::Mxfp8 => (1, 32, e4m3()),
        QuantScheme::Mxfp4 => (1, 32, e2m1()),
        QuantScheme::Nvfp4 => (1, 16, e2m1()),
        QuantScheme::Int8 => (1, cols, (0..=127).map(f64::from).collect()),
        QuantScheme::W4a16 => (1, 128, (0..=7).map(f64::from).collect()),
        _ => panic!("{scheme} is a table"),
    };
    let largest = codes.iter().copied().fold(0.0, f64::max);
    let scale = |amax: f64| match scheme {
        QuantScheme::Mxfp8 | QuantScheme::Mxfp4 => {
            (-127..=127).map(|k| 2_f64.powi(k)).find(|scale| scale * largest >= amax).expect("a power of two")
        }
        QuantScheme::Nvfp4 => {
            let global = narrow(shared / 2688.0);
            nearest(&e4m3(), amax / (6.0 * global), 1.0) * global
        }
        _ => narrow(amax / largest),
    };
    blocks(values, cols, (height, width, &codes), &scale)
}

/// The values of blocks of so many rows and columns, whose scale follows from the largest magnitude.
fn blocks(
    values: &[f32],
    cols: usize,
    (height, width, codes): (usize, usize, &[f64]),
    scale: &dyn Fn(f64) -> f64,
) -> Vec<f64> {
    let values: Vec<f64> = values.iter().copied().map(f64::from).collect();
    let rows = values.len() / cols;
    let mut out = vec![0.0; values.len()];
    for top in (0..rows).step_by(height) {
        for left in (0..cols).step_by(width) {
            let places = || {
                let rows = top..rows.min(top + height);
                rows.flat_map(move |row| (left..cols.min(left + width)).map(move |col| row * cols + col))
            };
            let scale = scale(amax(places().map(|i| values[i])));
            if scale > 0.0 {
                places().for_each(|i| out[i] = nearest(codes, values[i], scale));
            }
        }
    }
    out
}

pub fn run(src: &Path, dst: &Path, options: &QuantizeOptions) -> Result<QuantizeReport, Error> {
    quantize(src, dst, options, Callbacks::default())
}

pub fn config(folder: &Path) -> Value {
    let text = fs::read(folder.join("config.json")).expect("a file");
    serde_json::from_slice::<Value>(&text).expect("JSON")["quantization_config"].clone()
}

pub fn decoded(checkpoint: &Checkpoint, name: &str) -> Vec<f32> {
    let mut out = vec![0.0; checkpoint.find(name).unwrap_or_else(|| panic!("{name}")).elements()];
    checkpoint.read(name, &mut out).unwrap_or_else(|e| panic!("{name}: {e}"));
    out
}

/// A stored tensor of the only file of a folder.
pub fn stored(folder: &Path, name: &str) -> (DType, Vec<u64>, Vec<u8>) {
    let mut file = TensorFile::open(&folder.join("model.safetensors")).expect("a file");
    let index = file.find(name).unwrap_or_else(|| panic!("{name}"));
    let info = file.tensors()[index].clone();
    (info.dtype().expect("a dtype"), info.shape.expect("a shape"), file.read(index).expect("bytes"))
}
