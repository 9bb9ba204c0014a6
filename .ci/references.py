"""The references of the C interface and of the Python package, rendered from their sources as pages of the book.

The C page has the items of `lanecast.h` with its comments; the Python page has the public names of the stubs and modules with their
docstrings. What has no comment or docstring is an error: the sources are complete, and a parser that misses an item must not go unnoticed.
"""

import ast
import re

HEADER = "capi/include/lanecast.h"
STUBS = "python/lanecast/_lanecast.pyi"
MODULES = {
    "lanecast.checkpoint": "python/lanecast/checkpoint.py",
    "lanecast.onnx": "python/lanecast/onnx.py",
    "lanecast.array_api": "python/lanecast/array_api.py",
}
# Where `lanecast` itself takes names from that are not in the stubs.
PARTS = [f"python/lanecast/{name}.py" for name in ("files", "quantization", "_errors", "_options", "_scopes")]


def comment(text):
    """The words of a comment of C, without stars."""
    lines = [line.strip().removeprefix("*").removeprefix(" ") for line in text.splitlines()]
    return "\n".join(lines).replace("Preconditions:\n", "**Preconditions.**").replace("**\n", "** ").strip()


def c_members(body):
    """(declaration, words) of each member of a struct."""
    found = re.findall(r"/\*\*(?!<)(.*?)\*/\s*([^/]*?;)", body, re.DOTALL)
    return [(re.sub(r"\s+", " ", declared), comment(words)) for words, declared in found]


def c_values(block):
    """(name, number, words) of each constant of a block of `#define`s. A comment is behind the number or above the line."""
    rows, above = [], None
    for match in re.finditer(r"/\*\*(?!<)(.*?)\*/|#define (\w+) +(\w+)(?: +/\*\*<(.*?)\*/)?", block, re.DOTALL):
        if match[2] is None:
            above = comment(match[1])
        else:
            rows.append((match[2], match[3], comment(match[4] or above or "")))
            above = None
    return rows


def cell(text):
    """A text in a cell of a table."""
    return re.sub(r"\s+", " ", text).replace("|", "\\|")


def table(heads, rows):
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    return "\n".join(lines + [f"| {' | '.join(cell(part) for part in row)} |" for row in rows])


def c_page(root):
    text = (root / HEADER).read_text()
    head = comment(re.match(r"/\*(.*?)\*/", text, re.DOTALL)[1])
    types, functions = [], []
    pattern = re.compile(
        r"/\*\*(?!<)(?P<words>(?:(?!\*/).)*)\*/\s*(?:"
        r"typedef struct \w+ \{(?P<body>.*?)\n\} (?P<struct>\w+);"
        r"|typedef (?P<alias>[^;{]*?)(?P<name>\w+);(?P<values>(?:\s*(?:/\*\*(?:(?!\*/).)*\*/\s*)?#define [^\n]*)*)"
        r"|typedef (?P<callback>[^;{]*\(\*(?P<called>\w+)\)[^;]*);"
        r"|LANECAST_API\s+(?P<function>[^;]*?)\s*LANECAST_NOEXCEPT;)",
        re.DOTALL,
    )
    for match in pattern.finditer(text):
        words = comment(match["words"])
        if match["struct"]:
            rows = [(f"`{declared}`", said) for declared, said in c_members(match["body"])]
            types.append(f"### `{match['struct']}`\n\n{words}\n\n{table(['member', 'meaning'], rows)}")
        elif match["callback"]:
            types.append(f"### `{match['called']}`\n\n{words}\n\n```c\ntypedef {match['callback']};\n```")
        elif match["name"]:
            rows = [(f"`{name}`", number.rstrip("u"), said) for name, number, said in c_values(match["values"])]
            listed = f"\n\n{table(['name', 'number', 'meaning'], rows)}" if rows else ""
            types.append(f"### `{match['name']}`\n\n{words}\n\n```c\ntypedef {match['alias']}{match['name']};\n```{listed}")
        else:
            declared = re.sub(r"\s*\n\s*", "\n    ", match["function"])
            declared = re.sub(r"\((?=.*\n)", "(\n    ", declared, count=1)
            name = re.search(r"(\w+)\(", declared)[1]
            functions.append(f"### `{name}`\n\n```c\n{declared};\n```\n\n{words}")
    missed = set(re.findall(r"^LANECAST_API[^;]*?\b(lanecast_\w+)\(", text, re.MULTILINE | re.DOTALL))
    missed |= set(re.findall(r"^typedef[^;{]*?\b(\w+)(?:;|\)\()", text, re.MULTILINE)) | set(re.findall(r"^\} (\w+);", text, re.MULTILINE))
    missed -= set(re.findall(r"^### `(\w+)`", "\n".join(types + functions), re.MULTILINE))
    if missed:
        raise SystemExit(f"{HEADER}: not rendered: {', '.join(sorted(missed))}")
    return "\n\n".join(["# The C interface", f"Rendered from `{HEADER}`.", head, "## Types", *types, "## Functions", *functions]) + "\n"


