"""A plain checkpoint of two layers, each in a file of its own, for the tests of checkpoints."""

import json

from conftest import package

import lanecast

np = package("numpy")
NAMES = ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"]


def plain_checkpoint(folder, shape, seed):
    """Writes float32 weights of this shape to a new folder `plain` of the folder, and returns its path."""
    plain = folder / "plain"
    plain.mkdir()
    random = np.random.default_rng(seed)
    index = {}
    for layer in range(2):
        weights = {f"model.layers.{layer}.{name}.weight": random.standard_normal(shape).astype(np.float32) for name in NAMES}
        weights[f"model.layers.{layer}.input_layernorm.weight"] = np.ones(shape[1], np.float32)
        file = f"model-0000{layer + 1}-of-00002.safetensors"
        lanecast.save(plain / file, weights, metadata={"format": "pt"})
        index |= dict.fromkeys(weights, file)
    (plain / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": 0}, "weight_map": index}))
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "dtype": "float32"}
    (plain / "config.json").write_text(json.dumps(config))
    (plain / "tokenizer.json").write_text("{}")
    return plain
