# shellcheck shell=bash
# Installs missing tools for building and testing the page. Sourced by ../../run.

trunk_version=0.21.14 # 0.22 needs a newer rustc
wasm_bindgen_version=$(sed -n '/^name = "wasm-bindgen"$/{n;s/^version = "\(.*\)"$/\1/p;}' Cargo.lock)
wasm_opt_version=$(sed -n 's/^wasm_opt = "version_\([0-9]*\)"$/\1/p' Trunk.toml)
cargo_fuzz_version=0.13.2
axe_version=4.14.1
maturin_version=1.16.0
zig_version=0.15.1 # compiles C and links for older versions of glibc, for maturin

# has NAME VERSION: succeeds if NAME is on PATH and prints this version.
has() { [[ " $("$1" --version 2>/dev/null) " == *" $2 "* ]]; }

# prebuilt PROJECT: prints the name of this platform in the releases of PROJECT (trunk, wasm-bindgen, binaryen). Prints
# nothing if there is no release for it.
prebuilt() {
    case "$1 $(uname -s) $(uname -m)" in
        "trunk Linux x86_64") echo x86_64-unknown-linux-gnu ;;
        "wasm-bindgen Linux x86_64") echo x86_64-unknown-linux-musl ;;
        "binaryen Linux "*) echo "$(uname -m)-linux" ;;
        "binaryen Darwin "*) echo "$(uname -m)-macos" ;;
        *" Linux aarch64") echo aarch64-unknown-linux-gnu ;;
        *" Darwin arm64") echo aarch64-apple-darwin ;;
        *" Darwin x86_64") echo x86_64-apple-darwin ;;
    esac
}

# download PROJECT PATH FOLDER STRIP: unpacks a file of a GitHub release. Fails if GitHub cannot be reached.
download() {
    have curl && have tar || return 1
    mkdir -p "$3"
    curl --fail --silent --location --proto '=https' --connect-timeout 5 --max-time 300 \
        "https://github.com/$1/releases/download/$2" 2>/dev/null | tar -xz -C "$3" --strip-components="$4" 2>/dev/null
}

# from_source CRATE ARGUMENTS...: builds a tool without optimization. It runs for seconds, and an optimized build would
# take minutes.
from_source() {
    local crate=$1
    shift
    CARGO_TARGET_DIR="$tools/build" CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_DEBUG=0 \
        CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 cargo install "$crate" "$@" --quiet --force --root "$tools" ||
        fail "$crate could not be built. Without a network, install it and put it on PATH."
}

install_rust() {
    have cargo || fail "Rust is missing: install it from https://rustup.rs, then run this again."
    local sysroot
    sysroot=$(rustc --print sysroot) || fail "Rust has no toolchain yet: run 'rustup default stable', then this again."
    [[ -d $sysroot/lib/rustlib/wasm32-unknown-unknown ]] && return
    have rustup || fail "this Rust has no wasm32-unknown-unknown target and there is no rustup to add it: see https://rustup.rs."
    say "adding the wasm32-unknown-unknown target"
    rustup --quiet target add wasm32-unknown-unknown || fail "the wasm32-unknown-unknown target could not be added; is there a network?"
}

install_trunk() {
    has trunk $trunk_version && return
    say "installing trunk $trunk_version"
    download trunk-rs/trunk "v$trunk_version/trunk-$(prebuilt trunk).tar.gz" "$tools/bin" 0 || true
    has trunk $trunk_version ||
        step "3 minutes" "building trunk from source" from_source "trunk@$trunk_version" --locked --no-default-features
}

install_wasm_bindgen() {
    has wasm-bindgen "$wasm_bindgen_version" && return
    local name=wasm-bindgen-$wasm_bindgen_version-$(prebuilt wasm-bindgen)
    say "installing wasm-bindgen $wasm_bindgen_version, the version in Cargo.lock"
    download wasm-bindgen/wasm-bindgen "$wasm_bindgen_version/$name.tar.gz" "$tools/bin" 1 || true
    # Not --locked: a registry mirror may lag behind the lock file it was published with.
    has wasm-bindgen "$wasm_bindgen_version" ||
        step "1 minute" "building wasm-bindgen from source" from_source "wasm-bindgen-cli@$wasm_bindgen_version" --bin wasm-bindgen
}

install_wasm_opt() {
    has wasm-opt "$wasm_opt_version" && return
    local name=binaryen-version_$wasm_opt_version-$(prebuilt binaryen)
    say "installing wasm-opt $wasm_opt_version"
    download WebAssembly/binaryen "version_$wasm_opt_version/$name.tar.gz" "$tools" 1 || true
    has wasm-opt "$wasm_opt_version" && return
    rm -f "$tools/bin/wasm-opt"
    have npm || fail "wasm-opt $wasm_opt_version is neither on PATH nor on a reachable GitHub; install Node.js, whose npm has it too."
    npm install --silent --no-save --prefix "$tools" "binaryen@$wasm_opt_version.0.0" >/dev/null ||
        fail "npm could not install binaryen $wasm_opt_version; is there a network?"
}

