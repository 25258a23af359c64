#!/usr/bin/env bash
# Builds the fuzz targets and runs each for the given number of seconds, two at once on two or more cores. Prints the
# input of a crash in a form that can be run again. Corpora are kept in target/fuzz. The seeds in corpus/ are written by
# seeds.sh.
#
#   tests/fuzz/run.sh SECONDS [TARGET...]
#
# The seed is fixed, so that runs of a fresh clone only differ if the code does. FUZZ_SEED=0 uses a random one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
here=tests/fuzz
work=$PWD/target/fuzz
export PATH="${MEMSCAPE_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/memscape-build}/bin:$PATH"

seconds=${1:?say for how many seconds}
targets=("${@:2}")
if ((${#targets[@]} == 0)); then
    mapfile -t targets < <(cargo fuzz list --fuzz-dir $here)
fi

command -v c++ >/dev/null || { echo "fuzz: libFuzzer is C++ and there is no 'c++': install g++ (or clang++), then run this again." >&2; exit 1; }

# The flags of other builds do not apply here. Sanitizers need a nightly toolchain, hence --sanitizer none.
unset RUSTFLAGS
cargo fuzz build --fuzz-dir $here --sanitizer none --target-dir "$work" 2>"$work.log" || { cat "$work.log" >&2; exit 1; }
binaries=$work/$(rustc -vV | sed -n 's/^host: //p')/release

# fuzz TARGET: runs a target and prints statistics or the crash. Inputs that take seconds or gigabytes count as crashes.
fuzz() {
    local target=$1 folder=$work/run/$1 died=()
    mkdir -p "$folder/corpus" "$folder/died"
    rm -f "$folder"/died/*
    if "$binaries/$target" "$folder/corpus" $here/corpus/"$target" -dict=$here/dictionary.txt -artifact_prefix="$folder/died/" \
        -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=512 -max_len="${MAX_LEN:-4096}" \
        -seed="${FUZZ_SEED:-20261121}" -print_final_stats=1 >"$folder/log" 2>&1; then
        printf '   %s: %s executions, %s inputs kept\n' "$target" \
            "$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/log")" "$(find "$folder/corpus" -type f | wc -l)"
        return
    fi
    printf 'fuzz: %s died:\n' "$target"
    grep -v -e '^#' -e NEW_FUNC "$folder/log" | grep -A4 -e panicked -e '^SUMMARY' -e '^==.*ERROR' || tail -n 20 "$folder/log"
    died=("$folder"/died/*)
    if [[ -f ${died[0]} ]]; then
        printf 'fuzz: to have it again: base64 -d <<< %s > input; %s input\n' "$(base64 -w0 "${died[0]}")" "$binaries/$target"
    fi
    return 1
}

failed=0
running=()
for target in "${targets[@]}"; do
    if ((${#running[@]} >= $(nproc 2>/dev/null || echo 1))); then
        wait "${running[0]}" || failed=1
        running=("${running[@]:1}")
    fi
    fuzz "$target" &
    running+=($!)
done
for one in "${running[@]}"; do wait "$one" || failed=1; done
exit $failed
