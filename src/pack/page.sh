# shellcheck shell=bash
# Builds the page with trunk, Cargo and the program `pack`. Sourced by ../../run.
#
# There are two forms, each with a profile of Cargo.toml:
#
#   page  dist/             optimized for size, for releases
#   dev   target/dev-page/  hardly optimized, with overflow checks and assertions, for everyday tests

# Parts of the page, each a worker with its own wasm that is fetched when first needed: name, binary, options of
# wasm-opt, and size limit in bytes. The page itself is listed first. Gates stay functions, and names are kept, for
# `pack split`.
parts=(
    "page page --no-inline=*later::gate*,-g,-Oz,--low-memory-unused,--flatten,--rereloop,-Oz,-Oz,--merge-similar-functions,-Oz,--const-hoisting,--one-caller-inline-max-function-size=1000 2496000"
    "simulator simulator -O3 232000"
    "surveyor surveyor -Oz 1166000"
    "yaml yaml-worker -Oz 104000"
    "sql sql-worker --low-memory-unused,--flatten,--rereloop,-Oz,-Oz 1100000"
)
# Code of the engine's worker that is fetched after the page: insights and comparisons.
later_limit=390000
sql_gzipped_limit=456000
single_limit=3200000 # dist/memscape.html, accepted by mail servers and artifact stores

pack() { cargo run --quiet --locked -p memscape-pack -- "$@"; }

# fingerprint: prints a checksum of everything the page is built from.
fingerprint() {
    {
        find index.html Trunk.toml Cargo.toml Cargo.lock .cargo src www -type f ! -path 'www/docs/*' ! -path 'src/cli/built/*' ! -path 'src/python/*' -print0 |
            LC_ALL=C sort -z | xargs -0 cksum
        rustc --version
        if has_clang; then "${SQL_CLANG:-clang}" --version; fi
    } | cksum
}

# build_flags PROFILE: exports the flags of all wasm builds, which are the same so that dependencies are built once.
# Incremental builds contain fewer copies of small functions (11 kB of wasm). Registry paths are removed from panic
# messages (4 kB).
build_flags() {
    local folder flags=
    for folder in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*; do
        # Cargo splits the variable at spaces.
        [[ $folder == *[[:space:]]* ]] || flags+="--remap-path-prefix=$folder= "
    done
    if [[ $1 == dev ]]; then export CARGO_PROFILE_DEV_DEBUG=0; fi
    export CARGO_INCREMENTAL=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS=$flags RUST_BACKTRACE=0
    if [[ -n ${SQL_CLANG:-} ]]; then export CC_wasm32_unknown_unknown=$SQL_CLANG; fi
}

# build_shell PROFILE DIST: builds the page without its parts.
build_shell() {
    local profile=$1 dist=$2 release=true
    if [[ $profile == dev ]]; then release=false; fi
    mkdir -p "$dist"
    (
        build_flags "$profile"
        trunk --log warn build --release="$release" --dist "$dist" && pack early "$dist" || exit
        if [[ $profile == page ]]; then split_page "$dist"; else pack omit "$dist" later; fi && build_docs "$dist"
    )
}

