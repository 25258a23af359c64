//! Shared handling of listed rows: selecting and copying them in the table of allocations and the list of events.

pub mod cells;
mod row_selection;

pub use cells::{Cell, Grid, RowView};
pub use row_selection::{RowMove, RowSelection, SelectMode};

use super::effect::Effect;
use super::shared::Shared;
use base::units::pluralize;
use engine::protocol::{Question, TableText};

/// Operation on rows, from a key or a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowsStep {
    Go(RowMove, SelectMode),
    ChooseAll,
    /// Copies the chosen rows, or all rows if none is chosen.
    Copy,
    Filter,
    Clear,
    SortByNextColumn,
    ReverseSort,
}

/// Rows that are being copied to the clipboard.
#[derive(Clone, Debug, Default)]
pub struct Copying(Option<PendingCopy>);

#[derive(Clone, Debug)]
struct PendingCopy {
    serial: u32,
    wanted: u32,
    text: String,
}

impl Copying {
    /// Requests rows of a device as text, for copying. `rows` holds half-open ranges.
    pub(super) fn start(
        &mut self,
        shared: &mut Shared,
        device: i64,
        rows: &[[u32; 2]],
        question: Question,
        effects: &mut Vec<Effect>,
    ) {
        let wanted = rows.iter().map(|[from, to]| to - from).sum();
        if wanted == 0 {
            shared.remark = Some("No rows to copy.".to_owned());
            return;
        }
        let serial = shared.next_serial();
        self.0 = Some(PendingCopy { serial, wanted, text: String::new() });
        effects.push(Effect::PromiseCopy);
        effects.push(Effect::ask(serial, device, question));
    }

    /// Takes the next part of the text, and copies everything after the last part. Returns false if the part belongs to
    /// another request.
    pub(super) fn take(
        &mut self,
        shared: &mut Shared,
        serial: u32,
        part: &TableText,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let Some(mut copying) = self.0.take_if(|copying| copying.serial == serial) else { return false };
        copying.text.push_str(&part.text);
        if !part.last {
            self.0 = Some(copying);
            return true;
        }
        let mut copied = "Copied ".to_owned();
        if part.rows < copying.wanted {
            copied.push_str("the first ");
        }
        copied.push_str(&pluralize(part.rows.into(), "row"));
        if part.rows < copying.wanted {
            copied.push_str(&format!(" of {}", cells::number(copying.wanted)));
        }
        copied.push('.');
        shared.copied_remark = Some(copied);
        effects.push(Effect::CopyPromised(copying.text));
        true
    }
}
