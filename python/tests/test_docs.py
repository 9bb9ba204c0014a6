"""What editors and `help` show: every public name has a description and an example, the examples run, and the stubs repeat the descriptions.

LANECAST_BLESS=1 rewrites the descriptions in `lanecast/_lanecast.pyi` from those of the module.
"""

import ast
import builtins
import doctest
import inspect
import os
import pathlib
import textwrap

import pytest
from conftest import Missing, optional

import lanecast
from lanecast import _lanecast, array_api, files, quantization

np = optional("numpy")
MODULES = [lanecast, lanecast.onnx, array_api, files, quantization]
STUBS = pathlib.Path(__file__).parents[1] / "lanecast/_lanecast.pyi"


def public():
    """The public functions and classes by their full names, and the modules."""
    found = {module.__name__: module for module in MODULES}
    for module in MODULES:
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value) and not isinstance(value, lanecast.DType):
                found.setdefault(f"{module.__name__}.{name}", value)
    return found


PUBLIC = public()


def test_all_are_found():
    assert len(PUBLIC) > 60
    for name in lanecast.__all__:
        assert hasattr(lanecast, name), name
    for module in MODULES:
        assert not set(dir(builtins)) & set(module.__all__), f"{module.__name__} hides a builtin"


@pytest.mark.parametrize("name", PUBLIC)
def test_description(name):
    value = PUBLIC[name]
    text = inspect.getdoc(value)
    assert text and len(text.splitlines()[0]) > 20, name
    if isinstance(value, type) and not issubclass(value, (BaseException, tuple)):
        for attribute, member in vars(value).items():
            if not attribute.startswith("_") and (callable(member) or inspect.isdatadescriptor(member) or isinstance(member, classmethod)):
                assert inspect.getdoc(getattr(value, attribute)), f"{name}.{attribute}"


def has_example(value):
    # What a caller reads from an exception is an example; the others are only caught.
    return value is lanecast.LossError or not (isinstance(value, type) and issubclass(value, BaseException))


@pytest.mark.parametrize("name", [name for name, value in PUBLIC.items() if has_example(value)])
def test_example(name, tmp_path, monkeypatch):
    if isinstance(np, Missing):
        pytest.skip("numpy is not installed")
    text = inspect.getdoc(PUBLIC[name])
    examples = doctest.DocTestParser().get_doctest(text, {"np": np, "lanecast": lanecast, "array_api": array_api}, name, None, 0)
    assert examples.examples, f"{name} has no example"
    monkeypatch.chdir(tmp_path)
    said = []
    failed, tried = doctest.DocTestRunner(verbose=False).run(examples, out=said.append)
    assert tried and not failed, "".join(said)


def described(tree, owner, prefix=""):
    """The definitions of the stubs that have a description, with it. Of overloads, the first has it."""
    seen = set()
    for node in tree.body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or node.name in seen:
            continue
        seen.add(node.name)
        value = vars(owner).get(node.name)
        # `help` of a special method says what Python does with it.
        if value is None or (node.name.startswith("__") and prefix):
            continue
        yield node, inspect.getdoc(getattr(owner, node.name))
        if isinstance(node, ast.ClassDef):
            yield from described(node, value, f"{prefix}{node.name}.")


@pytest.mark.skipif(not STUBS.exists(), reason="the stubs are not beside the tests")
def test_stubs_repeat_the_descriptions():
    source = STUBS.read_text()
    wrong = [(node, text) for node, text in described(ast.parse(source), _lanecast) if text and text != ast.get_docstring(node)]
    if os.environ.get("LANECAST_BLESS"):
        STUBS.write_text(blessed(source, wrong))
        return
    names = ", ".join(node.name for node, _ in wrong)
    assert not wrong, f"the stubs describe {names} otherwise than the module; LANECAST_BLESS=1 rewrites them"


def blessed(source, wrong):
    """The stubs with these descriptions."""
    lines = source.splitlines()
    for node, text in sorted(wrong, key=lambda item: -item[0].lineno):
        indent = " " * (node.col_offset + 4)
        raw = "r" if "\\" in text else ""
        body = textwrap.indent(f'{raw}"""{text}' + ('\n"""' if "\n" in text else '"""'), indent, lambda line: bool(line.strip())).splitlines()
        first, old = node.body[0], ast.get_docstring(node)
        if old is not None:
            lines[first.lineno - 1 : first.end_lineno] = body
        elif isinstance(node, ast.FunctionDef):
            # The body is `...`, at the end of the signature.
            assert lines[first.lineno - 1].endswith(": ..."), node.name
            lines[first.lineno - 1] = lines[first.lineno - 1].removesuffix(" ...")
            lines[first.lineno : first.lineno] = body
        else:
            at = first.lineno - 1 - len(getattr(first, "decorator_list", []))
            lines[at:at] = body
    return "\n".join(lines) + "\n"


def test_the_reference_is_short():
    """The names that a reader meets first."""
    functions = [name for name in lanecast.__all__ if inspect.isroutine(getattr(lanecast, name))]
    assert len(functions) <= 28, functions
