#!/usr/bin/env python3
"""Compares the profiles of lanecast with the systems they are named after.

    pip install -r tests/systems/requirements.txt       # and, for PyTorch, requirements-torch.txt
    python3 tests/systems/compare.py target/release/lanecast [numpy] [jax] [torch]

Every pair of dtypes that a system has is cast by it and by the program with the profile of the same name, and the codes are compared:
of sources of up to 16 bits all, of wider ones edges and 10^5 random ones. Each code that differs has to be what one of the
reasons in REASONS makes of it, and the pairs that differ have to be those of differences.tsv, with the same reasons. The reasons
are told in docs/semantics.md, section 9.1. Without names of systems all that can be imported are compared.

`--write` rewrites the rows of the systems compared. Some answers of the systems depend on the CPU or on the version: the list is that of
x86-64 and of the versions in requirements.txt, and a target followed by `?` differs only on some of those CPUs or in some of those versions.
"""

import argparse
import importlib.util
import os
import pathlib
import subprocess
import sys

# Warnings of overflow are what the sources are made for.
os.environ.setdefault("PYTHONWARNINGS", "ignore")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import ml_dtypes
import numpy as np

SPECIFICATION = pathlib.Path(__file__).parents[2] / "docs/semantics.md"
LIST = pathlib.Path(__file__).parent / "differences.tsv"
RANDOM = 100_000

INTS = "int2 int4 int8 int16 int32 int64 uint2 uint4 uint8 uint16 uint32 uint64".split()
# Exponent and mantissa bits.
WIDE = {"float16": (5, 10), "bfloat16": (8, 7), "float32": (8, 23), "float64": (11, 52)}
SMALL = (
    "float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu float8_e3m4 float8_e4m3 float8_e4m3b11fnuz "
    "float6_e2m3fn float6_e3m2fn float4_e2m1fn"
).split()
FINITE = ("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn")
COMPLEX = {"complex64": "float32", "complex128": "float64"}
NAMES = ["bool", *INTS, *WIDE, *COMPLEX, *SMALL]


def bits(name):
    if name == "bool":
        return 8
    if name in COMPLEX:
        return 2 * bits(COMPLEX[name])
    digits = name.removeprefix("bfloat").removeprefix("float").removeprefix("uint").removeprefix("int")
    return int(digits.split("_")[0])


def part(name):
    """The dtype of what is compared: a complex number is two."""
    return COMPLEX.get(name, name)


def lane(name):
    """The numpy dtype of the codes of a dtype, or of its parts."""
    return np.dtype(f"uint{max(8, bits(part(name)))}")


class Program:
    """The casts of the program."""

    def __init__(self, path, profile):
        self.command = [path, "raw", "--profile", profile, "--from-storage", "byte", "--to-storage", "byte"]

    def cast(self, codes, source, target):
        command = [*self.command, "--from", source, "--to", target]
        result = subprocess.run(command, input=codes.tobytes(), capture_output=True, check=True)
        return np.frombuffer(result.stdout, lane(target))


# ---- The systems -----------------------------------------------------------------------------------------------------


def signed_bytes(codes, name):
    """Codes of two and four bits with their sign in the whole byte, as ml_dtypes keeps them."""
    if name in ("int2", "int4"):
        unused = 8 - bits(name)
        return (codes << unused).view(np.int8) >> unused
    return codes


def numpy_dtype(name):
    return np.dtype(getattr(ml_dtypes, name) if hasattr(ml_dtypes, name) else name)


def codes_of(array, name):
    codes = np.ascontiguousarray(array).view(lane(name)).reshape(-1)
    return codes & ((1 << bits(name)) - 1) if bits(name) < 8 else codes


class NumPy:
    profile = "numpy"

    def has(self, name):
        return True

    def cast(self, codes, source, target):
        array = signed_bytes(codes, source).view(numpy_dtype(source))
        with np.errstate(all="ignore"):
            return codes_of(array.astype(numpy_dtype(target)), target)


class Jax:
    profile = "jax"

    def __init__(self):
        import jax

        jax.config.update("jax_enable_x64", True)
        self.jnp = jax.numpy

    def has(self, name):
        return name.partition("_")[0] != "float6"

    def cast(self, codes, source, target):
        array = signed_bytes(codes, source).view(numpy_dtype(source))
        return codes_of(np.asarray(self.jnp.asarray(array).astype(numpy_dtype(target))), target)


