#!/usr/bin/env bash
# Compares the simulator and the recorder with a real PyTorch. Its allocator runs on a stub of the CUDA driver, so no GPU
# is needed. Called by `./run test --all`, and runs alone as well:
#
#   tests/allocator.sh [SKIPPED]   the reason for skipping is appended to the file SKIPPED
#
# MEMSCAPE_BINARY=PATH   program to test, instead of a debug build of this checkout
#
# PyTorch is downloaded once (540 MB) and kept in $MEMSCAPE_TOOLS/torch. The recordings stay in target/tmp/allocator.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
skipped=${1:-/dev/stderr}
tools=${MEMSCAPE_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/memscape-build}/torch
target=${CARGO_TARGET_DIR:-$PWD/target}
have() { command -v "$1" >/dev/null 2>&1; }
skip() {
    printf 'allocator of a real PyTorch: %s\n' "$*" >>"$skipped"
    exit 0
}

[[ $(uname -s) == Linux ]] || skip "its wheels have CUDA on Linux only"
for program in python3 cc readelf nm; do have "$program" || skip "no $program"; done

# PyTorch without CUDA's libraries, and the packages that it imports.
packages=(torch==2.15.0 typing_extensions==4.16.0 sympy==1.14.0 mpmath==1.4.1 networkx==3.6.1 jinja2==3.1.6
    markupsafe==3.0.4 filelock==4.3.1 fsspec==2026.9.0)
python=$tools/venv/bin/python
if [[ $(cat "$tools/venv/.complete" 2>/dev/null) != "${packages[*]}" ]]; then
    rm -rf "$tools"
    mkdir -p "$tools"
    python3 -m venv "$tools/venv" >/dev/null 2>&1 || skip "python3 has no venv"
    if ! "$python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps --only-binary=:all: "${packages[@]}" >/dev/null 2>&1; then
        rm -rf "$tools"
        skip "PyPI has no wheel of ${packages[0]} for this machine and Python, or is not reachable"
    fi
    printf '%s' "${packages[*]}" >"$tools/venv/.complete"
fi
compgen -G "$tools/venv/lib/python*/site-packages/torch/lib/libtorch_cuda.so" >/dev/null || skip "its wheel for this machine has no CUDA"

sources=$(cat tests/allocator/stub_driver.c tests/allocator/build_stub.py | cksum)
if [[ $(cat "$tools/stub/.complete" 2>/dev/null) != "$sources" ]]; then
    rm -rf "$tools/stub"
    "$python" tests/allocator/build_stub.py "$tools/stub"
    printf '%s' "$sources" >"$tools/stub/.complete"
fi

binary=${MEMSCAPE_BINARY:-}
if [[ -z $binary ]]; then
    CARGO_INCREMENTAL=${CARGO_INCREMENTAL:-0} cargo build --quiet --locked --workspace --features gpu-test --bin memscape
    binary=$target/debug/memscape
fi

recordings=$target/tmp/allocator
rm -rf "$recordings"
# Warnings about failed requests are left out: such requests are part of the workloads.
LD_LIBRARY_PATH=$tools/stub PYTHONPATH=$PWD/src/python PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 TORCH_CPP_LOG_LEVEL=ERROR \
    "$python" -W ignore:"Failed to initialize NumPy" tests/allocator/record.py "$recordings"
"$python" tests/allocator/check.py "$binary" "$recordings"
