#!/usr/bin/env bash
# Runs the tests whose names contain one of the arguments, native and in browsers. Called by `./run test NAME...`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
unset NO_COLOR

# count ARGUMENTS... -- NAME...: prints the number of matching tests in these targets.
count() { cargo test --quiet --locked --workspace --features gpu-test "$@" --list 2>/dev/null | grep -c ': test$' || true; }

all=$(count -- "$@") browser=$(count --test browser --test browsers -- "$@")
((all > 0)) || { printf 'test: no test has a name with %s\n' "$*" >&2; exit 1; }
if ((all > browser)); then tests/native.sh "$@"; fi
if ((browser > 0)); then
    ./run page
    flaky=$(mktemp)
    trap 'rm -f "$flaky"' EXIT
    MEMSCAPE_DIST=target/dev-page tests/browser.sh "$flaky" "$@"
    while read -r name; do printf 'test: FLAKY %s\n' "$name"; done <"$flaky"
fi
