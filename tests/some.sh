#!/usr/bin/env bash
# Runs the tests whose name holds one of these, native and in browsers: `./run test NAME...` calls it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
unset NO_COLOR

# found WHICH... -- NAME...: how many tests of these targets have such a name.
found() { cargo test --quiet --locked --workspace --features gpu-test "$@" --list 2>/dev/null | grep -c ': test$' || true; }

all=$(found -- "$@") browser=$(found --test browser --test browsers -- "$@")
((all > 0)) || { printf 'test: no test has a name with %s\n' "$*" >&2; exit 1; }
# Where those in browsers are left out: without what they need they are ignored.
if ((all > browser)); then cargo test --quiet --locked --workspace --features gpu-test -- "$@"; fi
if ((browser > 0)); then
    ./run build
    flaky=$(mktemp)
    trap 'rm -f "$flaky"' EXIT
    tests/browser.sh "$flaky" "$@"
    while read -r name; do printf 'test: FLAKY %s\n' "$name"; done <"$flaky"
fi
