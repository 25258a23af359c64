//! An open file in the formats of other tools. Writers go from the history to `io::Write` as they read: nothing of it is copied, and
//! what a writer holds is by stack or by frame, never the text that it writes.

mod collapsed;
mod columns;
mod curve;
mod dhat;
mod firefox;
mod frames;
mod json;
mod onto;
mod pprof;
mod profile;
mod rows;
mod speedscope;
mod tables;
mod trace;

pub use columns::{Cell, Column, Kind, columns};
pub use onto::{Kineto, OntoError, onto};
pub use profile::Total;
pub use rows::each_row;

use engine::Side;
use engine::protocol::{ExportFormat, ExportQuestion, ExportTable, Scope};
use profile::Profile;
use std::io::{self, Write};

/// Writes a device in a format; what the stacks or allocations in it add up to, or else what is live at the cursor, or, for other tables
/// than that of allocations, how many rows there are.
///
/// # Errors
/// Those of `out`.
pub fn write(side: Side<'_>, question: &ExportQuestion, out: &mut dyn Write) -> io::Result<Total> {
    let live = Scope::At(question.at);
    match question.format {
        ExportFormat::Speedscope => speedscope::write(side, question, out),
        ExportFormat::Pprof => pprof::write(side, question, out),
        ExportFormat::Collapsed => collapsed::write(&Profile::new(side, question.scope), out),
        ExportFormat::Firefox => firefox::write(side, question.at, out),
        ExportFormat::Dhat => dhat::write(side, out),
        ExportFormat::Trace => {
            trace::whole(side, question, out)?;
            Ok(Total::of(side, live))
        }
        ExportFormat::Csv | ExportFormat::JsonLines => {
            let count = tables::write(side, question, out)?;
            let is_weighed = question.table == ExportTable::Allocations;
            Ok(if is_weighed { Total::of(side, question.scope) } else { Total { bytes: 0, count } })
        }
    }
}
