#!/usr/bin/env bash
# Every gate, fast ones first; the first that fails ends it. `./run test` installs what this needs and calls it, CI too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
unset NO_COLOR
# A third of the disk, and no slower for who builds once; who works at it calls cargo himself.
export CARGO_INCREMENTAL=0
# Random tests run the same cases each time: what fails here is the change. PROPTEST_RNG_SEED= explores; so do the fuzz targets.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED-20261121}

# gate NAME COMMAND...: runs it, says how long it took, stops where it fails.
gate() {
    local name=$1 started=$SECONDS
    shift
    printf '== %s\n' "$name"
    "$@" || { printf 'check: FAILED at "%s": %s\n' "$name" "$*" >&2; exit 1; }
    printf '   %s s\n' $((SECONDS - started))
}

skipped=()
snapshots=
for folder in "${MEMSCAPE_SNAPSHOTS:-}" ../shared/snapshots ../../shared/snapshots; do
    if [[ -z $snapshots && -n $folder && -f $folder/expected.json ]]; then snapshots=$(cd "$folder" && pwd); fi
done
if [[ -n $snapshots ]]; then
    export MEMSCAPE_SNAPSHOTS=$snapshots
else
    skipped+=("real snapshots: no ../shared/snapshots and no MEMSCAPE_SNAPSHOTS")
fi

have() { command -v "$1" >/dev/null 2>&1; }
have "${FIREFOX:-firefox-esr}" || have firefox || skipped+=("Firefox: not installed, and not named in FIREFOX")
have tmux || skipped+=("memscape tui in a terminal: no tmux")
{ have WebKitWebDriver && have Xvfb; } || skipped+=("WebKit: no WebKitWebDriver or no Xvfb")

gate "format" cargo fmt --all --check
gate "format of the fuzz targets" cargo fmt --check --manifest-path tests/fuzz/Cargo.toml
gate "layers" cargo test --quiet --locked --workspace --features gpu-test --test layers
gate "lints" cargo clippy --quiet --locked --workspace --all-targets -- -D warnings
# With Vulkan, so that native drawing (tests/render_gpu.rs and the benchmark `offscreen`) is checked as well.
gate "lints with gpu" cargo clippy --quiet --locked --all-targets --features gpu-test -- -D warnings
wasm=(page simulator surveyor yaml)
# SQLite is C.
if have clang; then wasm+=(sql); else skipped+=("lints of the part of the page for SQL: no clang"); fi
gate "lints of the page" cargo clippy --quiet --locked --target wasm32-unknown-unknown "${wasm[@]/#/-pmemscape-}" -- -D warnings
gate "documentation" env RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps --workspace --lib
# Once, with all features: where there is a Vulkan driver (lavapipe will do), the GPU is held against its CPU twin. That all of it builds
# without `gpu` as well, the lints have seen.
gate "tests" cargo test --quiet --locked --workspace --features gpu-test
unread=$(mktemp)
gate "exports in the tools they are made for" tests/readers.sh "$unread"
while read -r reason; do skipped+=("$reason"); done <"$unread"
rm -f "$unread"
gate "fuzz targets, 15 seconds each" tests/fuzz/run.sh 15
gate "page and its size" ./run build
# After the page: the program that is built for it has the page in it.
untested=$(mktemp)
gate "Python package" tests/python.sh "$untested"
while read -r reason; do skipped+=("$reason"); done <"$untested"
rm -f "$untested"
flaky=$(mktemp)
trap 'rm -f "$flaky"' EXIT
gate "browsers" tests/browser.sh "$flaky"

for reason in "${skipped[@]+"${skipped[@]}"}"; do printf 'check: SKIPPED %s\n' "$reason"; done
while read -r name; do printf 'check: FLAKY %s failed once and passed when it was run again\n' "$name"; done <"$flaky"
printf 'check: all gates passed in %s s; target/ holds %s\n' "$SECONDS" "$(du -sh target | cut -f1)"
