"""Tensor files, and the ONNX operator Cast."""

import pathlib

import pytest
from conftest import optional, package

import lanecast

np = package("numpy")
ml_dtypes = optional("ml_dtypes")

WEIGHTS = pathlib.Path(__file__).parents[2] / "examples/data/silero-vad-conv.safetensors"


def test_safetensors(tmp_path):
    path = tmp_path / "x.safetensors"
    arrays = {
        "plain": np.arange(6, dtype=np.float32).reshape(2, 3),
        "turned": np.arange(6, dtype=np.int16).reshape(2, 3).T,
        "big": np.arange(3, dtype=">f8"),
        "empty": np.zeros((0, 4), np.int8),
        "0-d": np.array(2.5, np.float16),
    }
    lanecast.save(path, arrays, metadata={"format": "pt"})
    with lanecast.File(path) as file:
        assert list(file) and set(file) == set(arrays) and len(file) == 5 and "plain" in file
        assert file.metadata == {"format": "pt"}
        for name, array in arrays.items():
            tensor = file[name]
            assert (tensor.name, tensor.shape, tensor.dtype.numpy) == (name, array.shape, array.dtype.newbyteorder("="))
            assert tensor.nbytes == array.nbytes
            np.testing.assert_array_equal(tensor.numpy(), array)
            np.testing.assert_array_equal(tensor.astype("int32"), array.astype(np.int32))
        mapped = file["plain"].numpy()
        assert not mapped.flags.writeable and not mapped.flags.owndata
        assert file["plain"].count_losses("int8", check="exact").is_clean
        assert "plain" in repr(file["plain"]) and "5 tensors" in repr(file)
        with pytest.raises(KeyError):
            file["nothing"]
        with pytest.raises(lanecast.LossError):
            lanecast.File(path)["0-d"].astype("int8", check="exact")
    np.testing.assert_array_equal(mapped, arrays["plain"])
    with pytest.raises(ValueError, match="closed"):
        file["plain"].numpy()
    with pytest.raises(FileExistsError, match="output exists: .*x.safetensors: pass overwrite=True to replace it"):
        lanecast.save(path, arrays)
    lanecast.save(path, {"one": arrays["plain"]}, overwrite=True)
    assert list(lanecast.File(path)) == ["one"]


def test_small_dtypes(tmp_path):
    codes = np.array([0.5, 1, 1.5, -2, 6, 3], np.float32)
    arrays = {"bf16": codes.astype(ml_dtypes.bfloat16), "f8": codes.astype(ml_dtypes.float8_e4m3fn), "f4": codes.astype(ml_dtypes.float4_e2m1fn)}
    path = tmp_path / "x.safetensors"
    lanecast.save(path, arrays)
    file = lanecast.File(path)
    assert file["f4"].nbytes == 3 and file["f8"].nbytes == 6
    for name, array in arrays.items():
        assert file[name].numpy().dtype == array.dtype
        assert file[name].astype("float32").tolist() == codes.tolist()


def test_npy_and_npz(tmp_path):
    x = np.arange(24, dtype=">i4").reshape(2, 3, 4)
    np.save(tmp_path / "x.npy", np.asfortranarray(x))
    (tensor,) = lanecast.File(tmp_path / "x.npy").values()
    assert tensor.numpy().flags.f_contiguous and tensor.dtype is lanecast.int32
    np.testing.assert_array_equal(tensor.astype("float32"), x)
    np.savez(tmp_path / "plain.npz", x=x, y=x[0])
    np.savez_compressed(tmp_path / "small.npz", x=x, y=x[0])
    for name in "plain.npz", "small.npz":
        file = lanecast.File(tmp_path / name)
        assert set(file) == {"x", "y"} or set(file) == {"x.npy", "y.npy"}
        np.testing.assert_array_equal(next(iter(file.values())).astype("int8"), x)
    lanecast.save(tmp_path / "y.npz", {"a": x, "b": x.T})
    with np.load(tmp_path / "y.npz") as loaded:
        np.testing.assert_array_equal(loaded["a"], x)
        np.testing.assert_array_equal(loaded["b"], x.T)
    lanecast.save(tmp_path / "y.npy", {"": x})
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), x)


