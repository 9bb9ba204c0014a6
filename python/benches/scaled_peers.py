"""The operations that `scaled.py` compares, by the library beside which lanecast is timed."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from entrants import numbers, numpy_dtype

import lanecast

#: Columns of the tensors, which are whole blocks of every scheme.
COLUMNS = 1024


class Contest(NamedTuple):
    """An operation of a library and the same one of lanecast. Both make new arrays."""

    operation: str
    source: str
    own: Callable[[], Any]
    peer: Callable[[], Any]


def weights(source: str, n: int) -> np.ndarray[Any, Any]:
    """Normally distributed numbers, `COLUMNS` to a row."""
    return numbers(source, n).astype(numpy_dtype(source)).reshape(-1, COLUMNS)


def elements(result: Any) -> np.ndarray[Any, Any]:
    """The codes or the values of a result, as unsigned integers that can be compared."""
    if isinstance(result, lanecast.Quantized):
        return elements(result.data)
    if isinstance(result, (tuple, list)):
        return elements(result[0])
    if hasattr(result, "data_ptr") and hasattr(result, "tensor_size_in_bytes"):  # an OrtValue
        raw = ctypes.string_at(result.data_ptr(), result.tensor_size_in_bytes())
        width = {"float": 4, "float16": 2, "bfloat16": 2}.get(result.data_type()[7:-1], 1)
        return np.frombuffer(raw, f"u{width}")
    if type(result).__module__ == "torch":
        import torch

        plain = result.int_repr() if result.is_quantized else result
        return plain.contiguous().view({1: torch.uint8, 2: torch.uint16, 4: torch.uint32}[plain.element_size()]).numpy().ravel()
    if result.dtype in (ml_dtypes.int4, ml_dtypes.uint4):
        # As libraries do that pack two elements into a byte.
        pairs = result.view(np.uint8).ravel() & 15
        return pairs[::2] | pairs[1::2] << 4
    return np.ascontiguousarray(result).view(f"u{result.dtype.itemsize}").ravel()


class OnnxRuntime:
    """Models of one node. Inputs are bound without a copy, and outputs come from the arena of the runtime, so lanecast writes to memory
    that is there too."""

    def __init__(self) -> None:
        import onnx
        import onnxruntime

        self.onnx, self.runtime = onnx, onnxruntime
        self.version = f"onnxruntime {onnxruntime.__version__}"

    def node(self, kind: str, inputs: list[Any], output: str, opset: int = 21, outputs: int = 1, **attributes: Any) -> Callable[[], Any]:
        """A function that runs an operator on arrays or the outputs of other nodes."""
        helper, types = self.onnx.helper, self.onnx.TensorProto
        values, infos = [], []
        for i, value in enumerate(inputs):
            if isinstance(value, np.ndarray):
                value = self.runtime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(value))
            values.append(value)
            infos.append(helper.make_tensor_value_info(f"x{i}", value.element_type(), value.shape()))
        made = [output, "FLOAT", output][:outputs]
        results = [helper.make_tensor_value_info(f"y{i}", getattr(types, name), None) for i, name in enumerate(made)]
        node = helper.make_node(kind, [info.name for info in infos], [result.name for result in results], **attributes)
        model = helper.make_model(
            helper.make_graph([node], kind, infos, results), opset_imports=[helper.make_opsetid("", opset)], ir_version=10
        )
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        session = self.runtime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        binding = session.io_binding()
        for info, value in zip(infos, values, strict=True):
            binding.bind_ortvalue_input(info.name, value)

        def run() -> Any:
            for result in results:
                binding.bind_output(result.name, "cpu")
            session.run_with_iobinding(binding)
            return binding.get_outputs()

        return run

    def contests(self, n: int, source: str) -> Iterator[Contest]:
        if source != "float32":
            return  # It quantizes float32 and float16 only.
        x = weights(source, n)
        scale = np.float32(0.1)
        rows = (np.abs(x).max(axis=1) / np.float32(127)).astype(np.float32)
        blocks = (np.abs(x).reshape(len(x), -1, 128).max(axis=2) / np.float32(7)).astype(np.float32)
        linear: list[tuple[str, str, Any, Any, dict[str, Any]]] = [
            ("int8 per tensor", "int8", scale, None, {}),
            ("uint8 per tensor with a zero point", "uint8", scale, np.uint8(120), {}),
            ("int8 per row", "int8", rows, None, {"axis": 0}),
            ("int8 per block of 128", "int8", blocks, None, {"axis": 1, "block_size": 128}),
            ("int4 per block of 128", "int4", blocks, None, {"axis": 1, "block_size": 128}),
            ("float8_e4m3fn per tensor", "float8_e4m3fn", scale, None, {}),
        ]
        schemes = {
            "int8 per row": ("int8-row", rows.reshape(-1, 1)),
            "int4 per block of 128": ("int4-group128", blocks),
            "float8_e4m3fn per tensor": ("fp8-tensor", scale.reshape(1, 1)),
        }
        for name, dtype, scales, zero_point, attributes in linear:
            more = [np.asarray(value) for value in (scales, zero_point) if value is not None]
            output = {"float8_e4m3fn": "FLOAT8E4M3FN"}.get(dtype, dtype.upper())
            code = getattr(self.onnx.TensorProto, output)
            quantize = self.node("QuantizeLinear", [x, *more], output, **attributes, output_dtype=code)
            own = functools.partial(lanecast.onnx.quantize_linear, x, scales, zero_point, opset=21, output_dtype=dtype, **attributes)
            codes = own()
            yield Contest(f"QuantizeLinear, {name}", source, functools.partial(own, out=codes), quantize)
            dequantize = self.node("DequantizeLinear", [quantize()[0], *more], "FLOAT", **attributes)
            numbers = np.empty_like(x)
            back = functools.partial(lanecast.onnx.dequantize_linear, codes, scales, zero_point, opset=21, out=numbers, **attributes)
            yield Contest(f"DequantizeLinear, {name}", source, back, dequantize)
            if name in schemes:
                scheme, given = schemes[name]
                by_scheme = functools.partial(lanecast.quantize, x, scheme, scales=given)
                yield Contest(f"the same by `{scheme}`, quantize", source, by_scheme, quantize)
                scheme_back = functools.partial(by_scheme().dequantize, out=numbers)
                yield Contest(f"the same by `{scheme}`, dequantize", source, scheme_back, dequantize)
        dynamic = self.node("DynamicQuantizeLinear", [x], "UINT8", outputs=3)
        codes = np.empty(x.shape, np.uint8)
        own = functools.partial(lanecast.onnx.dynamic_quantize_linear, x, opset=21, out=codes)
        yield Contest("DynamicQuantizeLinear", source, own, dynamic)


def tensor(source: str, n: int) -> Any:
    import torch

    return torch.from_numpy(numbers(source, n)).reshape(-1, COLUMNS).to(getattr(torch, source))


class Torch:
    """What users of PyTorch write."""

    def __init__(self) -> None:
        import torch

        torch.set_num_threads(1)
        self.torch, self.version = torch, f"torch {torch.__version__}"

    def contests(self, n: int, source: str) -> Iterator[Contest]:
        torch = self.torch
        x = tensor(source, n)
        dtype, e4m3 = getattr(torch, source), torch.float8_e4m3fn

        def by_row() -> Any:
            scale = x.abs().amax(dim=-1, keepdim=True).float() / 448
            return (x / scale).clamp(-448, 448).to(e4m3), scale

        def by_tensor() -> Any:
            scale = x.abs().max().float() / 448
            return (x.float() / scale).clamp(-448, 448).to(e4m3), scale

        def by_group() -> Any:
            groups = x.view(-1, 128)
            scale = groups.abs().amax(dim=-1, keepdim=True).float() / 448
            return (groups / scale).clamp(-448, 448).to(e4m3).view(x.shape), scale

        def int8_by_row() -> Any:
            scale = x.abs().amax(dim=-1, keepdim=True).float() / 127
            return (x / scale).round().clamp(-127, 127).to(torch.int8), scale

        def multiplied(codes: Any, scale: Any) -> Any:
            return (codes.to(torch.float32) * scale).to(dtype).view(x.shape)

        schemes: list[tuple[str, Callable[[], Any], tuple[int, ...]]] = [
            ("fp8-row-divide", by_row, (-1, 1)),
            ("fp8-tensor", by_tensor, ()),
            ("fp8-group128", by_group, (-1, COLUMNS // 128, 1)),
            ("int8-row", int8_by_row, (-1, 1)),
        ]
        for scheme, quantize, shape in schemes:
            yield Contest(f"quantize `{scheme}`", source, functools.partial(lanecast.quantize, x, scheme), quantize)
            q = lanecast.quantize(x, scheme)
            codes, scale = q.data, q.scales.reshape(shape)
            folded = codes.view(len(x), -1, 128) if scheme == "fp8-group128" else codes
            yield Contest(
                f"dequantize `{scheme}`",
                source,
                functools.partial(q.dequantize, source),
                functools.partial(multiplied, folded, scale),
            )
        if source != "float32":
            return  # Quantized tensors are made of float32 only.
        rows = x.abs().amax(dim=-1) / 127
        zeros = torch.zeros(len(x), dtype=torch.int64)
        yield Contest(
            "quantize_per_channel, qint8, beside `int8-row`",
            source,
            lambda: lanecast.quantize(x, "int8-row", scales=rows.reshape(-1, 1)),
            lambda: torch.quantize_per_channel(x, rows, zeros, 0, torch.qint8),
        )
        yield Contest(
            "quantize_per_tensor, quint8, beside QuantizeLinear",
            source,
            lambda: lanecast.onnx.quantize_linear(x, np.float32(0.1), np.uint8(120), opset=21),
            lambda: torch.quantize_per_tensor(x, 0.1, 120, torch.quint8),
        )
        q = torch.quantize_per_channel(x, rows, zeros, 0, torch.qint8)
        codes = q.int_repr()
        yield Contest(
            "dequantize of qint8 per channel, beside `int8-row`",
            source,
            lambda: lanecast.dequantize(codes, rows.reshape(-1, 1), "int8-row", tuple(x.shape)),
            q.dequantize,
        )


class TorchAO:
    """Functions of torchao, not compiled."""

    def __init__(self) -> None:
        from importlib.metadata import version

        import torch
        from torchao.prototype.mx_formats import mx_tensor, nvfp4_tensor
        from torchao.quantization import quant_primitives

        torch.set_num_threads(1)
        self.torch, self.mx, self.nvfp4, self.affine = torch, mx_tensor, nvfp4_tensor, quant_primitives
        self.version = f"torchao {version('torchao')}"

    def contests(self, n: int, source: str) -> Iterator[Contest]:
        torch, mx = self.torch, self.mx
        x = tensor(source, n)
        dtype = getattr(torch, source)
        modes = mx.ScaleCalculationMode
        kinds = {"float8_e4m3fn": torch.float8_e4m3fn, "float4_e2m1fn": torch.float4_e2m1fn_x2}

        def to_mx(kind: Any, mode: Any) -> Any:
            return mx.to_mx(x, kind, 32, mode)[::-1]  # the codes first

        for scheme, mode, element in [
            ("mx-ocp", modes.FLOOR, "float8_e4m3fn"),
            ("mx", modes.RCEIL, "float8_e4m3fn"),
            ("mx-ocp", modes.FLOOR, "float4_e2m1fn"),
        ]:
            kind = kinds[element]
            yield Contest(
                f"quantize `{scheme}`, {element}",
                source,
                functools.partial(lanecast.quantize, x, scheme, element=element),
                functools.partial(to_mx, kind, mode),
            )
            q = lanecast.quantize(x, scheme, element=element)
            if mode is modes.FLOOR:
                yield Contest(
                    f"dequantize `{scheme}`, {element}",
                    source,
                    functools.partial(q.dequantize, source),
                    functools.partial(mx.to_dtype, q.data, q.scales.view(torch.float8_e8m0fnu), kind, 32, dtype),
                )
        whole = x.float().abs().max() / (448 * 6)
        yield Contest(
            "quantize `torchao-nvfp4`",
            source,
            lambda: lanecast.quantize(x, "torchao-nvfp4"),
            lambda: self.nvfp4.nvfp4_quantize(x, 16, x.abs().max().float() / (448 * 6))[::-1],
        )
        q4 = lanecast.quantize(x, "torchao-nvfp4")
        packed = self.nvfp4.NVFP4Tensor(q4.data, q4.scales, 16, dtype, whole)
        yield Contest("dequantize `torchao-nvfp4`", source, lambda: q4.dequantize(source), lambda: packed.dequantize(dtype))
        affine = self.affine
        yield Contest(
            "quantize `fp8-row-divide`",
            source,
            lambda: lanecast.quantize(x, "fp8-row-divide"),
            lambda: affine._quantize_affine_float8(x, affine._choose_scale_float8(x, [1, COLUMNS])),
        )
        scales = x.float().abs().view(len(x), -1, 128).amax(dim=-1) / 7
        zeros = torch.zeros(scales.shape, dtype=torch.int8)
        group, bounds = (1, 128), (torch.int8, -8, 7)
        yield Contest(
            "quantize `int4-group128`, scales given",
            source,
            lambda: lanecast.quantize(x, "int4-group128", scales=scales, storage="byte"),
            lambda: affine.quantize_affine(x, group, scales, zeros, *bounds) & 15,
        )
        codes = affine.quantize_affine(x, group, scales, zeros, *bounds)
        yield Contest(
            "dequantize `int4-group128`",
            source,
            lambda: lanecast.dequantize(codes, scales, "int4-group128", tuple(x.shape), source, storage="byte"),
            lambda: affine.dequantize_affine(codes, group, scales, zeros, *bounds, output_dtype=dtype),
        )


class Blocks:
    """`lanecast::gguf`, which the Python module does not have: the shared object that `cargo build --release -p lanecast-blocks` makes."""

    def __init__(self, path: str) -> None:
        try:
            self.library = ctypes.CDLL(path)
        except OSError as error:
            raise ImportError(f"`cargo build --release -p lanecast-blocks` makes {path}: {error}") from error

    def quantize(self, name: str, x: np.ndarray[Any, Any], size: int) -> np.ndarray[Any, Any]:
        return self.run(self.library.lanecast_gguf_quantize, name, x, np.empty(size, np.uint8), x.size)

    def dequantize(self, name: str, blocks: np.ndarray[Any, Any], n: int) -> np.ndarray[Any, Any]:
        return self.run(self.library.lanecast_gguf_dequantize, name, blocks, np.empty(n, np.float32), n)

    @staticmethod
    def run(function: Any, name: str, x: np.ndarray[Any, Any], out: np.ndarray[Any, Any], n: int) -> np.ndarray[Any, Any]:
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (x, out)]
        if not function(name.encode(), *pointers, ctypes.c_size_t(n)):
            raise ValueError(f"{name} of {n} elements")
        return out


#: The formats that are encoded, and those that are decoded only.
ENCODED = "Q8_0 Q4_0 Q4_1 Q5_0 Q5_1 MXFP4 NVFP4".split()
DECODED = "Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_NL IQ4_XS TQ1_0 TQ2_0".split()


class Gguf:
    """The package `gguf`, which computes in NumPy. Formats that lanecast only decodes have the blocks of random bytes."""

    def __init__(self, blocks: Blocks) -> None:
        from importlib.metadata import version

        import gguf

        self.gguf, self.blocks, self.version = gguf, blocks, f"gguf {version('gguf')}"

    def block_bytes(self, name: str, n: int) -> int:
        per_block, size = self.gguf.GGML_QUANT_SIZES[self.gguf.GGMLQuantizationType[name]]
        return int(n // per_block * size)

    def stored(self, name: str, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Blocks to decode."""
        size = self.block_bytes(name, x.size)
        if name in ENCODED:
            return self.blocks.quantize(name, x, size)
        # Bytes below 0x7C make finite scales.
        return np.random.default_rng(1).integers(0, 0x7C, size, np.uint8)

    def peer_quantize(self, name: str, x: np.ndarray[Any, Any]) -> Callable[[], Any] | None:
        kind = self.gguf.GGMLQuantizationType[name]
        return lambda: self.gguf.quants.quantize(x, kind)

    def peer_dequantize(self, name: str, blocks: np.ndarray[Any, Any], n: int) -> Callable[[], Any] | None:
        kind = self.gguf.GGMLQuantizationType[name]
        per_row = self.gguf.GGML_QUANT_SIZES[kind]
        rows = blocks.reshape(-1, COLUMNS // per_row[0] * per_row[1])
        return lambda: self.gguf.quants.dequantize(rows, kind)

    def contests(self, n: int, source: str) -> Iterator[Contest]:
        if source != "float32":
            return
        x = weights(source, n)
        for name in ENCODED + DECODED:
            size = self.block_bytes(name, n)
            encode = self.peer_quantize(name, x)
            if name in ENCODED and encode:
                yield Contest(f"{name}, encode", source, functools.partial(self.blocks.quantize, name, x, size), encode)
            stored = self.stored(name, x)
            if decode := self.peer_dequantize(name, stored, n):
                yield Contest(f"{name}, decode", source, functools.partial(self.blocks.dequantize, name, stored, n), decode)


class Ggml(Gguf):
    """The reference functions of ggml, compiled C, in `libggml-base.so`."""

    def __init__(self, blocks: Blocks, path: str) -> None:
        super().__init__(blocks)
        try:
            self.library = ctypes.CDLL(path)
        except OSError as error:
            raise ImportError(f"--ggml: {error}") from error
        self.library.ggml_version.restype = ctypes.c_char_p
        self.version = f"ggml {self.library.ggml_version().decode()}"

    def function(self, name: str, source: np.ndarray[Any, Any], out: Callable[[], Any], n: int) -> Callable[[], Any] | None:
        function = getattr(self.library, name, None)
        if function is None:
            return None

        def run() -> Any:
            result = out()
            function(ctypes.c_void_p(source.ctypes.data), ctypes.c_void_p(result.ctypes.data), ctypes.c_int64(n))
            return result

        return run

    def peer_quantize(self, name: str, x: np.ndarray[Any, Any]) -> Callable[[], Any] | None:
        size = self.block_bytes(name, x.size)
        return self.function(f"quantize_row_{name.lower()}_ref", x, lambda: np.empty(size, np.uint8), x.size)

    def peer_dequantize(self, name: str, blocks: np.ndarray[Any, Any], n: int) -> Callable[[], Any] | None:
        return self.function(f"dequantize_row_{name.lower().replace('_k', '_K')}", blocks, lambda: np.empty(n, np.float32), n)
