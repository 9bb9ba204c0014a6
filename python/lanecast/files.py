"""Tensors in ``.safetensors``, ``.npy``, ``.npz`` and ``.onnx`` files.

Opening a file reads only its headers. A tensor is read when it is cast, so a checkpoint larger than memory can be cast one tensor at a
time:

    >>> import lanecast
    >>> with lanecast.open("model.safetensors") as file:  # doctest: +SKIP
    ...     for name, tensor in file.items():
    ...         print(name, tensor.dtype, tensor.shape, tensor.astype("bfloat16").nbytes)
"""

from __future__ import annotations

import builtins
import mmap
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import _lanecast
from ._errors import FormatError
from ._lanecast import DType

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["File", "Tensor", "open", "save"]

_open = builtins.open


class Tensor:
    """A tensor in a file. Its elements are read on demand.

    Attributes:
        name: the name; empty in a ``.npy`` file.
        dtype: the dtype; None for tensors that are not numeric.
        described: the dtype as spelled in the file.
        shape: the shape; None if the file does not give it.
        nbytes: the size of the decoded elements in bytes; None if it is unknown.
    """

    name: str
    dtype: DType | None
    described: str
    shape: tuple[int, ...] | None
    nbytes: int | None

    def __init__(self, file: File, index: int, row: tuple[Any, ...]) -> None:
        self._file, self._index = file, index
        self.name, self.dtype, self.described, shape, self.nbytes = row[:5]
        self.shape = None if shape is None else tuple(shape)
        self._offset, self._packed, self._swapped, self._fortran = row[5:]

    def numpy(self) -> NDArray[Any]:
        """The elements as a NumPy array: a read-only view of the mapped file where possible, else a copy."""
        import numpy as np

        data, dtype, shape = self._data()
        if self._packed and dtype.bits < 8:
            return _lanecast.unpack(data, dtype, shape)  # type: ignore[no-any-return]
        order = dtype.numpy.newbyteorder() if self._swapped else dtype.numpy
        return np.frombuffer(data, order).reshape(shape, order="F" if self._fortran else "C")

    def astype(self, dtype: Any, /, *, allow_quantized: bool = False, **arguments: Any) -> NDArray[Any]:
        """Casts the elements to a NumPy array. Accepts the arguments of ``lanecast.astype``.

        Codes and scales of a quantized checkpoint mean nothing alone. ``numpy()`` reads them as they are.

        Args:
            dtype: the dtype of the result.
            allow_quantized: whether codes and scales are cast as if they were numbers of their own.

        Raises:
            FormatError: the tensor holds codes or scales, and ``allow_quantized`` is False.
        """
        if not allow_quantized:
            self._file._check_plain(self._index)
        return _lanecast.astype(self.numpy(), dtype, **arguments)

    def count_losses(self, dtype: Any, /, **arguments: Any) -> _lanecast.Report:
        """Counts what a cast would lose. Accepts the arguments of ``lanecast.count_losses``."""
        return _lanecast.count_losses(self.numpy(), dtype, **arguments)

    def _data(self) -> tuple[Any, DType, tuple[int, ...]]:
        if self.dtype is None or self.shape is None or self.nbytes is None:
            raise FormatError(f"tensor {self.name!r} has the dtype {self.described}, which is not numeric")
        if self._offset is None or self.nbytes == 0:
            return self._file._read(self._index), self.dtype, self.shape
        return self._file._mapped(self._offset, self.nbytes), self.dtype, self.shape

    def __repr__(self) -> str:
        return f"<Tensor {self.name!r}: {self.described} {self.shape}>"


class File(Mapping[str, Tensor]):
    """A mapping from names to tensors, in file order. Returned by ``lanecast.open``."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._file = _lanecast.TensorFile(self.path)
        self._tensors = {row[0]: Tensor(self, i, row) for i, row in enumerate(self._file.tensors())}
        self._map: mmap.mmap | None = None

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata of the file, as text by key."""
        return dict(self._open().metadata())

    def close(self) -> None:
        """Closes the file. Arrays that view its memory stay valid."""
        self._file = None  # type: ignore[assignment]
        self._map = None

    def __enter__(self) -> File:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __getitem__(self, name: str) -> Tensor:
        return self._tensors[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def __repr__(self) -> str:
        return f"<File {self.path!r}: {len(self)} tensors>"

    def _open(self) -> _lanecast.TensorFile:
        if self._file is None:
            raise ValueError("the file is closed")
        return self._file

    def _read(self, index: int) -> bytes:
        return self._open().read(index)

    def _check_plain(self, index: int) -> None:
        self._open().check_plain(index)

    def _mapped(self, offset: int, size: int) -> memoryview:
        self._open()
        if self._map is None:
            with _open(self.path, "rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        data = memoryview(self._map)[offset : offset + size]
        if data.nbytes != size:
            raise FormatError(f"{self.path} was truncated after it was opened")
        return data


def open(path: str | os.PathLike[str], /) -> File:
    """Opens a tensor file. Its content, or else its extension, tells the format.

    Raises:
        OSError: the file cannot be opened.
        FormatError: the file is malformed, or its format is not supported.
    """
    return File(path)


def save(
    path: str | os.PathLike[str],
    tensors: Mapping[str, Any],
    /,
    *,
    metadata: Mapping[str, str] | None = None,
    overwrite: bool = False,
) -> None:
    """Writes arrays to a ``.safetensors``, ``.npy`` or ``.npz`` file. The file appears complete or not at all.

    Args:
        path: the path, whose extension selects the format.
        tensors: arrays, as for ``astype``, by name. A ``.npy`` file holds one array, whose name is ``""``.
        metadata: text by key, for ``.safetensors`` only.
        overwrite: whether to replace an existing file.

    Raises:
        FileExistsError: the file exists, and ``overwrite`` is False.
        FormatError: the format cannot store the arrays.
    """
    rows = [(name, array) for name, array in tensors.items()]
    _lanecast.save_tensors(os.fspath(path), rows, list((metadata or {}).items()), overwrite)
