"""Makes torch.zip: small files that torch.save wrote. tests/torch.rs has their values.

    python torch_files.py torch.zip     (PyTorch 2.x on a little-endian machine)
"""

import io
import sys
import zipfile
from collections import OrderedDict

import torch

base = torch.arange(12, dtype=torch.float32).reshape(3, 4)
shared = torch.arange(4, dtype=torch.float32)


def all_kinds():
    return OrderedDict(
        plain=base,
        transposed=base.t(),
        sliced=base[1:, 1::2],
        shared=shared,
        tail=shared[2:],
        scalar=torch.tensor(2.5),
        empty=torch.empty(0, 3),
        parameter=torch.nn.Parameter(torch.tensor([1.0, -1.0])),
        bf16=torch.tensor([1.0, -2.0], dtype=torch.bfloat16),
        f16=torch.tensor([0.5, 4.0], dtype=torch.float16),
        f64=torch.tensor([0.1], dtype=torch.float64),
        i64=torch.tensor([-1, 2**40]),
        i8=torch.tensor([-8, 8], dtype=torch.int8),
        u8=torch.tensor([0, 255], dtype=torch.uint8),
        flags=torch.tensor([True, False]),
        fp8=torch.tensor([1.0, -1.5, 448.0]).to(torch.float8_e4m3fn),
        u16=torch.tensor([65535], dtype=torch.uint16),
    )


torch.manual_seed(1)
module = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.BatchNorm1d(1))
with torch.no_grad():
    module[0].weight.copy_(torch.tensor([[3.0, 4.0]]))
    module[0].bias.fill_(5.0)
optimizer = torch.optim.Adam(module.parameters())
module(torch.ones(2, 2)).sum().backward()
optimizer.step()
with torch.no_grad():
    module[0].weight.copy_(torch.tensor([[3.0, 4.0]]))
training = {
    "epoch": 3,
    "lr": 0.5,
    "state_dict": module.state_dict(),
    "optimizer": optimizer.state_dict(),
}
nested = {"encoder": {"w": base, "layers": {0: {"b": shared}}}, "decoder": {"w": base}, "note": "text"}

older = all_kinds()
files = {
    "kinds.pt": (all_kinds(), {}),
    "older.pt": (older, {"_use_new_zipfile_serialization": False}),
    "protocol4.pt": ({"plain": base}, {"pickle_protocol": 4}),
    "training.pth": (training, {}),
    "nested.bin": (nested, {}),
    "expanded.pt": ({"rows": torch.ones(1).expand(5)}, {}),
    "conjugate.pt": ({"c": torch.ones(2, dtype=torch.complex64).conj()}, {}),
    "sparse.pt": ({"s": torch.eye(2).to_sparse()}, {}),
    "whole_module.pt": (module, {}),
}
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as archive:
    for name, (value, options) in files.items():
        out = io.BytesIO()
        torch.save(value, out, **options)
        archive.writestr(zipfile.ZipInfo(name), out.getvalue(), zipfile.ZIP_DEFLATED)
