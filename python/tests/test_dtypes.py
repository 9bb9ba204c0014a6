"""DType objects and dtype arguments."""

import copy
import pickle
import subprocess
import sys

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
        attribute = "bool_" if dtype.name == "bool" else dtype.name
        assert getattr(lanecast, attribute) is dtype
        assert pickle.loads(pickle.dumps(dtype)) is dtype
        assert copy.deepcopy(dtype) is dtype
        assert repr(dtype) == f"lanecast.{attribute}" and str(dtype) == dtype.name
        assert dtype.itemsize == max(1, dtype.bits // 8) == dtype.numpy.itemsize
    assert lanecast.int4.bits == 4 and lanecast.int4.kind == "signed integer"
    with pytest.raises(TypeError):
        lanecast.DType()


@pytest.mark.parametrize("dtype", lanecast.dtypes, ids=str)
def test_names_and_objects(dtype):
    for argument in (dtype, dtype.name, dtype.numpy, dtype.numpy.type):
        assert target(argument) == dtype.numpy


@pytest.mark.parametrize("dtype", lanecast.dtypes, ids=str)
def test_comparisons(dtype):
    assert lanecast.dtype(dtype) is lanecast.dtype(dtype.name) is lanecast.dtype(dtype.numpy) is lanecast.dtype(dtype.numpy.type) is dtype
    assert dtype == dtype.name and dtype.name == dtype and not dtype != dtype.name
    assert hash(dtype) == hash(dtype.name) and {dtype: 1}[dtype.name] == {dtype.name: 1}[dtype] == 1
    for other in lanecast.dtypes:
        assert (dtype == other.name) == (dtype == other) == (dtype is other)
        assert (dtype == other.numpy) == (other.numpy == dtype) == (dtype is other)
        assert (dtype != other.name) == (dtype != other) == (dtype is not other)
    for other in (None, 3, dtype.code, dtype.name.encode(), dtype.name.upper(), dtype.name + " ", object(), "\ud800", ""):
        assert dtype != other and not dtype == other


def test_names_that_numpy_made():
    name = np.str_("int8")
    assert lanecast.dtype(name) is lanecast.int8 == name and lanecast.iinfo(name).max == 127 and lanecast.isdtype(name, "integral")
    assert lanecast.promote_types(name, np.str_("int16"), standard="numpy") is lanecast.int16
    assert lanecast.result_type(name, 1, standard="numpy") is lanecast.int8


def test_short_names_and_byte_order():
    # Short names are as ambiguous here as everywhere.
    assert lanecast.int32 != "i4" and lanecast.int4 != "i4" and lanecast.float16 != "half"
    with pytest.raises(lanecast.DTypeError, match="int4"):
        lanecast.dtype("i4")
    assert lanecast.dtype(np.dtype(">f4")) is lanecast.float32 is lanecast.dtype(np.dtype("<f4"))
    assert np.dtype("f4").newbyteorder() != lanecast.float32


@pytest.mark.parametrize("dtype", lanecast.dtypes, ids=str)
def test_numpy_takes_them(dtype):
    assert np.dtype(dtype) == dtype.dtype == dtype.numpy
    assert np.zeros(3, dtype).dtype == dtype.numpy and np.zeros(3).astype(dtype).dtype == dtype.numpy


def test_numpy_without_their_dtype():
    code = """if True:
        import sys
        sys.modules["ml_dtypes"] = None
        import numpy as np, lanecast
        assert np.dtype(lanecast.float32) == np.float32
        for wrong in (lanecast.bfloat16, lanecast.int4):
            try:
                np.dtype(wrong)
            except TypeError as error:
                assert isinstance(error, lanecast.DTypeError) and "need the package ml_dtypes" in str(error), error
            else:
                raise AssertionError(wrong)
            assert wrong != np.dtype("f4") and wrong == wrong.name and wrong != lanecast.int8
    """
    subprocess.run([sys.executable, "-c", code], check=True)


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
