#!/usr/bin/env bash
# Steps of a release, each of which also runs on a developer's machine. Called by .github/workflows/release.yml.
#
#   src/pack/release.sh version            print the version, which is that of Cargo.toml
#   src/pack/release.sh check TAG          fail unless TAG is `v` and the version, and CHANGELOG.md has a section for it
#   src/pack/release.sh notes              print the version's section of CHANGELOG.md
#   src/pack/release.sh page               pack dist/, built by `./run build`, as an archive for web servers
#   src/pack/release.sh binary [TARGET]    build the command line for TARGET (this machine), packed for cargo-binstall
#   src/pack/release.sh wheel [TARGET]     build the wheel for TARGET (this machine)
#   src/pack/release.sh sdist              pack the source distribution for PyPI
#   src/pack/release.sh npm                pack the npm package
#   src/pack/release.sh vscode             pack the extension for VS Code
#   src/pack/release.sh sbom               write the software bill of materials in CycloneDX format
#   src/pack/release.sh checksums          write SHA256SUMS of all files of the release
#
# Files are written to target/release-files/. `binary`, `wheel` and `sdist` embed the page from src/cli/built/, which
# `./run build` writes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=target/release-files
cyclonedx_version=0.5.9

fail() { printf 'release: %s\n' "$*" >&2; exit 1; }
version() { sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml; }
notes() { awk -v heading="## $(version)" '/^## / { on = index($0, heading) == 1; next } on' CHANGELOG.md; }
needs_page() { [[ -s src/cli/built/memscape.html ]] || fail "the page is missing: run ./run build first"; }
# Same options for all archives, so that equal files make equal archives.
pack_files() { tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf - "$@" | gzip -n9; }

mkdir -p "$out"
case "${1:-}" in
    version) version ;;
    check)
        [[ ${2:-} == "v$(version)" ]] || fail "the tag is ${2:-missing}, but Cargo.toml has version $(version)"
        [[ -n $(notes) ]] || fail "CHANGELOG.md has no section for version $(version)"
        ;;
    notes) notes ;;
    page)
        [[ -s dist/index.html ]] || fail "dist/ is missing: run ./run build first"
        pack_files -C dist . >"$out/memscape-page-$(version).tgz"
        cp dist/memscape.html "$out/memscape-$(version).html"
        ;;
    binary)
        needs_page
        target=${2:-$(rustc -vV | sed -n 's/^host: //p')}
        cargo build --quiet --locked --release --bin memscape --target "$target"
        folder=$(mktemp -d)
        trap 'rm -rf "$folder"' EXIT
        program=${CARGO_TARGET_DIR:-target}/$target/release/memscape
        [[ $target != *windows* ]] || program+=.exe
        cp "$program" LICENSE-APACHE LICENSE-MIT README.md "$folder"
        (cd "$folder" && tar -czf memscape.tgz -- *)
        mv "$folder/memscape.tgz" "$out/memscape-$target.tgz"
        ;;
    wheel)
        needs_page
        arguments=(build --locked --release --out "$out")
        if [[ -n ${2:-} ]]; then arguments+=(--target "$2"); fi
        # zig links for glibc 2.17.
        if [[ $(uname -s) == Linux ]]; then arguments+=(--zig --compatibility manylinux2014); fi
        maturin "${arguments[@]}"
        ;;
    sdist)
        needs_page
        maturin sdist --out "$out"
        ;;
    npm | vscode) "src/pack/$1.sh" dist "$out" ;;
    sbom)
        [[ $(cargo cyclonedx --version 2>/dev/null) == *" $cyclonedx_version"* ]] ||
            cargo install --quiet --locked cargo-cyclonedx --version "$cyclonedx_version"
        # Writes a file beside the manifest of every crate. That of the facade lists the dependencies of the command line.
        cargo cyclonedx --quiet --format json --spec-version 1.5 --all --override-filename memscape.cdx
        mv memscape.cdx.json "$out/memscape-$(version).cdx.json"
        find src -name memscape.cdx.json -delete
        ;;
    checksums)
        cd "$out"
        rm -f SHA256SUMS
        sums=$(sha256sum -- *)
        printf "%s\n" "$sums" >SHA256SUMS
        ;;
    *)
        sed -n 's/^#   //p' "$0" >&2
        exit 2
        ;;
esac
