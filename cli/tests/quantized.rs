//! Quantized checkpoints: codes and scales are not cast as if they were numbers, unless the user says so.

use crate::common::{Folder, bad, good, safetensors};

/// A tensor: its name, its dtype as the format calls it, its shape and the size of an element in bytes.
type Tensor = (&'static str, &'static str, &'static [u64], u64);

/// A file of these tensors; each byte is 0x38, which is 1 in float8_e4m3fn.
fn file(tensors: &[Tensor]) -> Vec<u8> {
    let mut end = 0;
    let entries = tensors.iter().map(|(name, dtype, shape, size)| {
        let begin = end;
        end += size * shape.iter().product::<u64>();
        format!("\"{name}\":{{\"dtype\":\"{dtype}\",\"shape\":{shape:?},\"data_offsets\":[{begin},{end}]}}")
    });
    let header = format!("{{{}}}", entries.collect::<Vec<_>>().join(","));
    safetensors(&header, &vec![0x38; end as usize])
}

const NORM: Tensor = ("model.norm.weight", "BF16", &[8], 2);

/// What libraries write: the layout, and the tensors of one module.
const LAYOUTS: &[(&str, &[Tensor])] = &[
    (
        "block-scaled fp8 of DeepSeek",
        &[("model.up.weight", "F8_E4M3", &[128, 128], 1), ("model.up.weight_scale_inv", "F32", &[1, 1], 4)],
    ),
    ("MXFP8", &[("m.up.weight", "F8_E4M3", &[2, 32], 1), ("m.up.weight_scale_inv", "U8", &[2, 1], 1)]),
    (
        "compressed-tensors, packed",
        &[
            ("m.up.weight_packed", "I32", &[8, 4], 4),
            ("m.up.weight_scale", "BF16", &[8, 1], 2),
            ("m.up.weight_shape", "I64", &[2], 8),
        ],
    ),
    ("scaled codes", &[("m.up.weight", "F8_E4M3", &[8, 8], 1), ("m.up.weight_scale", "BF16", &[8, 1], 2)]),
    (
        "MXFP4 of gpt-oss",
        &[
            ("m.experts.gate_up_proj_blocks", "U8", &[2, 4, 1, 16], 1),
            ("m.experts.gate_up_proj_scales", "U8", &[2, 4, 1], 1),
            ("m.experts.gate_up_proj_bias", "BF16", &[2, 4], 2),
        ],
    ),
    (
        "NVFP4 of ModelOpt",
        &[
            ("m.up.weight", "U8", &[8, 8], 1),
            ("m.up.weight_scale", "F8_E4M3", &[8, 1], 1),
            ("m.up.weight_scale_2", "F32", &[], 4),
        ],
    ),
    (
        "GPTQ",
        &[
            ("m.up.qweight", "I32", &[2, 8], 4),
            ("m.up.qzeros", "I32", &[1, 1], 4),
            ("m.up.scales", "F16", &[1, 8], 2),
            ("m.up.g_idx", "I32", &[16], 4),
        ],
    ),
    (
        "AWQ",
        &[
            ("m.up.qweight", "I32", &[16, 1], 4),
            ("m.up.qzeros", "I32", &[1, 1], 4),
            ("m.up.scales", "F16", &[1, 8], 2),
        ],
    ),
    (
        "bitsandbytes, 4 bits",
        &[
            ("m.up.weight", "U8", &[64, 1], 1),
            ("m.up.weight.absmax", "F32", &[2], 4),
            ("m.up.weight.quant_map", "F32", &[16], 4),
            ("m.up.weight.quant_state.bitsandbytes__nf4", "U8", &[8], 1),
        ],
    ),
    ("bitsandbytes, 8 bits", &[("m.up.weight", "I8", &[8, 8], 1), ("m.up.SCB", "F32", &[8], 4)]),
    ("torchao", &[("m.up._weight_qdata", "F8_E4M3", &[8, 8], 1), ("m.up._weight_scale", "F32", &[8, 1], 4)]),
    (
        "MLX",
        &[
            ("m.up.weight", "U32", &[8, 1], 4),
            ("m.up.scales", "BF16", &[8, 1], 2),
            ("m.up.biases", "BF16", &[8, 1], 2),
        ],
    ),
    ("DeepSeek V4", &[("m.w1.weight", "I8", &[8, 16], 1), ("m.w1.scale", "F8_E8M0", &[8, 1], 1)]),
    ("ComfyUI", &[("m.up.weight", "F8_E4M3", &[8, 8], 1), ("m.up.comfy_quant", "U8", &[20], 1)]),
];

const CAST: [&str; 5] = ["cast", "in.safetensors", "out.safetensors", "--to", "float32"];

#[test]
fn codes_and_scales_are_recognised_in_every_layout() {
    for (layout, tensors) in LAYOUTS {
        let folder = Folder::new();
        folder.write("in.safetensors", &file(&[*tensors, &[NORM]].concat()));
        // gpt-oss has codes and scales of bytes, which no default selection casts.
        let all = ["--from", "uint8"];
        let args = if layout.contains("gpt-oss") { [&CAST[..], &all].concat() } else { CAST.to_vec() };
        for args in [&args[..], &[&args[..], &["--dry-run"]].concat()] {
            let line = bad(&folder.run(args), &[5]);
            let named = tensors.iter().any(|(name, ..)| line.contains(&format!("\"{name}\"")));
            assert!(line.contains(layout) && named && line.contains("--allow-quantized"), "{layout}: {line}");
        }
        assert_eq!(folder.names(), ["in.safetensors"], "{layout}");
        good(folder.run(&[&args[..], &["--allow-quantized"]].concat()));
        // What is no code and no scale can be cast, and the codes stay what they are.
        let norm = ["--from", "bfloat16", "--include", "*norm*", "--force"];
        good(folder.run(&[&CAST[..], &norm].concat()));
    }
}

#[test]
fn the_configuration_speaks_for_shards_without_scales() {
    let folder = Folder::new();
    let weight: Tensor = ("model.up.weight", "F8_E4M3", &[128, 128], 1);
    folder.write("in.safetensors", &file(&[weight, NORM]));
    // Values of 8 bits that nothing scales are numbers.
    good(folder.run(&CAST));
    folder.remove("out.safetensors");
    for (name, config, said) in [
        (
            "config.json",
            r#"{"quantization_config":{"quant_method":"fp8","fmt":"e4m3"}}"#,
            r#"quant_method "fp8""#,
        ),
        (
            "config.json",
            r#"{"text_config":{"quantization_config":{"quant_method":"compressed-tensors"}}}"#,
            "compressed-tensors",
        ),
        ("config.json", r#"{"quantization":{"group_size":64,"bits":4}}"#, "bits 4"),
        ("hf_quant_config.json", r#"{"quantization":{"quant_algo":"NVFP4"}}"#, "NVFP4"),
        ("quantize_config.json", r#"{"bits":4,"group_size":128}"#, "bits 4"),
    ] {
        folder.write(name, config.as_bytes());
        let line = bad(&folder.run(&CAST), &[5]);
        assert!(line.contains(said) && line.contains(name), "{line}");
        good(folder.run(&[&CAST[..], &["--allow-quantized", "--force"]].concat()));
        folder.remove("out.safetensors");
        folder.remove(name);
    }
    for plain in [r#"{"quantization_config":null}"#, r#"{"dtype":"bfloat16"}"#, "no JSON", "[1]"] {
        folder.write("config.json", plain.as_bytes());
        good(folder.run(&[&CAST[..], &["--force"]].concat()));
    }
}

#[test]
fn several_files_are_refused_before_one_is_written() {
    let folder = Folder::new();
    folder.write("a.safetensors", &file(&[NORM]));
    folder.write("b.safetensors", &file(LAYOUTS[0].1));
    let args = ["cast", "a.safetensors", "b.safetensors", "--out-dir", "out", "--to", "f32"];
    let line = bad(&folder.run(&args), &[5]);
    assert!(line.contains("b.safetensors"), "{line}");
    assert_eq!(folder.names(), ["a.safetensors", "b.safetensors"]);
}