def documented(node, path):
    text = ast.get_docstring(node)
    if not text:
        raise SystemExit(f"{path}: {getattr(node, 'name', 'the module')} has no docstring")
    return text


def sections(text):
    """A docstring in the style of Google, with headings in bold, lists, and examples as code."""
    out, example = [], False
    kind = None
    for line in text.splitlines():
        if match := re.fullmatch(r"(Args|Raises|Returns|Attributes|Examples|Yields):", line):
            kind = match[1]
            if example:
                out.append("```")
            example = kind == "Examples"
            out += ["", f"**{kind}**", ""] + (["```python"] if example else [])
        elif example:
            out.append(line.removeprefix("    "))
        elif kind and (match := re.fullmatch(r"    (\S[^:]*): (.*)", line)):
            out.append(f"* `{match[1]}`: {match[2]}")
        elif re.match(r"    (>>>|\.\.\.) ", line):
            out.append(line)
        else:
            out.append("  " + line.strip() if kind and line.strip() else line.strip() if kind else line)
    while out and not out[-1].strip():
        out.pop()
    return "\n".join(out + (["```"] if example else []))


def signature(node):
    arguments = ast.unparse(node.args)
    returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    text = f"{node.name}({arguments}){returned}"
    if len(text) > 100:
        # A comma outside of all brackets ends an argument.
        parts, depth, part = [], 0, ""
        for sign in arguments:
            depth += (sign in "([{") - (sign in ")]}")
            if sign == "," and depth == 0:
                parts.append(part.strip())
                part = ""
            else:
                part += sign
        text = f"{node.name}(\n" + "".join(f"    {part},\n" for part in [*parts, part.strip()]) + f"){returned}"
    return f"```python\n{text}\n```"


def is_public(name):
    return not name.startswith("_")


def python_item(nodes, path):
    """A class or the overloads of a function."""
    node = nodes[-1]
    if not isinstance(node, ast.ClassDef):
        said = next((text for one in reversed(nodes) if (text := ast.get_docstring(one))), None) or documented(node, path)
        # The last of several overloads is the most general one.
        return [f"### `{node.name}`", signature(node), sections(said)]
    parts = [f"### `{node.name}`", sections(documented(node, path))]
    for member in node.body:
        if not isinstance(member, ast.FunctionDef) or not is_public(member.name) or not (said := ast.get_docstring(member)):
            continue
        is_property = any(isinstance(mark, ast.Name) and mark.id in ("property", "cached_property") for mark in member.decorator_list)
        parts += [f"#### `{node.name}.{member.name}`", "" if is_property else signature(member), sections(said)]
    return [part for part in parts if part]


def definitions(tree):
    found = {}
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found.setdefault(node.name, []).append(node)
    return found


def exported(tree):
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return ast.literal_eval(node.value)
    raise SystemExit("a module has no __all__")


def python_page(root):
    parse = lambda path: ast.parse((root / path).read_text())
    package = parse("python/lanecast/__init__.py")
    stubs = parse(STUBS)
    sources = {STUBS: definitions(stubs)} | {path: definitions(parse(path)) for path in PARTS}
    dtypes = [node.target.id for node in stubs.body if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "DType"]
    parts = ["# The Python package", "Rendered from the stubs and the docstrings of the package.", sections(documented(package, "the package"))]
    # A line `#: ...` above an assignment describes it.
    described = dict(map(reversed, re.findall(r"^#: (.*)\n(\w+) = ", (root / "python/lanecast/__init__.py").read_text(), re.MULTILINE)))
    # The options that many functions take come as `**options`: their values are literals.
    literals = [node for node in parse("python/lanecast/_options.py").body if isinstance(node, ast.Assign)]
    options = "\n".join(ast.unparse(node) for node in literals if is_public(getattr(node.targets[0], "id", "_")))
    parts += ["## lanecast", "Dtypes: " + ", ".join(f"`{name}`" for name in dtypes) + ".", f"Values of options:\n\n```python\n{options}\n```"]
    for name in exported(package):
        found = next(((path, nodes[name]) for path, nodes in sources.items() if name in nodes), None)
        if found:
            parts += python_item(found[1], found[0])
        elif name in described:
            parts += [f"### `{name}`", described[name]]
        elif name not in dtypes and is_public(name) and f"lanecast.{name}" not in MODULES:
            raise SystemExit(f"python/lanecast/__init__.py: {name} is defined in none of {', '.join(sources)}")
    for module, path in MODULES.items():
        tree = parse(path)
        parts += [f"## {module}", sections(documented(tree, path))]
        nodes = definitions(tree)
        for name in exported(tree):
            if name in nodes:
                parts += python_item(nodes[name], path)
    return "\n\n".join(parts) + "\n"


# The pages of the book, and the sources that a link to leads to the page instead.
PAGES = {"reference/c.md": ("The C interface", c_page, HEADER), "reference/python.md": ("The Python package", python_page, STUBS)}
