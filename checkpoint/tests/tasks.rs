//! Plans of tasks: the output has the bytes of that of one process, however the tasks run.

mod threads;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use lanecast::DType::{BFloat16, Float32, Int8};
use lanecast_checkpoint::{
    Callbacks, ConvertOptions, Operation, Options, Outcome, Phase, PlanOptions, QuantLayout, QuantScheme,
    QuantizeOptions, TaskPlan, convert, dequantize, quantize, requantize,
};
use lanecast_files::Error;

use crate::common::{
    Goldens,
    models::{json, model, names, tree},
    weights,
};

/// Numbers of a linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as usize
    }

    /// In another order.
    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// What one process does.
fn alone(src: &Path, dst: &Path, operation: &Operation) -> Outcome {
    let none = Callbacks::default;
    match operation {
        Operation::Convert(options) => {
            Outcome::Convert(convert(src, dst, options, none()).expect("a report"))
        }
        Operation::Dequantize(options) => {
            Outcome::Dequantize(dequantize(src, dst, options, none()).expect("a report"))
        }
        Operation::Quantize(options) => {
            Outcome::Quantize(quantize(src, dst, options, none()).expect("a report"))
        }
        Operation::Requantize(options) => {
            Outcome::Quantize(requantize(src, dst, options, none()).expect("a report"))
        }
        other => panic!("{other:?}"),
    }
}

fn plan(src: &Path, dst: &Path, operation: &Operation, range_size: u64) -> TaskPlan {
    TaskPlan::new(src, dst, operation.clone(), PlanOptions { range_size, ..PlanOptions::default() })
        .expect("a plan")
}

fn of_phase(plan: &TaskPlan, phase: Phase) -> Vec<usize> {
    plan.tasks().iter().filter(|task| task.phase == phase).map(|task| task.id).collect()
}

#[track_caller]
fn run(plan: &TaskPlan, id: usize) -> bool {
    let report = plan.run(id, Some(2), Callbacks::default()).unwrap_or_else(|e| panic!("task {id}: {e}"));
    assert_eq!((report.id, report.phase), (id, plan.tasks()[id].phase));
    report.skipped
}

/// The checkpoints of all operations, and what is done to them.
fn operations(folder: &Path, goldens: &Goldens) -> Vec<(PathBuf, Operation)> {
    let of = QuantizeOptions::new;
    let nvfp4 = |layout| of(QuantScheme::Nvfp4, layout);
    let nested = QuantizeOptions { double_quant: true, ..of(QuantScheme::Nf4, QuantLayout::BitsAndBytes) };
    let (plain, dense) = (model(folder), weights::model(folder, "dense"));
    let cast = ConvertOptions { map: vec![("m.1.*".to_owned(), Int8)], ..ConvertOptions::to(Float32) };
    let cut = ConvertOptions { max_shard_size: Some(2000), ..ConvertOptions::to(BFloat16) };
    let again = of(QuantScheme::Mxfp8, QuantLayout::CompressedTensors);
    let mut all = vec![
        (plain.clone(), Operation::Convert(cast)),
        (plain, Operation::Convert(cut)),
        (dense.clone(), Operation::Quantize(nvfp4(QuantLayout::CompressedTensors))),
        (dense.clone(), Operation::Quantize(nvfp4(QuantLayout::ModelOpt))),
        (dense.clone(), Operation::Quantize(of(QuantScheme::Fp8Block, QuantLayout::DeepSeek))),
        (dense, Operation::Quantize(nested)),
    ];
    let coded = |name: &str| (goldens.path(name), Operation::Dequantize(Options::to(BFloat16)));
    let mut dequantized = 0;
    for name in goldens.names() {
        if ["deepseek", "gptq", "awq", "gpt", "nvfp4", "gguf"].iter().any(|part| name.contains(part)) {
            all.push(coded(&name));
            dequantized += 1;
        }
    }
    assert!(dequantized > 5, "{dequantized}");
    let integers = |layout| of(QuantScheme::W4a16, layout);
    let mxfp4 = |layout| of(QuantScheme::Mxfp4, layout);
    let split = mxfp4(QuantLayout::CompressedTensors);
    for (name, options) in [
        ("modelopt_mxfp4", again),
        ("modelopt_mxfp4", nvfp4(QuantLayout::CompressedTensors)),
        ("modelopt_nvfp4", nvfp4(QuantLayout::ModelOpt)),
        ("W4A16", integers(QuantLayout::Gptq)),
        ("awq_gemm", integers(QuantLayout::CompressedTensors)),
        ("gpt_oss", split.clone()),
        ("gpt_oss", nvfp4(QuantLayout::CompressedTensors)),
    ] {
        all.push((goldens.path(name), Operation::Requantize(options)));
    }
    let modules = folder.join("modules");
    requantize(&goldens.path("gpt_oss"), &modules, &split, Callbacks::default()).expect("a report");
    all.push((modules, Operation::Requantize(mxfp4(QuantLayout::GptOss))));
    all
}

