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

mod expressions;
mod axe;
mod broken_downloads;
mod choosing;
mod chromium;
mod comparing;
mod containers;
mod corpus;
mod startup_failure;
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
mod cached_files;
mod stable_view;
mod keyboard;
mod lanes;
mod large;
mod layout;
mod linked_views;
mod live;
mod appearance;
mod segments;
mod cursor;
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
mod screenshots;
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
mod first_use;
#[path = "../support/served.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod served;
mod serving;
mod simulator;
mod single;
mod site;
#[path = "../support/snapviewer.rs"]
mod snapviewer;
mod by_source;
mod sql;
mod starting;
mod table;
mod timeline;
mod display_options;
mod tree;
mod errors;
mod partial;
mod urls;
mod view_links;
mod what_if;
mod insights;
#[path = "../support/zip.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod zip;
