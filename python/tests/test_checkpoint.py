"""`lanecast.checkpoint`: reading, and the functions that write whole checkpoints."""

import json
import pathlib
import threading
import zipfile

import pytest
from conftest import package

import lanecast
from lanecast import checkpoint

np = package("numpy")


@pytest.fixture
def model(tmp_path):
    """A small plain checkpoint, and its weights as float32."""
    folder = tmp_path / "model"
    folder.mkdir()
    random = np.random.default_rng(1)
    names = ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"]
    weights = {f"model.layers.0.{name}.weight": random.standard_normal((128, 256)).astype(np.float32) for name in names}
    weights["model.norm.weight"] = np.ones(256, np.float32)
    lanecast.save(folder / "model.safetensors", weights, metadata={"format": "pt"})
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "torch_dtype": "float32", "dtype": "float32"}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text("{}")
    return folder, weights


def test_plain_tensors_are_read(model):
    folder, weights = model
    opened = checkpoint.Checkpoint(folder)
    assert opened.layout == "plain" and set(opened) == set(weights) and len(opened) == len(weights)
    assert "7 tensors" in repr(opened)
    for name, want in weights.items():
        weight = opened[name]
        assert (weight.shape, weight.dtype, weight.layout, weight.nbytes) == (want.shape, lanecast.float32, "plain", want.nbytes)
        np.testing.assert_array_equal(weight.read(), want)
        np.testing.assert_array_equal(weight.read("float16"), lanecast.astype(want, "float16"))
    name = "model.norm.weight"
    out = np.zeros(256, np.float64)
    assert opened[name].read("float64", out=out) is out and out.sum() == 256
    with pytest.raises(ValueError, match=r"out is float64 \(256,\), and the tensor float32"):
        opened[name].read(out=out)
    with pytest.raises(KeyError):
        opened["nothing"]
    with pytest.raises(OSError):
        checkpoint.Checkpoint(folder / "nothing")


def test_convert(model, tmp_path):
    folder, weights = model
    steps = []
    report = checkpoint.convert(
        folder, tmp_path / "half", to="bfloat16", map={"*norm*": np.float32}, verify=True, progress=lambda *step: steps.append(step)
    )
    assert report["tensors_cast"] == 6 and report["tensors_copied"] == 1 and report["tensors_verified"] == 7
    assert steps and steps[-1][0] == steps[-1][1]
    opened = checkpoint.Checkpoint(tmp_path / "half")
    for name, want in weights.items():
        want = want if "norm" in name else lanecast.astype(lanecast.astype(want, lanecast.bfloat16), "float32")
        np.testing.assert_array_equal(opened[name].read("float32"), want)
    assert json.loads((tmp_path / "half/config.json").read_text())["dtype"] == "bfloat16"
    with pytest.raises(FileExistsError):
        checkpoint.convert(folder, tmp_path / "half", to="bfloat16")


@pytest.fixture
def shards(model, tmp_path):
    """The same checkpoint in two shards with an index."""
    _, weights = model
    folder = tmp_path / "shards"
    folder.mkdir()
    names = sorted(weights)
    files = {f"model-0000{n + 1}-of-00002.safetensors": names[n::2] for n in range(2)}
    for file, of in files.items():
        lanecast.save(folder / file, {name: weights[name] for name in of}, metadata={"format": "pt"})
    index = {"metadata": {}, "weight_map": {name: file for file, of in files.items() for name in of}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / "config.json").write_text('{"model_type": "llama", "dtype": "float32"}')
    return folder, list(files)


