//! A part of a transposed weight has the values of the whole one.

use lanecast::DType;

use crate::{
    Checkpoint,
    write::divisions::{Random, write},
};

/// Experts of gpt-oss with short and with long rows: pieces of columns are read together, and one by one.
#[test]
fn columns_of_experts_are_those_of_the_plain_decoder() {
    let mut random = Random(7);
    for [outputs, blocks] in [[40_u64, 9], [3, 300]] {
        let shape = [2, outputs, blocks];
        let count = (2 * outputs * blocks) as usize;
        let codes = random.bytes(16 * count);
        // Powers of two that every target holds.
        let scales: Vec<u8> = random.bytes(count).iter().map(|byte| 120 + byte % 16).collect();
        let (with_16, folder) = ([&shape[..], &[16]].concat(), tempfile::tempdir().expect("a folder"));
        let tensors = [("x_blocks", &with_16[..], &codes), ("x_scales", &shape[..], &scales)];
        let tensors = tensors.map(|(name, shape, data)| lanecast_files::NewTensor {
            name,
            dtype: DType::UInt8,
            shape,
            data,
        });
        write(folder.path(), &tensors, r#"{"quantization_config": {"quant_method": "mxfp4"}}"#);
        let checkpoint = Checkpoint::open(folder.path()).expect("a checkpoint");
        let (tensor, content) = checkpoint.content("x").expect("a weight");
        let n = tensor.elements();
        assert_eq!(n, 32 * count);
        for to in [DType::BFloat16, DType::Float32] {
            let decode = |plainly, range| {
                let mut out = Vec::new();
                let mut sink = |bytes: &[u8]| {
                    out.extend_from_slice(bytes);
                    Ok(())
                };
                checkpoint.decode_range(content, to, plainly, range, &mut sink).expect("values");
                out
            };
            let whole = decode(true, 0..n);
            assert_eq!(decode(false, 0..n), whole, "{to}");
            for _ in 0..20 {
                let (a, b) = (random.below(n as u64) as usize, random.below(n as u64) as usize);
                let range = a.min(b)..a.max(b);
                let bytes = to.size() * range.start..to.size() * range.end;
                assert_eq!(decode(false, range.clone()), whole[bytes], "{to} {range:?}");
            }
        }
    }
}
