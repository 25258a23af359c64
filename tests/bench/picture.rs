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
mod panning;
mod windows;

#[path = "../browser/chromium.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod chromium;
#[path = "../browser/fixtures.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod fixtures;
#[path = "../generate/mod.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod generate;
#[path = "../browser/page.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod page;
#[path = "../browser/server.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod server;
#[path = "../browser/site.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod site;

use figure::digits;

fn main() {
    let path = std::env::args().nth(1).unwrap();
    let p = panning::measure(std::path::Path::new(&path));
    println!(
        "in the worker: first {} later {:?} {:?} grouped {} {:?} {:?} hits {:?} {:?} own {:?} {:?} interval {:?} {:?} main {}",
        p.first,
        p.later.median(),
        p.later.worst(),
        p.grouped_first,
        p.grouped_later.median(),
        p.grouped_later.worst(),
        p.hits.median(),
        p.hits.worst(),
        p.own.median(),
        p.own.percentile(95),
        p.interval.median(),
        p.interval.percentile(95),
        p.main_thread
    );
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
