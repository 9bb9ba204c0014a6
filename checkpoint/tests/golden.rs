//! Checkpoints that the libraries made, against the values that the libraries decode.

use lanecast::DType;
use lanecast_checkpoint::Checkpoint;

use crate::common::{Goldens, floats};

/// How far the library's values may be from ours: the largest relative difference from the exact product, as measured when the values were
/// made; 0 is bit for bit. Libraries that round more than once differ.
const TOLERANCES: &[(&str, f64)] = &[
    ("awq_gemm", 0.0),
    ("bnb_fp4", 0.0),
    ("bnb_int8", 1.2e-7),
    ("bnb_nf4", 0.0),
    ("bnb_nf4_nested", 0.0),
    ("comfy_fp8", 0.0),
    ("comfy_mxfp8", 0.0),
    ("comfy_nvfp4", 8.9e-8),
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
    ("mlx", 0.0),
    ("modelopt_fp8", 0.0),
    ("modelopt_mixed", 1e-7),
    ("modelopt_mxfp4", 0.0),
    ("modelopt_mxfp8", 0.0),
    ("modelopt_nvfp4", 7.4e-8),
    ("modelopt_w4a16_nvfp4", 1.1e-7),
    ("mxfp8_sglang", 0.0),
    ("torchao", 0.0),
];

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
        assert_eq!(checkpoint.tensors().len(), expected.tensors().len(), "{name}: {:?}", checkpoint.tensors());
        for index in 0..expected.tensors().len() {
            let info = expected.tensors()[index].clone();
            let (tensor, dtype) = (&*info.name, info.dtype().expect("a dtype"));
            let found = checkpoint.find(tensor).unwrap_or_else(|| panic!("{name}: no {tensor}"));
            let shape: Vec<usize> = info.shape.expect("a shape").iter().map(|axis| *axis as usize).collect();
            let want = expected.read(index).expect("bytes");
            let have = decoded(&checkpoint, tensor, dtype);
            assert_eq!(found.shape, shape, "{name}: {tensor}");
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
