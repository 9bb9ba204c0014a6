//! GGUF to GGUF: files made by hand, and the files that are made of them read by a parser of the test.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use lanecast::{
    DType::{BFloat16, Float16, Float32, Float64},
    half::{bf16, f16},
};
use lanecast_checkpoint::{
    Callbacks, Checkpoint, ConvertOptions, Error, Kind, Loader, Options, QuantLayout, QuantScheme,
    QuantizeOptions, QuantizeReport, check, convert, dequantize, quantize, requantize,
};

/// A tensor: axes from the fastest, the number of its type, bytes.
type Made = (Vec<u64>, u32, Vec<u8>);

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}

fn pair(key: &str, kind: u32, value: &[u8]) -> Vec<u8> {
    [text(key), kind.to_le_bytes().to_vec(), value.to_vec()].concat()
}

/// The pairs of the metadata that every file has, in order: all kinds that a copy could change.
fn pairs(alignment: u32) -> Vec<Vec<u8>> {
    let list = [8_u32.to_le_bytes().to_vec(), 2_u64.to_le_bytes().to_vec(), text("x"), text("y")].concat();
    vec![
        pair("general.architecture", 8, &text("llama")),
        pair("general.file_type", 4, &1_u32.to_le_bytes()),
        pair("general.alignment", 4, &alignment.to_le_bytes()),
        pair("a.small", 0, &[7]),
        pair("a.float", 6, &0.1_f32.to_le_bytes()),
        pair("a.list", 9, &list),
    ]
}

fn file(pairs: &[Vec<u8>], alignment: usize, tensors: &[(&str, Made)]) -> Vec<u8> {
    let mut out = b"GGUF".to_vec();
    out.extend(3_u32.to_le_bytes());
    out.extend([tensors.len() as u64, pairs.len() as u64].iter().flat_map(|n| n.to_le_bytes()));
    out.extend(pairs.concat());
    let mut data = Vec::new();
    for (name, (axes, number, bytes)) in tensors {
        out.extend(text(name));
        out.extend((axes.len() as u32).to_le_bytes());
        out.extend(axes.iter().flat_map(|axis| axis.to_le_bytes()));
        out.extend(number.to_le_bytes());
        out.extend((data.len() as u64).to_le_bytes());
        data.extend_from_slice(bytes);
        data.resize(data.len().next_multiple_of(alignment), 0);
    }
    out.resize(out.len().next_multiple_of(alignment), 0);
    out.extend(data);
    out
}

/// A file as the test reads it: the bytes of its pairs by key, and its tensors.
struct Read {
    keys: Vec<String>,
    pairs: BTreeMap<String, Vec<u8>>,
    names: Vec<String>,
    tensors: BTreeMap<String, Made>,
}

struct Cursor<'b>(&'b [u8], usize);

impl Cursor<'_> {
    fn take(&mut self, n: usize) -> Vec<u8> {
        self.1 += n;
        self.0[self.1 - n..self.1].to_vec()
    }
    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().expect("bytes"))
    }
    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take(8).try_into().expect("bytes"))
    }
    fn text(&mut self) -> String {
        let n = self.u64() as usize;
        String::from_utf8(self.take(n)).expect("text")
    }
    fn skip(&mut self, kind: u32) {
        match kind {
            0 => self.1 += 1,
            4 | 6 => self.1 += 4,
            8 => drop(self.text()),
            9 => {
                let (kind, n) = (self.u32(), self.u64());
                (0..n).for_each(|_| self.skip(kind));
            }
            _ => panic!("a kind that the test does not write: {kind}"),
        }
    }
}

