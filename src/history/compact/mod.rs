//! Compact columns: a small file format for snapshots. Native programs write and read it. The web page only reads it.
//!
//! ```text
//! file     "memscape columns" · version · section*          usually gzipped, which is not part of the format
//! section  kind · bytes (u32) · payload · checksum (u32)    little-endian, the checksum covers all bytes before it
//! payload  rows · bytes of each column · the columns        numbers are varints, 7 bits a byte, lowest first
//! ```
//!
//! Events come first, in sections of one trace each, so that writer and reader hold at most one section in memory.
//! Tables follow, each after the tables that it refers to. A section is read in steps of well under 8 ms each.
//!
//! An event takes few bytes because most of its fields repeat earlier ones.
//!
//! A cache file ([`Writer::new_cache`]) is read in place of the original file. It has the same tables, parts of the
//! replayed histories ([`Writer::history_part`]) in place of events, and faster checksums. A cache must only be read by
//! the build that wrote it. The caller must ensure this.

mod depths;
mod error;
mod events;
mod format;
mod numbers;
mod reader;
mod tables;
mod trace;
mod write_tables;
mod writer;

pub use error::{CompactError, WriteError};
pub use format::{CACHE_FLAG, MAGIC, VERSION, checksum, fast_checksum};
pub use reader::{ColumnReader, CompactContents};
pub use writer::Writer;
