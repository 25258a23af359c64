#!/usr/bin/env bash
# The Python package: its types, its style, and its tests with the program that is built here. What cannot be had here is skipped, and said
# so in the file named by the first argument.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
skipped=$1
tools=${MEMSCAPE_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/memscape-build}
venv=$tools/python
skip() { printf '%s\n' "$*" >>"$skipped"; }

# Everything pinned: what fails here is the change.
wanted="pytest==9.2.0 mypy==2.4.1 ruff==0.17.6 maturin==1.16.0 pandas==2.3.3 polars==1.35.2"
if [[ $(cat "$venv/.complete" 2>/dev/null) != "$wanted" ]]; then
    rm -rf "$venv"
    mkdir -p "${venv%/*}"
    # shellcheck disable=SC2086 # words are meant to be split
    { command -v python3 && python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check $wanted; } >/dev/null 2>&1 &&
        printf '%s' "$wanted" >"$venv/.complete" || true
fi
if [[ ! -f $venv/.complete ]]; then
    skip "the Python package: no python3 with venv and PyPI"
    exit 0
fi

"$venv/bin/ruff" check --quiet --no-cache
"$venv/bin/ruff" format --quiet --no-cache --check
"$venv/bin/mypy" --cache-dir "$tools/mypy" >/dev/null || "$venv/bin/mypy" --cache-dir "$tools/mypy"
CARGO_INCREMENTAL=${CARGO_INCREMENTAL:-0} cargo build --quiet --locked --workspace --features gpu-test --bin memscape
binary=${CARGO_TARGET_DIR:-$PWD/target}/debug/memscape

# Agents and notebooks: the official client of the Model Context Protocol, and JupyterLab in Chromium.
others=$tools/agents
wanted="pytest==9.2.0 anyio==4.16.0 mcp==2.3.0 jupyterlab==4.6.6 websocket-client==1.9.2"
if [[ $(cat "$others/.complete" 2>/dev/null) != "$wanted" ]]; then
    rm -rf "$others"
    # shellcheck disable=SC2086 # words are meant to be split
    { python3 -m venv "$others" && "$others/bin/pip" install --quiet --disable-pip-version-check $wanted; } >/dev/null 2>&1 &&
        printf '%s' "$wanted" >"$others/.complete" || true
fi

report=$(mktemp)
trap 'rm -f "$report"' EXIT
status=0
MEMSCAPE_BINARY=$binary PYTHONDONTWRITEBYTECODE=1 "$venv/bin/pytest" -W error -rs >"$report" 2>&1 || status=$?
if [[ -f $others/.complete ]]; then
    # Of its own warnings, and those of what it uses, it is the judge.
    MEMSCAPE_BINARY=$binary PYTHONDONTWRITEBYTECODE=1 \
        "$others/bin/pytest" -q -p no:cacheprovider -rs tests/agents >>"$report" 2>&1 || status=$?
else
    skip "memscape mcp and JupyterLab: PyPI is not reachable"
fi
cat "$report"
while read -r _ _ _ reason; do skip "a test of the Python package: $reason"; done < <(grep '^SKIPPED' "$report")
exit "$status"
