"""Tensors in ``.safetensors``, ``.npy``, ``.npz`` and ``.onnx`` files.

Opening a file reads only its headers. A tensor is read when it is cast, so a checkpoint larger than memory can be cast one tensor at a
time:

    >>> import lanecast
    >>> with lanecast.File("model.safetensors") as file:  # doctest: +SKIP
    ...     for name, tensor in file.items():
    ...         print(name, tensor.dtype, tensor.shape, tensor.astype("bfloat16").nbytes)
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Unpack

from . import _lanecast
from ._errors import FormatError
from ._lanecast import DType, Encoding, Report
from ._options import CastOptions, Check

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["File", "Tensor", "save"]

class Tensor:
    """A tensor in a file. Its elements are read on demand.

    Attributes:
        name: the name; empty in a ``.npy`` file.
        dtype: the dtype; None for tensors that are not numeric.
        described: the dtype as spelled in the file.
        shape: the shape; None if the file does not give it.
        nbytes: the size of the decoded elements in bytes; None if it is unknown.

    Examples:
        >>> lanecast.save("example.npy", {"": np.zeros((2, 3), np.float16)}, overwrite=True)
        >>> with lanecast.File("example.npy") as file:
        ...     file[""].dtype, file[""].shape, file[""].nbytes
        (lanecast.float16, (2, 3), 12)
    """

    name: str
    dtype: DType | None
    described: str
    shape: tuple[int, ...] | None
    nbytes: int | None

    def __init__(self, file: File, index: int, row: tuple[Any, ...]) -> None:
        self._file, self._index = file, index
        self.name, self._encoding, self.described, shape, self.nbytes, self._offset, self._order = row
        self.dtype = None if self._encoding is None else self._encoding.dtype
        self.shape = None if shape is None else tuple(shape)

    def numpy(self) -> NDArray[Any]:
        """The elements as a NumPy array: a read-only view of the mapped file where possible, else a copy."""
        import numpy as np

        data, encoding, shape = self._data()
        if encoding.storage == "packed" and encoding.dtype.bits < 8:
            return _lanecast.unpack(data, encoding.dtype, shape)  # type: ignore[no-any-return]
        dtype = encoding.dtype.numpy
        if dtype.itemsize > 1:
            dtype = dtype.newbyteorder(encoding.order)
        return np.frombuffer(data, dtype).reshape(shape, order=self._order)

    def astype(
        self,
        dtype: Any,
        /,
        *,
        allow_quantized: bool = False,
        check: Check | None = None,
        threads: int | None = None,
        **options: Unpack[CastOptions],
    ) -> NDArray[Any]:
        """Casts the elements to a NumPy array.

        Codes and scales of a quantized checkpoint mean nothing alone. ``numpy()`` reads them as they are.

        Args:
            dtype: the dtype of the result.
            allow_quantized: whether codes and scales are cast as if they were numbers of their own.
            check, threads, **options: as for ``lanecast.astype``.

        Raises:
            FormatError: the tensor holds codes or scales, and ``allow_quantized`` is False.
        """
        if not allow_quantized:
            self._file._check_plain(self._index)
        return _lanecast.astype(self.numpy(), dtype, check=check, threads=threads, **options)

    def count_losses(
        self, dtype: Any, /, *, check: Check = "range", threads: int | None = None, **options: Unpack[CastOptions]
    ) -> Report:
        """Counts what a cast would lose. The arguments are those of ``lanecast.count_losses``."""
        return _lanecast.count_losses(self.numpy(), dtype, check=check, threads=threads, **options)

    def _data(self) -> tuple[Any, Encoding, tuple[int, ...]]:
        if self._encoding is None or self.shape is None or self.nbytes is None:
            raise FormatError(f"tensor {self.name!r} has the dtype {self.described}, which is not numeric")
        if self._offset is None or self.nbytes == 0:
            return self._file._read(self._index), self._encoding, self.shape
        return self._file._mapped(self._offset, self.nbytes), self._encoding, self.shape

    def __repr__(self) -> str:
        return f"<Tensor {self.name!r}: {self.described} {self.shape}>"


class File(Mapping[str, Tensor]):
    """An open tensor file: a mapping from names to tensors, in file order. Its content, or else its extension, tells the format.

    Args:
        path: the path of the file.

    Raises:
        OSError: the file cannot be opened.
        FormatError: the file is malformed, or its format is not supported.

    Examples:
        >>> lanecast.save("example.safetensors", {"w": np.array([1.5, 300.0])})
        >>> with lanecast.File("example.safetensors") as file:
        ...     list(file), file["w"].astype("int8", profile="rust")
        (['w'], array([  1, 127], dtype=int8))
    """

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
            with open(self.path, "rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        data = memoryview(self._map)[offset : offset + size]
        if data.nbytes != size:
            raise FormatError(f"{self.path} was truncated after it was opened")
        return data


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

    Examples:
        >>> lanecast.save("example.npz", {"w": lanecast.pack(np.arange(6), "int4")})
    """
    rows = [(name, array) for name, array in tensors.items()]
    _lanecast.save_tensors(os.fspath(path), rows, list((metadata or {}).items()), overwrite)
