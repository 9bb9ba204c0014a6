//! Tasks on several threads.

use std::fs;

use lanecast::DType::{BFloat16, Float8E4M3FN, Float32};
use lanecast_checkpoint::{
    Callbacks, ConvertOptions, Operation, Options, Phase, QuantLayout, QuantScheme, QuantizeOptions, Step,
};
use lanecast_files::Error;

use super::{alone, of_phase, plan, run};
use crate::common::{
    models::{Made, tree},
    weights, write,
};

/// Tasks that are large enough for several threads.
#[test]
fn threads_change_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, root) = (folder.path().join("src"), folder.path());
    fs::create_dir(&src).expect("a folder");
    // Almost as large as a tensor may be on a host of 32 bits.
    let shape: &[u64] = &[4080, 2048];
    let data = weights::f32s(&weights::random(4080 * 2048, 3));
    let tensors = [("a.weight", Float32, shape, data.clone()), ("b.weight", Float32, shape, data)];
    write(&src.join("model.safetensors"), &tensors);
    fs::write(src.join("config.json"), r#"{"model_type": "llama"}"#).expect("a file");
    let nvfp4 = QuantizeOptions::new(QuantScheme::Nvfp4, QuantLayout::CompressedTensors);
    for (operation, size) in
        [(Operation::Convert(ConvertOptions::to(BFloat16)), 20 << 20), (Operation::Quantize(nvfp4), 1 << 30)]
    {
        let whole = root.join("whole");
        let want = alone(&src, &whole, &operation);
        for threads in [0, 1, 3, 200] {
            let dst = root.join("dst");
            let plan = plan(&src, &dst, &operation, size);
            for id in 0..plan.tasks().len() {
                // Steps never go back, and reach the end.
                let (mut last, mut steps) = (0, 0);
                let mut count = |step: Step<'_>| {
                    assert!(step.done >= last && step.total == plan.tasks()[id].bytes(), "{step:?}");
                    (last, steps) = (step.done, steps + 1);
                };
                let callbacks = Callbacks { progress: Some(&mut count), cancelled: None };
                plan.run(id, Some(threads), callbacks).expect("a report");
                assert!(
                    last == plan.tasks()[id].bytes() && (steps > 0) == (last > 0),
                    "{id}: {steps}, {last}"
                );
            }
            assert_eq!(plan.finish(None, Callbacks::default()).expect("a report"), want);
            assert!(tree(&dst) == tree(&whole), "{operation:?} {threads}");
            fs::remove_dir_all(&dst).expect("a folder");
            fs::remove_dir_all(plan.folder().expect("a folder")).expect("a folder");
        }
        // Ended in the middle of its chunks, and at once.
        let plan = plan(&src, &root.join("dst"), &operation, size);
        let range = of_phase(&plan, Phase::Range)[0];
        of_phase(&plan, Phase::Amax).into_iter().for_each(|id| assert!(!run(&plan, id)));
        for moment in [0, 1] {
            let asked = std::cell::Cell::new(0);
            let cancelled = || asked.replace(asked.get() + 1) >= moment;
            let callbacks = Callbacks { progress: None, cancelled: Some(&cancelled) };
            let error = plan.run(range, Some(3), callbacks).expect_err("the end");
            assert!(matches!(error, Error::Cancelled), "{error}");
            assert_eq!(plan.pending(Some(Phase::Range)).expect("numbers")[0], range);
        }
        fs::remove_dir_all(&whole).expect("a folder");
    }
}

/// The error of a task is that of its first tensor, on any number of threads.
#[test]
fn an_error_ends_a_task() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, root) = (folder.path().join("src"), folder.path());
    fs::create_dir(&src).expect("a folder");
    let n = 4 << 20;
    let scale = |x: f32| x.to_le_bytes().to_vec();
    let shape: &[u64] = &[2048, 2048];
    let tensors: [Made; 4] = [
        ("a.weight", Float8E4M3FN, shape, vec![0x38; n]),
        ("a.weight_scale_inv", Float32, &[16, 16], scale(1.0).repeat(256)),
        ("b.weight", Float8E4M3FN, shape, vec![0x38; n]),
        (
            "b.weight_scale_inv",
            Float32,
            &[16, 16],
            [scale(1.0).repeat(128), scale(f32::NAN).repeat(128)].concat(),
        ),
    ];
    write(&src.join("model.safetensors"), &tensors);
    let config = r#"{"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]}}"#;
    fs::write(src.join("config.json"), config).expect("a file");
    let plan = plan(&src, &root.join("dst"), &Operation::Dequantize(Options::to(Float32)), 1 << 30);
    let range = of_phase(&plan, Phase::Range)[0];
    for threads in [1, 3, 200] {
        let error = plan.run(range, Some(threads), Callbacks::default()).expect_err("a NaN");
        assert!(
            matches!(error, Error::Format(_)) && error.to_string().contains("b.weight_scale_inv"),
            "{error}"
        );
        assert_eq!(plan.pending(Some(Phase::Range)).expect("numbers"), [range]);
    }
}
