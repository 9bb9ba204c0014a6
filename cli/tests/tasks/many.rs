//! A checkpoint of 250,000 tensors.

use std::{
    fs,
    time::{Duration, Instant},
};

use super::{lines, tree, work};
use crate::common::{Folder, good, safetensors};

const FILES: usize = 10;
const TENSORS: usize = 25_000;

/// Files of tensors of two elements, and their index.
fn checkpoint() -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.at("src")).expect("a folder");
    let mut map = Vec::new();
    for file in 0..FILES {
        let name = |i: usize| format!("model.layers.{file}.mlp.experts.{i}.bias");
        let entry = |i: usize| {
            format!(r#""{}":{{"dtype":"F32","shape":[2],"data_offsets":[{},{}]}}"#, name(i), 8 * i, 8 * i + 8)
        };
        let header = (0..TENSORS).map(entry).collect::<Vec<_>>().join(",");
        let data: Vec<u8> = (0..2 * TENSORS).flat_map(|i| (i as f32).to_le_bytes()).collect();
        folder.write(&format!("src/model-{file}.safetensors"), &safetensors(&format!("{{{header}}}"), &data));
        map.extend((0..TENSORS).map(|i| format!(r#""{}":"model-{file}.safetensors""#, name(i))));
    }
    let index = format!(r#"{{"weight_map":{{{}}}}}"#, map.join(","));
    folder.write("src/model.safetensors.index.json", index.as_bytes());
    folder
}

#[test]
fn plans_and_tasks_of_250_000_tensors_take_seconds() {
    let folder = checkpoint();
    let timed = |what: &str, args: &[&str]| {
        let start = Instant::now();
        let output = good(folder.run(args));
        println!("{what}: {:.1} s", start.elapsed().as_secs_f64());
        // Several times what a debug build takes on a busy machine.
        assert!(start.elapsed() < Duration::from_secs(120), "{what}: {:?}", start.elapsed());
        output
    };
    let plan = ["convert", "src", "dst", "--to", "f16", "--plan", "p", "--range-size", "64KiB", "--quiet"];
    timed("plan", &plan);
    // 1 MB out: a task is about 16,000 tensors.
    let pending = lines(timed("pending", &["tasks", "pending", "p"]));
    assert!((36..50).contains(&pending.len()), "{}", pending.len());
    timed("range", &["tasks", "run", "14", "--of", "p", "--quiet"]);
    let left = lines(good(folder.run(&["tasks", "pending", "p"])));
    assert!(left.len() < pending.len() && !left.contains(&"14".to_owned()), "{left:?}");
    timed("all", &["tasks", "run", "0/1", "--of", "p", "--quiet"]);
    good(folder.run(&["convert", "src", "whole", "--to", "f16", "--quiet"]));
    assert!(tree(&folder.at("dst")) == tree(&folder.at("whole")));
    assert_eq!(work(&folder, "dst").len(), 1);
}
