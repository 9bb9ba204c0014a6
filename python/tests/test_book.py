"""Runs the Python programs of the book and of the README of the repository, each as a program of its own."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))] if (ROOT / "docs/SUMMARY.md").exists() else []
PROGRAMS = {
    f"{page.relative_to(ROOT)}-{number}": program
    for page in PAGES
    for number, program in enumerate(re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL), 1)
}
REQUIRED = os.environ.get("LANECAST_REQUIRE", "").split()


@pytest.mark.skipif(not PAGES, reason="the book is not a part of the sdist")
def test_all_are_found():
    pages = {name.rsplit("-", 1)[0] for name in PROGRAMS}
    assert {"README.md", "docs/guide/python.md", "docs/coming-from/numpy.md"} <= pages
    assert len(PROGRAMS) >= 8


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, tmp_path):
    program = PROGRAMS[name]
    packages = set(re.findall(r"^import (\w+)", program, re.MULTILINE))
    # Arrays of these dtypes need the package.
    if "numpy" in packages and re.search("float8|bfloat16|nvfp4", program):
        packages.add("ml_dtypes")
    for package in sorted(packages - {"lanecast"}):
        if importlib.util.find_spec(package) is None:
            assert package not in REQUIRED
            pytest.skip(f"{package} is not installed")
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
