#!/usr/bin/env python3
"""Makes promotion.tsv of this folder from the tables that were measured on the systems.

    python3 tests/data/import_promotion.py FOLDER

FOLDER holds promotion_long.tsv, promotion_number_long.tsv and the square tables named below. The form written here is described
in README.md beside this file. Rows and columns of dtypes that lanecast lacks, and the standards that it does not have, are left
out; everything else is read back and compared before it is kept.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
SHORT = {
    "bool": "bool", "int2": "i2", "int4": "i4", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint2": "u2", "uint4": "u4", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "complex64": "c64", "complex128": "c128",
    "float8_e4m3fn": "e4m3fn", "float8_e4m3fnuz": "e4m3fnuz", "float8_e5m2": "e5m2", "float8_e5m2fnuz": "e5m2fnuz",
    "float8_e8m0fnu": "e8m0", "float8_e3m4": "e3m4", "float8_e4m3": "float8_e4m3", "float8_e4m3b11fnuz": "e4m3b11fnuz",
    "float6_e2m3fn": "e2m3", "float6_e3m2fn": "e3m2", "float4_e2m1fn": "e2m1",
    "int*": "int*", "float*": "float*", "complex*": "complex*",
}
STANDARDS = ["MindSpore", "MegEngine", "MegEngineCore", "ArrayApi", "NumPy", "Torch", "Jax", "JaxStrict"]
NUMBERS = ["bool", "int", "float", "complex"]
# Square tables: the section, the file.
SQUARES = {
    "pairs Jax x32": "jax_standard_x32",
    "pairs JaxStrict x32": "jax_strict_x32",
    "pairs Onnx": "onnx",
    "torch 0-d": "torch_nd_with_0d",
    "numbers Torch float16": "torch_number_default_float16",
    "numbers Torch bfloat16": "torch_number_default_bfloat16",
    "numbers Torch float64": "torch_number_default_float64",
    "can_cast NumPy safe": "numpy_can_cast_safe",
    "can_cast NumPy same_kind": "numpy_can_cast_same_kind",
    "can_cast NumPy unsafe": "numpy_can_cast_unsafe",
    "can_cast Jax safe": "jax_can_cast_safe",
    "can_cast Torch same_kind": "torch_can_cast",
    "can_cast ArrayApi safe": "array_api_can_cast",
    "can_cast ArrayApi unsafe": "array_api_astype_allowed",
    "can_cast Onnx unsafe": "onnx_cast_allowed",
    "isdtype": "kinds",
}


def rows(path):
    return [line.split("\t") for line in path.read_text().splitlines()]


def square(path):
    head, *body = rows(path)
    return {(row[0], column): cell for row in body for column, cell in zip(head[1:], row[1:])}


def name(text):
    weak = text.rstrip("*") + "*" if text.endswith("*") else ""
    if weak and weak not in SHORT:
        return SHORT[text.rstrip("*")] + "*"
    return SHORT.get(text, text)


def runs(cells):
    out = []
    for cell in cells:
        if out and out[-1][0] == cell:
            out[-1][1] += 1
        else:
            out.append([cell, 1])
    text = " ".join(cell if n == 1 else f"{cell}:{n}" for cell, n in out)
    back = []
    for token in text.split():
        cell, _, n = token.partition(":")
        back += [cell] * int(n or 1)
    assert back == cells
    return text


def section(title, table):
    """Lines for a table of {(row, column): cell}."""
    ours = lambda label: label in SHORT
    row_names = list(dict.fromkeys(row for row, _ in table if ours(row)))
    columns = list(dict.fromkeys(column for _, column in table))
    if not all(column in NUMBERS or " " in column for column in columns[:2]):
        columns = [column for column in columns if ours(column)]
    spell = lambda column: name(column) if ours(column) and column not in NUMBERS else column.replace(" ", "_")
    lines = [f"@ {title}", "\t".join(spell(c) for c in columns)]
    for row in row_names:
        lines.append(name(row) + "\t" + runs([name(table.get((row, c), "-")) for c in columns]))
    return lines


def main():
    folder = pathlib.Path(sys.argv[1])
    pairs, numbers = {}, {}
    for standard, a, b, result, *_ in rows(folder / "promotion_long.tsv")[1:]:
        pairs.setdefault(standard, {})[a, b] = result
    for standard, array, number, result in rows(folder / "promotion_number_long.tsv")[1:]:
        numbers.setdefault(standard, {})[array, number] = result
    lines = ["# Tables as `value:count`, one line per row; see README.md"]
    for standard in STANDARDS:
        lines += section(f"pairs {standard}", pairs[standard])
    for standard in STANDARDS:
        lines += section(f"numbers {standard}", numbers[standard])
    lines += section("numbers Jax x32", numbers["JaxX32"])
    for title, file in SQUARES.items():
        lines += section(title, square(folder / f"{file}.tsv"))
    text = "".join(line + "\n" for line in lines)
    (HERE / "promotion.tsv").write_text(text)
    print(f"promotion.tsv {len(text)} bytes")


if __name__ == "__main__":
    main()
