//! No byte of a quantized tensor depends on how it is divided.

use lanecast::{DType, half::bf16};

use super::{QuantLayout, QuantScheme, QuantizeOptions, choose::choose, tensors};
use crate::{
    Checkpoint,
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
