"""Scaled casts with zero points, beside an oracle in NumPy from the text of docs/scaled.md."""

import pytest
from conftest import optional, package
from test_quantize import matrix

import lanecast

np = package("numpy")
ml_dtypes = optional("ml_dtypes")

# The length of a block of a row, None if it is the row, and the dtypes of codes.
GOLDEN = {"uint8-row": (None, "uint8"), "uint4-group128": (128, "uint4")}
ELEMENTS = [
    ("uint8-row", "uint8"),
    ("uint8-row", "int8"),
    ("uint8-row", "uint4"),
    ("uint4-group128", "uint4"),
    ("uint4-group128", "int4"),
]


def limits(element):
    """The least and the largest code."""
    info = lanecast.iinfo(element)
    return info.min, info.max


def golden(scheme, element, x):
    """The scales, and the codes and zero points as integers. Quotients of 24-bit numbers are on the right side of midpoints in float64."""
    (rows, cols), (least, largest) = x.shape, limits(element)
    length = GOLDEN[scheme][0] or cols
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, -cols % length))).reshape(rows, -1, length)
    low, high = np.minimum(padded.min(2), 0), np.maximum(padded.max(2), 0)
    scales = np.where(low == high, 1, (high - low) / (largest - least)).astype(np.float32)
    zeros = np.clip(least + np.rint(-low / scales.astype(np.float64)), least, largest)
    spread = [np.repeat(each.astype(np.float64), length, 1)[:, :cols] for each in (scales, zeros)]
    codes = np.clip(np.rint(x.astype(np.float64) / spread[0]) + spread[1], least, largest)
    return scales, codes, zeros, (codes - spread[1]) * spread[0]


def integers(array, element, storage, shape):
    """Codes or zero points as integers."""
    bits = lanecast.iinfo(element).bits
    codes = np.asarray(array).view(np.uint8)
    if bits == 4 and storage == "packed":
        codes = np.stack([codes & 15, codes >> 4], -1).reshape(-1)[: np.prod(shape)]
    codes = codes.reshape(shape).astype(int) & (1 << bits) - 1
    return np.where(codes >> bits - 1 == 1, codes - (1 << bits), codes) if element.startswith("int") else codes


