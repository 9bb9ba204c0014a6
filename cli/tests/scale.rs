//! `lanecast scale` and `lanecast unscale` against the library, and what is wrong with their arguments.

use crate::common::{self, Folder, bad, f32s, good, npy, stderr};
use lanecast::{
    DType,
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
        let mut q = plan.alloc();
        plan.quantize(&values, &mut q).expect("casts");
        let mut args = vec!["scale", "--scheme", name, "--from", "float32", "--shape", "3,300", "in.bin"];
        let files = ["--data", "codes", "--scales", "scales", "--force"];
        args.extend(files);
        let mut back = vec!["unscale", "--scheme", name, "--to", "float32", "--shape", "3,300", "out.bin"];
        back.extend(files);
        if scheme.scale == ScaleType::Source {
            assert!(bad(&folder.run(&back), &[2]).contains("name it with --source"), "{name}");
            back.extend(["--source", "float32"]);
        }
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
        assert_eq!(
            (folder.read("codes"), folder.read("scales")),
            (q.data.clone(), q.scales.clone()),
            "{name}"
        );
        if matches!(scheme.scale, ScaleType::E4M3(_)) {
            assert_eq!(folder.read("global"), q.global.expect("the tensor has one").to_le_bytes(), "{name}");
        }
        if scheme.has_zero_points() {
            assert_eq!(Some(folder.read("zeros")), q.zero_points, "{name}");
        }
        good(folder.run(&back));
        let mut values = vec![0.0_f32; 900];
        plan.dequantize(&q, &mut values).expect("casts");
        let want = f32s(&values);
        assert_eq!(folder.read("out.bin"), want, "{name}");

        // One file has all parts, and says what they are.
        let together = ["--data", "all.safetensors", "--force"];
        args.truncate(8);
        good(folder.run(&[&args[..], &["--quiet"], &together].concat()));
        good(folder.run(&[&["unscale", "--to", "float32", "all.bin"], &together[..]].concat()));
        assert_eq!(folder.read("all.bin"), want, "{name}");
        // As do arrays of each part, but for the scheme.
        let npy = [
            "--data",
            "c.npy",
            "--scales",
            "s.npy",
            "--global",
            "g.npy",
            "--zero-points",
            "z.npy",
            "--force",
        ];
        let leave_out = |option: &str, part: bool, all: Vec<&'static str>| -> Vec<&'static str> {
            let at = all.iter().position(|word| *word == option).expect("an option");
            if part { all } else { [&all[..at], &all[at + 2..]].concat() }
        };
        let npy = leave_out("--global", matches!(scheme.scale, ScaleType::E4M3(_)), npy.to_vec());
        let npy = leave_out("--zero-points", scheme.has_zero_points(), npy);
        good(folder.run(&[&args[..], &["--quiet"], &npy].concat()));
        back.truncate(7);
        back.extend(npy);
        back.extend(["arrays.bin", "--source", "float32"]);
        good(folder.run(&back));
        assert_eq!(folder.read("arrays.bin"), want, "{name}");
    }
}

