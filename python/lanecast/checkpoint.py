"""Model checkpoints: directories and files of safetensors, PyTorch, NumPy and GGUF, quantized or not.

    >>> from lanecast import checkpoint
    >>> model = checkpoint.Checkpoint("DeepSeek-V3")  # doctest: +SKIP
    >>> model.layout, len(model)  # doctest: +SKIP
    ('block fp8', 1234)
    >>> model["model.layers.0.mlp.down_proj.weight"].read("bfloat16")  # doctest: +SKIP

A weight of a quantized checkpoint is one tensor here, whatever parts the layout has. Reading decodes it: each value is the exact product of code
and scale, rounded once. The functions write whole checkpoints, with the configuration that loaders expect. Their output appears complete or
not at all.

``progress`` is called with the bytes done, all bytes, the file and the tensor. An exception that it raises ends the work.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _lanecast
from ._lanecast import DType
from ._lanecast import dtype as _dtype

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Checkpoint", "Weight", "check", "compare", "convert", "dequantize", "quantize", "requantize"]

_Path = str | os.PathLike[str]
_Progress = Callable[[int, int, str, str], object]


class Weight:
    """A tensor of a checkpoint as a plain checkpoint would have it.

    Attributes:
        name: its name in a plain checkpoint.
        shape: the shape, in elements.
        dtype: the dtype that it is stored as; None for codes.
        layout: the layout of its codes; ``"plain"`` if it has none.
        nbytes: the bytes that it takes in the checkpoint, with those of its scales.
    """

    name: str
    shape: tuple[int, ...]
    dtype: DType | None
    layout: str
    nbytes: int

    def __init__(self, checkpoint: _lanecast.Checkpoint, row: tuple[Any, ...]) -> None:
        self._checkpoint = checkpoint
        self.name, shape, encoding, self.layout, self.nbytes = row
        self.shape = tuple(shape)
        self.dtype = None if encoding is None else encoding.dtype

    def read(self, dtype: Any = None, /, *, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Decodes the tensor to a NumPy array.

        Args:
            dtype: the dtype of the result: a float of at least 16 bits for codes. By default the stored dtype, and ``float32`` for codes.
            out: a C-contiguous array of this shape and dtype to write to.

        Raises:
            FormatError: parts of the tensor are damaged, or a scale is NaN or infinite.
        """
        import numpy as np

        to = _dtype((self.dtype or "float32") if dtype is None else dtype)
        numpy = to.numpy if to.numpy.itemsize == 1 else to.numpy.newbyteorder("<")
        if out is None:
            out = np.empty(self.shape, numpy)
        elif out.shape != self.shape or out.dtype != numpy or not out.flags.c_contiguous:
            raise ValueError(
                f"out is {out.dtype} {out.shape}, and the tensor {to.name} {self.shape}; pass a C-contiguous array of that dtype and shape"
            )
        self._checkpoint.read(self.name, to, out.reshape(-1).view(np.uint8))
        return out

    def __repr__(self) -> str:
        return f"<Weight {self.name!r}: {self.dtype.name if self.dtype else self.layout} {self.shape}>"


class Checkpoint(Mapping[str, Weight]):
    """An open checkpoint: a mapping from names to weights, in the order of the files.

    Args:
        path: a directory, or a ``.safetensors``, ``.gguf``, ``.npz`` or PyTorch file.
        allow_nan: whether scales may be NaN or infinite. Otherwise reading such a weight is an error.

    Attributes:
        path: the path.
        layout: the layout of the weights that are quantized; ``"plain"`` if none is.
        warnings: what a reader should know.

    Raises:
        OSError: a file cannot be opened.
        FormatError: files, index, configuration and tensors do not agree, or a layout is not decoded.
    """

    path: str
    layout: str
    warnings: list[str]

    def __init__(self, path: _Path, *, allow_nan: bool = False) -> None:
        self.path = os.fspath(path)
        checkpoint = _lanecast.Checkpoint(self.path, allow_nan)
        self.layout, self.warnings = checkpoint.layout(), checkpoint.warnings()
        self._weights = {row[0]: Weight(checkpoint, row) for row in checkpoint.tensors()}

    def __getitem__(self, name: str) -> Weight:
        return self._weights[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._weights)

    def __len__(self) -> int:
        return len(self._weights)

    def __repr__(self) -> str:
        return f"<Checkpoint {self.path!r}: {len(self)} tensors, {self.layout}>"


