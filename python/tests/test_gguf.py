"""GGUF: files that `lanecast.checkpoint` writes, and the decoder of the package gguf."""

import pytest
from conftest import package

from lanecast import checkpoint

np = package("numpy")
gguf = package("gguf")

SHAPES = {"blk.0.attn_q.weight": (64, 256), "blk.0.ffn_down.weight": (32, 512), "blk.0.attn_norm.weight": (256,)}


@pytest.fixture(params=[1, 2])
def plain(request, tmp_path):
    """A file of random float32, and its tensors."""
    random = np.random.default_rng(request.param)
    tensors = {name: random.standard_normal(shape).astype(np.float32) for name, shape in SHAPES.items()}
    writer = gguf.GGUFWriter(tmp_path / "plain.gguf", "llama")
    for name, tensor in tensors.items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return tmp_path / "plain.gguf", tensors


def read(path):
    """The tensors of a file as gguf reads and decodes them."""
    tensors = gguf.GGUFReader(path).tensors
    return {tensor.name: (tensor.tensor_type.name, gguf.dequantize(tensor.data, tensor.tensor_type)) for tensor in tensors}


@pytest.mark.parametrize("scheme", ["q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "mxfp4"])
def test_written_blocks(plain, tmp_path, scheme):
    path, tensors = plain
    out = tmp_path / f"{scheme}.gguf"
    checkpoint.quantize(path, out, scheme=scheme, layout="gguf")
    ours, theirs = checkpoint.Checkpoint(out), read(out)
    assert set(ours) == set(theirs) == set(tensors)
    for name, (kind, values) in theirs.items():
        assert kind == ("F32" if "norm" in name else scheme.upper())
        np.testing.assert_array_equal(ours[name].read("float32"), values.reshape(ours[name].shape))


@pytest.mark.parametrize("scheme", ["Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1"])
def test_codes_of_the_package(plain, tmp_path, scheme):
    """Blocks that gguf makes are decoded to the values that gguf decodes, and ours have the same bytes."""
    path, tensors = plain
    kind = gguf.GGMLQuantizationType[scheme]
    checkpoint.quantize(path, tmp_path / "ours.gguf", scheme=scheme.lower(), layout="gguf")
    for tensor in gguf.GGUFReader(tmp_path / "ours.gguf").tensors:
        if tensor.tensor_type == kind:
            want = gguf.quantize(tensors[tensor.name], kind)
            np.testing.assert_array_equal(np.asarray(tensor.data).reshape(want.shape), want)


def test_types_that_are_read_only(tmp_path):
    """Any bytes are blocks of k-quants, if their scales are finite."""
    random = np.random.default_rng(3)
    kinds = [gguf.GGMLQuantizationType[f"{kind}_K"] for kind in ("Q2", "Q3", "Q4", "Q5", "Q6")]
    writer = gguf.GGUFWriter(tmp_path / "k.gguf", "llama")
    for kind in kinds:
        elements, size = gguf.GGML_QUANT_SIZES[kind]
        blocks = random.integers(0, 256, (16, 2, size), np.uint8)
        # Each float16 of a block is below 2: the upper byte is at most 0x3F.
        scales = {"Q2_K": (80, 82), "Q3_K": (108,), "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,)}[kind.name]
        for at in scales:
            blocks[..., at + 1] &= 0x3F
        writer.add_tensor(f"blk.0.{kind.name}.weight", blocks.reshape(16, 2 * size), raw_dtype=kind)
        assert elements == 256
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    ours, theirs = checkpoint.Checkpoint(tmp_path / "k.gguf"), read(tmp_path / "k.gguf")
    assert len(theirs) == len(kinds)
    for name, (_, values) in theirs.items():
        np.testing.assert_array_equal(ours[name].read("float32"), values.reshape(ours[name].shape))
