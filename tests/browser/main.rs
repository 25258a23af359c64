//! Browser tests of the page in Chromium: opening files, numbers, mouse and keyboard input, network requests,
//! screenshots.
//!
//! The tests need `dist/` and Chromium, so `cargo test` skips them. `./run test` builds, installs and runs everything.
//! They rely on stable names in the page (`body[data-state]`, `#summary`, `canvas#timeline`…) and on nothing else.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the test harness fails like the tests: with a panic that shows what it found"
)]

mod asking;
mod axe;
mod broken;
mod choosing;
mod chromium;
mod comparing;
mod containers;
mod corpus;
mod dead;
mod events;
mod export;
mod exporting;
mod find;
mod fixtures;
mod flame;
mod gallery;
#[path = "../generate/mod.rs"]
#[allow(dead_code, reason = "its own tests use the rest")]
mod generate;
mod hosted;
mod hostile;
mod installed;
mod interactions;
mod interrupted;
mod kept;
mod kept_in_view;
mod keyboard;
mod lanes;
mod large;
mod layout;
mod linked;
mod live;
mod looks;
mod memory;
mod moment;
#[path = "../support/opened.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod opened;
mod opening;
#[path = "../support/packed.rs"]
mod packed;
mod page;
#[path = "../support/paired.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod paired;
mod palette;
mod picture;
mod pictures;
mod plan;
mod plots;
mod privacy;
mod ranks;
mod readers;
#[path = "../support/recorded.rs"]
mod recorded;
mod recorder;
mod renderers;
mod reopening;
#[path = "../support/retold.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod retold;
mod saved;
mod screen;
#[path = "../support/served.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod served;
mod serving;
mod simulator;
mod single;
mod site;
#[path = "../support/snapviewer.rs"]
mod snapviewer;
mod sources;
mod sql;
mod starting;
mod table;
mod timeline;
mod told_otherwise;
mod tree;
mod trouble;
mod unfinished;
mod urls;
mod view_links;
mod what_if;
mod why;
#[path = "../support/zip.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod zip;
