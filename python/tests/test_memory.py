"""Memory leaks and peak memory.

LANECAST_LEAK_CALLS is the number of calls of each kind, 20,000 by default. 1,000,000 take about five minutes in all.
"""

import gc
import os
import sys
import tracemalloc

import pytest
from conftest import package

import lanecast

np = package("numpy")

CALLS = int(os.environ.get("LANECAST_LEAK_CALLS", "20000"))


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def failing(function, error):
    def call():
        with pytest.raises(error):
            function()

    return call


def kinds():
    """Objects that calls share, and one call of every kind."""
    x = np.arange(64, dtype=np.float32)
    out, swapped = np.zeros(64, np.int8), np.dtype(">f8")
    packed = lanecast.pack(x % 8, "int4")
    shared = [x, out, swapped, packed, lanecast.int8, np.dtype(np.int8), None]
    return shared, {
        "astype": lambda: lanecast.astype(x, "float16"),
        "astype to a swapped dtype": lambda: lanecast.astype(x, swapped),
        "astype of a strided array": lambda: lanecast.astype(x[::2], np.int8, check="range"),
        "astype with out": lambda: lanecast.astype(x, "int8", out=out, int_round="floor"),
        "astype of a scalar": lambda: lanecast.astype(x[3], "int8"),
        "astype of a Buffer": lambda: lanecast.astype(packed, "float32"),
        "astype of an empty array": lambda: lanecast.astype(x[:0], "int8"),
        "astype_masked": lambda: lanecast.astype_masked(x, "int8"),
        "count_losses": lambda: lanecast.count_losses(x, "int8", check="exact"),
        "pack": lambda: lanecast.pack(x, "int4").numpy(),
        "unpack": lambda: lanecast.unpack(packed, "int4", (8, 8)),
        "cast_buffer": lambda: lanecast.cast_buffer(x, "float32", "int8"),
        "DLPack": lambda: np.from_dlpack(lanecast.astype(packed, "float32")),
        "an unused capsule": lambda: lanecast.astype(packed, "float32").__dlpack__(max_version=(1, 0)),
        "a view of bytes": lambda: memoryview(packed)[0],
        "result_type": lambda: lanecast.result_type(x, 3, "int8", standard="numpy"),
        "can_cast": lambda: lanecast.can_cast("int8", swapped, standard="numpy"),
        "finfo": lambda: lanecast.finfo("float16").max,
        "format": lambda: lanecast.format_text(x[:2]),
        "parse": lambda: lanecast.parse_text(["1", b"2"], "int8"),
        "parse of an iterator": lambda: lanecast.parse_text(iter(["1", "2"]), "int8"),
        "an unknown dtype": failing(lambda: lanecast.astype(x, "i4"), TypeError),
        "an unknown option": failing(lambda: lanecast.astype(x, "int8", saturated=True), TypeError),
        "not an array": failing(lambda: lanecast.astype([1], "int8"), TypeError),
        "text that is not a number": failing(lambda: lanecast.parse_text(["1", "x"], "int8"), ValueError),
        "a loss": failing(lambda: lanecast.astype(x * 100, "int8", check="range"), lanecast.LossError),
        "an overlap": failing(lambda: lanecast.astype(x[:32], "float64", out=x[16:48].view("f8")[:16]), ValueError),
    }


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="there is no /proc here")
@pytest.mark.parametrize("kind", kinds()[1])
def test_no_leak(kind):
    shared, calls = kinds()
    call = calls[kind]

    def run(count):
        for _ in range(count):
            call()
        gc.collect()

    # Memory that tracemalloc traces. It finds small leaks in few calls.
    run(200)
    tracemalloc.start()
    run(20)
    before = tracemalloc.get_traced_memory()[0]
    traced_calls = min(CALLS // 10, 20_000)
    run(traced_calls)
    growth = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert growth < 4096 + traced_calls, f"Python holds {growth} bytes more after {traced_calls} calls"

    # All memory of the process, and references. 100,000 calls reveal a leak of 16 bytes per call, and 20,000 calls one of 80 bytes.
    references = [sys.getrefcount(value) for value in shared]
    memory = resident()
    run(CALLS)
    growth = resident() - memory
    assert growth < 1_600_000, f"the process holds {growth} bytes more after {CALLS} calls"
    more = [after - b for after, b in zip([sys.getrefcount(value) for value in shared], references)]
    assert max(more) < 50, more


def test_peak_memory_is_that_of_the_result():
    x = np.zeros(1 << 22, np.float32)
    buffer = lanecast.pack(x, "float16")
    for view, to in ((x, "float16"), (x[::2], "float64"), (x.reshape(2048, -1).T, "int8"), (buffer, "float32"), (buffer, "int4")):
        tracemalloc.start()
        result = lanecast.astype(view, to)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert result.nbytes <= peak < result.nbytes + 10_000


def test_text_and_bytes_are_not_held_twice():
    texts = [str(i % 100) for i in range(200_000)]
    x = np.zeros(1 << 20, np.float32)
    for call, nbytes in (
        (lambda: lanecast.parse_text(texts, "float64"), 8 * len(texts)),
        (lambda: lanecast.parse_text(tuple(texts), "float64"), 16 * len(texts)),
        (lambda: lanecast.cast_buffer(x, "float32", "float64"), 2 * x.nbytes),
        (lambda: lanecast.unpack(bytes(1 << 20), "int4", 1 << 21), 3 << 20),
    ):
        tracemalloc.start()
        call()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < nbytes + 20_000


def test_arrays_are_saved_without_a_copy(tmp_path):
    x = np.zeros(1 << 23, np.float64)
    x += 1

    def peak_of(tensors):
        try:
            with open("/proc/self/clear_refs", "w") as file:
                file.write("5")
        except OSError as error:
            pytest.skip(f"the peak of resident memory cannot be reset here: {error}")
        before = resident()
        lanecast.save(tmp_path / "x.safetensors", tensors, overwrite=True)
        with open("/proc/self/status") as file:
            return int(next(line for line in file if line.startswith("VmHWM")).split()[1]) * 1024 - before

    assert peak_of({"x": x}) < x.nbytes // 4
    # A byte-swapped array needs a copy.
    assert peak_of({"x": x.astype(">f8")}) > x.nbytes // 2


def test_dask():
    dask_array = package("dask.array")
    x = dask_array.from_array(np.arange(12, dtype=np.float32).reshape(3, 4) - 5, chunks=(2, 3))
    small = x.map_blocks(lanecast.astype, np.dtype(np.int8), dtype=np.int8)
    assert small.dtype == np.int8 and (small.compute() == np.arange(12).reshape(3, 4) - 5).all()
    with pytest.raises(TypeError, match="map_blocks"):
        lanecast.astype(x, "int8")
    with pytest.raises(TypeError, match="map_blocks"):
        lanecast.count_losses(x, "int8")
