"""JAX arrays."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import pytest
from conftest import package

import lanecast

jax = package("jax")
np = package("numpy")
package("ml_dtypes")

jnp = jax.numpy
DTYPES = [dtype for dtype in lanecast.dtypes if not dtype.name.startswith("float6")]


@pytest.fixture(autouse=True)
def x64():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def bytes_of(array):
    return np.asarray(array).tobytes()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_both_ways(dtype):
    numbers = np.array([0, 1, 1, 2, 0.5, 1.5], np.float32)
    source = lanecast.astype(numbers, dtype)
    x = jnp.asarray(source)
    assert x.dtype == dtype.numpy
    for other in DTYPES:
        ours = lanecast.astype(x, other)
        assert isinstance(ours, jax.Array) and ours.dtype == other.numpy
        assert bytes_of(ours) == lanecast.astype(source, other, profile="jax").tobytes(), other


def test_arguments_of_jnp():
    x = jnp.arange(3.0)
    for name in "int8 float16 bfloat16 float8_e4m3fn int4 bool_ complex64".split():
        class_ = getattr(jnp, name)
        assert lanecast.astype(x, class_).dtype == np.dtype(class_), name


def test_memory():
    x = jnp.arange(1000.0).reshape(10, 100)
    ours = lanecast.astype(x, "bfloat16")
    assert ours.shape == x.shape and ours.unsafe_buffer_pointer() % 64 == 0
    assert lanecast.astype(x, x.dtype, copy=False) is x
    with pytest.raises(TypeError, match="immutable"):
        lanecast.astype(np.zeros((10, 100)), x.dtype, out=x)
    # The source is read in place.
    assert np.asarray(x).ctypes.data == x.unsafe_buffer_pointer()
    assert lanecast.astype(x.T, "int16").tolist() == x.T.astype("int16").tolist()
    assert lanecast.astype(x[:0], "int16").shape == (0, 100)


def test_the_result_is_not_copied(monkeypatch):
    import jax.dlpack

    seen = []
    whole = jax.dlpack.from_dlpack

    def spy(buffer, *args, **kwargs):
        seen.append(buffer)
        return whole(buffer, *args, **kwargs)

    monkeypatch.setattr(jax.dlpack, "from_dlpack", spy)
    ours = lanecast.astype(jnp.arange(1000.0), "float32")
    assert np.asarray(seen[0].numpy()).ctypes.data == ours.unsafe_buffer_pointer()


def test_tracers_are_refused():
    with pytest.raises(TypeError, match="tracer"):
        jax.jit(lambda x: lanecast.astype(x, "int8"))(jnp.zeros(3))


def test_without_x64():
    jax.config.update("jax_enable_x64", False)
    x = jnp.zeros(3)
    assert lanecast.astype(x, "int8").dtype == np.int8
    with pytest.raises(lanecast.DTypeError, match="jax_enable_x64"):
        lanecast.astype(x, "float64")


def test_losses():
    x = jnp.array([1.0, 300.0, jnp.nan])
    array, mask = lanecast.astype_masked(x, "int8")
    assert isinstance(mask, jax.Array) and mask.tolist() == [True, False, False]
    assert array.tolist() == [1, 127, 0]
    assert lanecast.count_losses(x, "int8").saturated == 1


def test_weak_types():
    x = jnp.asarray(3.0)  # from a Python number
    assert x.weak_type
    assert lanecast.result_type(x, "bfloat16", standard="jax") is lanecast.bfloat16
