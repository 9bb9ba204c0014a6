"""The data type functions of the array API, checked for all dtypes of the standard.

The standard's own test suite checks the same rules on random samples. `array_api_suite.py` runs it.
"""

import inspect
import itertools

import pytest
from conftest import package

from lanecast import array_api

np = package("numpy")
xp = package("array_api_overlay")

SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
REAL = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]
KINDS = {
    "bool": ["bool"],
    "signed integer": SIGNED,
    "unsigned integer": UNSIGNED,
    "integral": SIGNED + UNSIGNED,
    "real floating": REAL,
    "complex floating": COMPLEX,
    "numeric": SIGNED + UNSIGNED + REAL + COMPLEX,
}
NAMES = ["bool", *KINDS["numeric"]]
# Promotions between kinds, from the table of the standard. Within a kind, the wider dtype is the result.
MIXED = {
    ("int8", "uint8"): "int16", ("int8", "uint16"): "int32", ("int8", "uint32"): "int64",
    ("int16", "uint8"): "int16", ("int16", "uint16"): "int32", ("int16", "uint32"): "int64",
    ("int32", "uint8"): "int32", ("int32", "uint16"): "int32", ("int32", "uint32"): "int64",
    ("int64", "uint8"): "int64", ("int64", "uint16"): "int64", ("int64", "uint32"): "int64",
    ("float32", "complex64"): "complex64", ("float32", "complex128"): "complex128",
    ("float64", "complex64"): "complex128", ("float64", "complex128"): "complex128",
}  # fmt: skip


def promoted(a, b):
    """The name of the common dtype, or None if the standard leaves it undefined."""
    for group in (["bool"], SIGNED, UNSIGNED, REAL, COMPLEX):
        if a in group and b in group:
            return max(a, b, key=group.index)
    return MIXED.get((a, b), MIXED.get((b, a)))


def promoted_all(names):
    result = names[0]
    for name in names[1:]:
        result = result and promoted(result, name)
    return result


def spellings(name):
    """The dtype as an attribute of the namespace, and as the attribute of an array."""
    return [getattr(xp, name), xp.zeros((), dtype=name).dtype]


def same(dtype, name):
    """Whether the result is the dtype itself. Comparing with `==` alone would accept strings and classes."""
    return isinstance(dtype, np.dtype) and dtype == getattr(xp, name)


def number(array):
    return array.reshape(-1)[0].item()


@pytest.mark.parametrize("to", NAMES)
@pytest.mark.parametrize("name", NAMES)
def test_astype(name, to):
    shapes = [(), (0,), (3,), (2, 0, 2), (2, 3, 1)]
    for shape, copy, target in itertools.product(shapes, (None, True, False), spellings(to)):
        x = xp.ones(shape, dtype=name)
        kw = {} if copy is None else {"copy": copy}
        if name in COMPLEX and to not in [*COMPLEX, "bool"]:
            with pytest.raises(TypeError):
                xp.astype(x, target, **kw)
            continue
        result = xp.astype(x, target, device=x.device, **kw)
        assert same(result.dtype, to) and result.shape == shape and (result == 1).all()
        assert (result is x) == (name == to and copy is False)
        if result is not x and result.size:
            result[...] = 0
            assert number(x) == 1


def test_can_cast():
    for a, to in itertools.product(NAMES, NAMES):
        allowed = any(promoted(a, other) == to for other in NAMES)
        for source in [*spellings(a), xp.zeros((), dtype=a), xp.zeros((2, 0), dtype=a)]:
            for target in spellings(to):
                result = xp.can_cast(source, target)
                assert type(result) is bool
                assert result or not allowed, (a, to)
        # Promotion never yields a lower kind.
        if to in SIGNED + UNSIGNED and a in REAL + COMPLEX or to in REAL and a in COMPLEX or to == "bool" != a:
            assert not result, (a, to)


@pytest.mark.parametrize("name", REAL + COMPLEX)
def test_finfo(name):
    part = {"complex64": "float32", "complex128": "float64"}.get(name, name)
    for of in [*spellings(name), xp.asarray(1, dtype=name), xp.ones((2, 0), dtype=name)]:
        info = xp.finfo(of)
        assert type(info.bits) is int and info.bits == int(part[5:])
        for attribute in ("eps", "max", "min", "smallest_normal"):
            value = getattr(info, attribute)
            assert type(value) is float and value == float(getattr(np.finfo(part), attribute))
        assert same(info.dtype, part)


@pytest.mark.parametrize("name", SIGNED + UNSIGNED)
def test_iinfo(name):
    for of in [*spellings(name), xp.asarray(1, dtype=name), xp.ones((2, 0), dtype=name)]:
        info = xp.iinfo(of)
        signed, bits = name in SIGNED, int(name.removeprefix("u")[3:])
        assert [type(v) for v in (info.bits, info.max, info.min)] == [int] * 3
        assert (info.bits, info.max) == (bits, 2 ** (bits - signed) - 1) and info.min == -signed * 2 ** (bits - 1)
        assert same(info.dtype, name)


