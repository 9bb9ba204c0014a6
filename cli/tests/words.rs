//! What the program answers to a command line that it does not understand: clap's words, and what names of dtypes may mean.

use crate::common::{Folder, bad, run, safetensors, stderr};

#[test]
fn suggestions_and_the_usage_of_the_subcommand_are_kept() {
    for (args, parts) in [
        (
            &["inspekt"][..],
            &["unrecognized subcommand 'inspekt'", "tip: a similar subcommand exists: 'inspect'"][..],
        ),
        (
            &["cast", "a.npy", "--too", "f32"],
            &["'--too'", "tip: a similar argument exists: '--to'", "Usage: lanecast cast "],
        ),
        (&["cast", "a.npy"], &["--to <DTYPE>", "Usage: lanecast cast [OPTIONS] --to <DTYPE> <IN> <OUT>"]),
        (
            &["cast", "a.npy", "b.npy", "--to", "f32", "--profile", "numpi"],
            &["tip: a similar value exists: 'numpy'"],
        ),
        (&["table", "promot"], &["tip: a similar subcommand exists: 'promote'", "Usage: lanecast table "]),
        (&["promote", "int8"], &["<B>", "Usage: lanecast promote "]),
    ] {
        let output = run(args, &[]);
        bad(&output, &[2]);
        let error = stderr(&output);
        for part in parts {
            assert!(error.contains(part), "{args:?} lacks {part:?}: {error}");
        }
    }
}

#[test]
fn what_is_quoted_has_no_control_characters() {
    for word in ["--\u{1b}[31mred\nline", "\u{202E}\u{7}", &format!("--{}", "x".repeat(100_000))] {
        bad(&run(&["cast", word], &[]), &[2]);
        bad(&run(&[word], &[]), &[2]);
        bad(&run(&["cast", "a.npy", "b.npy", "--to", "f32", &format!("--tier={word}")], &[]), &[2]);
        bad(&run(&["cast", "a.npy", "b.npy", &format!("--to={word}")], &[]), &[5]);
    }
}

#[test]
fn an_unknown_dtype_is_5_everywhere_and_says_what_may_be_meant() {
    for args in [
        &["cast", "a.npy", "b.npy", "--to", "fp8"][..],
        &["cast", "a.npy", "b.npy", "--to", "f32", "--from", "fp8"],
        &["raw", "--from", "fp8", "--to", "f32"],
        &["raw", "--from", "f32", "--to", "fp8"],
        &["onnx-cast", "--opset", "19", "--from", "fp8", "--to", "f32"],
        &["onnx-cast", "--opset", "19", "--from", "f32", "--to", "fp8"],
        &["promote", "fp8", "f32"],
        &["promote", "f32", "fp8"],
        &["explain", "fp8", "f32"],
        &["explain", "f32", "fp8"],
    ] {
        let line = bad(&run(args, &[]), &[5]);
        assert!(line.contains("invalid value 'fp8' for '"), "{line}");
        assert!(line.contains("no such dtype; did you mean float8_e4m3fn or float8_e5m2?"), "{line}");
    }
    for (name, meant) in
        [("e4m3", "float8_e4m3fn or float8_e4m3"), ("bf", "bfloat16"), ("float", "float32 or float64")]
    {
        let output = run(&["explain", "f32", name], &[]);
        let line = bad(&output, &[5]);
        assert!(line.contains(&format!("did you mean {meant}?")), "{line}");
        assert!(stderr(&output).contains("tip: `lanecast dtypes` lists all dtypes"), "{line}");
    }
    // `half` and `double` mean the same to every system: they are names.
    assert_eq!(run(&["explain", "half", "double"], &[]).status.code(), Some(0));
    // In a file, too.
    let folder = Folder::new();
    folder.write(
        "a.safetensors",
        &safetensors(r#"{"a":{"dtype":"F9","shape":[1],"data_offsets":[0,2]}}"#, &[0; 2]),
    );
    let line = bad(&folder.run(&["cast", "a.safetensors", "b.safetensors", "--to", "f32"]), &[5]);
    assert!(line.contains("unknown dtype \"F9\""), "{line}");
}

#[test]
fn without_a_subcommand_the_help_is_printed_as_an_error() {
    for (args, part) in [(&[][..], "Commands:\n  cast "), (&["table"], "Commands:\n  promote ")] {
        let output = run(args, &[]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
        let help = stderr(&output);
        assert!(help.contains(part) && help.contains("Examples:\n  lanecast "), "{help}");
    }
}
