#!/usr/bin/env bash
# Runs the browser tests: those that measure no time two at once, then the others alone. One that fails is run once more, by itself: if
# it passes then, it counts, and it is named as flaky in the file FLAKY; if it fails again, so does this. They are built with the same
# packages and features as the native tests, so that nothing is compiled twice.
#
#   tests/browser.sh FLAKY [NAME...]      NAME: only tests whose name holds it
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

flaky=${1:?say where the names of flaky tests go}
names=("${@:2}")
log=$(mktemp)
trap 'rm -f "$log" "$log.last"' EXIT

# What measures how long something takes, fills the memory of the machine, or saves files by names that others save by too.
alone=(large:: serving::time_ hostile::a_file_larger trouble::cancel_works interrupted::cancel_works lanes::eight_devices
    renderers::nothing_stays export:: saved:: single::)
# More than these is no bad luck.
most_flaky=6

# tests TARGET THREADS ARGUMENTS...: appends what they print to the log.
tests() {
    local target=$1 threads=$2
    shift 2
    cargo test --quiet --locked --workspace --features gpu-test --test "$target" -- --include-ignored --test-threads="$threads" "$@" 2>&1 | tee "$log.last"
    local status=${PIPESTATUS[0]}
    cat "$log.last" >>"$log"
    # What does not even reach its last line (it did not build, it was killed) is not tried again.
    grep -q '^test result: ' "$log.last" || { printf 'browser: %s did not run to its end\n' "$target" >&2; exit 1; }
    return "$status"
}

skips=()
for name in "${alone[@]}"; do skips+=(--skip "$name"); done
status=0
tests browser "$(($(nproc 2>/dev/null || echo 1) > 1 ? 2 : 1))" "${skips[@]}" "${names[@]+"${names[@]}"}" || status=1
if ((${#names[@]} == 0)); then
    tests browser 1 "${alone[@]}" || status=1
else
    # Those of the names that the first run has left out.
    mapfile -t left < <(cargo test --quiet --locked --workspace --features gpu-test --test browser -- --include-ignored --list "${names[@]}" 2>/dev/null |
        sed -n 's/: test$//p' | grep -F "$(printf '%s\n' "${alone[@]}")")
    if ((${#left[@]} > 0)); then tests browser 1 --exact "${left[@]}" || status=1; fi
fi
# Firefox and WebKit at once, each in one session of its own.
tests browsers 2 "${names[@]+"${names[@]}"}" || status=1
((status == 0)) && exit 0

mapfile -t failed < <(grep -aoE '[a-z0-9_]+(::[a-z0-9_]+)+ --- FAILED' "$log" | sed 's/ --- FAILED$//' | sort -u)
if ((${#failed[@]} == 0 || ${#failed[@]} > most_flaky)); then
    printf 'browser: %s tests failed: %s\n' "${#failed[@]}" "${failed[*]-}" >&2
    exit 1
fi
printf 'browser: once more: %s\n' "${failed[*]}"
for name in "${failed[@]}"; do
    for target in browser browsers; do
        if cargo test --quiet --locked --workspace --features gpu-test --test $target -- --include-ignored --list --exact "$name" 2>/dev/null | grep -q ': test$'; then
            tests $target 1 --exact "$name" || { printf 'browser: failed twice: %s\n' "$name" >&2; exit 1; }
            printf '%s\n' "$name" >>"$flaky"
        fi
    done
done