def test_convert_waits_for_files(shards, tmp_path):
    folder, files = shards
    checkpoint.convert(folder, tmp_path / "whole", to="bfloat16")
    late = tmp_path / "late.safetensors"
    (folder / files[1]).rename(late)
    with pytest.raises(FileNotFoundError, match=files[1]):
        checkpoint.convert(folder, tmp_path / "out", to="bfloat16")
    with pytest.raises(TimeoutError, match=f"{files[1]}.*nothing has changed for 0.2 s|nothing has changed for 0.2 s.*{files[1]}"):
        checkpoint.convert(folder, tmp_path / "out", to="bfloat16", wait=0.2)
    arrival = threading.Timer(0.3, late.rename, [folder / files[1]])
    arrival.start()
    # What the first call has cast is on the disk.
    report = checkpoint.convert(folder, tmp_path / "out", to="bfloat16", wait=60, resume=True)
    arrival.join()
    assert report["tensors_cast"] == 7
    for file in files:
        assert (tmp_path / "out" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()


def test_files_that_are_saved_may_be_removed(shards, tmp_path):
    folder, files = shards
    checkpoint.convert(folder, tmp_path / "whole", to="bfloat16")
    saved = []

    def remove(_done, _all, file, tensor):
        if not tensor:
            (folder / file).unlink()
            saved.append(file)

    checkpoint.convert(folder, tmp_path / "out", to="bfloat16", wait=60, progress=remove)
    assert sorted(saved) == sorted(files)
    for file in files:
        assert (tmp_path / "out" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()


@pytest.mark.parametrize("wait", [-1, float("nan"), float("inf")])
def test_a_wait_is_a_time(model, tmp_path, wait):
    with pytest.raises(ValueError, match="number of seconds"):
        checkpoint.convert(model[0], tmp_path / "out", to="bfloat16", wait=wait)
    with pytest.raises(TypeError):
        checkpoint.convert(model[0], tmp_path / "out", to="bfloat16", wait="long")


def test_the_threads_change_no_byte(model, tmp_path):
    folder, weights = model
    files = []
    for threads in (1, 3, None):
        plain, codes, back = (tmp_path / f"{what}-{threads}" for what in ("plain", "codes", "back"))
        checkpoint.convert(folder, plain, to="float16", threads=threads)
        checkpoint.quantize(folder, codes, scheme="mxfp4", layout="compressed-tensors", threads=threads)
        checkpoint.dequantize(codes, back, to="bfloat16", threads=threads)
        files.append([(path / "model.safetensors").read_bytes() for path in (plain, codes, back)])
    assert files[0] == files[1] == files[2]
    for name, weight in checkpoint.Checkpoint(folder, threads=2).items():
        np.testing.assert_array_equal(weight.read(), weights[name])


def test_an_exception_of_progress_ends_the_work(model, tmp_path):
    def fail(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        checkpoint.convert(model[0], tmp_path / "out", to="float16", progress=fail)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("scheme, layout", [("fp8-dynamic", "compressed-tensors"), ("nvfp4", "compressed-tensors"), ("fp8-block", "deepseek")])
def test_quantize_check_and_dequantize(model, tmp_path, scheme, layout):
    folder, weights = model
    report = checkpoint.quantize(folder, tmp_path / "small", scheme=scheme, layout=layout)
    assert report["weights_quantized"] == 6
    assert checkpoint.check(tmp_path / "small", loader="vllm")["findings"] == []
    small = checkpoint.Checkpoint(tmp_path / "small")
    assert small.layout != "plain"
    checkpoint.dequantize(tmp_path / "small", tmp_path / "plain", to="float32")
    plain = checkpoint.Checkpoint(tmp_path / "plain")
    for name, want in weights.items():
        got = small[name].read("float32")
        np.testing.assert_array_equal(got, plain[name].read())
        assert np.linalg.norm(got - want) <= 0.15 * np.linalg.norm(want)
    # A weight with codes is compared in the dtype of the other side.
    compared = checkpoint.compare(tmp_path / "small", folder)
    errors = {row["name"]: row["largest"] for row in compared["tensors"]}
    for name, want in weights.items():
        assert errors[name] == np.abs(small[name].read("float32").astype(np.float64) - want).max()
    with pytest.raises(ValueError, match="quantized"):
        checkpoint.convert(tmp_path / "small", tmp_path / "out", to="bfloat16")


def formats(path):
    """The formats of the layers of a file of ComfyUI."""
    layers = json.loads(lanecast.File(path).metadata["_quantization_metadata"])["layers"]
    return {name: layer["format"] for name, layer in layers.items()}


def test_quantize_like_another_file(tmp_path):
    random = np.random.default_rng(2)
    names = [f"blocks.0.{name}" for name in ("mlp.0", "mlp.1", "proj", "new")]
    weights = {f"{name}.weight": random.standard_normal((64, 64)).astype(np.float16) for name in names}
    plain, like = tmp_path / "plain.safetensors", tmp_path / "like.safetensors"
    lanecast.save(plain, {name: weights[name] for name in list(weights)[:3]})
    checkpoint.quantize(plain, like, scheme="nvfp4", layout="comfy", map={"*.mlp.1": "mxfp8"}, ignore=["*.proj"])
    lanecast.save(plain, weights, overwrite=True)
    want = {"blocks.0.mlp.0": "nvfp4", "blocks.0.mlp.1": "mxfp8", "blocks.0.new": "float8_e4m3fn"}
    options = {"layout": "comfy", "like": like}
    checkpoint.quantize(plain, tmp_path / "out.safetensors", scheme="fp8-tensor", **options)
    assert formats(tmp_path / "out.safetensors") == want
    plan = checkpoint.plan(plain, tmp_path / "tasks.safetensors", quantize="fp8-tensor", **options)
    for task in plan.tasks:
        checkpoint.run_task(plan, task.id)
    assert (tmp_path / "tasks.safetensors").read_bytes() == (tmp_path / "out.safetensors").read_bytes()
    with pytest.raises(ValueError, match="deepseek"):
        checkpoint.quantize(plain, tmp_path / "x", scheme="fp8-block", layout="deepseek", like=like)
    with pytest.raises(TypeError, match="requantize= has no option like"):
        checkpoint.plan(plain, tmp_path / "x", requantize="nvfp4", **options)


def test_stacked_experts_are_split_or_kept(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    stack = np.random.default_rng(3).standard_normal((2, 64, 96)).astype(np.float16)
    lanecast.save(folder / "model.safetensors", {"l.0.mlp.experts.gate_up_proj": stack, "l.0.o_proj.weight": stack[0, :, :32].copy()})
    (folder / "config.json").write_text('{"model_type": "llama4"}')
    options = {"scheme": "mxfp4", "layout": "compressed-tensors"}
    assert checkpoint.quantize(folder, tmp_path / "split", **options)["weights_quantized"] == 5
    assert checkpoint.quantize(folder, tmp_path / "kept", experts="keep", **options)["weights_quantized"] == 1
    np.testing.assert_array_equal(checkpoint.Checkpoint(tmp_path / "kept")["l.0.mlp.experts.gate_up_proj"].read(), stack)
    plan = checkpoint.plan(folder, tmp_path / "tasks", quantize="mxfp4", layout="compressed-tensors", experts="keep")
    for task in plan.tasks:
        checkpoint.run_task(plan, task.id)
    assert (tmp_path / "tasks/model.safetensors").read_bytes() == (tmp_path / "kept/model.safetensors").read_bytes()
    with pytest.raises(ValueError, match='"split" or "keep"'):
        checkpoint.quantize(folder, tmp_path / "x", experts="stack", **options)


def test_names_are_checked(model, tmp_path):
    with pytest.raises(ValueError, match='no loader is called "x"'):
        checkpoint.check(model[0], loader="x")
    with pytest.raises((ValueError, lanecast.FormatError)):
        checkpoint.quantize(model[0], tmp_path / "out", scheme="fp7", layout="deepseek")
    with pytest.raises((ValueError, lanecast.FormatError)):
        checkpoint.quantize(model[0], tmp_path / "out", scheme="fp8-block", layout="x")


def test_golden_checkpoints_are_decoded(tmp_path):
    """Checkpoints that the libraries made to which the layouts belong."""
    with zipfile.ZipFile(pathlib.Path(__file__).parents[2] / "checkpoint/tests/data/checkpoints.zip") as archive:
        archive.extractall(tmp_path)
    folders = {path.parent for path in tmp_path.rglob("config.json")}
    decoded = 0
    for folder in folders:
        for weight in checkpoint.Checkpoint(folder).values():
            if weight.dtype is None:
                values = weight.read("float32")
                assert values.shape == weight.shape and np.isfinite(values).all()
                decoded += 1
    assert len(folders) > 10 and decoded > 30