fn read(path: &Path, alignment: usize) -> Read {
    let bytes = fs::read(path).expect("a file");
    let mut at = Cursor(&bytes, 0);
    assert_eq!((at.take(4), at.u32()), (b"GGUF".to_vec(), 3));
    let (count, n) = (at.u64(), at.u64());
    let (mut keys, mut pairs) = (Vec::new(), BTreeMap::new());
    for _ in 0..n {
        let key = at.text();
        let start = at.1;
        let kind = at.u32();
        at.skip(kind);
        assert!(pairs.insert(key.clone(), bytes[start..at.1].to_vec()).is_none(), "{key} twice");
        keys.push(key);
    }
    let mut table = Vec::new();
    for _ in 0..count {
        let name = at.text();
        let axes: Vec<u64> = (0..at.u32()).map(|_| at.u64()).collect();
        table.push((name, axes, at.u32(), at.u64() as usize));
    }
    let start = at.1.next_multiple_of(alignment);
    let (mut names, mut tensors) = (Vec::new(), BTreeMap::new());
    let mut end = start;
    for (name, axes, number, place) in table {
        assert_eq!(start + place, end, "{name} follows the one before it");
        let (block, size) = [(0, 1, 4), (1, 1, 2), (2, 32, 18), (8, 32, 34), (30, 1, 2), (39, 32, 17)]
            .into_iter()
            .find(|(of, ..)| *of == number)
            .map(|(_, block, size)| (block, size))
            .expect("a type of the test");
        let len = axes.iter().product::<u64>() as usize / block * size;
        tensors.insert(name.clone(), (axes, number, bytes[end..end + len].to_vec()));
        end = (end + len).next_multiple_of(alignment);
        names.push(name);
    }
    assert_eq!(end, bytes.len());
    Read { keys, pairs, names, tensors }
}

fn values(n: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 40) as f32 / (1_u64 << 24) as f32 - 0.5) * 0.25
    };
    (0..n).map(|_| bf16::from_f32(next()).to_f32()).collect()
}

fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn f16s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| f16::from_f32(*value).to_le_bytes()).collect()
}

fn bf16s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| bf16::from_f32(*value).to_le_bytes()).collect()
}

/// The tensors of a small model in bfloat16, with those that keep their types.
fn model() -> Vec<(&'static str, Made)> {
    vec![
        ("token_embd.weight", (vec![64, 5], 30, bf16s(&values(320, 1)))),
        ("blk.0.attn_norm.weight", (vec![64], 0, f32s(&values(64, 2)))),
        ("blk.0.attn_q.weight", (vec![64, 3], 30, bf16s(&values(192, 3)))),
        ("blk.0.ffn_gate_inp.weight", (vec![64, 2], 0, f32s(&values(128, 4)))),
        ("blk.0.ffn_up_exps.weight", (vec![32, 3, 2], 30, bf16s(&values(192, 5)))),
        ("blk.0.odd.weight", (vec![33, 2], 30, bf16s(&values(66, 6)))),
        ("blk.0.attn_q.bias", (vec![3], 0, f32s(&values(3, 7)))),
    ]
}

fn source(folder: &Path, alignment: u32) -> PathBuf {
    let path = folder.join("model.gguf");
    fs::write(&path, file(&pairs(alignment), alignment as usize, &model())).expect("a file");
    path
}

/// Blocks as ggml's reference makes them, element by element.
fn q8_0(values: &[f32]) -> Vec<u8> {
    let block = |x: &[f32]| {
        let d = x.iter().fold(0.0_f32, |most, x| most.max(x.abs())) / 127.0;
        let id = if d == 0.0 { 0.0 } else { 1.0 / d };
        let codes = x.iter().map(|x| (x * id).round() as i8 as u8).collect();
        [f16::from_f32(d).to_le_bytes().to_vec(), codes].concat()
    };
    values.chunks(32).flat_map(block).collect()
}

fn q4_0(values: &[f32]) -> Vec<u8> {
    let block = |x: &[f32]| {
        let most = x.iter().fold(0.0_f32, |most, x| if x.abs() > most.abs() { *x } else { most });
        let d = most / -8.0;
        let id = if d == 0.0 { 0.0 } else { 1.0 / d };
        let code = |x: f32| ((x * id + 8.5) as u8).min(15);
        let codes = (0..16).map(|i| code(x[i]) | code(x[i + 16]) << 4).collect();
        [f16::from_f32(d).to_le_bytes().to_vec(), codes].concat()
    };
    values.chunks(32).flat_map(block).collect()
}

fn run(src: &Path, dst: &Path, options: &QuantizeOptions) -> Result<QuantizeReport, Error> {
    quantize(src, dst, options, Callbacks::default())
}

