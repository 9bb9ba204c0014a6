//! No byte of a quantized tensor depends on how it is divided.

use lanecast::{DType, half::bf16};

use super::{QuantLayout, QuantScheme, QuantizeOptions, choose::choose, tensors};
use crate::{
    Callbacks, Checkpoint,
    write::divisions::{Random, check, write},
};

/// Writes a model of these tensors in bfloat16.
fn model(tensors: &[(&str, &[u64])], kind: &str) -> (tempfile::TempDir, Checkpoint) {
    let (folder, mut random) = (tempfile::tempdir().expect("a folder"), Random(3));
    let mut value = || bf16::from_f32(random.below(1 << 16) as f32 / 32768.0 - 1.0).to_le_bytes();
    let data: Vec<Vec<u8>> = tensors
        .iter()
        .map(|(_, shape)| (0..shape.iter().product()).flat_map(|_| value()).collect())
        .collect();
    let tensors: Vec<lanecast_files::NewTensor<'_>> = tensors
        .iter()
        .zip(&data)
        .map(|((name, shape), data)| lanecast_files::NewTensor { name, dtype: DType::BFloat16, shape, data })
        .collect();
    write(folder.path(), &tensors, &format!(r#"{{"model_type": "{kind}"}}"#));
    let checkpoint = Checkpoint::open(folder.path()).expect("a checkpoint");
    (folder, checkpoint)
}

#[test]
fn ranges_of_every_layout_and_scheme_add_up() {
    let plain: &[(&str, &[u64])] =
        &[("m.0.q_proj.weight", &[300, 384]), ("m.0.up_proj.weight", &[700, 128]), ("m.norm.weight", &[9])];
    let stacks: &[(&str, &[u64])] = &[
        ("m.0.mlp.experts.gate_up_proj", &[3, 128, 288]),
        ("m.0.mlp.experts.down_proj", &[3, 128, 256]),
        ("m.0.o_proj.weight", &[128, 128]),
    ];
    let models = [(plain, "llama"), (stacks, "gpt_oss"), (stacks, "llama4"), (stacks, "qwen3_5_moe")];
    let (mut random, mut count) = (Random(4), 0);
    for (of, kind) in models {
        let (_folder, checkpoint) = model(of, kind);
        for (_, layout) in QuantLayout::NAMED {
            for scheme in layout.schemes() {
                for double_quant in [false, true] {
                    let options = QuantizeOptions { double_quant, ..QuantizeOptions::new(*scheme, *layout) };
                    if layout.check(&options).is_err() {
                        continue;
                    }
                    // Not every layout has stacks.
                    let Ok(mut chosen) = choose(&checkpoint, &options, layout.target(), false) else {
                        continue;
                    };
                    for weight in &mut chosen.weights {
                        (weight.amax, weight.offset) = (1.0, 0.5);
                    }
                    check(&tensors(&checkpoint, &chosen, layout.target(), &options), &mut random);
                    count += chosen.weights.len();
                }
            }
        }
    }
    assert!(count > 100, "{count}");
}

/// Codes of experts that are moved, from a stack and to a stack.
#[test]
fn ranges_of_moved_experts_add_up() {
    let tensors_of: &[(&str, &[u64])] = &[
        ("m.0.mlp.experts.gate_up_proj", &[3, 128, 288]),
        ("m.0.mlp.experts.gate_up_proj_bias", &[3, 288]),
        ("m.0.mlp.experts.down_proj", &[3, 128, 96]),
        ("m.0.mlp.experts.down_proj_bias", &[3, 96]),
    ];
    let (folder, _) = model(tensors_of, "gpt_oss");
    let out = tempfile::tempdir().expect("a folder");
    let at = |name: &str| out.path().join(name);
    let of = |scheme, layout| QuantizeOptions::new(scheme, layout);
    let (stack, split) =
        (of(QuantScheme::Mxfp4, QuantLayout::GptOss), of(QuantScheme::Mxfp4, QuantLayout::CompressedTensors));
    super::quantize(folder.path(), &at("stack"), &stack, Callbacks::default()).expect("a report");
    super::requantize(&at("stack"), &at("split"), &split, Callbacks::default()).expect("a report");
    let fp8 = of(QuantScheme::Mxfp8, QuantLayout::CompressedTensors);
    let (mut random, mut count) = (Random(5), 0);
    for (src, options) in [("stack", split), ("split", stack), ("stack", fp8)] {
        let checkpoint = Checkpoint::open(&at(src)).expect("a checkpoint");
        let chosen = choose(&checkpoint, &options, options.layout.target(), true).expect("weights");
        let new = tensors(&checkpoint, &chosen, options.layout.target(), &options);
        check(&new, &mut random);
        count += new.len();
    }
    // Codes, scales and a bias of each of 9 weights, or of each of 2 stacks.
    assert_eq!(count, 27 + 6 + 27);
}

/// Scales that follow their codes in the file are made with them: the source is read once.
#[test]
fn one_pass_makes_codes_and_scales() {
    let (folder, checkpoint) = model(&[("m.0.q_proj.weight", &[700, 384])], "llama");
    let options = QuantizeOptions::new(QuantScheme::Mxfp4, QuantLayout::CompressedTensors);
    let target = options.layout.target();
    let chosen = choose(&checkpoint, &options, target, false).expect("weights");
    let new = tensors(&checkpoint, &chosen, target, &options);
    let make = |end: &str, range: Option<std::ops::Range<u64>>| {
        let tensor = new.iter().find(|tensor| tensor.declared.name.ends_with(end)).expect("a tensor");
        let (mut out, range) = (Vec::new(), range.unwrap_or(0..tensor.bytes()));
        let made = (tensor.produce)(range, &mut |bytes| {
            out.extend_from_slice(bytes);
            Ok(())
        });
        made.map(|_| out)
    };
    let alone = make("_scale", None).expect("scales");
    make("_packed", None).expect("codes");
    std::fs::remove_file(folder.path().join("model.safetensors")).expect("a file");
    let part = 128 * 384 / 32;
    let first = make("_scale", Some(0..part)).expect("scales that were kept");
    let rest = make("_scale", Some(part..alone.len() as u64)).expect("scales that were kept");
    assert_eq!([first, rest].concat(), alone);
    // They are kept until they are written.
    assert!(make("_scale", None).is_err());
}

/// Codes that are moved: each source and what its weights become.
#[test]
fn ranges_of_codes_that_are_moved_add_up() {
    use DType::{BFloat16, Float8E4M3FN, Float32, Int32, Int64, UInt8};
    let mut random = Random(5);
    // Scales that are finite: 2^-1 to 2^1 in every dtype.
    let mut codes = |n: usize| random.bytes(n);
    let (n, k) = (264_u64, 512_u64);
    let size = |axes: [u64; 2]| (axes[0] * axes[1]) as usize;
    let compressed = |format: &str, weights: &str| {
        format!(
            r#"{{"quantization_config": {{"quant_method": "compressed-tensors", "format": "{format}",
            "config_groups": {{"g": {{"targets": ["Linear"], "weights": {{{weights}}}}}}}}}}}"#
        )
    };
    type Stored = (&'static str, DType, Vec<u64>, Vec<u8>);
    let int4: Vec<Stored> = vec![
        ("m.up.weight_packed", Int32, vec![n, k / 8], codes(size([n, k / 2]))),
        ("m.up.weight_scale", BFloat16, vec![n, k / 64], [0x80, 0x3F].repeat(size([n, k / 64]))),
        ("m.up.weight_zero_point", Int32, vec![n / 8, k / 64], codes(size([n / 2, k / 64]))),
        ("m.up.weight_shape", Int64, vec![2], [n.to_le_bytes(), k.to_le_bytes()].concat()),
    ];
    let nvfp4: Vec<Stored> = vec![
        ("m.up.weight_packed", UInt8, vec![n, k / 2], codes(size([n, k / 2]))),
        (
            "m.up.weight_scale",
            Float8E4M3FN,
            vec![n, k / 16],
            (0..size([n, k / 16])).map(|i| (i % 126) as u8).collect(),
        ),
        ("m.up.weight_global_scale", Float32, vec![1], 4.0_f32.to_le_bytes().to_vec()),
    ];
    let mxfp4: Vec<Stored> = vec![
        ("m.up.weight_packed", UInt8, vec![n, k / 2], codes(size([n, k / 2]))),
        (
            "m.up.weight_scale",
            UInt8,
            vec![n, k / 32],
            (0..size([n, k / 32])).map(|i| (120 + i % 17) as u8).collect(),
        ),
    ];
    let int4_of =
        r#""num_bits": 4, "type": "int", "symmetric": false, "strategy": "group", "group_size": 64"#;
    let float_of = r#""num_bits": 4, "type": "float""#;
    let nvfp4_layouts = &[QuantLayout::CompressedTensors, QuantLayout::ModelOpt, QuantLayout::Comfy][..];
    let int4_layouts = &[QuantLayout::CompressedTensors, QuantLayout::Gptq, QuantLayout::Awq][..];
    let mut count = 0;
    for (stored, config, scheme, layouts) in [
        (int4, compressed("pack-quantized", int4_of), QuantScheme::W4a16, int4_layouts),
        (nvfp4, compressed("nvfp4-pack-quantized", float_of), QuantScheme::Nvfp4, nvfp4_layouts),
        (mxfp4, compressed("mxfp4-pack-quantized", float_of), QuantScheme::Nvfp4, nvfp4_layouts),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let stored: Vec<lanecast_files::NewTensor<'_>> = stored
            .iter()
            .map(|(name, dtype, shape, data)| lanecast_files::NewTensor { name, dtype: *dtype, shape, data })
            .collect();
        write(folder.path(), &stored, &config);
        let checkpoint = Checkpoint::open(folder.path()).expect("a checkpoint");
        for layout in layouts {
            let options = QuantizeOptions::new(scheme, *layout);
            let mut chosen = choose(&checkpoint, &options, layout.target(), true).expect("weights");
            chosen.weights[0].amax = 512.0;
            let new = tensors(&checkpoint, &chosen, layout.target(), &options);
            let parts = new.iter().filter(|tensor| tensor.part < tensor.bytes()).count();
            assert!(parts > 0, "{layout}");
            check(&new, &mut Random(6));
            count += new.len();
        }
    }
    assert_eq!(count, 4 + 4 + 3 + 3 * 2 * 3);
}