#[test]
fn tasks_in_any_order_write_the_bytes_of_one_process() {
    let (folder, goldens) = (tempfile::tempdir().expect("a folder"), Goldens::unpack());
    let (mut random, root) = (Random(1), folder.path());
    for (i, (src, operation)) in operations(root, &goldens).into_iter().enumerate() {
        let whole = root.join(format!("whole-{i}"));
        let want = alone(&src, &whole, &operation);
        let sizes: &[u64] = if i == 0 { &[1, 700, 3000, 1 << 30] } else { &[20_000, 1 << 30] };
        for (j, size) in sizes.iter().copied().enumerate() {
            let dst = root.join(format!("{i}-{j}"));
            let plan = plan(&src, &dst, &operation, size);
            let file = root.join("plan.json");
            plan.save(&file).expect("a file");
            let plan = TaskPlan::load(&file).expect("a plan");
            assert!(names(root).iter().all(|name| !name.contains(".lanecast-")), "a plan writes nothing");
            let mut skipped = 0;
            for phase in [Phase::Amax, Phase::Prepare, Phase::Range, Phase::Shard] {
                // A range makes the file that it needs.
                if phase == Phase::Prepare && j % 2 == 1 {
                    continue;
                }
                let mut ids = of_phase(&plan, phase);
                assert_eq!(plan.pending(Some(phase)).expect("numbers"), ids, "{phase}");
                ids.extend(ids.clone());
                random.shuffle(&mut ids);
                skipped += ids.iter().filter(|id| run(&plan, **id)).count();
                assert!(plan.pending(Some(phase)).expect("numbers").is_empty());
            }
            assert!(skipped >= of_phase(&plan, Phase::Range).len(), "{skipped}");
            assert_eq!(
                plan.finish(None, Callbacks::default()).expect("a report"),
                want,
                "{src:?} {operation:?}"
            );
            assert!(tree(&dst) == tree(&whole), "{src:?} {operation:?} {size}");
            // All is done, and says so.
            assert!(plan.pending(None).expect("numbers").is_empty());
            assert!((0..plan.tasks().len()).all(|id| run(&plan, id)));
            assert_eq!(plan.finish(None, Callbacks::default()).expect("a report"), want);
            let left = root
                .join(names(root).into_iter().find(|name| name.contains(".lanecast-")).expect("a folder"));
            assert_eq!(names(&left), ["done"]);
            fs::remove_dir_all(left).expect("a folder");
            fs::remove_dir_all(dst).expect("a folder");
        }
    }
}

