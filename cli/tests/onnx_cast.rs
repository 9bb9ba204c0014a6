//! `lanecast onnx-cast`.

use crate::common;
use crate::common::{Folder, bad, f32s, good, run};

/// The exit code of a bad input.
const BAD: &[i32] = &[4];

#[test]
fn streams() {
    let cast = |arguments: &str, input: &[u8]| {
        let words: Vec<&str> = ["onnx-cast"].into_iter().chain(arguments.split(' ')).collect();
        run(&words, input)
    };
    let floats = f32s(&[1.0, 300.0, f32::INFINITY, 3e9]);
    assert_eq!(good(cast("--opset 11 --from f32 --to u8", &floats)), [1, 44, 0, 0]);
    assert_eq!(good(cast("--opset 19 --from f32 --to e4m3fn", &floats)), [0x38, 0x79, 0x7E, 0x7E]);
    assert_eq!(
        good(cast("--opset 19 --from f32 --to e4m3fn --saturate 0", &floats)),
        [0x38, 0x79, 0x7F, 0x7F]
    );
    assert_eq!(
        good(cast("--opset 19 --from f32 --to e4m3fnuz --fnuz-inf nan", &floats)),
        [0x40, 0x7F, 0x80, 0x7F]
    );
    assert_eq!(good(cast("--opset 24 --from f32 --to e8m0 --round-mode down -n 2", &floats)), [0x7F, 0x87]);
    assert_eq!(good(cast("--opset 28 --from f32 --to e8m0 --like -n 2", &floats)), [0x7F, 0x88]);
    let texts = good(cast("--opset 9 --from f32 --to string", &floats));
    assert_eq!(texts, b"1.0\n300.0\nINF\n3000000000.0\n");
    assert_eq!(good(cast("--opset 9 --from string --to f32", &texts)), floats);
    assert_eq!(good(cast("--opset 9 --from string --to string", b"a\n\nb")), b"a\n\nb\n");
    assert_eq!(good(cast("--opset 25 --from int2 --to string -n 3", &[0b01_11_10_00])), b"0\n-2\n-1\n");
    let texts =
        good(cast("--opset 9 --from f64 --to string --plain --lower", &common::f64s(&[1e20, f64::NAN])));
    assert_eq!(texts, b"100000000000000000000.0\nnan\n");
    // More than a batch, with a line that ends without a newline.
    let many: Vec<u8> = (0..40_000).flat_map(|i| format!("{i}\n").into_bytes()).collect();
    let ints = good(cast("--opset 9 --from string --to i32", &many[..many.len() - 1]));
    assert_eq!(ints, (0..40_000_i32).flat_map(i32::to_le_bytes).collect::<Vec<u8>>());
    assert_eq!(good(cast("--opset 9 --from i32 --to string", &ints)), many);

    let line = bad(&cast("--opset 9 --from string --to i8", b"1\n2\n128\n"), BAD);
    assert!(line.contains("line 3, \"128\", is out of the range of int8"), "{line}");
    let line = bad(&cast("--opset 18 --from f32 --to e4m3fn", &floats), &[5]);
    assert!(line.contains("opset 19 is the first that does"), "{line}");
    bad(&cast("--opset 18 --from f32 --to u8 --saturate 1", &floats), &[2]);
    bad(&cast("--opset 0 --from f32 --to u8", &floats), &[2]);
    bad(&cast("--opset 14 --like --from f32 --to u8", &floats), &[2]);
    bad(&cast("--opset 18 --from f32 --to c64", &floats), &[5]);
    bad(&cast("--opset 18 --from f32 --to float", &floats), &[5]);
    bad(&cast("--opset 18 --from f32 --to u8 -n 5", &floats), BAD);
    bad(&cast("--opset 18 --from f32 --to string -n 5", &floats), BAD);
    bad(&cast("--opset 18 --from f32 --to string", &floats[1..]), BAD);
    bad(&cast("--opset 18 --from string --to u8 -n 2", b"1\n"), BAD);
    bad(&cast("--opset 18 --from string --to string", &vec![b'x'; (1 << 20) + 2]), BAD);

    let folder = Folder::new();
    folder.write("in.txt", b"1.5\nx\n");
    bad(
        &folder.run(&["onnx-cast", "--opset", "9", "--from", "string", "--to", "f16", "in.txt", "out.bin"]),
        BAD,
    );
    assert_eq!(folder.names(), ["in.txt"]);
    good(folder.run(&[
        "onnx-cast",
        "--opset",
        "9",
        "--from",
        "string",
        "--to",
        "f16",
        "-n",
        "1",
        "in.txt",
        "out.bin",
    ]));
    assert_eq!(folder.read("out.bin"), [0x00, 0x3E]);
}
