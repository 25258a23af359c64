#!/usr/bin/env bash
# Prints the costs in www/docs/recording.md as a table, measured with a real PyTorch on the stub of the CUDA driver. Takes 3 minutes.
#
#   tests/bench/recorder_overhead.sh [VERSION]    version of PyTorch, by default the newest of tests/recorder.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tests/allocator/pytorch.sh
pytorch "${1:-2.15.0}" || { printf 'PyTorch: %s\n' "$torch_missing" >&2; exit 1; }
LD_LIBRARY_PATH=$torch_stub PYTHONPATH=$PWD/src/python PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 TORCH_CPP_LOG_LEVEL=ERROR \
    exec "$torch_python" -W ignore:"Failed to initialize NumPy" tests/bench/recorder_overhead.py --markdown
