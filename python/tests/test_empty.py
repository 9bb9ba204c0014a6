"""Arrays without elements: every function, every library, a zero in every place of the shape."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import pytest
from conftest import Missing, optional, package

import lanecast

np = package("numpy")
ml_dtypes, torch, jax = optional("ml_dtypes"), optional("torch"), optional("jax")

SHAPES = [(0,), (0, 4), (2, 0), (0, 0), (0, 2, 4), (2, 0, 4), (2, 4, 0), (0, 2, 0)]


class Foreign:
    """An array of a library that lanecast does not know."""

    def __init__(self, array):
        self.array = array
        self.shape, self.dtype = array.shape, array.dtype

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


MAKERS = {
    "numpy": lambda shape, dtype: np.zeros(shape, dtype),
    "fortran": lambda shape, dtype: np.zeros(shape, dtype, order="F"),
    "swapped": lambda shape, dtype: np.zeros(shape, np.dtype(dtype).newbyteorder()),
    "reversed": lambda shape, dtype: np.zeros(tuple(2 * n for n in shape), dtype)[tuple(slice(None, None, -2) for _ in shape)],
    "Buffer": lambda shape, dtype: lanecast.astype(lanecast.pack(np.zeros(shape, dtype), dtype), dtype),
    "foreign": lambda shape, dtype: Foreign(np.zeros(shape, dtype)),
    "torch": lambda shape, dtype: torch.zeros(shape, dtype=getattr(torch, dtype)),
    "torch, transposed": lambda shape, dtype: torch.zeros(shape[::-1], dtype=getattr(torch, dtype)).permute(*range(len(shape))[::-1]),
    "jax": lambda shape, dtype: jax.numpy.zeros(shape, dtype),
}


def maker(library):
    name = library.split(",")[0]
    module = {"torch": torch, "jax": jax}.get(name)
    if isinstance(module, Missing):
        package(name)
    return MAKERS[library]


def shape_of(array):
    return tuple(array.shape)


@pytest.fixture(params=[str(shape) for shape in SHAPES])
def shape(request):
    return eval(request.param)


@pytest.fixture(params=MAKERS)
def zeros(request, shape):
    """A function that makes an empty array of a dtype."""
    make = maker(request.param)
    return lambda dtype="float32": make(shape, dtype)


TARGETS = [dtype.name for dtype in lanecast.dtypes]


def supported(zeros, dtype):
    """Whether the library has the dtype; if not, it refuses arrays with elements, too."""
    x = zeros()
    if isinstance(x, getattr(torch, "Tensor", ()) if not isinstance(torch, Missing) else ()):
        return hasattr(torch, dtype) and not dtype.startswith(("int2", "int4", "uint2", "uint4")) or dtype == "float4_e2m1fn"
    if type(x).__module__.startswith("jax"):
        return dtype not in ("int64", "uint64", "float64", "complex128") and not dtype.startswith("float6")
    return True


@pytest.mark.parametrize("order", "KCFA")
def test_astype(zeros, shape, order):
    x = zeros()
    for dtype in TARGETS:
        if not supported(zeros, dtype):
            continue
        new = lanecast.astype(x, dtype, order=order)
        want = shape
        if dtype == "float4_e2m1fn" and type(x).__module__ == "torch":
            want = (*shape[:-1], shape[-1] // 2)
        assert shape_of(new) == want, dtype
        assert type(new) is type(x) or isinstance(x, Foreign), dtype
        # And back.
        back = lanecast.astype(new, "float32", order=order)
        assert shape_of(back) == shape, dtype
    assert shape_of(lanecast.astype(x, "float32", copy=False, order=order)) == shape


@pytest.mark.parametrize("check", ["range", "exact"])
def test_losses(zeros, shape, check):
    x = zeros()
    for dtype in TARGETS:
        assert lanecast.count_losses(x, dtype, check=check).elements == 0
        if supported(zeros, dtype):
            array, fits = lanecast.astype_masked(x, dtype, check=check)
            assert shape_of(fits) == shape and shape_of(lanecast.astype(x, dtype, check=check)) == shape_of(array)


def test_out(zeros, shape):
    x = zeros()
    for library in MAKERS:
        if library.startswith("jax") or library.startswith("torch") and isinstance(torch, Missing):
            continue
        out = MAKERS[library](shape, "int16")
        assert lanecast.astype(x, "int16", out=out) is out
        assert lanecast.astype(x, "int16", out=out, check="exact") is out
        array, fits = lanecast.astype_masked(x, "int16", out=out)
        assert array is out and shape_of(fits) == shape


def test_pack_and_unpack(zeros, shape):
    x = zeros()
    for dtype in TARGETS:
        for check in (None, "range"):
            packed = lanecast.pack(x, dtype, check=check)
            assert packed.shape == shape and packed.nbytes == 0 and packed.numpy().shape == shape
            assert len(bytes(packed)) == 0
        for data in (packed, b""):
            for to in (None, "float32"):
                assert lanecast.unpack(data, dtype, shape, to=to).shape == shape
    assert lanecast.unpack(np.zeros(shape, np.uint8), "int4", shape).shape == shape


def test_bytes(shape):
    for data in (b"", bytearray(), np.zeros(shape, np.float32)):
        for dtype in TARGETS:
            assert lanecast.cast_buffer(data, "float32", dtype) == b""
            assert lanecast.cast_buffer(data, lanecast.Encoding(dtype, storage="packed"), "int8", check="exact") == b""
        out = np.zeros(shape, np.int8)
        assert lanecast.cast_buffer(data, "float32", "int8", out=out) is out


def test_text(zeros):
    assert lanecast.format_text(zeros()) == []
    assert lanecast.parse_text([], "float32").shape == (0,)
    assert lanecast.parse_text(np.zeros(0, "U3"), "int4").shape == (0,)


def schemes(shape, storage):
    """The schemes that take arrays of such a shape with elements, and so take them without."""
    for scheme in lanecast.quantization_schemes():
        try:
            lanecast.quantize(np.zeros([n or 4 for n in shape], np.float32), scheme, storage=storage)
        except ValueError:
            continue
        yield scheme


@pytest.mark.parametrize("storage", ["packed", "byte"])
def test_quantize(zeros, shape, storage):
    found = list(schemes(shape, storage))
    assert len(found) > 10
    for scheme in found:
        quantize_and_back(zeros, shape, scheme, storage)


def quantize_and_back(zeros, shape, scheme, storage):
    quantized = lanecast.quantize(zeros(), scheme, storage=storage, counts=True, squared_error=True)
    assert quantized.shape == shape and quantized.report.elements == 0
    assert 0 in shape_of(quantized.data)
    again = quantized.dequantize()
    assert shape_of(again) == shape
    if "jax" not in type(again).__module__ and not isinstance(again, lanecast.Buffer):
        assert quantized.dequantize(out=again) is again
    if quantized.zero_points is None:
        given = lanecast.quantize(zeros(), scheme, storage=storage, scales=quantized.scales, global_scale=quantized.global_scale)
        assert shape_of(given.data) == shape_of(quantized.data)


def test_onnx(zeros, shape):
    x = zeros()
    assert shape_of(lanecast.onnx.cast(x, "float16", opset=19)) == shape
    quantized = lanecast.onnx.quantize_linear(x, np.float32(1), opset=21, output_dtype="int8")
    assert shape_of(quantized) == shape
    assert shape_of(lanecast.onnx.dequantize_linear(quantized, np.float32(1), opset=21)) == shape
    for axis in range(len(shape)):
        scale = np.ones(shape[axis], np.float32)
        assert shape_of(lanecast.onnx.quantize_linear(x, scale, opset=21, axis=axis, output_dtype="uint8")) == shape
    if shape_of(quantized) == shape:
        y, _, zero_point = lanecast.onnx.dynamic_quantize_linear(x, opset=11)
        assert shape_of(y) == shape and zero_point == 0


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.safetensors"])
def test_files(zeros, shape, name, tmp_path):
    x = zeros()
    lanecast.save(tmp_path / name, {"" if name == "x.npy" else "x": x})
    with lanecast.File(tmp_path / name) as file:
        tensor = file[next(iter(file))]
        assert tensor.numpy().shape == shape and tensor.astype("int4").shape == shape
        assert tensor.count_losses("int8").elements == 0


def test_types(zeros):
    assert lanecast.result_type(zeros(), "int8", standard="numpy") is lanecast.float32