has_page_tools() {
    has trunk $trunk_version && has wasm-bindgen "$wasm_bindgen_version" && has wasm-opt "$wasm_opt_version"
}

install_page_tools() {
    install_trunk
    install_wasm_bindgen
    install_wasm_opt
    rm -rf "$tools/build"
}

# Without axe, the accessibility test reports that it was skipped.
install_axe() {
    [[ -f $tools/axe/node_modules/axe-core/axe.min.js ]] && return
    have npm && npm install --silent --no-save --prefix "$tools/axe" "axe-core@$axe_version" >/dev/null 2>&1 || true
}

install_cargo_fuzz() {
    have c++ || fail "the fuzz targets need a C++ compiler for libFuzzer, and there is no 'c++': install g++ or clang++, then run this again."
    has cargo-fuzz $cargo_fuzz_version || step "1 minute" "building cargo-fuzz from source" from_source "cargo-fuzz@$cargo_fuzz_version"
}

# with_apt PROGRAM WHAT PACKAGES...: installs the packages if PROGRAM is missing. Prints a message and fails if that is
# not possible.
with_apt() {
    local program=$1 what=$2 as_root=
    shift 2
    have "$program" && return
    [[ $(id -u) == 0 ]] || as_root=sudo
    if ! have apt-get || ! have ${as_root:-apt-get}; then
        say "$what is missing, and there is no apt-get to install it"
        return 1
    fi
    say "installing $what with apt-get"
    { $as_root apt-get update -qq && $as_root apt-get install -qq -y --no-install-recommends "$@"; } >/dev/null || true
    have "$program" && return
    say "apt-get could not install $what; is there a network?"
    return 1
}

install_chromium() {
    local name
    for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable \
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"; do
        if [[ -n $name ]] && have "$name"; then
            CHROMIUM=$(command -v "$name")
            export CHROMIUM
            return
        fi
    done
    with_apt chromium Chromium chromium ||
        fail "the browser tests need Chromium: install it, or name its program in CHROMIUM, then run this again."
    CHROMIUM=$(command -v chromium)
    export CHROMIUM
}

# Debian's build of Chromium without windows opens a tab in half the time. The browser tests use it if it is installed,
# and otherwise Chromium, as the tests of embedded pages do. As another user than root, it is not installed here, because
# that would ask for a password.
install_headless_shell() {
    [[ $CHROMIUM == */chromium ]] || return 0
    if [[ $(id -u) == 0 ]] && have apt-get; then
        with_apt chromium-headless-shell "Chromium's headless shell" chromium-headless-shell 2>/dev/null || true
    fi
    if have chromium-headless-shell && chromium-headless-shell --version >/dev/null 2>&1; then
        HEADLESS_SHELL=$(command -v chromium-headless-shell)
        export HEADLESS_SHELL
    fi
}

# If Firefox or WebKit cannot be installed, their tests are skipped, and tests/check.sh prints a message.
install_firefox() {
    local name
    for name in "${FIREFOX:-}" firefox-esr firefox /Applications/Firefox.app/Contents/MacOS/firefox; do
        if [[ -n $name ]] && have "$name"; then
            FIREFOX=$(command -v "$name")
            export FIREFOX
            return
        fi
    done
    if with_apt firefox-esr Firefox firefox-esr; then
        FIREFOX=$(command -v firefox-esr)
        export FIREFOX
    fi
}

# Installs WebKitGTK with its driver, and the virtual screen that it needs.
install_webkit() {
    { with_apt WebKitWebDriver WebKitGTK webkit2gtk-driver && with_apt Xvfb "a screen for WebKitGTK" xvfb; } || true
}

# Tests of `memscape tui` run in tmux and are skipped without it.
install_tmux() {
    with_apt tmux tmux tmux || true
}

# SQLite is written in C and compiled to wasm by clang. Without clang the page has no SQL.
install_clang() {
    has_clang || { with_apt clang clang clang lld && has_clang; } ||
        say "clang with the target wasm32 is missing: the page is built without SQL. The command line has SQL."
}

# has_clang: succeeds if clang can compile to wasm.
has_clang() {
    have "${SQL_CLANG:-clang}" && echo 'int one(void) { return 1; }' |
        "${SQL_CLANG:-clang}" --target=wasm32-unknown-unknown -c -x c -o /dev/null - 2>/dev/null
}

install_maturin() {
    "$tools/maturin/bin/maturin" --version >/dev/null 2>&1 && return
    python3 -m venv "$tools/maturin" && "$tools/maturin/bin/pip" install --quiet "maturin==$maturin_version" ||
        fail "maturin $maturin_version could not be installed. Is there a network?"
}
