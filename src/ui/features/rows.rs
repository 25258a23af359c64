//! Selects and copies rows in the list of allocations and in the list of events.

pub mod cells;
mod row_selection;

pub use cells::{Cell, Grid, RowView};
pub use row_selection::{RowMove, RowSelection, SelectMode};

use crate::state::effect::Effect;
use crate::state::outbox::{Intent, Outbox};
use base::units::pluralize;
use protocol::{Question, TableText};

/// Command on the rows of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowsStep {
    Go(RowMove, SelectMode),
    ChooseAll,
    /// Copies the selected rows, or all rows if none is selected.
    Copy,
    Filter,
    Clear,
    SortByNextColumn,
    ReverseSort,
}

/// Rows that are being collected for the clipboard.
#[derive(Clone, Debug, Default)]
pub struct Copying(Option<PendingCopy>);

#[derive(Clone, Debug)]
struct PendingCopy {
    serial: u32,
    wanted: u32,
    text: String,
}

impl Copying {
    /// Requests rows of a device as text to copy them. `rows` holds half-open ranges.
    pub(crate) fn start(&mut self, device: i64, rows: &[[u32; 2]], question: Question, out: &mut Outbox) {
        let wanted = rows.iter().map(|[from, to]| to - from).sum();
        if wanted == 0 {
            out.say("No rows to copy.");
            return;
        }
        out.push(Effect::PromiseCopy);
        self.0 = Some(PendingCopy { serial: out.ask(device, question), wanted, text: String::new() });
    }

    /// Appends a part of the requested text, and copies the text once it is complete. Returns false if the part belongs
    /// to another request.
    pub(crate) fn take(&mut self, serial: u32, part: &TableText, out: &mut Outbox) -> bool {
        let Some(mut pending) = self.0.take_if(|pending| pending.serial == serial) else { return false };
        pending.text.push_str(&part.text);
        if !part.last {
            self.0 = Some(pending);
            return true;
        }
        let mut copied = "Copied ".to_owned();
        if part.rows < pending.wanted {
            copied.push_str("the first ");
        }
        copied.push_str(&pluralize(part.rows.into(), "row"));
        if part.rows < pending.wanted {
            copied.push_str(&format!(" of {}", cells::number(pending.wanted)));
        }
        copied.push('.');
        out.intend(Intent::SayWhenCopied(copied));
        out.push(Effect::CopyPromised(pending.text));
        true
    }
}
