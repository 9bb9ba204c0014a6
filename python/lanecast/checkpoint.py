"""Model checkpoints: directories and files of safetensors, PyTorch, NumPy and GGUF, quantized or not.

    >>> from lanecast import checkpoint
    >>> model = checkpoint.Checkpoint("DeepSeek-V3")  # doctest: +SKIP
    >>> model.layout, len(model)  # doctest: +SKIP
    ('block fp8', 1234)
    >>> model["model.layers.0.mlp.down_proj.weight"].read("bfloat16")  # doctest: +SKIP

A weight of a quantized checkpoint is one tensor here, whatever parts the layout has. Reading decodes it: each value is the exact product of code
and scale, rounded once. The functions write whole checkpoints, with the configuration that loaders expect. Their output appears complete or
not at all.

``plan`` divides what one of these functions does into tasks, which processes on many machines run: ``lanecast.distributed`` does.

``threads`` is the number of threads that read and compute, beside the one that writes; None is one for each core, at most eight.
``progress`` is called with the bytes done, all bytes, the file and the tensor. The tensor is an empty string once the whole file is on the disk.
An exception that it raises ends the work.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from . import _lanecast
from ._lanecast import DType
from ._lanecast import dtype as _dtype

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "Checkpoint",
    "Plan",
    "Task",
    "Weight",
    "check",
    "compare",
    "convert",
    "dequantize",
    "finish",
    "pending",
    "plan",
    "quantize",
    "requantize",
    "run_task",
]

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
        threads: the threads that decode a weight; None is one for each core, at most eight.

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

    def __init__(self, path: _Path, *, allow_nan: bool = False, threads: int | None = None) -> None:
        self.path = os.fspath(path)
        checkpoint = _lanecast.Checkpoint(self.path, allow_nan, threads)
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
    threads: int | None = None,
    progress: _Progress | None = None,
) -> dict[str, Any]:
    """Decodes all weights of a quantized checkpoint, and writes a plain one.

    Args:
        src, dst: the checkpoint, and the directory to write; a ``.safetensors`` file may become a file.
        to: the dtype of decoded weights: ``"bfloat16"``, ``"float16"`` or ``"float32"``.
        allow_nan: whether scales may be NaN or infinite.
        overwrite: whether to replace ``dst``, with all that is in it.
        threads, progress: see the module.

    Returns:
        A report: numbers of tensors and bytes, files, and warnings.
    """
    return _report(
        _lanecast.checkpoint_dequantize(os.fspath(src), os.fspath(dst), to, allow_nan, overwrite, threads, progress)
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
    wait: float | None = None,
    verify: bool = False,
    allow_quantized: bool = False,
    overwrite: bool = False,
    threads: int | None = None,
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
        wait: the seconds to wait for files of ``src`` that are missing or incomplete. Complete files are cast meanwhile. The wait begins again
            with each change of the directory. None makes a missing file an error at once. Without ``max_shard_size``, a file of ``src`` may be
            removed once ``progress`` is called with its name and an empty tensor.
        verify: whether to read the output again and compare it with a second cast.
        allow_quantized: whether codes and scales may be cast as they are, which destroys the weights.
        overwrite: whether to replace ``dst``, with all that is in it.
        threads, progress: see the module.

    Returns:
        A report: numbers of tensors and bytes, files, losses, and warnings.

    Raises:
        TimeoutError: nothing in ``src`` has changed for ``wait`` seconds, and files are missing. The same call with ``resume`` goes on.
    """
    flags = (resume, verify, allow_quantized, overwrite)
    rows = list((map or {}).items())
    paths = (os.fspath(src), os.fspath(dst))
    return _report(
        _lanecast.checkpoint_convert(*paths, to, rows, list(include), list(exclude), max_shard_size, wait, flags, threads, progress)
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
    like: _Path | None = None,
    experts: str = "split",
    double_quant: bool = False,
    overwrite: bool = False,
    threads: int | None = None,
    progress: _Progress | None = None,
) -> dict[str, Any]:
    """Quantizes the weights of a plain checkpoint, and writes what loaders of the layout expect. Nothing is calibrated.

    Args:
        src, dst: the checkpoint, and the directory to write.
        scheme: the codes of weights, such as ``"nvfp4"`` or ``"fp8-dynamic"``.
        layout: how they are stored, such as ``"compressed-tensors"``.
        map: schemes by globs of names; the first that matches decides.
        ignore: globs of weights that stay as they are.
        like: a file of ComfyUI whose layers have the schemes to use, for the layout ``"comfy"``. Weights that are plain in that file stay.
            ``scheme`` is for weights that the file lacks. ``map`` and ``ignore`` take precedence.
        experts: ``"split"`` makes modules of experts that the model stacks in one tensor; ``"keep"`` keeps such tensors as they are.
        double_quant: whether the scales of ``"nf4"`` and ``"fp4"`` are quantized themselves.
        overwrite: whether to replace ``dst``, with all that is in it.
        threads, progress: see the module.

    Returns:
        A report: numbers of weights and bytes, the modules that stay, files, and warnings.
    """
    flags = (False, double_quant, _keeps(experts), overwrite)
    return _quantize(src, dst, scheme, layout, map, ignore, like, flags, threads, progress)


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
    threads: int | None = None,
    progress: _Progress | None = None,
) -> dict[str, Any]:
    """Moves a quantized checkpoint to another scheme without loss. It is an error if one value would change.

    The arguments and the result are those of ``quantize``.
    """
    return _quantize(src, dst, scheme, layout, map, ignore, None, (True, False, False, overwrite), threads, progress)


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


