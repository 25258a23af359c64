//! What it takes from an open file to a picture: geometry natively and in the page's worker, frames while panning. Prints; judges
//! nothing.
//!
//! `./run measure` builds what this needs, runs it and writes `tests/bench/picture.md`; with `--quick` it stops at a million events
//! and only prints.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench may fail loudly")]

#[allow(dead_code, reason = "the bench of opening uses all of it")]
mod cases;
#[allow(dead_code, reason = "the bench of opening uses all of it")]
mod figure;
#[allow(dead_code, reason = "the bench of opening uses all of it")]
mod machine;
#[allow(dead_code, reason = "the bench of opening uses all of it")]
mod native;
mod windows;

#[path = "../generate/mod.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod generate;

use figure::digits;

fn main() {
    let path = std::env::args().nth(1).unwrap();
    for it in windows::measure(std::path::Path::new(&path)) {
        println!(
            "{} first {} later {} {} slice {} hit {} {} {} quads {} px",
            it.name,
            digits(it.first),
            digits(it.later.median().unwrap()),
            digits(it.later.worst().unwrap()),
            digits(it.longest_slice),
            digits(it.hits.median().unwrap()),
            digits(it.hits.worst().unwrap()),
            it.quads,
            it.band_px
        );
    }
}