def dequantize(
    src: _Path,
    dst: _Path,
    /,
    *,
    to: Any,
    allow_nan: bool = False,
    overwrite: bool = False,
    progress: _Progress | None = None,
) -> dict[str, Any]:
    """Decodes all weights of a quantized checkpoint, and writes a plain one.

    Args:
        src, dst: the checkpoint, and the directory to write; a ``.safetensors`` file may become a file.
        to: the dtype of decoded weights: ``"bfloat16"``, ``"float16"`` or ``"float32"``.
        allow_nan: whether scales may be NaN or infinite.
        overwrite: whether to replace ``dst``, with all that is in it.
        progress: see the module.

    Returns:
        A report: numbers of tensors and bytes, files, and warnings.
    """
    return _report(
        _lanecast.checkpoint_dequantize(os.fspath(src), os.fspath(dst), to, allow_nan, overwrite, progress)
    )


def convert(
    src: _Path,
    dst: _Path,
    /,
    *,
    to: Any,
    map: Mapping[str, Any] | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    max_shard_size: int | None = None,
    resume: bool = False,
    verify: bool = False,
    allow_quantized: bool = False,
    overwrite: bool = False,
    progress: _Progress | None = None,
) -> dict[str, Any]:
    """Casts the tensors of a checkpoint, and writes the checkpoint with its configuration and all other files.

    Args:
        src, dst: the checkpoint, and the directory to write; a ``.safetensors`` file may become a file.
        to: the dtype that floats are cast to. Integers and bools keep theirs, and so do routers and other tensors that need it.
        map: dtypes by globs of names; the first that matches decides.
        include: globs of the tensors to cast; all if there are none.
        exclude: globs of tensors to copy.
        max_shard_size: the largest number of bytes of tensors in a file; by default the files of the source.
        resume: whether to go on with what an earlier run left unfinished.
        verify: whether to read the output again and compare it with a second cast.
        allow_quantized: whether codes and scales may be cast as they are, which destroys the weights.
        overwrite: whether to replace ``dst``, with all that is in it.
        progress: see the module.

    Returns:
        A report: numbers of tensors and bytes, files, losses, and warnings.
    """
    flags = (resume, verify, allow_quantized, overwrite)
    rows = list((map or {}).items())
    paths = (os.fspath(src), os.fspath(dst))
    return _report(
        _lanecast.checkpoint_convert(*paths, to, rows, list(include), list(exclude), max_shard_size, flags, progress)
    )


def quantize(
    src: _Path,
    dst: _Path,
    /,
    *,
    scheme: str,
    layout: str,
    map: Mapping[str, str] | None = None,
    ignore: Sequence[str] = (),
    double_quant: bool = False,
    overwrite: bool = False,
    progress: _Progress | None = None,
) -> dict[str, Any]:
    """Quantizes the weights of a plain checkpoint, and writes what loaders of the layout expect. Nothing is calibrated.

    Args:
        src, dst: the checkpoint, and the directory to write.
        scheme: the codes of weights, such as ``"nvfp4"`` or ``"fp8-dynamic"``.
        layout: how they are stored, such as ``"compressed-tensors"``.
        map: schemes by globs of names; the first that matches decides.
        ignore: globs of weights that stay as they are.
        double_quant: whether the scales of ``"nf4"`` and ``"fp4"`` are quantized themselves.
        overwrite: whether to replace ``dst``, with all that is in it.
        progress: see the module.

    Returns:
        A report: numbers of weights and bytes, the modules that stay, files, and warnings.
    """
    flags = (False, double_quant, overwrite)
    return _quantize(src, dst, scheme, layout, map, ignore, flags, progress)


def requantize(
    src: _Path,
    dst: _Path,
    /,
    *,
    scheme: str,
    layout: str,
    map: Mapping[str, str] | None = None,
    ignore: Sequence[str] = (),
    overwrite: bool = False,
    progress: _Progress | None = None,
) -> dict[str, Any]:
    """Moves a quantized checkpoint to another scheme without loss. It is an error if one value would change.

    The arguments and the result are those of ``quantize``.
    """
    return _quantize(src, dst, scheme, layout, map, ignore, (True, False, overwrite), progress)


def check(path: _Path, /, *, loader: str | None = None) -> dict[str, Any]:
    """Checks a checkpoint: partners, dtypes, shapes, configuration, index and scales, and whether a loader reads it.

    Args:
        path: the checkpoint.
        loader: ``"vllm"``, ``"sglang"``, ``"transformers"``, ``"llama.cpp"``, ``"mlx"`` or ``"comfy"``.

    Returns:
        A report, whose ``"findings"`` are dictionaries.
    """
    return _report(_lanecast.checkpoint_check(os.fspath(path), loader))


def compare(a: _Path, b: _Path, /, *, progress: _Progress | None = None) -> dict[str, Any]:
    """Compares the decoded tensors of two checkpoints.

    Returns:
        A report, whose ``"tensors"`` have the largest, mean and relative error, the signal-to-noise ratio, the cosine and the distance in ulps.
    """
    return _report(_lanecast.checkpoint_compare(os.fspath(a), os.fspath(b), progress))


