//! User interface state and logic of memscape, independent of a browser.
//!
//! Every input is an [`Action`]: a command, pointer or keyboard input, or a reply of the engine's worker. [`update()`]
//! applies an action to the [`State`] and returns the [`Effect`]s that the caller (the web page or the terminal UI) has
//! to carry out. View models such as those of [`scope::details`] turn the state into text and numbers, so the caller
//! makes no decisions of its own.
//!
//! Start with `shell/action.rs` (inputs), `shell/update.rs` (the only function that changes the state),
//! `state/shared.rs` (the state that all features share) and `state/outbox.rs` (what a feature may want of others).

pub mod features;
pub mod plot;
pub mod prefs;
pub mod scope;
pub mod session;
pub mod shell;
pub mod state;
pub mod text;

pub use features::State;
pub use features::command::Command;
pub use session::candidates::snapshot_indices;
pub use shell::action::Action;
pub use shell::update::update;
pub use state::effect::Effect;
