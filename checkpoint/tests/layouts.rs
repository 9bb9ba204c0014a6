//! Layouts that no golden checkpoint has: tensors packed bit by bit here, and values computed element by element.

use std::{fs, path::Path};

use lanecast::DType::{
    self, BFloat16, Float8E4M3FN, Float8E8M0FNU, Float16, Float32, Int8, Int32, Int64, UInt8, UInt32,
};
use lanecast_checkpoint::Checkpoint;
use lanecast_files::{NewTensor, save};

use crate::common::{Goldens, write};

type Tensor<'t> = (&'t str, DType, &'t [u64], Vec<u8>);

/// Decodes the weight `m.up.weight` of a checkpoint with this configuration and these tensors.
fn decode(config: &str, tensors: &[Tensor<'_>]) -> Vec<f32> {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("config.json"), config).expect("a file");
    write(&folder.path().join("model.safetensors"), tensors);
    values(folder.path())
}

fn values(folder: &Path) -> Vec<f32> {
    let checkpoint = Checkpoint::open(folder).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(checkpoint.tensors().len(), 1, "{:?}", checkpoint.tensors());
    let mut values = vec![0.0; checkpoint.tensors()[0].elements()];
    checkpoint.read("m.up.weight", &mut values).unwrap_or_else(|e| panic!("{e}"));
    values
}

/// Numbers that look random, below a limit.
fn field(i: usize, limit: u32) -> u32 {
    (i as u32).wrapping_mul(2_654_435_761).rotate_left(13) % limit
}

/// Strings of bits: `lines` of them, with so many fields each, in words of 32 bits. Word `w` of line `l` is at `place(l, w)`.
fn pack(
    bits: u32,
    lines: usize,
    fields: usize,
    place: impl Fn(usize, usize) -> usize,
    of: impl Fn(usize, usize) -> u32,
) -> Vec<u8> {
    let words = (fields * bits as usize).div_ceil(32);
    let mut out = vec![0_u32; lines * words];
    for (line, i) in (0..lines).flat_map(|line| (0..fields).map(move |i| (line, i))) {
        for bit in (0..bits as usize).filter(|bit| of(line, i) >> bit & 1 == 1) {
            let at = i * bits as usize + bit;
            out[place(line, at / 32)] |= 1 << (at % 32);
        }
    }
    out.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn f32s(values: impl Iterator<Item = f32>) -> Vec<u8> {
    values.flat_map(f32::to_le_bytes).collect()
}

fn i32s(values: impl Iterator<Item = usize>) -> Vec<u8> {
    values.flat_map(|value| (value as i32).to_le_bytes()).collect()
}

#[track_caller]
fn same(have: &[f32], want: impl Fn(usize) -> f32) {
    for (i, have) in have.iter().enumerate() {
        assert_eq!(have.to_bits(), want(i).to_bits(), "element {i}: {have} {}", want(i));
    }
}

/// Every width, with zero points and with permuted groups.
#[test]
fn packs_of_compressed_tensors_have_every_width() {
    const N: usize = 5;
    const K: usize = 42;
    const G: usize = 3;
    for bits in 1..=8_u32 {
        let words = (K * bits as usize).div_ceil(32);
        let code = |r: usize, c: usize| field(r * K + c, 1 << bits);
        let zero = |g: usize, r: usize| field(1000 + r * G + g, 1 << bits);
        let scale = |r: usize, g: usize| (r * G + g + 1) as f32 * 0.3;
        let group = |c: usize| field(c, G as u32) as usize;
        let rows = (N * bits as usize).div_ceil(32);
        let tensors: [Tensor<'_>; 5] = [
            (
                "m.up.weight_packed",
                Int32,
                &[N as u64, words as u64],
                pack(bits, N, K, |r, w| r * words + w, code),
            ),
            (
                "m.up.weight_scale",
                Float32,
                &[N as u64, G as u64],
                f32s((0..N * G).map(|i| scale(i / G, i % G))),
            ),
            (
                "m.up.weight_shape",
                Int64,
                &[2],
                [N as i64, K as i64].iter().flat_map(|n| n.to_le_bytes()).collect(),
            ),
            // Packed down the rows.
            (
                "m.up.weight_zero_point",
                Int32,
                &[rows as u64, G as u64],
                pack(bits, G, N, |g, w| w * G + g, zero),
            ),
            ("m.up.weight_g_idx", Int32, &[K as u64], i32s((0..K).map(group))),
        ];
        let config = |symmetric: bool| {
            format!(
                r#"{{"quantization_config":{{"quant_method":"compressed-tensors","format":"pack-quantized","config_groups":{{"a":{{
                "targets":["Linear"],"weights":{{"num_bits":{bits},"type":"int","symmetric":{symmetric},"strategy":"group","group_size":14}}}}}}}}}}"#
            )
        };
        let product = |r: usize, c: usize, g: usize, zero: u32| {
            (f64::from(code(r, c)) - f64::from(zero)) * f64::from(scale(r, g))
        };
        same(&decode(&config(false), &tensors), |i| {
            let (r, c) = (i / K, i % K);
            product(r, c, group(c), zero(group(c), r)) as f32
        });
        same(&decode(&config(true), &tensors[..3]), |i| {
            product(i / K, i % K, i % K / 14, 1 << (bits - 1)) as f32
        });
    }
}

