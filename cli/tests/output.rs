//! Outputs appear complete or not at all.

use crate::common;
use std::fs;

use crate::common::{Folder, bad, f32s, good, npy, npz};
use zip::CompressionMethod;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("in.npy", &npy("<f4", "(2,)", &f32s(&[1.0, 2.0])));
    folder
}

#[test]
fn an_existing_output_is_replaced_only_with_force() {
    let folder = folder();
    folder.write("out.npy", b"precious");
    let line = bad(&folder.run(&["cast", "in.npy", "out.npy", "--to", "f16"]), &[3]);
    assert!(line.contains("exists: out.npy: give --force"), "{line}");
    assert_eq!(folder.read("out.npy"), b"precious");
    good(folder.run(&["cast", "in.npy", "out.npy", "--to", "f16", "--force"]));
    assert!(folder.read("out.npy").starts_with(b"\x93NUMPY"));
    // In place, as the input is read to its end before the output takes its name.
    good(folder.run(&["cast", "in.npy", "in.npy", "--to", "f16", "--force"]));
    assert_eq!(folder.read("in.npy"), folder.read("out.npy"));
    assert_eq!(folder.names(), ["in.npy", "out.npy"]);
}

#[test]
fn a_failure_on_the_way_leaves_what_was_there() {
    let folder = Folder::new();
    // The damage is at the end of the second member, found only when the first is written.
    let noise: Vec<u8> =
        (0..1_u32 << 20).flat_map(|i| (i.wrapping_mul(0x9E37_79B9) >> 9).to_le_bytes()).collect();
    let array = npy("<u4", "(1048576,)", &noise);
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let mut archive = npz(&[("a.npy", &array), ("b.npy", &array)], method);
        let directory = archive.len() - 200;
        archive[directory - 1000] ^= 0x40;
        folder.write("in.npz", &archive);
        folder.write("out.npz", b"precious");
        let args = ["cast", "in.npz", "out.npz", "--to", "f64", "--from", "u32", "--force"];
        let line = bad(&folder.run(&args), &[4]);
        assert!(line.contains("in.npz, member \"b.npy\""), "{line}");
        assert_eq!(folder.read("out.npz"), b"precious");
        assert_eq!(folder.names(), ["in.npz", "out.npz"]);
    }
}

#[test]
fn kinds_must_agree_and_be_known() {
    let folder = folder();
    bad(&folder.run(&["cast", "in.npy", "out.safetensors", "--to", "f16"]), &[2]);
    bad(&folder.run(&["cast", "in.npy", "out", "--to", "f16"]), &[5]);
    bad(&folder.run(&["cast", "in.txt", "out.txt", "--to", "f16"]), &[3]);
    bad(&folder.run(&["cast", "in.npy", "--to", "f16"]), &[2]);
    bad(&folder.run(&["cast", "missing.npy", "out.npy", "--to", "f16"]), &[3]);
    bad(&folder.run(&["cast", "in.npy", "no/such/folder/out.npy", "--to", "f16"]), &[3]);
    fs::create_dir(folder.at("dir.npy")).unwrap();
    bad(&folder.run(&["cast", "dir.npy", "out.npy", "--to", "f16"]), &[3]);
    bad(&folder.run(&["cast", "in.npy", "dir.npy", "--to", "f16"]), &[3]);
    bad(&folder.run(&["cast", "in.npy", "dir.npy", "--to", "f16", "--force"]), &[3]);
    assert_eq!(folder.names(), ["dir.npy", "in.npy"]);
}

#[test]
#[cfg(unix)]
fn new_outputs_take_the_permissions_of_the_input() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    fs::write(folder.at("plain"), b"").unwrap();
    let mode = |name: &str| fs::metadata(folder.at(name)).unwrap().permissions().mode() & 0o7777;
    let umask = 0o666 & !mode("plain");
    folder.write("in.bin", &[0; 8]);
    for bits in [0o600, 0o640, 0o444, 0o666, 0o700, 0o4755] {
        for name in ["in.npy", "in.bin"] {
            fs::set_permissions(folder.at(name), fs::Permissions::from_mode(bits)).unwrap();
        }
        let raw = ["raw", "--from", "f32", "--to", "f16", "in.bin", "out.bin"];
        let onnx = ["onnx-cast", "--opset", "19", "--from", "f32", "--to", "f16", "in.bin", "out.bin"];
        for args in [&["cast", "in.npy", "out.bin", "--format", "npy", "--to", "f16"][..], &raw, &onnx] {
            good(folder.run(args));
            assert_eq!(mode("out.bin"), bits & 0o777 & !umask, "{bits:o} {args:?}");
            folder.remove("out.bin");
        }
    }
    // What comes of a pipe is as any new file.
    good(common::run_in(folder.path(), &["cast", "-", "out.npy", "--to", "f16"], &folder.read("in.npy")));
    assert_eq!(mode("out.npy"), mode("plain"));
}

#[test]
#[cfg(unix)]
fn permissions_and_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder();
    let mode = |name: &str| fs::metadata(folder.at(name)).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(folder.at("in.npy"), fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(folder.at("plain"), b"").unwrap();
    good(folder.run(&["cast", "in.npy", "new.npy", "--to", "f16"]));
    assert_eq!(mode("new.npy"), mode("plain"), "a new file is as any other");
    fs::set_permissions(folder.at("new.npy"), fs::Permissions::from_mode(0o600)).unwrap();
    good(folder.run(&["cast", "in.npy", "new.npy", "--to", "f64", "--force"]));
    assert_eq!(mode("new.npy"), 0o600, "a replaced file keeps its permissions");
    symlink("new.npy", folder.at("link.npy")).unwrap();
    good(folder.run(&["cast", "in.npy", "link.npy", "--to", "f32", "--force"]));
    assert!(fs::symlink_metadata(folder.at("link.npy")).unwrap().is_symlink(), "the link stays");
    assert_eq!(folder.read("new.npy"), folder.read("link.npy"));
    symlink("nowhere.npy", folder.at("loose.npy")).unwrap();
    bad(&folder.run(&["cast", "in.npy", "loose.npy", "--to", "f32"]), &[3]);
    bad(&folder.run(&["cast", "in.npy", "loose.npy", "--to", "f32", "--force"]), &[3]);
    assert_eq!(folder.names(), ["in.npy", "link.npy", "loose.npy", "new.npy", "plain"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_leaves_nothing() {
    use std::process::Command;
    let data = vec![0; 4 << 20];
    let array = npy("<f4", "(1048576,)", &data);
    let folder = Folder::new();
    folder.write("in.npy", &array);
    folder.write("in.npz", &npz(&[("a.npy", &array), ("b.npy", &array)], CompressionMethod::Stored));
    for (input, output) in [("in.npy", "out.npy"), ("in.npz", "out.npz")] {
        // A limit on the size of files, ignored as a signal, is met as an error while writing.
        for blocks in ["1", "900", "3000", "16384"] {
            let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
            let mut shell = Command::new("sh");
            shell.args(["-c", &script, "sh"]).args(common::words());
            shell.args(["cast", input, output, "--to", "f64"]);
            let line = bad(&common::feed(shell.current_dir(folder.path()), &[]), &[3]);
            assert!(line.contains(&format!("cannot write: file too large: {output}")), "{line}");
            assert_eq!(folder.names(), ["in.npy", "in.npz"]);
        }
    }
}
