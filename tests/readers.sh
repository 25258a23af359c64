#!/usr/bin/env bash
# Opens exports in the tools they are made for, and compares what those report. Tools that cannot be installed are
# skipped, with a line in the file named by the first argument.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
skipped=$1
source tests/program.sh
tools=${MEMSCAPE_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/memscape-build}/readers
mkdir -p "$tools"
have() { command -v "$1" >/dev/null 2>&1; }
skip() { printf '%s\n' "$*" >>"$skipped"; }

if have npm; then
    if [[ ! -f $tools/node_modules/.complete ]]; then
        npm install --silent --no-save --prefix "$tools" speedscope@1.25.0 @firefox-devtools/profiler-cli@0.10.0 node@24 >/dev/null 2>&1 &&
            touch "$tools/node_modules/.complete" || true
    fi
fi
[[ -f $tools/node_modules/.complete ]] || skip "speedscope and the Firefox Profiler as readers of exports: npm could not install them"

if have python3; then
    if [[ ! -f $tools/venv/.complete ]]; then
        python3 -m venv "$tools/venv" >/dev/null 2>&1 &&
            "$tools/venv/bin/pip" install --quiet --disable-pip-version-check jsonschema==4.26.0 duckdb==1.4.4 >/dev/null 2>&1 &&
            touch "$tools/venv/.complete" || true
    fi
fi
if [[ ! -f $tools/venv/.complete ]]; then
    skip "readers of exports: no python3 with venv and PyPI to drive them"
    exit 0
fi

# PyTorch's own viewer, extracted from a wheel of any platform. Nothing else of the wheel is unpacked or installed.
if [[ ! -f $tools/torch/_memory_viz.py ]]; then
    wheel=$(mktemp -d)
    "$tools/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --dest "$wheel" --only-binary=:all: --python-version 3.11 \
        --platform macosx_14_0_arm64 --platform macosx_11_0_arm64 torch==2.15.0 >/dev/null 2>&1 &&
        python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extract("torch/cuda/_memory_viz.py", sys.argv[2])' "$wheel"/*.whl "$wheel" &&
        mkdir -p "$tools/torch" && mv "$wheel/torch/cuda/_memory_viz.py" "$tools/torch/" || true
    rm -rf "$wheel"
fi
[[ -f $tools/torch/_memory_viz.py ]] || skip "PyTorch's _memory_viz.py as reader of smaller snapshots: PyPI has no torch 2.15.0 to take it from"

pprof=$(ls -d /usr/lib/go-*/pkg/tool/*/pprof 2>/dev/null | tail -1 || true)
if [[ -z $pprof ]] && have apt-get; then
    as_root=$([[ $(id -u) == 0 ]] || echo sudo)
    { $as_root apt-get update -qq && $as_root apt-get install -qq -y --no-install-recommends golang-1.19-go; } >/dev/null 2>&1 || true
    pprof=$(ls -d /usr/lib/go-*/pkg/tool/*/pprof 2>/dev/null | tail -1 || true)
fi
if ! have valgrind && have apt-get; then
    as_root=$([[ $(id -u) == 0 ]] || echo sudo)
    { $as_root apt-get update -qq && $as_root apt-get install -qq -y --no-install-recommends valgrind; } >/dev/null 2>&1 || true
fi
ls /usr/lib*/valgrind/dh_view.html >/dev/null 2>&1 || skip "DHAT's viewer as reader of exports: no Debian package valgrind"
[[ -n $pprof ]] || skip "pprof as reader of exports: no Debian package golang-1.19-go"

build_program
PPROF=$pprof READERS=$tools "$tools/venv/bin/python" tests/readers.py "${CARGO_TARGET_DIR:-target}"
