#!/usr/bin/env python3
"""Makes gguf_encode.tsv and gguf_decode.tsv of this folder from the plain tables of ggml's answers.

    python3 tests/data/import_gguf.py GOLDEN_FOLDER

GOLDEN_FOLDER holds gguf_quantize.tsv and gguf_dequantize.tsv. Formats that are only decoded are left out of the former.
"""

import pathlib
import sys

ENCODED = {"Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "MXFP4", "NVFP4"}


def rows(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return [line.split("\t") for line in lines[1:]]


def floats(digits):
    """float32 codes, each without the zeros at its end."""
    return " ".join(digits[i : i + 8].rstrip("0") or "0" for i in range(0, len(digits), 8))


def main():
    golden, here = pathlib.Path(sys.argv[1]), pathlib.Path(__file__).parent
    encode = [
        (name, floats(values), block)
        for name, values, block, _ in rows(golden / "gguf_quantize.tsv")
        if name in ENCODED
    ]
    decode = [(name, block, floats(values)) for name, block, values in rows(golden / "gguf_dequantize.tsv")]
    for name, columns, table in (
        ("gguf_encode.tsv", ("format", "float32", "block"), encode),
        ("gguf_decode.tsv", ("format", "block", "float32"), decode),
    ):
        text = "# ggml d99724f, the reference in C\n"
        (here / name).write_text(text + "".join("\t".join(row) + "\n" for row in [columns, *table]))


main()
