#!/usr/bin/env bash
# Makes cli/tests/common/onnx_proto.rs, the messages of onnx.proto as prost has them, for the tests. Needs Python with pip, and
# the registry of crates; no protoc.
#
#     cli/tests/generate_onnx_proto.sh
set -euo pipefail
version=1.23.2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$work" "onnx==$version"
python3 -m zipfile -e "$work"/onnx-*.whl "$work/onnx"
mkdir -p "$work/src"
cat > "$work/Cargo.toml" <<END
[package]
name = "generate"
version = "0.0.0"
edition = "2024"

[dependencies]
prost-build = { version = "0.14", default-features = false }
protox = "0.9"
END
cat > "$work/src/main.rs" <<'END'
fn main() {
    let set = protox::compile(["onnx.proto"], [std::env::args().nth(1).unwrap()]).unwrap();
    let mut config = prost_build::Config::new();
    config.out_dir(std::env::args().nth(2).unwrap()).disable_comments(["."]);
    config.compile_fds(set).unwrap();
}
END
(cd "$work" && CARGO_TARGET_DIR="$work/target" cargo run --quiet -- "$work/onnx/onnx" "$work")
{
    echo "// The messages of onnx.proto of onnx $version, made by cli/tests/generate_onnx_proto.sh."
    cat "$work/onnx.rs"
} > "$here/common/onnx_proto.rs"
