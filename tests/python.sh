#!/usr/bin/env bash
# Checks style and types of the Python package, and runs its tests with a debug build of the program. Reasons for
# skipped tests are appended to the file SKIPPED.
#
#   tests/python.sh SKIPPED [--all]    --all: also in JupyterLab
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
skipped=$1
source tests/environment.sh
source tests/program.sh

if ! environment python pytest==9.2.0 mypy==2.4.1 ruff==0.17.6 maturin==1.16.0 pandas==2.3.3 polars==1.35.2; then
    echo "the Python package: no python3 with venv and PyPI" >>"$skipped"
    exit 0
fi
venv=$tools/python
"$venv/bin/ruff" check --quiet --no-cache
"$venv/bin/ruff" format --quiet --no-cache --check
"$venv/bin/mypy" --cache-dir "$tools/mypy" >/dev/null || "$venv/bin/mypy" --cache-dir "$tools/mypy"
build_program
export MEMSCAPE_BINARY=$program PYTHONDONTWRITEBYTECODE=1

report=$(mktemp)
trap 'rm -f "$report"' EXIT
status=0
"$venv/bin/pytest" -W error -rs >"$report" 2>&1 || status=$?
# Tests with the official MCP client, embedded pages in Chromium, and JupyterLab. Not with -W error, because these
# packages emit warnings themselves.
if environment agents pytest==9.2.0 anyio==4.16.0 mcp==2.3.0 ipython==9.18.1 websocket-client==1.9.2; then
    "$tools/agents/bin/pytest" -q -p no:cacheprovider -rs tests/agents --ignore tests/agents/test_jupyterlab.py >>"$report" 2>&1 || status=$?
else
    echo "memscape mcp: PyPI is not reachable" >>"$skipped"
fi
if [[ ${2:-} == --all ]]; then
    if environment jupyter pytest==9.2.0 jupyterlab==4.6.6 websocket-client==1.9.2; then
        "$tools/jupyter/bin/pytest" -q -p no:cacheprovider -rs tests/agents/test_jupyterlab.py >>"$report" 2>&1 || status=$?
    else
        echo "JupyterLab: PyPI is not reachable" >>"$skipped"
    fi
fi
cat "$report"
while read -r _ _ _ reason; do echo "a test of the Python package: $reason" >>"$skipped"; done < <(grep '^SKIPPED' "$report")
exit "$status"