class Task(NamedTuple):
    """A part of a plan that one process does alone.

    Attributes:
        id: its number, which is its place in the plan.
        phase: ``"amax"``, ``"prepare"``, ``"range"``, ``"shard"`` or ``"finish"``. Tasks of a phase need those of the phases before it.
        nbytes: the bytes that it writes; those that it reads if it is an ``"amax"``.
        ranges: names of files of the output, each with the first byte and the end of a range. Those of an ``"amax"`` have no name: they count
            through all weights that are measured.
        file: the file of the output that a ``"prepare"`` makes and a ``"shard"`` ends.
    """

    id: int
    phase: str
    nbytes: int
    ranges: tuple[tuple[str | None, int, int], ...] = ()
    file: str | None = None


class Plan:
    """An operation on a checkpoint, divided into tasks. ``plan`` makes one, and ``Plan.load`` reads it from a file.

    It has no state: folders beside the output say which tasks are done. A process that has opened the checkpoint for a task keeps it open.

    Attributes:
        operation: ``"convert"``, ``"dequantize"``, ``"quantize"`` or ``"requantize"``.
        source, output: the absolute paths.
    """

    operation: str
    source: str
    output: str

    def __init__(self, plan: _lanecast.Plan) -> None:
        self._plan = plan
        self.operation, self.source, self.output = plan.described()

    @staticmethod
    def load(path: _Path, /) -> Plan:
        """Reads a plan.

        Raises:
            OSError: the file cannot be read.
            FormatError: it is no plan, or that of another version.
        """
        return Plan(_lanecast.Plan.load(os.fspath(path)))

    def save(self, path: _Path, /) -> None:
        """Writes the plan to a file of JSON, which appears complete or not at all and replaces another one."""
        self._plan.save(os.fspath(path))

    @functools.cached_property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks, in the order of their numbers."""
        return tuple(
            Task(id, phase, nbytes, tuple(ranges), file) for id, (phase, nbytes, file, ranges) in enumerate(self._plan.tasks())
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError("a plan cannot be pickled; save it to a file, and hand over the path")

    def __repr__(self) -> str:
        return f"<Plan {self.operation} {self.source!r} to {self.output!r}: {len(self.tasks)} tasks>"


# The options of each operation of a plan, without those of all.
_OPTIONS = {
    "to": {"map", "include", "exclude", "max_shard_size", "allow_quantized"},
    "dequantize": {"allow_nan"},
    "quantize": {"layout", "map", "ignore", "like", "experts", "double_quant"},
    "requantize": {"layout", "map", "ignore"},
}


def plan(
    src: _Path,
    dst: _Path,
    /,
    *,
    to: Any = None,
    dequantize: Any = None,
    quantize: str | None = None,
    requantize: str | None = None,
    layout: str | None = None,
    map: Mapping[str, Any] | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    ignore: Sequence[str] = (),
    like: _Path | None = None,
    experts: str | None = None,
    max_shard_size: int | None = None,
    double_quant: bool = False,
    allow_nan: bool = False,
    allow_quantized: bool = False,
    overwrite: bool = False,
    range_size: int = 1 << 30,
    verify: bool = False,
) -> Plan:
    """Divides an operation into tasks that processes on many machines run. Headers are read, and nothing is written.

    One of these four says which function the plan stands for. The other options are those of the function:

    Args:
        src, dst: the checkpoint, and the directory to write. All machines must see both at these paths.
        to: the dtype of ``convert``, with ``map``, ``include``, ``exclude``, ``max_shard_size`` and ``allow_quantized``.
        dequantize: the dtype of ``dequantize``, with ``allow_nan``.
        quantize: the scheme of ``quantize``, with ``layout``, ``map``, ``ignore``, ``like``, ``experts`` and ``double_quant``.
        requantize: the scheme of ``requantize``, with ``layout``, ``map`` and ``ignore``.
        overwrite: whether to replace ``dst``, with all that is in it.
        range_size: the bytes of the output that a task writes, about. It writes more if a tensor cannot be divided so.
        verify: whether each file is read again before it is complete, and compared with the checksums of what was written.

    Returns:
        The plan. The same arguments give the same plan as long as the source is the same, and it goes on with what is done.

    Raises:
        TypeError: not one of the four is given, or an option that the function does not have.
    """
    operations = {"to": to, "dequantize": dequantize, "quantize": quantize, "requantize": requantize}
    chosen = [name for name, value in operations.items() if value is not None]
    if len(chosen) != 1:
        names = "to, dequantize, quantize or requantize"
        raise TypeError(f"a plan needs one of {names}, but it has {' and '.join(chosen) or 'none'}")
    options = {
        "layout": layout,
        "map": map,
        "include": include,
        "exclude": exclude,
        "ignore": ignore,
        "like": like,
        "experts": experts,
        "max_shard_size": max_shard_size,
        "double_quant": double_quant,
        "allow_nan": allow_nan,
        "allow_quantized": allow_quantized,
    }
    name = chosen[0]
    for option, value in options.items():
        if option not in _OPTIONS[name] and value:
            raise TypeError(f"a plan with {name}= has no option {option}; its options are {', '.join(sorted(_OPTIONS[name]))}")
    paths = (os.fspath(src), os.fspath(dst))
    rows, division = list((map or {}).items()), (range_size, verify)
    if name == "to":
        flags = (allow_quantized, overwrite)
        return Plan(_lanecast.Plan.convert(*paths, to, rows, list(include), list(exclude), max_shard_size, flags, division))
    if name == "dequantize":
        return Plan(_lanecast.Plan.dequantize(*paths, dequantize, (allow_nan, overwrite), division))
    if layout is None:
        raise TypeError(f'a plan with {name}= needs a layout, such as "compressed-tensors"')
    scheme = operations[name]
    several = (name == "requantize", double_quant, _keeps(experts or "split"), overwrite)
    other = None if like is None else os.fspath(like)
    return Plan(_lanecast.Plan.quantize(*paths, scheme, layout, rows, list(ignore), other, several, division))


def pending(plan: Plan | _Path, /, *, phase: str | None = None) -> list[int]:
    """The numbers of the tasks that are not done, in their order. There are none once the output is complete.

    Args:
        plan: a plan, or the file of one.
        phase: only the tasks of this phase.
    """
    return _opened(plan).pending(phase)


def run_task(
    plan: Plan | _Path, id: int, /, *, threads: int | None = None, progress: _Progress | None = None
) -> dict[str, Any]:
    """Runs a task, unless its work is done. A task may run anywhere, any number of times, also at the same time.

    A process keeps the last plan that it loaded from a file, with the checkpoint, for its next tasks.

    Args:
        plan: a plan, or the file of one.
        id: the number of the task.
        threads: the threads of the task; None is one for each core.
        progress: see the module.

    Returns:
        A report: ``"id"``, ``"phase"``, ``"skipped"``, ``"bytes"`` and ``"seconds"``; ``"report"`` is that of ``finish`` if the task is the last.

    Raises:
        ValueError: there is no such task, tasks of an earlier phase are pending, or the source is not what it was.
    """
    if id < 0:
        raise ValueError(f"there is no task {id}; the numbers of tasks begin with 0")
    return _report(_opened(plan).run(id, threads, progress))


def finish(plan: Plan | _Path, /, *, threads: int | None = None, progress: _Progress | None = None) -> dict[str, Any]:
    """Runs the tasks of the phases ``"shard"`` and ``"finish"`` that are pending. The output is complete then.

    Args:
        plan: a plan, or the file of one.
        threads, progress: see ``run_task``.

    Returns:
        The report of the function that the plan stands for. Of a plan that is finished already, it is the same once more.

    Raises:
        ValueError: tasks of an earlier phase are pending.
    """
    return _report(_opened(plan).finish(threads, progress))


def _opened(plan: Plan | _Path) -> _lanecast.Plan:
    if isinstance(plan, Plan):
        return plan._plan
    path = os.path.abspath(plan)
    seen = os.stat(path)
    return _loaded(path, seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns)


@functools.lru_cache(maxsize=1)
def _loaded(path: str, *_state: int) -> _lanecast.Plan:
    """The plan of a file in this state. The next task needs neither the file nor the headers of the checkpoint again."""
    return _lanecast.Plan.load(path)


def _quantize(
    src: _Path,
    dst: _Path,
    scheme: str,
    layout: str,
    map: Mapping[str, str] | None,
    ignore: Sequence[str],
    like: _Path | None,
    flags: tuple[bool, bool, bool, bool],
    threads: int | None,
    progress: _Progress | None,
) -> dict[str, Any]:
    rows = list((map or {}).items())
    paths = (os.fspath(src), os.fspath(dst))
    other = None if like is None else os.fspath(like)
    return _report(
        _lanecast.checkpoint_quantize(*paths, scheme, layout, rows, list(ignore), other, flags, threads, progress)
    )


def _keeps(experts: str) -> bool:
    if experts not in ("split", "keep"):
        raise ValueError(f'experts is {experts!r}; pass "split" or "keep"')
    return experts == "keep"


def _report(text: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(text)
    return report
