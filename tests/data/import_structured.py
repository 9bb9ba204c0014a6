#!/usr/bin/env python3
"""Makes structured_descr.tsv and structured_casts.tsv of this folder with NumPy (2.4.6).

    pip install numpy==2.4.6 ml_dtypes==0.6.0
    python3 tests/data/import_structured.py

NumPy is asked for the descriptions of dtypes and the bytes of casts. The forms written here are described in README.md beside this
file. Values are such that NumPy answers alike on every machine.
"""
import pathlib
import random

import ml_dtypes
import numpy as np
from numpy.lib import recfunctions

HERE = pathlib.Path(__file__).resolve().parent
RANDOM = random.Random(20)
NUMBERS = ["?", "i1", "u1", "<i2", ">i2", "<u4", ">i4", "<i8", ">u8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "<c8", ">c16"]
OTHERS = ["S1", "S7", "<U2", ">U3", "V1", "V5", "S0", "U0"]
NAMES = ["a", "b", "x y", "it's", 'say "hi"', "both'\"", "back\\slash", "größe", "名前", "\u200b", "\x7f", "tab\t", "new\nline", "😀",
         "a\u0301", "\u0378", "\xa0", "\ue000", "f0", "position"]


def shape():
    return RANDOM.choice([(), (), (), (1,), (3,), (2, 3), (2, 1, 2), (0,)])


def fields(depth, titles=True):
    names = RANDOM.sample(NAMES, RANDOM.randint(1, 5))
    out = []
    for i, name in enumerate(names):
        kind = fields(depth - 1, titles) if depth and RANDOM.random() < 0.3 else RANDOM.choice(NUMBERS * 2 + OTHERS)
        name = (f"title {i}", name) if titles and RANDOM.random() < 0.2 else name
        # NumPy has no sub-arrays of nothing.
        alone = RANDOM.random() < 0.5 or np.dtype(kind).itemsize == 0
        out.append((name, kind) if alone else (name, kind, shape()))
    return out


def layout(dtype):
    """The fields of a dtype with all that they are: offset, names, shape, kind."""
    if dtype.names is None:
        return dtype.str
    cells = []
    for name in dtype.names:
        kind, offset, *title = dtype.fields[name]
        names = "/".join(ascii(n)[1:-1].replace("/", "") for n in [name, *title])
        cells.append(f"{offset} {names} {'x'.join(map(str, kind.shape))} {layout(kind.base)}")
    return "{" + ", ".join(cells) + f"}} {dtype.itemsize}"


def packed(dtype):
    """The same fields without gaps."""
    if dtype.names is None:
        return dtype
    out = []
    for name in dtype.names:
        kind, _, *title = dtype.fields[name]
        name = (title[0], name) if title else name
        out.append((name, packed(kind.base), kind.shape) if kind.base.names else (name, kind))
    return np.dtype(out)


def descriptions():
    lines = [["fields", "how", "descr", "layout"]]

    def add(dtype, how):
        # What a description says is what a file has; ml_dtypes are bytes in it.
        read = np.lib.format.descr_to_dtype(dtype.descr)
        assert read.itemsize == dtype.itemsize
        lines.append([repr(packed(dtype).descr), how, repr(dtype.descr), layout(read)])

    fixed = [
        [("a", "<f4")],
        [],
        [("a", [])],
        [("a", "V0"), ("b", "<f4")],
        [(("title", "name"), "<f8"), (("t2", "b"), ">i2", (2, 3))],
        [("a", "f4", 1), ("b", "f4", ()), ("c", "f4", 3), ("d", "f4", (0, 2))],
        [(name, "u1") for name in NAMES],
        [(f"k{i}", kind) for i, kind in enumerate(NUMBERS + OTHERS)],
        [("p", [("q", [("r", [("s", ">f2", (2,))])], (3,))])],
    ]
    for spec in fixed + [fields(2) for _ in range(45)]:
        add(np.dtype(spec), "packed")
        if spec:
            add(np.dtype(spec, align=True), "aligned")
    for _ in range(20):
        spec = fields(1, titles=False)
        offsets, at = [], 0
        for field in spec:
            at += RANDOM.choice([0, 0, 1, 2, 7])
            offsets.append(at)
            at += np.dtype([field]).itemsize
        size = at + RANDOM.choice([0, 3])
        formats = [np.dtype([f])[0] for f in spec]
        dtype = np.dtype({"names": [f[0] for f in spec], "formats": formats, "offsets": offsets, "itemsize": size})
        add(dtype, "at " + " ".join(map(str, offsets + [size])))
    write("structured_descr.tsv", lines)


def fill(array):
    """Small numbers, halves and quarters among them, short texts."""
    dtype = array.dtype
    if dtype.names is not None:
        for name in dtype.names:
            fill(array[name])
        return
    flat = np.empty(array.size, dtype)
    for i in range(array.size):
        if dtype.kind in "SU":
            flat[i] = "".join(RANDOM.choice("abc€xyz" if dtype.kind == "U" else "abcxyz") for _ in range(RANDOM.randint(0, 8)))
        elif dtype.kind == "V":
            flat[i] = RANDOM.randbytes(dtype.itemsize)
        elif dtype.kind == "b":
            flat[i] = RANDOM.random() < 0.5
        elif dtype.kind in "iu":
            flat[i] = RANDOM.randint(0, 100)
        else:
            flat[i] = RANDOM.randint(0, 400) / 4
    array[...] = flat.reshape(array.shape)


def number():
    return RANDOM.choice(NUMBERS)


def partner(kind):
    """What a field of this kind may be cast to."""
    if isinstance(kind, list):
        return [(f[0], partner(f[1]), *f[2:]) for f in kind]
    dtype = np.dtype(kind)
    if dtype.kind == "S":
        return f"S{RANDOM.randint(1, 9)}"
    if dtype.kind == "U":
        return RANDOM.choice("<>") + f"U{RANDOM.randint(1, 9)}"
    if dtype.kind == "V":
        return f"V{RANDOM.randint(1, 9)}"
    return number()


def broadcast(dims):
    """A shape that `dims` is broadcast to."""
    out = tuple(RANDOM.choice([1, 2, 3]) if dim == 1 else dim for dim in dims)
    return (*RANDOM.choice([(), (2,), (1,)]), *out)


def source_fields(depth):
    out = []
    for i in range(RANDOM.randint(1, 4)):
        nested = depth and RANDOM.random() < 0.3
        kind = source_fields(depth - 1) if nested else RANDOM.choice(NUMBERS * 3 + [k for k in OTHERS if k[-1] != "0"])
        out.append((f"{'n' if nested else 'f'}{i}", kind, RANDOM.choice([(), (), (1,), (3,), (2, 1), (2, 3)])))
    return out


def casts():
    lines = [["match", "from", "to", "items", "source", "before", "after"]]

    def add(matching, source, target):
        source, target = np.dtype(source), np.dtype(target)
        n = RANDOM.choice([1, 2, 5])
        src = np.zeros(n, source)
        fill(src)
        src = np.frombuffer(src.tobytes(), source)
        before = RANDOM.randbytes(n * target.itemsize)
        dst = np.frombuffer(bytearray(before), target)
        if matching == "position":
            dst[...] = src
        else:
            recfunctions.assign_fields_by_name(dst, src, zero_unassigned=matching == "zero")
        row = [matching, repr(source.descr), repr(target.descr), str(n), src.tobytes().hex(), before.hex(), dst.tobytes().hex()]
        lines.append(row)

    def spread(spec):
        # One struct of several fields NumPy does not spread over a sub-array of structs.
        return [f[2] if isinstance(f[1], list) else broadcast(f[2]) for f in spec]

    def aligned(spec):
        return np.dtype(spec, align=RANDOM.random() < 0.5)

    with np.errstate(all="ignore"):
        for _ in range(40):
            spec = source_fields(1)
            target = [(f"g{i}", partner(f[1]), dims) for i, (f, dims) in enumerate(zip(spec, spread(spec)))]
            add("position", aligned(spec), aligned(target))
        # One element to a struct, a struct of one field to an element.
        add("position", [("a", "<f4"), ("b", ">i2")], [("a", [("x", "<f8"), ("y", "i1", (2,))]), ("b", "<i4")])
        add("position", [("a", [("x", [("y", ">f4")])]), ("b", "u1")], [("a", "<f8"), ("b", "<f2", (3,))])
        for _ in range(30):
            spec = source_fields(1)
            target = [(f[0], partner(f[1]), f[2]) for f in spec if RANDOM.random() < 0.7]
            target += [(f"new{i}", number(), RANDOM.choice([(), (2,)])) for i in range(RANDOM.randint(0, 2))]
            RANDOM.shuffle(target)
            if target:
                for matching in ["name", "zero"]:
                    add(matching, aligned(spec), aligned(target))
    write("structured_casts.tsv", lines)


def write(name, lines):
    assert not any("\t" in cell or "\n" in cell for line in lines for cell in line)
    text = "".join("\t".join(line) + "\n" for line in lines)
    (HERE / name).write_text(text)
    print(f"{name:24} {len(text):8} bytes, {len(lines) - 1} rows")


def main():
    # What the documentation says of ml_dtypes.
    small = [("a", ml_dtypes.bfloat16), ("b", ml_dtypes.int4), ("c", ml_dtypes.float8_e5m2)]
    assert repr(np.dtype(small).descr) == "[('a', '<V2'), ('b', '<V1'), ('c', '<f1')]"
    descriptions()
    casts()


if __name__ == "__main__":
    main()