#[test]
fn gptq_without_groups_has_blocks_of_rows() {
    const N: usize = 8;
    const K: usize = 32;
    for (bits, less) in [(2_u32, 1), (8, 0), (4, 1)] {
        let (words, zero_words) = (K * bits as usize / 32, (N * bits as usize).div_ceil(32));
        let code = |k: usize, n: usize| field(k * N + n, 1 << bits);
        // A zero point is stored less one, modulo its range.
        let zero = |g: usize, n: usize| field(500 + g * N + n, 1 << bits);
        let stored = |g: usize, n: usize| zero(g, n).wrapping_sub(less) & ((1 << bits) - 1);
        let scale = |g: usize, n: usize| (g * N + n + 1) as f32 * 0.25;
        let scales = (0..2 * N)
            .flat_map(|i| lanecast::half::f16::from_f32(scale(i / N, i % N)).to_le_bytes())
            .collect();
        let tensors: [Tensor<'_>; 3] = [
            (
                "m.up.qweight",
                Int32,
                &[words as u64, N as u64],
                pack(bits, N, K, |n, w| w * N + n, |n, k| code(k, n)),
            ),
            (
                "m.up.qzeros",
                Int32,
                &[2, zero_words as u64],
                pack(bits, 2, N, |g, w| g * zero_words + w, stored),
            ),
            ("m.up.scales", Float16, &[2, N as u64], scales),
        ];
        let format = if less == 1 { "gptq" } else { "gptq_v2" };
        let config = format!(
            r#"{{"quantization_config":{{"quant_method":"gptq","bits":{bits},"group_size":16,"checkpoint_format":"{format}"}}}}"#
        );
        same(&decode(&config, &tensors), |i| {
            let (n, k) = (i / K, i % K);
            (code(k, n) as f32 - zero(k / 16, n) as f32) * scale(k / 16, n)
        });
    }
}

