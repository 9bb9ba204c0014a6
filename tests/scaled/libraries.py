#!/usr/bin/env python3
"""Makes `libraries.tsv`: what compressed-tensors, ModelOpt and torchao make of weights of each dtype, on a CPU.

    pip install torch==2.15.0 compressed-tensors==0.20.0 nvidia-modelopt==0.47.0 requests torchao==0.18.0
    python3 tests/scaled/libraries.py

The scales of compressed-tensors are those of its observers (`calculate_qparams`, `generate_gparam`) in parameters of the dtype of the weights,
and the codes are those of its compressors, as in a checkpoint. torchao takes no float16, and the
reciprocal of its scale of tiny weights is infinite, which makes NaN of their zeros.
"""

from pathlib import Path

import torch
from compressed_tensors.compressors.naive_quantized.base import NaiveQuantizationCompressor
from compressed_tensors.compressors.nvfp4.base import NVFP4PackedCompressor
from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
from compressed_tensors.quantization.utils import calculate_qparams, generate_gparam
from modelopt.torch.quantization.qtensor.nvfp4_tensor import NVFP4QTensor
from torchao.prototype.mx_formats.nvfp4_tensor import nvfp4_quantize, per_tensor_amax_to_scale

ROWS, COLUMNS = 8, 128


def fp8_row(weight):
    args = QuantizationArgs(num_bits=8, type="float", strategy="channel", symmetric=True, dynamic=False)
    scale, _ = calculate_qparams(weight.amin(1, keepdim=True), weight.amax(1, keepdim=True), args)
    state = {"weight": weight, "weight_scale": scale.to(weight.dtype)}
    state = NaiveQuantizationCompressor.compress(state, QuantizationScheme(targets=["Linear"], weights=args))
    return state["weight"], state["weight_scale"], torch.ones(1)


def nvfp4(weight):
    args = QuantizationArgs(
        num_bits=4,
        type="float",
        strategy="tensor_group",
        group_size=16,
        symmetric=True,
        dynamic=False,
        scale_dtype=torch.float8_e4m3fn,
    )
    scale_of_tensor = generate_gparam(weight.amin(), weight.amax())
    blocks = weight.unflatten(-1, (-1, 16))
    scale, _ = calculate_qparams(blocks.amin(-1), blocks.amax(-1), args, global_scale=scale_of_tensor)
    state = {"weight": weight, "weight_scale": scale.to(weight.dtype), "weight_global_scale": scale_of_tensor}
    state = NVFP4PackedCompressor.compress(state, QuantizationScheme(targets=["Linear"], weights=args))
    return state["weight_packed"], state["weight_scale"], state["weight_global_scale"]


def modelopt(weight):
    codes, scales, scale_of_tensor = NVFP4QTensor.quantize(weight, 16, try_tensorrt=False)
    return codes._quantized_data, scales, scale_of_tensor.reshape(1)


def torchao(weight):
    scale_of_tensor = per_tensor_amax_to_scale(weight.abs().max())
    scales, codes = nvfp4_quantize(weight, per_tensor_scale=scale_of_tensor)
    return codes, scales, scale_of_tensor.reshape(1)


SCHEMES = {
    "compressed-tensors-fp8-row": fp8_row,
    "compressed-tensors-nvfp4": nvfp4,
    "modelopt-nvfp4": modelopt,
    "torchao-nvfp4": torchao,
}


def weights(dtype):
    """Usual weights; rows of many magnitudes with both zeros; and elements near the smallest ones."""
    usual = torch.randn(ROWS, COLUMNS) * 0.07
    rows = torch.randn(ROWS, COLUMNS) * 10 ** torch.linspace(-6, 2, ROWS)[:, None]
    rows[1, ::3], rows[2], rows[3, :64] = -0.0, 0.0, -0.0
    tiny = torch.randn(ROWS, COLUMNS) * torch.finfo(dtype).smallest_normal * 0.3
    return {"usual": usual.to(dtype), "rows": rows.to(dtype), "tiny": tiny.to(dtype)}


def words(tensor):
    """The codes of a tensor as big-endian hexadecimal numbers."""
    size = tensor.element_size()
    raw = tensor.contiguous().view(torch.uint8).reshape(-1, size).flip(1)
    return bytes(raw.flatten().tolist()).hex()


def main():
    torch.manual_seed(20)
    lines = ["# Made by libraries.py: dtype, weights, scheme, scale of the tensor, scales, codes; the scheme `source` has the"]
    lines.append(f"# weights themselves, {ROWS} x {COLUMNS}")
    for name in ("float32", "float16", "bfloat16"):
        for kind, weight in weights(getattr(torch, name)).items():
            lines.append(f"{name}\t{kind}\tsource\t\t\t{words(weight)}")
            for scheme, quantize in SCHEMES.items():
                if scheme == "torchao-nvfp4" and (name == "float16" or kind == "tiny"):
                    continue
                codes, scales, scale_of_tensor = quantize(weight.clone())
                cells = (name, kind, scheme, words(scale_of_tensor), words(scales), words(codes))
                lines.append("\t".join(cells))
    Path(__file__).with_suffix(".tsv").write_text("\n".join(lines) + "\n")


main()
