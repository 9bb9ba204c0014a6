"""astype of NumPy arrays: layouts, order, out."""

import itertools

import pytest
from conftest import optional, package

import lanecast

ml_dtypes = optional("ml_dtypes")
np = package("numpy")


def layouts():
    """Arrays of float32 in many layouts, with values that int16 holds."""
    x = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5) - 50
    yield "contiguous", x
    yield "transposed", x.T
    yield "permuted", x.transpose(2, 0, 3, 1)
    yield "reversed", x[::-1, ::-1, ::-1, ::-1]
    yield "a reversed axis", x[:, :, ::-1]
    yield "steps", x[:, ::2, 1::3, ::-2]
    yield "a column", x[..., 3]
    yield "repeated", np.broadcast_to(x[0], (7, 3, 4, 5))
    yield "one element repeated", np.broadcast_to(x[0, 0, 0, 0], (6, 4))
    yield "fortran", np.asfortranarray(x)
    yield "0-d", x[1, 2, 3, 4, ...]
    yield "0-d array", np.array(7.5, np.float32)
    yield "empty", x[:, :0]
    yield "empty and strided", x[::2, 3:, ::-1]
    yield "one element", x[:1, :1, :1, :1]
    yield "unaligned", np.frombuffer(b"x" + x.tobytes(), np.uint8)[1:].view(np.float32)
    yield "big-endian", x.astype(">f4")
    yield "64 axes of one", x.reshape((1,) * 60 + x.shape)
    yield "64 axes", np.arange(2**10, dtype=np.float32).reshape((2,) * 10 + (1,) * 54)
    yield "64 axes, turned", np.arange(2**10, dtype=np.float32).reshape((2,) * 10 + (1,) * 54).T
    yield "a field", np.array([(1, 2.5), (3, 4.5)], "i4,f4")["f1"]
    yield "the real parts", (x + 1j).real
    yield "long", np.tile(x.reshape(-1), 40_000)
    yield "long and strided", np.tile(x.reshape(-1), 20_000).reshape(1200, 2, -1)[:, 1]
    yield "long and transposed", np.tile(x.reshape(-1), 20_000).reshape(1500, -1).T


@pytest.mark.parametrize(("name", "x"), list(layouts()), ids=lambda value: value if isinstance(value, str) else "")
@pytest.mark.parametrize("to", ["int16", ">i2", "float32", "float64", "complex64", "bool"])
@pytest.mark.parametrize("order", "KCFA")
def test_layouts(name, x, to, order):
    theirs = x.astype(np.dtype(to), order=order)
    ours = lanecast.astype(x, np.dtype(to), order=order)
    assert type(ours) is np.ndarray
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    assert ours.strides == theirs.strides
    assert ours.flags.owndata and ours.flags.writeable
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(("name", "x"), list(layouts()), ids=lambda value: value if isinstance(value, str) else "")
def test_out_in_every_layout(name, x):
    theirs = x.astype(np.int32)
    for out in (np.zeros(x.shape, np.int32), np.zeros(x.shape, np.int32, order="F"), np.zeros(x.shape, ">i4")):
        assert lanecast.astype(x, np.int32, out=out) is out
        np.testing.assert_array_equal(out, theirs)
    if 0 < x.ndim < 60:
        whole = np.zeros((*x.shape[:-1], 2 * x.shape[-1] + 1), np.int32)
        lanecast.astype(x, np.int32, out=whole[..., 1::2][..., ::-1])
        np.testing.assert_array_equal(whole[..., 1::2][..., ::-1], theirs)
        assert not whole[..., ::2].any()


def test_out_is_checked():
    x = np.arange(6, dtype=np.float32)
    with pytest.raises(lanecast.DTypeError, match="`out` has dtype int16"):
        lanecast.astype(x, "int8", out=np.zeros(6, np.int16))
    with pytest.raises(ValueError, match="shape"):
        lanecast.astype(x, "int8", out=np.zeros(7, np.int8))
    with pytest.raises(ValueError, match="shape"):
        lanecast.astype(x, "int8", out=np.zeros((6, 1), np.int8))
    frozen = np.zeros(6, np.int8)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        lanecast.astype(x, "int8", out=frozen)
    with pytest.raises(ValueError, match="(?i)destination|repeat|axis"):
        lanecast.astype(x, "int8", out=np.lib.stride_tricks.as_strided(np.zeros(1, np.int8), (6,), (0,)))
    with pytest.raises(TypeError):
        lanecast.astype(x, "int8", out=[0] * 6)
    with pytest.raises(TypeError, match="immutable"):
        lanecast.astype(np.float32(1), "int8", out=np.int8(1))
    assert not frozen.any()


def test_in_place():
    x = np.array([1.5, -2.5, 300, 7], np.float32)
    out = x.view(np.int32)
    lanecast.astype(x, "int32", out=out)
    assert out.tolist() == [1, -2, 300, 7]
    y = np.arange(24, dtype=np.float64).reshape(4, 6)[::2, ::-1]
    expected = y.astype(np.int64)
    lanecast.astype(y, "int64", out=y.view(np.int64))
    assert (y.view(np.int64) == expected).all()


