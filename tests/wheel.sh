#!/usr/bin/env bash
# Runs the README's first code block in a fresh clone. Builds the wheel and the source distribution, installs each with
# pip in its own environment, records a training script with `memscape run` and serves its snapshots. Called by `./run
# test --all`.
#
#   tests/wheel.sh [SKIPPED]   reasons for skipped steps are appended to the file SKIPPED
#
# MEMSCAPE_DIST=FOLDER    dist/ of a checkout of the same commit, to reuse the page
# MEMSCAPE_WHEEL=FOLDER   where cargo builds, kept for later runs (default target/wheel-test)
# MEMSCAPE_SDIST_PROFILE  profile for building the source distribution: dev (the default, faster) or release
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
checkout=$PWD
skipped=${1:-/dev/stderr}
built=${MEMSCAPE_WHEEL:-$PWD/target/wheel-test}
say() { printf 'wheel: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

python3 -c 'import venv, ensurepip' 2>/dev/null || { echo "the wheel: no python3 with venv" >>"$skipped"; exit 0; }
# `run` builds in target/ of its checkout.
unset CARGO_TARGET_DIR
folder=$(mktemp -d)
serving=
end() {
    [[ -z $serving ]] || kill "$serving" 2>/dev/null || true
    rm -rf "$folder"
}
trap end EXIT

say "cloning"
git clone --quiet --no-local "$checkout" "$folder/memscape"
cd "$folder/memscape"
[[ -z $(git -C "$checkout" status --porcelain) ]] || say "uncommitted changes are not in the clone"
mkdir -p "$built" target
# Reuses compiled dependencies. Crates of the clone are rebuilt.
for name in release x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu; do
    mkdir -p "$built/$name"
    ln -s "$built/$name" "target/$name"
done
if [[ -n ${MEMSCAPE_DIST:-} ]]; then
    cp -R "$MEMSCAPE_DIST" dist
    # Makes ./run treat the page as up to date.
    cp "$MEMSCAPE_DIST/../target/page.fingerprint" target/
fi

say "./run wheel"
./run wheel || fail "./run wheel failed"
wheel=$(echo target/wheels/memscape-*.whl)
sdist=$(echo target/wheels/memscape-*.tar.gz)
[[ -f $wheel && -f $sdist ]] || fail "./run wheel made no wheel or no source distribution"
case "$(uname -s) $wheel" in
    Linux*manylinux_2_17*) ;;
    Linux*) echo "a wheel for manylinux_2_17: PyPI has no zig for this machine" >>"$skipped" ;;
esac

cat >"$folder/train.py" <<'END'
import torch

model = torch.nn.Module(weight=torch.empty(1024))
optimizer = torch.optim.Adam([model.parts["weight"]])
for step in range(3):
    optimizer.step()
END

# first_block PACKAGE NAME: runs the README's commands in a new environment, with the stand-in for PyTorch.
first_block() {
    local package=$PWD/$1 environment=$folder/$2 answer= address
    say "$2: pip install $1"
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check "$package" || fail "$2: pip install failed"
    # pytest finds the plugin by this entry point.
    grep -qE '^memscape ?= ?memscape.pytest_plugin$' "$environment"/lib/python*/site-packages/memscape-*.dist-info/entry_points.txt ||
        fail "$2: the plugin of pytest is not registered"
    mkdir "$folder/$2-run"
    cp "$folder/train.py" "$folder/$2-run"
    (
        cd "$folder/$2-run"
        export PATH="$environment/bin:$PATH" PYTHONPATH=$checkout/tests/python/standin
        unset MEMSCAPE_BINARY MEMSCAPE_PYTHON VIRTUAL_ENV
        memscape run -m train || exit 1
        ls memscape/rank00000_step*_exit.pickle.gz >/dev/null || exit 1
        memscape summary memscape/*.gz >/dev/null || exit 1
        exec memscape serve --no-browser memscape
    ) >"$folder/$2.log" 2>&1 &
    serving=$!
    for _ in $(seq 300); do
        address=$(grep -om1 'http://[^ ]*' "$folder/$2.log" || true)
        [[ -z $address ]] || break
        kill -0 "$serving" 2>/dev/null || break
        sleep 0.1
    done
    [[ -n $address ]] || { cat "$folder/$2.log" >&2; fail "$2: nothing is served"; }
    # The page, and the list of snapshots in its address.
    answer=$("$environment/bin/python" - "$address" <<'END'
import sys, urllib.request
with urllib.request.urlopen(sys.argv[1]) as page:
    print(page.url.partition("#")[2], "part-wasm" in page.read().decode())
END
    ) || fail "$2: memscape serve does not answer"
    [[ $answer == *exit.pickle.gz*True ]] || fail "$2: unexpected answer of memscape serve: $answer"
    kill "$serving"
    wait "$serving" 2>/dev/null || true
    serving=
}

first_block "$wheel" wheel
# A release build takes minutes longer.
export MATURIN_PEP517_ARGS="--profile ${MEMSCAPE_SDIST_PROFILE:-dev}"
CARGO_TARGET_DIR=$built/sdist first_block "$sdist" sdist
say "the wheel and the source distribution are installed, record and serve"
