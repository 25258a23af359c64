//! Sentences about what a recording lacks. They agree with the warnings about the file.

use crate::open::OpenFile;
use base::units::Bytes;
use history::replay::DeviceHistory;
use history::snapshot::WarningKind;

/// Returns whether the file has this warning.
fn has_warning(file: &OpenFile, kind: &WarningKind) -> bool {
    file.snapshot.warnings.iter().any(|(known, ..)| known == kind)
}

/// Returns the sentence for a recording without call stacks. `None` if the file has stacks.
pub(super) fn without_stacks(file: &OpenFile) -> Option<String> {
    has_warning(file, &WarningKind::NoStacks).then(|| WarningKind::NoStacks.message() + ".")
}

/// Returns the sentence for a device without events: whether recording was enabled, and what is known from the
/// segments. `None` if there are events.
pub(super) fn without_events(file: &OpenFile, history: &DeviceHistory) -> Option<String> {
    if history.event_count() > 0 {
        return None;
    }
    let mut text = match has_warning(file, &WarningKind::NotRecorded) {
        true => WarningKind::NotRecorded.message() + ".",
        false => "No events on this device.".to_owned(),
    };
    let numbers = &history.numbers;
    let [live, reserved] = [numbers.end, numbers.reserved_end].map(Bytes);
    if live.0 > 0 || reserved.0 > 0 {
        text.push_str(&format!(" The segments of the snapshot have {live} live and {reserved} reserved."));
    }
    Some(text)
}
