//! `lanecast scale` and `lanecast unscale` against the library, and what is wrong with their arguments.

mod common;

use common::{Folder, bad, f32s, good, stderr};
use lanecast::{
    BufferType, ByteOrder, DType,
    scaled::{ScaleType, ScaledPlan, Scheme},
};

/// 3 rows of 300 values of many magnitudes, with a zero row and both zeros.
fn weights() -> Vec<f32> {
    let value = |i: u32| i.wrapping_mul(2_654_435_761).wrapping_mul(i + 1) as i32 as f32 / 3e8;
    let mut values: Vec<f32> = (0..900).map(value).collect();
    values[300..600].fill(0.0);
    values[7] = -0.0;
    values
}

#[test]
#[cfg(target_endian = "little")]
fn every_scheme_there_and_back() {
    let (values, folder) = (weights(), Folder::new());
    folder.write("in.bin", &f32s(&values));
    for (name, scheme) in Scheme::NAMED {
        let plan = ScaledPlan::new(DType::Float32, scheme, &[3, 300]).expect("fits");
        let (mut data, mut scales) = (vec![0; plan.data_len()], vec![0; plan.scales_len()]);
        let report = plan.quantize_dynamic(&f32s(&values), &mut data, &mut scales).expect("casts");
        let mut args = vec!["scale", "--scheme", name, "--from", "float32", "--shape", "3,300", "in.bin"];
        let files = ["--data", "codes", "--scales", "scales", "--force"];
        args.extend(files);
        let mut back = vec!["unscale", "--scheme", name, "--to", "float32", "--shape", "3,300", "out.bin"];
        back.extend(files);
        if matches!(scheme.scale, ScaleType::E4M3(_)) {
            assert!(stderr(&folder.run(&args)).contains("--global"), "{name}");
            args.extend(["--global", "global"]);
            back.extend(["--global", "global"]);
        }
        let summary = String::from_utf8(good(folder.run(&args))).expect("UTF-8");
        assert!(summary.starts_with("scaled 900 elements"), "{summary}");
        assert_eq!((folder.read("codes"), folder.read("scales")), (data.clone(), scales.clone()), "{name}");
        if matches!(scheme.scale, ScaleType::E4M3(_)) {
            assert_eq!(folder.read("global"), report.global.to_le_bytes(), "{name}");
        }
        good(folder.run(&back));
        let to = BufferType::new(DType::Float32).with_order(ByteOrder::Little);
        let mut want = vec![0; 3600];
        plan.dequantize(&data, &scales, report.global, to, &mut want).expect("casts");
        assert_eq!(folder.read("out.bin"), want, "{name}");
    }
}

#[test]
fn wrong_arguments() {
    let folder = Folder::new();
    folder.write("in.bin", &f32s(&[1.0, f32::NAN]));
    let run = |args: &str| folder.run(&args.split(' ').collect::<Vec<_>>());
    let base = "scale --scheme mx --from f32 in.bin --data d --scales s";
    assert!(bad(&run(&format!("{base} --shape 3")), &[4]).contains("12 bytes"));
    assert!(bad(&run(&format!("{base} --shape 1")), &[4]).contains("more"));
    assert!(bad(&run(&format!("{base} --shape 2 --to complex64")), &[2]).contains("complex64"));
    assert!(bad(&run(&format!("{base} --shape 2 --global g")), &[2]).contains("--global"));
    assert!(bad(&run(&format!("{base} --shape 2 --non-finite refuse")), &[4]).contains("block 0"));
    assert!(
        bad(&run(&base.replace("f32", "f64").replace("in.bin", "in.bin --shape 1")), &[2])
            .contains("float64")
    );
    assert!(!folder.path().join("d").exists() && !folder.path().join("s").exists());
    good(run(&format!("{base} --shape 2 --json")));
    assert_eq!(folder.read("s"), [0xFF]);
}
