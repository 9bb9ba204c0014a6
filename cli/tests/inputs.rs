//! Inputs that are no regular files of tensors: pipes, folders, files of other programs, and arrays whose dtype nobody named.

use crate::common::{Folder, bad, f32s, good, npy, npz, run_in, safetensors, stderr};
use zip::CompressionMethod;

fn model() -> Vec<u8> {
    safetensors(r#"{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#, &f32s(&[1.0, 2.0]))
}

#[test]
fn standard_input_is_inspected() {
    let folder = Folder::new();
    for (bytes, dtype) in [
        (model(), "float32"),
        (npz(&[("w.npy", &npy("<f8", "(1,)", &[0; 8]))], CompressionMethod::Stored), "float64"),
    ] {
        for more in [&[][..], &["--stats"], &["--json"]] {
            let output = run_in(folder.path(), &[&["inspect", "-"], more].concat(), &bytes);
            let text = String::from_utf8(good(output)).expect("UTF-8");
            assert!(text.contains(dtype), "{text}");
            assert_eq!(text.contains("standard input"), more == ["--json"], "{text}");
        }
    }
    let line = bad(&run_in(folder.path(), &["inspect", "-"], b"no tensors"), &[5]);
    assert!(line.contains("not a known file format: standard input"), "{line}");
}

#[test]
#[cfg(unix)]
fn named_pipes_are_read() {
    let folder = Folder::new();
    let pipe = folder.at("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("a pipe");
    for args in [&["inspect", "pipe", "--stats"][..], &["cast", "pipe", "out.safetensors", "--to", "f16"]] {
        let writer = {
            let pipe = pipe.clone();
            std::thread::spawn(move || std::fs::write(pipe, model()))
        };
        good(folder.run(args));
        writer.join().expect("the writer ends").expect("the pipe is written");
    }
    assert!(folder.read("out.safetensors").ends_with(&[0x00, 0x3C, 0x00, 0x40]));
}

#[test]
fn a_folder_is_named_as_what_it_is() {
    let folder = Folder::new();
    std::fs::create_dir(folder.at("hf")).expect("a folder");
    let line = bad(&folder.run(&["cast", "hf", "outdir", "--to", "f16"]), &[3]);
    assert!(line.contains("the input is a folder: hf: name the .safetensors"), "{line}");
    assert!(!line.contains("outdir"), "{line}");
    let line = bad(&folder.run(&["inspect", "hf"]), &[4]);
    assert!(line.contains("the folder has no .safetensors, PyTorch or .npz files: hf"), "{line}");
    folder.write("in.safetensors", &model());
    let line = bad(&folder.run(&["cast", "in.safetensors", "hf", "--to", "f16"]), &[3]);
    assert!(line.contains("the output is a folder: hf") && line.contains("--out-dir"), "{line}");
    let line = bad(&folder.run(&["cast", "in.safetensors", "outdir", "--to", "f16"]), &[5]);
    assert!(line.contains("not a known file format: outdir"), "{line}");
}

#[test]
fn files_of_other_programs_are_named_with_a_remedy() {
    let folder = Folder::new();
    let pickle =
        npz(&[("archive/data.pkl", b"\x80\x02}."), ("archive/version", b"3\n")], CompressionMethod::Stored);
    for (names, bytes, what, remedy) in [
        (
            &["model.pt", "model.pth", "pytorch_model.bin", "blob"][..],
            &pickle[..],
            "a PyTorch file",
            "save_file",
        ),
        (&["model.gguf", "blob"], b"GGUF\x03\0\0\0", "a GGUF file", ".safetensors checkpoint"),
        (&["model.h5", "blob"], b"\x89HDF\r\n\x1a\n\0\0\0\0", "an HDF5 file", "numpy.savez"),
        (&["torn.h5"], b"", "an HDF5 file", "h5py"),
        (&["model.tflite"], b"\x1c\0\0\0TFL3", "a TensorFlow Lite model", "tf2onnx"),
    ] {
        for name in names {
            folder.write(name, bytes);
            // `inspect` reads checkpoints.
            let inspected = what.contains("GGUF") || what.contains("PyTorch");
            let all = [&["cast", name, "out.npy", "--to", "f16"][..], &["inspect", name]];
            for args in &all[..if inspected { 1 } else { 2 }] {
                let line = bad(&folder.run(args), &[5]);
                assert!(line.contains(what) && line.contains(name) && line.contains(remedy), "{line}");
            }
        }
    }
    folder.write("in.npy", &npy("<f4", "(1,)", &f32s(&[1.0])));
    let line = bad(&folder.run(&["cast", "in.npy", "out.pt", "--to", "f16"]), &[5]);
    assert!(line.contains("a PyTorch file is neither read nor written: out.pt"), "{line}");
}

#[test]
fn a_dtype_that_the_archive_does_not_name_has_to_be_given() {
    let folder = Folder::new();
    let (bf16, f64) = (npy("<V2", "(2,)", &[0x80, 0x3F, 0x00, 0x40]), npy("<f8", "(1,)", &[0; 8]));
    folder.write("bf16.npz", &npz(&[("w.npy", &bf16)], CompressionMethod::Stored));
    folder.write("both.npz", &npz(&[("w.npy", &bf16), ("x.npy", &f64)], CompressionMethod::Stored));
    let line = bad(&folder.run(&["cast", "bf16.npz", "out.npz", "--to", "f32"]), &[2]);
    assert!(
        line.contains("<V2") && line.contains("name its dtype with --from") && line.contains("\"w\""),
        "{line}"
    );
    assert_eq!(folder.names(), ["bf16.npz", "both.npz"]);
    let output = folder.run(&["cast", "both.npz", "out.npz", "--to", "f32"]);
    assert_eq!(output.status.code(), Some(0));
    let said = stderr(&output);
    assert!(said.contains("warning: w: the descriptor") && said.contains("--from"), "{said}");
    good(folder.run(&["cast", "bf16.npz", "out.npz", "--to", "f32", "--from", "bf16", "--force"]));
}

#[test]
fn shapes_are_written_with_commas_or_an_x() {
    let folder = Folder::new();
    folder.write("in.bin", &f32s(&[1.0; 64]));
    for shape in ["2,32", "2x32"] {
        let args = ["scale", "--scheme", "mx", "--from", "f32", "--shape", shape, "in.bin"];
        let output = folder.run(&[&args[..], &["--data", "d", "--scales", "s", "--force"]].concat());
        assert_eq!((output.status.code(), folder.read("s").len()), (Some(0), 2), "{}", stderr(&output));
    }
}

#[test]
fn formats_with_scales_name_the_command_that_makes_them() {
    for (name, scheme) in [("nvfp4", "--scheme nvfp4"), ("mxfp4", "--scheme mx --to float4_e2m1fn")] {
        let line = bad(&run_in(".".as_ref(), &["cast", "in.npy", "out.npy", "--to", name], &[]), &[5]);
        assert!(line.contains("float4_e2m1fn"), "{line}");
        let all = stderr(&run_in(".".as_ref(), &["cast", "in.npy", "out.npy", "--to", name], &[]));
        assert!(all.contains(&format!("`lanecast scale {scheme}`")), "{all}");
    }
}
