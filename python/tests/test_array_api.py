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


SIGNED = ["int8", "int16", "int32", "int64"]
STANDARD = ["bool", *SIGNED, "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64", "complex128"]


@pytest.fixture(params=["numpy", "torch", "jax.numpy"])
def library(request):
    return package(request.param)


def test_namespace_info(library):
    over = xp.overlay(library)
    info = over.__array_namespace_info__()
    # The version 2025.12 of the standard asks for a tuple.
    assert type(info.devices()) is tuple and info.devices()
    assert info.default_device() is None or info.default_device() in info.devices()
    capabilities = info.capabilities()
    assert {"boolean indexing", "data-dependent shapes"} <= set(capabilities) and capabilities["max dimensions"] > 0
    for device in [None, *info.devices()]:
        every = info.dtypes(device=device)
        assert list(every) == [name for name in STANDARD if name in every]
        assert set(STANDARD) - set(every) <= {"int64", "uint64", "float64", "complex128"}  # JAX without x64
        for name, dtype in every.items():
            # The namespace makes arrays of its own dtype.
            made = library.empty(1, dtype=dtype, device=device)
            assert made.dtype == dtype == getattr(library, name if hasattr(library, name) else name + "_")
            if library.__name__ == "torch":
                assert isinstance(dtype, library.dtype)
        defaults = info.default_dtypes(device=device)
        assert {"real floating", "complex floating", "integral", "indexing"} <= set(defaults)
        assert all(library.empty(1, dtype=dtype).dtype == dtype for dtype in defaults.values())
        assert defaults["real floating"] == library.asarray(1.5).dtype and defaults["integral"] == library.asarray(1).dtype
        assert set(info.dtypes(device=device, kind="signed integer")) == set(SIGNED) & set(every)
        both = info.dtypes(kind=("bool", "complex floating"))
        assert list(both) == [name for name in ["bool", "complex64", "complex128"] if name in every]
    with pytest.raises(ValueError):
        info.dtypes(device="elsewhere")
    with pytest.raises(ValueError):
        info.dtypes(kind="floating")


def test_namespace_info_is_that_of_numpy():
    info = xp.__array_namespace_info__()
    assert info.devices() == ("cpu",) and info.default_device() == "cpu"
    assert len(info.dtypes()) == 13 and info.dtypes()["float32"] == np.float32
    assert info.default_dtypes()["real floating"] == np.float64


def test_overlay(library):
    over = xp.overlay(library)
    assert all(getattr(over, name) is getattr(xp, name) for name in xp.__all__ if name not in ("overlay", "__array_namespace_info__"))
    assert over.zeros is library.zeros and {"zeros", "astype"} <= set(dir(over))
    with pytest.raises(AttributeError):
        over.no_such_function
    x = over.asarray([1.5, -2.5])
    y = over.astype(x, over.int8)
    assert y.dtype == over.int8 and y.tolist() == [1, -2] and type(y) is type(x)
    assert over.result_type(over.int8, over.zeros(2, dtype=over.int16)) == over.int16
    assert over.finfo(x).dtype == x.dtype and over.iinfo(over.uint8).max == 255
    assert over.isdtype(y.dtype, "integral") and not over.can_cast(x, over.int8)