@pytest.mark.parametrize("wrong", ["bool", *SIGNED, *COMPLEX, *REAL])
def test_infos_of_other_kinds(wrong):
    function = xp.iinfo if wrong in REAL + COMPLEX else xp.finfo
    with pytest.raises(TypeError):
        function(getattr(xp, wrong))


def test_isdtype():
    atoms = list(KINDS) + NAMES

    def is_of(name, atom):
        return name in KINDS[atom] if atom in KINDS and atom != "bool" else name == atom

    for name, of in itertools.product(NAMES, range(1, 4)):
        for chosen in itertools.combinations(atoms, of):
            kinds = tuple(atom if atom in KINDS else getattr(xp, atom) for atom in chosen)
            for dtype in spellings(name):
                result = xp.isdtype(dtype, kinds if of > 1 else kinds[0])
                assert type(result) is bool and result == any(is_of(name, atom) for atom in chosen)
    with pytest.raises(ValueError):
        xp.isdtype(xp.int8, "integer")
    with pytest.raises(TypeError):
        xp.isdtype(xp.int8, 3)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_result_type(count):
    seen = 0
    for names in itertools.product(NAMES, repeat=count):
        # Some orders reach a pair that the standard leaves undefined, such as uint64 with a signed integer.
        orders = {promoted_all(order) for order in itertools.permutations(names)}
        if None in orders:
            continue
        seen += 1
        (expected,) = orders
        dtypes = [getattr(xp, name) for name in names]
        arrays = [xp.zeros(shape, dtype=name) for name, shape in zip(names, [(), (2,), (0, 3)])]
        assert same(xp.result_type(*dtypes), expected)
        assert same(xp.result_type(*arrays), expected)
        assert same(xp.result_type(*arrays[:1], *dtypes[1:]), expected)
        assert same(xp.result_type(*dtypes[:1], *arrays[1:]), expected)
    assert seen >= {1: 13, 2: 50, 3: 300}[count]


def test_result_type_with_python_numbers():
    numbers = {"bool": [True], **dict.fromkeys(SIGNED + UNSIGNED, [True, 1])}
    numbers |= dict.fromkeys(REAL, [True, 1, 1.0]) | dict.fromkeys(COMPLEX, [True, 1, 1.0, 1j])
    for a, b in itertools.product(NAMES, NAMES):
        expected = promoted(a, b)
        if expected is None:
            continue
        for value in numbers[expected]:
            if value is True and expected != "bool":
                continue
            operands = [getattr(xp, a), xp.zeros((), dtype=b), value, value]
            for order in itertools.permutations(operands):
                assert same(xp.result_type(*order), expected), order
    # A Python number of a higher kind changes the kind and keeps the precision.
    assert same(xp.result_type(xp.float32, 1j), "complex64") and same(xp.result_type(1j, xp.float64, 1), "complex128")
    for none in ((), (1,), (1, 2.0), (True, 1j)):
        with pytest.raises(ValueError):
            xp.result_type(*none)


def test_namespace_info():
    info = xp.__array_namespace_info__()
    capabilities = info.capabilities()
    assert {name: type(value) for name, value in capabilities.items()} == {
        "boolean indexing": bool, "data-dependent shapes": bool, "max dimensions": int,
    }  # fmt: skip
    assert capabilities["max dimensions"] == 64 and np.zeros((1,) * 64).ndim == 64
    assert type(info.devices()) is tuple and info.default_device() in info.devices()
    for device in [None, *info.devices()]:
        defaults = info.default_dtypes(device=device)
        assert {kind: dtype.name for kind, dtype in defaults.items()} == {
            "real floating": "float64", "complex floating": "complex128", "integral": "int64", "indexing": "int64",
        }  # fmt: skip
        kinds = [None, *KINDS, ("bool", "real floating"), tuple(KINDS)]
        for kind in kinds:
            found = info.dtypes(device=device, kind=kind)
            expected = NAMES if kind is None else [n for k in ([kind] if isinstance(kind, str) else kind) for n in KINDS[k]]
            assert set(found) == set(expected)
            for name, dtype in found.items():
                assert same(dtype, name) and xp.empty(1, dtype=dtype, device=device).dtype == dtype


def test_signatures():
    only, both = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    keyword, rest = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_POSITIONAL
    none = inspect.Parameter.empty
    expected = {
        "astype": [("x", only, none), ("dtype", only, none), ("copy", keyword, True), ("device", keyword, None)],
        "can_cast": [("from_", only, none), ("to", only, none)],
        "finfo": [("type", only, none)],
        "iinfo": [("type", only, none)],
        "isdtype": [("dtype", both, none), ("kind", both, none)],
        "result_type": [("arrays_and_dtypes", rest, none)],
    }
    for name, parameters in expected.items():
        function = getattr(array_api, name)
        assert getattr(xp, name) is function
        found = inspect.signature(function).parameters.values()
        assert [(p.name, p.kind, p.default) for p in found] == parameters
