//! Checkpoints that the libraries made, against the values that the libraries decode.

use lanecast::DType;
use lanecast_checkpoint::Checkpoint;
use lanecast_files::TensorFile;

use crate::common::{Goldens, floats};

/// How far the library's values may be from ours: the largest relative difference from the exact product, as measured in two digits when the
/// values were made; 0 is bit for bit. Libraries that round more than once differ.
const TOLERANCES: &[(&str, f64)] = &[
    ("awq_gemm", 0.0),
    ("bnb_fp4", 0.0),
    ("bnb_int8", 1.25e-7),
    ("bnb_nf4", 0.0),
    ("bnb_nf4_nested", 0.0),
    ("comfy_fp8", 0.0),
    ("comfy_mxfp8", 0.0),
    ("comfy_nvfp4", 8.95e-8),
    ("comfy_scaled_fp8", 0.0),
    ("ct_fp8_static", 0.0),
    ("ct_mixed", 0.0),
    ("ct_mxfp8", 0.0),
    ("ct_pack_odd", 0.0),
    ("deepseek_v3", 0.0),
    ("deepseek_v4", 0.0),
    ("gguf_mixed", 0.0),
    ("gpt_oss", 0.0),
    ("gptq_v1", 0.0),
    ("gptq_v1_asym", 0.0),
    ("gptq_v2", 0.0),
    ("gptq_v2_3bit", 0.0),
    ("mlx", 0.0), // Affine weights: see `ulps`.
    ("modelopt_fp8", 0.0),
    ("modelopt_mixed", 1.05e-7),
    ("modelopt_mxfp4", 0.0),
    ("modelopt_mxfp8", 0.0),
    ("modelopt_nvfp4", 7.45e-8),
    ("modelopt_w4a16_nvfp4", 1.15e-7),
    ("mxfp8_sglang", 0.0),
    ("torchao", 0.0),
];

/// A unit in the last place of every bias of an affine weight of MLX. The library rounds the product and the sum, so its values differ from
/// ours by at most this.
fn ulps(goldens: &Goldens, name: &str, tensor: &str, dtype: DType) -> Option<Vec<f64>> {
    if name != "mlx" {
        return None;
    }
    let mut file = TensorFile::open(&goldens.path(name).join("model.safetensors")).expect("a file");
    let biases = file.find(&tensor.replace(".weight", ".biases"))?;
    let bytes = file.read(biases).expect("bytes");
    let precision = dtype.finfo().expect("a float").mantissa_bits as i32;
    let ulp = |bias: &f64| match *bias == 0.0 {
        true => 0.0,
        false => 2_f64.powi(bias.abs().log2().floor() as i32 - precision),
    };
    Some(floats(dtype, &bytes).iter().map(ulp).collect())
}

/// Checkpoints that do not say how many columns of a weight are padding.
const PADDED: &[&str] = &["comfy_mxfp8", "comfy_nvfp4"];

/// The first columns of a padded matrix, whose other values are zero.
fn cut(padded: &[usize], shape: &[usize], size: usize, bytes: &[u8]) -> Vec<u8> {
    assert_eq!(padded[0], shape[0]);
    let rows = bytes.chunks_exact(padded[1] * size).map(|row| row.split_at(shape[1] * size));
    rows.flat_map(|(row, rest)| {
        assert!(rest.iter().all(|byte| *byte == 0));
        row.to_vec()
    })
    .collect()
}

/// The bytes of a tensor.
fn decoded(checkpoint: &Checkpoint, name: &str, to: DType) -> Vec<u8> {
    let mut bytes = vec![0; checkpoint.find(name).expect(name).elements() * to.size()];
    checkpoint.read_bytes(name, to, &mut bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
    bytes
}

#[test]
fn every_checkpoint_decodes_to_the_values_of_its_library() {
    let goldens = Goldens::unpack();
    for (name, tolerance) in TOLERANCES {
        let checkpoint = Checkpoint::open(&goldens.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut expected = goldens.expected(name).expect("values");
        assert_eq!(
            checkpoint.tensors().len(),
            expected.tensors().len(),
            "{name}: {:?}",
            checkpoint.tensors()
        );
        for index in 0..expected.tensors().len() {
            let info = expected.tensors()[index].clone();
            let (tensor, dtype) = (&*info.name, info.dtype().expect("a dtype"));
            let found = checkpoint.find(tensor).unwrap_or_else(|| panic!("{name}: no {tensor}"));
            let shape: Vec<usize> = info.shape.expect("a shape").iter().map(|axis| *axis as usize).collect();
            let want = expected.read(index).expect("bytes");
            let have = decoded(&checkpoint, tensor, dtype);
            let have = match PADDED.contains(name) && found.shape != shape {
                true => cut(&found.shape, &shape, dtype.size(), &have),
                false => have,
            };
            assert!(have.len() == want.len(), "{name}: {tensor} {:?} {shape:?}", found.shape);
            if let Some(ulps) = ulps(&goldens, name, tensor, dtype) {
                let (have, want) = (floats(dtype, &have), floats(dtype, &want));
                let columns = have.len() / ulps.len();
                for (i, (have, want)) in have.iter().zip(&want).enumerate() {
                    assert!((have - want).abs() <= ulps[i / columns], "{name}: {tensor}: {have} {want}");
                }
                continue;
            }
            if *tolerance == 0.0 {
                assert!(have == want, "{name}: {tensor}");
                continue;
            }
            for (have, want) in floats(dtype, &have).into_iter().zip(floats(dtype, &want)) {
                assert!((have - want).abs() <= tolerance * want.abs(), "{name}: {tensor}: {have} {want}");
            }
        }
    }
}

/// Both decoders, to every dtype, of every weight; and typed slices.
#[test]
fn the_loops_of_the_library_and_the_plain_decoder_agree() {
    let goldens = Goldens::unpack();
    let mut compared = 0;
    for name in goldens.names() {
        let checkpoint = Checkpoint::open(&goldens.path(&name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        for tensor in checkpoint.tensors().iter().filter(|tensor| tensor.layout != "plain") {
            for to in [DType::Float32, DType::BFloat16, DType::Float16] {
                let have = decoded(&checkpoint, &tensor.name, to);
                let mut plain = Vec::new();
                let mut sink = |bytes: &[u8]| {
                    plain.extend_from_slice(bytes);
                    Ok(())
                };
                checkpoint.decode_plainly(&tensor.name, to, &mut sink).expect("values");
                assert!(have == plain, "{name}: {} to {to}", tensor.name);
                compared += 1;
            }
            let mut typed = vec![0.0_f32; tensor.elements()];
            checkpoint.read(&tensor.name, &mut typed).expect("values");
            let bytes: Vec<u8> = typed.iter().flat_map(|x| x.to_le_bytes()).collect();
            assert!(bytes == decoded(&checkpoint, &tensor.name, DType::Float32), "{name}: {}", tensor.name);
        }
    }
    assert!(compared > 200, "{compared} casts");
}
