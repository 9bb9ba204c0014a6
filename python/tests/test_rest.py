"""Raw bytes, text, tiers, threads, processes, arbitrary arguments."""

import asyncio
import concurrent.futures
import mmap
import multiprocessing
import os
import sys
import threading
import time

import pytest
from conftest import optional, package

import lanecast

ml_dtypes = optional("ml_dtypes")
np = package("numpy")


def test_cast_buffer():
    x = np.arange(10, dtype=np.float32)
    for data in (x, x.tobytes(), bytearray(x.tobytes()), memoryview(x)):
        assert lanecast.cast_buffer(data, "float32", "int16") == x.astype(np.int16).tobytes()
    big, little = lanecast.Encoding("float32", order="big"), lanecast.Encoding("int16", order="little")
    assert lanecast.cast_buffer(x.astype(">f4"), big, little) == x.astype("<i2").tobytes()
    packed = lanecast.Encoding("int4", storage="packed")
    assert lanecast.cast_buffer(b"\x21\x43", packed, "int8") == b"\1\2\3\4"
    assert lanecast.cast_buffer(b"\x21\x43", packed, "int8", count=3) == b"\1\2\3"
    assert lanecast.cast_buffer(b"", "float32", "int8") == b""
    with mmap.mmap(-1, 4096) as memory:
        memory[:4] = b"\1\2\3\4"
        out = bytearray(b"x" * 20)
        assert lanecast.cast_buffer(memory, "uint8", "float32", count=4, out=out) is out
        assert bytes(out) == np.array([1, 2, 3, 4], np.float32).tobytes() + b"xxxx"
    for wrong, error, words in [
        ({"data": b"123"}, ValueError, "not a whole number"),
        ({"data": b"12", "count": 3}, ValueError, "the data has 2"),
        ({"data": b"1234", "out": b"12345678"}, ValueError, "read-only"),
        ({"data": b"1234", "out": bytearray(1)}, ValueError, "`out` has 1"),
        ({"data": np.zeros(4, np.float32)[::2]}, BufferError, ""),
        ({"data": "text"}, TypeError, ""),
        ({"data": b"1234", "count": 2**63}, ValueError, ""),
        ({"data": b"1234", "count": -1}, OverflowError, ""),
    ]:
        wrong = dict(wrong)
        with pytest.raises(error, match=words or None):
            lanecast.cast_buffer(wrong.pop("data"), "float32", "int16", **wrong)
    shared = bytearray(np.arange(8, dtype=np.float32).tobytes())
    with pytest.raises(lanecast.OverlapError):
        lanecast.cast_buffer(shared, "float32", "float64", count=4, out=memoryview(shared))
    with pytest.raises(lanecast.LossError):
        lanecast.cast_buffer(b"\xff", "uint8", "int8", check="range")


def test_encodings():
    packed = lanecast.Encoding("int4", storage="packed")
    assert (packed.dtype, packed.storage, packed.order) == (lanecast.int4, "packed", sys.byteorder)
    assert packed == lanecast.Encoding(lanecast.int4, storage="packed", order="native") != lanecast.Encoding("int4")
    assert len({packed, lanecast.Encoding("int4", storage="packed"), lanecast.Encoding("int4")}) == 2
    assert lanecast.Encoding(np.dtype(">i2")).order == "big" and lanecast.Encoding(np.dtype(">i2"), order="little").order == "little"
    assert repr(lanecast.Encoding("int16", order="big")) == 'lanecast.Encoding("int16", storage="byte", order="big")'
    assert lanecast.pack(np.arange(4), "int4").encoding == packed
    for wrong in ({"storage": "both"}, {"order": "="}):
        with pytest.raises(ValueError, match="must be one of"):
            lanecast.Encoding("int4", **wrong)
    with pytest.raises(lanecast.DTypeError):
        lanecast.Encoding("i4")


