#!/usr/bin/env bash
# Writes the seeds of the fuzz targets anew, with our own generator: the smallest files that hold a bit of everything.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cargo build --quiet --locked --example generate

# seed TARGET NAME OPTIONS...
seed() {
    local file=tests/fuzz/corpus/$1/$2
    mkdir -p "${file%/*}"
    target/debug/examples/generate "$file" --layers 1 --hidden 64 --record-from-start "${@:3}" >/dev/null
}

seed pickle python2 --protocol 2 --events 6 --frames 1 --no-annotations --pending
seed pickle python4 --events 9 --frames 2 --oom
seed pickle cpp --style cpp --events 9 --frames 2 --expandable
seed containers two_devices --events 6 --frames 1 --devices 2 --no-time
for style in python cpp; do
    seed containers $style.gz --events 20 --frames 2 --style $style --pending --compile-contexts
    # Any bytes are a seed where bytes are only choices.
    mkdir -p tests/fuzz/corpus/open
    cp tests/fuzz/corpus/containers/$style.gz tests/fuzz/corpus/open/$style
done
