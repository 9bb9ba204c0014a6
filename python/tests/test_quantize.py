"""Scaled casts, beside an oracle in NumPy: exact comparisons in float64 with the midpoints of codes, from the text of docs/scaled.md."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import pytest
from conftest import optional, package

import lanecast

np = package("numpy")
ml_dtypes = optional("ml_dtypes")

SCHEMES = lanecast.quantization_schemes()


def floats(mantissa_bits, bias, largest):
    """The values of the codes without a sign, up to the largest finite one."""
    codes = np.arange(largest + 1)
    exponents, mantissas = codes >> mantissa_bits, codes & (1 << mantissa_bits) - 1
    normal = exponents > 0
    exponents = np.maximum(exponents, 1) - bias - mantissa_bits
    return np.ldexp(1.0 * (mantissas + (normal << mantissa_bits)), exponents)


E4M3, E2M1, INT8, INT4 = floats(3, 7, 0x7E), floats(1, 1, 7), np.arange(128.0), np.arange(8.0)

# The values of the codes, the shape of a block (None is the whole axis) and the dtype of the codes.
GOLDEN = {
    "mx": (E4M3, (1, 32), "float8_e4m3fn"),
    "nvfp4": (E2M1, (1, 16), "float4_e2m1fn"),
    "fp8-row": (E4M3, (1, None), "float8_e4m3fn"),
    "fp8-block128": (E4M3, (128, 128), "float8_e4m3fn"),
    "int8-row": (INT8, (1, None), "int8"),
    "int4-group128": (INT4, (1, 128), "int4"),
}


def nearest(x, scale, values):
    """The codes whose values times the scale are nearest to magnitudes, ties to even codes. Products are exact in float64: scales have at
    most 28 significant bits and midpoints 9."""
    codes = np.zeros(np.broadcast(x, scale).shape, np.int64)
    for lower, middle in enumerate((values[1:] + values[:-1]) / 2):
        codes += (x > middle * scale) | (x == middle * scale) & (lower % 2 == 1)
    return np.where(scale > 0, codes, 0)


def blocks_of(shape, block):
    return tuple(size if length is None else length for size, length in zip(shape, block))


def amaxes(x, block):
    rows, cols = x.shape
    padded = np.pad(np.abs(x), ((0, -rows % block[0]), (0, -cols % block[1])))
    tiles = padded.reshape(padded.shape[0] // block[0], block[0], padded.shape[1] // block[1], block[1])
    return tiles.max(axis=(1, 3))


def spread(scales, block, shape):
    """The scale of every element."""
    return np.repeat(np.repeat(scales, block[0], 0), block[1], 1)[: shape[0], : shape[1]]


def golden(scheme, x):
    """The magnitudes of the codes, the bytes of the scales, the scale of the tensor, and the factor of every element."""
    values, block, _ = GOLDEN[scheme]
    block = blocks_of(x.shape, block)
    x = np.abs(x)
    amax = amaxes(x, block)
    tensor = 1.0
    if scheme == "mx":
        powers = np.ldexp(1.0, np.arange(-127, 128))
        # The first power of two with 448 p >= amax.
        stored = np.where(amax > 0, np.searchsorted(448 * powers, amax), 0).astype(np.uint8)
        factors = powers[stored]
    elif scheme == "nvfp4":
        # Rounding a quotient of 24-bit numbers to 53 bits first does not change what it is rounded to in 24 bits.
        tensor = float(np.float32(x.max() / 2688))
        stored = nearest(amax, 6 * tensor * np.ones_like(amax), E4M3).astype(np.uint8)
        factors = E4M3[stored] * tensor
    else:
        stored = np.where(amax > 0, amax / values[-1], 1).astype(np.float32)
        factors = stored.astype(np.float64)
    factors = spread(factors, block, x.shape)
    return nearest(x, factors, values), stored, tensor, factors


def matrix(dtype=np.float32):
    """Rows and columns that are no whole number of blocks, empty blocks, both zeros, ties, and blocks whose scale underflows."""
    rng = np.random.default_rng(7)
    x = rng.standard_normal((130, 200)) * np.exp2(rng.integers(-6, 6, (130, 200)))
    x[3], x[5, 32:64], x[7, ::3] = 0, 0, -0.0
    x[9] = np.arange(200)
    x[9, 199] = 448
    x[10] = np.arange(-100, 100) / 2
    x[10, 0] = 127
    x[11, :128] = np.arange(128) / 2 % 7
    x[12, 16:32] *= 2.0**-20
    # NVFP4: the scale of the tensor is 1, and that of the block, too.
    x[129, 0] = 2688
    x[13, :8] = 6, 0.25, 0.75, -1.25, 1.75, 2.5, -3.5, 5
    x[13, 8:16] = 0
    return x.astype(dtype)


def codes(q):
    """One code per byte."""
    data = np.asarray(q.data).view(np.uint8)
    if q.dtype.bits == 4 and q.storage == "packed":
        data = np.stack([data & 15, data >> 4], -1)
    return data.reshape(q.shape)


def signed(magnitudes, x, factors, dtype):
    """The codes with the signs of the elements."""
    if dtype.name.startswith("int"):
        return np.where(np.signbit(x), -magnitudes, magnitudes) & (1 << dtype.bits) - 1
    # Codes of blocks whose scale is zero have no sign.
    return magnitudes | (np.signbit(x) & (factors > 0)).astype(np.int64) << dtype.bits - 1


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("scheme", GOLDEN)
def test_golden(scheme, dtype):
    x = matrix(lanecast.float32.numpy).astype(getattr(lanecast, dtype).numpy)
    exact = x.astype(np.float64)
    values, _, element = GOLDEN[scheme]
    magnitudes, stored, tensor, factors = golden(scheme, exact)
    q = lanecast.quantize(x, scheme)
    assert (q.scheme, q.shape, q.dtype, q.global_scale) == (scheme, x.shape, getattr(lanecast, element), tensor)
    assert q.scales.shape == stored.shape and q.scales.tobytes() == stored.tobytes()
    got, want = codes(q), signed(magnitudes, exact, factors, q.dtype)
    assert (got == want).all(), [(exact[at], got[at], want[at]) for at in zip(*np.nonzero(got != want))][:5]
    # The product is exact in float64, so that the cast of it is the only rounding.
    product = np.copysign(values[magnitudes] * factors, exact)
    for to in (np.float64, np.float32, np.float16):
        back = q.dequantize(to)
        assert back.dtype == to and (back == product.astype(to)).all()


def test_dtypes_and_shapes():
    x = matrix()
    q = lanecast.quantize(x, "mx")
    assert (q.data.dtype, q.scales.dtype) == (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu)
    assert (q.data.shape, q.scales.shape) == ((130, 200), (130, 7))
    q = lanecast.quantize(x, "nvfp4")
    assert (q.data.dtype, q.scales.dtype) == (np.uint8, ml_dtypes.float8_e4m3fn)
    assert (q.data.shape, q.scales.shape) == ((130, 100), (130, 13))
    assert repr(q) == "Quantized('nvfp4', shape=(130, 200), dtype=float4_e2m1fn)"
    # Rows that share bytes are flat.
    assert lanecast.quantize(x[:, :199], "nvfp4").data.shape == (130 * 199 // 2,)
    q = lanecast.quantize(x, "mx", element="float6_e2m3fn")
    assert (q.data.dtype, q.data.shape, q.dtype) == (np.uint8, (130, 150), lanecast.float6_e2m3fn)
    assert lanecast.quantize(x, "fp8-tensor").scales.shape == (1, 1)
    assert lanecast.quantize(x, "fp8-row").scales.shape == (130, 1)
    assert lanecast.quantize(x.reshape(2, 65, 200), "fp8-block128").scales.shape == (2, 1, 2)
    for dtype in np.float32, np.float16, ml_dtypes.bfloat16:
        # The scales of compressed-tensors have the dtype of the weights.
        q = lanecast.quantize(x.astype(dtype), "compressed-tensors-fp8-row")
        assert q.scales.dtype == dtype
        assert np.array_equal(q.dequantize(), q.data.astype(np.float32) * q.scales.astype(np.float32))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_there_and_back(scheme):
    x = matrix()
    q = lanecast.quantize(x, scheme)
    # Half the largest step between codes is a sixth of the range of float4_e2m1fn, and scales are rounded, too. A zero point may shift the
    # codes by half a step.
    share = {"int8": 0.004, "uint8": 0.008}.get(q.dtype.name, 0.25)
    assert abs(q.dequantize() - x).max() <= abs(x).max() * share
    for shape in [(3, 5), (0, 4), (5, 0), (7,)]:
        q = lanecast.quantize(np.ones(shape, np.float32), scheme)
        back = q.dequantize()
        assert (back.shape, q.report.elements) == (shape, back.size) and np.allclose(back, 1, rtol=0.01)


@pytest.mark.parametrize("element", ["float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"])
def test_storage(element):
    x = matrix()
    packed, apart = (lanecast.quantize(x, "mx", element=element, storage=storage) for storage in ("packed", "byte"))
    dtype = getattr(lanecast, element)
    assert (apart.data.dtype, apart.data.shape) == (dtype.numpy, x.shape)
    assert bytes(lanecast.pack(apart.data, element)) == packed.data.tobytes()
    want = packed.dequantize()
    assert (apart.dequantize() == want).all()
    arguments = (packed.scales, "mx", x.shape)
    flat = packed.data.reshape(-1)
    for data, storage in [
        (flat, "packed"),
        (flat[::-1].copy()[::-1], "packed"),
        (apart.data.view(np.uint8), "byte"),
        (apart.data, "packed"),
        (np.asfortranarray(apart.data), "packed"),
    ]:
        assert (lanecast.dequantize(data, *arguments, element=element, storage=storage) == want).all()
    buffer = lanecast.dequantize(lanecast.pack(apart.data, element), *arguments, element=element)
    assert (buffer.numpy() == want).all()
    one = lanecast.quantize(x[9], "mx", element=element)
    assert (lanecast.dequantize(one.data, one.scales, "mx", 200, element=element) == want[9]).all()
    raw = packed.scales.view(np.uint8).reshape(-1)
    assert (lanecast.dequantize(packed.data, raw, "mx", x.shape, element=element) == want).all()


def same(a, b):
    return a.data.tobytes() == b.data.tobytes() and a.scales.tobytes() == b.scales.tobytes() and a.global_scale == b.global_scale


@pytest.mark.parametrize("scheme", GOLDEN)
def test_layouts(scheme):
    x = matrix()
    for view in (x.T, x[::-1, ::2], x.astype(">f4"), x[:1], x[:, 3:4]):
        contiguous = np.ascontiguousarray(view).astype(np.float32)
        assert same(lanecast.quantize(view, scheme), lanecast.quantize(contiguous, scheme))


def test_axis():
    x = matrix()
    for scheme in ("mx", "int8-row"):
        along, across = lanecast.quantize(x, scheme, axis=0), lanecast.quantize(x.T, scheme)
        if scheme == "int8-row":
            along, across = lanecast.quantize(x, scheme, axis=1), across
        assert along.scales.shape == across.scales.shape[::-1]
        assert (along.data.view(np.uint8) == across.data.view(np.uint8).T).all()
        assert (along.dequantize() == across.dequantize().T).all()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_torch_answers_as_numpy(scheme):
    torch = package("torch")
    x = matrix()
    ours, theirs = lanecast.quantize(x, scheme), lanecast.quantize(torch.from_numpy(x), scheme)
    for array, tensor in ((ours.data, theirs.data), (ours.scales, theirs.scales)):
        assert isinstance(tensor, torch.Tensor) and tuple(tensor.shape) == array.shape
        assert tensor.dtype == getattr(torch, array.dtype.name)
        assert tensor.view(torch.uint8).numpy().tobytes() == array.tobytes()
    assert (ours.global_scale, ours.report) == (theirs.global_scale, theirs.report)
    assert torch.equal(theirs.dequantize(), torch.from_numpy(ours.dequantize()))
    assert theirs.dequantize("bfloat16").dtype == torch.bfloat16
    assert same(lanecast.quantize(x.T, scheme), as_numpy(torch, lanecast.quantize(torch.from_numpy(x).T, scheme)))


def as_numpy(torch, q):
    data, scales = (tensor.view(torch.uint8).numpy() for tensor in (q.data, q.scales))
    return lanecast.Quantized(data, scales, q.global_scale, q.scheme, q.shape, q.dtype)


def test_torch_dtypes():
    torch = package("torch")
    x = torch.from_numpy(matrix()).to(torch.bfloat16)
    q = lanecast.quantize(x, "nvfp4")
    # PyTorch has no dtype of one such element per byte, but one of two.
    assert lanecast.quantize(x, "nvfp4", storage="byte").data.dtype == torch.uint8
    pairs = q.data.view(torch.float4_e2m1fn_x2)
    back = lanecast.dequantize(pairs, q.scales, "nvfp4", q.shape, global_scale=q.global_scale)
    assert torch.equal(back, q.dequantize())


@pytest.mark.parametrize("scheme", SCHEMES)
def test_jax_answers_as_numpy(scheme):
    jax = package("jax")
    package("ml_dtypes")
    x = matrix()
    ours, theirs = lanecast.quantize(x, scheme), lanecast.quantize(jax.numpy.asarray(x), scheme)
    for array, other in ((ours.data, theirs.data), (ours.scales, theirs.scales)):
        assert isinstance(other, jax.Array) and (other.shape, other.dtype) == (array.shape, array.dtype)
        assert np.asarray(other).tobytes() == array.tobytes()
    back = theirs.dequantize()
    assert isinstance(back, jax.Array) and (np.asarray(back) == ours.dequantize()).all()
    apart = lanecast.quantize(jax.numpy.asarray(x), scheme, storage="byte")
    assert apart.data.dtype == apart.dtype.numpy and (np.asarray(apart.dequantize()) == ours.dequantize()).all()


def test_jax_dtypes():
    jax = package("jax")
    package("ml_dtypes")
    x = jax.numpy.asarray(matrix())
    # JAX cannot hold 6-bit elements.
    q = lanecast.quantize(x, "mx", element="float6_e2m3fn", storage="byte")
    assert (q.data.shape, q.data.dtype) == (x.shape, np.uint8)
    assert (np.asarray(q.dequantize()) == np.asarray(lanecast.quantize(x, "mx", element=q.dtype).dequantize())).all()


def test_other_arrays():
    x = matrix()
    buffer = lanecast.pack(x, "float32")
    ours, theirs = lanecast.quantize(x, "nvfp4"), lanecast.quantize(buffer, "nvfp4")
    assert isinstance(theirs.data, lanecast.Buffer) and theirs.data.shape == ours.data.shape
    assert bytes(memoryview(theirs.data)) == ours.data.tobytes() and bytes(memoryview(theirs.scales)) == ours.scales.tobytes()
    assert (theirs.dequantize().numpy() == ours.dequantize()).all()
    scalar = lanecast.quantize(np.float32(3), "fp8-tensor")
    assert (float(scalar.data), scalar.scales, float(scalar.dequantize())) == (448, np.float32(3 / 448), 3)


def test_report():
    x = np.zeros(96, np.float32)
    x[:4] = 500, 1e-6, -1e-6, 1
    x[32] = np.nan
    q = lanecast.quantize(x, "mx-ocp", counts=True)
    # The code of the NaN is zero, too.
    assert q.report == lanecast.QuantizationReport(96, empty_blocks=1, poisoned_blocks=1, clipped=1, underflowed=3)
    report = lanecast.quantize(x, "mx-ocp").report
    assert (report.clipped, report.underflowed) == (None, None)


def test_non_finite():
    x = np.ones((2, 32), np.float32)
    x[1, 3] = np.inf
    q = lanecast.quantize(x, "int8-row")
    assert np.isnan(q.scales).tolist() == [[False], [True]] and (q.data[1] == 0).all()
    assert np.isnan(q.dequantize()).all(axis=1).tolist() == [False, True]
    q = lanecast.quantize(x, "int8-row", non_finite="saturate")
    assert (q.data == 127).all() and q.scales[1] == np.float32(1 / 127)
    with pytest.raises(ValueError, match="block 1 has a NaN or an infinity"):
        lanecast.quantize(x, "int8-row", non_finite="refuse")


def test_stochastic():
    x = np.full((1, 4000), 17.0, np.float32)
    x[0, 0] = 448
    assert (lanecast.quantize(x, "fp8-row").dequantize()[0, 1:] == 16).all()
    q = lanecast.quantize(x, "fp8-row", seed=1)
    assert same(q, lanecast.quantize(x, "fp8-row", seed=1, threads=1))
    assert not same(q, lanecast.quantize(x, "fp8-row", seed=2))
    assert not same(q, lanecast.quantize(x, "fp8-row", seed=1, stream=1))
    back = q.dequantize()[0, 1:]
    assert set(back.tolist()) == {16, 18} and abs(back.mean() - 17) < 0.1


@pytest.mark.parametrize("scheme", GOLDEN)
def test_threads(scheme):
    x = np.tile(matrix(), (20, 5))
    one, more = (lanecast.quantize(x, scheme, threads=threads, counts=True) for threads in (1, 2))
    assert same(one, more) and one.report == more.report
    assert (one.dequantize(threads=1) == more.dequantize(threads=2)).all()


@pytest.mark.parametrize("scheme", ["mx", "nvfp4"])
def test_dequantize_out(scheme):
    x = matrix()
    q = lanecast.quantize(x, scheme)
    for dtype in ("float32", "float16", "bfloat16", "float64"):
        want = q.dequantize(dtype)
        wide = np.zeros((130, 400), want.dtype)
        outs = [np.zeros_like(want), np.zeros_like(want, order="F"), wide[:, ::2], wide[:, 1::2]]
        if dtype != "bfloat16":
            outs.append(np.zeros(x.shape, want.dtype.newbyteorder(">")))
        for out in outs:
            assert q.dequantize(dtype, out=out) is out and (out == want).all()
        assert (wide == np.repeat(want, 2, 1)).all()
    buffer = lanecast.pack(np.zeros_like(x), "float32")
    assert q.dequantize(out=buffer) is buffer and (buffer.numpy() == q.dequantize()).all()
    scalar = lanecast.quantize(np.array(3, np.float32), "fp8-tensor")
    assert scalar.dequantize(out=np.zeros((), np.float32)) == 3


def test_refused_out():
    q = lanecast.quantize(np.ones((4, 8), np.float32), "fp8-row", storage="byte")
    out, frozen = np.zeros((4, 8), np.float32), np.zeros((4, 8), np.float32)
    frozen.flags.writeable = False
    memory = np.zeros(32, np.float32)
    scales = memory[:4]
    for error, message, call in [
        (lanecast.DTypeError, "`out` has dtype float32, but the target dtype is float16", lambda: q.dequantize("float16", out=out)),
        (ValueError, r"`out` has shape \[8, 4\], but the result has shape \[4, 8\]", lambda: q.dequantize(out=out.T)),
        (ValueError, "`out` is read-only", lambda: q.dequantize(out=frozen)),
        (TypeError, "expected a NumPy", lambda: q.dequantize(out=[0.0])),
        (
            lanecast.OverlapError,
            "`out` overlaps the codes, the scales",
            lambda: lanecast.dequantize(q.data, scales, "fp8-row", (4, 8), out=memory.reshape(4, 8)),
        ),
    ]:
        with pytest.raises(error, match=message):
            call()


def test_refusals():
    x = matrix()
    q = lanecast.quantize(x, "nvfp4")

    def stored(data=q.data, scales=q.scales, scheme="nvfp4", shape=x.shape, **arguments):
        return lanecast.dequantize(data, scales, scheme, shape, **{"global_scale": q.global_scale, **arguments})

    assert (stored() == q.dequantize()).all()
    for error, message, call in [
        (ValueError, 'scheme must be one of "mx-ocp", .*, not "nvfp5"', lambda: lanecast.quantize(x, "nvfp5")),
        (lanecast.DTypeError, "cannot scale float64; cast to", lambda: lanecast.quantize(x.astype(float), "mx")),
        (lanecast.DTypeError, "codes cannot be complex64", lambda: lanecast.quantize(x, "mx", element="complex64")),
        (lanecast.DTypeError, "e4m3", lambda: lanecast.quantize(x, "mx", element="e4m3")),
        (ValueError, "axis 2 does not exist in a shape of 2 axes", lambda: lanecast.quantize(x, "mx", axis=2)),
        (ValueError, '"fp8-tensor" has no axis to choose', lambda: lanecast.quantize(x, "fp8-tensor", axis=0)),
        (ValueError, 'storage must be one of "packed", "byte"', lambda: lanecast.quantize(x, "mx", storage="bit")),
        (ValueError, 'non_finite must be one of "poison"', lambda: lanecast.quantize(x, "mx", non_finite="keep")),
        (OverflowError, "negative", lambda: lanecast.quantize(x, "mx", seed=-1)),
        (TypeError, "expected a NumPy", lambda: lanecast.quantize([1.0], "mx")),
        (lanecast.DTypeError, "data .* must be float4_e2m1fn or uint8, not float32", lambda: stored(data=x)),
        (lanecast.DTypeError, "scales .* must be float8_e4m3fn or uint8, not", lambda: stored(scales=x)),
        (ValueError, r"data must have the shape \[130, 100\], or \[13000\] if they are flat", lambda: stored(data=q.data.T)),
        (ValueError, r"scales must have the shape \[130, 13\]", lambda: stored(scales=q.scales.T)),
        (ValueError, r"data must .* \[13000\] .*, not \[12999\]", lambda: stored(data=q.data.reshape(-1)[1:])),
        (ValueError, r"scales must .* \[1690\] .*, not \[1689\]", lambda: stored(scales=q.scales.reshape(-1)[1:])),
        (ValueError, "finite and positive, and is 0", lambda: stored(global_scale=0)),
        (lanecast.DTypeError, "returns one of float16, .*, not int8", lambda: stored(dtype="int8")),
    ]:
        with pytest.raises(error, match=message):
            call()
