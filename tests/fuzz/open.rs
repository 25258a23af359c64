//! What looks like a snapshot, damaged here and there, through the whole way in and up to scenes, hits and details.

#![no_main]

mod events;
#[path = "../support/pickle_writer.rs"]
#[allow(dead_code, reason = "the tests of the machine use the rest")]
mod pickle_writer;
mod questions;
mod shaped;
mod states;
mod trees;

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let mut chance = Unstructured::new(input);
    let Ok(file) = shaped::file(&mut chance) else { return };
    let chunk = chance.int_in_range(1..=200).unwrap_or(200);
    if let Ok(mut opened) = questions::open(&file, chunk, 2) {
        opened.ask_everything(input);
    }
});
