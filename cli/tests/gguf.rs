//! The package `gguf` of llama.cpp reads what the program writes, and makes the same blocks and values.

use crate::common::{Folder, good, python};

/// Writes `in.gguf`: tensors that are quantized and tensors that stay, and metadata of many types.
const WRITE: &str = "
import gguf, numpy as np
random = np.random.default_rng(11)
out = gguf.GGUFWriter('in.gguf', 'llama')
out.add_custom_alignment(64)
out.add_file_type(0)
out.add_float32('a.float', 0.1)
out.add_int8('a.byte', -3)
out.add_array('a.list', ['x', 'yz'])
out.add_bool('a.flag', True)
for name, shape in [('token_embd.weight', (7, 256)), ('blk.0.attn_norm.weight', (256,)), ('blk.0.attn_q.weight', (5, 128)),
                    ('blk.0.ffn_gate_inp.weight', (2, 256)), ('blk.0.ffn_up_exps.weight', (3, 4, 64)), ('blk.0.odd.weight', (3, 33))]:
    # All magnitudes, and blocks of zeros.
    values = random.standard_normal(shape).astype(np.float32) * np.exp2(random.integers(-9, 3, shape)).astype(np.float32)
    values.reshape(-1)[:64] = 0
    out.add_tensor(name, values)
out.write_header_to_file()
out.write_kv_data_to_file()
out.write_tensors_to_file()
out.close()
";

/// Compares `out.gguf`, of the type SCHEME, and `back.gguf`, its float32 values, with `in.gguf`.
const COMPARE: &str = "
import gguf, numpy as np
kind = gguf.GGMLQuantizationType['SCHEME']
plain, out, back = (gguf.GGUFReader(name) for name in ('in.gguf', 'out.gguf', 'back.gguf'))
changed = ('token_embd.weight', 'blk.0.attn_q.weight', 'blk.0.ffn_up_exps.weight')
assert [t.name for t in out.tensors] == [t.name for t in plain.tensors] == [t.name for t in back.tensors]
for old, new, decoded in zip(plain.tensors, out.tensors, back.tensors):
    assert list(old.shape) == list(new.shape) == list(decoded.shape), new.name
    assert new.data_offset % 64 == 0
    if old.name in changed:
        assert new.tensor_type == kind, new.name
        values = gguf.dequantize(new.data, kind)
        assert values.tobytes() == decoded.data.tobytes(), new.name
        try:
            blocks = gguf.quantize(old.data, kind)
        except NotImplementedError:
            continue
        assert blocks.tobytes() == new.data.tobytes(), new.name
    else:
        assert new.tensor_type == decoded.tensor_type == gguf.GGMLQuantizationType.F32, new.name
        assert old.data.tobytes() == new.data.tobytes() == decoded.data.tobytes(), new.name
for reader, file_type in ((out, FILE_TYPE), (back, 0)):
    of = lambda reader: {key: (field.types, [part.tolist() for part in field.parts]) for key, field in reader.fields.items()
                         if not key.startswith('GGUF.') and key not in ('general.file_type', 'general.quantization_version')}
    assert of(reader) == of(plain)
    assert reader.get_field('general.file_type').contents() == file_type
    assert reader.get_field('general.quantization_version').contents() == gguf.GGML_QUANT_VERSION
print('compared', len(changed))
";

#[test]
fn the_package_gguf_reads_what_is_written() {
    let Some(python) = python::gguf("GGUF files by the package gguf") else { return };
    let folder = Folder::new();
    let path = folder.path();
    python::run(&python, path, WRITE);
    for (scheme, file_type) in
        [("q8_0", 7), ("q4_0", 2), ("q4_1", 3), ("q5_0", 8), ("q5_1", 9), ("mxfp4", 38), ("nvfp4", 39)]
    {
        let to =
            ["quantize", "in.gguf", "out.gguf", "--layout", "gguf", "--force", "--json", "--scheme", scheme];
        good(folder.run(&to));
        good(folder.run(&["dequantize", "out.gguf", "back.gguf", "--to", "float32", "--force"]));
        let script =
            COMPARE.replace("SCHEME", &scheme.to_uppercase()).replace("FILE_TYPE", &file_type.to_string());
        assert_eq!(python::run(&python, path, &script), "compared 3\n", "{scheme}");
    }
}