/// `.safetensors` files say their scheme, so no other one can be applied to them, and the names and dtypes of their parts.
#[test]
fn files_that_say_their_scheme() {
    let (values, folder) = (weights(), Folder::new());
    folder.write("in.npy", &npy("<f4", "(3, 300)", &f32s(&values)));
    let run = |args: &str| folder.run(&args.split(' ').collect::<Vec<_>>());
    good(run("scale --quiet --scheme nvfp4 in.npy --tensor a.weight --data q.safetensors"));
    let file = folder.read("q.safetensors");
    let parsed = safetensors::SafeTensors::deserialize(&file).expect("a file");
    let part = |name: &str| {
        let tensor = parsed.tensor(name).expect(name);
        (format!("{:?}", tensor.dtype()), tensor.shape().to_vec())
    };
    assert_eq!(part("a.weight"), ("F4".into(), vec![3, 300]));
    assert_eq!(part("a.weight_scale"), ("F8_E4M3".into(), vec![3, 19]));
    assert_eq!(part("a.weight_global_scale"), ("F32".into(), vec![1]));
    let (_, header) = safetensors::SafeTensors::read_metadata(&file).expect("a header");
    let record = &header.metadata().as_ref().expect("metadata")["lanecast.scaled"];
    for word in ["a.weight", "nvfp4", "float32", "float4_e2m1fn", "[3,300]", "packed", "row-major"] {
        assert!(record.contains(word), "{word}: {record}");
    }
    let back = "unscale --to f32 --data q.safetensors back.safetensors --force";
    good(run(back));
    good(run(&format!(
        "{back} --scheme nvfp4 --shape 3,300 --source f32 --from float4_e2m1fn --tensor a.weight"
    )));
    let again = folder.read("back.safetensors");
    let again = safetensors::SafeTensors::deserialize(&again).expect("a file");
    assert_eq!(again.tensor("a.weight").expect("the same name").shape(), [3, 300]);
    for (other, what) in [
        ("--scheme fp8-row", "--scheme is fp8-row, and the file was written with nvfp4"),
        ("--from int4", "written with float4_e2m1fn"),
        ("--source f16", "written with float32"),
        ("--shape 300,3", "written with [3, 300]"),
        ("--scales s", "holds all parts"),
    ] {
        let line = bad(&run(&format!("{back} {other}")), &[2]);
        assert!(line.contains(what) && line.contains("leave out"), "{line}");
    }
    assert!(bad(&run(&format!("{back} --tensor b")), &[2]).contains("no tensor is called \"b\""));
    // The file of another program says its dtypes only.
    let plain = r#"{"w":{"dtype":"I8","shape":[1,4],"data_offsets":[0,4]},"w_scale":{"dtype":"F32","shape":[1,1],"data_offsets":[4,8]}}"#;
    folder
        .write("p.safetensors", &common::safetensors(plain, &[&[1, 2, 3, 255], &f32s(&[0.5])[..]].concat()));
    let plain = "unscale --to f32 --data p.safetensors out.npy";
    assert!(bad(&run(plain), &[2]).contains("does not say its scheme"));
    let line = bad(&run(&format!("{plain} --scheme fp8-row")), &[4]);
    assert!(line.contains("the codes must be float8_e4m3fn, and the file has int8"), "{line}");
    good(run(&format!("{plain} --scheme int8-row")));
    assert!(folder.read("out.npy").ends_with(&f32s(&[0.5, 1.0, 1.5, -0.5])));
    assert!(String::from_utf8_lossy(&folder.read("out.npy")[..128]).contains("(1, 4)"));
    // An array does so, too.
    good(run("scale --quiet --scheme int8-row in.npy --data c.npy --scales s.npy"));
    let line =
        bad(&run("unscale --scheme fp8-row --to f32 --shape 3,300 --data c.npy --scales s.npy x"), &[4]);
    assert!(line.contains("the codes must be float8_e4m3fn, and the file has int8: c.npy"), "{line}");
    let line =
        bad(&run("unscale --scheme int8-row --to f32 --shape 3,301 --data c.npy --scales s.npy x"), &[4]);
    assert!(line.contains("the codes take 903 bytes"), "{line}");
}

