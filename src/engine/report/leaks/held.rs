//! Python objects that hold allocations at the end, as found by the recorder.

use crate::origin::holder_of;
use crate::report::site_sums::SiteSum;
use crate::report::writer::{ReportWriter, allocation_evidence, bytes_text};
use crate::side::Side;
use base::units::pluralize;
use history::replay::AllocationId;
use protocol::Tone;

/// Describes the holder of an allocation. Empty if it is unknown.
pub(super) fn held_by(Side { file, history }: Side<'_>, id: AllocationId) -> String {
    let holder = holder_of(&file.snapshot, history, id);
    holder.map_or_else(String::new, |holder| file.snapshot.recorder.describe_holder(holder))
}

/// Returns a sentence about the holder of an allocation of a call site, preceded by a space. Empty if none is known.
pub(super) fn holder_text(side: Side<'_>, sum: &SiteSum) -> String {
    let holder = sum.held.map(|id| held_by(side, AllocationId(id)));
    holder.map_or_else(String::new, |holder| [" Held by ", &holder, "."].concat())
}

/// Allocations that are held by reference cycles only, so that the garbage collector would free them.
#[derive(Default)]
pub(super) struct Cycles {
    count: u64,
    bytes: u64,
    /// Size and id of the largest.
    largest: Option<(u64, AllocationId)>,
}

impl Cycles {
    /// Adds an allocation that is live at the end, if it is held by a reference cycle.
    pub(super) fn add(&mut self, Side { file, history }: Side<'_>, id: AllocationId, size: u64) {
        let holder = holder_of(&file.snapshot, history, id);
        if !holder.is_some_and(|holder| file.snapshot.recorder.is_cycle(holder)) {
            return;
        }
        self.count += 1;
        self.bytes = self.bytes.saturating_add(size);
        if self.largest.is_none_or(|(bytes, _)| size > bytes) {
            self.largest = Some((size, id));
        }
    }

    /// Writes a statement, unless there are no cycles.
    pub(super) fn write(&self, writer: &mut ReportWriter<'_>) {
        let Some((_, id)) = self.largest else { return };
        let side = writer.side;
        let wait = if self.count == 1 { "waits" } else { "wait" };
        let text = format!(
            "{} ({}) {wait} for the garbage collector: {}.",
            pluralize(self.count, "tensor"),
            bytes_text(self.bytes),
            held_by(side, id)
        );
        writer.add_statement(Tone::Alarm, text, Some(allocation_evidence(id.0, Some(side.history.event_count()))));
        writer.set_fix("Break the cycle, for example with weakref, or call gc.collect() after the step.");
    }
}
