"""The data type functions of the array API."""

import pytest
from conftest import optional, package

import lanecast
from lanecast import array_api as xp

np = package("numpy")
ml_dtypes = optional("ml_dtypes")


def test_astype():
    x = np.array([[1.5, -2.5]])
    assert xp.astype(x, np.int8).tolist() == [[1, -2]]
    assert xp.astype(x, x.dtype, copy=False) is x and xp.astype(x, x.dtype) is not x
    assert xp.astype(x, np.float32, device="cpu").dtype == np.float32
    with pytest.raises(ValueError):
        xp.astype(x, np.float32, device="cuda")
    z = np.array([1 + 2j])
    for to in (np.float64, np.int8):
        with pytest.raises(TypeError, match="imaginary"):
            xp.astype(z, to)
    assert xp.astype(z, np.complex64).dtype == np.complex64 and xp.astype(z, np.bool_).tolist() == [True]


def test_can_cast():
    assert xp.can_cast(np.int8, np.int16) and not xp.can_cast(np.int16, np.int8)
    assert xp.can_cast(np.zeros(2, np.int8), np.dtype(np.int16))
    assert not xp.can_cast(np.float64, np.int8)


def test_infos():
    info = xp.finfo(np.zeros(1, np.complex64))
    assert info.dtype == np.float32 and type(info.max) is float and info.bits == 32
    for name in "eps max min smallest_normal".split():
        assert getattr(xp.finfo(np.float64), name) == getattr(np.finfo(np.float64), name)
    assert xp.iinfo(np.uint8).max == 255 and type(xp.iinfo(np.uint8).max) is int
    assert xp.iinfo(np.dtype(np.int8)).dtype == np.int8
    assert xp.finfo(lanecast.float32).dtype is lanecast.float32
    for wrong in (np.int8, np.zeros(1, np.bool_)):
        with pytest.raises(TypeError):
            xp.finfo(wrong)


def test_result_type():
    assert xp.result_type(np.int8, np.zeros((), np.int16)) == np.int16
    assert xp.result_type(np.zeros(2, np.float32), 1) == np.float32
    assert xp.result_type(1.5, np.float32, np.zeros(2, np.float64)) == np.float64
    assert xp.result_type(1j, np.float32) == np.complex64
    assert xp.result_type(np.bool_, True) == np.bool_
    assert xp.result_type(np.float16, np.float32) == np.float32
    assert isinstance(xp.result_type(np.int8), np.dtype)
    for wrong in ((), (1, 2.5)):
        with pytest.raises(ValueError):
            xp.result_type(*wrong)
    with pytest.raises(TypeError):
        xp.result_type(np.dtype("U3"), np.int8)


def test_of_other_libraries():
    torch = package("torch")
    assert xp.result_type(torch.int8, torch.zeros(2, dtype=torch.float32)) == torch.float32
    assert xp.finfo(torch.float8_e4m3fn).dtype == torch.float8_e4m3fn
    assert xp.isdtype(torch.bfloat16, "real floating")


def test_namespace_info():
    info = xp.__array_namespace_info__()
    assert info.devices() == ["cpu"] and info.default_device() == "cpu"
    assert info.default_dtypes()["real floating"] == np.float64
    assert set(info.dtypes(kind="signed integer")) == {"int8", "int16", "int32", "int64"}
    assert info.dtypes(kind=("bool", "complex floating")) == {
        "bool": np.bool_, "complex64": np.complex64, "complex128": np.complex128,
    }  # fmt: skip
    assert len(info.dtypes()) == 13
    with pytest.raises(ValueError):
        info.dtypes(device="cuda")
    with pytest.raises(ValueError):
        info.dtypes(kind="floating")
