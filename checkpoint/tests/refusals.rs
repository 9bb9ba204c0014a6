//! Checkpoints that look complete, and whose values would be wrong: an error that names the reason.

use std::{fs, path::Path};

use lanecast::DType::{
    self, Float4E2M1FN, Float8E4M3FN, Float8E5M2, Float8E8M0FNU, Float32, Int8, Int32, Int64, UInt8, UInt32,
};
use lanecast_checkpoint::{Callbacks, Checkpoint, Options, dequantize};
use lanecast_files::{NewTensor, save};
use tempfile::TempDir;

use crate::common::{is_reported, write};

type Tensor<'t> = (&'t str, DType, &'t [u64], Vec<u8>);

/// A folder with a configuration and `model.safetensors`.
fn folder(config: &str, tensors: &[Tensor<'_>]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("config.json"), config).expect("a file");
    write(&folder.path().join("model.safetensors"), tensors);
    folder
}

/// The error of opening a checkpoint, or of decoding its tensors, has these parts.
#[track_caller]
fn says(path: &Path, parts: &[&str]) {
    let error = match Checkpoint::open(path) {
        Err(error) => {
            is_reported(path, &error);
            error.to_string()
        }
        Ok(checkpoint) => {
            let decode = |name: &str| checkpoint.decode(name, Float32, &mut |_| Ok(()));
            let errors: Vec<_> =
                checkpoint.tensors().iter().filter_map(|tensor| decode(&tensor.name).err()).collect();
            assert!(!errors.is_empty(), "{:?} decode", checkpoint.tensors());
            is_reported(path, &errors[0]);
            errors[0].to_string()
        }
    };
    assert!(parts.iter().all(|part| error.contains(part)), "{error}");
}

fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A file of one weight of torchao, with these names of tensors and these members of `_data`.
fn torchao(names: &str, data: &str, more: &[Tensor<'_>]) -> TempDir {
    let class = format!(
        r#"{{"_type":"Int8Tensor","_data":{{"block_size":[1,2]{data}}},"_tensor_data_names":[{names}]}}"#
    );
    let metadata = [("tensor_names", r#"["m.up.weight"]"#), ("m.up.weight", &class)]
        .map(|(key, text)| (key.to_owned(), text.to_owned()));
    let codes: Tensor<'_> = ("m.up._weight_qdata", Int8, &[2, 2], vec![1, 2, 3, 4]);
    let scale: Tensor<'_> = ("m.up._weight_scale", Float32, &[2, 1], f32s(&[1.0, 2.0]));
    let tensors = [&[codes, scale], more].concat();
    let tensors: Vec<NewTensor<'_>> = tensors
        .iter()
        .map(|(name, dtype, shape, data)| NewTensor { name, dtype: *dtype, shape, data })
        .collect();
    let folder = tempfile::tempdir().expect("a folder");
    save(&folder.path().join("model.safetensors"), &tensors, &metadata, false).expect("a file");
    folder
}

#[test]
fn tensors_of_torchao_are_known_and_complete() {
    let names = r#""qdata","scale""#;
    let pre: Tensor<'_> = ("m.up._weight_act_pre_scale", Float32, &[2], f32s(&[2.0, 4.0]));
    let of = |name: &str| format!("{names},\"{name}\"");
    says(
        torchao(&of("act_pre_scale"), "", std::slice::from_ref(&pre)).path(),
        &["act_pre_scale", "m.up._weight_qdata"],
    );
    says(torchao(names, "", &[pre]).path(), &["act_pre_scale", "m.up._weight_qdata"]);
    says(torchao(&of("steps"), "", &[]).path(), &["\"steps\"", "m.up._weight_qdata"]);
    says(torchao(&of("zero_point"), "", &[]).path(), &["m.up._weight_zero_point", "missing"]);
    says(torchao(names, r#","is_swizzled_scales":true"#, &[]).path(), &["is_swizzled_scales"]);
    let activation: Tensor<'_> = ("m.up._weight_act_quant_scale", Float32, &[], f32s(&[8.0]));
    let folder = torchao(&of("act_quant_scale"), r#","is_swizzled_scales":false"#, &[activation]);
    let checkpoint = Checkpoint::open(folder.path()).unwrap_or_else(|e| panic!("{e}"));
    let mut values = [0.0_f32; 4];
    checkpoint.read("m.up.weight", &mut values).expect("values");
    assert_eq!((values, checkpoint.tensors().len()), ([1.0, 2.0, 6.0, 8.0], 1));
}

const FP8: &str = r#"{"quantization_config":{"quant_method":"fp8"}}"#;

/// Norms of queries and keys have names that scales of activations have.
#[test]
fn weights_called_scales_are_kept() {
    let scale = |name| -> Tensor<'static> { (name, Float32, &[4], f32s(&[1.0, 2.0, 3.0, 4.0])) };
    let plain = folder("{}", &[scale("l.0.attn.q_scale"), scale("l.0.attn.q_proj.weight")]);
    let checkpoint = Checkpoint::open(&plain.path().join("model.safetensors")).expect("a checkpoint");
    let mut values = [0.0_f32; 4];
    checkpoint.read("l.0.attn.q_scale", &mut values).expect("values");
    assert_eq!((values, checkpoint.tensors().len()), ([1.0, 2.0, 3.0, 4.0], 2));
    assert_eq!((checkpoint.layout(), checkpoint.warnings().len()), ("plain", 0));

    let one = |name| -> Tensor<'static> { (name, Float32, &[], f32s(&[1.0])) };
    let quantized = folder(
        FP8,
        &[
            ("l.0.attn.q_proj.weight", Float8E4M3FN, &[2, 4], vec![0x38; 8]),
            one("l.0.attn.q_proj.weight_scale"),
            ("l.0.attn.q_proj.input_scale", Float32, &[2, 1], f32s(&[1.0, 1.0])),
            scale("l.0.attn.q_proj.output_scale"),
            scale("l.0.attn.q_scale"),
            one("l.0.attn.k_scale"),
            ("l.0.attn.v_scale", Int8, &[1], vec![1]),
        ],
    );
    let new = tempfile::tempdir().expect("a folder");
    let out = new.path().join("out");
    let report =
        dequantize(quantized.path(), &out, &Options::to(Float32), Callbacks::default()).expect("a report");
    assert_eq!((report.tensors_decoded, report.tensors_copied, report.tensors_dropped), (1, 3, 3));
    let checkpoint = Checkpoint::open(&out).expect("a checkpoint");
    checkpoint.read("l.0.attn.q_scale", &mut values).expect("values");
    assert_eq!(values, [1.0, 2.0, 3.0, 4.0]);
    for name in ["attn.q_scale", "q_proj.output_scale", "attn.v_scale"] {
        assert_eq!(report.warnings.iter().filter(|warning| warning.contains(name)).count(), 1, "{name}");
    }
}

/// A configuration of compressed-tensors with one group.
fn compressed(format: &str, weights: &str) -> String {
    format!(
        r#"{{"quantization_config":{{"quant_method":"compressed-tensors","format":"{format}","config_groups":{{"a":{{"targets":["Linear"],"weights":{{{weights}}}}}}}}}}}"#
    )
}

/// Tensors beside the codes that the format does not have, and whose values would be ignored.
#[test]
fn companions_of_other_formats_are_leftovers() {
    let wrong = |config: &str, codes: &Tensor<'_>, scale: &Tensor<'_>, other: Tensor<'_>| {
        assert!(Checkpoint::open(folder(config, &[codes.clone(), scale.clone()]).path()).is_ok());
        let name = other.0;
        says(folder(config, &[codes.clone(), scale.clone(), other]).path(), &[name, "belongs to no weight"]);
    };
    let fp8: Tensor<'_> = ("m.up.weight", Float8E4M3FN, &[2, 32], vec![0x38; 64]);
    let int8: Tensor<'_> = ("m.up.weight", Int8, &[2, 32], vec![1; 64]);
    let rows: Tensor<'_> = ("m.up.weight_scale", Float32, &[2, 1], f32s(&[1.0, 2.0]));
    let bytes: Tensor<'_> = ("m.up.weight_scale", UInt8, &[2, 1], vec![127; 2]);
    let groups: Tensor<'_> = ("m.up.weight_g_idx", Int32, &[32], vec![0; 128]);
    let zeros: Tensor<'_> = ("m.up.weight_zero_point", Int8, &[2, 1], vec![1; 2]);
    let global: Tensor<'_> = ("m.up.weight_global_scale", Float32, &[1], f32s(&[2.0]));
    let channel = r#""strategy":"channel""#;
    for (format, codes) in [("float-quantized", &fp8), ("int-quantized", &int8)] {
        let config = compressed(format, channel);
        wrong(&config, codes, &rows, groups.clone());
        wrong(&config, codes, &rows, global.clone());
    }
    wrong(&compressed("float-quantized", channel), &fp8, &rows, zeros.clone());
    wrong(&compressed("mxfp8-quantized", ""), &fp8, &bytes, zeros);
    wrong(&compressed("mxfp8-quantized", ""), &fp8, &bytes, global);
    let modelopt = r#"{"quantization_config":{"quant_method":"modelopt","quant_algo":"FP8"}}"#;
    let one: Tensor<'_> = ("m.up.weight_scale", Float32, &[], f32s(&[1.0]));
    wrong(modelopt, &fp8, &one, ("m.up.weight_scale_2", Float32, &[], f32s(&[2.0])));
}

/// Groups of any order need the tensor that lists them.
#[test]
fn ordered_groups_need_their_list() {
    let gptq = |ordered: bool| {
        format!(
            r#"{{"quantization_config":{{"quant_method":"gptq","bits":8,"group_size":4,"desc_act":{ordered}}}}}"#
        )
    };
    let tensors: [Tensor<'_>; 3] = [
        ("m.up.qweight", Int32, &[2, 4], vec![1; 32]),
        ("m.up.qzeros", Int32, &[2, 1], vec![1; 8]),
        ("m.up.scales", Float32, &[2, 4], f32s(&[1.0; 8])),
    ];
    assert!(Checkpoint::open(folder(&gptq(false), &tensors).path()).is_ok());
    says(folder(&gptq(true), &tensors).path(), &["m.up.qweight", "m.up.g_idx", "missing"]);

    let pack = |order: &str| {
        let weights =
            format!(r#""num_bits":8,"type":"int","strategy":"group","group_size":4,"actorder":{order}"#);
        compressed("pack-quantized", &weights)
    };
    let shape = [2_i64, 8].iter().flat_map(|n| n.to_le_bytes()).collect();
    let tensors: [Tensor<'_>; 3] = [
        ("m.up.weight_packed", Int32, &[2, 2], vec![1; 16]),
        ("m.up.weight_scale", Float32, &[2, 2], f32s(&[1.0; 4])),
        ("m.up.weight_shape", Int64, &[2], shape),
    ];
    for order in ["null", "\"static\"", "\"weight\"", "false"] {
        assert!(Checkpoint::open(folder(&pack(order), &tensors).path()).is_ok(), "{order}");
    }
    for order in ["\"group\"", "true"] {
        says(folder(&pack(order), &tensors).path(), &["m.up.weight_packed", "m.up.weight_g_idx", "missing"]);
    }
}

/// A bias says how many rows of a padded weight there are, if they are padded to that many.
#[test]
fn a_bias_cuts_only_padding() {
    let nvfp4 = |rows: u64| {
        let text = br#"{"format":"nvfp4"}"#;
        let bias: Tensor<'_> = ("m.up.bias", Float32, &[20], vec![0; 80]);
        let tensors: [(&str, DType, Vec<u64>, Vec<u8>); 4] = [
            ("m.up.weight", UInt8, vec![rows, 8], vec![0x22; 8 * rows as usize]),
            ("m.up.comfy_quant", UInt8, vec![text.len() as u64], text.to_vec()),
            ("m.up.weight_scale", Float8E4M3FN, vec![128, 4], vec![0x38; 512]),
            ("m.up.weight_scale_2", Float32, vec![], f32s(&[1.0])),
        ];
        let tensors =
            tensors.iter().map(|(name, dtype, shape, data)| (*name, *dtype, &shape[..], data.clone()));
        folder("{}", &tensors.chain([bias]).collect::<Vec<_>>())
    };
    let padded = nvfp4(32);
    let checkpoint = Checkpoint::open(padded.path()).expect("a checkpoint");
    assert_eq!(checkpoint.find("m.up.weight").expect("a weight").shape, [20, 16]);
    let warning = &checkpoint.warnings()[0];
    assert!(warning.contains("m.up.weight") && warning.contains("16 columns"), "{warning}");
    for rows in [16, 48, 128] {
        says(nvfp4(rows).path(), &["m.up.bias", "[20]", "m.up.weight", &format!("{rows} rows")]);
    }
}

/// The metadata of ComfyUI has a version.
#[test]
fn metadata_of_comfyui_has_a_known_version() {
    let tensors = [
        NewTensor { name: "m.up.weight", dtype: Float8E4M3FN, shape: &[1, 4], data: &[0x38; 4] },
        NewTensor { name: "m.up.weight_scale", dtype: Float32, shape: &[], data: &1_f32.to_le_bytes() },
    ];
    let root = tempfile::tempdir().expect("a folder");
    let path = root.path().join("model.safetensors");
    let write = |text: &str| {
        let metadata = [("_quantization_metadata".to_owned(), text.to_owned())];
        save(&path, &tensors, &metadata, true).expect("a file");
    };
    let layers = r#""layers": {"m.up": {"format": "float8_e4m3fn"}}"#;
    for version in [r#""format_version": "1.0", "#, ""] {
        write(&format!("{{{version}{layers}}}"));
        assert_eq!(Checkpoint::open(&path).expect("a checkpoint").layout(), "ComfyUI");
    }
    for version in [r#""2.0""#, r#""1.1""#, "1", "null"] {
        write(&format!(r#"{{"format_version": {version}, {layers}}}"#));
        says(&path, &["model.safetensors", "format_version", version, r#""1.0" is"#]);
    }
    write(r#"{"format_version": "1.0"}"#);
    says(&path, &["_quantization_metadata", "layers"]);
}

/// Experts of DeepSeek V4 are 4-bit floats, whatever integers they are declared as.
#[test]
fn experts_of_4_bits_have_three_dtypes() {
    let scale: Tensor<'_> = ("m.up.scale", Float8E8M0FNU, &[1, 2], vec![128, 126]);
    let experts = |dtype, cols: u64| {
        let codes: Tensor<'_> = ("m.up.weight", dtype, &[1, cols], vec![0x42; 32]);
        let folder = folder(FP8, &[codes, scale.clone()]);
        let checkpoint = Checkpoint::open(folder.path()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((checkpoint.layout(), checkpoint.tensors().len()), ("block fp8", 1));
        let mut values = [0.0_f32; 64];
        checkpoint.read("m.up.weight", &mut values).expect("values");
        values
    };
    // 1 and 2, times 2 and 0.5.
    let want: [f32; 64] = std::array::from_fn(|i| [1.0, 2.0][i % 2] * [2.0, 0.5][i / 32]);
    assert_eq!([experts(Int8, 32), experts(UInt8, 32), experts(Float4E2M1FN, 64)], [want; 3]);

    let bytes: Tensor<'_> = ("m.up.weight", UInt8, &[1, 4], vec![0x42; 4]);
    let one: Tensor<'_> = ("m.up.scale", Float32, &[], f32s(&[1.0]));
    says(folder(FP8, &[bytes, one]).path(), &["m.up.weight", "powers of two"]);
}

#[test]
fn scales_and_codes_alone_are_leftovers() {
    let weight: Tensor<'_> = ("m.up.weight", Float8E4M3FN, &[1, 32], vec![0x38; 32]);
    let one: Tensor<'_> = ("m.up.weight_scale", Float32, &[], f32s(&[1.0]));
    let wrong = |config: &str, tensor: Tensor<'_>, what: &str| {
        let (name, tensors) = (tensor.0, [weight.clone(), one.clone(), tensor]);
        let some = if config == FP8 { &tensors[..] } else { &tensors[2..] };
        says(folder(config, some).path(), &[name, what]);
    };
    wrong(FP8, ("m.down.exponents", Float8E8M0FNU, &[1, 2], vec![127; 2]), "belongs to no weight");
    wrong(FP8, ("m.down.codes", Float4E2M1FN, &[1, 4], vec![0; 2]), "need scales");
    for (method, name) in [("gptq", "m.up.scales"), ("awq", "m.up.scales"), ("mxfp4", "m.up_scales")] {
        let config = format!(r#"{{"quantization_config":{{"quant_method":"{method}"}}}}"#);
        wrong(&config, (name, UInt8, &[2], vec![0; 2]), "belongs to no weight");
    }
    let gptq = r#"{"quantization_config":{"quant_method":"gptq"}}"#;
    wrong(gptq, ("m.up.codes", Float4E2M1FN, &[1, 4], vec![0; 2]), "4-bit floats without scales");
}

/// Without an index, names of files say how many there are.
#[test]
fn all_files_of_a_numbered_checkpoint_are_needed() {
    let folder = tempfile::tempdir().expect("a folder");
    let shard = |name: &str| {
        let tensor = format!("{name}.norm");
        write(&folder.path().join(name), &[(&*tensor, Float32, &[1], f32s(&[1.0]))]);
    };
    shard("model-00001-of-000003.safetensors");
    shard("model-00003-of-000003.safetensors");
    says(folder.path(), &["model-00001-of-000003.safetensors", "\"model-00002-of-000003.safetensors\""]);
    let one = Checkpoint::open(&folder.path().join("model-00003-of-000003.safetensors")).expect("a file");
    assert_eq!((one.tensors().len(), one.warnings().len()), (1, 1));
    assert!(one.warnings()[0].contains("only this file of 3"), "{}", one.warnings()[0]);
    shard("model-00002-of-000003.safetensors");
    let checkpoint = Checkpoint::open(folder.path()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((checkpoint.tensors().len(), checkpoint.warnings().len()), (3, 0));
}

#[test]
fn weights_that_are_not_read_are_a_warning() {
    let folder = folder("{}", &[("m.norm", Float32, &[1], f32s(&[1.0]))]);
    fs::create_dir(folder.path().join("sub")).expect("a folder");
    for name in ["adapter.safetensors", "sub/model.safetensors", "consolidated.safetensors"] {
        fs::write(folder.path().join(name), "x").expect("a file");
    }
    let checkpoint = Checkpoint::open(folder.path()).expect("a checkpoint");
    let [warning] = checkpoint.warnings() else { panic!("{:?}", checkpoint.warnings()) };
    assert!(warning.contains("2 .safetensors files"), "{warning}");
    assert!(warning.contains("\"adapter.safetensors\", \"sub/model.safetensors\""), "{warning}");
}

#[test]
fn values_are_made_of_finite_numbers() {
    let check = |config: &str, tensors: &[Tensor<'_>], parts: &[&str]| {
        let folder = folder(config, tensors);
        says(folder.path(), parts);
        let allowed = Checkpoint::open(folder.path()).expect("a checkpoint").with_nan_allowed();
        allowed.decode("m.up.weight", Float32, &mut |_| Ok(())).expect("values");
    };
    let codes: Tensor<'_> = ("m.up.weight", Float8E4M3FN, &[1, 4], vec![0; 4]);
    for (value, text) in [(f32::INFINITY, "inf"), (f32::NAN, "NaN")] {
        let scale: Tensor<'_> = ("m.up.weight_scale", Float32, &[], f32s(&[value]));
        check(FP8, &[codes.clone(), scale], &["m.up.weight_scale", "(0, 0)", text]);
        let mlx: [Tensor<'_>; 3] = [
            ("m.up.weight", UInt32, &[1, 8], vec![1; 32]),
            ("m.up.scales", Float32, &[1, 1], f32s(&[1.0])),
            ("m.up.biases", Float32, &[1, 1], f32s(&[value])),
        ];
        check(r#"{"quantization":{"group_size":32,"bits":8}}"#, &mlx, &["m.up.biases", "bias", text]);
        let state = br#"{"quant_type":"nf4","blocksize":64,"shape":[1,4]}"#;
        let mut map = [0.5; 16];
        map[3] = value;
        let nf4: [Tensor<'_>; 4] = [
            ("m.up.weight", UInt8, &[2, 1], vec![0x33; 2]),
            ("m.up.weight.absmax", Float32, &[1], f32s(&[1.0])),
            ("m.up.weight.quant_map", Float32, &[16], f32s(&map)),
            ("m.up.weight.quant_state.bitsandbytes__nf4", UInt8, &[state.len() as u64], state.to_vec()),
        ];
        check("{}", &nf4, &["m.up.weight", "entry 3", text]);
    }
}

/// A transposed companion has as many bytes.
#[test]
fn companions_have_the_right_shape() {
    let gptq = r#"{"quantization_config":{"quant_method":"gptq","bits":8,"group_size":4}}"#;
    let part = |zeros: &'static [u64], groups: &'static [u64]| -> [Tensor<'static>; 4] {
        [
            ("m.up.qweight", Int32, &[2, 12], vec![1; 96]),
            ("m.up.qzeros", Int32, zeros, vec![1; 24]),
            ("m.up.scales", Float32, &[2, 12], f32s(&[1.0; 24])),
            ("m.up.g_idx", Int32, groups, vec![0; 32]),
        ]
    };
    assert!(Checkpoint::open(folder(gptq, &part(&[2, 3], &[8, 1])).path()).is_ok());
    says(folder(gptq, &part(&[3, 2], &[8])).path(), &["m.up.qzeros", "[3, 2]", "[2, 3]", "m.up.qweight"]);
    says(folder(gptq, &part(&[2, 3], &[2, 4])).path(), &["m.up.g_idx", "[2, 4]", "[8]"]);

    let int8 = compressed("int-quantized", r#""strategy":"group","group_size":4"#);
    let part = |zeros: &'static [u64]| -> [Tensor<'static>; 3] {
        [
            ("m.up.weight", Int8, &[2, 12], vec![1; 24]),
            ("m.up.weight_scale", Float32, &[2, 3], f32s(&[1.0; 6])),
            ("m.up.weight_zero_point", Int8, zeros, vec![1; 6]),
        ]
    };
    assert!(Checkpoint::open(folder(&int8, &part(&[2, 3])).path()).is_ok());
    says(folder(&int8, &part(&[3, 2])).path(), &["m.up.weight_zero_point", "[3, 2]", "[2, 3]"]);
}

/// Bytes are powers of two only where the layout has such scales.
#[test]
fn scales_have_the_dtype_of_the_layout() {
    let wrong = |config: &str, codes: &Tensor<'_>, dtype: DType, shape: &'static [u64], text: &str| {
        let bytes = vec![0; shape.iter().product::<u64>() as usize * dtype.size()];
        let scale: Tensor<'_> = ("m.up.weight_scale", dtype, shape, bytes);
        says(folder(config, &[codes.clone(), scale]).path(), &["m.up.weight_scale", "must be", text]);
    };
    let fp8: Tensor<'_> = ("m.up.weight", Float8E4M3FN, &[2, 32], vec![0x38; 64]);
    let bytes: Tensor<'_> = ("m.up.weight", UInt8, &[2, 16], vec![0x22; 32]);
    let modelopt = |algo: &str| {
        format!(r#"{{"quantization_config":{{"quant_method":"modelopt","quant_algo":"{algo}"}}}}"#)
    };
    wrong(&modelopt("FP8"), &fp8, UInt8, &[], "float32");
    wrong(&modelopt("FP8_PER_CHANNEL_PER_TOKEN"), &fp8, UInt8, &[2], "float32");
    wrong(&modelopt("FP8_PB_WO"), &fp8, Float8E8M0FNU, &[], "float32");
    wrong(&modelopt("MXFP8"), &fp8, Float32, &[2, 1], "float8_e8m0fnu");
    wrong(&modelopt("MXFP4"), &bytes, Float8E4M3FN, &[2, 1], "float8_e8m0fnu");
    wrong(&compressed("float-quantized", r#""strategy":"channel""#), &fp8, UInt8, &[2, 1], "float32");

    let text = br#"{"format":"float8_e4m3fn"}"#;
    let comfy: Tensor<'_> = ("m.up.comfy_quant", UInt8, &[text.len() as u64], text.to_vec());
    let one: Tensor<'_> = ("m.up.weight_scale", Float32, &[], f32s(&[1.0]));
    let e5m2: Tensor<'_> = ("m.up.weight", Float8E5M2, &[1, 4], vec![0x38; 4]);
    says(folder("{}", &[e5m2, comfy, one]).path(), &["m.up.weight", "must be float8_e4m3fn"]);

    let nvfp4 = r#"{"_type":"NVFP4Tensor","_data":{"block_size":16},"_tensor_data_names":["qdata","scale"]}"#;
    let metadata = [("tensor_names", r#"["m.up.weight"]"#), ("m.up.weight", nvfp4)]
        .map(|(key, text)| (key.to_owned(), text.to_owned()));
    let codes = NewTensor { name: "m.up._weight_qdata", dtype: UInt8, shape: &[2, 8], data: &[0; 16] };
    let scale = NewTensor { name: "m.up._weight_scale", dtype: UInt8, shape: &[2, 1], data: &[0; 2] };
    let folder = tempfile::tempdir().expect("a folder");
    save(&folder.path().join("model.safetensors"), &[codes, scale], &metadata, false).expect("a file");
    says(folder.path(), &["m.up._weight_scale", "must be float8_e4m3fn"]);
}

/// Without a configuration nothing says what the shapes imply but they.
#[test]
fn shapes_are_the_evidence_without_a_configuration() {
    let tensors: [Tensor<'_>; 4] = [
        ("m.up.qweight", Int32, &[2, 4], vec![1; 32]),
        ("m.up.qzeros", Int32, &[1, 1], vec![1; 4]),
        ("m.up.scales", Float32, &[1, 4], f32s(&[1.0; 4])),
        ("m.up.g_idx", Int32, &[9], vec![0; 36]),
    ];
    let alone = folder("{}", &tensors);
    says(alone.path(), &["the shapes of the tensors imply 7 bits", "m.up.qweight"]);
    let mlx: [Tensor<'_>; 3] = [
        ("m.up.weight", UInt32, &[1, 8], vec![1; 32]),
        ("m.up.scales", Float32, &[1, 1], f32s(&[1.0])),
        ("m.up.biases", Float32, &[1, 1], f32s(&[1.0])),
    ];
    let skipped = folder(r#"{"quantization":{"group_size":32,"bits":8,"m.up":false}}"#, &mlx);
    says(skipped.path(), &["config.json says", "\"m.up\" is not quantized", "m.up.weight"]);
    let gptq = folder(r#"{"quantization_config":{"quant_method":"gptq","bits":8}}"#, &tensors);
    says(gptq.path(), &["config.json says 8 bits", "m.up.qweight"]);
}
