"""Compares all pairs with NumPy (and ml_dtypes), JAX and PyTorch, as tests/systems does."""

import importlib.util
import pathlib
import platform

import pytest
from conftest import package

import lanecast

ml_dtypes = package("ml_dtypes")
np = package("numpy")

COMPARE = pathlib.Path(__file__).parents[2] / "tests/systems/compare.py"


@pytest.fixture(scope="module")
def compare():
    if not COMPARE.exists():
        pytest.skip("the comparison is not a part of the sdist")
    spec = importlib.util.spec_from_file_location("compare", COMPARE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Package:
    """The casts of this package, where the comparison has those of the program."""

    def __init__(self, compare, profile):
        self.compare, self.profile = compare, profile

    def cast(self, codes, source, target):
        array = codes.view(self.compare.numpy_dtype(source))
        return self.compare.codes_of(lanecast.astype(array, target, profile=self.profile), target)


# The only differences are those of docs/semantics.md, section 9.1, each for the reason that is named there; the pairs that differ are
# those of tests/systems/differences.tsv.
@pytest.mark.parametrize("name", ["numpy", "jax", "torch"])
def test_all_pairs(compare, name, capsys):
    package(name)
    if platform.machine() != "x86_64":
        pytest.skip("the list of differences is that of x86-64")
    system = compare.SYSTEMS[name]()
    with np.errstate(all="ignore"):
        found, pairs, total, unexplained = compare.compare(system, Package(compare, None if name == "numpy" else name), False)
    assert unexplained == 0, capsys.readouterr().out
    assert pairs > 350 and total > 10**6
    assert compare.rows(found, name) == compare.listed(compare.LIST.read_text().splitlines(), found, name)
