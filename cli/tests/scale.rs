//! `lanecast scale` and `lanecast unscale` against the library, and what is wrong with their arguments.

use crate::common::{Folder, bad, f32s, good, stderr};
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
        let (mut zeros, src) = (vec![0; plan.zeros_len()], f32s(&values));
        let report = match scheme.has_zero_points() {
            true => plan.quantize_min_max(&src, &mut data, &mut scales, &mut zeros),
            false => plan.quantize_dynamic(&src, &mut data, &mut scales),
        };
        let report = report.expect("casts");
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
        if scheme.has_zero_points() {
            for args in [&mut args, &mut back] {
                assert!(bad(&folder.run(args), &[2]).contains("name the file with --zero-points"), "{name}");
                args.extend(["--zero-points", "zeros"]);
            }
        }
        let summary = String::from_utf8(good(folder.run(&args))).expect("UTF-8");
        assert!(summary.starts_with("scaled 900 elements"), "{summary}");
        assert_eq!((folder.read("codes"), folder.read("scales")), (data.clone(), scales.clone()), "{name}");
        if matches!(scheme.scale, ScaleType::E4M3(_)) {
            assert_eq!(folder.read("global"), report.global.to_le_bytes(), "{name}");
        }
        if scheme.has_zero_points() {
            assert_eq!(folder.read("zeros"), zeros, "{name}");
        }
        good(folder.run(&back));
        let to = BufferType::new(DType::Float32).with_order(ByteOrder::Little);
        let mut want = vec![0; 3600];
        let done = match scheme.has_zero_points() {
            true => plan.dequantize_min_max(&data, &scales, &zeros, to, &mut want),
            false => plan.dequantize(&data, &scales, report.global, to, &mut want),
        };
        done.expect("casts");
        assert_eq!(folder.read("out.bin"), want, "{name}");
    }
}

/// The codes and the zero points of other integers are those of the library, too.
#[test]
#[cfg(target_endian = "little")]
fn zero_points_of_other_integers() {
    let (values, folder) = (weights(), Folder::new());
    folder.write("in.bin", &f32s(&values));
    for to in [DType::Int8, DType::Int4, DType::Int16] {
        let plan = ScaledPlan::new(DType::Float32, &Scheme::UINT4_GROUP128.with_element(to), &[3, 300]);
        let plan = plan.expect("fits");
        let (mut data, mut scales) = (vec![0; plan.data_len()], vec![0; plan.scales_len()]);
        let mut zeros = vec![0; plan.zeros_len()];
        plan.quantize_min_max(&f32s(&values), &mut data, &mut scales, &mut zeros).expect("casts");
        let args =
            ["scale", "--scheme", "uint4-group128", "--from", "f32", "--to", to.name(), "--shape", "3,300"];
        let files = ["in.bin", "--data", "c", "--scales", "s", "--zero-points", "z", "--force", "--quiet"];
        good(folder.run(&[&args[..], &files].concat()));
        assert_eq!([folder.read("c"), folder.read("s"), folder.read("z")], [data, scales, zeros], "{to}");
    }
}

/// Where one of the files cannot be written, there is none.
#[test]
fn all_files_or_none() {
    let folder = Folder::new();
    folder.write("in.bin", &f32s(&[1.0, -2.0]));
    folder.write("z", b"kept");
    let args = "scale --scheme uint8-row --from f32 --shape 1,2 in.bin --data d --scales s --zero-points z";
    bad(&folder.run(&args.split(' ').collect::<Vec<_>>()), &[3]);
    assert_eq!(folder.read("z"), b"kept");
    let mut names: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").collect();
    names.retain(|entry| entry.as_ref().is_ok_and(|entry| entry.file_name() != "in.bin"));
    assert_eq!(names.len(), 1, "{names:?}");
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
    assert!(
        bad(&run(&format!("{base} --shape 2 --zero-points z")), &[2]).contains("leave out --zero-points")
    );
    assert!(bad(&run(&format!("{base} --shape 2 --non-finite refuse")), &[4]).contains("block 0"));
    let back = "unscale --to f32 out.bin --data in.bin --scales in.bin --zero-points in.bin --shape 8,1";
    assert!(bad(&run(&format!("{back} --scheme mx")), &[2]).contains("leave out --zero-points"));
    let wrong = bad(&run(&format!("{back} --scheme uint4-group128 --from uint8")), &[4]);
    assert!(wrong.contains("the scales take 32 bytes"), "{wrong}");
    assert!(
        bad(&run(&base.replace("f32", "f64").replace("in.bin", "in.bin --shape 1")), &[2])
            .contains("float64")
    );
    assert!(!folder.path().join("d").exists() && !folder.path().join("s").exists());
    good(run(&format!("{base} --shape 2 --json")));
    assert_eq!(folder.read("s"), [0xFF]);
}
