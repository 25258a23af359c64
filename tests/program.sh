# Sourced. `build_program` builds memscape and the generator of test files without optimization, and sets `program` to
# the path of memscape.

build_program() {
    # The example selects the features that the native tests use: Cargo adds those of the development dependencies if an
    # example or a test is built. Without it, ten crates would be compiled a second time.
    CARGO_INCREMENTAL=${CARGO_INCREMENTAL:-0} cargo build --quiet --locked --workspace --features gpu-test --bin memscape --example generate
    program=${CARGO_TARGET_DIR:-$PWD/target}/debug/memscape
}
