"""Lists the public interface of `lanecast`, one item per line, from the JSON that rustdoc writes.

Usage: public_api.py LANECAST.json LANECAST_KERNELS.json [--counts]

`.ci/run public_api` makes both files and compares the list with `docs/public-api.txt`. What `lanecast` exports from `lanecast-kernels` is
listed as its own. `--counts` prints numbers of items instead. Exit code 3: the JSON has a format that this program does not read.
"""

import collections
import json
import sys

FORMATS = range(55, 58)
# Traits that every value of a public type gets or loses by its fields, and whose loss breaks users.
AUTO_TRAITS = ("Send", "Sync", "UnwindSafe", "RefUnwindSafe")


class Crate:
    def __init__(self, path):
        with open(path) as file:
            self.json = json.load(file)
        if self.json["format_version"] not in FORMATS:
            print(f"{path} has the format {self.json['format_version']} of rustdoc, not one of {FORMATS}", file=sys.stderr)
            sys.exit(3)
        self.index = self.json["index"]
        self.by_path = {tuple(s["path"]): i for i, s in self.json["paths"].items() if s["crate_id"] == 0}

    def __getitem__(self, item):
        return self.index.get(str(item))


def name_of(path):
    return path.rsplit("::", 1)[-1]


def show_args(args):
    if not args:
        return ""
    if "parenthesized" in args:
        inner = args["parenthesized"]
        output = f" -> {show(inner['output'])}" if inner["output"] else ""
        return f"({', '.join(map(show, inner['inputs']))}){output}"
    inner = args.get("angle_bracketed")
    if not inner:
        return ""
    parts = []
    for arg in inner["args"]:
        (kind, value), = arg.items() if isinstance(arg, dict) else [(arg, None)]
        parts.append({"lifetime": lambda: value, "type": lambda: show(value), "const": lambda: value["expr"]}.get(kind, lambda: "_")())
    for constraint in inner.get("constraints", []):
        (kind, value), = constraint["binding"].items()
        if kind == "equality":
            parts.append(f"{constraint['name']} = {show(value['type']) if 'type' in value else value['constant']['expr']}")
        else:
            parts.append(f"{constraint['name']}: {bounds(value)}")
    return f"<{', '.join(parts)}>" if parts else ""


def show_path(path):
    return name_of(path["path"]) + show_args(path.get("args"))


def bounds(all_bounds):
    shown = []
    for bound in all_bounds:
        if "trait_bound" in bound:
            inner = bound["trait_bound"]
            mark = "?" if inner["modifier"] == "maybe" else ""
            shown.append(mark + binder(inner["generic_params"]) + show_path(inner["trait"]))
        elif "outlives" in bound:
            shown.append(bound["outlives"])
        else:
            shown.append("use<..>")
    return " + ".join(shown)


def binder(params):
    return f"for<{', '.join(p['name'] for p in params)}> " if params else ""


def show(kind):
    if kind == "infer":
        return "_"
    (what, value), = kind.items()
    match what:
        case "primitive" | "generic":
            return value
        case "resolved_path":
            return show_path(value)
        case "borrowed_ref":
            lifetime = f"{value['lifetime']} " if value["lifetime"] else ""
            return f"&{lifetime}{'mut ' if value['is_mutable'] else ''}{show(value['type'])}"
        case "raw_pointer":
            return f"*{'mut' if value['is_mutable'] else 'const'} {show(value['type'])}"
        case "slice":
            return f"[{show(value)}]"
        case "array":
            return f"[{show(value['type'])}; {value['len']}]"
        case "tuple":
            return f"({', '.join(map(show, value))}{',' if len(value) == 1 else ''})"
        case "impl_trait":
            return f"impl {bounds(value)}"
        case "dyn_trait":
            traits = [binder(t["generic_params"]) + show_path(t["trait"]) for t in value["traits"]]
            return "dyn " + " + ".join(traits + ([value["lifetime"]] if value["lifetime"] else []))
        case "function_pointer":
            return binder(value["generic_params"]) + qualifiers(value["header"]) + "fn" + signature(value["sig"], False)
        case "qualified_path":
            base = show(value["self_type"])
            if value["trait"] and value["trait"]["path"]:
                base = f"<{base} as {show_path(value['trait'])}>"
            return f"{base}::{value['name']}{show_args(value.get('args'))}"
    return what


