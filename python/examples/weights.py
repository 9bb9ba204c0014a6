"""Casts the weights of a small model to bfloat16 and 8-bit floats, and prints the losses."""

import json
import pathlib

import ml_dtypes  # noqa: F401  (the dtypes of the results)
import numpy as np

import lanecast

PATH = pathlib.Path(__file__).parents[2] / "examples/data/silero-vad-conv.safetensors"


def read(path: pathlib.Path) -> dict[str, np.ndarray]:
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    body = memoryview(data)[8 + size :]
    return {
        name: np.frombuffer(body[slice(*tensor["data_offsets"])], np.float32).reshape(tensor["shape"])
        for name, tensor in header.items()
        if name != "__metadata__"
    }


def main() -> None:
    weights = read(PATH)
    print(f"{len(weights)} tensors, {sum(w.nbytes for w in weights.values())} bytes, tier {lanecast.active_tier()}")
    for dtype in (lanecast.bfloat16, lanecast.float8_e4m3fn, lanecast.float8_e5m2):
        small = {name: lanecast.astype(w, dtype, profile="onnx") for name, w in weights.items()}
        size = sum(w.nbytes for w in small.values())
        worst = max(float(np.abs(small[name].astype(np.float32) - w).max()) for name, w in weights.items())
        lost = [lanecast.count_losses(w, dtype, profile="onnx") for w in weights.values()]
        clamped, zero = sum(r.saturated for r in lost), sum(r.underflowed_to_zero for r in lost)
        print(f"{dtype!s:14} {size:7} bytes, largest error {worst:.3g}, {clamped} values clamped, {zero} became zero")


if __name__ == "__main__":
    main()