class Torch:
    profile = "torch"

    def __init__(self):
        import torch

        # Threads that wait for each other cost more than they bring.
        torch.set_num_threads(1)
        self.torch = torch

    def has(self, name):
        return bits(name) >= 8 and hasattr(self.torch, name)

    def cast(self, codes, source, target):
        whole = codes if source not in COMPLEX else codes.view(source)
        held = whole if source in COMPLEX else whole.view(f"int{bits(source)}")
        tensor = self.torch.from_numpy(held.copy()).view(getattr(self.torch, source)).to(getattr(self.torch, target))
        if target in COMPLEX:
            return tensor.numpy().view(lane(target))
        held = {8: self.torch.uint8, 16: self.torch.int16, 32: self.torch.int32, 64: self.torch.int64}[bits(target)]
        return tensor.view(held).numpy().view(lane(target))


SYSTEMS = {"numpy": NumPy, "jax": Jax, "torch": Torch}

# ---- Sources ---------------------------------------------------------------------------------------------------------


def float_codes(name, rng):
    """Ends and middles of every binade, and random numbers: half of them have few digits or few and one far behind, as what lies
    beside the middle of two neighbours in a narrower format has; half of their exponents are those of narrow formats."""
    exponent_bits, mantissa_bits = WIDE[name]
    width = bits(name)
    full = (1 << mantissa_bits) - 1
    half = 1 << (mantissa_bits - 1)
    mantissas = [0, 1, full, half, half - 1, half + 1, half >> 1, half | half >> 1, (half | half >> 1) - 1]
    exponents = np.arange(1 << exponent_bits, dtype=np.uint64)
    edges = (exponents[:, None] << np.uint64(mantissa_bits) | np.array(mantissas, np.uint64)).reshape(-1)
    edges = np.concatenate([edges, edges | np.uint64(1 << (width - 1))])
    random = rng.integers(0, 1 << 64, RANDOM, np.uint64) >> np.uint64(64 - width)
    digits = rng.integers(0, 26, RANDOM).clip(0, mantissa_bits).astype(np.uint64)
    low = np.uint64(full) >> digits
    tails = np.choose(rng.integers(0, 4, RANDOM), [low & np.uint64(0), np.uint64(1) & low, low, low - (low >> np.uint64(1))])
    few = random & ~low | tails
    numbers = np.where(rng.random(RANDOM) < 0.5, few, random)
    bias = (1 << (exponent_bits - 1)) - 1
    near = np.clip(bias + rng.integers(-150, 130, RANDOM), 0, 2 * bias).astype(np.uint64) << np.uint64(mantissa_bits)
    near |= numbers & np.uint64(full | 1 << (width - 1))
    numbers = np.where(rng.random(RANDOM) < 0.5, near, numbers)
    return np.concatenate([edges, numbers]).astype(lane(name))


def int_codes(name, rng):
    """Powers of two with what is near them, and random numbers of every length, half of them with few digits or few and one far
    behind."""
    width = bits(name)
    powers = [1 << k for k in range(width)]
    edges = {0} | {p + d for p in powers for d in (-2, -1, 0, 1, 2)} | {p + (p >> 1) + d for p in powers for d in (-1, 0, 1)}
    edges |= {-e for e in edges}
    edges = np.array([e % (1 << width) for e in sorted(edges)], np.uint64)
    random = rng.integers(0, 1 << 64, RANDOM, np.uint64)
    digits = rng.integers(1, 27, RANDOM).astype(np.uint64)
    low = np.uint64((1 << 64) - 1) >> digits
    tails = np.choose(rng.integers(0, 4, RANDOM), [low & np.uint64(0), low & np.uint64(1), low, low - (low >> np.uint64(1))])
    numbers = np.where(rng.random(RANDOM) < 0.5, random & ~low | tails, random)
    numbers >>= rng.integers(64 - width, 64, RANDOM).astype(np.uint64)
    numbers = np.where(rng.random(RANDOM) < 0.5, numbers, np.uint64(0) - numbers)
    return np.concatenate([edges, numbers]).astype(lane(name))


def sources(name):
    rng = np.random.default_rng(1)
    if name == "bool":
        return np.array([0, 1], np.uint8)
    if bits(name) <= 16:
        return np.arange(1 << bits(name)).astype(lane(name))
    if name in INTS:
        return int_codes(name, rng)
    if name in WIDE:
        return float_codes(name, rng)
    # The imaginary parts come from another part of the same list, a quarter of them zero.
    real = float_codes(COMPLEX[name], rng)
    imaginary = np.where(rng.random(len(real)) < 0.25, lane(name).type(0), rng.permutation(real))
    return np.stack([real, imaginary], axis=1).reshape(-1).copy()


# ---- Reasons ---------------------------------------------------------------------------------------------------------