@pytest.mark.parametrize("storage", ["packed", "byte"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize(("scheme", "element"), ELEMENTS)
def test_golden(scheme, element, dtype, storage):
    x = matrix().astype(getattr(lanecast, dtype).numpy)
    scales, codes, zeros, values = golden(scheme, element, x)
    q = lanecast.quantize(x, scheme, element=element, storage=storage)
    assert (q.scheme, q.shape, q.dtype, q.global_scale) == (scheme, x.shape, getattr(lanecast, element), 1)
    assert q.scales.shape == scales.shape and q.scales.tobytes() == scales.tobytes()
    assert (integers(q.zero_points, element, storage, scales.shape) == zeros).all()
    assert (integers(q.data, element, storage, x.shape) == codes).all()
    # The product is exact in float64, so that the cast of it is the only rounding.
    for to in (np.float64, np.float32, np.float16):
        back = q.dequantize(to)
        assert back.dtype == to and (back == values.astype(to)).all()


def test_dtypes_and_shapes():
    x = matrix()
    q = lanecast.quantize(x, "uint8-row")
    assert (q.data.dtype, q.zero_points.dtype, q.zero_points.shape) == (np.uint8, np.uint8, (130, 1))
    q = lanecast.quantize(x, "uint4-group128")
    assert (q.data.shape, q.scales.shape, q.zero_points.shape) == ((130, 100), (130, 2), (130, 1))
    # Zero points of rows that share bytes are flat.
    assert lanecast.quantize(x[:, :128], "uint4-group128").zero_points.shape == (65,)
    q = lanecast.quantize(x, "uint4-group128", storage="byte")
    assert (q.data.dtype, q.zero_points.dtype, q.zero_points.shape) == (ml_dtypes.uint4, ml_dtypes.uint4, (130, 2))
    assert lanecast.quantize(x, "uint4-group128", axis=0).zero_points.shape == (2, 100)
    assert lanecast.quantize(x, "int8-row").zero_points is None


def same(a, b):
    return all(
        np.asarray(getattr(a, each)).tobytes() == np.asarray(getattr(b, each)).tobytes()
        for each in ("data", "scales", "zero_points")
    )


@pytest.mark.parametrize("scheme", GOLDEN)
def test_layouts(scheme):
    x = matrix()
    for view in (x.T, x[::-1, ::2], x.astype(">f4"), x[:1], x[:, 3:4]):
        contiguous = np.ascontiguousarray(view).astype(np.float32)
        assert same(lanecast.quantize(view, scheme), lanecast.quantize(contiguous, scheme))


@pytest.mark.parametrize("scheme", GOLDEN)
def test_threads(scheme):
    x = np.tile(matrix(), (20, 5))
    for view in (x, x.T):
        one, more = (lanecast.quantize(view, scheme, threads=threads, counts=True) for threads in (1, 2))
        assert same(one, more) and one.report == more.report
        assert (one.dequantize(threads=1) == more.dequantize(threads=2)).all()


def test_stored_arrays():
    x = matrix()
    packed, apart = (lanecast.quantize(x, "uint4-group128", storage=storage) for storage in ("packed", "byte"))
    want = packed.dequantize()
    assert (apart.dequantize() == want).all()
    bytes_of = [each.view(np.uint8) for each in (apart.data, apart.zero_points)]
    for data, zeros, storage in [
        (packed.data.reshape(-1), packed.zero_points.reshape(-1), "packed"),
        (packed.data, packed.zero_points[::-1].copy()[::-1], "packed"),
        (apart.data, apart.zero_points, "packed"),
        (apart.data, np.asfortranarray(bytes_of[1]), "packed"),
        (*bytes_of, "byte"),
        (lanecast.pack(apart.data, "uint4"), lanecast.pack(apart.zero_points, "uint4"), "packed"),
    ]:
        back = lanecast.dequantize(
            data, packed.scales, "uint4-group128", x.shape, zero_points=zeros, storage=storage
        )
        assert (np.asarray(back.numpy() if isinstance(back, lanecast.Buffer) else back) == want).all()
    out = np.zeros((130, 400), np.float32)[:, ::2]
    assert packed.dequantize(out=out) is out and (out == want).all()


def test_reports_and_non_finite():
    x = np.array([[0, 0, 0, 0], [-1, 0, 4.1, np.nan], [-1, np.inf, 4.1, 0.001]], np.float32)
    q = lanecast.quantize(x, "uint8-row", counts=True)
    assert q.report == lanecast.QuantizationReport(12, empty_blocks=1, poisoned_blocks=2, clipped=0, underflowed=7)
    assert q.scales[0] == 1 and np.isnan(q.scales[1:]).all() and (q.data == 0).all() and (q.zero_points == 0).all()
    assert np.isnan(q.dequantize()).all(axis=1).tolist() == [False, True, True]
    q = lanecast.quantize(x, "uint8-row", non_finite="saturate")
    assert q.data.tolist() == [[0] * 4, [0, 50, 255, 50], [0, 255, 255, 50]] and (q.scales[1:] == np.float32(0.02)).all()
    with pytest.raises(ValueError, match="block 1 has a NaN or an infinity"):
        lanecast.quantize(x, "uint8-row", non_finite="refuse")


def test_stochastic():
    x = np.full((1, 4000), 0.5, np.float32)
    x[0, :2] = 0, 255
    q = lanecast.quantize(x, "uint8-row", seed=1)
    assert same(q, lanecast.quantize(x, "uint8-row", seed=1, threads=1))
    assert not same(q, lanecast.quantize(x, "uint8-row", seed=2))
    assert set(q.data[0, 2:].tolist()) == {0, 1} and abs(q.data[0, 2:].mean() - 0.5) < 0.05


@pytest.mark.parametrize("scheme", GOLDEN)
def test_torch(scheme):
    torch = package("torch")
    x = matrix()
    ours = lanecast.quantize(x, scheme)
    for source, want in ((torch.from_numpy(x), ours), (torch.from_numpy(x).T, lanecast.quantize(x.T, scheme))):
        theirs = lanecast.quantize(source, scheme)
        assert isinstance(theirs.zero_points, torch.Tensor) and theirs.zero_points.dtype == torch.uint8
        assert tuple(theirs.zero_points.shape) == want.zero_points.shape
        assert same(theirs, want) and torch.equal(theirs.dequantize(), torch.from_numpy(want.dequantize()))


@pytest.mark.parametrize("scheme", GOLDEN)
def test_jax(scheme):
    jax = package("jax")
    x = matrix()
    for storage in ("packed", "byte"):
        ours = lanecast.quantize(x, scheme, storage=storage)
        theirs = lanecast.quantize(jax.numpy.asarray(x), scheme, storage=storage)
        assert isinstance(theirs.zero_points, jax.Array) and theirs.zero_points.dtype == ours.zero_points.dtype
        assert same(ours, theirs) and (np.asarray(theirs.dequantize()) == ours.dequantize()).all()


def test_refusals():
    x = matrix()
    q = lanecast.quantize(x, "uint4-group128")
    symmetric = lanecast.quantize(x, "int8-row")
    unpacked = np.zeros((130, 2), ml_dtypes.uint4)

    def stored(zero_points=q.zero_points, **arguments):
        return lanecast.dequantize(q.data, q.scales, "uint4-group128", x.shape, zero_points=zero_points, **arguments)

    assert (stored() == q.dequantize()).all()
    memory = np.zeros((130, 200), np.float32)
    alias = memory.view(np.uint8)[:, :1]
    for error, message, call in [
        (ValueError, '"uint4-group128" has zero points: give zero_points', lambda: stored(None)),
        (
            ValueError,
            '"int8-row" has no zero points; leave out zero_points',
            lambda: lanecast.dequantize(symmetric.data, symmetric.scales, "int8-row", x.shape, zero_points=q.zero_points),
        ),
        (
            ValueError,
            '"uint8-row" makes its scales and zero points; leave out scales, or',
            lambda: lanecast.quantize(x, "uint8-row", scales=symmetric.scales),
        ),
        (lanecast.DTypeError, "zero points .* must be uint4 or uint8, not float32", lambda: stored(q.scales)),
        (ValueError, r"zero points must have the shape \[130, 1\], or \[130\] if", lambda: stored(q.zero_points[1:])),
        (ValueError, "zero points must be packed, as the codes are", lambda: stored(unpacked)),
        (lanecast.DTypeError, "take an integer", lambda: lanecast.quantize(x, "uint8-row", element="complex64")),
        (ValueError, "zero points need integers", lambda: lanecast.quantize(x, "uint8-row", element="float8_e4m3fn")),
        (lanecast.OverlapError, "`out` overlaps the codes, the scales or the zero points", lambda: stored(alias, out=memory)),
    ]:
        with pytest.raises(error, match=message):
            call()
