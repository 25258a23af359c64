//! A snapshot as compact columns: what was decoded of a file, without what says nothing. Written natively, read everywhere.
//!
//! ```text
//! file     "memscape columns" · version · section*          all of it best packed by gzip, which is no part of the form
//! section  what · bytes (u32) · payload · sum (u32)         little-endian; the sum is over all before it
//! payload  rows · bytes of each column · the columns        numbers are varints of 7 bits, lowest first
//! ```
//!
//! Events come first, in sections of their trace, so that both sides hold no more than one section; tables follow in the order in
//! which they refer to each other. A section is read in steps, each well under 8 ms.
//!
//! What an event is takes few bytes because most of it was said before: `form` lists how.
//!
//! What a program keeps to read it in place of a file ([`Writer::kept`]) has the same tables; in place of events it has parts of the histories
//! that were made of them ([`Writer::image`]), and the sums of its sections are made eight bytes at a time. Only the build that wrote it reads
//! it, which whoever keeps it sees to.

mod depths;
mod error;
mod events;
mod form;
mod numbers;
mod reader;
mod tables;
mod trace;
mod write_tables;
mod writer;

pub use error::{CompactError, Unwritable};
pub use form::{KEPT, MAGIC, VERSION, sum, wide_sum};
pub use reader::{Compact, Machine};
pub use writer::Writer;
