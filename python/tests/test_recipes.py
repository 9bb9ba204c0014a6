"""Runs the programs in docs/recipes.md."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

RECIPES = pathlib.Path(__file__).parents[1] / "docs/recipes.md"
TEXT = RECIPES.read_text() if RECIPES.exists() else ""
PROGRAMS = dict(re.findall(r"^## (.*?)\n.*?^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL))
REQUIRED = os.environ.get("LANECAST_REQUIRE", "").split()


@pytest.mark.skipif(not TEXT, reason="the recipes are not a part of the sdist")
def test_all_are_found():
    assert len(PROGRAMS) == TEXT.count("\n## ") == TEXT.count("\n```python\n") >= 10


@pytest.mark.parametrize("name", PROGRAMS)
def test_recipe(name, tmp_path):
    program = PROGRAMS[name]
    packages = set(re.findall(r"^(?:import|from) (\w+)", program, re.MULTILINE))
    if re.search("float8|bfloat16|int4|float4", program):
        packages.add("ml_dtypes")
    for package in sorted(packages - {"lanecast"}):
        if importlib.util.find_spec(package) is None:
            assert package not in REQUIRED
            pytest.skip(f"{package} is not installed")
    (tmp_path / "recipe.py").write_text(program)
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "MPLCONFIGDIR": str(tmp_path)}
    ran = subprocess.run([sys.executable, "recipe.py"], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stderr
    if "savefig" in program:
        assert (tmp_path / "rounding.png").stat().st_size > 10_000
