"""The operators QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear of ONNX."""

import tracemalloc

import pytest
from conftest import optional, package

import lanecast

np = package("numpy")
ml_dtypes = optional("ml_dtypes")

X = np.array([[1.0, -2.0, 0.5, 0.25], [30.0, 70.0, -1.0, 0.0]], np.float32)


def quantize(*inputs, opset=25, **attributes):
    return lanecast.onnx.quantize_linear(*inputs, opset=opset, **attributes)


def test_granularities():
    one = np.float32(0.5)
    assert quantize(X, one, np.uint8(7), opset=10).tolist() == [[9, 3, 8, 7], [67, 147, 5, 7]]
    rows = np.array([1, 10], np.float32)
    y = quantize(X, rows, np.array([0, 1], np.int8), opset=13, axis=0)
    assert y.dtype == np.int8 and y.tolist() == [[1, -2, 0, 0], [4, 8, 1, 1]]
    blocks = np.array([[1, 0.25], [10, 0.125]], np.float32)
    assert quantize(X, blocks, block_size=2, output_dtype="int8").tolist() == [[1, -2, 2, 1], [3, 7, -8, 0]]
    # In any order in memory.
    assert quantize(X.T, blocks.T, block_size=2, axis=0, output_dtype="int8").T.tolist() == [[1, -2, 2, 1], [3, 7, -8, 0]]


def test_there_and_back():
    x = np.linspace(-3, 3, 64, dtype=np.float32).reshape(4, 16)
    scale = np.full((4, 2), 0.05, np.float32)
    for zero_point in (None, np.full((4, 2), 3, np.int8)):
        output_dtype = "int8" if zero_point is None else None
        y = quantize(x, scale, zero_point, block_size=8, output_dtype=output_dtype)
        back = lanecast.onnx.dequantize_linear(y, scale, zero_point, opset=25, block_size=8)
        assert back.dtype == np.float32 and abs(back - x).max() <= 0.02501
        half = lanecast.onnx.dequantize_linear(y, scale, zero_point, opset=25, block_size=8, output_dtype="float16")
        assert (half == back.astype(np.float16)).all()


def test_precision_and_saturate():
    x = np.array([0.50001, 1e6], np.float32)
    one = np.float32(1)
    assert quantize(x, one).tolist() == [1, 255]
    assert quantize(x, one, precision="float16").tolist() == [0, 255]
    codes = [lanecast.pack(quantize(x, one, output_dtype="float8_e4m3fn", saturate=on), "float8_e4m3fn") for on in (True, False)]
    assert [bytes(memoryview(code))[1] for code in codes] == [0x7E, 0x7F]


def test_dynamic():
    y, scale, zero_point = lanecast.onnx.dynamic_quantize_linear(np.array([-1.0, 0.0, 1.55], np.float32), opset=11)
    assert (y.dtype, y.tolist(), zero_point) == (np.uint8, [0, 100, 255], 100)
    assert np.float32(scale) == np.float32(0.01)


def test_arrays_are_read_in_place():
    x = np.linspace(-3, 3, 1 << 20, dtype=np.float32)
    scale = np.float32(0.05)
    expected = quantize(x, scale, output_dtype="int8")
    assert (quantize(x.astype(">f4"), scale.astype(">f4"), output_dtype="int8") == expected).all()
    calls = [
        lambda: quantize(x, scale, output_dtype="int8"),
        lambda: lanecast.onnx.dequantize_linear(expected, scale, opset=25),
        lambda: lanecast.onnx.dynamic_quantize_linear(x, opset=11)[0],
    ]
    for call in calls:
        tracemalloc.start()
        result = call()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1.1 * result.nbytes


