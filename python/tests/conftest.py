"""Skips tests whose packages are missing. A missing package named in LANECAST_REQUIRE is a failure instead."""

import importlib
import os
import tracemalloc
import types

import pytest

REQUIRED = os.environ.get("LANECAST_REQUIRE", "").split()


def package(name: str):
    """Imports a package that all tests of a module need."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if name in REQUIRED:
            raise
        pytest.skip(f"{name} is not installed: {error}", allow_module_level=True)


class Missing(types.ModuleType):
    """Stands in for a missing package that some tests of a module need."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise ImportError(f"{self.__name__} is not installed")


def optional(name: str):
    """Imports a package that some tests of a module need. If it is missing, tests that use it are skipped."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return Missing(name)


@pytest.fixture(autouse=True)
def memory_is_traced_anew():
    """A test that ends while it traces memory, because a package is missing, would leave its peak to the next one."""
    yield
    tracemalloc.stop()


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    try:
        return (yield)
    except ImportError as error:
        if "ml_dtypes" in str(error) and "ml_dtypes" not in REQUIRED and isinstance(optional("ml_dtypes"), Missing):
            pytest.skip(f"ml_dtypes is not installed: {error}")
        raise
