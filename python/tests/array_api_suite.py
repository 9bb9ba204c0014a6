"""Runs the data type tests of the array API's test suite on NumPy, PyTorch and JAX with the functions of `lanecast.array_api`.

    python array_api_suite.py [CHECKOUT]

CHECKOUT, or else the environment variable LANECAST_ARRAY_API_TESTS, is a checkout of https://github.com/data-apis/array-api-tests,
including its submodule. No package index has the suite. Install the packages in its requirements.txt first. PyTorch needs
array_api_compat, which completes its namespace. Libraries that are not installed are skipped.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

VERSION = "2025.12"
FILES = ["test_data_type_functions.py", "test_inspection_functions.py"]
NAMESPACES = {"numpy": ["numpy"], "jax.numpy": ["jax"], "array_api_compat.torch": ["array_api_compat", "torch"]}
FUNCTIONS = ["astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"]


def main(arguments: list[str]) -> int:
    checkout = arguments[0] if arguments else os.environ.get("LANECAST_ARRAY_API_TESTS", "")
    if not checkout:
        print("SKIPPED: the array API's test suite: LANECAST_ARRAY_API_TESTS is not set")
        return 0
    tests = Path(checkout).resolve() / "array_api_tests"
    commands = [[str(tests / name) for name in FILES]]
    if (tests / "test_signatures.py").exists():
        # Only these functions: the signatures of the library's own differ from the standard in places.
        commands.append([str(tests / "test_signatures.py"), "-k", " or ".join(f"[{name}]" for name in FUNCTIONS)])
    here = str(Path(__file__).resolve().parent)
    variables = {"ARRAY_API_TESTS_MODULE": "array_api_overlay", "ARRAY_API_TESTS_VERSION": VERSION, "JAX_PLATFORMS": "cpu"}
    environment = os.environ | variables | {"JAX_ENABLE_X64": "1", "PYTHONPATH": here}
    failed = 0
    for namespace, packages in NAMESPACES.items():
        missing = [name for name in ["pytest", "hypothesis", *packages] if importlib.util.find_spec(name) is None]
        if missing:
            print(f"SKIPPED: the array API's test suite on {namespace}: cannot import {', '.join(missing)}")
            continue
        print(f"the array API's test suite on {namespace}:", flush=True)
        for command in commands:
            run = [sys.executable, "-m", "pytest", "-q", "--disable-warnings", "-p", "no:cacheprovider", *command]
            run_in = environment | {"LANECAST_ARRAY_API": namespace}
            failed |= subprocess.run(run, cwd=tests.parent, env=run_in, check=False).returncode
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