def test_overlap_is_refused():
    x = np.arange(100, dtype=np.float32)
    before = x.copy()
    for out in (x.view(np.int32)[::-1], np.frombuffer(x, np.int8)[1:101], np.frombuffer(x.data, np.int8)[50:150]):
        with pytest.raises(lanecast.OverlapError, match="overlaps") as refused:
            lanecast.astype(x, out.dtype, out=out)
        assert isinstance(refused.value, ValueError)
    assert (x == before).all()
    # Interleaved elements do not overlap.
    pairs = np.arange(20, dtype=np.float32)
    lanecast.astype(pairs[::2], "int32", out=pairs[1::2].view(np.int32))
    assert pairs.view(np.int32)[1::2].tolist() == list(range(0, 20, 2))


def test_scalars():
    for value in (np.float32(3.7), np.int8(-5), np.bool_(True), ml_dtypes.bfloat16(2.5), np.complex64(1 + 2j)):
        ours = lanecast.astype(value, "float64")
        assert type(ours) is np.float64 and ours == value.real
    assert type(lanecast.astype(np.float32(3.7), "int4")) is ml_dtypes.int4
    assert lanecast.astype(np.array(3.7), "int8").shape == ()


def test_copy():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert lanecast.astype(x, "float32", copy=False) is x
    assert lanecast.astype(x, "float32") is not x
    assert not np.shares_memory(lanecast.astype(x, "float32"), x)
    turned = x.T
    assert lanecast.astype(turned, "float32", copy=False) is turned
    assert lanecast.astype(x.T, "float32", copy=False, order="C").flags.c_contiguous
    assert lanecast.astype(x, "float32", copy=False, order="F").flags.f_contiguous
    swapped = x.astype(">f4")
    assert lanecast.astype(swapped, ">f4" and np.dtype(">f4"), copy=False) is swapped
    assert lanecast.astype(swapped, "float32", copy=False).dtype.isnative


def test_read_only_and_subclasses():
    x = np.arange(4.0)
    x.flags.writeable = False
    assert lanecast.astype(x, "int8").flags.writeable

    class Sub(np.ndarray):
        pass

    assert type(lanecast.astype(x.view(Sub), "int8")) is np.ndarray
    mapped = np.memmap.__new__(np.memmap, __file__, np.uint8, "r")
    assert lanecast.astype(mapped, "int16").tolist() == list(open(__file__, "rb").read())


def test_masked_arrays_are_refused():
    masked = np.ma.masked_array([1.0, 2.0], [True, False])
    with pytest.raises(TypeError, match="mask"):
        lanecast.astype(masked, "int8")
    with pytest.raises(TypeError, match="mask"):
        lanecast.astype(np.zeros(2), "float64", out=masked)


@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe"])
def test_casting_is_that_of_numpy(casting):
    for a, b in itertools.product(lanecast.dtypes, repeat=2):
        x = np.zeros(1, a.numpy)
        allowed = np.can_cast(a.numpy, b.numpy, casting)
        # NumPy cannot cast between some dtypes of ml_dtypes. lanecast can.
        if allowed or casting == "unsafe":
            assert lanecast.astype(x, b, casting=casting).dtype == b.numpy
        else:
            with pytest.raises(lanecast.DTypeError, match="does not allow"):
                lanecast.astype(x, b, casting=casting)


def test_lossless_casting():
    lanecast.astype(np.zeros(1, np.int8), "float16", casting="lossless")
    with pytest.raises(lanecast.DTypeError):
        lanecast.astype(np.zeros(1, np.int64), "float64", casting="lossless")
    with pytest.raises(ValueError, match="casting"):
        lanecast.astype(np.zeros(1), "int8", casting="wild")


def test_options():
    x = np.array([300.0, -1.5, np.inf, 2.5], np.float32)
    assert lanecast.astype(x, "int8").tolist() == [44, -1, 0, 2]
    assert lanecast.astype(x, "int8", profile="rust").tolist() == [127, -1, 127, 2]
    assert lanecast.astype(x, "int8", float_to_int="saturate", int_round="floor").tolist() == [127, -2, 127, 2]
    assert lanecast.astype(x, "int8", int_round="nearest_away").tolist() == [44, -2, 0, 3]
    f8 = np.array([1e9], np.float32)
    assert np.isnan(lanecast.astype(f8, "float8_e4m3fn")[0])
    assert lanecast.astype(f8, "float8_e4m3fn", saturate=True)[0] == 448
    assert lanecast.astype(f8, "float8_e4m3fn", profile="onnx")[0] == 448
    nan = np.array([np.nan], np.float32)
    assert lanecast.astype(nan, "float8_e5m2", e5m2_nan=0x7F).tobytes() == b"\x7f"
    assert lanecast.astype(nan, "float8_e5m2", e5m2_nan="7e").tobytes() == b"\x7e"
    assert lanecast.astype(nan, "float4_e2m1fn", nan_to_finite="max")[0] == 6
    assert lanecast.astype(np.array([1 + 2**-11 + 2**-30]), "float16", float_round="toward_zero")[0] == 1
    for wrong in ({"int_round": "x"}, {"saturate": "x"}, {"profile": "x"}, {"order": "x"}, {"check": "x"}):
        with pytest.raises(ValueError, match="must be one of"):
            lanecast.astype(x, "int8", **wrong)
    for wrong in ({"nonsense": 1}, {"int_round": 3}, {"saturate": 1.5}):
        with pytest.raises(TypeError):
            lanecast.astype(x, "int8", **wrong)