def test_names_are_read_with_hyphens_too():
    x = np.array([0.5, 1.5, 2.5])
    for name in ("nearest_even", "nearest-even", "Nearest_Even"):
        assert lanecast.astype(x, "int8", int_round=name).tolist() == [0, 2, 2]
    assert lanecast.astype(x, "int8", casting="Unsafe", profile="NumPy").tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match='one of "toward_zero", "nearest_even", .* not "nearest"'):
        lanecast.astype(x, "int8", int_round="nearest")
    with pytest.raises(TypeError, match="the cast options are profile, saturate"):
        lanecast.astype(x, "int8", rounding="up")
    with pytest.raises(ValueError, match='profile must be one of .*, not "pandas"'):
        lanecast.astype(x, "int8", profile="pandas")


def test_options_are_a_dictionary():
    rules: lanecast.CastOptions = {"profile": "rust", "int_round": "floor"}
    x = np.array([-0.5, 1000.0])
    assert lanecast.astype(x, "int8", **rules).tolist() == [-1, 127]
    assert lanecast.pack(x, "int4", **rules).numpy().tolist() == [-1, 7]
    assert lanecast.cast_buffer(x, "float64", "int8", **rules) == b"\xff\x7f"
    assert lanecast.count_losses(x, "int8", **rules).saturated == 1
    assert lanecast.astype_masked(x, "int8", **rules)[0].tolist() == [-1, 127]
    assert lanecast.unpack(b"\x0f", "uint4", 2, to="int2", profile="rust", int_to_int="saturate").tolist() == [1, 0]
    assert set(lanecast.CastOptions.__annotations__) >= {"profile", "saturate", "fnuz_inf"}
    # None is the same as no profile.
    assert lanecast.astype(x, "int8", profile=None).tolist() == lanecast.astype(x, "int8").tolist()


def test_unpack_checks_what_it_casts():
    assert lanecast.unpack(b"\x10", "uint4", 2, to="int2", check="range").tolist() == [0, 1]
    with pytest.raises(lanecast.LossError) as raised:
        lanecast.unpack(b"\x21", "uint4", 2, to="int2", check="range")
    assert raised.value.index == (1,) and raised.value.value == 2


def test_buffers_that_are_not_numbers_are_not_written():
    import array
    import ctypes

    class Packed(ctypes.Structure):
        _pack_ = 1
        _layout_ = "ms"
        _fields_ = [("pointer", ctypes.py_object)]

    class Whole(ctypes.Structure):
        _fields_ = [("pointer", ctypes.py_object)]

    class Either(ctypes.Union):
        _fields_ = [("pointer", ctypes.py_object), ("number", ctypes.c_int64)]

    x = np.arange(2.0)
    for refused in (
        np.array([None, None]), np.zeros(2, "V8"), np.zeros(2, "S8"), np.zeros(2, "U2"), np.zeros(2, "M8[s]"), np.zeros(2, "m8[s]"),
        np.zeros(2, [("a", "i4"), ("b", "O")]), np.zeros(2, [("a", "f8")]), array.array("u", "abcd"),
        *(memoryview((kind * 2)()) for kind in (ctypes.py_object, Packed, Whole, Either, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_wchar)),
    ):  # fmt: skip
        # NumPy has no buffers of times and user-defined dtypes at all.
        with pytest.raises((TypeError, ValueError), match="not numbers|cannot include dtype"):
            lanecast.cast_buffer(x, "float64", "int64", out=refused)
    numbers = [np.zeros(4, code) for code in "?bBhHiIlLqQefdgFDG"] + [np.zeros(4, ">i4"), np.zeros((2, 2), "<c8")]
    numbers += [memoryview(bytearray(32)).cast(code) for code in "?cbBhHiIlLqQnNfd"] + [array.array(code, [0] * 4) for code in "bBhHiIlLqQfd"]
    kinds = (ctypes.c_float, ctypes.c_char, ctypes.c_bool, ctypes.c_long, ctypes.c_uint8, ctypes.c_double)
    numbers += [memoryview((kind * 4)()) for kind in kinds]
    for out in [*numbers, bytearray(4)]:
        assert lanecast.cast_buffer(x, "float64", "uint8", out=out) is out
        assert bytes(out)[:2] == b"\0\1"


