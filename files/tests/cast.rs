//! Casts of files: what is reported, and that a cancelled one leaves nothing.

use crate::common;
use std::{cell::Cell, fs, path::Path};

use crate::common::{Folder, field, floats, model, sample};
use lanecast::{DType, Level};
use lanecast_files::{Error, FORMATS, Hooks, Job, OnLoss, Plan, Remedy, Selection, TensorFile};

/// Several blocks of the stream.
const MANY: usize = 3 << 20;

/// Casts `input` to bfloat16, cancelled at call number `polls` of the hook, and returns how often the hook was called.
fn cancelled_at(polls: usize, input: &Path, output: &Path) -> (Result<(), Error>, usize) {
    let asked = Cell::new(0);
    let cancel = || {
        asked.set(asked.get() + 1);
        asked.get() > polls
    };
    let job = Job::to(DType::BFloat16);
    let done = Plan::new(input, &job).unwrap().run(output, true, Hooks::none().cancel_if(&cancel));
    (done.map(drop), asked.get())
}

#[test]
fn cancellation_leaves_no_file() {
    for format in FORMATS {
        let folder = Folder::new();
        let name = format!("in.{}", format.extensions()[0]);
        let input = folder.write(&name, &sample(format.name(), MANY));
        let output = folder.at("out");
        let (done, asked) = cancelled_at(usize::MAX, &input, &output);
        done.unwrap();
        assert!(asked >= 4, "{name}: the hook was asked {asked} times");
        fs::remove_file(&output).unwrap();
        for polls in 0..asked {
            let (done, _) = cancelled_at(polls, &input, &output);
            let error = done.unwrap_err();
            assert!(error.is_cancelled(), "{name}, {polls}: {error}");
            assert_eq!(folder.names(), [name.as_str()], "{polls}");
        }
    }
}

#[test]
fn cancellation_leaves_what_was_there() {
    let folder = Folder::new();
    let elements =
        |key: &str, value: &str| field(13, &[field(1, key.as_bytes()), field(2, value.as_bytes())].concat());
    let external = [elements("location", "data.bin"), common::number(14, 1)].concat();
    let input = folder.write("in.onnx", &model(MANY, &external));
    folder.write("data.bin", &floats(MANY));
    folder.write("out", b"precious");
    folder.write("out.data", b"precious, too");
    let (_, asked) = cancelled_at(0, &input, &folder.at("out"));
    assert_eq!(asked, 2, "once before the block, once after the work");
    for polls in 0..3 {
        cancelled_at(polls, &input, &folder.at("out")).0.unwrap_err();
        assert_eq!(folder.names(), ["data.bin", "in.onnx", "out", "out.data"]);
        assert_eq!(folder.read("out"), b"precious");
        assert_eq!(folder.read("out.data"), b"precious, too");
    }
}

#[test]
fn progress_rises_to_the_total() {
    for format in FORMATS {
        let folder = Folder::new();
        let input = folder.write("in", &sample(format.name(), MANY));
        let job = Job::to(DType::Float16);
        let plan = Plan::new(&input, &job).unwrap();
        let total = plan.bytes();
        let mut seen = Vec::new();
        let mut hear = |progress: lanecast_files::Progress| {
            assert_eq!(progress.total, Some(total));
            seen.push(progress.done);
        };
        let report = plan.run(&folder.at("out"), false, Hooks::none().on_progress(&mut hear)).unwrap();
        assert!(seen.is_sorted() && seen.len() >= 3, "{format:?}: {seen:?}");
        // Of a model, what is around the tensors is copied, too.
        assert!(*seen.last().unwrap() >= total, "{format:?}: {seen:?} of {total}");
        assert_eq!((report.bytes_in, report.tensors_cast, report.dry_run), (total, 1, false));
    }
}

#[test]
fn outputs_are_of_the_inputs_format() {
    for format in FORMATS {
        let folder = Folder::new();
        let input = folder.write("in", &sample(format.name(), 20));
        let job = Job::to(DType::Float16);
        let plan = Plan::new(&input, &job).unwrap();
        assert!(plan.dry_run().dry_run && plan.entries()[0].to.as_deref() == Some("float16"));
        plan.run(&folder.at("out"), false, Hooks::none()).unwrap();
        let mut file = TensorFile::open(&folder.at("out")).unwrap();
        assert_eq!(file.format().name(), format.name());
        assert_eq!(file.tensors()[0].dtype(), Some(DType::Float16));
        let halves: Vec<u8> =
            (0..20).flat_map(|i| half::f16::from_f32(i as f32 * 0.5).to_le_bytes()).collect();
        assert_eq!(file.read(0).unwrap(), halves);
    }
}

#[test]
fn files_and_plans_move_between_threads() {
    fn is_send<T: Send>() {}
    is_send::<TensorFile>();
    is_send::<Plan<'_>>();
    is_send::<Error>();
}

#[test]
fn errors_say_what_they_are() {
    let folder = Folder::new();
    let input = folder.write("in.safetensors", &sample("safetensors", 70_000));
    let job = Job::to(DType::Float16);
    let run = |job: &Job, overwrite| {
        Plan::new(&input, job).and_then(|plan| plan.run(&folder.at("out"), overwrite, Hooks::none()))
    };
    run(&job, false).unwrap();
    let error = run(&job, false).unwrap_err();
    // The options of a program are none of the library's words.
    assert!(!error.to_string().contains("--"), "{error}");
    assert!(matches!(&error, Error::Exists(detail) if detail.remedy == Remedy::Overwrite), "{error}");
    run(&job, true).unwrap();

    let mut narrow = Job::to(DType::Float8E4M3FN);
    narrow.settings.on_loss = OnLoss::Refuse(Level::Range);
    let error = run(&narrow, true).unwrap_err();
    assert!(
        matches!(&error, Error::Loss(detail) if detail.place.ends_with("in.safetensors, tensor \"w\"")),
        "{error}"
    );

    let error = run(&Job::to(DType::Complex128), true).unwrap_err();
    assert!(matches!(error, Error::Unsupported(_)), "{error}");
    let missing = Plan::new(&folder.at("missing.npy"), &job).unwrap_err();
    assert!(matches!(missing, Error::Io(_, std::io::ErrorKind::NotFound)), "{missing}");
    let pattern = Selection::new(None, &[], &["[".into()]).unwrap_err();
    assert!(matches!(&pattern, Error::Request(detail) if detail.place == "exclude"), "{pattern}");
    assert_eq!(folder.names(), ["in.safetensors", "out"]);
}