/// Standard output has the data and nothing else; the summary goes to standard error.
#[test]
fn one_output_may_be_standard_output() {
    let (folder, values) = (Folder::new(), weights());
    folder.write("in.bin", &f32s(&values));
    let run = |args: &str| folder.run(&args.split(' ').collect::<Vec<_>>());
    let base = "scale --scheme fp8-row --from f32 --shape 3,300 in.bin";
    good(run(&format!("{base} --data d --scales s")));
    for (args, file) in [("--data - --scales s2", "d"), ("--data d2 --scales -", "s")] {
        let output = run(&format!("{base} {args}"));
        assert_eq!((output.status.code(), &output.stdout), (Some(0), &folder.read(file)), "{args}");
        assert!(stderr(&output).starts_with("scaled 900 elements, 3 scales\n"), "{}", stderr(&output));
        let output = run(&format!("{base} {args} --force --json"));
        assert_eq!(output.stdout, folder.read(file), "{args}");
        assert!(serde_json::from_str::<serde_json::Value>(&stderr(&output)).is_ok());
        let output = run(&format!("{base} {args} --force --quiet"));
        assert_eq!((stderr(&output), output.stdout), (String::new(), folder.read(file)));
    }
    assert_eq!((folder.read("d2"), folder.read("s2")), (folder.read("d"), folder.read("s")));
    assert_eq!(folder.names(), ["d", "d2", "in.bin", "s", "s2"]);
    let both = run(&format!("{base} --data - --scales -"));
    assert!(both.stdout.is_empty() && bad(&both, &[2]).contains("two outputs go to standard output"));
    // Nothing is written to it if another output fails.
    let failed = run(&format!("{base} --data - --scales s"));
    assert!(failed.stdout.is_empty() && bad(&failed, &[3]).contains("the output exists: s"));
    let both = bad(&run("unscale --scheme fp8-row --to f32 --shape 3,300 --data - --scales - out"), &[2]);
    assert!(both.contains("two inputs come from standard input"), "{both}");
}

#[test]
fn outputs_are_different_files() {
    let folder = Folder::new();
    folder.write("in.bin", &f32s(&[1.0, -2.0]));
    let base = "scale --scheme mx --from f32 --shape 2 in.bin --force";
    let run = |args: &str| folder.run(&format!("{base} {args}").split(' ').collect::<Vec<_>>());
    let mut same = vec!["--data x --scales x", "--data x --scales ./x"];
    #[cfg(unix)]
    {
        folder.write("target", b"kept");
        std::os::unix::fs::symlink("target", folder.at("link")).expect("a link");
        std::os::unix::fs::symlink(".", folder.at("here")).expect("a link");
        same.extend(["--data target --scales link", "--data x --scales here/x"]);
    }
    for args in same {
        assert!(bad(&run(args), &[2]).contains("two outputs are the same file"), "{args}");
        assert!(!folder.at("x").exists(), "{args}");
    }
    #[cfg(unix)]
    assert_eq!(folder.read("target"), b"kept");
    assert!(bad(&run("--data x --scales x.safetensors"), &[2]).contains("--scales holds bare elements"));
    assert!(bad(&run("--data x.safetensors --scales s"), &[2]).contains("leave out --scales"));
    assert!(bad(&run("--data x"), &[2]).contains("name the file with --scales"));
}

/// The object of `--json`: one line, with what was lost, and what the outputs are.
#[test]
fn json_says_what_was_lost() {
    let folder = Folder::new();
    let mut values = [0.0_f32; 64];
    (values[0], values[1], values[2]) = (448.0, 1e-6, -449.0);
    folder.write("in.bin", &f32s(&values));
    let run = |args: &str| {
        let args = format!("scale --from f32 --shape 2,32 in.bin --json --force {args}");
        let text = String::from_utf8(good(folder.run(&args.split(' ').collect::<Vec<_>>()))).expect("UTF-8");
        assert!(text.ends_with("}\n") && text.lines().count() == 1, "{text}");
        serde_json::from_str::<serde_json::Value>(&text).expect("JSON")
    };
    assert_eq!(
        run("--scheme mx-ocp --data d --scales s"),
        serde_json::json!({
            "scheme": "mx-ocp", "elements": 64,
            "data": { "dtype": "float8_e4m3fn", "shape": [2, 32], "bytes": 64 },
            "scales": { "dtype": "float8_e8m0fnu", "shape": [2, 1], "bytes": 2 },
            "global": null, "zero_points": null,
            "empty": 1, "poisoned": 0, "clipped": 1, "underflowed": 1,
        })
    );
    let uint4 = run("--scheme uint4-group128 --data d --scales s --zero-points z");
    let zeros = serde_json::json!({ "dtype": "uint4", "shape": [2, 1], "bytes": 1 });
    assert_eq!((&uint4["zero_points"], &uint4["underflowed"]), (&zeros, &serde_json::json!(1)));
    assert_eq!(run("--scheme nvfp4 --data q.safetensors")["global"], 449.0_f32 / 2688.0);
}

