"""Pickles and copies of the objects of lanecast."""

import copy
import pickle

import pytest
from conftest import package

import lanecast

np = package("numpy")
package("ml_dtypes")


def again(value):
    """The value after each way of copying it."""
    protocols = range(2, pickle.HIGHEST_PROTOCOL + 1)
    return [pickle.loads(pickle.dumps(value, protocol)) for protocol in protocols] + [copy.copy(value), copy.deepcopy(value)]


def test_reports():
    x = np.array([[1.5, -300, np.nan, 1e-30], [1e30, 2, 3, 7.25]], np.float32)
    report = lanecast.count_losses(x, "float8_e4m3fn", check="exact") + lanecast.count_losses(x, "int8", check="exact")
    assert sum(count > 0 for count in report.as_dict().values()) >= 5
    for copied in again(report):
        assert type(copied) is lanecast.Report and copied == report and copied.as_dict() == report.as_dict()
    assert lanecast.Report(**report.as_dict()) == report
    # Every count is kept in its own place.
    numbers = {name: 10**18 + i for i, name in enumerate(report.as_dict())}
    assert lanecast.Report(**numbers).as_dict() == numbers
    for copied in again(lanecast.Report(**numbers)):
        assert copied.as_dict() == numbers
    assert lanecast.Report() == lanecast.count_losses(x[:0], "int8") and sum([report, report], lanecast.Report()) == report + report
    for wrong, error in [({"lost": 1}, TypeError), ({"wrapped": -1}, OverflowError), ({"wrapped": 1.5}, TypeError)]:
        with pytest.raises(error):
            lanecast.Report(**wrong)


@pytest.mark.parametrize("dtype", lanecast.dtypes, ids=str)
def test_limits(dtype):
    function = lanecast.iinfo if "integer" in dtype.kind else lanecast.finfo
    if dtype.kind == "bool":
        return
    info = function(dtype)
    for copied in again(info):
        assert type(copied) is type(info) and copied == info and hash(copied) == hash(info)
        for name in dir(info):
            if not name.startswith("_"):
                assert getattr(copied, name) == getattr(info, name), name
    other = function("int64" if function is lanecast.iinfo else "float16")
    assert (info == other) == (dtype.name in ("int64", "float16")) and info != dtype


@pytest.mark.parametrize("dtype", lanecast.dtypes, ids=str)
def test_buffers(dtype):
    x = np.array([[0, 1, 1], [1, 2, 0.5]], np.float32)
    plain = lanecast.astype(lanecast.Buffer.from_bytes(x.tobytes(), "float32", (2, 3)), dtype)
    buffers = [plain, lanecast.astype(plain, dtype.numpy.newbyteorder())]
    buffers += [lanecast.pack(x, dtype)] if dtype.bits < 8 else []
    for buffer in buffers:
        for copied in again(buffer):
            assert type(copied) is lanecast.Buffer and copied is not buffer
            assert bytes(copied) == bytes(buffer) and repr(copied) == repr(buffer)
            assert (copied.encoding, copied.shape) == (buffer.encoding, buffer.shape)
            assert copied.numpy().dtype == buffer.numpy().dtype and copied.numpy().tobytes() == buffer.numpy().tobytes()


def test_buffers_out_of_band():
    x = np.arange(1 << 16, dtype=np.float32).reshape(4, -1)
    buffer = lanecast.Buffer.from_bytes(x, "float32", x.shape)
    memory = []
    data = pickle.dumps(buffer, 5, buffer_callback=memory.append)
    assert len(data) < 1000 and len(memory) == 1
    assert np.shares_memory(np.frombuffer(memory[0], np.float32), buffer.numpy())
    copied = pickle.loads(data, buffers=memory)
    assert not np.shares_memory(copied.numpy(), buffer.numpy()) and (copied.numpy() == x).all()


def test_buffers_of_bytes():
    assert lanecast.Buffer.from_bytes(b"\x21\x43", lanecast.Encoding("int4", storage="packed"), 4).numpy().tolist() == [1, 2, 3, 4]
    assert lanecast.Buffer.from_bytes(b"\0\1\0\2", lanecast.Encoding("int16", order="big"), [2]).numpy().tolist() == [1, 2]
    assert lanecast.Buffer.from_bytes(b"", "int16", (0, 2)).shape == (0, 2)
    for arguments, words in [
        ((b"123", "int16", 1), "3 bytes, more than 1 elements"),
        ((b"123", "int16", 2), "2 elements of int16 are 4 bytes"),
        ((b"1234", "int16", -1), "negative length -1.*the data has 2 elements"),
        ((b"12", "int16", (1 << 40, 1 << 40)), "too many"),
    ]:
        with pytest.raises(ValueError, match=words):
            lanecast.Buffer.from_bytes(*arguments)


@pytest.mark.parametrize("dtype", lanecast.dtypes, ids=str)
def test_encodings(dtype):
    for storage in ("byte", "packed"):
        for order in ("little", "big"):
            encoding = lanecast.Encoding(dtype, storage=storage, order=order)
            for copied in again(encoding):
                assert type(copied) is lanecast.Encoding and copied == encoding and copied.dtype is dtype
                assert (copied.storage, copied.order, hash(copied)) == (encoding.storage, encoding.order, hash(encoding))


def test_quantized_arrays():
    quantized = lanecast.quantize(np.ones((4, 64), np.float32), "mx", counts=True)
    for copied in again(quantized):
        assert copied.report == quantized.report and copied.dtype is quantized.dtype
        assert (copied.dequantize() == quantized.dequantize()).all()


@pytest.mark.parametrize("dtype", lanecast.dtypes, ids=str)
def test_dtypes(dtype):
    assert all(copied is dtype for copied in again(dtype))
