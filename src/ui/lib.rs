//! The face without a browser: state, actions, view models, keys.
//!
//! Everything a person can do is an [`Action`]; [`update()`] is the only code that changes the [`State`] and answers with
//! [`Effect`]s for the shell to carry out; the view models turn the state into plain text for the shell to show. The shell
//! decides nothing.

pub mod action;
pub mod amount;
pub mod answer;
pub mod axis_press;
mod candidates;
pub mod capacity;
pub mod cell_text;
mod commands;
pub mod cursor;
pub mod details;
pub mod drag;
pub mod events;
pub mod export;
mod feature;
pub mod figure;
pub mod find;
pub mod fingerprint;
pub mod flame;
pub mod histograms;
pub mod hover;
pub mod html;
pub mod keys;
mod lane_focus;
pub mod lane_labels;
mod lane_scenes;
pub mod lanes;
pub mod legend;
pub mod link;
pub mod links;
pub mod loading;
pub mod markdown;
pub mod markers;
pub mod marks;
pub mod memory;
pub mod moment;
pub mod navigate;
pub mod notices;
mod opening;
pub mod overlay;
pub mod pinned;
pub mod placing;
pub mod plots;
mod pointing;
pub mod range;
pub mod record;
pub mod renderer;
pub mod ruler;
pub mod rules;
pub mod scroll;
pub mod settings;
pub mod shared_axis;
pub mod source_rows;
pub mod sources;
pub mod state;
pub mod summary;
pub mod surroundings;
pub mod table;
pub mod tools;
pub mod trail;
pub mod tree;
pub mod tree_keys;
pub mod tree_rows;
mod turn;
pub mod typed_moment;
pub mod update;
pub mod url;
pub mod views;
pub mod why;

pub use action::{Action, Command, Effect};
pub use candidates::snapshots_among;
pub use state::State;
pub use update::update;
