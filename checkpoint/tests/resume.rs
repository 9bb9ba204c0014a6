//! Casts of checkpoints that end early, and go on.

use std::{fs, path::Path};

use lanecast::DType::{BFloat16, Float16, Float32, Int8};
use lanecast_checkpoint::{Callbacks, ConvertOptions, ConvertReport, Step, convert};
use lanecast_files::Error;

use crate::common::{
    models::{f32s, model, names, run, tree},
    write,
};

/// Ends at the `n`th question whether to go on; returns the result and how many questions there were.
fn ended_at(
    src: &Path,
    dst: &Path,
    options: &ConvertOptions,
    n: usize,
) -> (Result<ConvertReport, Error>, usize) {
    let asked = std::cell::Cell::new(0);
    let cancelled = || {
        asked.set(asked.get() + 1);
        asked.get() >= n
    };
    let result = convert(src, dst, options, Callbacks { progress: None, cancelled: Some(&cancelled) });
    (result, asked.get())
}

#[test]
fn work_that_is_ended_at_any_moment_goes_on_to_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let src = model(folder.path());
    let (whole, dst) = (folder.path().join("whole"), folder.path().join("dst"));
    let base = ConvertOptions { resume: true, ..ConvertOptions::to(Float32) };
    let (mut ends, mut resumed, mut random) = (0, 0, 1_u64);
    for options in [
        base.clone(),
        ConvertOptions { mark_every: 1, verify: true, ..base.clone() },
        ConvertOptions { max_shard_size: Some(3000), mark_every: 1000, ..base },
    ] {
        let (result, questions) = ended_at(&src, &whole, &options, usize::MAX);
        let want = result.expect("a report");
        for _ in 0..20 {
            let mut report = loop {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let at = 1 + (random >> 33) as usize % (questions + 1);
                match ended_at(&src, &dst, &options, at).0 {
                    Ok(report) => break report,
                    Err(Error::Cancelled) => assert!(!dst.exists()),
                    Err(error) => panic!("{error}"),
                }
                ends += 1;
            };
            assert!(tree(&dst) == tree(&whole));
            resumed += usize::from(report.bytes_resumed > 0);
            report.bytes_resumed = 0;
            assert_eq!(report, want);
            assert_eq!(names(folder.path()), ["dst", "src", "whole"]);
            fs::remove_dir_all(&dst).expect("a folder");
        }
        fs::remove_dir_all(&whole).expect("a folder");
    }
    assert!(ends >= 30 && resumed >= 20, "{ends} ends, {resumed} resumed");
}

/// Without a second mark the last tensors of a file would be written again.
#[test]
fn a_file_goes_on_from_the_last_tensor_on_the_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) = (folder.path().join("a.safetensors"), folder.path().join("b.safetensors"));
    write(&src, &["a", "b", "c"].map(|name| (name, Float32, &[1000][..], f32s(1000))));
    let options = ConvertOptions { resume: true, mark_every: 2000, ..ConvertOptions::to(BFloat16) };
    let stopped = std::cell::Cell::new(false);
    let mut watch = |step: Step<'_>| stopped.set(step.tensor == "c");
    let cancelled = || stopped.get();
    let callbacks = Callbacks { progress: Some(&mut watch), cancelled: Some(&cancelled) };
    assert!(matches!(convert(&src, &dst, &options, callbacks), Err(Error::Cancelled)));
    assert_eq!(names(folder.path()), ["a.safetensors", "b.safetensors.lanecast-partial"]);
    let report = run(&src, &dst, &options).expect("a report");
    assert_eq!((report.bytes_resumed, report.bytes_out, report.tensors_cast), (4000, 6000, 3));
    let fresh = folder.path().join("c.safetensors");
    run(&src, &fresh, &options).expect("a report");
    assert_eq!(fs::read(dst).expect("a file"), fs::read(fresh).expect("a file"));
    assert_eq!(names(folder.path()), ["a.safetensors", "b.safetensors", "c.safetensors"]);
}