/// Numbers agree with their nouns.
#[test]
fn one_scale_and_two_scales() {
    let folder = Folder::new();
    folder.write("in.bin", &f32s(&[0.0]));
    folder.write("two.bin", &f32s(&[0.0, 0.0]));
    let run = |args: &str| {
        let args = format!("scale --scheme fp8-row --from f32 {args} --data d --scales s --force");
        String::from_utf8(good(folder.run(&args.split(' ').collect::<Vec<_>>()))).expect("UTF-8")
    };
    assert_eq!(run("--shape 1,1 in.bin"), "scaled 1 element, 1 scale\n1 block is zero\n");
    assert_eq!(run("--shape 2,1 two.bin"), "scaled 2 elements, 2 scales\n2 blocks are zero\n");
    let wrong = "unscale --scheme fp8-row --to f32 --shape 1,1 --data in.bin --scales s out";
    let wrong = bad(&folder.run(&wrong.split(' ').collect::<Vec<_>>()), &[4]);
    assert!(wrong.contains("the codes take 1 byte, and the file has more"), "{wrong}");
}

/// Infinities become the ends of the dtype, of which -128 is one that no finite element of a symmetric scheme reaches.
#[test]
fn saturated_integers() {
    let folder = Folder::new();
    folder.write("in.bin", &f32s(&[f32::NEG_INFINITY, f32::INFINITY, -2.0, 2.0]));
    for (scheme, codes) in [("int8-row", &[0x80, 0x7F, 0x81, 0x7F][..]), ("int4-group128", &[0x78, 0x79])] {
        let args =
            format!("scale --quiet --scheme {scheme} --non-finite saturate --from f32 --shape 1,4 in.bin");
        good(folder.run(&format!("{args} --data d --scales s --force").split(' ').collect::<Vec<_>>()));
        assert_eq!(folder.read("d"), codes, "{scheme}");
    }
    let help = String::from_utf8(good(folder.run(&["help", "scale"]))).expect("UTF-8");
    assert!(help.contains("-inf\nbecomes -128 in int8"), "{help}");
}

/// The help of `mx` and what it does agree: integers have all but two of their bits behind the point.
#[test]
fn microscaled_integers() {
    let folder = Folder::new();
    folder.write("in.bin", &f32s(&[1.75, 0.25, -1.0, 0.5]));
    let args = "scale --quiet --scheme mx-ocp --to int4 --from f32 --shape 4 in.bin --data d --scales s";
    good(folder.run(&args.split(' ').collect::<Vec<_>>()));
    assert_eq!((folder.read("s"), folder.read("d")), (vec![127], vec![0x17, 0x2C]));
    let help = String::from_utf8(good(folder.run(&["help", "scale"]))).expect("UTF-8");
    assert!(help.contains("six of int8, two of int4"), "{help}");
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
        let mut q = plan.alloc();
        plan.quantize(&values, &mut q).expect("casts");
        let args =
            ["scale", "--scheme", "uint4-group128", "--from", "f32", "--to", to.name(), "--shape", "3,300"];
        let files = ["in.bin", "--data", "c", "--scales", "s", "--zero-points", "z", "--force", "--quiet"];
        good(folder.run(&[&args[..], &files].concat()));
        let zeros = q.zero_points.expect("the scheme has them");
        assert_eq!([folder.read("c"), folder.read("s"), folder.read("z")], [q.data, q.scales, zeros], "{to}");
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
    bad(&run(&format!("{base} --shape 4294967296,4294967296")), &[2]);
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
