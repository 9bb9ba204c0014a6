#!/usr/bin/env python3
"""Makes `float_round.tsv`: what the values at the seams of each float target are rounded to in every direction.

    python3 tests/data/float_round.py

Fractions and the definitions of the formats only: the magnitudes of a format grow with their codes, so the neighbours of a value are
found by bisection and compared with it exactly.
"""
import pathlib
import struct
from fractions import Fraction

# name: width, mantissa bits, bias, code of the largest finite value, codes of overflow (infinity or NaN; None clamps)
FORMATS = {
    "f16": (16, 10, 15, 0x7BFF, 0x7C00),
    "bf16": (16, 7, 127, 0x7F7F, 0x7F80),
    "f32": (32, 23, 127, 0x7F7FFFFF, 0x7F800000),
    "float8_e4m3fn": (8, 3, 7, 0x7E, 0x7F),
    "float8_e4m3fnuz": (8, 3, 8, 0x7F, 0x80),
    "float8_e5m2": (8, 2, 15, 0x7B, 0x7C),
    "float8_e5m2fnuz": (8, 2, 16, 0x7F, 0x80),
    "float8_e3m4": (8, 4, 3, 0x6F, 0x70),
    "float8_e4m3": (8, 3, 7, 0x77, 0x78),
    "float8_e4m3b11fnuz": (8, 3, 11, 0x7F, 0x80),
    "f6e2m3fn": (6, 3, 1, 0x1F, None),
    "f6e3m2fn": (6, 2, 3, 0x1F, None),
    "f4e2m1fn": (4, 1, 1, 0x7, None),
}
DIRECTIONS = ["even", "away", "zero", "up", "down", "odd"]
HERE = pathlib.Path(__file__).resolve().parent


def magnitude(fmt, code):
    """The value of a magnitude code, also above the largest, as if the exponents went on."""
    _, m, bias, _, _ = FORMATS[fmt]
    field, fraction = code >> m, code & ((1 << m) - 1)
    if field == 0:
        return Fraction(fraction) * Fraction(2) ** (1 - bias - m)
    return Fraction(fraction + (1 << m)) * Fraction(2) ** (field - bias - m)


def round_magnitude(fmt, x, negative, direction):
    low, high = 0, FORMATS[fmt][3] + 2
    if x >= magnitude(fmt, high):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if magnitude(fmt, middle) <= x else (low, middle)
    below, above = magnitude(fmt, low), magnitude(fmt, high)
    if x == below:
        return low
    away = {
        "even": x - below > above - x or (x - below == above - x and low % 2 == 1),
        "away": x - below >= above - x,
        "zero": False,
        "up": not negative,
        "down": negative,
        "odd": low % 2 == 0,
    }[direction]
    return low + away


def rounded(fmt, x, negative, direction, saturate=True):
    """The code of a finite value."""
    width, _, _, largest, over = FORMATS[fmt]
    code = round_magnitude(fmt, x, negative, direction)
    if code > largest:
        back = direction in ("zero", "odd") or direction == ("up" if negative else "down")
        clamps = back if width >= 16 else saturate
        code = largest if over is None or clamps else over
    if "fnuz" in fmt and code in (0, 0x80):
        return code
    return code | (int(negative) << (width - 1))


def f64(x):
    return struct.unpack(">Q", struct.pack(">d", x))[0]


def value(code):
    return Fraction(struct.unpack(">d", struct.pack(">Q", code))[0])


def seams(fmt):
    """Codes of float64 at and around the values and middles of a format that are likely to go wrong."""
    _, m, bias, largest, _ = FORMATS[fmt]
    one = bias << m
    codes = {0, 1, 2, (1 << m) - 1, 1 << m, one, one + 1, largest - 1, largest, largest + 1}
    out = set()
    for code in sorted(code for code in codes if code >= 0):
        here = magnitude(fmt, code)
        middle = (here + magnitude(fmt, code + 1)) / 2
        for x in (here, middle):
            at = f64(float(x))
            assert value(at) == x
            # The neighbours in float64, and those in float32, which has 29 bits fewer.
            out |= {at, at + 1, at + (1 << 29)} | ({at - 1, at - (1 << 29)} if at else set())
    return sorted(out)


def main():
    lines = ["# Directions of rounding from float64; see README.md. Made by float_round.py.", "to\tf64\t" + "\t".join(DIRECTIONS)]
    for fmt, (width, *_) in FORMATS.items():
        digits = (width + 3) // 4
        for code in seams(fmt):
            for negative in (False, True):
                cells = []
                for direction in DIRECTIONS:
                    on, off = (f"{rounded(fmt, value(code), negative, direction, s):0{digits}x}" for s in (True, False))
                    cells.append(on if on == off else f"{on}/{off}")
                source = f"{code | int(negative) << 63:016x}".rstrip("0") or "0"
                lines.append("\t".join([fmt, source, *cells]))
    (HERE / "float_round.tsv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
