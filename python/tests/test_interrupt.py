"""Signals that arrive during long casts, such as that of Ctrl-C."""

import os
import signal
import threading
import time

import pytest
from conftest import package

import lanecast

np = package("numpy")
package("ml_dtypes")

N = 1 << 28
"""Elements of a cast that takes some tenths of a second in the scalar tier, which is slow when it rounds up."""

if not hasattr(signal, "setitimer"):
    pytest.skip("there are no timers here", allow_module_level=True)


@pytest.fixture(autouse=True)
def slow():
    with lanecast.tier("scalar"):
        yield


class Alarm(Exception):
    pass


@pytest.fixture
def alarm():
    """A signal after this many seconds, whose handler raises Alarm."""

    def ring(number, frame):
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def cast(x, out, **options):
    lanecast.astype(x, "float8_e4m3fn", out=out.view(lanecast.float8_e4m3fn), float_round="up", **options)


def quarter(call):
    """A quarter of the time of a call, in seconds."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) / 4


def sources():
    half = N // 2
    return {
        "contiguous": lambda: np.ones(N, np.int8),
        "views": lambda: np.ones((half // 1024, 2048), np.int8)[:, ::2],
        "columns": lambda: np.ones((3, 2 * (half // 3)), np.int8)[:, ::2],
        "Fortran order": lambda: np.ones((1024, N // 1024), np.int8).T,
    }


@pytest.mark.parametrize("name", sources())
def test_a_cast_ends_between_blocks(name, alarm):
    x = sources()[name]()
    out = np.full_like(x, 7)
    delay = quarter(lambda: cast(x, out, threads=1))
    out[...] = 7
    alarm(delay)
    with pytest.raises(Alarm):
        cast(x, out, threads=1)
    # The first blocks are cast, and the last are as before.
    flat = out.reshape(-1, order="A")
    assert flat[0] == 0x38 and flat[-1] == 7
    changed = np.count_nonzero(flat == 0x38)
    assert 0 < changed < flat.size and changed + np.count_nonzero(flat == 7) == flat.size


def test_packed_elements(alarm):
    x, out = np.ones(N, np.int8), bytearray(b"\x77") * (N // 2)

    def pack():
        packed = lanecast.Encoding("float4_e2m1fn", storage="packed")
        lanecast.cast_buffer(x, "int8", packed, out=out, threads=1)

    delay = quarter(pack)
    out[:] = b"\x77" * len(out)
    alarm(delay)
    with pytest.raises(Alarm):
        pack()
    assert (out[0], out[-1]) == (0x22, 0x77) and set(out) == {0x22, 0x77}


def test_tensors_of_files(alarm, tmp_path):
    path, out = tmp_path / "x.npy", np.full(N, 7, np.int8)
    np.save(path, np.ones(N, np.int8))
    with lanecast.File(path) as file:

        def read():
            file[""].astype("float8_e4m3fn", out=out.view(lanecast.float8_e4m3fn), float_round="up", threads=1)

        delay = quarter(read)
        out[:] = 7
        alarm(delay)
        with pytest.raises(Alarm):
            read()
    assert out[-1] == 7


def test_several_threads(alarm):
    x, out = np.ones(2 * N, np.int8), np.full(2 * N, 7, np.int8)
    delay = quarter(lambda: cast(x, out))
    out[:] = 7
    alarm(delay)
    with pytest.raises(Alarm):
        cast(x, out)
    assert (out[0], out[-1]) == (0x38, 7)


def test_ctrl_c():
    x, out = np.ones(N, np.int8), np.full(N, 7, np.int8)
    delay = quarter(lambda: cast(x, out, threads=1))
    out[:] = 7
    # A process that was started in the background ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            cast(x, out, threads=1)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert (out[0], out[-1]) == (0x38, 7)


@pytest.mark.parametrize("function", ["count_losses", "astype_masked", "astype", "format", "parse"])
def test_calls_without_out(function, alarm):
    short = np.ones(1 << 17, np.float32) / 3
    texts = ["0.3333333"] * len(short)
    call = {
        "count_losses": lambda n: lanecast.count_losses(np.ones(n, np.int8), "uint4", threads=1),
        "astype_masked": lambda n: lanecast.astype_masked(np.ones(n, np.int8), "float8_e4m3fn", threads=1),
        "astype": lambda n: lanecast.astype(np.ones(n, np.int8), "float8_e4m3fn", check="range", threads=1),
        "format": lambda n: lanecast.format_text(np.resize(short, n // 32)),
        "parse": lambda n: lanecast.parse_text(texts * (n // 32 // len(texts)), "float32"),
    }[function]
    times = []
    for _ in range(2):
        start = time.perf_counter()
        call(N)
        times.append(time.perf_counter() - start)
    alarm(min(times) / 4)
    start = time.perf_counter()
    with pytest.raises(Alarm):
        call(N)
    assert time.perf_counter() - start < 0.8 * min(times)


def test_a_handler_that_returns_changes_nothing():
    x, calls = np.arange(N, dtype=np.int8), []
    before = signal.signal(signal.SIGALRM, lambda number, frame: calls.append(number))
    signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
    try:
        ours, fits = lanecast.astype_masked(x.reshape(-1, 1024)[:, ::2], "uint4", threads=1)
        losses = lanecast.count_losses(x, "uint4", threads=1)
        with pytest.raises(lanecast.LossError) as raised:
            y = np.zeros(N, np.int8)
            y[-5] = -1
            lanecast.astype(y.reshape(-1, 1024), "uint4", check="range", threads=1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(calls) >= 3
    assert raised.value.index == (N // 1024 - 1, 1019)
    pattern = np.arange(0, 256, 2).astype(np.uint8)
    assert (fits.reshape(-1, 128) == (pattern < 16)).all()
    assert (ours.view(np.uint8).reshape(-1, 128) == pattern % 16).all()
    assert losses.elements == N and losses.wrapped == N // 256 * 240
