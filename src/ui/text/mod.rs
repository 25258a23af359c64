//! Words and numbers on the screen, independent of the state.

pub mod amount;
pub mod cell_text;
pub mod file_memory;
pub mod fingerprint;
pub(crate) mod fuzzy;
pub(crate) mod load_range;
pub mod markdown;
pub mod names;
pub mod position_text;
pub mod recording_snippet;
pub mod renderer;
pub mod sender;
pub mod side;
pub mod size_text;
pub mod source_links;
pub mod summary;
pub mod tab;
pub mod url;
