"""Buffer, pack, unpack, and DLPack exporters, including hostile ones."""

import ctypes
import gc
import weakref

import pytest
from conftest import optional, package

import lanecast

ml_dtypes = optional("ml_dtypes")
np = package("numpy")

SUB_BYTE = [dtype for dtype in lanecast.dtypes if dtype.bits < 8]


class Foreign:
    """An array of a library that nobody knows."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_foreign_arrays():
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    for layout in (x, x.T, x[::2, 1::2], x[1], x[..., 0], np.array(2.5, np.float32), x[:0]):
        ours = lanecast.astype(Foreign(layout), "int16")
        assert type(ours) is np.ndarray
        np.testing.assert_array_equal(ours, layout.astype(np.int16))
    out = Foreign(np.zeros((4, 6), np.int16))
    assert lanecast.astype(x, "int16", out=out) is out
    np.testing.assert_array_equal(out.array, x)
    frozen = np.zeros((4, 6), np.int16)
    frozen.flags.writeable = False
    with pytest.raises((ValueError, BufferError), match="(?i)read.?only"):
        lanecast.astype(x, "int16", out=Foreign(frozen))


def test_foreign_arrays_name_their_namespace():
    class Namespace:
        @staticmethod
        def from_dlpack(buffer):
            assert isinstance(buffer, lanecast.Buffer)
            return Foreign(np.from_dlpack(buffer))

    class Named(Foreign):
        def __array_namespace__(self):
            return Namespace

    ours = lanecast.astype(Named(np.array([1.5, 2.5])), "int8")
    assert type(ours) is Foreign and ours.array.tolist() == [1, 2]


class Old(Foreign):
    """Written before DLPack 1.0."""

    def __dlpack__(self):
        return self.array.__dlpack__()


def test_old_exporters():
    assert lanecast.astype(Old(np.array([1.5, 2.5])), "int8").tolist() == [1, 2]


@pytest.mark.parametrize("dtype", SUB_BYTE, ids=str)
@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (3, 5), (2, 3, 4)])
def test_pack_and_unpack(dtype, shape):
    n = int(np.prod(shape))
    codes = (np.arange(n) * 7 % 2**dtype.bits).astype(np.uint8).reshape(shape)
    # One element per byte, as in ml_dtypes. Integers are sign-extended to the byte.
    signed = dtype.kind == "signed integer"
    spread = (codes << (8 - dtype.bits)).view(np.int8) >> (8 - dtype.bits) if signed else codes
    x = spread.view(dtype.numpy)
    for layout in (x, np.asfortranarray(x)):
        packed = lanecast.pack(layout, dtype)
        assert packed.encoding.storage == "packed" and packed.shape == shape and packed.dtype is dtype
        assert packed.nbytes == (n * dtype.bits + 7) // 8 == len(bytes(packed))
        number = int.from_bytes(bytes(packed), "little")
        assert [number >> (i * dtype.bits) & (2**dtype.bits - 1) for i in range(n)] == codes.reshape(-1).tolist()
        back = lanecast.unpack(packed, dtype, shape)
        assert back.dtype == dtype.numpy
        np.testing.assert_array_equal(back.astype(np.float32), x.astype(np.float32))
        np.testing.assert_array_equal(packed.numpy().astype(np.float32), x.astype(np.float32))
        wide = lanecast.unpack(bytes(packed), dtype, shape, to="float32")
        np.testing.assert_array_equal(wide, x.astype(np.float32))
        # Packed rows that share bytes, through astype.
        np.testing.assert_array_equal(lanecast.astype(packed, "float32").numpy(), x.astype(np.float32))


def test_pack_checks():
    x = np.array([[1, 2], [3, 99]])
    with pytest.raises(lanecast.LossError) as raised:
        lanecast.pack(x, "int4", check="range")
    assert raised.value.index == (1, 1)
    assert bytes(lanecast.pack(x, "int4", profile="rust")) == b"\x21\x33"
    assert bytes(lanecast.pack(x, "int4", int_to_int="saturate")) == b"\x21\x73"
    with pytest.raises(ValueError, match="3 bytes"):
        lanecast.unpack(b"\0\0", "int4", (5,))
    with pytest.raises((ValueError, OverflowError)):
        lanecast.unpack(b"\0\0", "int4", (2**40, 2**40))
    with pytest.raises((ValueError, OverflowError, TypeError)):
        lanecast.unpack(b"\0\0", "int4", (-1,))


def test_buffers():
    buffer = lanecast.astype(lanecast.pack(np.arange(6.0).reshape(2, 3), "float32"), "float32")
    assert repr(buffer) == "lanecast.Buffer(float32, (2, 3), importers=('numpy', 'torch', 'jax'))"
    array = np.from_dlpack(buffer)
    assert array.ctypes.data % 64 == 0 and array.flags.writeable
    array[1, 2] = 99
    assert buffer.numpy()[1, 2] == 99 and np.shares_memory(buffer.numpy(), array)
    view = memoryview(buffer)
    assert view.nbytes == buffer.nbytes == 24 and not view.readonly
    del buffer
    gc.collect()
    assert array.tolist() == [[0, 1, 2], [3, 4, 99]]
    with pytest.raises(BufferError):
        lanecast.pack(np.zeros(2), "int4").__dlpack__()
    with pytest.raises(BufferError):
        lanecast.astype(Foreign(np.zeros(2)), "int8").__dlpack__(dl_device=(2, 0))


def test_an_export_that_nobody_takes_is_freed():
    buffer = lanecast.pack(np.zeros(1 << 20), "float32")
    for _ in range(3000):
        buffer.__dlpack__(max_version=(1, 0))
        buffer.__dlpack__()
        np.from_dlpack(buffer)


# ---- Hostile exporters ---------------------------------------------------------------------------------------------


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32 * 2),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Hostile:
    """Eight float32 numbers, with whatever lies about them."""

    def __init__(self, shape=(8,), strides=None, name=b"dltensor_versioned", dtype=(2, 32, 1), version=(1, 0), **fields):
        self.memory = np.arange(8, dtype=np.float32)
        self.deleted = 0
        self.shape = (ctypes.c_int64 * max(1, len(shape)))(*shape)
        self.strides = strides and (ctypes.c_int64 * len(strides))(*strides)
        self.name = name
        self.said = fields.pop("said", (1, 0))
        self.deleter = DELETER(self.delete)
        tensor = Tensor(self.memory.ctypes.data, Device(1, 0), len(shape), Type(*dtype), self.shape, self.strides, 0)
        for field, value in fields.items():
            if field != "flags":
                setattr(tensor, field, value)
        self.managed = Managed(version, None, self.deleter, fields.get("flags", 0), tensor)

    def delete(self, pointer):
        assert pointer == ctypes.addressof(self.managed)
        self.deleted += 1

    def __dlpack__(self, **keywords):
        return new_capsule(ctypes.addressof(self.managed), self.name, None)

    def __dlpack_device__(self):
        return self.said


def test_deleters_run_once():
    for to in ("int8", "float32", "float8_e4m3fn"):
        honest = Hostile()
        assert lanecast.astype(honest, to).astype(np.float32).tolist() == list(range(8))
        gc.collect()
        assert honest.deleted == 1
    strided = Hostile((2, 2), (1, 4), byte_offset=4)
    assert lanecast.astype(strided, "int8").tolist() == [[1, 5], [2, 6]]
    assert strided.deleted == 1
    out = Hostile()
    lanecast.astype(np.full(8, 7.5), "float32", out=out)
    assert out.memory.tolist() == [7.5] * 8 and out.deleted == 1


@pytest.mark.parametrize(
    ("lie", "deleted"),
    [
        ({"name": b"something"}, 0),
        ({"name": b"used_dltensor_versioned"}, 0),
        ({"version": (2, 0)}, 1),
        ({"shape": (-1,)}, 1),
        ({"shape": (2**62, 2**62)}, 1),
        ({"shape": (2**61,)}, 1),
        ({"shape": (2, 2**40), "strides": (2**60, 2**40)}, 1),
        ({"shape": (2, 2), "strides": (2**63 - 1, 1)}, 1),
        ({"shape": (2, 2), "strides": (-(2**63), 1)}, 1),
        ({"ndim": -1}, 1),
        ({"ndim": 65}, 1),
        ({"ndim": 2**31 - 1}, 1),
        ({"shape": None}, 1),
        ({"data": None}, 1),
        ({"byte_offset": 2**64 - 1}, 1),
        ({"dtype": (2, 32, 4)}, 1),
        ({"dtype": (3, 64, 1)}, 1),
        ({"dtype": (99, 7, 1)}, 1),
        ({"dtype": (0, 4, 1), "shape": (4, 2), "strides": (1, 4)}, 1),
        ({"device": Device(2, 0)}, 1),
        ({"said": (2, 0)}, 0),
        ({"said": None}, 0),
        ({"said": ("cpu", 0)}, 0),
    ],
    ids=str,
)
def test_lies_are_refused(lie, deleted):
    lie = dict(lie)
    if "shape" in lie and lie["shape"] is None:
        hostile = Hostile()
        hostile.managed.tensor.shape = None
    else:
        hostile = Hostile(**lie)
    with pytest.raises((BufferError, TypeError)):
        lanecast.astype(hostile, "int8")
    gc.collect()
    assert hostile.deleted == deleted


def test_read_only_exports_are_not_written():
    frozen = Hostile(flags=1)
    with pytest.raises(ValueError, match="read-only"):
        lanecast.astype(np.zeros(8), "float32", out=frozen)
    assert frozen.deleted == 1 and frozen.memory.tolist() == list(range(8))
    assert lanecast.astype(Hostile(flags=1), "int8").tolist() == list(range(8))


@pytest.mark.parametrize("answer", [None, 3, "capsule", object()])
def test_no_capsules(answer):
    class Liar(Foreign):
        def __dlpack__(self, **keywords):
            return answer

    with pytest.raises(BufferError):
        lanecast.astype(Liar(np.zeros(2)), "int8")


def test_exporters_that_raise():
    class Raises(Foreign):
        def __dlpack__(self, **keywords):
            raise KeyError("no")

    with pytest.raises(KeyError):
        lanecast.astype(Raises(np.zeros(2)), "int8")


def test_padded_and_packed():
    packed = Hostile((16,), dtype=(1, 4, 1))
    packed.memory[:] = np.frombuffer(bytes(range(32)), np.float32)
    assert lanecast.astype(packed, "int8").tolist() == [n for byte in range(8) for n in (byte & 15, byte >> 4)]
    padded = Hostile((8,), dtype=(1, 4, 1), flags=4)
    padded.memory[:] = packed.memory
    assert lanecast.astype(padded, "int8").tolist() == list(range(8))
    pairs = Hostile((2, 4), dtype=(17, 4, 2))
    pairs.memory[:] = packed.memory
    assert lanecast.astype(pairs, "float32").shape == (2, 8)


def test_sources_are_let_go():
    class Watched(np.ndarray):
        pass

    x = np.arange(1000.0).view(Watched)
    gone = weakref.ref(x)
    lanecast.astype(Foreign(x.view(np.ndarray)), "int8")
    lanecast.astype(x, "int8")
    lanecast.astype_masked(x, "int8")
    lanecast.count_losses(x, "int8")
    del x
    gc.collect()
    assert gone() is None


def importable(library, buffer):
    try:
        return str(library.from_dlpack(buffer).dtype).removeprefix("torch.")
    except (BufferError, RuntimeError, TypeError, ValueError):
        return None


@pytest.mark.parametrize("name", ["numpy", "torch", "jax"])
def test_importers(name):
    library = package("jax.dlpack" if name == "jax" else name)
    if name == "jax":
        package("jax").config.update("jax_enable_x64", True)
    for dtype in lanecast.dtypes:
        x = np.ones(4, np.float32)
        plain = lanecast.astype(lanecast.Buffer.from_bytes(x.tobytes(), "float32", 4), dtype)
        packed = [lanecast.pack(x, dtype)] if dtype.bits < 8 else []
        for buffer in [plain, *packed]:
            # A library that has lacked the means so far may have got them.
            imported = importable(library, buffer)
            assert (imported == dtype.name) == (name in buffer.importers), (buffer, imported)
            assert repr(buffer).endswith(f", importers={buffer.importers})")
    swapped = lanecast.astype(lanecast.Buffer.from_bytes(bytes(8), "int32", 2), np.dtype("i4").newbyteorder())
    assert swapped.importers == () and importable(library, swapped) is None