def test_text():
    texts = ["1.5", " -2e3 ", "inf", b"nan", "0x1p3"]
    with pytest.raises(ValueError, match="0x1p3"):
        lanecast.parse_text(texts, "float32")
    assert lanecast.parse_text(texts[:3], "float32").tolist() == [1.5, -2000, np.inf]
    assert lanecast.parse_text(np.array(["7", "-7"]), np.int8).tolist() == [7, -7]
    assert lanecast.parse_text(np.array([b"7", b"-7"]), "bfloat16").dtype == ml_dtypes.bfloat16
    assert lanecast.parse_text([], "float32").shape == (0,)
    assert np.isnan(lanecast.parse_text(["?", "1"], "float32", on_error="nan")).tolist() == [True, False]
    assert lanecast.parse_text(["?", "1"], ">i2" and np.dtype(">i2"), on_error="zero").tobytes() == b"\0\0\0\1"
    for wrong in ("1.5", [1.5], 3, [None]):
        with pytest.raises(TypeError):
            lanecast.parse_text(wrong, "float32")
    with pytest.raises(ValueError):
        lanecast.parse_text(["300"], "int8")
    x = np.array([[0.1, 1e16], [np.nan, -0.0]], np.float64)
    assert lanecast.format_text(x) == ["0.1", "1e+16", "nan", "-0.0"]
    assert lanecast.format_text(x.T, special="onnx", exponent="never") == ["0.1", "NaN", "10000000000000000.0", "-0.0"]
    assert lanecast.format_text(np.arange(2.0), trailing_dot_zero=False) == ["0", "1"]
    for dtype in lanecast.dtypes:
        numbers = lanecast.astype(np.array([0, 1], np.float32), dtype)
        again = lanecast.parse_text(lanecast.format_text(numbers), dtype)
        assert again.tobytes() == numbers.tobytes(), dtype


def test_shapes_of_packed_elements():
    packed = lanecast.pack(np.arange(6), "int4")
    assert lanecast.unpack(packed, "int4", 6).shape == (6,) and lanecast.unpack(packed, "int4", [2, 3]).shape == (2, 3)
    for shape, words in [(-1, "-1"), ((2, -1), r"\(2, -1\)"), ([-3, 2], r"\[-3, 2\]")]:
        with pytest.raises(ValueError, match=f"the shape {words} has the negative length -[13];.*the data has 6 elements"):
            lanecast.unpack(packed, "int4", shape)
    with pytest.raises(ValueError, match="too many elements"):
        lanecast.unpack(packed, "int4", (1 << 40, 1 << 40))
    with pytest.raises(TypeError):
        lanecast.unpack(packed, "int4", None)


def test_tiers():
    best = lanecast.active_tier()
    x = np.linspace(-1000, 1000, 999, dtype=np.float32)
    fast = lanecast.astype(x, "float8_e5m2").tobytes()
    with lanecast.tier("scalar"):
        assert lanecast.active_tier() == "scalar"
        assert lanecast.astype(x, "float8_e5m2").tobytes() == fast
        assert "scalar" in lanecast.explain("float32", lanecast.Encoding("int4", storage="packed"))
        with lanecast.tier(best):
            assert lanecast.active_tier() == best
        assert lanecast.active_tier() == "scalar"
        with pytest.raises(ValueError, match="avx1024"), lanecast.tier("avx1024"):
            pass
        assert lanecast.active_tier() == "scalar"
    with pytest.raises(KeyError), lanecast.tier("scalar"):
        raise KeyError
    assert lanecast.active_tier() == best


def test_tiers_of_threads_that_overlap():
    best = lanecast.active_tier()
    first, second = lanecast.tier("scalar"), lanecast.tier(best)
    first.__enter__()
    second.__enter__()
    # The block that began first ends first.
    first.__exit__(None, None, None)
    assert lanecast.active_tier() == best
    third = lanecast.tier("scalar")
    third.__enter__()
    second.__exit__(None, None, None)
    assert lanecast.active_tier() == "scalar"
    third.__exit__(None, None, None)
    assert lanecast.active_tier() == best


