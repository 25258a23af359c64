//! Export of an open file to the formats of other tools.
//!
//! Writers stream from the history to an `io::Write`. Their memory use depends on the number of stacks or frames, not
//! on the size of the output.
//!
//! Start with `profile.rs` (sums by stack), `rows.rs` (tables), `lake/mod.rs` (surveys of many files) and any of the
//! formats, such as `speedscope.rs`.

mod collapsed;
mod curve;
mod dhat;
mod firefox;
mod frames;
mod json;
pub mod lake;
mod merge;
mod pprof;
mod profile;
mod rows;
mod speedscope;
mod tables;
mod trace;

pub use merge::{MergeError, TraceLayout, merge_into_trace};
pub use profile::Total;
pub use rows::{columns, each_row};
pub use tables::write_csv_text;

use engine::Side;
use profile::Profile;
use protocol::{ExportFormat, ExportQuestion, ExportTable, Scope};
use std::io::{self, Write};

/// Exports a device in the requested format. Returns the total bytes of the exported stacks or allocations. For formats
/// without such a total, returns the live bytes at the cursor, and for tables other than allocations the number of
/// rows.
///
/// # Errors
/// Returns the errors of `out`.
pub fn write(side: Side<'_>, question: &ExportQuestion, out: &mut dyn Write) -> io::Result<Total> {
    let live = Scope::At(question.cursor);
    match question.format {
        ExportFormat::Speedscope => speedscope::write(side, question, out),
        ExportFormat::Pprof => pprof::write(side, question, out),
        ExportFormat::Collapsed => collapsed::write(&Profile::new(side, question.scope), out),
        ExportFormat::Firefox => firefox::write(side, question.cursor, out),
        ExportFormat::Dhat => dhat::write(side, out),
        ExportFormat::Trace => {
            trace::write(side, question, out)?;
            Ok(Total::of(side, live))
        }
        ExportFormat::Csv | ExportFormat::JsonLines => {
            let count = tables::write(side, question, out)?;
            let is_weighed = question.table == ExportTable::Allocations;
            Ok(if is_weighed { Total::of(side, question.scope) } else { Total { bytes: 0, count } })
        }
    }
}
