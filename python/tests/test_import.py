"""lanecast without NumPy and the other optional packages."""

import importlib.metadata
import pathlib
import subprocess
import sys
import textwrap

import pytest


def run(code: str, *blocked: str) -> str:
    """Runs code in a new process in which these packages cannot be imported."""
    block = "".join(f"sys.modules[{name!r}] = None\n" for name in blocked)
    code = f"import sys\n{block}import lanecast\n" + textwrap.dedent(code)
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_nothing_is_imported():
    known = ["numpy", "ml_dtypes", "torch", "jax", "dask"]
    assert run(f"print([name for name in {known} if name in sys.modules])") == "[]"


def test_what_is_installed():
    try:
        files = importlib.metadata.files("lanecast") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("lanecast was imported from a folder, not installed")
    described = {path.name: path.locate() for path in files if path.parts[0].endswith(".dist-info")}
    root = pathlib.Path(__file__).parents[2]
    for name in ("LICENSE-APACHE", "LICENSE-MIT"):
        assert described[name].parent.name == "licenses"
        assert described[name].read_text() == (root / name).read_text()
    # pip writes direct_url.json, with the path from which it installs.
    texts = [path.read_text() for name, path in described.items() if name != "direct_url.json"]
    assert texts and not any(str(root) in text or "file://" in text for text in texts)


def test_without_numpy():
    out = run(
        """
        assert lanecast.cast_buffer(b"\\0\\0\\xc0\\x3f", "float32", "int8") == b"\\1"
        assert lanecast.result_type("int8", lanecast.uint8, 3, standard="numpy") is lanecast.int16
        assert lanecast.finfo("float8_e4m3fn").max == 448
        unpacked = lanecast.unpack(b"\\x21\\x43", "uint4", (2, 2), to="float32")
        assert isinstance(unpacked, lanecast.Buffer) and unpacked.shape == (2, 2)
        assert memoryview(unpacked).cast("f").tolist() == [1, 2, 3, 4]
        again = lanecast.astype(unpacked, "int8")
        assert isinstance(again, lanecast.Buffer) and bytes(again) == b"\\1\\2\\3\\4"
        assert bytes(lanecast.parse_text(["1", "-1"], "int8")) == b"\\1\\xff"
        assert lanecast.format_text(again) == ["1", "2", "3", "4"]
        for wrong in ([1.5], 1.5, object(), None, "x"):
            try:
                lanecast.astype(wrong, "int8")
            except TypeError as error:
                assert "expected a NumPy, PyTorch or JAX array" in str(error)
            else:
                raise AssertionError(wrong)
        for attribute in "numpy", "torch":
            try:
                getattr(lanecast.float32, attribute)
            except ImportError as error:
                pass
            else:
                raise AssertionError(attribute)
        print("passed")
        """,
        "numpy", "torch",
    )  # fmt: skip
    assert out == "passed"


def test_without_ml_dtypes():
    pytest.importorskip("numpy")
    out = run(
        """
        import numpy
        assert lanecast.astype(numpy.array([1.5]), "int8").dtype == "int8"
        try:
            lanecast.astype(numpy.array([1.5]), "bfloat16")
        except ImportError as error:
            print(error)
        """,
        "ml_dtypes",
    )
    assert out == "NumPy arrays of bfloat16 need the package ml_dtypes; install ml_dtypes or lanecast[ml-dtypes]"


@pytest.mark.parametrize("first", [True, False], ids=["before the main interpreter", "after it"])
def test_sub_interpreters_are_refused_in_words(first):
    module = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
    pytest.importorskip(module)
    # Also one that shares the lock of the main interpreter, which Python lets import such modules.
    shared = "interpreters.create('legacy')" if sys.version_info >= (3, 13) else "interpreters.create(isolated=False)"
    code = f"""
import sys
sys.path[:] = {sys.path!r}
try:
    import lanecast
except ImportError as error:
    assert "interpreter" in str(error), error
else:
    raise AssertionError("it was imported")
"""
    script = f"""
import sys
import {module} as interpreters
sys.path[:] = {sys.path!r}
if not {first}:
    import lanecast
for one in interpreters.create(), {shared}:
    # An exception is returned, or raised by older versions.
    assert interpreters.run_string(one, {code!r}) is None
    interpreters.destroy(one)
import lanecast
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
