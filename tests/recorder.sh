#!/usr/bin/env bash
# Tests the recorder with a real PyTorch. Its allocator runs on a stub of the CUDA driver, so no GPU is needed. Called by
# `./run test`, and runs alone as well:
#
#   tests/recorder.sh [SKIPPED] [--all] [NAME...]   the reason for skipping is appended to the file SKIPPED
#   tests/recorder.sh /dev/stderr signal oom        only tests whose names contain one of these
#
#   --all                  also with older versions of PyTorch
#   MEMSCAPE_BINARY=PATH   program to ask about snapshots, instead of a debug build of this checkout
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
skipped=${1:-/dev/stderr}
versions=(2.15.0)
shift $(($# > 0))
case ${1:-} in
    --all) versions+=(2.11.0 2.6.0) && shift ;;
    --ci) shift ;;
esac
names=$*
. tests/allocator/pytorch.sh

binary=${MEMSCAPE_BINARY:-}
if [[ -z $binary ]]; then
    CARGO_INCREMENTAL=${CARGO_INCREMENTAL:-0} cargo build --quiet --locked --workspace --features gpu-test --bin memscape
    binary=${CARGO_TARGET_DIR:-$PWD/target}/debug/memscape
fi

for version in "${versions[@]}"; do
    if ! pytorch "$version"; then
        printf 'recorder with PyTorch %s: %s\n' "$version" "$torch_missing" >>"$skipped"
        continue
    fi
    MEMSCAPE_BINARY=$binary LD_LIBRARY_PATH=$torch_stub PYTHONPATH=$PWD/src/python PYTHONDONTWRITEBYTECODE=1 \
        OMP_NUM_THREADS=1 TORCH_CPP_LOG_LEVEL=ERROR \
        "$torch_python" -W ignore:"Failed to initialize NumPy" -m pytest -p no:warnings tests/recorder_torch ${names:+-k "${names// / or }"}
done
