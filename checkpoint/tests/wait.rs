//! Casts of checkpoints whose files are still arriving, or are removed once they are cast.

use std::{
    cell::RefCell,
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use lanecast::DType::{BFloat16, Float16, Float32, Int64};
use lanecast_checkpoint::{Callbacks, ConvertOptions, ConvertReport, Step, convert};
use lanecast_files::Error;

use crate::common::{
    models::{CONFIG, INDEX, Made, bf16s, f32s, names, run, tree},
    write,
};

const SHARDS: usize = 6;

fn shard(i: usize) -> String {
    format!("model-{:05}-of-{SHARDS:05}.safetensors", i + 1)
}

/// A checkpoint of six shards. The last has float32 beside bfloat16, and all of them have a router in float32.
fn model(folder: &Path, total_size: Option<u64>) -> PathBuf {
    let src = folder.join("whole-src");
    fs::create_dir_all(&src).expect("a folder");
    let (mut map, mut bytes) = (serde_json::Map::new(), 0);
    for i in 0..SHARDS {
        let named = |name: &'static str| format!("m.{i}.{name}");
        let mut tensors: Vec<Made> = vec![
            ("weight", BFloat16, &[30, 20], bf16s(600)),
            ("mlp.gate.weight", Float32, &[2, 3], f32s(6)),
            ("ids", Int64, &[2], vec![1; 16]),
        ];
        if i == SHARDS - 1 {
            tensors.push(("scaling", Float32, &[4], f32s(4)));
        }
        let names: Vec<String> = tensors.iter().map(|(name, ..)| named(name)).collect();
        map.extend(names.iter().map(|name| (name.clone(), shard(i).into())));
        bytes += tensors.iter().map(|(.., data)| data.len() as u64).sum::<u64>();
        let tensors: Vec<_> = names
            .iter()
            .zip(tensors)
            .map(|(name, (_, dtype, shape, data))| (&**name, dtype, shape, data))
            .collect();
        write(&src.join(shard(i)), &tensors);
    }
    let total = match total_size {
        Some(0) => serde_json::json!({"total_size": bytes}),
        Some(wrong) => serde_json::json!({"total_size": wrong}),
        None => serde_json::json!({}),
    };
    let index = serde_json::json!({"metadata": total, "weight_map": map});
    fs::write(src.join(INDEX), index.to_string()).expect("a file");
    fs::write(src.join("config.json"), CONFIG).expect("a file");
    fs::write(src.join("tokenizer.json"), "{}").expect("a file");
    src
}

fn waiting(seconds: f64) -> ConvertOptions {
    ConvertOptions { wait: Some(Duration::from_secs_f64(seconds)), ..ConvertOptions::to(Float16) }
}

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Copies the files of a checkpoint to `to` in another order, as programs that download do.
fn download(from: &Path, to: &Path, random: &mut Random) {
    fs::create_dir_all(to).expect("a folder");
    let mut files = names(from);
    for i in (1..files.len()).rev() {
        files.swap(i, random.below(i + 1));
    }
    for name in files {
        let (bytes, target) = (fs::read(from.join(&name)).expect("a file"), to.join(&name));
        let pause = || thread::sleep(Duration::from_millis(15));
        let half = bytes.len() / 2;
        match random.below(4) {
            // Under another name first.
            0 => {
                let part = to.join(format!("{name}.incomplete"));
                fs::write(&part, &bytes[..half]).expect("a file");
                pause();
                fs::write(&part, &bytes).expect("a file");
                fs::rename(&part, &target).expect("a file");
            }
            // In place, byte after byte.
            1 => {
                for part in [0, 5, 30, half] {
                    fs::write(&target, &bytes[..part.min(half)]).expect("a file");
                    pause();
                }
                fs::write(&target, &bytes).expect("a file");
            }
            // In place, with the full length from the beginning, and a second file that says so.
            2 => {
                let control = to.join(format!("{name}.aria2"));
                fs::write(&control, "").expect("a file");
                fs::write(&target, [&bytes[..half], &vec![0; bytes.len() - half]].concat()).expect("a file");
                pause();
                fs::write(&target, &bytes).expect("a file");
                fs::remove_file(&control).expect("a file");
            }
            _ => fs::write(&target, &bytes).expect("a file"),
        }
        pause();
    }
}

/// Casts `src` and removes each of its files once it is not needed. Returns the report, and for each file that was saved how many shards
/// had arrived.
fn cast_and_remove(
    src: &Path,
    dst: &Path,
    options: &ConvertOptions,
) -> (Result<ConvertReport, Error>, Vec<(String, usize)>) {
    let saved = RefCell::new(Vec::new());
    let mut progress = |step: Step<'_>| {
        if step.is_saved {
            let there = names(src).iter().filter(|name| name.ends_with(".safetensors")).count();
            let gone = saved.borrow().len();
            saved.borrow_mut().push((step.file.to_owned(), there + gone));
            fs::remove_file(src.join(step.file)).expect("a file");
        }
    };
    let report = convert(src, dst, options, Callbacks { progress: Some(&mut progress), cancelled: None });
    (report, saved.into_inner())
}

