#!/usr/bin/env python3
"""Makes text_parse.tsv and text_format.tsv of this folder from the plain tables of the exact generator.

    python3 tests/data/import_text.py GOLDEN_FOLDER

GOLDEN_FOLDER holds string_parse.tsv and string_format.tsv. The forms are described in README.md beside this file. What is written
is read back and compared, so nothing is lost on the way.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
WIDE = {"f64": 16, "f32": 8, "f16": 4, "bf16": 4}


def rows(path):
    return [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]


def short(dtype, code):
    """Codes of wide floats without the zeros at their end."""
    return code.rstrip("0") or "0" if dtype in WIDE and code != "nan" else code


def full(dtype, code):
    return code.ljust(WIDE[dtype], "0") if dtype in WIDE and code != "nan" else code


def write(name, lines):
    text = "".join("\t".join(line) + "\n" for line in lines)
    (HERE / name).write_text(text)
    print(f"{name:22} {len(text):8} bytes")


def parse(golden):
    head, *body = rows(golden / "string_parse.tsv")
    lines = [["text", *head[1:-1], "int"]]
    for text, *cells in body:
        # A text that does not parse does so to no dtype.
        if "ERR" in cells:
            assert set(cells) == {"ERR"}
            lines.append([text, "ERR"])
        else:
            lines.append([text, *(short(dtype, cell) for dtype, cell in zip(head[1:], cells))])
    write("text_parse.tsv", lines)
    back = [
        [text] + (["ERR"] * (len(head) - 1) if cells == ["ERR"] else [full(d, c) for d, c in zip(head[1:], cells)])
        for text, *cells in rows(HERE / "text_parse.tsv")[1:]
    ]
    assert back == body


def format(golden):
    _, *body = rows(golden / "string_format.tsv")
    write("text_format.tsv", [["from", "bits", "text"]] + [[d, short(d, code), text] for d, code, text in body])
    assert [[d, full(d, code), text] for d, code, text in rows(HERE / "text_format.tsv")[1:]] == body


def main():
    golden = pathlib.Path(sys.argv[1])
    parse(golden)
    format(golden)


if __name__ == "__main__":
    main()