fn options(scheme: QuantScheme) -> QuantizeOptions {
    QuantizeOptions::new(scheme, QuantLayout::Gguf)
}

/// Checks that an output has the metadata of the source with this file type.
#[track_caller]
fn check_pairs(out: &Read, alignment: u32, file_type: u32) {
    let keys = ["general.architecture", "general.file_type", "general.alignment", "a.small", "a.float"];
    assert_eq!(out.keys, [&keys[..], &["a.list", "general.quantization_version"]].concat());
    for (key, pair) in keys.iter().chain(&["a.list"]).zip(pairs(alignment)) {
        if *key != "general.file_type" {
            assert_eq!(out.pairs[*key], pair[8 + key.len()..], "{key}");
        }
    }
    let number = |n: u32| [4, n].map(u32::to_le_bytes).concat();
    assert_eq!(out.pairs["general.file_type"], number(file_type));
    assert_eq!(out.pairs["general.quantization_version"], number(2));
}

#[test]
fn weights_become_blocks_and_all_else_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    for (alignment, scheme, number, file_type, encode) in
        [(32, QuantScheme::Q8_0, 8, 7, q8_0 as fn(&[f32]) -> Vec<u8>), (64, QuantScheme::Q4_0, 2, 2, q4_0)]
    {
        let (src, dst) = (source(folder.path(), alignment), folder.path().join(format!("{scheme}.gguf")));
        let report = run(&src, &dst, &options(scheme)).expect("a report");
        assert_eq!((report.weights_quantized, report.tensors_copied), (3, 4), "{report:?}");
        assert_eq!((&*report.layout, &*report.scheme), ("gguf", scheme.name()));
        assert!(report.warnings.iter().any(|of| of.contains("blk.0.odd.weight")), "{:?}", report.warnings);
        let out = read(&dst, alignment as usize);
        check_pairs(&out, alignment, file_type);
        assert_eq!(out.names, model().iter().map(|(name, _)| *name).collect::<Vec<_>>());
        for (i, (name, made)) in model().into_iter().enumerate() {
            let quantized =
                ["token_embd.weight", "blk.0.attn_q.weight", "blk.0.ffn_up_exps.weight"].contains(&name);
            let want = match quantized {
                true => {
                    let n = made.0.iter().product::<u64>() as usize;
                    (made.0, number, encode(&values(n, i as u64 + 1)))
                }
                false => made,
            };
            assert_eq!(out.tensors[name], want, "{name}");
        }
    }
}

#[test]
fn patterns_choose_other_blocks_and_keep_weights() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) = (source(folder.path(), 32), folder.path().join("out.gguf"));
    let map =
        vec![("token_embd".to_owned(), QuantScheme::Q8_0), ("*ffn_gate_inp*".to_owned(), QuantScheme::Mxfp4)];
    let ignore = vec!["*_exps.weight".to_owned()];
    let of = QuantizeOptions { map, ignore, ..options(QuantScheme::Q4_0) };
    run(&src, &dst, &of).expect("a report");
    let out = read(&dst, 32);
    let number = |name: &str| out.tensors[name].1;
    assert_eq!(
        ["token_embd.weight", "blk.0.ffn_gate_inp.weight", "blk.0.attn_q.weight", "blk.0.ffn_up_exps.weight"]
            .map(number),
        [8, 39, 2, 30]
    );
    check_pairs(&out, 32, 2);
    let map = vec![("*odd*".to_owned(), QuantScheme::Q8_0)];
    let other = folder.path().join("x.gguf");
    let error = run(&src, &other, &QuantizeOptions { map, ..of }).expect_err("33 columns").to_string();
    assert!(error.contains("blk.0.odd.weight") && error.contains("33"), "{error}");
    assert!(!other.exists());
}

