//! Settings and rules that apply to all files.

pub mod cache_index;
pub mod recent_files;
pub mod rules;
pub mod settings;
