#!/usr/bin/env bash
# Runs the native tests whose names contain one of the arguments, or all. Uses cargo-nextest if it is installed, which
# runs the tests of all crates in parallel.
#
#   tests/native.sh [NAME...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# The same features everywhere, so that nothing is built twice.
build=(--locked --workspace --features gpu-test)
if command -v cargo-nextest >/dev/null 2>&1; then
    cargo nextest run "${build[@]}" --cargo-quiet --status-level slow --final-status-level flaky -- "$@"
else
    cargo test --quiet "${build[@]}" -- "$@"
fi