#[test]
fn blocks_decode_to_floats_in_a_file_of_the_same_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, small) = (source(folder.path(), 64), folder.path().join("q8.gguf"));
    run(&src, &small, &options(QuantScheme::Q8_0)).expect("a report");
    let dst = folder.path().join("f16.gguf");
    let report = dequantize(&small, &dst, &Options::to(Float16), Callbacks::default()).expect("a report");
    assert_eq!((report.tensors_decoded, report.tensors_copied), (3, 4));
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
    let out = read(&dst, 64);
    check_pairs(&out, 64, 1);
    // A scale of float16 times a code of 8 bits is exact in float32, and rounded once.
    let blocks = q8_0(&values(192, 3));
    let decode = |block: &[u8]| {
        let d = f16::from_le_bytes([block[0], block[1]]).to_f32();
        block[2..].iter().map(move |code| f32::from(*code as i8) * d).collect::<Vec<_>>()
    };
    let want: Vec<f32> = blocks.chunks(34).flat_map(decode).collect();
    assert_eq!(out.tensors["blk.0.attn_q.weight"], (vec![64, 3], 1, f16s(&want)));
    assert_eq!(out.tensors["blk.0.odd.weight"].1, 30);
    // Quantized again, it is refused; so is another layout.
    let error = run(&small, &folder.path().join("x.gguf"), &options(QuantScheme::Q4_0)).expect_err("blocks");
    assert!(matches!(&error, Error::Request(_)) && error.to_string().contains("dequantize"), "{error}");
    let again =
        requantize(&small, &folder.path().join("x.gguf"), &options(QuantScheme::Mxfp4), Callbacks::default());
    assert!(again.is_err() && !folder.path().join("x.gguf").exists());
}

#[test]
fn floats_are_cast_in_a_file_of_the_same_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) = (source(folder.path(), 32), folder.path().join("out.gguf"));
    let of = |to| ConvertOptions { verify: true, ..ConvertOptions::to(to) };
    let report = convert(&src, &dst, &of(Float16), Callbacks::default()).expect("a report");
    let counts = (report.tensors_cast, report.tensors_copied, report.float32_kept, report.tensors_verified);
    assert_eq!(counts, (4, 3, 3, Some(7)));
    assert!(report.warnings.is_empty() && report.files.is_empty(), "{report:?}");
    let out = read(&dst, 32);
    check_pairs(&out, 32, 1);
    assert_eq!(out.tensors["blk.0.odd.weight"], (vec![33, 2], 1, f16s(&values(66, 6))));
    assert_eq!(out.tensors["blk.0.attn_norm.weight"], (vec![64], 0, f32s(&values(64, 2))));
    // All of float32, norms and routers stay of it, too: llama.cpp needs them so.
    let wide = folder.path().join("f32.gguf");
    convert(&src, &wide, &of(Float32), Callbacks::default()).expect("a report");
    let back = folder.path().join("bf16.gguf");
    convert(&wide, &back, &of(BFloat16), Callbacks::default()).expect("a report");
    let (back, src) = (read(&back, 32), read(&src, 32));
    assert_eq!(back.tensors, src.tensors);
    check_pairs(&back, 32, 32);
}

/// The parts of a split model become one file, without the keys of parts.
#[test]
fn split_models_become_one_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let split = |no: u16| {
        let of = |key: &str, n: u32| pair(key, 4, &n.to_le_bytes());
        vec![of("split.no", no.into()), of("split.count", 2), of("split.tensors.count", 7)]
    };
    let (first, second) = (model()[..3].to_vec(), model()[3..].to_vec());
    let path = |no: u32| folder.path().join(format!("m-0000{no}-of-00002.gguf"));
    fs::write(path(1), file(&[pairs(64), split(0)].concat(), 64, &first)).expect("a file");
    fs::write(path(2), file(&split(1), 32, &second)).expect("a file");
    let dst = folder.path().join("out.gguf");
    run(&path(1), &dst, &options(QuantScheme::Q8_0)).expect("a report");
    let whole = folder.path().join("whole.gguf");
    run(&source(folder.path(), 64), &whole, &options(QuantScheme::Q8_0)).expect("a report");
    assert_eq!(fs::read(dst).expect("a file"), fs::read(whole).expect("a file"));
}

