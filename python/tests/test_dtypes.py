"""DType objects and dtype arguments."""

import copy
import pickle

import pytest
from conftest import package

import lanecast

ml_dtypes = package("ml_dtypes")
np = package("numpy")


def target(argument):
    return lanecast.astype(np.zeros(1), argument).dtype


def test_every_dtype_is_one_object():
    assert len(lanecast.dtypes) == 30
    for code, dtype in enumerate(lanecast.dtypes):
        assert dtype.code == code
        assert getattr(lanecast, dtype.name) is dtype
        assert pickle.loads(pickle.dumps(dtype)) is dtype
        assert copy.deepcopy(dtype) is dtype
        assert repr(dtype) == f"lanecast.{dtype.name}" and str(dtype) == dtype.name
        assert dtype.itemsize == max(1, dtype.bits // 8) == dtype.numpy.itemsize
    assert lanecast.int4.bits == 4 and lanecast.int4.kind == "signed integer"
    with pytest.raises(TypeError):
        lanecast.DType()


@pytest.mark.parametrize("dtype", lanecast.dtypes, ids=str)
def test_names_and_objects(dtype):
    for argument in (dtype, dtype.name, dtype.numpy, dtype.numpy.type):
        assert target(argument) == dtype.numpy


def test_numpy_numbers_of_the_same_width():
    for name in "bool_ byte ubyte short ushort intc uintc int_ uint longlong ulonglong half single double csingle cdouble".split():
        class_ = getattr(np, name)
        assert target(class_) == np.dtype(class_), name
        assert target(np.dtype(class_)).itemsize == np.dtype(class_).itemsize
        # As a source, too.
        assert lanecast.astype(np.ones(2, class_), "float64").tolist() == [1, 1]
    assert target(bool) == np.bool_


def test_byte_order_is_kept():
    swapped = np.dtype("f4").newbyteorder()
    assert target(swapped) == swapped and not target(swapped).isnative
    bf16 = np.dtype(ml_dtypes.bfloat16).newbyteorder(">")
    assert lanecast.astype(np.array([1.0]), bf16).tobytes() == b"\x3f\x80"


@pytest.mark.parametrize(
    ("argument", "advice"),
    [
        ("i4", '"int4" or "int32"'),
        ("f8", '"float64"'),
        ("f16", '"float16"'),
        ("<f4", '"float32"'),
        ("float", '"float64" or "float32"'),
        ("Float32", '"float32"'),
        ("float31", "the names are bool, int2"),
        (float, '"float64" or "float32"'),
        (int, '"int64" or "int32"'),
        (complex, '"complex128" or "complex64"'),
        (object, "is not a dtype"),
        (np.float64(1), "is not a dtype"),
        (np.floating, "is not a dtype"),
        (None, "is not a dtype"),
        (3, "is not a dtype"),
        (np.dtype("U3"), "is not supported"),
        (np.dtype("i4,f4"), "is not supported"),
        (np.dtype("M8[s]"), "is not supported"),
        (np.longdouble, "is not a dtype"),
        (np.dtype(object), "is not supported"),
    ],
)
def test_refused_with_advice(argument, advice):
    with pytest.raises(lanecast.DTypeError) as refused:
        target(argument)
    assert advice in str(refused.value)
    assert isinstance(refused.value, TypeError) and isinstance(refused.value, lanecast.Error)


def test_dtypes_of_other_packages_are_not_taken_by_their_names():
    class bfloat16(np.float32):
        pass

    with pytest.raises(lanecast.DTypeError):
        target(bfloat16)


@pytest.mark.parametrize("source", [np.zeros(2, "U3"), np.zeros(2, object), np.zeros(2, "M8[s]"), np.zeros(2, "i4,f4")])
def test_sources_without_numbers(source):
    with pytest.raises(lanecast.DTypeError, match="is not supported"):
        lanecast.astype(source, "float32")