def test_quantized_checkpoints(tmp_path):
    """Codes and scales are cast only if that is allowed."""
    path = tmp_path / "x.safetensors"
    plain, scale = np.ones(4, np.float32), np.ones((2, 1), np.float32)
    lanecast.save(path, {"up.weight": np.ones((2, 4), np.uint8), "up.weight_scale": scale, "norm.weight": plain})
    with lanecast.File(path) as file:
        for name in ["up.weight", "up.weight_scale"]:
            with pytest.raises(lanecast.FormatError, match="up.weight_scale.*allow_quantized"):
                file[name].astype("float16")
            assert file[name].astype("float16", allow_quantized=True).dtype == np.float16
            assert (file[name].numpy() == 1).all()
        assert file["norm.weight"].astype("float16").dtype == np.float16
    (tmp_path / "config.json").write_text('{"quantization_config": {"quant_method": "fp8"}}')
    lanecast.save(path, {"norm.weight": plain}, overwrite=True)
    with lanecast.File(path) as file, pytest.raises(lanecast.FormatError, match='quant_method "fp8"'):
        file["norm.weight"].astype("float16")


def test_wrong_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        lanecast.File(tmp_path / "nothing.safetensors")
    bad = tmp_path / "bad.safetensors"
    for data in (b"", b"\xff" * 100, b"\x02\0\0\0\0\0\0\0{", b"\x08\0\0\0\0\0\0\0{\"a\":1} "):
        bad.write_bytes(data)
        with pytest.raises(lanecast.FormatError):
            lanecast.File(bad)
    with pytest.raises(ValueError):
        lanecast.save(tmp_path / "x.unknown", {"x": np.zeros(2)})
    with pytest.raises(TypeError):
        lanecast.save(tmp_path / "x.npz", {"x": [1, 2]})
    assert not (tmp_path / "x.npz").exists()
    np.save(tmp_path / "text.npy", np.array(["a", "b"]))
    (tensor,) = lanecast.File(tmp_path / "text.npy").values()
    assert tensor.dtype is None
    with pytest.raises(lanecast.FormatError, match="numeric"):
        tensor.numpy()


def test_a_real_checkpoint(tmp_path):
    if not WEIGHTS.exists():
        pytest.skip("the weights are not a part of the sdist")
    with lanecast.File(WEIGHTS) as file:
        small = {name: tensor.astype("bfloat16") for name, tensor in file.items()}
        lanecast.save(tmp_path / "small.safetensors", small)
        with lanecast.File(tmp_path / "small.safetensors") as again:
            assert list(again) == list(file) or set(again) == set(file)
            for name, tensor in again.items():
                assert tensor.dtype is lanecast.bfloat16 and tensor.shape == file[name].shape
                assert abs(tensor.astype("float32") - file[name].numpy()).max() < 0.1


def test_onnx_cast():
    x = np.array([1.0, 1000.0, -0.5], np.float32)
    assert lanecast.onnx.cast(x, "int8", opset=1).tolist() == [1, -24, 0]
    assert lanecast.onnx.cast(x, "int8", opset=13).dtype == np.int8
    with pytest.raises(lanecast.DTypeError, match="opset 19 is the first"):
        lanecast.onnx.cast(x, "float8_e4m3fn", opset=18)
    with pytest.raises(lanecast.DTypeError):
        lanecast.onnx.cast(x, "float16", opset=13, saturate=True)
    with pytest.raises(lanecast.DTypeError):
        lanecast.onnx.cast(x, "float8_e3m4", opset=24)
    with pytest.raises(lanecast.DTypeError):
        lanecast.onnx.cast(x, "float16", opset=0)


def test_onnx_attributes():
    x = np.array([1.0, 1000.0, 3.0], np.float32)
    assert lanecast.onnx.cast(x, "float8_e4m3fn", opset=19).astype(np.float32).tolist() == [1, 448, 3]
    assert np.isnan(lanecast.onnx.cast(x, "float8_e4m3fn", opset=19, saturate=False).astype(np.float32)[1])
    rounded = {mode: lanecast.onnx.cast(x, "float8_e8m0fnu", opset=24, round_mode=mode).astype(np.float32).tolist() for mode in ("up", "down", "nearest")}
    assert rounded == {"up": [1, 1024, 4], "down": [1, 512, 2], "nearest": [1, 1024, 4]}