/// Loaders other than llama.cpp read some architectures, blocks and single files.
#[test]
fn loaders_have_limits_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, architecture: &str, number: u32, size: usize, parts: u32| {
        let path = folder.path().join(name);
        let pairs = [
            pair("general.architecture", 8, &text(architecture)),
            pair("split.count", 4, &parts.to_le_bytes()),
        ];
        fs::write(&path, file(&pairs, 32, &[(name, (vec![32, 1], number, vec![0; size]))])).expect("a file");
        path
    };
    let found = |path: &Path, loader| -> Vec<String> {
        let all = check(path, Some(loader)).expect("a result").findings;
        all.into_iter().filter(|of| of.kind == Kind::Loader).map(|of| of.what).collect()
    };
    use Loader::{LlamaCpp, Mlx, Sglang, Transformers, Vllm};
    let old = write("llama.gguf", "llama", 39, 17, 1);
    assert_eq!([Transformers, LlamaCpp].map(|loader| found(&old, loader).len()), [0, 0]);
    assert!(found(&old, Sglang)[0].contains("only Q4_0"));
    assert!([Mlx, Vllm].iter().all(|loader| found(&old, *loader)[0].contains("does not read")));
    let new = write("qwen.gguf", "qwen35", 39, 17, 1);
    assert!(found(&new, Transformers)[0].contains("of this architecture"));
    let new = write("qwen8.gguf", "qwen35", 8, 34, 1);
    assert_eq!([Transformers, Sglang].map(|loader| found(&new, loader).len()), [0, 0]);
    let other = write("other.gguf", "unheard-of", 8, 34, 1);
    assert!(found(&other, Transformers)[0].contains("architecture"));
    let split = write("m-00001-of-00002.gguf", "llama", 8, 34, 2);
    write("m-00002-of-00002.gguf", "llama", 8, 34, 2);
    for loader in [Transformers, Sglang] {
        let of = found(&split, loader);
        assert!(of.len() == 1 && of[0].contains("split") && of[0].contains("one more weight"), "{of:?}");
    }
}

#[test]
fn what_gguf_cannot_have_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let src = source(folder.path(), 32);
    let error = |result: Result<QuantizeReport, Error>| result.expect_err("an error").to_string();
    assert!(error(run(&src, &at("out"), &options(QuantScheme::Q8_0))).contains(".gguf file"));
    let nf4 = QuantizeOptions::new(QuantScheme::Q8_0, QuantLayout::BitsAndBytes);
    assert!(error(run(&src, &at("out"), &nf4)).contains("no scheme q8_0"));
    let ct = QuantizeOptions::new(QuantScheme::Mxfp8, QuantLayout::CompressedTensors);
    assert!(error(run(&src, &at("out"), &ct)).contains("layout gguf"));
    let to = |to| ConvertOptions::to(to);
    let of = |options: &ConvertOptions, src: &Path| {
        convert(src, &at("x.gguf"), options, Callbacks::default()).expect_err("an error").to_string()
    };
    assert!(of(&to(Float64), &src).contains("float64"));
    let cut = ConvertOptions { max_shard_size: Some(100), ..to(Float16) };
    assert!(of(&cut, &src).contains("one file"));
    let plain = at("plain");
    convert(&src, &plain, &to(Float16), Callbacks::default()).expect("a folder");
    assert!(of(&to(Float32), &plain).contains("GGUF"));
    assert!(error(run(&plain, &at("x.gguf"), &options(QuantScheme::Q8_0))).contains("GGUF"));
    // A value that no scale reaches, and one that is no number.
    for (value, part) in [(f32::NAN, "NaN"), (1e30, "infinite")] {
        let big = [vec![0.0; 70], vec![value], vec![0.0; 57]].concat();
        let bad = at("bad.gguf");
        fs::write(&bad, file(&pairs(32), 32, &[("a.weight", (vec![64, 2], 0, f32s(&big)))])).expect("a file");
        let text = error(run(&bad, &at("x.gguf"), &options(QuantScheme::Q8_0)));
        assert!(text.contains("a.weight") && text.contains(part) && text.contains("(1, "), "{text}");
    }
    assert!(!at("x.gguf").exists());
    fs::write(at("odd.gguf"), file(&pairs(48), 48, &model())).expect("a file");
    assert!(Checkpoint::open(&at("odd.gguf")).is_ok());
    assert!(of(&to(Float16), &at("odd.gguf")).contains("alignment 48"));
}