class Pair:
    """What a system and the program made of the codes of a pair, and what else could have been made of them."""

    def __init__(self, program, source, target, codes, theirs):
        self.program, self.source, self.target = program, source, target
        self.codes, self.theirs = codes, theirs
        self.ours = program.cast(codes, source, target)
        self.cached = {}

    def through(self, *steps):
        """The codes if the cast goes by way of these dtypes; a step `flush` turns subnormal numbers into zeros."""
        if steps not in self.cached:
            name, codes = self.source, self.codes
            for step in (*steps, self.target):
                if step == "flush":
                    codes = flushed(codes, name)
                    continue
                if step in WIDE and name in COMPLEX and self.target in COMPLEX:
                    step = f"complex{2 * bits(step)}"
                codes = self.program.cast(codes, name, step)
                name = step
            self.cached[steps] = codes
        return self.cached[steps]

    def values(self, codes, name):
        """As float64, one of each part, NaN where there is one; 64-bit integers to the nearest."""
        if part(name) != name:
            return self.values(codes, part(name))
        return self.program.cast(codes, name, "float64").view(np.float64)

    def real(self):
        """The real parts of the source, one for each code compared."""
        values = self.values(self.codes, self.source)
        if self.source in COMPLEX and self.target not in COMPLEX:
            values = values[::2]
        return values


def flushed(codes, name):
    """Subnormal numbers become zeros of their sign."""
    exponent_bits, mantissa_bits = WIDE.get(part(name), (0, 0))
    if exponent_bits == 0:
        return codes
    width = bits(part(name))
    exponent = codes & lane(name).type(((1 << exponent_bits) - 1) << mantissa_bits)
    return np.where(exponent == 0, codes & lane(name).type(1 << (width - 1)), codes)


REASONS = {}


def reason(function):
    REASONS[function.__name__.replace("_", "-")] = function
    return function


@reason
def nan_code(pair):
    """Both are NaN."""
    if pair.target in INTS or pair.target == "bool":
        return np.zeros(len(pair.ours), bool)
    return np.isnan(pair.values(pair.ours, pair.target)) & np.isnan(pair.values(pair.theirs, pair.target))


@reason
def integer_range(pair):
    """A float that is not in the range of the integer."""
    if pair.target not in INTS or pair.source in INTS or pair.source == "bool":
        return np.zeros(len(pair.ours), bool)
    signed = pair.target[0] == "i"
    width = bits(pair.target) - signed
    real = np.trunc(pair.real())
    return ~((real < 2.0**width) & (real >= (-(2.0**width) if signed else 0)))


@reason
def largest_float(pair):
    """The largest values of float4_e2m1fn, 6 and -6, become the ends of an integer."""
    if pair.source != "float4_e2m1fn" or pair.target not in INTS:
        return np.zeros(len(pair.ours), bool)
    least, most = (1 << bits(pair.target)) // 2, (1 << bits(pair.target)) - 1
    ends = (most >> 1, least) if pair.target[0] == "i" else (most, 0)
    return (pair.real() == 6) & (pair.theirs == ends[0]) | (pair.real() == -6) & (pair.theirs == ends[1])


@reason
def nan_sign(pair):
    """NaN becomes the zero of the other sign in a format without NaN."""
    if pair.target not in FINITE:
        return np.zeros(len(pair.ours), bool)
    return np.isnan(pair.real()) & (pair.values(pair.ours, pair.target) == 0) & (pair.values(pair.theirs, pair.target) == 0)


@reason
def below_powers(pair):
    """All that is less than 2^-127 is NaN in float8_e8m0fnu."""
    if pair.target != "float8_e8m0fnu":
        return np.zeros(len(pair.ours), bool)
    real = pair.real()
    below = (real > 0) & (real < 2.0**-127)
    return below & (pair.theirs[below] == 0xFF).all()


@reason
def twice_rounded(pair):
    """Rounded to a float that is wider than the target first."""
    steps = [step for step in ("float32", "float64") if bits(part(pair.target)) < bits(step) <= bits(part(pair.source))]
    if pair.target in INTS or pair.target == "bool":
        steps = []
    return np.logical_or.reduce([np.zeros(len(pair.ours), bool), *(pair.theirs == pair.through(step) for step in steps)])


@reason
def subnormal(pair):
    """Subnormal numbers of the source, or on the way, count as zero."""
    ways = [("flush",), ("flush", "float32", "flush"), ("float32", "flush")]
    ways = [pair.through(*way) for way in ways]
    ways += [flushed(way, pair.target) for way in ways]
    return np.logical_or.reduce([pair.theirs == way for way in ways])


# ---- The comparison --------------------------------------------------------------------------------------------------


