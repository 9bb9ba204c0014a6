//! Checkpoints of llm-compressor, which come without values, against a decoder that shares nothing with the crate: a loop over elements.

use lanecast::DType;
use lanecast_checkpoint::Checkpoint;
use lanecast_files::TensorFile;

use crate::common::{Goldens, floats};

/// The value of a code of a float with so many bits of exponent and mantissa.
fn float(code: u8, exponent: u32, mantissa: u32, bias: i32) -> f64 {
    let (e, m) =
        (i32::from(code >> mantissa & ((1 << exponent) - 1)), f64::from(code & ((1 << mantissa) - 1)));
    let unit = 2_f64.powi(-(mantissa as i32));
    let magnitude =
        if e == 0 { m * unit * 2_f64.powi(1 - bias) } else { (1.0 + m * unit) * 2_f64.powi(e - bias) };
    if code >> (exponent + mantissa) & 1 == 1 { -magnitude } else { magnitude }
}

/// The tensors of the checkpoint: elements as float64, bytes and shapes.
struct Tensors(TensorFile);

impl Tensors {
    fn get(&mut self, name: &str) -> Option<(Vec<u8>, DType, Vec<usize>)> {
        let index = self.0.find(name)?;
        let info = self.0.tensors()[index].clone();
        let shape = info.shape.as_ref()?.iter().map(|axis| *axis as usize).collect();
        Some((self.0.read(index).expect("bytes"), info.dtype()?, shape))
    }

    /// The value of element (r, c) of a module, and its shape.
    fn module(&mut self, module: &str) -> (Vec<f64>, usize) {
        let mut at = |end: &str| self.get(&format!("{module}.{end}"));
        let (scales, of_scales, grid) = at("weight_scale").expect("scales");
        let global = at("weight_global_scale").map(|(bytes, dtype, _)| floats(dtype, &bytes)[0]);
        let scale: Box<dyn Fn(usize) -> f64> = match of_scales {
            DType::UInt8 => Box::new(|i| 2_f64.powi(i32::from(scales[i]) - 127)),
            DType::Float8E4M3FN => {
                Box::new(|i| float(scales[i], 4, 3, 7) / global.expect("a scale of the tensor"))
            }
            dtype => {
                let values = floats(dtype, &scales);
                Box::new(move |i| values[i])
            }
        };
        let (codes, dtype, shape) = at("weight").or_else(|| at("weight_packed")).expect("codes");
        let (rows, stored) = (shape[0], shape[1]);
        let (cols, code): (usize, Box<dyn Fn(usize, usize) -> f64>) = match dtype {
            DType::Float8E4M3FN => (stored, Box::new(|r, c| float(codes[r * stored + c], 4, 3, 7))),
            DType::Int8 => (stored, Box::new(|r, c| f64::from(codes[r * stored + c] as i8))),
            DType::UInt8 => {
                (2 * stored, Box::new(|r, c| float(codes[r * stored + c / 2] >> (4 * (c % 2)) & 15, 2, 1, 1)))
            }
            DType::Int32 => {
                let nibble = |r: usize, c: usize| codes[r * stored * 4 + c / 2] >> (4 * (c % 2)) & 15;
                (8 * stored, Box::new(move |r, c| f64::from(nibble(r, c)) - 8.0))
            }
            _ => panic!("{dtype}"),
        };
        let (block_rows, block_cols) = match (grid[0] == rows, grid[1]) {
            (true, 1) => (1, cols),
            (true, n) => (1, cols / n),
            // Tiles of 128 by 128.
            (false, _) => (128, 128),
        };
        let value = |r: usize, c: usize| code(r, c) * scale(r / block_rows * grid[1] + c / block_cols);
        ((0..rows * cols).map(|i| value(i / cols, i % cols)).collect(), rows)
    }
}

#[test]
fn checkpoints_of_llm_compressor_decode_to_the_products() {
    let goldens = Goldens::unpack();
    let mut weights = 0;
    for name in ["FP8_BLOCK", "FP8_DYNAMIC", "MXFP8A16", "NVFP4A16", "W4A16", "W8A8"] {
        let path = goldens.path(name);
        let checkpoint = Checkpoint::open(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(
            (checkpoint.layout(), checkpoint.warnings()),
            ("compressed-tensors", &[] as &[String]),
            "{name}"
        );
        let mut tensors = Tensors(TensorFile::open(&path.join("model.safetensors")).expect("a file"));
        for tensor in checkpoint.tensors().iter().filter(|tensor| tensor.layout != "plain") {
            let module = tensor.name.strip_suffix(".weight").expect("a weight");
            let (want, rows) = tensors.module(module);
            assert_eq!((tensor.shape[0], tensor.elements()), (rows, want.len()), "{name}: {module}");
            let mut have = vec![0.0_f32; want.len()];
            checkpoint.read(&tensor.name, &mut have).expect("values");
            for (i, (have, want)) in have.iter().zip(&want).enumerate() {
                assert_eq!(have.to_bits(), (*want as f32).to_bits(), "{name}: {module} element {i}");
            }
            weights += 1;
        }
    }
    assert_eq!(weights, 12);
}
