//! Serialized histories, which can be loaded without decoding and replaying events.
//!
//! ```text
//! part      HISTORY · numbers (u64 each)                         starts a device
//!           WARNING · kind · count (u64) · path                  warning about the history
//!           column · width · minimum (u64) · values              up to one chunk of a column of that device
//! values    difference to the chunk's minimum, in `width` bytes  little-endian, as all numbers
//! ```
//!
//! This module only checks that all references are in range. The file that contains the parts must detect damage.

mod packing;
mod reading;
mod validation;
mod writing;

pub(super) use reading::{HistoryLoader, ImageReader};
pub use writing::{write_parts, write_results, write_warning_parts};

use crate::snapshot::WarningKind;
use base::column::Column;

/// Tag of the part that starts a device.
const HISTORY: u8 = 255;
/// Tag of a part with a warning.
const WARNING: u8 = 254;
/// Tag of a part with results of the program that wrote the histories.
const RESULTS: u8 = 253;

/// Columns of a device, by element type. A part identifies its column by type and index. The index takes five bits.
#[derive(Default)]
struct Columns {
    /// Column with the actions of events.
    bytes: [Column<u8>; 1],
    /// Columns of events: subject, stack, labels, events without a time offset. Columns of allocations from before the
    /// trace: free requested, freed. Columns of allocations in the trace: free requested, freed, allocated. Events of
    /// notes. Counts of live allocations. Allocations live at the end, and their blocks. Labels of annotated subjects
    /// and of annotated addresses. Moments of the maxima of the drawn, reserved and awaiting-free totals.
    /// Events of reserved ranges outside the listed segments.
    words: [Column<u32>; 19],
    /// Address and size, as two columns each: allocations from before the trace, allocations in the trace, segment
    /// operations, notes. Then annotated subjects and annotated addresses, and address and size of reserved ranges
    /// outside the listed segments.
    longs: [Column<u64>; 12],
    /// Times: first event of each chunk, latest time before the chunk, events without an offset. Drawn, reserved and
    /// awaiting-free totals: first total and maximum of each block.
    signed: [Column<i64>; 9],
    /// Column with the time offsets of events.
    offsets: [Column<i32>; 1],
}

base::heap_bytes!(Columns: [bytes], [words], [longs], [signed], [offsets]);

/// Kinds of warnings about histories. A serialized warning stores its index in this table.
const KINDS: [WarningKind; 12] = [
    WarningKind::AllocatedTwice,
    WarningKind::FreedTwice,
    WarningKind::FreeOfUnknownBlock,
    WarningKind::FreeSizeDiffers,
    WarningKind::UnexplainedBytes,
    WarningKind::NegativeRemainder,
    WarningKind::FreesNeverComplete,
    WarningKind::TimeDecreases,
    WarningKind::AnnotationWithoutStart,
    WarningKind::TotalsAtLimit,
    WarningKind::LiveExceedsReserved,
    WarningKind::MissingSegments,
];

#[cfg(test)]
#[path = "../../../../tests/units/history/replay/image.rs"]
mod tests;