def compare(system, program, verbose):
    """Triples of source, target and reason, and the numbers of pairs, codes and differences that no reason explains."""
    found, pairs, total, unexplained = {}, 0, 0, 0
    names = [name for name in NAMES if system.has(name)]
    for source in names:
        codes = sources(source)
        for target in names:
            if target == source:
                continue
            try:
                theirs = system.cast(codes, source, target)
            except (TypeError, NotImplementedError, RuntimeError, ValueError) as refused:
                if verbose:
                    print(f"{system.profile}: {source} -> {target}: {refused}"[:160])
                continue
            pair = Pair(program, source, target, codes, theirs)
            pairs, total = pairs + 1, total + len(pair.ours)
            open_ = pair.ours != theirs
            counts = {}
            for name, explains in REASONS.items():
                if not open_.any():
                    break
                explained = open_ & explains(pair)
                if explained.any():
                    counts[name] = int(explained.sum())
                    found[source, target, name] = counts[name]
                open_ &= ~explained
            if open_.any():
                unexplained += int(open_.sum())
                counts["UNEXPLAINED"] = int(open_.sum())
                show(pair, open_)
            if counts:
                shown = ", ".join(f"{name} {count}" for name, count in counts.items())
                print(f"{system.profile}: {source} -> {target}: {shown} of {len(pair.ours)}")
    return found, pairs, total, unexplained


def show(pair, open_, most=6):
    places = np.flatnonzero(open_)
    for at in places[np.linspace(0, len(places) - 1, min(most, len(places))).astype(int)]:
        parts = 2 if pair.source in COMPLEX else 1
        place = at // 2 if pair.target in COMPLEX else at
        code = " ".join(f"{int(c):0{bits(part(pair.source)) // 4}X}" for c in pair.codes[place * parts : (place + 1) * parts])
        print(f"  {pair.source} {code} -> {pair.target}: {int(pair.theirs[at]):X}, the program {int(pair.ours[at]):X}")


def rows(found, profile):
    """The lines of the list: the targets of one source that differ for one reason stand in one."""
    lines = {}
    for source, target, name in found:
        lines.setdefault((name, source), []).append(target)
    for targets in lines.values():
        targets.sort(key=lambda target: NAMES.index(target.rstrip("?")))
    return [f"{profile}\t{name}\t{source}\t{' '.join(targets)}" for (name, source), targets in sorted(lines.items())]


def optional(kept, profile):
    """The triples of a system in the list, as `compare` has them, that differ on some CPUs only."""
    lines = [row.split("\t") for row in kept]
    return {(source, target[:-1], name) for system, name, source, targets in lines for target in targets.split() if system == profile and target[-1] == "?"}


def listed(kept, found, profile):
    """The rows of a system in the list, as `rows` has them for a CPU on which `found` differs."""
    absent = optional(kept, profile) - set(found)
    lines = [row.split("\t") for row in kept]
    triples = [(source, target.rstrip("?"), name) for system, name, source, targets in lines for target in targets.split() if system == profile]
    return rows([triple for triple in triples if triple not in absent], profile)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("systems", nargs="*", choices=[*SYSTEMS, []])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true")
    arguments = parser.parse_args()
    wanted = arguments.systems or [name for name in SYSTEMS if importlib.util.find_spec(name)]
    kept = LIST.read_text().splitlines() if LIST.exists() else []
    specification = SPECIFICATION.read_text()
    untold = [name for name in REASONS if f"\n| `{name}` |" not in specification]
    if untold:
        print(f"docs/semantics.md, section 9.1, does not tell of {', '.join(untold)}")
    wrong = bool(untold)
    for name in wanted:
        system = SYSTEMS[name]()
        found, pairs, total, unexplained = compare(system, Program(arguments.program, system.profile), arguments.verbose)
        new = rows(found, name)
        old = listed(kept, found, name)
        if arguments.write:
            some = optional(kept, name)
            all_found = [triple for triple in found if triple not in some] + [(source, f"{target}?", reason) for source, target, reason in some]
            kept = [line for line in kept if line.split("\t")[0] != name] + rows(all_found, name)
        else:
            for line in sorted(set(old) ^ set(new)):
                print(f"{'no longer true' if line in old else 'not in the list'}: {line}")
            wrong |= old != new
        wrong |= unexplained > 0
        print(f"{name}: {pairs} pairs, {total} codes, {sum(found.values())} differ for a reason, {unexplained} for none")
    if arguments.write:
        LIST.write_text("\n".join(kept) + "\n")
    sys.exit(wrong)


if __name__ == "__main__":
    main()
