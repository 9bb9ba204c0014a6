"""Packages that a test needs and that are not there make it a skip, with the reason, unless LANECAST_REQUIRE names them."""

import importlib
import os

import pytest

REQUIRED = os.environ.get("LANECAST_REQUIRE", "").split()


def package(name: str):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if name in REQUIRED:
            raise
        pytest.skip(f"{name} is not installed: {error}", allow_module_level=True)
