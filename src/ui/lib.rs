//! User interface state and logic of memscape, independent of a browser.
//!
//! Every input is an [`Action`]: a command, pointer or keyboard input, or a reply of the engine's worker. [`update()`]
//! applies an action to the [`State`] and returns the [`Effect`]s that the shell (the web page or the terminal UI) has
//! to carry out. View models such as [`details::view`] turn the state into text and numbers, so the shell makes no
//! decisions of its own.
//!
//! Start with `action.rs` (inputs), `update.rs` (the only function that changes the state), `shared.rs` (the state that
//! all features share) and `outbox.rs` (what a feature may want of others).

pub mod action;
pub mod amount;
pub mod axis_press;
mod axis_switch;
pub mod binding;
pub mod cache_index;
mod candidates;
pub mod capacity;
pub mod cell_text;
pub mod change;
pub mod command;
pub mod commands;
pub mod comparing;
pub mod crosshair;
pub mod cursor;
pub mod details;
pub mod drag;
pub mod drawing;
pub mod effect;
mod feature;
pub mod features;
pub mod figure;
pub mod file_memory;
pub mod find;
pub mod fingerprint;
pub mod first_group;
mod fuzzy;
pub mod help;
mod hit_testing;
pub mod hover;
mod intents;
pub mod keys;
pub mod lane_focus;
pub mod lane_labels;
mod lane_scenes;
pub mod lanes;
pub mod latest;
pub mod legend;
pub mod link;
pub mod load_dialog;
mod load_range;
pub mod loading;
pub mod markdown;
pub mod markers;
pub mod marks;
pub mod moment;
pub mod navigate;
pub mod notices;
mod opened;
mod opening;
mod outbox;
pub mod overlay;
pub mod palette_entries;
mod part;
pub mod partial;
mod parts;
pub mod passes;
pub mod picture_file;
pub mod placement;
pub mod planned;
pub mod plots;
pub mod position_text;
mod previous;
pub mod range;
pub mod ranks;
pub mod recent_files;
pub mod recording_snippet;
pub mod reload;
pub mod renderer;
mod reset;
pub mod rows;
pub mod ruler;
pub mod rules;
pub mod samples;
pub mod scroll;
mod selecting;
pub mod settings;
pub mod shared;
pub mod shared_axis;
pub mod side;
mod size_text;
pub mod slices;
mod snapshot_to_save;
pub mod source_links;
pub mod stage;
pub mod summary;
pub mod surroundings;
pub mod tab;
pub mod toast;
pub mod tools;
pub mod update;
pub mod url;
pub mod views;
pub mod window_history;

pub use action::Action;
pub use candidates::snapshot_indices;
pub use command::Command;
pub use effect::Effect;
pub use features::State;
pub use features::*;
pub use update::update;
