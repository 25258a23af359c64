//! Sentences about what a recording lacks. They agree with the warnings about the file.

use crate::open::OpenFile;
use crate::side::Side;
use base::units::Bytes;
use history::snapshot::{Action, WarningKind};

pub(super) fn has_warning(file: &OpenFile, kind: &WarningKind) -> bool {
    file.snapshot.warnings.iter().chain(file.warnings().iter()).any(|(known, ..)| known == kind)
}

/// Returns the sentence for a recording without call stacks. `None` if the file has stacks.
pub(super) fn without_stacks(file: &OpenFile) -> Option<String> {
    let mut kinds = file.snapshot.warnings.iter().map(|(kind, ..)| kind);
    let kind = kinds.find(|kind| matches!(kind, WarningKind::NoStacks | WarningKind::FromProfiler(_)))?;
    Some(match kind {
        WarningKind::FromProfiler(_) => {
            let text = "Recorded by torch.profiler, without call stacks: record a snapshot with ";
            [text, file.backend.module(), ".memory._record_memory_history()."].concat()
        }
        kind => file.warning_message(kind) + ".",
    })
}

/// Returns the sentence for a device without events: whether recording was enabled, and what is known from the
/// segments. A single event that is no allocation is what a ring buffer of one entry keeps. `None` if there are more
/// events.
pub(super) fn without_events(Side { file, history }: Side<'_>) -> Option<String> {
    let mut text = match history.event_count() {
        0 if has_warning(file, &WarningKind::NotRecorded) => file.warning_message(&WarningKind::NotRecorded) + ".",
        0 if !file.has_events() => {
            let module = file.backend.module();
            format!(
                "No events: the file has only segments. Call {module}.memory._record_memory_history() before the code to \
                 look at, and save {module}.memory._snapshot()."
            )
        }
        0 => "No events on this device.".to_owned(),
        1 if history.action_counts[Action::Alloc as usize] == 0 => {
            let record = ".memory._record_memory_history(max_entries=100000).";
            let text = "Only one event was recorded: older ones were likely overwritten (max_entries=1). Record with ";
            [text, file.backend.module(), record].concat()
        }
        _ => return None,
    };
    let numbers = &history.numbers;
    let [live, reserved] = [numbers.end, numbers.reserved_end].map(Bytes);
    if live.0 > 0 || reserved.0 > 0 {
        text.push_str(&format!(" The segments of the snapshot have {live} live and {reserved} reserved."));
    }
    Some(text)
}
