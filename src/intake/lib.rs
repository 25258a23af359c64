//! Loads files in time slices: from bytes to the histories of the devices.
//!
//! A [`Loader`] takes the bytes of a file in the order that it asks for, and returns a [`LoadedFile`]. [`read_columns`]
//! does the same for the column format alone, without linking decoders of other formats.
//!
//! Read first: `loader.rs`, `container_input.rs` (files and archives) and `decoder.rs` (formats).

mod archive;
mod archive_error;
mod columns;
mod container_input;
mod decoder;
mod event_sink;
mod input_buffer;
mod loaded_file;
mod loader;
mod memory_limit;
mod partial;
mod private;
mod probe;
mod snapviewer;
mod spans;
mod survey;

pub use columns::read_columns;
pub use loaded_file::LoadedFile;
pub use loader::Loader;
pub use memory_limit::MAX_TABLE_BYTES;
pub use partial::PartialSchedule;
