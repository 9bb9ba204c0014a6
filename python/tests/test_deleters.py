"""Memory of lanecast that other libraries free: by the garbage collector, in threads, after a fork, at exit, with the GIL and without.

Each test runs in a process of its own, which a fault would end.
"""

import os
import subprocess
import sys
import textwrap

import pytest
from conftest import package

package("numpy")

#: How an array of the library comes to have memory of lanecast.
MAKE = {
    "numpy": "import numpy as np; new = lambda: np.from_dlpack(lanecast.pack(np.ones((4, 4)), 'float32'))",
    "torch": "import numpy as np, torch; new = lambda: torch.from_dlpack(lanecast.pack(np.ones((4, 4)), 'float32'))",
    "jax": "import jax.numpy as jnp; x = jnp.ones((4, 4)); new = lambda: lanecast.astype(x, 'bfloat16')",
}

COMMON = """
import gc, os, sys, threading
import lanecast

class Node:
    pass

def cycle():
    node = Node()
    node.me, node.array = node, new()
    return node
"""


def run(code, *options, make):
    """Runs code in a new process, which must end well."""
    script = "\n".join([COMMON, make, textwrap.dedent(code)])
    environment = os.environ | {"JAX_PLATFORMS": "cpu"}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    command = [sys.executable, "-X", "faulthandler", *options, "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stderr[-3000:]}"
    return done.stdout


RUNNING = """
# Cycles, which only the garbage collector frees: in the middle of a call, or of the library's own work.
for _ in range(1000):
    cycle()
gc.set_threshold(1)
for _ in range(300):
    cycle()

# Threads.
gc.set_threshold(5)
def all_of(work):
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
all_of(lambda: [cycle() for _ in range(200)] and None)

# Arrays of the main thread, which others free.
arrays = [new() for _ in range(400)]
def free():
    for _ in range(50):
        arrays.pop()
        lanecast.parse_text(["1"], "int8")
all_of(free)
assert not arrays
gc.set_threshold(700)

# A fork. Both processes have the arrays.
if hasattr(os, "fork"):
    nodes = [cycle() for _ in range(20)]
    gc.collect()
    child = os.fork()
    nodes.clear()
    gc.collect()
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""

#: Arrays that are still there when the interpreter ends.
ENDING = """
import atexit
alive, sys.alive, local = [cycle() for _ in range(20)], cycle(), threading.local()
local.array = new()
atexit.register(lambda array: new(), new())
class Last:
    def __init__(self):
        self.array = new()
    def __del__(self):
        self.array = None
last = Last()
"""

#: And threads that still cast. PyTorch and JAX themselves do not survive this.
DAEMONS = """
gc.set_threshold(5)
started = threading.Barrier(5)
def work():
    started.wait()
    while True:
        cycle()
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
started.wait()
"""


@pytest.mark.parametrize("library", MAKE)
def test_arrays_are_freed(library):
    package(library)
    run(RUNNING, make=MAKE[library])


@pytest.mark.parametrize("library", MAKE)
def test_arrays_at_exit(library):
    package(library)
    run(ENDING + (DAEMONS if library == "numpy" else ""), make=MAKE[library])


# The deleter of an exported array, and its argument.
DELETER = """
import ctypes
import numpy as np

pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
rename = ctypes.pythonapi.PyCapsule_SetName
rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
USED = b"used_dltensor_versioned"
libc = ctypes.CDLL(None)

def exported():
    capsule = lanecast.pack(Source(), "float32").__dlpack__(max_version=(1, 3))
    pointer = pointer_of(capsule, b"dltensor_versioned")
    rename(capsule, USED)
    # The version, the context, the deleter.
    return ctypes.c_void_p.from_address(pointer + 16).value, pointer

class Source:
    '''Calls a deleter while lanecast imports it.'''
    def __init__(self, during=None):
        self.array, self.during = np.ones(100_000, np.float32), during
    def __dlpack__(self, **keywords):
        if self.during:
            self.during()
        return self.array.__dlpack__(**keywords)
    def __dlpack_device__(self):
        return (1, 0)
"""


def test_a_deleter_without_the_lock_during_a_call():
    # In development mode, Python's allocator checks that the thread has the lock.
    run(
        """
        address, pointer = exported()
        # A function of `CFUNCTYPE` is called without the lock.
        lanecast.astype(Source(lambda: ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)(pointer)), "int8")
        address, pointer = exported()
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)(pointer)
        address, pointer = exported()
        ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(address)(pointer)
        """,
        "-X",
        "dev",
        make=DELETER,
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="calls functions of the C library of Linux")
def test_a_deleter_in_a_thread_that_python_does_not_know():
    out = run(
        """
        import tracemalloc
        tracemalloc.start()
        exports = [exported() for _ in range(8)]
        before = tracemalloc.get_traced_memory()[0]
        for address, pointer in exports:
            thread = ctypes.c_ulong()
            assert libc.pthread_create(ctypes.byref(thread), None, ctypes.c_void_p(address), ctypes.c_void_p(pointer)) == 0
            assert libc.pthread_join(thread, None) == 0
        print(before - tracemalloc.get_traced_memory()[0])
        """,
        "-X",
        "dev",
        make=DELETER,
    )
    assert int(out) > 7 * 400_000


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="calls functions of the C library of Linux")
def test_a_deleter_after_the_interpreter():
    run(
        """
        address, pointer = exported()
        assert libc.__cxa_atexit(ctypes.c_void_p(address), ctypes.c_void_p(pointer), None) == 0
        """,
        make=DELETER,
    )
