//! A history as it is in memory, in parts: what was replayed once is there again without its events being decoded and replayed.
//!
//! ```text
//! part      HISTORY · numbers (u64 each)                         a device begins
//!           WARNING · kind · count (u64) · place                 what was odd about it
//!           column · width · least (u64) · values                at most a chunk of one column of that device
//! values    each less the least of its chunk, in so many bytes   little-endian, as all numbers
//! ```
//!
//! Whoever stores the parts has to find damage. Here it is checked that nothing refers to what is not there, so that no part leads out of a
//! table.

mod checking;
mod packing;
mod reading;
mod writing;

pub(super) use reading::{Histories, Image};
pub use writing::{parts, warning_parts};

use crate::snapshot::WarningKind;
use base::column::Column;

/// What a part is that is not of a column.
const HISTORY: u8 = 255;
const WARNING: u8 = 254;

/// The columns of a device, by what they hold: a part names its column by both numbers, of which the second takes five bits.
#[derive(Default)]
struct Columns {
    /// Actions.
    bytes: [Column<u8>; 1],
    /// Of events: subject, stack, labels, those without an offset of time; of allocations from before the trace: free requested, died; of
    /// those born in it: the same, born; events of notes; counts of what is live; allocations live at the end, and their blocks; labels of
    /// annotated subjects and addresses; moments of the largest totals that are drawn, reserved, pending.
    words: [Column<u32>; 18],
    /// Address and size of allocations from before the trace, of those born in it, of segment operations, of notes; annotated subjects and
    /// addresses.
    longs: [Column<u64>; 10],
    /// Times: of the first event of each stretch, the latest before it, of events without an offset; of the totals that are drawn, reserved,
    /// pending: the first and the largest of each block.
    signed: [Column<i64>; 9],
    /// Offsets of times.
    offsets: [Column<i32>; 1],
}

/// What can be odd about a history.
const KINDS: [WarningKind; 11] = [
    WarningKind::AllocatedTwice,
    WarningKind::FreedTwice,
    WarningKind::FreeOfUnknownBlock,
    WarningKind::SizeOfFreeDiffers,
    WarningKind::UnexplainedBytes,
    WarningKind::NegativeRemainder,
    WarningKind::FreesNeverComplete,
    WarningKind::TimeStepsBack,
    WarningKind::AnnotationWithoutStart,
    WarningKind::TotalsAtLimit,
    WarningKind::BeyondReserved,
];

#[cfg(test)]
#[path = "../../../../tests/units/history/replay/image.rs"]
mod tests;
