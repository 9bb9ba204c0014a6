"""Quantized checkpoints in the libraries that load them: on the CPU they compute what a model with our own dequantized weights does."""

import json

import pytest
from conftest import package

import lanecast
from lanecast import checkpoint

np = package("numpy")
torch = package("torch")
transformers = package("transformers")
package("accelerate")

LAYERS, HIDDEN, INNER, KEYS, WORDS = 2, 256, 384, 128, 300


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A small Llama with random weights in bfloat16, in two files."""
    folder = tmp_path_factory.mktemp("model")
    random = np.random.default_rng(7)
    shapes = {"model.embed_tokens": (WORDS, HIDDEN), "lm_head": (WORDS, HIDDEN), "model.norm": (HIDDEN,)}
    for layer in range(LAYERS):
        prefix = f"model.layers.{layer}."
        for name, shape in {
            "self_attn.q_proj": (HIDDEN, HIDDEN),
            "self_attn.k_proj": (KEYS, HIDDEN),
            "self_attn.v_proj": (KEYS, HIDDEN),
            "self_attn.o_proj": (HIDDEN, HIDDEN),
            "mlp.gate_proj": (INNER, HIDDEN),
            "mlp.up_proj": (INNER, HIDDEN),
            "mlp.down_proj": (HIDDEN, INNER),
            "input_layernorm": (HIDDEN,),
            "post_attention_layernorm": (HIDDEN,),
        }.items():
            shapes[prefix + name] = shape
    tensors = {
        f"{name}.weight": lanecast.astype(random.standard_normal(shape).astype(np.float32) * 0.05, "bfloat16")
        for name, shape in shapes.items()
    }
    names = list(tensors)
    files = {f"model-0000{i + 1}-of-00002.safetensors": names[i::2] for i in range(2)}
    for file, of in files.items():
        lanecast.save(folder / file, {name: tensors[name] for name in of}, metadata={"format": "pt"})
    weights = {name: file for file, of in files.items() for name in of}
    index = {"metadata": {"total_size": sum(tensor.nbytes for tensor in tensors.values())}, "weight_map": weights}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    config = transformers.LlamaConfig(
        hidden_size=HIDDEN,
        intermediate_size=INNER,
        num_hidden_layers=LAYERS,
        num_attention_heads=4,
        num_key_value_heads=2,
        vocab_size=WORDS,
        max_position_embeddings=64,
        dtype="bfloat16",
    )
    (folder / "config.json").write_text(json.dumps({**config.to_dict(), "architectures": ["LlamaForCausalLM"]}))
    return folder


def load(folder, **options):
    return transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16, **options)


@pytest.mark.parametrize("scheme", ["fp8-dynamic", "fp8-block", "mxfp8", "mxfp4", "nvfp4", "int8", "w4a16"])
def test_compressed_tensors(model, tmp_path, scheme):
    package("compressed_tensors")
    compare(
        model,
        tmp_path,
        scheme,
        "compressed-tensors",
        quantization_config=transformers.CompressedTensorsConfig(run_compressed=False),
    )


def test_deepseek(model, tmp_path):
    compare(model, tmp_path, "fp8-block", "deepseek")


@pytest.mark.parametrize("scheme", ["nf4", "fp4", "int8"])
def test_bitsandbytes(model, tmp_path, scheme):
    package("bitsandbytes")
    compare(model, tmp_path, scheme, "bitsandbytes")


def test_gpt_oss(tmp_path):
    torch.manual_seed(0)
    config = transformers.GptOssConfig(
        hidden_size=128,
        intermediate_size=64,
        num_hidden_layers=2,
        num_local_experts=4,
        num_experts_per_tok=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        vocab_size=WORDS,
        max_position_embeddings=64,
        sliding_window=16,
        dtype="bfloat16",
    )
    model = transformers.AutoModelForCausalLM.from_config(config).to(torch.bfloat16)
    for weight in model.parameters():
        if weight.ndim > 1:
            torch.nn.init.normal_(weight, std=0.05)
    model.save_pretrained(tmp_path / "model")
    compare(tmp_path / "model", tmp_path, "mxfp4", "gpt-oss")


def compare(model, tmp_path, scheme, layout, **options):
    checkpoint.quantize(model, tmp_path / "small", scheme=scheme, layout=layout)
    checkpoint.dequantize(tmp_path / "small", tmp_path / "plain", to="bfloat16")
    loaded, plain = load(tmp_path / "small", **options), load(tmp_path / "plain")
    ours = dict(plain.named_parameters())
    compared = 0
    for name, weight in loaded.named_parameters():
        got, want = weight.detach(), ours[name].detach().float()
        if hasattr(weight, "quant_state"):
            import bitsandbytes

            got = bitsandbytes.functional.dequantize_4bit(got, weight.quant_state)
        if got.dtype == torch.int8:
            scales = weight.SCB if weight.SCB is not None else loaded.get_submodule(name.rpartition(".")[0]).state.SCB
            got = (got.float() * scales[:, None] / 127).to(torch.bfloat16)
        if scheme == "nvfp4":
            # compressed-tensors multiplies code and scale in bfloat16.
            assert ((got.float() - want).abs() <= want.abs() / 128).all(), name
        else:
            assert torch.equal(got.float(), want), name
        compared += 1
    assert compared == len(ours)
    words = torch.arange(32)[None]
    with torch.no_grad():
        got, want = loaded(words).logits.float(), plain(words).logits.float()
    assert want.abs().max() > 0
    if scheme == "nvfp4" or layout == "bitsandbytes":
        # bitsandbytes multiplies matrices of codes in an order of its own.
        assert (got - want).abs().max() < 0.1 * want.abs().max()
    else:
        assert torch.equal(got, want)
