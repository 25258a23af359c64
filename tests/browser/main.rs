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

mod appearance;
mod axe;
mod broken_downloads;
mod by_source;
mod cached_files;
mod choosing;
mod chromium;
mod comparing;
mod containers;
mod corpus;
mod cursor;
mod display_options;
mod embedding;
mod errors;
mod events;
mod export;
mod exporting;
mod expressions;
mod find;
mod first_use;
mod fixtures;
mod flame;
mod gallery;
#[path = "../generate/mod.rs"]
#[allow(dead_code, reason = "its own tests use the rest")]
mod generate;
mod hosted;
mod hostile;
mod insights;
mod installed;
mod interactions;
mod interrupted;
mod keyboard;
mod lanes;
mod large;
mod later_code;
mod layout;
mod linked_views;
mod live;
mod manual;
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
mod partial;
mod picture;
mod plan;
#[path = "../support/planted.rs"]
mod planted;
mod plots;
mod privacy;
mod private_texts;
mod ranks;
mod readers;
#[path = "../support/recorded.rs"]
mod recorded;
mod recorder;
#[path = "../support/reencoded.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod reencoded;
mod renderers;
mod reopening;
mod saved;
mod screenshots;
mod segments;
#[path = "../support/served.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod served;
mod serving;
mod simulator;
mod single;
mod site;
#[path = "../support/snapviewer.rs"]
mod snapviewer;
mod sql;
mod stable_view;
mod starting;
mod startup_failure;
mod table;
mod timeline;
mod tree;
mod tutorials;
mod urls;
mod verdicts;
mod view_links;
mod what_if;
#[path = "../support/zip.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod zip;