def test_out():
    x = np.linspace(-3, 3, 96, dtype=np.float32).reshape(2, 48)
    scale, zero_point = np.float32(0.05), np.uint8(100)
    y = quantize(x, scale, zero_point)
    # Contiguous, apart in memory, and in the other byte order.
    for out in (np.empty_like(y), np.empty((2, 96), np.uint8)[:, ::2], np.empty((48, 2), np.uint8).T):
        assert quantize(x, scale, zero_point, out=out) is out and (out == y).all()
    back = lanecast.onnx.dequantize_linear(y, scale, zero_point, opset=25)
    for out in (np.empty_like(back), np.empty_like(back, dtype=">f4")):
        assert lanecast.onnx.dequantize_linear(y, scale, zero_point, opset=25, out=out) is out and (out == back).all()
    expected = lanecast.onnx.dynamic_quantize_linear(x, opset=11)
    found = lanecast.onnx.dynamic_quantize_linear(x, opset=11, out=y)
    assert found[0] is y and (expected[0] == y).all() and expected[1:] == found[1:]


def test_errors_of_out():
    x = np.zeros((2, 8), np.float32)
    with pytest.raises(lanecast.DTypeError, match="out.*int8.*uint8"):
        quantize(x, np.float32(1), out=np.empty((2, 8), np.int8))
    with pytest.raises(ValueError, match=r"out.*\[8, 2\].*\[2, 8\]"):
        quantize(x, np.float32(1), out=np.empty((8, 2), np.uint8))
    with pytest.raises(lanecast.OverlapError, match="without `out`"):
        quantize(x, np.float32(1), out=x.view(np.uint8)[:, :8])
    zero_point = np.zeros(8, np.uint8)
    with pytest.raises(lanecast.OverlapError, match="without `out`"):
        quantize(x[0], np.ones(8, np.float32), zero_point, axis=0, out=zero_point)
    frozen = np.empty((2, 8), np.uint8)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only|writ"):
        quantize(x, np.float32(1), out=frozen)


def test_packed():
    y = quantize(X[:, :3], np.float32(1), output_dtype="int4")
    assert y.dtype == ml_dtypes.int4 and y.astype(np.int8).tolist() == [[1, -2, 0], [7, 7, -1]]
    zero_point = np.array(1, ml_dtypes.int4)
    assert lanecast.onnx.dequantize_linear(y, np.float32(2), zero_point, opset=21).tolist() == [[0, -6, -2], [12, 12, -4]]
    power = np.array(2, ml_dtypes.float8_e8m0fnu)
    y = quantize(X, power, output_dtype="float4_e2m1fn")
    assert y.astype(np.float32).tolist() == [[0.5, -1, 0, 0], [6, 6, -0.5, 0]]


def test_refusals():
    one = np.float32(1)
    with pytest.raises(lanecast.DTypeError, match="opset 21 is the first that has it"):
        quantize(X, one, opset=19, block_size=2)
    with pytest.raises(lanecast.DTypeError, match="opset 21 is the first that does"):
        quantize(X, one, np.int16(0), opset=19)
    with pytest.raises(lanecast.DTypeError, match="opset 10"):
        quantize(X, one, opset=9)
    with pytest.raises(lanecast.DTypeError, match="no version"):
        quantize(X.astype(np.float64), one)
    with pytest.raises(lanecast.DTypeError, match="ONNX has no dtype float8_e3m4"):
        quantize(X, one, output_dtype="float8_e3m4")
    with pytest.raises(lanecast.DTypeError, match="make them equal"):
        quantize(X, one, np.int8(0), output_dtype="uint8")
    with pytest.raises(ValueError, match=r"the shape \[2\] but needs \[4\]"):
        quantize(X, np.ones(2, np.float32))
    with pytest.raises(ValueError, match="axis is 2"):
        quantize(X, np.ones(4, np.float32), axis=2)
    with pytest.raises(ValueError, match="block_size"):
        quantize(X, one, block_size=-1)
    with pytest.raises(ValueError, match="precision"):
        quantize(X, one, precision="int8")
    with pytest.raises(ValueError, match="zero point 0 is not 0"):
        lanecast.onnx.dequantize_linear(np.ones(2, np.int32), one, np.int32(3), opset=13)
    with pytest.raises(lanecast.DTypeError, match="float16"):
        lanecast.onnx.dynamic_quantize_linear(X.astype(np.float16), opset=11)
