#!/usr/bin/env bash
# Packs the extension for VS Code from src/vscode and the page in one file. The version is that of Cargo.toml.
#
#   src/pack/vscode.sh DIST OUT   write OUT/memscape-VERSION.vsix
#
# TypeScript and vsce are installed with npm in ~/.cache/memscape-build/vscode or $MEMSCAPE_TOOLS/vscode.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
dist=${1:?name the folder of the built page} out=${2:?name the folder to write to}
tools=${MEMSCAPE_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/memscape-build}/vscode
packages=(typescript@5.9.3 @types/vscode@1.84.0 @vscode/vsce@3.6.0)

fail() { printf 'vscode: %s\n' "$*" >&2; exit 1; }
[[ -s $dist/memscape.html ]] || fail "$dist/memscape.html is missing: run ./run build first"
if [[ $(cat "$tools/packages" 2>/dev/null) != "${packages[*]}" ]]; then
    npm install --silent --no-audit --no-fund --no-save --prefix "$tools" "${packages[@]}" >/dev/null ||
        fail "npm could not install ${packages[*]}; is there a network?"
    printf '%s\n' "${packages[*]}" >"$tools/packages"
fi

version=$(src/pack/release.sh version)
folder=$(mktemp -d) log=$(mktemp)
trap 'rm -rf "$folder" "$log"' EXIT
"$tools/node_modules/.bin/tsc" --project src/vscode --typeRoots "$tools/node_modules/@types" --outDir "$folder" ||
    fail "src/vscode/extension.ts does not compile (see above)"
sed "s/\"version\": \"0.0.0\"/\"version\": \"$version\"/" src/vscode/package.json >"$folder/package.json"
cp src/vscode/README.md CHANGELOG.md "$dist/memscape.html" "$folder"
cat LICENSE-MIT LICENSE-APACHE >"$folder/LICENSE"
mkdir -p "$out"
out=$(cd "$out" && pwd)/memscape-$version.vsix
(cd "$folder" && "$tools/node_modules/.bin/vsce" package --no-dependencies --out "$out") >"$log" 2>&1 ||
    { cat "$log" >&2; fail "vsce could not pack the extension (see above)"; }
printf '%s\n' "$out"
