//! Commands, keys, links, and the update that ties everything together.

pub mod action;
pub mod commands;
pub(crate) mod default_view;
pub mod help;
pub mod keys;
pub mod link;
pub mod load_dialog;
pub(crate) mod opened;
pub mod palette_entries;
pub(crate) mod previous;
pub mod reload;
pub mod update;
pub mod window_history;
