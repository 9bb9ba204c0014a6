//! Tasks look at the files of the source, which must not change.

use std::{fs, path::Path};

use lanecast::DType::{BFloat16, Float32};
use lanecast_checkpoint::{Callbacks, ConvertOptions, Operation, Phase, PlanOptions, TaskPlan};
use serde_json::Value;

use crate::common::{
    models::{INDEX, Made, bf16s},
    write,
};

const FILES: usize = 40;

fn name(file: usize) -> String {
    format!("model-{file}.safetensors")
}

/// A plan for a checkpoint of many files.
fn planned(root: &Path) -> TaskPlan {
    let src = root.join("src");
    fs::create_dir(&src).expect("a folder");
    let mut map = serde_json::Map::new();
    for file in 0..FILES {
        let tensors: [Made; 1] = [(format!("m.{file}.weight").leak(), BFloat16, &[5, 20], bf16s(100))];
        write(&src.join(name(file)), &tensors);
        map.insert(tensors[0].0.to_owned(), Value::from(name(file)));
    }
    let index = serde_json::json!({"metadata": {"total_size": 1}, "weight_map": map});
    fs::write(src.join(INDEX), index.to_string()).expect("a file");
    fs::write(src.join("config.json"), "{}").expect("a file");
    let operation = Operation::Convert(ConvertOptions::to(Float32));
    let options = PlanOptions { range_size: 400, verify: false };
    TaskPlan::new(&src, &root.join("dst"), operation, options).expect("a plan")
}

/// Runs `ask` while a file of the source has another size.
fn changed<R>(root: &Path, file: usize, ask: impl FnOnce() -> R) -> R {
    let path = root.join("src").join(name(file));
    let bytes = fs::read(&path).expect("a file");
    let time = fs::metadata(&path).and_then(|metadata| metadata.modified()).expect("a time");
    fs::write(&path, [&bytes[..], b"\0"].concat()).expect("a file");
    let result = ask();
    fs::write(&path, bytes).expect("a file");
    fs::File::options().write(true).open(&path).and_then(|file| file.set_modified(time)).expect("a time");
    result
}

#[test]
fn a_change_of_any_of_many_files_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let (root, plan) = (folder.path(), planned(folder.path()));
    let ids = |phase| plan.tasks().iter().filter(move |task| task.phase == phase).map(|task| task.id);
    let says = |result: Result<(), lanecast_files::Error>, file| {
        result.err().is_some_and(|error| error.to_string().contains(&name(file)))
    };
    let mut ranges = ids(Phase::Range);
    // Tasks take turns: each looks at some of the files, so that thousands of files cost a task no more than these.
    for file in [0, 17, FILES - 1] {
        let found = changed(root, file, || {
            let ran: Vec<bool> = ranges
                .by_ref()
                .take(6)
                .map(|id| says(plan.run(id, Some(1), Callbacks::default()).map(drop), file))
                .collect();
            assert_eq!(ran.len(), 6);
            ran.iter().filter(|failed| **failed).count()
        });
        assert!((2..=3).contains(&found), "{file}: {found}");
    }
    for id in plan.pending(Some(Phase::Range)).expect("numbers") {
        plan.run(id, Some(1), Callbacks::default()).expect("a report");
    }
    // The last task looks at all, and so does the first one of a process.
    let file = root.join("plan.json");
    plan.save(&file).expect("a file");
    for changing in 0..FILES {
        changed(root, changing, || {
            assert!(says(plan.finish(Some(1), Callbacks::default()).map(drop), changing), "{changing}");
            let other = TaskPlan::load(&file).expect("a plan");
            assert!(says(other.finish(Some(1), Callbacks::default()).map(drop), changing), "{changing}");
        });
    }
    plan.finish(Some(1), Callbacks::default()).expect("a report");
    assert!(root.join("dst").join(name(FILES - 1)).exists());
}