def qualifiers(header):
    words = [word for word in ("const", "async", "unsafe") if header[f"is_{word}"]]
    abi = header["abi"]
    if abi != "Rust":
        words.append(f'extern "{next(iter(abi)) if isinstance(abi, dict) else abi}"')
    return "".join(f"{word} " for word in words)


def signature(sig, named=True):
    inputs = []
    for name, kind in sig["inputs"]:
        shown = show(kind)
        if name == "self":
            inputs.append({"Self": "self", "&Self": "&self", "&mut Self": "&mut self"}.get(shown, f"self: {shown}"))
        else:
            inputs.append(f"{name}: {shown}" if named else shown)
    output = f" -> {show(sig['output'])}" if sig["output"] else ""
    return f"({', '.join(inputs)}){output}"


def generics(of):
    """The parameters, and the where clause."""
    params = []
    for param in of["params"]:
        (kind, value), = param["kind"].items()
        if kind == "lifetime":
            outlives = value["outlives"]
            params.append(param["name"] + (f": {' + '.join(outlives)}" if outlives else ""))
        elif kind == "type":
            if not value["is_synthetic"]:
                shown = bounds(value["bounds"])
                params.append(param["name"] + (f": {shown}" if shown else ""))
        else:
            params.append(f"const {param['name']}: {show(value['type'])}")
    where = []
    for predicate in of["where_predicates"]:
        (kind, value), = predicate.items()
        if kind == "bound_predicate":
            where.append(f"{binder(value['generic_params'])}{show(value['type'])}: {bounds(value['bounds'])}")
        elif kind == "lifetime_predicate":
            where.append(f"{value['lifetime']}: {' + '.join(value['outlives'])}")
    return f"<{', '.join(params)}>" if params else "", f" where {', '.join(where)}" if where else ""


def function(path, inner):
    params, where = generics(inner["generics"])
    return f"{qualifiers(inner['header'])}fn {path}{params}{signature(inner['sig'])}{where}"


def attributes(item):
    words = []
    for attr in item["attrs"]:
        text = attr if isinstance(attr, str) else attr if isinstance(attr, dict) else ""
        if text == "non_exhaustive":
            words.append("#[non_exhaustive] ")
        elif isinstance(text, dict) and "must_use" in text:
            words.append("#[must_use] ")
    if item["deprecation"]:
        words.append("#[deprecated] ")
    return "".join(words)


def hidden(item):
    return any("doc(hidden)" in (attr if isinstance(attr, str) else json.dumps(attr)) for attr in item["attrs"])


