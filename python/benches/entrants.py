"""The libraries that `matrix.py` compares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import ml_dtypes
import numpy as np

import lanecast

#: The dtypes of the matrix.
NAMES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128 "
    "float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn int4 uint4"
).split()
#: The size at which memory is measured.
LARGE = 8 << 20


def numpy_dtype(name: str) -> np.dtype[Any]:
    return np.dtype(getattr(ml_dtypes, name, None) or getattr(np, "bool_" if name == "bool" else name))


def numbers(name: str, n: int) -> np.ndarray[Any, Any]:
    """Small numbers that the dtype can hold, the same for all libraries: integers, or normally distributed floats."""
    rng = np.random.default_rng(1)
    if name == "bool":
        return rng.integers(0, 2, n).astype(np.float32)
    if "int" in name:
        low, high = {"int4": (-8, 8), "uint4": (0, 16)}.get(name, (0 if name[0] == "u" else -100, 100))
        return rng.integers(low, high, n).astype(np.float32)
    values = rng.standard_normal(n, dtype=np.float32) * 4
    return np.abs(values) if name == "float8_e8m0fnu" else values


class Entrant(Protocol):
    """A library to compare, or lanecast with the arrays of one."""

    name: str
    version: str
    #: The entrant to compare this library with: lanecast with arrays of the same library, or of NumPy if it takes no others.
    own: str

    def source(self, name: str, n: int) -> Any:
        """An array of the dtype."""

    def cast(self, source: Any, name: str) -> Callable[[], Any]:
        """A function that casts the array to a new array of the dtype."""

    def dtype_name(self, name: str) -> str:
        """The library's name of the dtype."""

    def described(self, result: Any) -> tuple[str, int]:
        """The library's name of the dtype of an array, and the number of its elements."""


class NumPy:
    name, own = "numpy", "lanecast"

    def __init__(self, threads: int = 0) -> None:
        self.version = f"numpy {np.__version__} with ml_dtypes {ml_dtypes.__version__}"

    def source(self, name: str, n: int) -> Any:
        return numbers(name, n).astype(numpy_dtype(name))

    def cast(self, source: Any, name: str) -> Callable[[], Any]:
        dtype = numpy_dtype(name)
        return lambda: source.astype(dtype)

    def dtype_name(self, name: str) -> str:
        return name

    def described(self, result: Any) -> tuple[str, int]:
        return result.dtype.name, result.size


class Lanecast(NumPy):
    """`lanecast.astype` on arrays of NumPy."""

    name = "lanecast"

    def cast(self, source: Any, name: str) -> Callable[[], Any]:
        dtype = numpy_dtype(name)
        return lambda: lanecast.astype(source, dtype)


class Torch:
    name, own = "torch", "lanecast with torch"

    def __init__(self, threads: int = 0) -> None:
        import torch

        self.torch, self.version = torch, f"torch {torch.__version__}"
        if threads:
            torch.set_num_threads(threads)

    def source(self, name: str, n: int) -> Any:
        return self.torch.from_numpy(numbers(name, n)).to(self.dtype(name))

    def dtype(self, name: str) -> Any:
        if name in ("int4", "uint4", "float4_e2m1fn"):
            raise TypeError(f"PyTorch does not cast {name}")
        return getattr(self.torch, name)

    def cast(self, source: Any, name: str) -> Callable[[], Any]:
        dtype = self.dtype(name)
        return lambda: source.to(dtype)

    def dtype_name(self, name: str) -> str:
        return f"torch.{name}"

    def described(self, result: Any) -> tuple[str, int]:
        return str(result.dtype), result.numel()


class LanecastTorch(Torch):
    """`lanecast.astype` on tensors of PyTorch."""

    name = "lanecast with torch"

    def cast(self, source: Any, name: str) -> Callable[[], Any]:
        dtype = self.dtype(name)
        return lambda: lanecast.astype(source, dtype)


class NumKong:
    """Uses one thread. Its `int4` and `uint4` are packed, two elements per byte."""

    name, own = "numkong", "lanecast"

    def __init__(self, threads: int = 0) -> None:
        from importlib.metadata import version

        import numkong

        self.numkong, self.version = numkong, f"numkong {version('numkong')}"

    def source(self, name: str, n: int) -> Any:
        # Its casts of values out of range are undefined.
        values = np.abs(numbers(name, n))
        source = self.numkong.Tensor(np.minimum(values, 7) if name == "int4" else values)
        return source if name == "float32" else source.astype(self.dtype_name(name))

    def cast(self, source: Any, name: str) -> Callable[[], Any]:
        dtype = self.dtype_name(name)
        return lambda: source.astype(dtype)

    def dtype_name(self, name: str) -> str:
        return {"float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}.get(name, name)

    def described(self, result: Any) -> tuple[str, int]:
        return str(result.dtype), result.size


class Jax:
    """`astype`, compiled by `jax.jit`, on the CPU."""

    name, own = "jax", "lanecast with jax"

    def __init__(self, threads: int = 0) -> None:
        import jax

        jax.config.update("jax_platforms", "cpu")
        jax.config.update("jax_enable_x64", True)
        self.jax, self.version = jax, f"jax {jax.__version__}"

    def source(self, name: str, n: int) -> Any:
        return self.jax.numpy.asarray(numbers(name, n).astype(numpy_dtype(name))).block_until_ready()

    def cast(self, source: Any, name: str) -> Callable[[], Any]:
        dtype = numpy_dtype(name)
        compiled = self.jax.jit(lambda x: x.astype(dtype))
        return lambda: compiled(source).block_until_ready()

    def dtype_name(self, name: str) -> str:
        return name

    def described(self, result: Any) -> tuple[str, int]:
        return result.dtype.name, result.size


class LanecastJax(Jax):
    """`lanecast.astype` on arrays of JAX."""

    name = "lanecast with jax"

    def cast(self, source: Any, name: str) -> Callable[[], Any]:
        dtype = numpy_dtype(name)
        return lambda: lanecast.astype(source, dtype).block_until_ready()


PEERS: dict[str, Callable[[int], Entrant]] = {"numpy": NumPy, "torch": Torch, "numkong": NumKong, "jax": Jax}
OWN: dict[str, Callable[[int], Entrant]] = {"lanecast": Lanecast, "lanecast with torch": LanecastTorch, "lanecast with jax": LanecastJax}
