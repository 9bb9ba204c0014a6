#!/usr/bin/env python3
"""Makes the compact golden files of this folder from the plain ones.

    python3 tests/data/import.py GOLDEN_FOLDER LIMITS_FOLDER

GOLDEN_FOLDER holds the tables written by the exact big-integer generator (decode_*.tsv, enc/*.bin, small_to_small.tsv,
tricky_*.tsv, float_to_int.tsv, nan_rules.tsv, lossless.tsv); LIMITS_FOLDER holds limits_float.tsv and limits_int.tsv.
The forms written here are described in README.md beside this file. Every file is read back and compared before it is kept,
so nothing is lost on the way.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
DTYPES_NOT_OURS = {"int1", "uint1", "bool"}


def rows(path):
    return [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]


def write(name, comment, lines):
    text = "".join(f"# {c}\n" for c in comment) + "".join(line + "\n" for line in lines)
    (HERE / name).write_text(text)
    print(f"{name:22} {len(text):8} bytes")


# Runs: a table of codes as `[value:]count[+step]`, all in hexadecimal.


def to_runs(values):
    runs, i, previous = [], 0, -1
    while i < len(values):
        best = (0, 0)
        for step in {0, values[i + 1] - values[i] if i + 1 < len(values) else 0}:
            n = 1
            while i + n < len(values) and values[i + n] == values[i] + n * step:
                n += 1
            # A progression that only joins two plain runs would cut the second one in pieces.
            if n > best[0] and (step == 0 or n > 2) and step >= 0:
                best = (n, step)
        n, step = best
        head = "" if values[i] == previous + 1 else f"{values[i]:x}:"
        runs.append(f"{head}{n:x}" + (f"+{step:x}" if step else ""))
        previous = values[i + n - 1]
        i += n
    text = " ".join(runs)
    assert from_runs(text) == list(values)
    return text


def from_runs(text):
    values, previous = [], -1
    for token in text.split():
        value, _, count = token.rpartition(":")
        count, _, step = count.partition("+")
        first = int(value, 16) if value else previous + 1
        values += [first + k * int(step or "0", 16) for k in range(int(count, 16))]
        previous = values[-1]
    return values


def tables(golden):
    lines = []
    for path in sorted((golden / "enc").glob("*.bin")):
        source, _, target = path.stem.partition("_to_")
        data = path.read_bytes()
        width = len(data) // 65536
        values = [int.from_bytes(data[i : i + width], "little") for i in range(0, len(data), width)]
        lines.append(f"{source}\t{target}\t{to_runs(values)}")
    for source, target, text in rows(golden / "small_to_small.tsv")[1:]:
        lines.append(f"{source}\t{target}\t{to_runs(bytes.fromhex(text))}")
    write("tables.tsv", ["from, to and options, runs"], lines)


# Rows: an empty cell repeats the one above.


def ditto(table):
    out, above = [], [None] * len(table[0])
    for row in table:
        out.append("\t".join("" if c == a else (c or "-") for c, a in zip(row, above)).rstrip("\t"))
        above = row
    assert undo(out, len(table[0])) == [list(r) for r in table]
    return out


def undo(lines, width):
    out, above = [], None
    for line in lines:
        cells = line.split("\t")
        cells += [""] * (width - len(cells))
        above = [("" if c == "-" else c) if c else a for c, a in zip(cells, above or cells)]
        out.append(above)
    return out


def trim(code):
    """A float code without trailing zeros."""
    return code.rstrip("0") or "0"


def signed_key(bits):
    """Orders codes by sign, then magnitude."""
    return int(bits, 16) >> (4 * len(bits) - 1), int(bits, 16)


def tricky(golden, name, key):
    head, *body = rows(golden / f"{name}.tsv")
    body.sort(key=lambda row: key(row[0]))
    wide = [i for i, h in enumerate(head) if h in ("f64", "f32", "f16", "bf16")]
    for row in body:
        row += [""] * (len(head) - len(row))
        for i in wide:
            row[i] = trim(row[i])
    write(f"{name}.tsv", [], ditto([head] + body))


def float_to_int(golden):
    head, *body = rows(golden / "float_to_int.tsv")
    body.sort(key=lambda row: (row[0], signed_key(row[1])))
    lines = ["src\tbits\tu64_wrap\ti64_sat\tu64_sat"]
    for row in body:
        cell = {name: int(code, 16) for name, code in zip(head[2:], row[2:])}
        wrap, i64, u64 = cell["u64_wrap"], cell["i64_sat"], cell["u64_sat"]
        for name, code in cell.items():
            dtype, mode = name.split("_")
            signed, bits = dtype[0] == "i", int(dtype[1:])
            low = (1 << bits) - 1
            if mode == "wrap":
                expected = wrap
            elif signed:
                half = 1 << (bits - 1)
                expected = min(max(i64 - (i64 >> 63 << 64), -half), half - 1)
            else:
                expected = min(u64, low)
            # What the reader derives for the columns that are not written is what stood in them.
            assert code == expected & low, (row, name)
        cells = row[:1] + [trim(row[1]), f"{wrap:x}", "" if i64 == wrap else f"{i64:x}", "" if u64 == wrap else f"{u64:x}"]
        lines.append("\t".join(cells).rstrip("\t"))
    write("float_to_int.tsv", [], lines)


def nan_rules(golden):
    table, targets = {}, []
    for source, bits, target, code in rows(golden / "nan_rules.tsv")[1:]:
        table.setdefault((source, bits), {})[target] = code
        if target not in targets:
            targets.append(target)
    lines = ["\t".join(["from", "bits"] + targets)]
    for (source, bits), codes in table.items():
        lines.append("\t".join([source, bits] + [codes.get(t, "") for t in targets]))
    write("nan_rules.tsv", [], lines)


def decode(golden):
    lines = []
    for path in sorted(golden.glob("decode_*.tsv")):
        name = path.stem.removeprefix("decode_")
        head, *body = rows(path)
        if not lines:
            lines.append("\t".join(["from"] + head))
        for code, value, *wide in body:
            lines.append("\t".join([name, code, value] + [trim(w) for w in wide]))
    write("decode.tsv", [], lines)


def limits(folder):
    head, *body = rows(folder / "limits_float.tsv")
    keep = ["dtype", "bits", "exponent bits", "mantissa bits", "bias", "has zero", "has -0", "encodings of inf",
            "encodings of nan", "eps", "max", "min", "smallest_normal", "smallest_subnormal", "epsneg"]
    index = [head.index(k) for k in keep]
    write("limits_float.tsv", [], ["\t".join(keep)] + ["\t".join(row[i] for i in index) for row in body])
    head, *body = rows(folder / "limits_int.tsv")
    index = [head.index(k) for k in ("dtype", "bits", "min", "max")]
    body = [row for row in body if row[0] not in DTYPES_NOT_OURS]
    write("limits_int.tsv", [], ["\t".join(row[i] for i in index) for row in [head] + body])


def main():
    golden, folder = (pathlib.Path(p) for p in sys.argv[1:3])
    decode(golden)
    tables(golden)
    tricky(golden, "tricky_f32", signed_key)
    tricky(golden, "tricky_f64", signed_key)
    tricky(golden, "tricky_int", int)
    float_to_int(golden)
    nan_rules(golden)
    write("lossless.tsv", [], (golden / "lossless.tsv").read_text().splitlines())
    limits(folder)


if __name__ == "__main__":
    main()
