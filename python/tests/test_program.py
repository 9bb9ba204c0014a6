"""The program `lanecast`, which the package installs."""

import functools
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import sysconfig
import threading

import pytest

import lanecast

SCRIPT = pathlib.Path(sysconfig.get_path("scripts")) / ("lanecast.exe" if os.name == "nt" else "lanecast")
COMMANDS = [[sys.executable, "-m", "lanecast"]] + ([[str(SCRIPT)]] if SCRIPT.exists() else [])


@pytest.fixture(params=COMMANDS, ids=["module", "script"][: len(COMMANDS)])
def program(request):
    return request.param


def run(program, *arguments, **more):
    return subprocess.run([*program, *arguments], capture_output=True, timeout=60, **more)


def test_version_and_help(program):
    version = run(program, "--version")
    assert version.stdout.decode() == f"lanecast {lanecast.__version__}\n" and version.returncode == 0
    about = run(program, "--help")
    assert about.returncode == 0 and b"Usage: lanecast" in about.stdout and b"__main__" not in about.stdout


def test_exit_codes(program, tmp_path):
    wrong = run(program, "cast", "--no-such-option")
    assert wrong.returncode == 2 and wrong.stderr.startswith(b"lanecast: ") and b"Traceback" not in wrong.stderr
    assert run(program).returncode == 2
    missing = run(program, "inspect", str(tmp_path / "missing.npy"))
    assert missing.returncode == 3 and missing.stderr.startswith(b"lanecast: ")
    (tmp_path / "bad.npy").write_bytes(b"no array")
    assert run(program, "inspect", str(tmp_path / "bad.npy")).returncode == 4


def test_bytes_through_pipes(program):
    source = struct.pack("<4f", 1.5, -2.0, 300.0, 0.0) * 100_000
    done = run(program, "raw", "--from", "float32", "--to", "bfloat16", input=source)
    assert done.returncode == 0, done.stderr
    assert done.stdout == lanecast.cast_buffer(source, "float32", "bfloat16", profile="rust")
    for rounding in ("toward_zero", "toward-zero"):
        done = run(program, "raw", "--from", "float32", "--to", "int8", "--int-round", rounding, input=source[:16])
        assert done.stdout == bytes([1, 254, 127, 0]), done.stderr


def test_output_that_is_not_read(program):
    with subprocess.Popen([*program, "raw", "--from", "int8", "--to", "float64"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        child.stdout.close()
        try:
            child.stdin.write(bytes(1 << 22))
            child.stdin.close()
        except BrokenPipeError:
            pass
        child.stdin = None
        assert child.wait(60) == 141
        assert child.stderr.read() == b""


def test_files(program, tmp_path):
    np = pytest.importorskip("numpy")
    name = "w" if os.name == "nt" or sys.platform == "darwin" else "w\udcff"
    source, target = tmp_path / f"{name}.npy", tmp_path / f"{name}16.npy"
    np.save(source, np.arange(6, dtype=np.float32))
    done = run(program, "cast", "--to", "float16", str(source), str(target))
    assert done.returncode == 0, done.stderr
    assert np.load(target).dtype == np.float16 and np.load(target).tolist() == list(range(6))
    found = json.loads(run(program, "inspect", "--json", str(target)).stdout)
    assert "float16" in json.dumps(found)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals(program, number, code):
    # A shell starts what runs in the background with SIGINT ignored, and the program leaves that as it is.
    default = functools.partial(signal.signal, number, signal.SIG_DFL)
    pipes = dict.fromkeys(["stdin", "stdout", "stderr"], subprocess.PIPE)
    with subprocess.Popen([*program, "raw", "--from", "int8", "--to", "float64"], **pipes, preexec_fn=default) as child:
        def feed():
            try:
                while True:
                    child.stdin.write(bytes(1 << 16))
            except OSError:
                pass

        feeder = threading.Thread(target=feed)
        feeder.start()
        # The program runs, since it answers.
        assert len(child.stdout.read(1 << 20)) == 1 << 20
        child.send_signal(number)
        while child.stdout.read(1 << 20):
            pass
        errors = child.stderr.read()
        assert child.wait(60) == code, errors
        feeder.join()
        child.stdin = None
        assert errors.startswith(b"lanecast: ended by SIG") and b"Traceback" not in errors


def test_nothing_of_an_array_library_is_imported():
    code = "import sys; sys.argv[1:] = ['cpu']; from lanecast.__main__ import main; main(); print([n for n in ('numpy', 'torch', 'jax') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert done.stdout.splitlines()[-1] == b"[]", done.stderr
