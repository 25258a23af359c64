#!/usr/bin/env bash
# Tests `memscape fleet` with a debug build of the program: surveys that are stopped, split and harmed, questions against
# a corpus with known differences, an S3 store (moto) and Delta tables. Servers run in a network namespace that has only
# a loopback device. Reasons for skipped tests are appended to the file SKIPPED.
#
#   tests/fleet.sh SKIPPED [--all]    --all: also on a Ray cluster, one of whose nodes is killed
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
skipped=$1
source tests/environment.sh
source tests/program.sh

packages=(pytest==9.2.0 duckdb==2.0.1 fsspec==2026.9.0)
if ! environment fleet "${packages[@]}" pytest-xdist==3.8.0 s3fs==2026.9.0 'moto[server,s3]==5.2.5' deltalake==1.6.6; then
    echo "memscape fleet: no python3 with venv and PyPI" >>"$skipped"
    exit 0
fi
build_program
export MEMSCAPE_BINARY=$program PYTHONDONTWRITEBYTECODE=1

# Ends all processes with the tests. Ray listens on all addresses, so it runs nowhere else.
alone=(unshare --net --pid --fork --mount-proc --kill-child)
[[ $EUID == 0 ]] || alone=(unshare --user --map-root-user "${alone[@]:1}")
# in_namespace COMMAND...: runs a command in a namespace with loopback, or as it is if there are no namespaces.
in_namespace() {
    if "${alone[@]}" true 2>/dev/null; then
        "${alone[@]}" bash -c 'ip link set lo up && "$@"' bash "$@"
    else
        "$@"
    fi
}

report=$(mktemp)
trap 'rm -f "$report"' EXIT
status=0
in_namespace "$tools/fleet/bin/pytest" -q -p no:cacheprovider -rs -n 2 tests/fleet --ignore tests/fleet/test_ray.py \
    >"$report" 2>&1 || status=$?
if [[ ${2:-} == --all ]]; then
    if environment fleet-ray "${packages[@]}" ray==2.60.0; then
        in_namespace "$tools/fleet-ray/bin/pytest" -q -p no:cacheprovider -rs tests/fleet/test_ray.py >>"$report" 2>&1 || status=$?
    else
        echo "memscape fleet on Ray: PyPI is not reachable" >>"$skipped"
    fi
fi
cat "$report"
while read -r _ _ _ reason; do echo "a test of memscape fleet: $reason" >>"$skipped"; done < <(grep '^SKIPPED' "$report")
exit "$status"
