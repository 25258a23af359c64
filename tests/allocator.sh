#!/usr/bin/env bash
# Compares the simulator and the recorder with a real PyTorch. Its allocator runs on a stub of the CUDA driver, so no GPU
# is needed. Called by `./run test --all`, and runs alone as well:
#
#   tests/allocator.sh [SKIPPED]   the reason for skipping is appended to the file SKIPPED
#
# MEMSCAPE_BINARY=PATH   program to test, instead of a debug build of this checkout
#
# PyTorch is downloaded once (tests/allocator/pytorch.sh). The recordings stay in target/tmp/allocator.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
skipped=${1:-/dev/stderr}
target=${CARGO_TARGET_DIR:-$PWD/target}
skip() {
    printf 'allocator of a real PyTorch: %s\n' "$*" >>"$skipped"
    exit 0
}

. tests/allocator/pytorch.sh
. tests/program.sh
pytorch 2.15.0 || skip "$torch_missing"
python=$torch_python

program=${MEMSCAPE_BINARY:-}
[[ -n $program ]] || build_program

recordings=$target/tmp/allocator
rm -rf "$recordings"
# Warnings about failed requests are left out: such requests are part of the workloads.
LD_LIBRARY_PATH=$torch_stub PYTHONPATH=$PWD/src/python PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 TORCH_CPP_LOG_LEVEL=ERROR \
    "$python" -W ignore:"Failed to initialize NumPy" tests/allocator/record.py "$recordings"
"$python" tests/allocator/check.py "$program" "$recordings"
