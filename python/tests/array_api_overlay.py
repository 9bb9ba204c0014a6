"""NumPy's namespace, with its data type functions replaced by those of `lanecast.array_api`."""

import numpy

from lanecast import array_api

globals().update({name: value for name, value in vars(numpy).items() if not name.startswith("_")})
__array_api_version__ = numpy.__array_api_version__
globals().update({name: getattr(array_api, name) for name in array_api.__all__})