class List:
    def __init__(self, crate, kernels):
        self.crates = {"lanecast": crate, "lanecast_kernels": kernels}
        self.lines = set()
        self.counts = collections.Counter()
        self.seen = set()

    def resolve(self, crate, item):
        """The crate and the item that an identifier stands for; the item is None outside of both crates."""
        if crate[item] is not None:
            return crate, crate[item]
        path = crate.json["paths"].get(str(item), {}).get("path", [None])
        other = self.crates.get(path[0])
        found = other.by_path.get(tuple(path)) if other else None
        return (other, other[found]) if found else (crate, None)

    def add(self, kind, line):
        if line not in self.lines:
            self.lines.add(line)
            self.counts[kind] += 1

    def module(self, crate, item, path):
        for child in item["inner"]["module"]["items"]:
            self.item(crate, crate[child], path)

    def item(self, crate, item, path, rename=None):
        if item is None:
            return
        (kind, inner), = item["inner"].items()
        if kind == "use":
            return self.use(crate, inner, path)
        if kind == "impl" or item["visibility"] not in ("public", "default"):
            return
        name = f"{path}::{rename or item['name']}"
        if (name, kind) in self.seen:
            return
        self.seen.add((name, kind))
        head = attributes(item)
        match kind:
            case "module":
                self.add("modules", f"mod {name}")
                self.module(crate, item, name)
            case "function":
                self.add("functions", head + function(name, inner))
            case "constant" | "static":
                self.add("constants", f"{kind.replace('constant', 'const')} {name}: {show(inner['type'])}")
            case "type_alias":
                self.add("types", f"type {name} = {show(inner['type'])}")
            case "macro" | "proc_macro":
                self.add("macros", f"macro {name}")
            case "struct" | "enum" | "union" | "trait":
                getattr(self, kind.replace("union", "struct"))(crate, inner, name, head)

    def use(self, crate, inner, path):
        found, item = self.resolve(crate, inner["id"]) if inner["id"] is not None else (crate, None)
        if inner["is_glob"]:
            if item is not None and "module" in item["inner"]:
                self.module(found, item, path)
            elif item is not None and "enum" in item["inner"]:
                self.add("exports", f"use {path}::{item['name']}::*")
        elif item is None:
            # Of a crate that is a public dependency.
            self.add("exports", f"use {inner['source']} as {path}::{inner['name']}")
        elif not (path.count("::") == 0 and found[found.json["root"]] is item):
            self.item(found, item, path, inner["name"])

    def fields(self, crate, ids, name, mark="pub "):
        for field in ids:
            field = crate[field] if field is not None else None
            if field is not None and field["visibility"] in ("public", "default") and not hidden(field):
                self.add("fields", f"field {name}.{field['name']}: {show(field['inner']['struct_field'])}")

    def struct(self, crate, inner, name, head):
        params, where = generics(inner["generics"])
        self.add("types", f"{head}struct {name}{params}{where}")
        if name.endswith("Plan"):
            self.counts["plans"] += 1
        kind = inner["kind"]
        if isinstance(kind, dict):
            self.fields(crate, kind["plain"]["fields"] if "plain" in kind else kind["tuple"], name)
        self.impls(crate, inner["impls"], name)

    def enum(self, crate, inner, name, head):
        params, where = generics(inner["generics"])
        self.add("types", f"{head}enum {name}{params}{where}")
        for variant in inner["variants"]:
            variant = crate[variant]
            if hidden(variant):
                continue
            of = f"{name}::{variant['name']}"
            self.add("variants", f"{attributes(variant)}variant {of}")
            kind = variant["inner"]["variant"]["kind"]
            if isinstance(kind, dict):
                self.fields(crate, kind["struct"]["fields"] if "struct" in kind else kind["tuple"], of)
        self.impls(crate, inner["impls"], name)

    def trait(self, crate, inner, name, head):
        params, where = generics(inner["generics"])
        supers = bounds(inner["bounds"])
        unsafe = "unsafe " if inner["is_unsafe"] else ""
        self.add("types", f"{head}{unsafe}trait {name}{params}{': ' + supers if supers else ''}{where}")
        for member in inner["items"]:
            self.member(crate, crate[member], name, "trait methods")

    def member(self, crate, item, name, kind):
        if item is None or hidden(item):
            return
        (what, inner), = item["inner"].items()
        of, head = f"{name}::{item['name']}", attributes(item)
        if what == "function":
            provided = " { .. }" if kind == "trait methods" and inner["has_body"] else ""
            self.add(kind, head + function(of, inner) + provided)
        elif what == "assoc_const":
            self.add("constants", f"const {of}: {show(inner['type'])}")
        elif what == "assoc_type":
            shown = bounds(inner["bounds"])
            self.add("associated types", f"type {of}{': ' + shown if shown else ''}")

    def impls(self, crate, ids, name):
        for impl in ids:
            impl = crate[impl]
            inner = impl["inner"]["impl"]
            if hidden(impl) or inner["blanket_impl"] is not None:
                continue
            if inner["trait"] is None:
                for member in inner["items"]:
                    member = crate[member]
                    if member is not None and member["visibility"] == "public":
                        self.member(crate, member, name, "methods")
                continue
            trait = show_path(inner["trait"])
            if inner["is_synthetic"] and trait not in AUTO_TRAITS or trait.startswith("Structural"):
                continue
            params, where = generics(inner["generics"])
            no = "!" if inner["is_negative"] else ""
            target = show(inner["for"])
            self.add("implementations", f"impl{params} {no}{trait} for {name.rsplit('::', 1)[0]}::{target.lstrip('&')}{where}"
                     if not target.startswith("&") else f"impl{params} {no}{trait} for {target} ({name}){where}")


def main():
    crate, kernels = Crate(sys.argv[1]), Crate(sys.argv[2])
    listed = List(crate, kernels)
    listed.module(crate, crate[crate.json["root"]], "lanecast")
    if "--counts" in sys.argv:
        for kind, count in sorted(listed.counts.items()):
            print(f"{count:6} {kind}")
        return

    def key(line):
        """By path: what belongs to a type follows it."""
        start = line.find("lanecast::")
        return (line[start:] if start >= 0 else line, line)

    implementations = sorted(line for line in listed.lines if line.startswith("impl"))
    others = sorted((line for line in listed.lines if not line.startswith("impl")), key=key)
    print("\n".join(others + implementations))


main()