#[test]
fn only_the_same_run_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) = (model(folder.path()), folder.path().join("dst"));
    let options = ConvertOptions { resume: true, ..ConvertOptions::to(Float32) };
    let (_, questions) = ended_at(&src, &folder.path().join("whole"), &options, usize::MAX);
    let unfinished = || {
        let (result, _) = ended_at(&src, &dst, &options, questions);
        assert!(matches!(result, Err(Error::Cancelled)), "{result:?}");
    };
    unfinished();
    for (other, part) in [
        (ConvertOptions { to: Float16, ..options.clone() }, "\"to\" is float32, and now it is float16"),
        (ConvertOptions { max_shard_size: Some(9), ..options.clone() }, "\"max_shard_size\" is none"),
        (ConvertOptions { map: vec![("*".to_owned(), Int8)], ..options.clone() }, "\"map\""),
    ] {
        let error = run(&src, &dst, &other).expect_err("other options");
        assert!(matches!(error, Error::Request(_)) && error.to_string().contains(part), "{error}");
    }
    // Without the word, nothing is taken or thrown away.
    let error =
        run(&src, &dst, &ConvertOptions { resume: false, ..options.clone() }).expect_err("unfinished");
    assert!(matches!(error, Error::Exists(_)) && error.to_string().contains("unfinished"), "{error}");
    // The same bytes, written again.
    let shard = src.join("s-2.safetensors");
    let bytes = fs::read(&shard).expect("a file");
    let time = fs::metadata(&shard).and_then(|metadata| metadata.modified()).expect("a time");
    let set = |time| {
        fs::File::options().write(true).open(&shard).and_then(|file| file.set_modified(time)).expect("a time")
    };
    fs::write(&shard, &bytes).expect("a file");
    set(time + std::time::Duration::from_secs(1));
    let error = run(&src, &dst, &options).expect_err("a changed source").to_string();
    assert!(error.contains("\"s-2.safetensors\" of the source has changed"), "{error}");
    set(time);
    let report = run(&src, &dst, &options).expect("a report");
    assert_eq!(report.bytes_resumed, report.bytes_out);
    assert!(tree(&dst) == tree(&folder.path().join("whole")));

    // An unfinished output can be thrown away.
    fs::remove_dir_all(&dst).expect("a folder");
    unfinished();
    let report = run(&src, &dst, &ConvertOptions { resume: false, replace: true, ..options.clone() })
        .expect("a report");
    assert_eq!(report.bytes_resumed, 0);
    // A damaged marker says nothing, and neither does one without its bytes.
    fs::remove_dir_all(&dst).expect("a folder");
    unfinished();
    let partial = folder.path().join("dst.lanecast-partial");
    fs::write(partial.join("done/0.json"), "{").expect("a file");
    fs::write(partial.join("files/s-2.safetensors"), "short").expect("a file");
    let report = run(&src, &dst, &options).expect("a report");
    assert!(report.bytes_resumed > 0 && report.bytes_resumed < report.bytes_out / 2, "{report:?}");
    assert!(tree(&dst) == tree(&folder.path().join("whole")));
    assert_eq!(names(folder.path()), ["dst", "src", "whole"]);
}

#[test]
fn two_runs_do_not_write_one_output() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) = (model(folder.path()), folder.path().join("dst"));
    for resume in [false, true] {
        let options = ConvertOptions { resume, replace: true, ..ConvertOptions::to(Float32) };
        let mut refused = 0;
        let mut progress = |_: Step<'_>| {
            let error = run(&src, &dst, &options).expect_err("locked");
            assert!(
                matches!(error, Error::Request(_)) && error.to_string().contains("another run"),
                "{error}"
            );
            refused += 1;
        };
        convert(&src, &dst, &options, Callbacks { progress: Some(&mut progress), cancelled: None })
            .expect("a report");
        assert!(refused > 3);
        assert_eq!(names(folder.path()), ["dst", "src"]);
    }
}

/// A process may be killed between the last two steps: the files have their name, and the folder beside them is still there.
#[test]
fn a_run_that_ended_after_its_output_was_renamed_is_complete() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) = (model(folder.path()), folder.path().join("dst"));
    let options = ConvertOptions { resume: true, verify: true, ..ConvertOptions::to(Float32) };
    let (_, questions) = ended_at(&src, &folder.path().join("whole"), &options, usize::MAX);
    assert!(ended_at(&src, &dst, &options, questions).0.is_err());
    fs::rename(folder.path().join("dst.lanecast-partial/files"), &dst).expect("a folder");
    let report = run(&src, &dst, &options).expect("a report");
    assert_eq!((report.bytes_resumed, report.tensors_verified), (report.bytes_out, Some(8)));
    assert!(tree(&dst) == tree(&folder.path().join("whole")));
    assert_eq!(names(folder.path()), ["dst", "src", "whole"]);

    let (src, dst) = (src.join("s-1.safetensors"), folder.path().join("one.safetensors"));
    assert!(ended_at(&src, &dst, &options, questions).0.is_ok());
    let (want, partial) =
        (fs::read(&dst).expect("a file"), folder.path().join("one.safetensors.lanecast-partial"));
    fs::remove_file(&dst).expect("a file");
    let (_, questions) = ended_at(&src, &folder.path().join("x.safetensors"), &options, usize::MAX);
    assert!(ended_at(&src, &dst, &options, questions).0.is_err());
    fs::rename(partial.join("files/s-1.safetensors"), &dst).expect("a file");
    run(&src, &dst, &options).expect("a report");
    assert!(fs::read(&dst).expect("a file") == want && !partial.exists());
}
