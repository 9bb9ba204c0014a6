"""Packages that a test needs and that are not there make it a skip, with the reason, unless LANECAST_REQUIRE names them."""

import importlib
import os
import types

import pytest

REQUIRED = os.environ.get("LANECAST_REQUIRE", "").split()


def package(name: str):
    """A package that all tests of a module need."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if name in REQUIRED:
            raise
        pytest.skip(f"{name} is not installed: {error}", allow_module_level=True)


class Missing(types.ModuleType):
    """A package that some tests of a module need, and that is not there."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise ImportError(f"{self.__name__} is not installed")


def optional(name: str):
    """A package that some tests of a module need: those that use it are skipped where it is missing."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return Missing(name)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    try:
        return (yield)
    except ImportError as error:
        if "ml_dtypes" in str(error) and "ml_dtypes" not in REQUIRED and isinstance(optional("ml_dtypes"), Missing):
            pytest.skip(f"ml_dtypes is not installed: {error}")
        raise
