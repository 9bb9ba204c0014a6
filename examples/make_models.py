#!/usr/bin/env python3
"""Makes four model directories of random weights, to try programs for checkpoints on.

The names, shapes, dtypes, shards and configurations are those of real families. The weights are random: normal values, some columns ten
times as large, and a few outliers. The same seed and size give the same files.

    python examples/make_models.py models --size 300       # 300 MB each
    python examples/make_models.py models --size 4 --only gpt-oss

| directory | family | layout |
|---|---|---|
| `llama` | Llama 3 | bfloat16 |
| `qwen3-moe` | Qwen 3 with experts | bfloat16, routers too |
| `deepseek-v3` | DeepSeek V3 | 8-bit floats with a scale for each tile of 128 by 128 |
| `gpt-oss` | gpt-oss | experts in MXFP4, the rest in bfloat16 |

It needs NumPy only. The layers are as wide as the size allows; the depth follows from the size.
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import struct
from collections.abc import Iterator

import numpy as np

#: A tensor: its safetensors dtype, its shape, and its bytes as an array.
Tensor = tuple[str, tuple[int, ...], np.ndarray]
#: The name of a tensor, and how to make it.
Named = tuple[str, Tensor]

TILE = 128
SHARDS = 4


class Weights:
    """Random tensors of one model."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def normal(self, *shape: int) -> np.ndarray:
        """Float32 with a standard deviation of 0.02, large columns and a few outliers, as trained weights have them."""
        values = self.random.standard_normal(shape, dtype=np.float32)
        values *= np.float32(0.02)
        if len(shape) > 1:
            columns = self.random.choice(shape[-1], max(1, shape[-1] // 256), replace=False)
            values[..., columns] *= 10
        flat = values.reshape(-1)
        places = self.random.integers(flat.size, size=max(1, flat.size // 100_000))
        flat[places] = self.random.choice(np.float32([-1.5, 1.5, 3.0]), places.size)
        return values

    def bf16(self, *shape: int) -> Tensor:
        return "BF16", shape, to_bf16(self.normal(*shape))

    def norm(self, n: int) -> Tensor:
        return "BF16", (n,), to_bf16(1 + self.normal(n))

    def float32(self, *shape: int) -> Tensor:
        return "F32", shape, self.normal(*shape)

    def fp8(self, rows: int, columns: int) -> tuple[Tensor, Tensor]:
        """Codes, and a scale for each tile, also for those at the edges that are not whole."""
        values = self.normal(rows, columns)
        tiles = (math.ceil(rows / TILE), math.ceil(columns / TILE))
        padded = np.zeros((tiles[0] * TILE, tiles[1] * TILE), np.float32)
        padded[:rows, :columns] = np.abs(values)
        scales = padded.reshape(tiles[0], TILE, tiles[1], TILE).max(axis=(1, 3)) / np.float32(448)
        spread = scales.repeat(TILE, axis=0)[:rows].repeat(TILE, axis=1)[:, :columns]
        codes = ("F8_E4M3", (rows, columns), to_float8(values / spread))
        return codes, ("F32", tiles, scales)

    def mxfp4(self, experts: int, rows: int, columns: int) -> tuple[Tensor, Tensor]:
        """Blocks of 32 codes in 16 bytes, the even one in the low half, and the exponents of their scales."""
        values = self.normal(experts, rows, columns // 32, 32)
        largest = np.abs(values).max(axis=-1)
        exponents = np.clip(np.floor(np.log2(largest)) - 2, -127, 127).astype(np.int32)
        codes = to_float4(np.ldexp(values, -exponents[..., None]))
        blocks = codes[..., 0::2] | codes[..., 1::2] << 4
        return ("U8", blocks.shape, blocks), ("U8", exponents.shape, (exponents + 127).astype(np.uint8))


def to_bf16(values: np.ndarray) -> np.ndarray:
    """The upper halves of float32, rounded to nearest even. There are no NaN."""
    bits = values.view(np.uint32)
    return ((bits + (0x7FFF + (bits >> 16 & 1))) >> 16).astype("<u2")


def to_small(values: np.ndarray, bias: int, mantissa: int, largest: float) -> np.ndarray:
    """The codes of a small float without its sign: a float32 with the exponent of the small one has them in its upper bits."""
    small = np.minimum(np.abs(values), np.float32(largest)) * np.float32(2.0 ** (bias - 127))
    bits, drop = small.view(np.uint32), 23 - mantissa
    return ((bits + ((1 << (drop - 1)) - 1 + (bits >> drop & 1))) >> drop).astype(np.uint8)


def to_float8(values: np.ndarray) -> np.ndarray:
    return to_small(values, 7, 3, 448) | np.signbit(values).astype(np.uint8) << 7


def to_float4(values: np.ndarray) -> np.ndarray:
    return to_small(values, 1, 1, 6) | np.signbit(values).astype(np.uint8) << 3


def bytes_of(tensor: Tensor) -> int:
    return tensor[2].nbytes


class Sizes:
    """What follows from the size of a model, in bytes."""

    def __init__(self, size: int) -> None:
        self.size = size
        small = size < 20_000_000
        self.hidden = 256 if small else 1024 if size < 2_000_000_000 else 2048
        self.vocab = 1024 if small else 16_000
        self.experts = 4 if small else 8

    def layers(self, rest: int, layer: int) -> int:
        """How many layers fit beside the rest."""
        return max(2, round((self.size - rest) / layer))


def shared(hidden: int) -> int:
    """The rows of keys and of values: four heads of queries share them, or two in the smallest models, since loaders need a whole tile."""
    return max(TILE, hidden // 4)


def attention(of: Weights, at: str, hidden: int, head: int, *, biased: bool = False) -> Iterator[Named]:
    """Grouped-query attention."""
    shapes = {"q_proj": (hidden, hidden), "k_proj": (shared(hidden), hidden), "v_proj": (shared(hidden), hidden), "o_proj": (hidden, hidden)}
    for name, shape in shapes.items():
        yield f"{at}.self_attn.{name}.weight", of.bf16(*shape)
        if biased:
            yield f"{at}.self_attn.{name}.bias", of.bf16(shape[0])
    if biased:
        yield f"{at}.self_attn.sinks", of.bf16(hidden // head)


def norms(of: Weights, at: str, hidden: int) -> Iterator[Named]:
    yield f"{at}.input_layernorm.weight", of.norm(hidden)
    yield f"{at}.post_attention_layernorm.weight", of.norm(hidden)


def ends(of: Weights, vocab: int, hidden: int) -> Iterator[Named]:
    yield "model.embed_tokens.weight", of.bf16(vocab, hidden)
    yield "lm_head.weight", of.bf16(vocab, hidden)
    yield "model.norm.weight", of.norm(hidden)


def config(architecture: str, model_type: str, sizes: Sizes, layers: int, head: int, **more: object) -> dict:
    return {
        "architectures": [architecture], "model_type": model_type, "hidden_size": sizes.hidden, "num_hidden_layers": layers,
        "num_attention_heads": sizes.hidden // head, "num_key_value_heads": shared(sizes.hidden) // head, "head_dim": head,
        "vocab_size": sizes.vocab, "rms_norm_eps": 1e-05, "rope_theta": 1000000.0, "max_position_embeddings": 32768,
        "tie_word_embeddings": False, "bos_token_id": 1, "eos_token_id": 2, "torch_dtype": "bfloat16", **more,
    }  # fmt: skip


def llama(of: Weights, sizes: Sizes) -> tuple[dict, Iterator[Named]]:
    hidden, inner, head = sizes.hidden, sizes.hidden * 11 // 4 // 256 * 256, 64
    layers = sizes.layers(4 * sizes.vocab * hidden, 5 * hidden * hidden + 6 * hidden * inner)

    def tensors() -> Iterator[Named]:
        yield from ends(of, sizes.vocab, hidden)
        for i in range(layers):
            at = f"model.layers.{i}"
            yield from attention(of, at, hidden, head)
            yield f"{at}.mlp.gate_proj.weight", of.bf16(inner, hidden)
            yield f"{at}.mlp.up_proj.weight", of.bf16(inner, hidden)
            yield f"{at}.mlp.down_proj.weight", of.bf16(hidden, inner)
            yield from norms(of, at, hidden)

    return config("LlamaForCausalLM", "llama", sizes, layers, head, intermediate_size=inner, hidden_act="silu"), tensors()


def qwen3_moe(of: Weights, sizes: Sizes) -> tuple[dict, Iterator[Named]]:
    hidden, inner, head = sizes.hidden, sizes.hidden // 2, 64
    layers = sizes.layers(4 * sizes.vocab * hidden, 5 * hidden * hidden + 6 * sizes.experts * hidden * inner)

    def tensors() -> Iterator[Named]:
        yield from ends(of, sizes.vocab, hidden)
        for i in range(layers):
            at = f"model.layers.{i}"
            yield from attention(of, at, hidden, head)
            yield f"{at}.self_attn.q_norm.weight", of.norm(head)
            yield f"{at}.self_attn.k_norm.weight", of.norm(head)
            yield f"{at}.mlp.gate.weight", of.bf16(sizes.experts, hidden)
            for expert in range(sizes.experts):
                for name, shape in {"gate_proj": (inner, hidden), "up_proj": (inner, hidden), "down_proj": (hidden, inner)}.items():
                    yield f"{at}.mlp.experts.{expert}.{name}.weight", of.bf16(*shape)
            yield from norms(of, at, hidden)

    more = {
        "intermediate_size": 3 * hidden, "moe_intermediate_size": inner, "num_experts": sizes.experts, "num_experts_per_tok": 2,
        "decoder_sparse_step": 1, "mlp_only_layers": [], "norm_topk_prob": True, "hidden_act": "silu", "attention_bias": False,
    }  # fmt: skip
    return config("Qwen3MoeForCausalLM", "qwen3_moe", sizes, layers, head, **more), tensors()


def deepseek_v3(of: Weights, sizes: Sizes) -> tuple[dict, Iterator[Named]]:
    hidden, inner, head = sizes.hidden, sizes.hidden // 2, 64
    q_rank, kv_rank, rope, heads = hidden // 2, shared(hidden), 32, hidden // head
    expert = 3 * hidden * inner
    layers = sizes.layers(4 * sizes.vocab * hidden, 4 * hidden * hidden + (sizes.experts + 1) * expert)

    def coded(name: str, rows: int, columns: int) -> Iterator[Named]:
        codes, scales = of.fp8(rows, columns)
        yield f"{name}.weight", codes
        yield f"{name}.weight_scale_inv", scales

    def perceptron(at: str, inner: int) -> Iterator[Named]:
        yield from coded(f"{at}.gate_proj", inner, hidden)
        yield from coded(f"{at}.up_proj", inner, hidden)
        yield from coded(f"{at}.down_proj", hidden, inner)

    def tensors() -> Iterator[Named]:
        yield from ends(of, sizes.vocab, hidden)
        for i in range(layers):
            at = f"model.layers.{i}"
            yield from coded(f"{at}.self_attn.q_a_proj", q_rank, hidden)
            yield f"{at}.self_attn.q_a_layernorm.weight", of.norm(q_rank)
            yield from coded(f"{at}.self_attn.q_b_proj", heads * (head + rope), q_rank)
            # Its last tile is not whole.
            yield from coded(f"{at}.self_attn.kv_a_proj_with_mqa", kv_rank + rope, hidden)
            yield f"{at}.self_attn.kv_a_layernorm.weight", of.norm(kv_rank)
            yield from coded(f"{at}.self_attn.kv_b_proj", heads * 2 * head, kv_rank)
            yield from coded(f"{at}.self_attn.o_proj", hidden, heads * head)
            if i == 0:
                yield from perceptron(f"{at}.mlp", 3 * hidden)
            else:
                yield f"{at}.mlp.gate.weight", of.bf16(sizes.experts, hidden)
                yield f"{at}.mlp.gate.e_score_correction_bias", of.float32(sizes.experts)
                for number in range(sizes.experts):
                    yield from perceptron(f"{at}.mlp.experts.{number}", inner)
                yield from perceptron(f"{at}.mlp.shared_experts", inner)
            yield from norms(of, at, hidden)

    quantization = {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic", "weight_block_size": [TILE, TILE]}
    more = {
        "intermediate_size": 3 * hidden, "moe_intermediate_size": inner, "n_routed_experts": sizes.experts, "n_shared_experts": 1,
        "num_experts_per_tok": 2, "first_k_dense_replace": 1, "moe_layer_freq": 1, "n_group": 1, "topk_group": 1, "topk_method": "noaux_tc",
        "scoring_func": "sigmoid", "q_lora_rank": q_rank, "kv_lora_rank": kv_rank, "qk_nope_head_dim": head, "qk_rope_head_dim": rope,
        "v_head_dim": head, "num_nextn_predict_layers": 0, "hidden_act": "silu", "quantization_config": quantization,
    }  # fmt: skip
    return config("DeepseekV3ForCausalLM", "deepseek_v3", sizes, layers, head, **more), tensors()


def gpt_oss(of: Weights, sizes: Sizes) -> tuple[dict, Iterator[Named]]:
    hidden, inner, head = sizes.hidden, sizes.hidden, 64
    expert = 3 * hidden * inner * 17 // 32
    layers = sizes.layers(4 * sizes.vocab * hidden, 5 * hidden * hidden + sizes.experts * expert)

    def tensors() -> Iterator[Named]:
        yield from ends(of, sizes.vocab, hidden)
        for i in range(layers):
            at = f"model.layers.{i}"
            yield from attention(of, at, hidden, head, biased=True)
            yield f"{at}.mlp.router.weight", of.bf16(sizes.experts, hidden)
            yield f"{at}.mlp.router.bias", of.bf16(sizes.experts)
            for name, rows, columns in ("gate_up_proj", 2 * inner, hidden), ("down_proj", hidden, inner):
                blocks, scales = of.mxfp4(sizes.experts, rows, columns)
                yield f"{at}.mlp.experts.{name}_blocks", blocks
                yield f"{at}.mlp.experts.{name}_scales", scales
                yield f"{at}.mlp.experts.{name}_bias", of.bf16(sizes.experts, rows)
            yield from norms(of, at, hidden)

    plain = ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]
    more = {
        "intermediate_size": inner, "num_local_experts": sizes.experts, "num_experts_per_tok": 2, "attention_bias": True, "sliding_window": 128,
        "layer_types": ["sliding_attention" if i % 2 == 0 else "full_attention" for i in range(layers)], "swiglu_limit": 7.0,
        "quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": plain},
    }  # fmt: skip
    return config("GptOssForCausalLM", "gpt_oss", sizes, layers, head, **more), tensors()


MODELS = {"llama": llama, "qwen3-moe": qwen3_moe, "deepseek-v3": deepseek_v3, "gpt-oss": gpt_oss}


def write_shard(path: pathlib.Path, tensors: list[Named]) -> None:
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, (dtype, shape, data) in tensors:
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + data.nbytes]}
        at += data.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    # The data begin at a multiple of eight bytes.
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, (_, _, data) in tensors:
            file.write(np.ascontiguousarray(data).astype(data.dtype.newbyteorder("<"), copy=False).data)


def write_model(folder: pathlib.Path, settings: dict, tensors: Iterator[Named], size: int) -> int:
    """Writes the files of a model, and returns the bytes of its tensors."""
    folder.mkdir(parents=True, exist_ok=True)
    shards: list[pathlib.Path] = []
    placed: list[tuple[str, int]] = []
    waiting: list[Named] = []
    total = held = 0

    def end() -> None:
        nonlocal held
        shards.append(folder / f"{len(shards)}.tmp")
        write_shard(shards[-1], waiting)
        placed.extend((name, len(shards) - 1) for name, _ in waiting)
        waiting.clear()
        held = 0

    for name, tensor in tensors:
        if waiting and held + bytes_of(tensor) > max(1, size // SHARDS):
            end()
        waiting.append((name, tensor))
        held += bytes_of(tensor)
        total += bytes_of(tensor)
    end()
    names = [f"model-{i + 1:05}-of-{len(shards):05}.safetensors" for i in range(len(shards))]
    for path, name in zip(shards, names, strict=True):
        path.replace(folder / name)
    index = {"metadata": {"total_size": total}, "weight_map": {name: names[i] for name, i in sorted(placed)}}
    generation = {"bos_token_id": settings["bos_token_id"], "eos_token_id": settings["eos_token_id"], "do_sample": True}
    tokens = {f"<{i}>": i for i in range(min(settings["vocab_size"], 256))}
    for name, value in {
        "model.safetensors.index.json": index,
        "config.json": settings,
        "generation_config.json": generation,
        "tokenizer.json": {"version": "1.0", "model": {"type": "WordLevel", "vocab": tokens, "unk_token": "<0>"}},
        "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 32768},
    }.items():
        (folder / name).write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes model directories of random weights.")
    parser.add_argument("folder", type=pathlib.Path, help="where the directories are made")
    parser.add_argument("--size", type=float, default=300, metavar="MB", help="the size of each model in MB (default: 300)")
    parser.add_argument("--only", choices=MODELS, action="append", help="make this model only; may be given several times")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the weights (default: 1)")
    arguments = parser.parse_args()
    size = int(arguments.size * 1_000_000)
    for number, (name, make) in enumerate(MODELS.items()):
        if arguments.only and name not in arguments.only:
            continue
        settings, tensors = make(Weights(arguments.seed * len(MODELS) + number), Sizes(size))
        total = write_model(arguments.folder / name, settings, tensors, size)
        print(f"{arguments.folder / name}: {total / 1e6:.1f} MB, {settings['num_hidden_layers']} layers")


if __name__ == "__main__":
    main()