#[test]
fn a_file_becomes_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, root) = (model(folder.path()).join("s-2.safetensors"), folder.path());
    let (whole, dst) = (root.join("whole.safetensors"), root.join("dst.safetensors"));
    let operation = Operation::Convert(ConvertOptions::to(Float32));
    let want = alone(&src, &whole, &operation);
    let plan = plan(&src, &dst, &operation, 100);
    of_phase(&plan, Phase::Range).into_iter().for_each(|id| assert!(!run(&plan, id)));
    assert_eq!(plan.finish(Some(1), Callbacks::default()).expect("a report"), want);
    assert!(fs::read(&dst).expect("a file") == fs::read(&whole).expect("a file"));
    assert_eq!(plan.finish(Some(1), Callbacks::default()).expect("a report"), want);
}

/// Threads that know nothing of each other run all tasks of a phase, each plan opened on its own.
#[test]
fn tasks_may_run_at_the_same_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, root) = (weights::model(folder.path(), "dense"), folder.path());
    let operation =
        Operation::Quantize(QuantizeOptions::new(QuantScheme::Nvfp4, QuantLayout::CompressedTensors));
    let whole = root.join("whole");
    let want = alone(&src, &whole, &operation);
    for round in 0..6_u64 {
        let (dst, file) = (root.join("dst"), root.join("plan.json"));
        plan(&src, &dst, &operation, 3000).save(&file).expect("a file");
        let finished = AtomicUsize::new(0);
        for phases in [&[Phase::Amax][..], &[Phase::Prepare, Phase::Range], &[Phase::Shard], &[Phase::Finish]]
        {
            std::thread::scope(|scope| {
                for worker in 0..4 {
                    let (file, want, finished) = (&file, &want, &finished);
                    scope.spawn(move || {
                        let plan = TaskPlan::load(file).expect("a plan");
                        let mut ids: Vec<usize> =
                            phases.iter().flat_map(|phase| of_phase(&plan, *phase)).collect();
                        Random(round * 7 + worker).shuffle(&mut ids);
                        for id in ids {
                            let report = plan.run(id, Some(1), Callbacks::default());
                            let report = report.unwrap_or_else(|e| panic!("{phases:?} {id}: {e}"));
                            if let Some(outcome) = report.outcome {
                                assert_eq!(outcome, *want);
                                finished.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                    });
                }
            });
        }
        assert_eq!(finished.into_inner(), 4);
        assert!(tree(&dst) == tree(&whole));
        assert_eq!(names(root).len(), 5, "{:?}", names(root));
        for name in names(root).iter().filter(|name| name.starts_with("dst")) {
            fs::remove_dir_all(root.join(name)).expect("a folder");
        }
    }
}

/// Runs the plan to its end, each task ended at random moments first.
fn to_the_end(plan: &TaskPlan, random: &mut Random, ends: &mut usize) -> Outcome {
    let order = [Phase::Amax, Phase::Range, Phase::Shard, Phase::Finish];
    for phase in order {
        let mut ids = of_phase(plan, phase);
        random.shuffle(&mut ids);
        for id in ids {
            // A task that asks often is let to its end at last.
            for most in 8.. {
                let (asked, at) = (std::cell::Cell::new(0), random.below(most));
                let cancelled = || {
                    asked.set(asked.get() + 1);
                    asked.get() > at
                };
                let callbacks = Callbacks { progress: None, cancelled: Some(&cancelled) };
                match plan.run(id, Some(1), callbacks) {
                    Ok(_) => break,
                    Err(Error::Cancelled) => *ends += 1,
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
    plan.finish(None, Callbacks::default()).expect("a report")
}

#[test]
fn tasks_that_are_ended_at_any_moment_run_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut random, mut ends, root) = (Random(5), 0, folder.path());
    let (plain, dense) = (model(root), weights::model(root, "dense"));
    for (src, operation) in [
        (&plain, Operation::Convert(ConvertOptions::to(Float32))),
        (&dense, Operation::Quantize(QuantizeOptions::new(QuantScheme::Fp8Tensor, QuantLayout::Comfy))),
        (&dense, Operation::Quantize(QuantizeOptions::new(QuantScheme::Nvfp4, QuantLayout::ModelOpt))),
    ] {
        let whole = root.join("whole");
        let want = alone(src, &whole, &operation);
        for round in 0..5 {
            let dst = root.join(format!("dst-{round}"));
            let plan = plan(src, &dst, &operation, 2000);
            assert_eq!(to_the_end(&plan, &mut random, &mut ends), want);
            assert!(tree(&dst) == tree(&whole));
            for name in names(root).iter().filter(|name| name.starts_with("dst")) {
                fs::remove_dir_all(root.join(name)).expect("a folder");
            }
        }
        fs::remove_dir_all(whole).expect("a folder");
    }
    assert!(ends > 20, "{ends}");
}

/// A plan of small ranges whose tasks are done up to a phase, and where its folder is.
fn begun(root: &Path, verify: bool, last: Phase) -> (TaskPlan, PathBuf) {
    let (src, dst) = (model(root), root.join("dst"));
    let operation = Operation::Convert(ConvertOptions::to(Float32));
    let plan = TaskPlan::new(&src, &dst, operation, PlanOptions { range_size: 500, verify }).expect("a plan");
    for phase in [Phase::Prepare, Phase::Range, Phase::Shard].into_iter().filter(|phase| *phase <= last) {
        of_phase(&plan, phase).into_iter().for_each(|id| assert!(!run(&plan, id) || phase == Phase::Prepare));
    }
    let work = names(root).into_iter().find(|name| name.starts_with("dst.lanecast-")).expect("a folder");
    (plan, root.join(work))
}

/// The result is that of one process after all.
fn ends_well(plan: &TaskPlan, root: &Path) {
    for phase in [Phase::Prepare, Phase::Range] {
        plan.pending(Some(phase)).expect("numbers").into_iter().for_each(|id| assert!(!run(plan, id)));
    }
    plan.finish(None, Callbacks::default()).expect("a report");
    let whole = root.join("whole");
    alone(&root.join("src"), &whole, &Operation::Convert(ConvertOptions::to(Float32)));
    assert!(tree(&root.join("dst")) == tree(&whole));
}

#[test]
fn damaged_markers_say_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (plan, work) = begun(folder.path(), false, Phase::Range);
    let ranges = of_phase(&plan, Phase::Range);
    assert!(ranges.len() > 4);
    let path = |i: usize| work.join(format!("done/{}.json", ranges[i]));
    let text = fs::read_to_string(path(0)).expect("a file");
    fs::write(path(0), &text[..text.len() / 2]).expect("a file");
    // One digit.
    let text = fs::read_to_string(path(1)).expect("a file");
    fs::write(path(1), text.replacen("\"crc32\":", "\"crc32\":1", 1)).expect("a file");
    fs::rename(path(3), path(2)).expect("a file");
    // A marker of the same task of another plan.
    let other = TaskPlan::new(
        &folder.path().join("src"),
        &folder.path().join("other"),
        Operation::Convert(ConvertOptions::to(Float32)),
        PlanOptions { range_size: 500, verify: false },
    );
    run(&other.expect("a plan"), ranges[3]);
    let others = names(folder.path()).into_iter().find(|name| name.starts_with("other.lanecast-"));
    let marker = format!("done/{}.json", ranges[3]);
    fs::copy(folder.path().join(others.expect("a folder")).join(&marker), path(3)).expect("a file");
    assert_eq!(plan.pending(Some(Phase::Range)).expect("numbers"), ranges[..4]);
    let shard = of_phase(&plan, Phase::Shard)[0];
    let error = plan.run(shard, None, Callbacks::default()).expect_err("pending tasks");
    assert!(
        matches!(error, Error::Request(_)) && error.to_string().contains(&ranges[0].to_string()),
        "{error}"
    );
    let error = plan.run(shard + 3, None, Callbacks::default()).expect_err("pending tasks");
    assert!(error.to_string().contains("3 tasks of the phase shard are pending"), "{error}");
    ends_well(&plan, folder.path());
}

#[test]
fn a_marker_does_not_outlive_its_bytes() {
    for last in [Phase::Range, Phase::Shard] {
        let folder = tempfile::tempdir().expect("a folder");
        let (plan, work) = begun(folder.path(), false, last);
        let part = match last {
            Phase::Range => work.join("parts/1.partial"),
            _ => work.join("files/s-2.safetensors"),
        };
        let bytes = fs::read(&part).expect("a file");
        let short = bytes.len() - 700;
        fs::write(&part, &bytes[..short]).expect("a file");
        let pending = plan.pending(Some(Phase::Range)).expect("numbers");
        let ends = |id: &usize| {
            plan.tasks()[*id].ranges.iter().any(|range| range.file == 1 && range.to > short as u64)
        };
        assert!(!pending.is_empty());
        if last == Phase::Range {
            assert!(pending.iter().all(ends), "{pending:?}");
        }
        ends_well(&plan, folder.path());
    }
}

#[test]
fn bytes_that_changed_on_the_disk_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let (plan, work) = begun(folder.path(), true, Phase::Range);
    let part = work.join("parts/0.partial");
    let mut bytes = fs::read(&part).expect("a file");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&part, &bytes).expect("a file");
    let error = plan.finish(None, Callbacks::default()).expect_err("another byte");
    assert!(matches!(error, Error::Format(_)) && error.to_string().contains("0.partial"), "{error}");
    let pending = plan.pending(Some(Phase::Range)).expect("numbers");
    assert_eq!(pending.len(), 1, "{pending:?}");
    // The header has no checksum of a task, but the plan has its hash.
    bytes[12] ^= 1;
    fs::write(&part, &bytes).expect("a file");
    run(&plan, pending[0]);
    let error = plan.finish(None, Callbacks::default()).expect_err("another byte").to_string();
    assert!(error.contains("damaged header"), "{error}");
    ends_well(&plan, folder.path());
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (plan, _) = begun(folder.path(), false, Phase::Prepare);
    let (root, file) = (folder.path(), folder.path().join("plan.json"));
    let range = of_phase(&plan, Phase::Range)[0];
    // Each task looks at the source, in a process that has opened it and in one that has not.
    let shard = root.join("src/s-2.safetensors");
    let bytes = fs::read(&shard).expect("a file");
    let time = fs::metadata(&shard).and_then(|metadata| metadata.modified()).expect("a time");
    plan.save(&file).expect("a file");
    let set = |time| {
        fs::File::options().write(true).open(&shard).and_then(|file| file.set_modified(time)).expect("a time")
    };
    fs::write(&shard, &bytes[..bytes.len() - 1]).expect("a file");
    for plan in [&plan, &TaskPlan::load(&file).expect("a plan")] {
        let error = plan.run(range, None, Callbacks::default()).expect_err("a changed source");
        assert!(
            matches!(error, Error::Request(_)) && error.to_string().contains("s-2.safetensors"),
            "{error}"
        );
    }
    fs::write(&shard, &bytes).expect("a file");
    set(time);
    let config = root.join("src/config.json");
    let text = fs::read(&config).expect("a file");
    let before = fs::metadata(&config).and_then(|metadata| metadata.modified()).expect("a time");
    fs::write(&config, "{}").expect("a file");
    let error = plan.run(range, None, Callbacks::default()).expect_err("a changed source").to_string();
    assert!(error.contains("config.json"), "{error}");
    fs::write(&config, text).expect("a file");
    fs::File::options().write(true).open(&config).and_then(|file| file.set_modified(before)).expect("a time");
    run(&plan, range);
    // Markers of another plan are in another folder; one that is moved there says nothing.
    let error = plan.run(999, None, Callbacks::default()).expect_err("no such task").to_string();
    assert!(error.contains("no task 999"), "{error}");

    // Files that are no plan, and plans of others.
    let text = fs::read_to_string(&file).expect("a file");
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    for (was, is, part) in [
        (&*version, "\"version\": \"0.0.1\"", "version 0.0.1"),
        ("\"format\": 1", "\"format\": 2", "format 2"),
        ("\"format\": 1", "\"format\": ", "no plan"),
        ("\"id\":1,", "\"id\":2,", "task 2 is in the place of task 1"),
        ("\"phase\":\"finish\"", "\"phase\":\"shard\"", "missing"),
        ("\"ranges\":[[0,", "\"ranges\":[[7,", "does not follow"),
    ] {
        assert!(text.contains(was), "{was}");
        fs::write(&file, text.replacen(was, is, 1)).expect("a file");
        let error = TaskPlan::load(&file).expect_err("no plan").to_string();
        assert!(error.contains(part), "{error}");
    }
    let lines: Vec<&str> = text.lines().filter(|line| !line.contains(&format!("\"id\":{range},"))).collect();
    fs::write(&file, lines.join("\n")).expect("a file");
    assert!(TaskPlan::load(&file).is_err());
}

