"""A library's namespace with the data type functions of `lanecast.array_api`. LANECAST_ARRAY_API names the namespace."""

import importlib
import os

from lanecast import array_api

xp = array_api.overlay(importlib.import_module(os.environ.get("LANECAST_ARRAY_API", "numpy")))


def __getattr__(name):
    return getattr(xp, name)


def __dir__():
    return dir(xp)