def test_num_threads():
    before = lanecast.num_threads()
    assert before >= 1
    x = np.arange(3_000_000, dtype=np.float32) / 100
    expected = x.astype(np.float16).tobytes()
    try:
        for n in (1, 2, 5):
            lanecast.set_num_threads(n)
            assert lanecast.num_threads() == n
            assert lanecast.astype(x, "float16").tobytes() == expected
            assert lanecast.astype(x, "float16", threads=3).tobytes() == expected
    finally:
        lanecast.set_num_threads(0)
    assert lanecast.num_threads() == before
    with pytest.raises(OverflowError):
        lanecast.set_num_threads(-1)


def test_blocks_of_threads():
    before = lanecast.num_threads()
    x = np.arange(3_000_000, dtype=np.float32) / 100
    with lanecast.threads(5):
        assert lanecast.num_threads() == 5
        with lanecast.threads(1):
            assert lanecast.num_threads() == 1
            assert lanecast.astype(x, "float16").tobytes() == x.astype(np.float16).tobytes()
        assert lanecast.num_threads() == 5
        with lanecast.threads(0):
            assert lanecast.num_threads() == before
    assert lanecast.num_threads() == before
    with pytest.raises(KeyError), lanecast.threads(7):
        raise KeyError
    assert lanecast.num_threads() == before
    for wrong, error in ((-1, ValueError), ("4", TypeError), (None, TypeError)):
        with pytest.raises(error):
            lanecast.threads(wrong)


def test_a_block_of_threads_is_that_of_its_own_thread_and_task():
    before = lanecast.num_threads()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        assert pool.submit(lanecast.num_threads).result() == before
        with lanecast.threads(before + 3):
            assert pool.submit(lanecast.num_threads).result() == before

    async def task(n):
        with lanecast.threads(n):
            await asyncio.sleep(0.01 * (n % 3))
            return lanecast.num_threads()

    async def tasks():
        return await asyncio.gather(*(task(n) for n in range(1, 9)))

    assert asyncio.run(tasks()) == list(range(1, 9))
    assert lanecast.num_threads() == before


@pytest.mark.parametrize("function", ["astype", "parse_text", "format_text"])
def test_the_lock_is_released_in_long_calls(function):
    x, out = np.zeros(1 << 26, np.int8), np.zeros(1 << 26, np.complex64)
    numbers = np.linspace(0, 1, 1 << 18)
    texts = lanecast.format_text(numbers)
    call = {
        "astype": lambda: lanecast.astype(x, "complex64", out=out, threads=1),
        "parse_text": lambda: lanecast.parse_text(texts, "float64"),
        "format_text": lambda: lanecast.format_text(numbers),
    }[function]
    times, done = [], threading.Event()

    def tick():
        while not done.is_set():
            times.append(time.perf_counter())
            time.sleep(0.001)

    other = threading.Thread(target=tick)
    other.start()
    start = time.perf_counter()
    call()
    end = time.perf_counter()
    done.set()
    other.join()
    inside = [t for t in times if start < t < end]
    assert len(inside) >= 3, f"the other thread ran {len(inside)} times in {end - start} s"


def test_batches_of_texts():
    numbers = np.arange(200_000, dtype=np.float64) / 7
    texts = lanecast.format_text(numbers)
    assert texts == [repr(number) for number in numbers.tolist()]
    assert lanecast.parse_text(texts, "float64").tobytes() == numbers.tobytes()
    assert lanecast.parse_text(iter(texts), np.dtype(">f8")).tobytes() == numbers.astype(">f8").tobytes()
    assert lanecast.parse_text([text.encode() for text in texts], "float32").tobytes() == numbers.astype(np.float32).tobytes()
    assert lanecast.format_text(numbers[::-1]) == texts[::-1]
    small = lanecast.pack(np.arange(200_001) % 16 - 8, "int4")
    assert lanecast.format_text(small) == [str(i % 16 - 8) for i in range(200_001)]
    bad = [*texts[:150_000], "1.2.3", None, *texts]
    with pytest.raises(ValueError, match='text 150000, "1.2.3"'):
        lanecast.parse_text(bad, "float64")
    with pytest.raises(TypeError, match="element 150001 of texts"):
        lanecast.parse_text(bad, "float64", on_error="nan")


