"""Checked, masked and counting casts."""

import pickle

import pytest
from conftest import optional, package

import lanecast

ml_dtypes = optional("ml_dtypes")
np = package("numpy")


@pytest.mark.parametrize(
    ("x", "to", "check", "index", "value", "reason"),
    [
        (np.array([[1.0, 2], [300, 400]]), "int8", "range", (1, 0), 300.0, "overflow"),
        (np.array([1.0, np.nan]), "int8", "range", (1,), None, "nan"),
        (np.array([0, -1], np.int64), "uint8", "range", (1,), -1, "negative"),
        (np.array([0.5, 0.0]), "float8_e8m0fnu", "range", (1,), 0.0, "no_zero"),
        (np.array([1, 1 + 2j]), "float32", "range", (1,), 1 + 2j, "imaginary"),
        (np.array([1, 1e-40]), "float16", "exact", (1,), 1e-40, "underflow"),
        (np.array([0.1, 0, 1e-40]), "float16", "underflow", (2,), 1e-40, "underflow"),
        (np.array([1.5, 0, 0.5]), "int8", "underflow", (2,), 0.5, "underflow"),
        (np.array([16777217], np.int64), "float32", "exact", (0,), 16777217, "inexact"),
        (np.array(300.0), "int8", "range", (), 300.0, "overflow"),
        (np.array([2**64 - 1], np.uint64), "int64", "range", (0,), 2**64 - 1, "overflow"),
    ],
)
def test_loss_error(x, to, check, index, value, reason):
    with pytest.raises(lanecast.LossError) as raised:
        lanecast.astype(x, to, check=check)
    error = raised.value
    assert error.index == index and error.reason == reason
    assert value is None and error.value != error.value or error.value == value and type(error.value) is type(value)
    assert isinstance(error, ValueError) and "does not fit in" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.index, again.reason) == (str(error), index, reason)


def test_index_is_that_of_c_order_in_every_layout():
    x = np.zeros((3, 4, 5))
    x[2, 1, 0] = x[1, 3, 4] = 1e9
    for layout in (x, np.asfortranarray(x), x[::-1], x.T):
        places = np.argwhere(layout == 1e9)
        with pytest.raises(lanecast.LossError) as raised:
            lanecast.astype(layout, "int16", check="range")
        assert raised.value.index == tuple(places[0])


def test_what_fits_is_cast():
    x = np.array([1.5, -2.25, 100])
    assert lanecast.astype(x, "int8", check="range").tolist() == [1, -2, 100]
    assert lanecast.astype(x, "float16", check="exact").tolist() == x.tolist()


@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (8,), (9,), (3, 5), (4, 4, 5), (), (100_001,)])
def test_masks(shape):
    rng = np.random.default_rng(2)
    x = (rng.normal(size=shape) * 200).astype(np.float32)
    for layout in (np.asarray(x), np.asfortranarray(x), x.T):
        array, mask = lanecast.astype_masked(layout, "int8")
        assert mask.dtype == bool and mask.shape == layout.shape == array.shape
        np.testing.assert_array_equal(mask, np.abs(np.trunc(layout) + 0.5) < 128)
        np.testing.assert_array_equal(array, lanecast.astype(layout, "int8"))
        assert set(mask.tobytes()) <= {0, 1}
        _, exact = lanecast.astype_masked(layout, "int8", check="exact")
        np.testing.assert_array_equal(exact, mask & (np.trunc(layout) == layout))


def test_masked_out():
    x = np.array([1.0, 300.0])
    out = np.zeros(2, np.int8)
    array, mask = lanecast.astype_masked(x, "int8", out=out)
    assert array is out and out.tolist() == [1, 44] and mask.tolist() == [True, False]


@pytest.mark.parametrize("size", [0, 5, 1000, 3_000_001])
def test_reports(size):
    rng = np.random.default_rng(3)
    x = (rng.normal(size=size) * 1000).astype(np.float32)
    report = lanecast.count_losses(x, "float8_e4m3fn", profile="onnx", check="exact")
    f8 = lanecast.astype(x, "float8_e4m3fn", profile="onnx").astype(np.float32)
    clamped = np.abs(x) > 464
    assert report.elements == size
    assert report.saturated == report.out_of_range == clamped.sum()
    assert report.inexact == ((f8 != x) & ~clamped & (f8 != 0)).sum()
    assert report.underflowed_to_zero == ((f8 == 0) & (x != 0)).sum()
    assert report.is_clean == (not any(list(report.as_dict().values())[1:]))
    strided = lanecast.count_losses(np.repeat(x, 2)[::2], "float8_e4m3fn", profile="onnx", check="exact")
    assert strided == report and hash(strided) == hash(report)
    assert (report + report).elements == 2 * size
    assert repr(report).startswith(f"Report({size} elements")


def test_counting_keeps_no_result():
    resource = pytest.importorskip("resource")
    x = np.ones(1 << 24, np.int8)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    lanecast.count_losses(x, "complex128")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 64 << 10, f"{grown} KiB for a result of 256 MiB that nobody asked for"
