"""Scaled casts with given scales, beside the oracle of test_quantize."""

from fractions import Fraction

import pytest
from conftest import optional, package
from test_quantize import E4M3, GOLDEN, SCHEMES, as_numpy, blocks_of, codes, matrix, nearest, same, signed, spread

import lanecast

np = package("numpy")
ml_dtypes = optional("ml_dtypes")


def given(scheme, shape):
    """Scales that are not those of the data, the scale of the tensor, and the factor of every element."""
    rng = np.random.default_rng(3)
    block = blocks_of(shape, GOLDEN[scheme][1])
    blocks = tuple(-(-size // length) for size, length in zip(shape, block))
    tensor = None
    if scheme == "mx":
        stored = rng.integers(120, 134, blocks).astype(np.uint8)
        factors, stored = np.ldexp(1.0, stored.astype(int) - 127), stored.view(ml_dtypes.float8_e8m0fnu)
    elif scheme == "nvfp4":
        tensor = float(np.float32(0.0123))
        stored = rng.integers(0, 0x7F, blocks).astype(np.uint8)
        factors, stored = E4M3[stored] * tensor, stored.view(ml_dtypes.float8_e4m3fn)
    else:
        stored = np.exp2(rng.uniform(-9, 3, blocks)).astype(np.float32)
        factors = stored.astype(np.float64)
    return stored, tensor, spread(factors, block, shape)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("scheme", GOLDEN)
def test_codes_of_given_scales(scheme, dtype):
    x = matrix().astype(getattr(lanecast, dtype).numpy)
    exact = x.astype(np.float64)
    scales, tensor, factors = given(scheme, x.shape)
    q = lanecast.quantize(x, scheme, scales=scales, global_scale=tensor)
    values = GOLDEN[scheme][0]
    magnitudes = nearest(abs(exact), factors, values)
    if q.dtype.name.startswith("int"):
        # There is one more negative code.
        below = nearest(abs(exact), factors, np.arange(values.size + 1.0))
        magnitudes = np.where(exact < 0, below, magnitudes)
        values = np.arange(values.size + 1.0)
    got, want = codes(q), signed(magnitudes, exact, factors, q.dtype)
    assert (got == want).all(), [(exact[at], got[at], want[at]) for at in zip(*np.nonzero(got != want))][:5]
    assert (q.scales.dtype, q.scales.shape, q.scales.tobytes()) == (scales.dtype, scales.shape, scales.tobytes())
    assert q.global_scale == (tensor or 1)
    assert q.report == lanecast.QuantizationReport(x.size, 0, 0, None, None)
    assert (q.dequantize("float64") == np.copysign(values[magnitudes] * factors, exact)).all()


@pytest.mark.parametrize("scheme", GOLDEN)
def test_own_scales_change_nothing(scheme):
    x = np.tile(matrix(), (20, 5))
    q = lanecast.quantize(x, scheme, counts=True, threads=1)
    for threads in (1, 2):
        again = lanecast.quantize(
            x, scheme, scales=q.scales, global_scale=q.global_scale, counts=True, threads=threads
        )
        assert same(q, again) and q.report.clipped == again.report.clipped
    for arguments in ({"storage": "byte"}, {"seed": 4}):
        q = lanecast.quantize(x, scheme, **arguments)
        assert same(q, lanecast.quantize(x, scheme, scales=q.scales, global_scale=q.global_scale, **arguments))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme(scheme):
    x = matrix()
    q = lanecast.quantize(x, scheme)
    if q.zero_points is not None:
        with pytest.raises(ValueError, match="makes its scales and zero points"):
            lanecast.quantize(x, scheme, scales=q.scales)
        return
    again = lanecast.quantize(x, scheme, scales=q.scales, global_scale=q.global_scale)
    assert (again.scales.tobytes(), again.global_scale) == (q.scales.tobytes(), q.global_scale)
    # A given scale has no amax, so that this scheme divides by the stored scale.
    close = abs(q.dequantize() - again.dequantize()) <= (0.1 if scheme == "fp8-row-multiplier" else 0) * abs(x)
    assert close.all()
    for shape in [(0, 4), (5, 0), (7,)]:
        ones = lanecast.quantize(np.ones(shape, np.float32), scheme)
        again = lanecast.quantize(
            np.ones(shape, np.float32), scheme, scales=ones.scales, global_scale=ones.global_scale
        )
        assert same(ones, again) and again.shape == shape


@pytest.mark.parametrize("scheme", GOLDEN)
def test_layouts_of_given_scales(scheme):
    x = matrix()
    scales, tensor, _ = given(scheme, x.shape)
    q = lanecast.quantize(x, scheme, scales=scales, global_scale=tensor)
    strided = np.zeros((scales.shape[0], 2 * scales.shape[1]), scales.dtype)[:, ::2]
    strided[:] = scales
    layouts = [np.asfortranarray(scales), strided, scales[::-1].copy()[::-1], scales.reshape(-1), scales[None]]
    layouts.append(scales.view(np.uint8) if scales.itemsize == 1 else scales.astype(">f4"))
    for other in layouts:
        again = lanecast.quantize(x, scheme, scales=other, global_scale=tensor)
        assert same(q, again) and (again.scales.shape, again.scales.dtype) == (scales.shape, scales.dtype)
    for view in (np.asfortranarray(x), x[::-1].copy()[::-1], x.astype(">f4")):
        assert same(q, lanecast.quantize(view, scheme, scales=scales, global_scale=tensor))


def test_result_owns_its_scales():
    x = matrix()
    scales, _, _ = given("int8-row", x.shape)
    q = lanecast.quantize(x, "int8-row", scales=scales)
    want = q.dequantize()
    scales[:] = 0
    assert (q.dequantize() == want).all()


def test_one_scale():
    x = np.array([1, -3, 1000], np.float32)
    for scale in (np.float32(0.5), np.array(0.5, np.float32), np.array([0.5], np.float32)):
        q = lanecast.quantize(x, "fp8-tensor", scales=scale)
        assert (q.scales.shape, q.dequantize().tolist()) == ((1,), [1, -3, 224])
    x = np.ones((2, 16), np.float32)
    for tensor in (0.1, np.float32(0.1), 1):
        scales = np.array([[0x38], [0x40]], np.uint8)
        q = lanecast.quantize(x, "nvfp4", scales=scales, global_scale=tensor)
        assert q.global_scale == np.float32(tensor) and q.scales.dtype == ml_dtypes.float8_e4m3fn


def test_axis_and_element():
    x = matrix()
    scales = np.full((5, 200), 126, np.uint8)
    q = lanecast.quantize(x, "mx", scales=scales, axis=0, element="float6_e2m3fn")
    want = lanecast.quantize(x.T, "mx", scales=scales.T, element="float6_e2m3fn")
    assert (q.scales.shape, q.dtype) == ((5, 200), lanecast.float6_e2m3fn)
    assert (q.dequantize() == want.dequantize().T).all()


def test_scales_without_codes():
    x = np.ones((4, 8), np.float32)
    q = lanecast.quantize(x, "fp8-row", scales=np.array([0, np.inf, np.nan, 1], np.float32))
    assert codes(q).tolist() == [[0] * 8] * 3 + [[0x38] * 8]


def test_non_finite():
    x = np.ones((3, 8), np.float32)
    x[1, :3] = np.nan, np.inf, -np.inf
    scales = np.ones(3, np.float32)
    for non_finite in ("poison", "saturate"):
        q = lanecast.quantize(x, "fp8-row", scales=scales, non_finite=non_finite)
        assert (q.scales == 1).all() and (q.dequantize()[1, 1:] == [448, -448, 1, 1, 1, 1, 1]).all()
        assert np.isnan(q.dequantize()[1, 0])
    with pytest.raises(ValueError, match="block 1 has a NaN or an infinity"):
        lanecast.quantize(x, "fp8-row", scales=scales, non_finite="refuse")
    x[1] = 1
    assert (lanecast.quantize(x, "fp8-row", scales=scales, non_finite="refuse").dequantize() == x).all()


@pytest.mark.parametrize("scheme", GOLDEN)
def test_squared_error(scheme):
    x = matrix()
    scales, tensor, _ = given(scheme, x.shape)
    for arguments in ({}, {"scales": scales, "global_scale": tensor}):
        assert lanecast.quantize(x, scheme, **arguments).report.squared_error is None
        q = lanecast.quantize(x, scheme, squared_error=True, **arguments)
        assert same(q, lanecast.quantize(x, scheme, **arguments))
        # Elements are multiples of 2^-149. Values that are exact in float64 are of at least 2^-1074.
        errors = (Fraction(a) - Fraction(b) for a, b in zip(x.ravel().tolist(), q.dequantize("float64").ravel().tolist()))
        assert q.report.squared_error == float(sum(error * error for error in errors))


@pytest.mark.parametrize("scheme", GOLDEN)
def test_torch_scales(scheme):
    torch = package("torch")
    x = matrix()
    scales, tensor, _ = given(scheme, x.shape)
    q = lanecast.quantize(x, scheme, scales=scales, global_scale=tensor)
    theirs = torch.from_numpy(scales.view(np.uint8))
    theirs = theirs.view(getattr(torch, scales.dtype.name))
    for its in (theirs, theirs.T.contiguous().T, scales):
        again = lanecast.quantize(torch.from_numpy(x), scheme, scales=its, global_scale=tensor)
        assert isinstance(again.scales, torch.Tensor) and again.scales.dtype == theirs.dtype
        assert same(q, as_numpy(torch, again))
    assert same(q, lanecast.quantize(x, scheme, scales=theirs, global_scale=tensor))


def test_jax_scales():
    jax = package("jax")
    x = matrix()
    scales, tensor, _ = given("nvfp4", x.shape)
    q = lanecast.quantize(x, "nvfp4", scales=scales, global_scale=tensor)
    again = lanecast.quantize(jax.numpy.asarray(x), "nvfp4", scales=jax.numpy.asarray(scales), global_scale=tensor)
    assert isinstance(again.scales, jax.Array)
    assert np.asarray(again.data).tobytes() == q.data.tobytes() and np.asarray(again.scales).tobytes() == scales.tobytes()


def test_static_scale_of_the_whole_array():
    x = matrix()
    q = lanecast.quantize(x, "nvfp4")
    assert same(q, lanecast.quantize(x, "nvfp4", global_scale=q.global_scale))
    larger = 2.5 * q.global_scale
    whole = lanecast.quantize(x, "nvfp4", global_scale=larger)
    assert whole.global_scale == np.float32(larger) and whole.scales.tobytes() != q.scales.tobytes()
    # A row has the scales that it has beside the others, in any layout and over threads.
    rows = [lanecast.quantize(x[i : i + 1], "nvfp4", global_scale=larger) for i in range(len(x))]
    assert np.concatenate([row.data for row in rows]).tobytes() == whole.data.tobytes()
    assert np.concatenate([row.scales for row in rows]).tobytes() == whole.scales.tobytes()
    assert same(whole, lanecast.quantize(np.asfortranarray(x), "nvfp4", global_scale=larger, threads=2))
    # The scales that were made, given.
    assert same(whole, lanecast.quantize(x, "nvfp4", scales=whole.scales, global_scale=larger))
    assert same(lanecast.quantize(x, "mx"), lanecast.quantize(x, "mx", global_scale=1))


def test_refusals_of_given_scales():
    x = matrix()
    row, fp4 = np.ones((130, 1), np.float32), np.ones((130, 13), np.uint8)

    def by(scheme="int8-row", **arguments):
        return lambda: lanecast.quantize(x, scheme, **arguments)

    for error, message, call in [
        (lanecast.DTypeError, 'scales of the scheme "int8-row" must be float32, not float64', by(scales=row.astype(float))),
        (lanecast.DTypeError, 'scales of the scheme "mx" must be float8_e8m0fnu or uint8, not float32', by("mx", scales=row)),
        (ValueError, r"scales must have the shape \[130, 1\], or \[130\] if they are flat, not \[1, 1\]", by(scales=row[:1])),
        (ValueError, r"scales must .* \[130\] .*, not \[200\]", by(scales=np.ones(200, np.float32))),
        (ValueError, r"scales must .* \[130, 13\], .* not \[13, 130\]", by("nvfp4", scales=fp4.T, global_scale=1)),
        (TypeError, "scales: expected a NumPy, .* not float", by(scales=1.0)),
        (TypeError, "scales: expected a NumPy, .* not list", by(scales=[1.0])),
        (ValueError, '"nvfp4" has a scale of the whole array: give global_scale with scales', by("nvfp4", scales=fp4)),
        (ValueError, '"mx" has no scale of the whole array, but global_scale is 2', by("mx", global_scale=2.0)),
        (ValueError, "global_scale must be positive and finite in float32, not -1", by("nvfp4", global_scale=-1)),
        (ValueError, '"int8-row" has no scale of the whole array, but global_scale is 2', by(scales=row, global_scale=2)),
        *(
            (ValueError, f"global_scale must be positive and finite in float32, not {name}", by("nvfp4", scales=fp4, global_scale=value))
            for value, name in [(0, "0"), (-1, "-1"), (np.nan, "NaN"), (np.inf, "inf"), (1e39, "1"), (1e-60, "0.0000")]
        ),
        (TypeError, "global_scale", by("nvfp4", scales=fp4, global_scale="1")),
    ]:
        with pytest.raises(error, match=message):
            call()
