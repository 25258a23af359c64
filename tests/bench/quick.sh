#!/usr/bin/env bash
# Compares this checkout's build with that of an earlier commit: builds the earlier one, unless target/measure/COMMIT has
# it, and runs the benchmark `beside`. The page in dist/ must be up to date.
#
#   tests/bench/quick.sh                    the last landed commit: HEAD, or HEAD~1 if no tracked file differs from HEAD
#   tests/bench/quick.sh --against COMMIT   this commit
#   tests/bench/quick.sh --smallest         with the smallest file only, as a trial
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

usage() { echo "usage: ./run measure --quick [--against COMMIT] [--smallest]" >&2; exit 2; }

against='' options=()
while (($# > 0)); do
    case $1 in
        --against) against=${2:?$(usage)}; shift 2 ;;
        --smallest) options+=("$1"); shift ;;
        *) usage ;;
    esac
done

is_changed=$(git status --porcelain --untracked-files=no)
[[ -n $against ]] || { if [[ -n $is_changed ]]; then against=HEAD; else against=HEAD~1; fi; }
commit=$(git rev-parse --verify --quiet "$against^{commit}") || { echo "no commit $against here" >&2; exit 1; }

# bench_program FOLDER: builds the benchmark of a checkout, and prints its path.
bench_program() {
    (cd "$1" && cargo bench --quiet --locked --features gpu-test --bench memscape --no-run --message-format=json) |
        grep -o '"executable":"[^"]*"' | tail -1 | cut -d '"' -f 4
}

# keep COMMIT DIST BENCH: keeps a build for later comparisons.
keep() {
    local kept=target/measure/$1
    rm -rf "$kept.part"
    mkdir -p "$kept.part"
    cp -r "$2" "$kept.part/dist"
    cp "$3" "$kept.part/bench"
    rm -rf "$kept"
    mv "$kept.part" "$kept"
}

# build COMMIT: builds a commit in target/measure/source, whose own target/ makes later commits faster.
build() {
    local source=target/measure/source bench
    [[ -d $source/.git ]] || git clone --quiet --shared --no-checkout . "$source"
    git -C "$source" checkout --quiet --detach "$1"
    # The limits of sizes are no matter here.
    (cd "$source" && ./run build) || [[ -f $source/dist/memscape.html ]]
    bench=$(bench_program "$source")
    keep "$1" "$source/dist" "$bench"
}

mkdir -p target/measure
if [[ ! -x target/measure/$commit/bench ]]; then
    echo "run: building ${commit:0:8} to compare with (about 15 minutes on two cores; kept in target/measure)" >&2
    build "$commit"
fi
bench=$(bench_program .)
# The build of a commit is what a later one is compared with.
[[ -n $is_changed ]] || keep "$(git rev-parse HEAD)" dist "$bench"
exec "$bench" beside "target/measure/$commit" "${options[@]+"${options[@]}"}"
