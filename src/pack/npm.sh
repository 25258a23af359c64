#!/usr/bin/env bash
# Packs the npm package `memscape`: the page from DIST and the custom element in src/pack/npm. The version is that of
# Cargo.toml.
#
#   src/pack/npm.sh DIST OUT   write OUT/memscape-VERSION.tgz
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
dist=${1:?name the folder of the built page} out=${2:?name the folder to write to}

[[ -s $dist/memscape.html ]] || { printf 'npm: %s/memscape.html is missing: run ./run build first\n' "$dist" >&2; exit 1; }
version=$(src/pack/release.sh version)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$dist" "$folder/page"
# The manual is on the web, and the page in one file lies beside the element.
rm -rf "$folder/page/docs" "$folder/page/memscape.html"
cp src/pack/npm/* "$dist/memscape.html" LICENSE-APACHE LICENSE-MIT "$folder"
sed -i.bak "s/\"version\": \"0.0.0\"/\"version\": \"$version\"/" "$folder/package.json" && rm "$folder/package.json.bak"
mkdir -p "$out"
npm pack --silent "$folder" --pack-destination "$out" >/dev/null
printf '%s\n' "$out/memscape-$version.tgz"
