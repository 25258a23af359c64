//! libFuzzer entry point for the target in `targets/pickle.rs`.

#![no_main]
#[allow(dead_code, reason = "the native tests use the rest")]
#[path = "../support/pickle_writer.rs"]
mod pickle_writer;
#[allow(dead_code, reason = "each program runs one target")]
#[path = "targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|input: &[u8]| targets::pickle::run(input));
