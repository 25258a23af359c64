#!/usr/bin/env bash
# Runs all checks and tests, fast ones first, and stops at the first failure. With --all it goes on, and lists the failures
# at the end. Called by `./run test`, which installs the tools.
#
#   tests/check.sh         everyday checks and tests
#   tests/check.sh --ci    also the documentation of the crates, long tests, the recorder with a real PyTorch, the
#                          optimized page with its size limits, and a smoke test of it in Firefox and WebKit
#   tests/check.sh --all   also slow tests, fuzzing, exports opened in other tools, the allocator of a real PyTorch,
#                          JupyterLab, and all tests in Firefox and WebKit
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
unset NO_COLOR
extent=${1:-}
# Without incremental data, target/ is a third smaller, and a single build is as fast.
export CARGO_INCREMENTAL=0
# Property tests run the same cases each time, so that only a change can cause a failure. Set PROPTEST_RNG_SEED to try
# others.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED-20261121}

work=$(mktemp -d)
beside=
trap '[[ -z $beside ]] || kill -- "-$beside" 2>/dev/null || true; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
# One line per skipped step, with the reason.
skipped=$work/skipped
touch "$skipped" "$work/flaky" "$work/failed"

# gate NAME COMMAND...: runs a command and prints its duration. Exits if the command fails, except with --all.
gate() {
    local name=$1 started=$SECONDS
    shift
    printf '== %s\n' "$name"
    if ! "$@"; then
        printf 'check: FAILED at "%s": %s\n' "$name" "$*" | tee -a "$work/failed" >&2
        [[ $extent == --all ]] || exit 1
    fi
    printf '   %s s\n' $((SECONDS - started))
}

# python_gates: the gates that run beside the tests in Chromium.
python_gates() {
    gate "Python package" tests/python.sh "$skipped" $extent
    [[ -z $extent ]] || gate "recorder with a real PyTorch" tests/recorder.sh "$skipped" $extent
    gate "surveys of many snapshots" tests/fleet.sh "$skipped" $extent
}

have() { command -v "$1" >/dev/null 2>&1; }

snapshots=
for folder in "${MEMSCAPE_SNAPSHOTS:-}" ../shared/snapshots ../../shared/snapshots; do
    if [[ -z $snapshots && -n $folder && -f $folder/expected.json ]]; then snapshots=$(cd "$folder" && pwd); fi
done
if [[ -n $snapshots ]]; then
    export MEMSCAPE_SNAPSHOTS=$snapshots
else
    echo "real snapshots: no ../shared/snapshots and no MEMSCAPE_SNAPSHOTS" >>"$skipped"
fi
have tmux || echo "memscape tui in a terminal: no tmux" >>"$skipped"

wasm=(page simulator surveyor yaml)
if have clang; then wasm+=(sql); else echo "lints of the SQL part of the page: no clang" >>"$skipped"; fi

gate "format" cargo fmt --all --check
gate "format of the fuzz targets" cargo fmt --check --manifest-path tests/fuzz/Cargo.toml
gate "lints" cargo clippy --quiet --locked --workspace --all-targets --features gpu-test -- -D warnings
gate "lints of the page" cargo clippy --quiet --locked --target wasm32-unknown-unknown "${wasm[@]/#/-pmemscape-}" -- -D warnings
[[ -z $extent ]] || gate "documentation" env RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps --workspace --lib
gate "page, not optimized" ./run page
# After the page, which is embedded in the program. With Vulkan, to compare the GPU and CPU renderers if there is a
# driver.
gate "native tests" tests/native.sh ${extent:+--ci}
# Python tests use one core, and those in Chromium half of the others.
set -m # in its own process group, to be stopped with its children
python_gates >"$work/python.log" 2>&1 &
beside=$!
set +m
gate "page in Chromium, beside the tests in Python" env MEMSCAPE_DIST=target/dev-page tests/browser.sh "$work/flaky" ${extent:+--ci}
wait "$beside" || { cat "$work/python.log"; exit 1; }
beside=
cat "$work/python.log"

if [[ $extent == --all ]]; then
    gate "slow native tests" tests/native.sh --slow
    gate "exports in other tools" tests/readers.sh "$skipped"
    gate "allocator of a real PyTorch" tests/allocator.sh "$skipped"
    gate "fuzz targets, 15 seconds each" tests/fuzz/run.sh 15
    gate "optimized page and its size" ./run build
    have "${FIREFOX:-firefox-esr}" || have firefox || echo "Firefox: not installed, and not named in FIREFOX" >>"$skipped"
    { have WebKitWebDriver && have Xvfb; } || echo "WebKit: no WebKitWebDriver or no Xvfb" >>"$skipped"
    gate "optimized page in Firefox and WebKit" env MEMSCAPE_DIST=dist tests/browser.sh "$work/flaky" --optimized
    gate "wheel and sdist in a fresh clone" env MEMSCAPE_DIST="$PWD/dist" tests/wheel.sh "$skipped"
    gate "npm package, and extension in VS Code" tests/packages.sh "$skipped"
    gate "workflows, and the steps of a release" tests/release.sh "$skipped"
elif [[ $extent == --ci ]]; then
    gate "optimized page and its size" ./run build
    gate "optimized page, smoke test" env MEMSCAPE_DIST=dist tests/browser.sh "$work/flaky" --smoke
fi

while read -r reason; do printf 'check: SKIPPED %s\n' "$reason"; done <"$skipped"
while read -r name; do printf 'check: FLAKY %s failed once and passed on retry\n' "$name"; done <"$work/flaky"
if [[ -s $work/failed ]]; then cat "$work/failed" >&2; exit 1; fi
printf 'check: all passed in %s s; target/ has %s\n' "$SECONDS" "$(du -sh target | cut -f1)"