def _quantize(
    src: _Path,
    dst: _Path,
    scheme: str,
    layout: str,
    map: Mapping[str, str] | None,
    ignore: Sequence[str],
    flags: tuple[bool, bool, bool],
    progress: _Progress | None,
) -> dict[str, Any]:
    rows = list((map or {}).items())
    paths = (os.fspath(src), os.fspath(dst))
    return _report(_lanecast.checkpoint_quantize(*paths, scheme, layout, rows, list(ignore), flags, progress))


def _report(text: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(text)
    return report


# ---- FAKE, not committed ----
import pathlib as _p, shutil as _s, time as _t, typing as _ty

class Task(_ty.NamedTuple):
    id: int
    phase: str
    bytes: int
    ranges: tuple

class Plan:
    def __init__(self, d, path=None):
        self.d, self.path = d, path
        self.tasks = [Task(t[0], t[1], t[2], tuple(map(tuple, t[3]))) for t in d["tasks"]]
    def save(self, path):
        _p.Path(path).write_text(json.dumps(self.d)); self.path = str(path)
    @classmethod
    def load(cls, path):
        return cls(json.loads(_p.Path(path).read_text()), str(path))

def plan(src, dst, /, *, range_size=2**30, to=None, quantize=None, dequantize=None, layout="compressed-tensors"):
    ref = str(dst) + "-ref"
    if to: report = convert(src, ref, to=to)
    elif quantize: report = globals()["quantize"](src, ref, scheme=quantize, layout=layout)
    else: report = globals()["dequantize"](src, ref, to=dequantize)
    files = sorted(str(p.relative_to(ref)) for p in _p.Path(ref).rglob("*.safetensors"))
    ranges = [["range", min(range_size, n - i), [[f, i, min(i + range_size, n)]]] for f in files for n in [os.path.getsize(f"{ref}/{f}")] for i in range(0, n, range_size)]
    tasks = [["amax", t[1], []] for t in ranges] * bool(quantize) + [["prepare", 0, [[f, 0, 0]]] for f in files] + ranges + [["shard", 0, [[f, 0, 0]]] for f in files] + [["finish", 0, []]]
    stamps = {str(p): p.stat().st_size for p in _p.Path(src).glob("*.safetensors")}
    return Plan({"stamps": stamps, "report": report, "ref": ref, "dst": str(dst), "tasks": [[i, *t] for i, t in enumerate(tasks)]})

def _of(p):
    return p if isinstance(p, Plan) else Plan.load(p)

def _work(p): return _p.Path(p.d["dst"] + ".lanecast-12")

def pending(p, /, *, phase=None):
    p = _of(p)
    if os.path.exists(p.d["dst"]):
        return []
    return [t.id for t in p.tasks if (phase is None or t.phase == phase) and not (_work(p) / f"done/{t.id}.json").exists()]

_order = ["amax", "prepare", "range", "shard", "finish"]
def run_task(p, id, /, *, threads=None, progress=None):
    p = _of(p); t = p.tasks[id]; w = _work(p)
    for d in ("done", "parts"): (w / d).mkdir(exist_ok=True, parents=True)
    if id not in pending(p):
        return {"id": id, "phase": t.phase, "skipped": True}
    for f, n in p.d["stamps"].items():
        if not os.path.exists(f) or os.path.getsize(f) != n: raise ValueError(f"the source has changed: {f}")
    early = [i for i in pending(p) if _order.index(p.tasks[i].phase) < _order.index(t.phase)]
    if early:
        raise ValueError(f"pending {early}")
    for f, a, b in t.ranges:
        if t.phase == "prepare":
            with open(w / "parts" / f, "ab") as g: g.truncate(os.path.getsize(p.d["ref"] + "/" + f))
        if t.phase == "range":
            with open(p.d["ref"] + "/" + f, "rb") as h, open(w / "parts" / f, "r+b") as g:
                h.seek(a); g.seek(a); g.write(h.read(b - a)); g.flush(); os.fsync(g.fileno())
    tmp = w / f"done/{id}.tmp{os.getpid()}"
    tmp.write_text("{}"); os.rename(tmp, w / f"done/{id}.json")
    return {"id": id, "phase": t.phase, "skipped": False}

def finish(p, /, *, threads=None, progress=None):
    p = _of(p)
    for i in pending(p, phase="shard"): run_task(p, i)
    if not os.path.exists(p.d["dst"]):
        if left := [i for i in pending(p)[:-1]]:
            raise ValueError(f"left {left}")
        new = p.d["dst"] + f"-new{os.getpid()}"
        _s.copytree(p.d["ref"], new)
        for f in (_work(p) / "parts").iterdir(): _s.copy(f, new)
        try: os.rename(new, p.d["dst"])
        except OSError: pass
    return p.d["report"]