#[test]
fn files_that_arrive_in_any_order_are_cast_and_may_be_removed() {
    let mut random = Random(7);
    let mut early = 0;
    for (round, total) in [None, Some(0), Some(0), Some(1), Some(1 << 40), None].into_iter().enumerate() {
        let folder = tempfile::tempdir().expect("a folder");
        let whole = model(folder.path(), total);
        let want = run(&whole, &folder.path().join("want"), &ConvertOptions::to(Float16)).expect("a report");
        let (src, dst) = (folder.path().join("src"), folder.path().join("dst"));
        let (report, saved) = thread::scope(|scope| {
            scope.spawn(|| download(&whole, &src, &mut random));
            cast_and_remove(&src, &dst, &waiting(10.0))
        });
        assert_eq!(report.expect("a report"), want, "round {round}");
        assert!(tree(&dst) == tree(&folder.path().join("want")), "round {round}");
        let mut files: Vec<&str> = saved.iter().map(|(file, _)| &**file).collect();
        files.sort_unstable();
        assert!(files.iter().eq(&(0..SHARDS).map(shard).collect::<Vec<_>>()), "{files:?}");
        early += saved.iter().filter(|(_, arrived)| *arrived < SHARDS).count();
        assert_eq!(names(folder.path()), ["dst", "src", "want", "whole-src"]);
    }
    // Of 36. Late are those that came last, those before an index that came late, and those that float32 holds up.
    println!("{early} shards were cast before all had arrived");
    assert!(early >= 4, "{early}");
}

/// A configuration that is written in place is no JSON for a while.
#[test]
fn a_configuration_may_arrive_in_parts() {
    let folder = tempfile::tempdir().expect("a folder");
    let src = model(folder.path(), None);
    let want = run(&src, &folder.path().join("want"), &ConvertOptions::to(Float16)).expect("a report");
    let (config, whole) = (src.join("config.json"), fs::read(src.join("config.json")).expect("a file"));
    for part in [0, 1, whole.len() / 2] {
        let dst = folder.path().join(format!("dst-{part}"));
        fs::write(&config, &whole[..part]).expect("a file");
        let report = thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(300));
                fs::write(&config, &whole).expect("a file");
            });
            convert(&src, &dst, &waiting(60.0), Callbacks::default())
        });
        assert_eq!(report.expect("a report"), want);
        assert!(tree(&dst) == tree(&folder.path().join("want")));
    }
    fs::write(&config, &whole[..5]).expect("a file");
    let error = convert(&src, &folder.path().join("x"), &waiting(0.2), Callbacks::default());
    let error = error.expect_err("no JSON").to_string();
    assert!(error.contains("\"config.json\" (bad JSON") && error.contains("0.2 s"), "{error}");
}

#[test]
fn files_that_do_not_arrive_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) = (model(folder.path(), None), folder.path().join("dst"));
    let bytes = fs::read(src.join(shard(2))).expect("a file");
    fs::write(src.join(shard(2)), &bytes[..bytes.len() - 1]).expect("a file");
    fs::remove_file(src.join(shard(4))).expect("a file");
    let started = Instant::now();
    let error = run(&src, &dst, &waiting(0.3)).expect_err("files are missing");
    assert!(started.elapsed() >= Duration::from_millis(300));
    let text = error.to_string();
    assert!(matches!(error, Error::Io(..)), "{text}");
    let parts = ["2 files are not complete", "0.3 s", "--resume", &shard(2), &shard(4), "whole-src"];
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    assert!(!text.contains(&shard(1)) && !dst.exists(), "{text}");
    // What was cast is kept.
    let partial = folder.path().join("dst.lanecast-partial/files");
    assert!(partial.join(shard(0)).exists() && !partial.join(shard(2)).exists());
    let error =
        run(&src, &dst, &ConvertOptions { resume: true, ..waiting(0.1) }).expect_err("files are missing");
    assert!(error.to_string().contains(&shard(4)), "{error}");

    // Without an index nobody knows what is missing.
    for (name, part) in [("nowhere", "model.safetensors"), ("a.safetensors", "a.safetensors")] {
        let error = run(&folder.path().join(name), &folder.path().join("b.safetensors"), &waiting(0.05));
        let text = error.expect_err("nothing is there").to_string();
        assert!(text.contains("a file is not complete") && text.contains(part), "{text}");
    }
}

#[test]
fn a_single_file_is_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) = (folder.path().join("a.safetensors"), folder.path().join("b.safetensors"));
    write(&src, &[("a", Float32, &[1000][..], f32s(1000))]);
    let bytes = fs::read(&src).expect("a file");
    fs::write(&src, &bytes[..100]).expect("a file");
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(60));
            fs::write(&src, &bytes).expect("a file");
        });
        run(&src, &dst, &waiting(20.0)).expect("a report");
    });
    run(&src, &folder.path().join("c.safetensors"), &ConvertOptions::to(Float16)).expect("a report");
    let [have, want] = ["b", "c"].map(|name| fs::read(folder.path().join(format!("{name}.safetensors"))));
    assert!(have.expect("a file") == want.expect("a file"));
}

