//! NumPy and safetensors read what the program writes, and the program reads what they read.

use crate::common;
use crate::common::python;
use crate::common::{Folder, bad, f32s, good, npy, npy_of, npz, safetensors, split_npy};
use lanecast::{DType, names::Namespace};
use serde_json::Value;
use zip::CompressionMethod;

/// Values that all numeric dtypes of two bits and more hold, but for the sign.
const VALUES: [f32; 8] = [0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0];

/// float8_e8m0fnu has no zero.
fn values(dtype: DType) -> [f32; 8] {
    if dtype == DType::Float8E8M0FNU { [1.0, 2.0, 0.5, 1.0, 4.0, 1.0, 0.25, 1.0] } else { VALUES }
}

#[test]
fn outputs_that_hide_their_dtype_say_how_to_read_them() {
    let folder = Folder::new();
    for dtype in DType::ALL {
        let (name, source) = (dtype.name(), npy("<f4", "(2, 4)", &f32s(&values(*dtype))));
        folder.write("in.npy", &source);
        folder.write("in.npz", &npz(&[("w.npy", &source)], CompressionMethod::Deflated));
        for (input, output) in [("in.npy", "out.npy"), ("in.npz", "out.npz")] {
            let cast = ["cast", input, output, "--to", name, "--force"];
            let text = String::from_utf8(good(folder.run(&cast))).unwrap();
            let report: Value =
                serde_json::from_slice(&good(folder.run(&[&cast[..], &["--json"]].concat()))).unwrap();
            let line = text.lines().find(|line| line.contains("to read it back"));
            assert_eq!(
                (line.is_some(), report.get("read_back").is_some()),
                (is_hidden(*dtype), is_hidden(*dtype)),
                "{name}"
            );
            // Reading back does what is said.
            let mut back = vec!["cast", output, input, "--to", "float32", "--force", "--from", name];
            if let Some(line) = line {
                let descriptor = report["read_back"]["descriptor"].as_str().unwrap_or_default();
                assert_eq!(
                    line,
                    format!(
                        "the output has the descriptor `{descriptor}`, not {name}: give --from {name} to read it back"
                    )
                );
                assert_eq!(report["read_back"]["from"], name);
            } else if output == "out.npy" {
                back.truncate(back.len() - 2);
            }
            good(folder.run(&back));
        }
        assert_eq!(split_npy(&folder.read("in.npy")).1, f32s(&values(*dtype)), "{name}");
        // A dry run says it, too.
        let dry = good(folder.run(&["cast", "in.npy", "--to", name, "--dry-run"]));
        assert_eq!(String::from_utf8(dry).unwrap().contains("to read it back"), is_hidden(*dtype));
    }
}

/// Whether NumPy has no descriptor of its own for it.
fn is_hidden(dtype: DType) -> bool {
    Namespace::NumPy.code(dtype).is_none()
}

#[test]
fn numpy_loads_every_output() {
    let Some(python) = python::numpy("np.load of every output") else { return };
    let folder = Folder::new();
    let mut names = Vec::new();
    for dtype in DType::ALL {
        let source = npy("<f4", "(2, 4)", &f32s(&values(*dtype)));
        let fields = "{'descr': [('a', '<f4'), ('b', '<i2')], 'fortran_order': False, 'shape': (1,), }";
        folder.write("in.npy", &source);
        folder.write("struct.npy", &npy_of(fields, &[0, 0, 0x80, 0x3F, 7, 0]));
        folder.write("in.npz", &npz(&[("w.npy", &source)], CompressionMethod::Deflated));
        for (input, output) in [("in.npy", "out"), ("struct.npy", "fields"), ("in.npz", "archive")] {
            let output = format!("{output}.{}.{}", dtype.name(), &input[input.len() - 3..]);
            good(folder.run(&["cast", input, &output, "--to", dtype.name()]));
        }
        names.push(dtype.name());
    }
    let script = format!(
        "import numpy as np\nfor name in {names:?}:\n \
         a = np.load(f'out.{{name}}.npy')\n s = np.load(f'fields.{{name}}.npy')\n \
         z = np.load(f'archive.{{name}}.npz')['w']\n \
         assert a.shape == z.shape == (2, 4) and a.dtype == z.dtype and a.tobytes() == z.tobytes(), name\n \
         assert s['b'][0] == 7 and s['a'].dtype.itemsize == a.dtype.itemsize, name\n \
         print(name, a.dtype.str)"
    );
    let printed = python::run(&python, folder.path(), &script);
    assert_eq!(printed.lines().count(), DType::ALL.len());
    for line in
        ["float32 <f4", "bool |b1", "bfloat16 |V2", "float8_e5m2 |V1", "float8_e4m3fn |V1", "int4 |V1"]
    {
        assert!(printed.contains(&format!("{line}\n")), "{line}: {printed}");
    }
}

#[test]
fn safetensors_reads_every_output() {
    let folder = Folder::new();
    let header = r#"{"w":{"dtype":"F32","shape":[2,4],"data_offsets":[0,32]}}"#;
    let mut read = 0;
    for dtype in DType::ALL {
        let Some(name) = Namespace::Safetensors.name(*dtype) else { continue };
        folder.write("in.safetensors", &safetensors(header, &f32s(&values(*dtype))));
        good(folder.run(&["cast", "in.safetensors", "out.safetensors", "--to", dtype.name(), "--force"]));
        let file = folder.read("out.safetensors");
        let tensors = safetensors::SafeTensors::deserialize(&file).expect(name);
        let tensor = tensors.tensor("w").expect("the tensor");
        assert_eq!((tensor.dtype().to_string().as_str(), tensor.shape()), (name, &[2, 4][..]));
        assert_eq!(tensor.data().len(), dtype.bits() as usize, "8 elements of {name}");
        read += 1;
    }
    assert_eq!(read, 22);
}

