"""result_type, promote_types, can_cast, finfo, iinfo, isdtype."""

import itertools
import math

import pytest
from conftest import optional, package

import lanecast

ml_dtypes = optional("ml_dtypes")
np = package("numpy")

STANDARDS = "mindspore megengine megengine_core array_api numpy torch jax jax_strict onnx".split()


def answer(function, *arguments, **keywords):
    try:
        return function(*arguments, **keywords)
    except Exception:
        return None


def test_numpy():
    for a, b in itertools.product(lanecast.dtypes, repeat=2):
        theirs = answer(np.promote_types, a.numpy, b.numpy)
        ours = answer(lanecast.promote_types, a, b, standard="numpy")
        assert (ours and ours.numpy) == theirs, (a, b)
        assert answer(lanecast.result_type, a, np.zeros(2, b.numpy), standard="numpy") is ours
        for casting in "safe", "same_kind":
            assert lanecast.can_cast(a, b, standard="numpy", casting=casting) == np.can_cast(a.numpy, b.numpy, casting)


def test_torch():
    torch = package("torch")
    dtypes = [dtype for dtype in lanecast.dtypes if dtype.bits >= 8 and hasattr(torch, dtype.name)]
    for a, b in itertools.product(dtypes, repeat=2):
        theirs = answer(torch.promote_types, a.torch, b.torch)
        ours = answer(lanecast.promote_types, a, b, standard="torch")
        assert (ours and ours.torch) == theirs, (a, b)
        x, y = torch.zeros(2, dtype=a.torch), torch.zeros((), dtype=b.torch)
        ours = answer(lanecast.result_type, x, y, standard="torch")
        if ours:
            assert ours.torch == torch.result_type(x, y), (a, b)


def test_jax():
    jax = package("jax")
    jax.config.update("jax_enable_x64", True)
    dtypes = [dtype for dtype in lanecast.dtypes if not dtype.name.startswith("float6")]
    for a, b in itertools.product(dtypes, repeat=2):
        theirs = answer(jax.numpy.promote_types, a.numpy, b.numpy)
        ours = answer(lanecast.promote_types, a, b, standard="jax")
        assert (ours and ours.numpy) == theirs, (a, b)
    for a in dtypes:
        x = jax.numpy.zeros(2, a.numpy)
        for number in (True, 1, 1.5, 1j):
            theirs = answer(jax.numpy.result_type, x, number)
            ours = answer(lanecast.result_type, x, number, standard="jax")
            assert (ours and ours.numpy) == theirs, (a, number)


def test_numbers():
    assert lanecast.result_type("int8", 3, standard="numpy") is lanecast.int8
    assert lanecast.result_type("int8", 3.5, standard="numpy") is lanecast.float64
    assert lanecast.result_type(np.float32(1), 3.5, True, standard="numpy") is lanecast.float32
    assert lanecast.result_type(1.5, standard="torch") is lanecast.float32
    assert lanecast.result_type(1.5, standard="torch", default_float="float64") is lanecast.float64
    assert lanecast.result_type("int64", 1.5, standard="jax", x64=False) is lanecast.float32
    for wrong in (300, 2**200, -(2**200)):
        with pytest.raises(lanecast.PromotionError, match="does not fit uint8"):
            lanecast.result_type("uint8", wrong, standard="numpy")
    with pytest.raises(lanecast.PromotionError, match="no common dtype"):
        lanecast.result_type("int8", "uint32", standard="mindspore")
    with pytest.raises(lanecast.PromotionError):
        lanecast.result_type(standard="numpy")
    with pytest.raises(ValueError, match="the names are mindspore, megengine"):
        lanecast.result_type("int8", standard="pandas")
    with pytest.raises(TypeError):
        lanecast.result_type("int8", [1], standard="numpy")


@pytest.mark.parametrize("standard", STANDARDS)
def test_every_standard(standard):
    assert lanecast.result_type("float32", "float32", standard=standard) is lanecast.float32
    assert lanecast.can_cast("float32", "float32", standard=standard)
    assert not lanecast.can_cast("int32", "float32", standard=standard, casting="lossless")


def test_finfo():
    for dtype in lanecast.dtypes:
        if "floating" not in dtype.kind:
            with pytest.raises(lanecast.DTypeError):
                lanecast.finfo(dtype)
            continue
        ours = lanecast.finfo(dtype)
        theirs = ml_dtypes.finfo(dtype.numpy)
        for name in "bits eps max min smallest_normal smallest_subnormal".split():
            # e8m0 has neither a sign nor subnormals.
            if dtype.name == "float8_e8m0fnu" and name in ("min", "smallest_subnormal"):
                continue
            assert getattr(ours, name) == float(getattr(theirs, name)), (dtype, name)
        assert ours.dtype.numpy == theirs.dtype
        assert type(ours.max) is float and type(ours.bits) is int
        assert lanecast.finfo(np.zeros(2, dtype.numpy)).max == ours.max
        assert "max" in repr(ours)
    assert lanecast.finfo("float8_e8m0fnu").min == math.ldexp(1, -127)


def test_iinfo():
    for dtype in lanecast.dtypes:
        if "integer" not in dtype.kind:
            with pytest.raises(lanecast.DTypeError):
                lanecast.iinfo(dtype)
            continue
        ours, theirs = lanecast.iinfo(dtype), ml_dtypes.iinfo(dtype.numpy)
        assert (ours.bits, ours.min, ours.max) == (theirs.bits, theirs.min, theirs.max)
        assert ours.dtype is dtype and type(ours.max) is int


def test_isdtype():
    kinds = "bool|signed integer|unsigned integer|integral|real floating|complex floating|numeric".split("|")
    for dtype in lanecast.dtypes:
        for kind in kinds:
            if not hasattr(ml_dtypes, dtype.name):
                assert lanecast.isdtype(dtype, kind) == np.isdtype(dtype.numpy, kind)
        assert lanecast.isdtype(dtype, dtype) and lanecast.isdtype(dtype, (dtype.numpy, "bool"))
        assert lanecast.isdtype(dtype, "numeric") == (dtype is not lanecast.bool_)
        assert not lanecast.isdtype(dtype, ())
    with pytest.raises(ValueError, match="real floating"):
        lanecast.isdtype("int8", "floating")
    with pytest.raises(ValueError):
        lanecast.isdtype("int8", ("integral", "floating"))
