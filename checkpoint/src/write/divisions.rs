//! No byte depends on how a tensor is divided.

use std::{fs, io::Cursor, ops::Range, path::Path};

use lanecast::DType::{self, BFloat16, Float16, Float32, Int32};
use lanecast_files::save;

use super::{NewTensor, Notes};
use crate::{Checkpoint, checkpoint::Content, dequantize};

/// Numbers that look random.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n.max(1)
    }

    pub(crate) fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.below(256) as u8).collect()
    }

    /// Up to `most` ranges, which begin at multiples of `unit` and have all of `0..all`.
    fn ranges(&mut self, all: u64, unit: u64, most: u64) -> Vec<Range<u64>> {
        let mut cuts: Vec<u64> = (1..most).map(|_| self.below(all / unit + 1) * unit).collect();
        cuts.extend([0, all]);
        cuts.sort_unstable();
        // A range is empty only if the tensor is.
        if all > 0 {
            cuts.dedup();
        }
        cuts.windows(2).map(|pair| pair[0]..pair[1]).collect()
    }
}

/// Checks that ranges of each tensor add up to the tensor, bytes and notes.
pub(crate) fn check(tensors: &[NewTensor<'_>], random: &mut Random) {
    for tensor in tensors {
        let (name, all) = (&tensor.declared.name, tensor.bytes());
        let produce = |range: Range<u64>, out: &mut Vec<u8>| {
            let made = (tensor.produce)(range.clone(), &mut |bytes| {
                out.extend_from_slice(bytes);
                Ok(())
            });
            made.unwrap_or_else(|e| panic!("{name} {range:?}: {e}"))
        };
        let mut whole = Vec::new();
        let notes = produce(0..all, &mut whole).whole();
        assert_eq!(whole.len() as u64, all, "{name}");
        for most in [2, 3, 9] {
            let ranges = random.ranges(all, tensor.part, most);
            let (mut bytes, mut added) = (Vec::new(), Notes::default());
            for range in &ranges {
                added.extend(produce(range.clone(), &mut bytes));
                assert_eq!(bytes.len() as u64, range.end, "{name} {ranges:?}");
            }
            assert!(bytes == whole, "{name} {ranges:?}");
            assert_eq!(added.whole(), notes, "{name} {ranges:?}");
        }
    }
}

/// Checks that elements that are decoded alone have the values that they have in the whole tensor, whatever the first is.
fn check_elements(checkpoint: &Checkpoint, content: &Content, plainly: bool, random: &mut Random) {
    let name = &checkpoint.source.tensors[content.id()].name;
    let decode = |range: Range<usize>| {
        let mut out = Vec::new();
        let decoded = checkpoint.decode_range(content, Float32, plainly, range, &mut |bytes| {
            out.extend_from_slice(bytes);
            Ok(())
        });
        decoded.unwrap_or_else(|e| panic!("{name}: {e}"));
        out
    };
    let n = checkpoint.elements(content);
    let whole = decode(0..n);
    for most in [2, 4, 7] {
        for range in random.ranges(n as u64, 1, most) {
            let range = range.start as usize..range.end as usize;
            assert!(decode(range.clone()) == whole[4 * range.start..4 * range.end], "{name} {range:?}");
        }
    }
}

#[test]
fn ranges_of_every_layout_are_decoded_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let archive = include_bytes!("../../tests/data/checkpoints.zip");
    let mut archive = zip::ZipArchive::new(Cursor::new(&archive[..])).expect("an archive");
    archive.extract(folder.path()).expect("files");
    let (mut random, mut count) = (Random(1), 0);
    for entry in fs::read_dir(folder.path()).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.ends_with("expected") {
            continue;
        }
        let gguf = path.join("model.gguf");
        let path = if gguf.exists() { gguf } else { path };
        let checkpoint = Checkpoint::open(&path).expect("a checkpoint");
        for to in [BFloat16, Float32] {
            check(&dequantize::tensors(&checkpoint, to), &mut random);
        }
        let coded = checkpoint.contents.iter().filter(|content| matches!(content, Content::Coded(_)));
        for content in coded {
            count += 1;
            check_elements(&checkpoint, content, false, &mut random);
            check_elements(&checkpoint, content, true, &mut random);
        }
    }
    assert!(count > 60, "{count}");
}

/// A matrix that is transposed is read in slabs of its columns.
#[test]
fn large_transposed_matrices_are_read_in_pieces() {
    let folder = tempfile::tempdir().expect("a folder");
    let (k, n, random) = (4096_u64, 1104_u64, &mut Random(2));
    let mut codes = |dtype: DType, shape: &[u64; 2]| {
        let bytes = random.bytes(shape[0] as usize * shape[1] as usize * dtype.size());
        // Scales of float16 are finite.
        if dtype == Float16 { bytes.iter().map(|byte| byte & 0xBB).collect() } else { bytes }
    };
    let shapes = [[k / 8, n], [k / 128, n / 8], [k / 128, n]];
    let [qweight, qzeros, scales] = [0, 1, 2].map(|i| codes([Int32, Int32, Float16][i], &shapes[i]));
    let tensor = |name, dtype, shape, data| lanecast_files::NewTensor { name, dtype, shape, data };
    let tensors = [
        tensor("a.qweight", Int32, &shapes[0], &qweight[..]),
        tensor("a.qzeros", Int32, &shapes[1], &qzeros[..]),
        tensor("a.scales", Float16, &shapes[2], &scales[..]),
    ];
    write(
        folder.path(),
        &tensors,
        r#"{"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": false, "sym": false, "checkpoint_format": "gptq_v2"}}"#,
    );
    let checkpoint = Checkpoint::open(folder.path()).expect("a checkpoint");
    check_elements(&checkpoint, &checkpoint.contents[0], false, random);
}

/// Writes a checkpoint of one file.
pub(crate) fn write(folder: &Path, tensors: &[lanecast_files::NewTensor<'_>], config: &str) {
    save(&folder.join("model.safetensors"), tensors, &[], true).expect("a file");
    fs::write(folder.join("config.json"), config).expect("a file");
}
