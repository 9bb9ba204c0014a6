#!/usr/bin/env python3
"""Makes onnx_types.tsv, onnx_linear_types.tsv, onnx_nodes.tsv and onnx_tensors.tsv of this folder with the package onnx (1.23.2).

    pip install onnx==1.23.2
    pip download --no-deps onnx==1.18.0 && unzip onnx-1.18.0-*.whl -d onnx-1.18.0
    python3 tests/data/import_onnx.py onnx-1.18.0

The folder is an unpacked older package, for the node tests of text, which later ones no longer have. The forms written here are
described in README.md beside this file.
"""
import pathlib
import random
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases

HERE = pathlib.Path(__file__).resolve().parent
NAMES = {code: name for name, code in TensorProto.DataType.items() if code}
ATTRIBUTES = ("saturate", "round_mode")
FIELDS = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data")


def write(name, lines):
    lines = list(lines)
    (HERE / name).write_text("\n".join(lines) + "\n")
    print(name, len(lines), "lines")


def types():
    yield "# The types and attributes of every version of the operators, of the schemas in onnx " + onnx.__version__
    yield "operator\tversion\tattributes\ttypes"
    for operator in ("Cast", "CastLike"):
        schemas = [s for s in onnx.defs.get_all_schemas_with_history() if s.name == operator and s.domain == ""]
        for schema in sorted(schemas, key=lambda s: s.since_version):
            sets = [c.allowed_type_strs for c in schema.type_constraints]
            assert all(set(s) == set(sets[0]) for s in sets), schema
            codes = sorted(TensorProto.DataType.Value(t[len("tensor("):-1].upper()) for t in sets[0])
            attributes = sorted(schema.attributes) or ["-"]
            yield "\t".join([operator, str(schema.since_version), " ".join(attributes),
                             " ".join(NAMES[c] for c in codes)])


def linear_types():
    yield "# The types and attributes of every version of the operators, of the schemas in onnx " + onnx.__version__
    yield "operator\tversion\tattributes\tinput\tscale\toutput"
    for operator in ("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"):
        schemas = [s for s in onnx.defs.get_all_schemas_with_history() if s.name == operator and s.domain == ""]
        for schema in sorted(schemas, key=lambda s: s.since_version):
            constraints = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
            columns = []
            for value in (schema.inputs[0], schema.inputs[1] if len(schema.inputs) > 1 else None, schema.outputs[0]):
                names = constraints.get(value.type_str, [value.type_str]) if value else []
                codes = sorted(TensorProto.DataType.Value(t[len("tensor("):-1].upper()) for t in names)
                columns.append(" ".join(NAMES[c] for c in codes) or "-")
            yield "\t".join([operator, str(schema.since_version), " ".join(sorted(schema.attributes)) or "-", *columns])


def raw(tensor):
    """The bytes of a tensor as raw_data has them, or its texts."""
    if tensor.data_type == TensorProto.STRING:
        return b"|".join(tensor.string_data).decode()
    array = numpy_helper.to_array(tensor)
    return helper.make_tensor("", tensor.data_type, tensor.dims, array, raw=True).raw_data.hex()


def case(name, node, opset, tensors):
    attributes = [f"{a.name}={helper.get_attribute_value(a)}" for a in node.attribute if a.name in ATTRIBUTES]
    attributes = [a.replace("b'", "").replace("'", "") for a in attributes]
    source, result = tensors[0], tensors[-1]
    n = int(np.prod(source.dims, dtype=np.int64))
    return "\t".join([name.removeprefix("test_"), node.op_type, str(opset), " ".join(attributes) or "-", str(n),
                      NAMES[source.data_type], raw(source), NAMES[result.data_type], raw(result)])


def nodes(old):
    yield f"# The node tests of Cast and CastLike in onnx {onnx.__version__}, and those with text in {old.name}"
    yield "case\toperator\topset\tattributes\telements\tfrom\tinput\tto\toutput"
    for operator in ("Cast", "CastLike"):
        for test in collect_testcases(operator):
            if len(test.model.graph.node) == 1 and test.model.graph.node[0].op_type == operator:
                (inputs, outputs), = test.data_sets
                opset = test.model.opset_import[0].version
                yield case(test.name, test.model.graph.node[0], opset, [*inputs, *outputs])
    for folder in sorted((old / "onnx/backend/test/data/node").glob("test_cast*STRING*")):
        model = onnx.load(folder / "model.onnx")
        if len(model.graph.node) != 1 or "expanded" in folder.name:
            continue
        tensors = []
        for part in ("input_0", "output_0"):
            tensor = TensorProto()
            tensor.ParseFromString((folder / "test_data_set_0" / f"{part}.pb").read_bytes())
            tensors.append(tensor)
        yield case(folder.name, model.graph.node[0], model.opset_import[0].version, tensors)


def tensors():
    yield f"# Tensors made by onnx.helper.make_tensor of onnx {onnx.__version__}: as raw_data, and in the field of their type"
    yield "type\telements\traw_data\tfield\tentries"
    rng = random.Random(1)
    for code, name in NAMES.items():
        for n in (0, 1, 3, 8):
            if name == "STRING":
                texts = ["", "ä", "1.5", "x" * 5, "nan", "-", "7", "8"][:n]
                made = helper.make_tensor("", code, [n], texts)
                yield "\t".join([name, str(n), "-", "string_data", " ".join(t.hex() or "-" for t in made.string_data) or "-"])
                continue
            dtype = np.dtype(helper.tensor_dtype_to_np_dtype(code))
            bits = 6 if "FLOAT6" in name else 4 if name.endswith("T4") or "E2M1" in name else 2 if name.endswith("T2") else 0
            while True:
                if bits:
                    codes = np.array([rng.getrandbits(bits) for _ in range(n)], np.uint8)
                    if name.startswith("INT"):
                        # ml_dtypes wants signed integers extended in their byte.
                        codes = np.where(codes >> (bits - 1), codes.astype(np.int16) - (1 << bits), codes).astype(np.int8)
                    array = codes.view(dtype)
                elif name == "BOOL":
                    array = np.array([rng.getrandbits(1) for _ in range(n)], bool)
                else:
                    array = np.frombuffer(rng.randbytes(n * dtype.itemsize), dtype)
                # NaNs lose their bits on the way, and make_tensor rounds the smallest float8_e8m0fnu up.
                if name == "BOOL" or bits or "INT" in name or not (np.isnan(array).any() or (array == 2.0**-127).any()):
                    break
            packed = helper.make_tensor("", code, [n], array, raw=True).raw_data
            made = helper.make_tensor("", code, [n], array)
            assert bytes.fromhex(raw(made)) == packed, name
            field = helper.tensor_dtype_to_field(code)
            entries = list(getattr(made, field))
            assert all(f == field or not getattr(made, f) for f in FIELDS)
            if field in ("float_data", "double_data"):
                # The bits of the entries.
                kind = np.dtype("f4" if field == "float_data" else "f8")
                entries = [np.array(x, kind).tobytes()[::-1].hex() for x in entries]
            yield "\t".join([name, str(n), packed.hex() or "-", field, " ".join(map(str, entries)) or "-"])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write("onnx_types.tsv", types())
    write("onnx_linear_types.tsv", linear_types())
    write("onnx_nodes.tsv", nodes(pathlib.Path(sys.argv[1])))
    write("onnx_tensors.tsv", tensors())


main()