# split_page DIST: optimizes the wasm of the page, and moves code that is needed later to a wasm of its own.
split_page() {
    local options wasm
    read -r _ _ options _ <<<"${parts[0]}"
    wasm=$(echo "$1"/page-*_bg.wasm)
    # shellcheck disable=SC2086 # words are meant to be split
    wasm-opt ${options//,/ } "$wasm" -o "$wasm.small" && mv "$wasm.small" "$wasm" && pack split "$1"
}

# build_docs DIST: converts the manual. The fingerprint leaves it out, because nothing else depends on it.
build_docs() { pack docs www/docs "$1"; }

# prebuild PROFILE: compiles the page's program in advance, for example while trunk is being built.
prebuild() {
    (
        build_flags "$1"
        cargo build --quiet --locked --profile "$1" --target wasm32-unknown-unknown -p memscape-page --bin page
    )
}

# build_parts PROFILE DIST: adds the parts to a page from build_shell, and writes the single-file page.
build_parts() {
    local profile=$1 dist=$2 part name binary options wasm work=target/parts-$1 names=()
    for part in "${parts[@]:1}"; do
        name=${part%% *}
        if [[ $name == sql ]] && ! has_clang; then
            pack omit "$dist" sql || return
        else
            names+=("$name")
        fi
    done
    (
        build_flags "$profile"
        cargo build --quiet --locked --profile "$profile" --target wasm32-unknown-unknown "${names[@]/#/-pmemscape-}" || exit
        for part in "${parts[@]:1}"; do
            read -r name binary options _ <<<"$part"
            [[ " ${names[*]} " == *" $name "* ]] || continue
            wasm-bindgen --target no-modules --no-typescript --out-dir "$work" --out-name "$name" \
                "target/wasm32-unknown-unknown/${profile/#dev/debug}/$binary.wasm" || exit
            wasm=$work/${name}_bg.wasm
            if [[ $profile == page ]]; then
                # shellcheck disable=SC2086 # words are meant to be split
                wasm-opt ${options//,/ } "$wasm" -o "$wasm.small" && mv "$wasm.small" "$wasm" || exit
            fi
            pack part "$dist" "$name" "$work/$name.js" "$wasm" || exit
        done
        pack single "$dist" "$dist/memscape.html"
    )
}

# is_built PROFILE DIST: succeeds if the page in DIST is up to date.
is_built() {
    [[ -f $2/index.html && -f target/$1.fingerprint && $(<"target/$1.fingerprint") == "$(fingerprint)" ]]
}

# embed DIST: copies the single-file page, the manual and the Python package into the sources of the command line, which
# includes them.
embed() {
    local file
    mkdir -p src/cli/built/docs src/cli/built/python
    for file in www/docs/*.md; do
        cmp -s "$file" "src/cli/built/docs/${file##*/}" || cp "$file" src/cli/built/docs/
    done
    for file in src/python/memscape/*.py; do
        cmp -s "$file" "src/cli/built/python/${file##*/}" || cp "$file" src/cli/built/python/
    done
    for file in memscape.html sql-part.html; do
        cmp -s "$1/$file" "src/cli/built/$file" || cp "$1/$file" "src/cli/built/$file"
    done
}

# finish_page PROFILE DIST FINGERPRINT: builds the parts, and records the fingerprint of the sources.
finish_page() {
    step "4 minutes" "building the parts of the page that are loaded later: simulator, ranks and exports, YAML, SQL" build_parts "$1" "$2" ||
        fail "a part of the page did not build (see above)."
    echo "$3" >"target/$1.fingerprint"
    embed "$2"
}

# build_page PROFILE DIST: builds the whole page, unless it is up to date. Installs missing tools first.
build_page() {
    local profile=$1 dist=$2 now
    install_clang
    now=$(fingerprint)
    if is_built "$profile" "$dist"; then
        say "$dist is up to date"
        build_docs "$dist"
        embed "$dist"
        return
    fi
    start_page "$profile" "$dist"
    finish_page "$profile" "$dist" "$now"
}

# start_page PROFILE DIST: builds the page without its parts. Missing tools are built in parallel, because linking uses
# only one core. An older page is removed first, here and from the command line, so that neither a test nor a user opens
# it if the build fails.
start_page() {
    local profile=$1 dist=$2 compiling=
    rm -rf "target/$profile.fingerprint" "$dist" src/cli/built/{memscape,sql-part}.html
    if ! has_page_tools; then
        cargo fetch --quiet --locked || fail "the dependencies could not be downloaded. Is there a network?"
        prebuild "$profile" &
        compiling=$!
        install_page_tools
        wait "$compiling" || fail "the page did not build (see above)."
    fi
    step "3 minutes" "building the page" build_shell "$profile" "$dist" || fail "the page did not build (see above)."
}

# check_size: prints the size of each wasm in dist/, and fails if one is above its limit.
check_size() {
    local part name limit files bytes gzipped single
    for part in "${parts[@]}" "later - - $later_limit"; do
        read -r name _ _ limit <<<"$part"
        files=(dist/"$name"-*_bg.wasm)
        if [[ ! -f ${files[0]} ]]; then
            say "$name: not built (clang is missing)"
            continue
        fi
        bytes=$(($(wc -c <"${files[0]}")))
        gzipped=$(($(gzip -9 -c "${files[0]}" | wc -c)))
        say "$name: $bytes bytes of wasm (limit $limit), $gzipped gzipped"
        ((bytes <= limit)) || fail "the wasm of $name is $((bytes - limit)) bytes too large."
        [[ $name != sql ]] || ((gzipped <= sql_gzipped_limit)) || fail "the wasm of sql is too large: limit $sql_gzipped_limit gzipped."
    done
    single=$(($(wc -c <dist/memscape.html)))
    say "dist/memscape.html, the page as one file: $single bytes (limit $single_limit)"
    ((single <= single_limit)) || fail "dist/memscape.html is $((single - single_limit)) bytes too large."
}