/// Ends when `n` files are saved.
fn ended_after(src: &Path, dst: &Path, options: &ConvertOptions, n: usize) -> Vec<String> {
    let saved = RefCell::new(Vec::new());
    let mut progress = |step: Step<'_>| {
        if step.is_saved {
            saved.borrow_mut().push(step.file.to_owned());
        }
    };
    let cancelled = || saved.borrow().len() >= n;
    let callbacks = Callbacks { progress: Some(&mut progress), cancelled: Some(&cancelled) };
    assert!(matches!(convert(src, dst, options, callbacks), Err(Error::Cancelled)));
    saved.into_inner()
}

#[test]
fn a_later_run_does_not_need_files_that_are_cast() {
    let folder = tempfile::tempdir().expect("a folder");
    let src = model(folder.path(), None);
    let (want, dst) = (folder.path().join("want"), folder.path().join("dst"));
    let report = run(&src, &want, &ConvertOptions::to(Float16)).expect("a report");
    for (i, wait) in [None, Some(Duration::from_secs(20))].into_iter().enumerate() {
        let options = ConvertOptions { resume: true, wait, ..ConvertOptions::to(Float16) };
        let gone: Vec<(PathBuf, Vec<u8>)> = ended_after(&src, &dst, &options, 3)
            .iter()
            .map(|name| (src.join(name), fs::read(src.join(name)).expect("a file")))
            .collect();
        assert_eq!(gone.len(), 3);
        gone.iter().for_each(|(path, _)| fs::remove_file(path).expect("a file"));

        // They are needed for a second look, and so is one whose cast is not complete.
        let verify = ConvertOptions { verify: true, ..options.clone() };
        let error = run(&src, &dst, &verify).expect_err("nothing to compare with");
        assert!(matches!(error, Error::Request(_)) && error.to_string().contains("--verify"), "{error}");
        let elsewhere = folder.path().join("elsewhere");
        fs::rename(src.join(shard(5)), &elsewhere).expect("a file");
        let short = wait.map(|_| Duration::from_millis(50));
        let error =
            run(&src, &dst, &ConvertOptions { wait: short, ..options.clone() }).expect_err("a file is gone");
        assert!(matches!(error, Error::Io(..)) && error.to_string().contains(&shard(5)), "{error}");
        fs::rename(&elsewhere, src.join(shard(5))).expect("a file");

        let mut second = run(&src, &dst, &options).expect("a report");
        assert!(second.bytes_resumed > 0, "{second:?}");
        second.bytes_resumed = 0;
        assert_eq!(second, report, "run {i}");
        assert!(tree(&dst) == tree(&want));
        fs::remove_dir_all(&dst).expect("a folder");
        gone.iter().for_each(|(path, bytes)| fs::write(path, bytes).expect("a file"));
    }
}

#[test]
fn wrong_requests_do_not_wait() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) = (model(folder.path(), None), folder.path().join("dst"));
    fs::remove_file(src.join(shard(5))).expect("a file");
    let wrong = ConvertOptions { exclude: vec!["nothing.*".to_owned()], ..waiting(30.0) };
    let error = run(&src, &dst, &wrong).expect_err("a pattern that matches nothing");
    assert!(matches!(error, Error::Request(_)), "{error}");
    // A name of a file that has not arrived is known from the index.
    let right = ConvertOptions { exclude: vec!["m.5.scaling".to_owned()], ..waiting(0.1) };
    assert!(matches!(run(&src, &dst, &right), Err(Error::Io(..))));
    fs::remove_dir_all(folder.path().join("dst.lanecast-partial")).expect("a folder");

    let error = convert(
        &src,
        &dst,
        &waiting(30.0),
        Callbacks {
            progress: None,
            cancelled: Some(&|| folder.path().join("dst.lanecast-partial").exists()),
        },
    );
    assert!(matches!(error, Err(Error::Cancelled)));
    let _ = fs::remove_dir_all(folder.path().join("dst.lanecast-partial"));

    // A quantized checkpoint is refused when its first file is there.
    let config = r#"{"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]}}"#;
    fs::write(src.join("config.json"), config).expect("a file");
    write(
        &src.join(shard(5)),
        &[
            ("m.5.weight", lanecast::DType::Float8E4M3FN, &[2, 2][..], vec![0x38; 4]),
            ("m.5.weight_scale_inv", Float32, &[1, 1], f32s(1)),
            ("m.5.mlp.gate.weight", Float32, &[2, 3], f32s(6)),
            ("m.5.ids", Int64, &[2], vec![1; 16]),
            ("m.5.scaling", Float32, &[4], f32s(4)),
        ],
    );
    fs::remove_file(src.join(shard(1))).expect("a file");
    let error = run(&src, &dst, &waiting(30.0)).expect_err("a quantized checkpoint");
    assert!(matches!(error, Error::Unsupported(_)) && error.to_string().contains("dequantize"), "{error}");
}
