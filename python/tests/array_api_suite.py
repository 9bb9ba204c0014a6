"""Runs the data type tests of the array API's test suite on NumPy with the functions of `lanecast.array_api`.

    python array_api_suite.py [CHECKOUT]

CHECKOUT, or else the environment variable LANECAST_ARRAY_API_TESTS, is a checkout of https://github.com/data-apis/array-api-tests,
including its submodule. No package index has the suite. Install the packages in its requirements.txt first.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

FILES = ["test_data_type_functions.py", "test_inspection_functions.py"]
FUNCTIONS = ["astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"]


def main(arguments: list[str]) -> int:
    checkout = arguments[0] if arguments else os.environ.get("LANECAST_ARRAY_API_TESTS", "")
    if not checkout:
        print("SKIPPED: the array API's test suite: LANECAST_ARRAY_API_TESTS is not set")
        return 0
    tests = Path(checkout).resolve() / "array_api_tests"
    missing = [name for name in ("numpy", "pytest", "hypothesis") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"SKIPPED: the array API's test suite: cannot import {', '.join(missing)}")
        return 0
    commands = [[str(tests / name) for name in FILES]]
    if (tests / "test_signatures.py").exists():
        # Only these functions: the signatures of NumPy's own differ from the standard in places.
        commands.append([str(tests / "test_signatures.py"), "-k", " or ".join(f"[{name}]" for name in FUNCTIONS)])
    here = str(Path(__file__).resolve().parent)
    environment = os.environ | {"ARRAY_API_TESTS_MODULE": "array_api_overlay", "PYTHONPATH": here}
    for command in commands:
        run = [sys.executable, "-m", "pytest", "-q", "--disable-warnings", "-p", "no:cacheprovider", *command]
        status = subprocess.run(run, cwd=tests.parent, env=environment, check=False).returncode
        if status != 0:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
