#!/usr/bin/env bash
# Runs the tests whose name holds one of these, native and in browsers: `./run test NAME...` calls it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
unset NO_COLOR

# found TARGET NAME...: how many tests of a target have such a name.
found() { cargo test --quiet --locked --features gpu --test "$1" -- --include-ignored --list "${@:2}" 2>/dev/null | grep -c ': test$' || true; }

native=$(found native "$@") browser=$(($(found browser "$@") + $(found browsers "$@")))
((native + browser > 0)) || { printf 'test: no test has a name with %s\n' "$*" >&2; exit 1; }
if ((native > 0)); then cargo test --quiet --locked --features gpu --test native -- "$@"; fi
if ((browser > 0)); then
    ./run build
    flaky=$(mktemp)
    trap 'rm -f "$flaky"' EXIT
    tests/browser.sh "$flaky" "$@"
    while read -r name; do printf 'test: FLAKY %s\n' "$name"; done <"$flaky"
fi