def test_texts_of_another_number():
    class Wrong(list):
        def __len__(self):
            return 3

    for texts, words in [(["1", "2"], "yielded 2 texts"), (["1"] * 4, "yielded more than 3 texts"), ([], "yielded 0 texts")]:
        with pytest.raises(ValueError, match=f"length 3, but {words}"):
            lanecast.parse_text(Wrong(texts), "int8")


def test_sixteen_threads():
    x = np.linspace(-500, 500, 200_003, dtype=np.float32).reshape(1, -1)
    targets = ["float8_e4m3fn", "int8", "bfloat16", "float64", "int4", "complex64", "bool"]
    expected = {to: lanecast.astype(x, to).tobytes() for to in targets}

    def work(i):
        for to in targets[i % 7 :] + targets[: i % 7]:
            assert lanecast.astype(x, to).tobytes() == expected[to]
            assert lanecast.astype_masked(x, to)[0].tobytes() == expected[to]
        return True

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert all(pool.map(work, range(64)))


def child(_):
    x = np.arange(3_000_000, dtype=np.float32) / 100
    return lanecast.astype(x, "float16").tobytes() == x.astype(np.float16).tobytes()


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {method} here")
    child(0)  # starts the thread pool
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(child, range(4)).get(60) == [True] * 4


class Strange:
    """Has every attribute, all of them wrong."""

    def __getattr__(self, name):
        if name.startswith("__array"):
            raise AttributeError(name)
        return Strange()

    def __call__(self, *args, **kwargs):
        return Strange()


class Raises:
    def __getattribute__(self, name):
        raise RuntimeError(name)


def test_arguments_that_are_anything():
    anything = [
        None, True, 0, -1, 2**70, 1.5, 1j, "", "float32", "\0", "\ud800", b"", b"float32", [], [1], (), {}, set(), object, object(), Strange(),
        Strange, Raises(), np, np.zeros, np.float32, np.float32(1), np.dtype("f4"), np.dtype("U3"), np.zeros(3), np.zeros(0, "U3"),
        np.array(None), np.array("x"), lanecast.int8, lanecast.DType, lanecast, lanecast.pack(np.zeros(3), "int4"), type, int, float,
        memoryview(b"123"), range(3), iter([]), lambda: 1, NotImplemented, ..., np.ma.masked, np.nan,
    ]  # fmt: skip
    two = [lanecast.astype, lanecast.astype_masked, lanecast.count_losses, lanecast.pack, lanecast.parse_text]
    two += [lanecast.isdtype, lanecast.explain]
    calls = 0

    def call(function, *arguments, **keywords):
        nonlocal calls
        calls += 1
        try:
            function(*arguments, **keywords)
        except BaseException as error:
            # A Rust panic is not an Exception.
            assert isinstance(error, Exception), (function, arguments)

    for a in anything:
        for one in (lanecast.finfo, lanecast.iinfo, lanecast.format_text, lanecast.tier, lanecast.threads, lanecast.Encoding):
            call(one, a)
        call(lanecast.result_type, a, standard="numpy")
        call(lanecast.result_type, "int8", standard=a)
        for keyword in "order out casting profile check threads copy saturate e5m2_nan".split():
            call(lanecast.astype, np.zeros(3), "int8", **{keyword: a})
        for b in anything:
            for function in two:
                call(function, a, b)
            call(lanecast.cast_buffer, a, b, "int8")
            call(lanecast.cast_buffer, b"1234", a, b)
            call(lanecast.unpack, b"1234", a, b)
            call(lanecast.unpack, a, "int4", b)
            call(lanecast.can_cast, a, b, standard="numpy")
    assert calls > 20_000


@pytest.mark.skipif(not hasattr(sys, "_is_gil_enabled"), reason="this Python cannot be without its lock")
def test_free_threading():
    if sys._is_gil_enabled():
        pytest.skip("this Python has its lock")
    test_sixteen_threads()
