#!/usr/bin/env python3
"""Makes onnx_linear.tsv and onnx_linear.bin of this folder from the plain tables of ONNX's answers.

    python3 tests/data/import_onnx_linear.py GOLDEN_FOLDER

GOLDEN_FOLDER holds onnx_quantize.tsv and onnx_dequantize.tsv. The forms written here are described in README.md beside this file.
"""

import pathlib
import sys

BITS = {"f32": 32, "i32": 32, "f16": 16, "bf16": 16, "u16": 16, "i16": 16, "u4": 4, "i4": 4, "e2m1": 4, "u2": 2, "i2": 2}
COLUMNS = ("operator", "case", "opset", "attributes", "x", "x_shape", "scale", "scale_shape", "zero_point", "y", "same")


def rows(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return [line.split("\t") for line in lines[1:]]


def packed(dtype, codes):
    """Codes as raw_data has them."""
    width = BITS.get(dtype, 8)
    whole = sum((code & ((1 << width) - 1)) << (width * i) for i, code in enumerate(codes))
    return whole.to_bytes((width * len(codes) + 7) // 8, "little")


def zero_point_of(element, row):
    """The code of the zero point of an element that is NaN: only nodes with one zero point have such elements."""
    codes = row[10].split()
    assert len(codes) == 1, (row, element)
    return codes[0]


def main():
    golden, here = pathlib.Path(sys.argv[1]), pathlib.Path(__file__).parent
    table, data, previous = [], bytearray(), {}
    for operator, name in (("QuantizeLinear", "onnx_quantize.tsv"), ("DequantizeLinear", "onnx_dequantize.tsv")):
        nodes = rows(golden / name)
        nodes.sort(key=lambda row: (row[0], row[2], row[3], row[6], row[9], row[11], int(row[1])))
        for row in nodes:
            case, opset, attributes, x, x_shape, x_codes, scale, scale_shape, scale_codes, zero, zero_codes, y, y_codes = row
            y_codes = [zero_point_of(i, row) if code == "*" else code for i, code in enumerate(y_codes.split())]
            same = ""
            inputs = (("x", x, x_codes.split()), ("s", scale, scale_codes.split()), ("z", zero, zero_codes.split()))
            for which, dtype, codes in (*inputs, ("y", y, y_codes)):
                if dtype == "-":
                    continue
                tensor = packed(dtype, [int(code, 16) for code in codes])
                if which != "y" and tensor == previous.get(which):
                    same += which
                else:
                    data += tensor
                previous[which] = tensor
            table.append((operator, case, opset, attributes, x, x_shape, scale, scale_shape, zero, y, same or "-"))
    lines, above = ["# Nodes of onnx 1.23.2, ReferenceEvaluator; their tensors are in onnx_linear.bin", "\t".join(COLUMNS)], COLUMNS
    for row in table:
        lines.append("\t".join("" if cell == old else cell for cell, old in zip(row, above)))
        above = row
    (here / "onnx_linear.tsv").write_text("\n".join(lines) + "\n")
    (here / "onnx_linear.bin").write_bytes(data)
    print(len(table), "nodes", len(data), "bytes")


main()