#[test]
fn affine_codes_of_mlx_have_every_width() {
    const N: usize = 3;
    const K: usize = 64;
    for bits in [2_u32, 3, 5, 6, 8] {
        let words = K * bits as usize / 32;
        let code = |r: usize, c: usize| field(r * K + c, 1 << bits);
        // Products and biases of very different sizes: the sum is rounded once.
        let (scale, bias) = (|i: usize| 1e-3 * (i + 1) as f32, |i: usize| -1e4 * (i as f32 + 0.1));
        let config = format!(r#"{{"quantization":{{"group_size":32,"bits":{bits}}}}}"#);
        let tensors: [Tensor<'_>; 3] = [
            ("m.up.weight", UInt32, &[N as u64, words as u64], pack(bits, N, K, |r, w| r * words + w, code)),
            ("m.up.scales", Float32, &[N as u64, 2], f32s((0..2 * N).map(scale))),
            ("m.up.biases", Float32, &[N as u64, 2], f32s((0..2 * N).map(bias))),
        ];
        same(&decode(&config, &tensors), |i| {
            let (r, c) = (i / K, i % K);
            let g = r * 2 + c / 32;
            // Fused multiply-add rounds the exact sum once, to float32.
            (code(r, c) as f32).mul_add(scale(g), bias(g))
        });
    }
}

/// e2m1 by its list.
const E2M1: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

fn e2m1(code: u32) -> f32 {
    let magnitude = E2M1[(code & 7) as usize];
    if code & 8 == 8 { -magnitude } else { magnitude }
}

#[test]
fn packed_microscaled_floats_are_decoded() {
    const N: usize = 2;
    const K: usize = 64;
    let scale = |i: usize| 120 + i as u8;
    let scales: Vec<u8> = (0..2 * N).map(scale).collect();
    let power = |i: usize| 2_f32.powi(i32::from(scale(i / K * 2 + i % K / 32)) - 127);
    let config = |format: &str| {
        format!(
            r#"{{"quantization_config":{{"quant_method":"compressed-tensors","format":"{format}","config_groups":{{"a":{{"targets":["Linear"],"weights":{{}}}}}}}}}}"#
        )
    };
    let code = |r: usize, c: usize| field(r * K + c, 16);
    let packed: Tensor<'_> = ("m.up.weight_packed", UInt8, &[2, 32], pack(4, N, K, |r, w| r * 8 + w, code));
    let of_scales: Tensor<'_> = ("m.up.weight_scale", UInt8, &[2, 2], scales.clone());
    let want = |i: usize| e2m1(code(i / K, i % K)) * power(i);
    same(&decode(&config("mxfp4-pack-quantized"), &[packed.clone(), of_scales.clone()]), want);

    // Floats of 6 bits: 2 bits of exponent, 3 of mantissa, four in three bytes.
    let six = |r: usize, c: usize| field(r * K + c, 64);
    let e2m3 = |code: u32| {
        let (e, m) = (code >> 3 & 3, (code & 7) as f32 / 8.0);
        let magnitude = if e == 0 { m } else { (1.0 + m) * 2_f32.powi(e as i32 - 1) };
        if code & 32 == 32 { -magnitude } else { magnitude }
    };
    let wide: Tensor<'_> = ("m.up.weight_packed", UInt8, &[2, 48], pack(6, N, K, |r, w| r * 12 + w, six));
    same(&decode(&config("mxfp6-pack-quantized"), &[wide, of_scales.clone()]), |i| {
        e2m3(six(i / K, i % K)) * power(i)
    });

    // The same codes as a tensor class of torchao.
    let class = r#"{"_type":"MXTensor","_data":{"block_size":32}}"#;
    let metadata = [("tensor_names", r#"["m.up.weight"]"#), ("m.up.weight", class)];
    let metadata: Vec<_> =
        metadata.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let qdata = NewTensor { name: "m.up._weight_qdata", dtype: UInt8, shape: &[2, 32], data: &packed.3 };
    let scale = NewTensor { name: "m.up._weight_scale", dtype: Float8E8M0FNU, shape: &[2, 2], data: &scales };
    save(&folder.path().join("model.safetensors"), &[qdata, scale], &metadata, false).expect("a file");
    same(&values(folder.path()), want);
}

#[test]
fn scales_of_modelopt_are_rows_and_tiles() {
    // 1.0, 2.0, -1.0, 1.5 in float8_e4m3fn.
    let codes = |n: usize| (0..n).map(|i| [0x38, 0x40, 0xB8, 0x3C][i % 4]).collect::<Vec<u8>>();
    let value = |i: usize| [1.0, 2.0, -1.0, 1.5][i % 4];
    let config = |algo: &str| {
        format!(r#"{{"quantization_config":{{"quant_method":"modelopt","quant_algo":"{algo}"}}}}"#)
    };
    let weight: Tensor<'_> = ("m.up.weight", Float8E4M3FN, &[3, 4], codes(12));
    let rows: Tensor<'_> = ("m.up.weight_scale", Float32, &[3], f32s([1.0, 2.0, 4.0].into_iter()));
    same(&decode(&config("FP8_PER_CHANNEL_PER_TOKEN"), &[weight, rows]), |i| {
        value(i) * 2_f32.powi(i as i32 / 4)
    });
    let weight: Tensor<'_> = ("m.up.weight", Float8E4M3FN, &[130, 260], codes(130 * 260));
    let tiles: Tensor<'_> = ("m.up.weight_scale", Float32, &[2, 1, 3, 1], f32s((1..7).map(|i| i as f32)));
    same(&decode(&config("fp8_pb_wo"), &[weight, tiles]), |i| {
        let (r, c) = (i / 260, i % 260);
        value(i) * (r / 128 * 3 + c / 128 + 1) as f32
    });
}

#[test]
fn other_scaled_codes_are_decoded() {
    let fp8 = r#"{"quantization_config":{"quant_method":"fp8"}}"#;
    let weight: Tensor<'_> = ("m.up.weight", Float8E4M3FN, &[2, 2], vec![0x38, 0x40, 0xB8, 0x3C]);
    let scale: Tensor<'_> = ("m.up.weight_scale", Float32, &[], f32s([0.5].into_iter()));
    let input: Tensor<'_> = ("m.up.input_scale", Float32, &[], f32s([9.0].into_iter()));
    assert_eq!(decode(fp8, &[weight.clone(), scale.clone(), input]), [0.5, 1.0, -0.5, 0.75]);
    let qscale: Tensor<'_> = ("m.up.qscale_weight", BFloat16, &[], vec![0, 0x40]);
    assert_eq!(decode(fp8, &[weight, qscale]), [2.0, 4.0, -2.0, 3.0]);

    let int8: Tensor<'_> = ("m.up.weight", Int8, &[2, 2], vec![1, 0x80, 0xFF, 127]);
    let text = br#"{"format":"int8_tensorwise"}"#;
    let comfy: Tensor<'_> = ("m.up.comfy_quant", UInt8, &[text.len() as u64], text.to_vec());
    let scale: Tensor<'_> = ("m.up.weight_scale", Float32, &[], f32s([0.5].into_iter()));
    assert_eq!(decode("{}", &[int8, comfy, scale]), [0.5, -64.0, -0.5, 63.5]);
}

/// Without a configuration, names and dtypes tell the layout.
#[test]
fn tensors_alone_tell_most_layouts() {
    let goldens = Goldens::unpack();
    let names = [
        "NVFP4A16",
        "W4A16",
        "awq_gemm",
        "bnb_fp4",
        "bnb_int8",
        "bnb_nf4",
        "bnb_nf4_nested",
        "ct_mixed",
        "ct_pack_odd",
        "deepseek_v3",
        "deepseek_v4",
        "gpt_oss",
        "gptq_v1",
        "gptq_v1_asym",
        "mxfp8_sglang",
        "torchao",
    ];
    for name in names {
        let path = goldens.path(name);
        let decode = || {
            let checkpoint = Checkpoint::open(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
            let mut all = Vec::new();
            for tensor in checkpoint.tensors() {
                let mut values = Vec::new();
                let mut sink = |bytes: &[u8]| {
                    values.extend_from_slice(bytes);
                    Ok(())
                };
                checkpoint.decode(&tensor.name, Float32, &mut sink).unwrap_or_else(|e| panic!("{name}: {e}"));
                all.push((tensor.name.clone(), values));
            }
            (all, checkpoint.layout())
        };
        let with = decode();
        fs::remove_file(path.join("config.json")).expect("a file");
        assert!(with == decode(), "{name}");
    }
}

/// Rules for modules give them other bits and groups, or say that they are not quantized. Rules that contradict each other are refused.
#[test]
fn gptq_has_rules_for_modules() {
    let config = |rules: &str| {
        format!(
            r#"{{"quantization_config":{{"quant_method":"gptq","bits":4,"group_size":-1,"dynamic":{{{rules}}}}}}}"#
        )
    };
    let tensors: [Tensor<'_>; 6] = [
        ("m.up.qweight", Int32, &[2, 4], vec![1; 32]),
        ("m.up.qzeros", Int32, &[2, 1], vec![1; 8]),
        ("m.up.scales", Float32, &[2, 4], f32s([0.5; 8].into_iter())),
        ("m.down.qweight", Int32, &[1, 8], vec![0x33; 32]),
        ("m.down.qzeros", Int32, &[1, 1], vec![0; 4]),
        ("m.down.scales", Float32, &[1, 8], f32s([2.0; 8].into_iter())),
    ];
    let open = |rules: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("config.json"), config(rules)).expect("a file");
        write(&folder.path().join("model.safetensors"), &tensors);
        Checkpoint::open(folder.path()).map(|checkpoint| {
            let read = |name: &str| {
                let mut values = vec![0.0; checkpoint.find(name).expect("a weight").elements()];
                checkpoint.read(name, &mut values).map(|()| values)
            };
            (read("m.up.weight").expect("values"), read("m.down.weight").expect("values"))
        })
    };
    // Zero points are stored less one: 1 - 2 and 3 - 1.
    let want = (vec![-0.5; 32], vec![4.0; 64]);
    for rules in [
        r#""+:.*up$":{"bits":8,"group_size":4}"#,
        r#"".*\\.up":{"bits":8,"group_size":4},"m.up":{"bits":8,"group_size":4},"-:lm_head":{}"#,
    ] {
        assert_eq!(open(rules).unwrap_or_else(|e| panic!("{e}")), want, "{rules}");
    }
    let says = |rules: &str, parts: &[&str]| {
        let error = folder_error(&config(rules), &tensors);
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    };
    says(r#""-:m.down":{}"#, &["\"m.down\" is not quantized", "m.down.qweight"]);
    says(r#""-:m.up":{},"m.down":{}"#, &["\"m.up\" is not quantized", "dynamic", "m.up.qweight"]);
    says(r#""m.up":{"bits":8,"group_size":4},".*up":{"bits":2}"#, &["\"m.up\"", "\".*up\"", "differ"]);
    says(r#""m":{"bits":7}"#, &["config.json", "7 bits"]);
    says(r#""(?!x)":{"bits":8}"#, &["config.json", "(?!x)", "not understood"]);
}

/// The error of opening a checkpoint, or of decoding its tensors.
fn folder_error(config: &str, tensors: &[Tensor<'_>]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("config.json"), config).expect("a file");
    write(&folder.path().join("model.safetensors"), tensors);
    let opened = Checkpoint::open(folder.path());
    let decode = |of: Checkpoint| {
        of.tensors().iter().find_map(|tensor| of.decode(&tensor.name, Float32, &mut |_| Ok(())).err())
    };
    opened.map_or_else(Some, decode).expect("an error").to_string()
}

/// Stacked experts of ModelOpt have no `weight` in their names, and one scale for all or for each.
#[test]
fn stacked_experts_of_fp8_have_one_scale_or_one_each() {
    let config = |algo: &str| {
        format!(
            r#"{{"quantization_config":{{"quant_method":"modelopt","quant_algo":"{algo}","ignore":["*router*"]}}}}"#
        )
    };
    let codes: Tensor<'_> = ("m.experts.up", Float8E4M3FN, &[2, 3, 4], vec![0x38; 24]);
    let inputs: Tensor<'_> = ("m.experts.up_input_scale", Float32, &[], f32s([1.0].into_iter()));
    let read = |shape: &[u64], scales: &[f32]| {
        let scale: Tensor<'_> = ("m.experts.up_weight_scale", Float32, shape, f32s(scales.iter().copied()));
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("config.json"), config("FP8")).expect("a file");
        write(&folder.path().join("model.safetensors"), &[codes.clone(), inputs.clone(), scale]);
        let checkpoint = Checkpoint::open(folder.path()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((checkpoint.tensors().len(), &checkpoint.tensors()[0].shape[..]), (1, &[2, 3, 4][..]));
        let mut values = vec![0.0; 24];
        checkpoint.read("m.experts.up", &mut values).unwrap_or_else(|e| panic!("{e}"));
        values
    };
    same(&read(&[], &[2.0]), |_| 2.0);
    same(&read(&[2, 1, 1], &[2.0, 8.0]), |i| if i < 12 { 2.0 } else { 8.0 });
    let scale: Tensor<'_> = ("m.experts.up_weight_scale", Float8E4M3FN, &[2, 3, 1], vec![0x38; 6]);
    let packed: Tensor<'_> = ("m.experts.up", UInt8, &[2, 3, 8], vec![0; 48]);
    let error = folder_error(&config("NVFP4"), &[packed, scale.clone()]);
    assert!(
        error.contains("stacked experts") && error.contains("NVFP4") && error.contains("m.experts.up"),
        "{error}"
    );
    let other: Tensor<'_> = ("m.experts.up_weight_scale", Float32, &[3], f32s([1.0; 3].into_iter()));
    let error = folder_error(&config("FP8"), &[codes.clone(), other]);
    assert!(error.contains("m.experts.up_weight_scale") && error.contains("[3]"), "{error}");
}

#[test]
fn experts_of_another_dtype_than_declared_are_a_warning() {
    let warnings = |declared: &str| {
        let config = format!(
            r#"{{"expert_dtype":"{declared}","quantization_config":{{"quant_method":"fp8","weight_block_size":[128,128]}}}}"#
        );
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("config.json"), config).expect("a file");
        let codes: Tensor<'_> = ("m.experts.0.w1.weight", Int8, &[1, 16], vec![0x22; 16]);
        let scale: Tensor<'_> = ("m.experts.0.w1.scale", Float8E8M0FNU, &[1, 1], vec![127]);
        write(&folder.path().join("model.safetensors"), &[codes, scale]);
        Checkpoint::open(folder.path()).unwrap_or_else(|e| panic!("{e}")).warnings().to_vec()
    };
    assert!(warnings("fp4").is_empty());
    let [warning] = &warnings("fp8")[..] else { panic!("one warning") };
    assert!(
        warning.contains("config.json")
            && warning.contains("\"fp8\"")
            && warning.contains("m.experts.0.w1.weight"),
        "{warning}"
    );
}