/// What the program makes of headers of `.npy` files is what NumPy does.
#[test]
fn npy_headers_are_read_as_numpy_reads_them() {
    let folder = Folder::new();
    let of = |literal: &str| npy_of(literal, &f32s(&[1.0, -2.0]));
    let sound = of("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n");
    let cases: Vec<(&str, Vec<u8>, bool)> = vec![
        ("sound", sound.clone(), true),
        ("trailing bytes", [&sound[..], b"trailing"].concat(), true),
        ("too few bytes", sound[..sound.len() - 1].to_vec(), false),
        ("u'", of("{u'descr': u'<f4', u'fortran_order': False, U'shape': (2,), }"), true),
        ("r'", of("{r'descr': R'<f4', 'fortran_order': False, 'shape': (2,), }"), true),
        ("b'", of("{'descr': b'<f4', 'fortran_order': False, 'shape': (2,), }"), false),
        ("u alone", of("{'descr': u, 'fortran_order': False, 'shape': (2,), }"), false),
        ("double quotes", of("{\"descr\": u\"<f4\", \"fortran_order\": False, \"shape\": (2,)}"), true),
        ("long integers", of("{'descr': '<f4', 'fortran_order': False, 'shape': (2L,), }"), true),
        ("unknown key", of("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1, }"), false),
        ("no order", of("{'descr': '<f4', 'shape': (2,), }"), false),
        ("a number for the order", of("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }"), false),
        ("a list for the shape", of("{'descr': '<f4', 'fortran_order': False, 'shape': [2], }"), false),
        ("a number for the shape", of("{'descr': '<f4', 'fortran_order': False, 'shape': 2, }"), false),
        ("text behind", of("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } x"), false),
        ("line breaks", of("{'descr': '<f4',\n 'fortran_order': False,\n 'shape': (2,), }"), true),
        ("native order", of("{'descr': 'f4', 'fortran_order': False, 'shape': (2,), }"), true),
    ];
    let ok: Vec<bool> = cases.iter().map(|(.., ok)| *ok).collect();
    for (i, (what, file, ok)) in cases.iter().enumerate() {
        folder.write("in.npy", file);
        let output = folder.run(&["cast", "in.npy", "out.npy", "--to", "f64", "--force"]);
        if *ok {
            good(output);
            assert_eq!(split_npy(&folder.read("out.npy")).1, common::f64s(&[1.0, -2.0]), "{what}");
            folder.write("in.npz", &npz(&[("w.npy", file)], CompressionMethod::Deflated));
            good(folder.run(&["cast", "in.npz", "out.npz", "--to", "f64", "--force"]));
            good(folder.run(&["inspect", "in.npz"]));
            good(folder.run(&["inspect", "in.npy"]));
        } else {
            bad(&output, &[4]);
        }
        folder.write(&format!("{i}.npy"), file);
    }
    // Bytes behind the data are not counted.
    folder.write("in.npy", &cases[1].1);
    let json: Value = serde_json::from_slice(&good(folder.run(&["inspect", "in.npy", "--json"]))).unwrap();
    assert_eq!(json["bytes"], 8);
    let Some(python) = python::numpy("np.load of headers") else { return };
    let script = format!(
        "import numpy as np\nfor i in range({}):\n try:\n  assert np.load(f'{{i}}.npy').tolist() == [1, -2]\n  \
         print(True)\n except (ValueError, EOFError):\n  print(False)",
        ok.len()
    );
    let printed = python::run(&python, folder.path(), &script);
    let numpys: Vec<bool> = printed.lines().map(|line| line == "True").collect();
    assert_eq!(numpys, ok);
}

#[test]
fn safetensors_headers_are_read_as_the_reference_reads_them() {
    let folder = Folder::new();
    let with = |header: &str, data: usize| safetensors(header, &vec![0; data]);
    let sound = r#"{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
    for (what, file, ok) in [
        ("sound", with(sound, 8), true),
        ("trailing bytes", with(sound, 9), false),
        ("too few bytes", with(sound, 7), false),
        ("spaces behind", with(&format!("{sound}  \n"), 8), true),
        ("zeros behind", with(&format!("{sound}\0"), 8), false),
        ("no metadata", with(&sound.replacen('{', "{\"__metadata__\":null,", 1), 8), true),
        ("a number in the metadata", with(&sound.replacen('{', "{\"__metadata__\":{\"a\":1},", 1), 8), false),
        ("an unknown key", with(&sound.replace("]}}", "],\"x\":{\"y\":[1]}}}"), 8), true),
        ("a hole", with(&sound.replace("[0,8]", "[4,12]"), 12), false),
    ] {
        assert_eq!(safetensors::SafeTensors::deserialize(&file).is_ok(), ok, "{what}");
        folder.write("in.safetensors", &file);
        let output = folder.run(&["cast", "in.safetensors", "out.safetensors", "--to", "f16", "--force"]);
        if ok {
            good(output);
            assert!(safetensors::SafeTensors::deserialize(&folder.read("out.safetensors")).is_ok(), "{what}");
        } else {
            bad(&output, &[4]);
        }
    }
    let unknown = with(&sound.replace("F32", "F128"), 8);
    folder.write("in.safetensors", &unknown);
    let line = bad(&folder.run(&["cast", "in.safetensors", "no.safetensors", "--to", "f16"]), &[5]);
    assert!(line.contains("unknown dtype \"F128\"") && line.ends_with(": see `lanecast dtypes`\n"), "{line}");
}
