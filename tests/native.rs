//! All native tests in one program. Linking them once takes a fiftieth of the disk space of one program per file, and a
//! third of the time.
//!
//! `cargo test --test native plots::` runs the tests of tests/plots.rs. Separate programs are tests/layers.rs (runs
//! before every other check), tests/render_gpu.rs (needs a driver), and tests/browser (needs a built page).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "shared test helpers fail by panicking with the value they found"
)]

mod action;
mod addresses;
mod advice;
mod archives;
mod backends;
mod brute_force;
mod brute_force_category;
mod brute_force_events;
mod brute_force_leaks;
mod brute_force_state;
mod brute_force_steps;
mod cache;
mod cases;
mod category;
mod category_sets;
mod category_stacks;
mod category_yaml;
mod cli;
mod cli_arguments;
mod cli_ask;
mod cli_attach;
mod cli_categories;
mod cli_check;
mod cli_diff;
mod cli_export;
mod cli_html;
mod cli_insights;
mod cli_json_bytes;
mod cli_live;
mod cli_mcp;
mod cli_mindstudio;
mod cli_outputs;
mod cli_plan;
mod cli_ranks;
mod cli_segments;
mod cli_serve;
mod cli_serve_ranks;
mod cli_sql;
mod cli_survey;
mod cli_terminal;
mod cli_what_if;
mod cli_what_if_programs;
mod compact;
mod compare;
mod container;
mod convert;
mod corpus;
mod counts;
mod crop;
mod curves;
mod documents;
mod engine_lanes;
mod events;
mod export;
#[path = "support/face.rs"]
mod face;
mod find;
mod flame;
#[path = "support/follower.rs"]
mod follower;
mod formats;
mod fragmentation;
mod fuzz_corpora;
#[path = "generate/mod.rs"]
mod generate;
mod generated;
mod golden;
mod hostile;
mod json;
mod labels;
mod leaks;
mod limits;
mod load_range;
mod loop_program;
mod loops;
mod made_cases;
mod metadata;
mod modules;
mod moments;
#[path = "support/numbered.rs"]
mod numbered;
mod one_effect;
#[path = "support/opened.rs"]
mod opened;
mod out_of_memory;
#[path = "support/packed.rs"]
mod packed;
mod pair;
#[path = "support/paired.rs"]
mod paired;
mod partial;
mod pending;
mod phases;
mod pickle;
mod pickle_errors;
mod pickle_short_cuts;
mod pickle_streams;
#[path = "support/pickle_tree.rs"]
mod pickle_tree;
#[path = "support/pickle_value.rs"]
mod pickle_value;
#[path = "support/plain_pickle.rs"]
mod plain_pickle;
mod plan_curve;
mod plan_growth;
mod planned;
#[path = "support/planted.rs"]
mod planted;
#[path = "support/plot_page.rs"]
mod plot_page;
mod plots;
mod private_texts;
mod range_report;
mod recommendations;
#[path = "support/recorded.rs"]
mod recorded;
mod recorded_sentences;
mod recorder;
mod recorder_observed;
#[path = "support/reencoded.rs"]
mod reencoded;
mod rehearsal;
mod render;
mod render_flames;
#[path = "support/reported.rs"]
mod reported;
mod savings;
mod segments;
#[path = "support/served.rs"]
#[allow(dead_code, reason = "the bench and the browser tests use the rest")]
mod served;
mod shaders;
mod shared_builds;
mod shown_frames;
mod simulated;
mod snapshot;
mod snapshot_short_cuts;
#[path = "support/snapviewer.rs"]
mod snapviewer;
mod sources;
mod sql;
mod sql_hostile;
mod state;
#[path = "support/stated.rs"]
mod stated;
mod steps;
mod steps_hostile;
mod stranded;
mod support;
mod svg;
mod table;
#[path = "support/tar.rs"]
mod tar;
mod timeline;
mod timeline_corpus;
mod timeline_laws;
#[path = "support/tmux.rs"]
mod tmux;
#[path = "support/trained.rs"]
mod trained;
mod tree;
mod tree_hostile;
mod tree_rows;
mod tui;
mod tui_tmux;
#[path = "support/turns.rs"]
mod turns;
mod ui;
mod ui_alarm;
mod ui_choosing;
mod ui_events;
mod ui_find;
mod ui_flame;
mod ui_lanes;
mod ui_link;
mod ui_link_hosted;
mod ui_live;
mod ui_moment;
mod ui_palette;
mod ui_plan;
mod ui_plots;
mod ui_ranks;
mod ui_report;
mod ui_rules;
mod ui_settings;
mod ui_slices;
mod ui_sources;
mod ui_sql;
mod ui_state;
mod ui_table;
mod ui_tools;
mod ui_tree;
mod ui_what_if;
mod what_if;
mod wide;
mod windows;
mod without;
#[path = "support/zip.rs"]
mod zip;

// Pickle writer shared by the tests with hand-written pickles and the generator.
use generate::pickle_writer;