#[test]
fn an_output_that_exists_is_not_replaced_unless_it_may_be() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, root) = (model(folder.path()), folder.path());
    let dst = root.join("dst");
    let operation = |replace| Operation::Convert(ConvertOptions { replace, ..ConvertOptions::to(Float32) });
    let early = plan(&src, &dst, &operation(false), 600);
    fs::create_dir(&dst).expect("a folder");
    fs::write(dst.join("mine"), "mine").expect("a file");
    let options = PlanOptions { range_size: 600, verify: false };
    let error = TaskPlan::new(&src, &dst, operation(false), options).expect_err("an output");
    assert!(matches!(error, Error::Exists(_)), "{error}");
    for id in 0..early.tasks().len() - 1 {
        run(&early, id);
    }
    let error = early.finish(None, Callbacks::default()).expect_err("an output");
    assert!(matches!(error, Error::Exists(_)), "{error}");
    assert_eq!(names(&dst), ["mine"]);
    // An output of the same sizes is no sign that a plan is finished.
    fs::remove_dir_all(&dst).expect("a folder");
    early.finish(None, Callbacks::default()).expect("a report");
    let shard = dst.join("s-1.safetensors");
    let bytes = fs::read(&shard).expect("a file");
    fs::write(&shard, vec![0; bytes.len()]).expect("a file");
    let plan = plan(&src, &dst, &operation(true), 600);
    assert_eq!(plan.pending(None).expect("numbers").len(), plan.tasks().len());
    (0..plan.tasks().len()).for_each(|id| assert!(!run(&plan, id)));
    assert!(fs::read(&shard).expect("a file") == bytes);
    assert!(TaskPlan::new(&src, &src.join("in"), operation(false), options).is_err());
    assert!(
        TaskPlan::new(&src, &dst, operation(true), PlanOptions { range_size: 0, verify: false }).is_err()
    );
}

/// A plan can be read: what is done, and a task in each line.
#[test]
fn a_plan_is_readable() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, root) = (weights::model(folder.path(), "dense"), folder.path());
    let options = QuantizeOptions {
        map: vec![("*.o_proj".to_owned(), QuantScheme::Mxfp4)],
        ..QuantizeOptions::new(QuantScheme::Nvfp4, QuantLayout::CompressedTensors)
    };
    let plan = plan(&src, &root.join("dst"), &Operation::Quantize(options), 20_000);
    let file = root.join("plan.json");
    plan.save(&file).expect("a file");
    let text = fs::read_to_string(&file).expect("a file");
    assert_eq!(text.lines().filter(|line| line.contains("\"phase\":")).count(), plan.tasks().len());
    let of = json(&file);
    assert_eq!(of["operation"]["quantize"]["scheme"], "nvfp4");
    assert_eq!(of["operation"]["quantize"]["map"][0][1], "mxfp4");
    assert_eq!(of["range_size"], 20_000);
    let error = plan.run(of_phase(&plan, Phase::Range)[0], None, Callbacks::default()).expect_err("a pass");
    assert!(error.to_string().contains("phase amax are pending"), "{error}");
}
