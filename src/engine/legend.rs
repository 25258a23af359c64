//! What the colours mean, and how much of each there is at the peak.

use super::open::{OpenFile, slot_of};
use super::protocol::{Grouping, LegendEntry};
use crate::replay::Source;
use crate::units::Moment;
use std::collections::BTreeMap;

/// What the colours of a device mean, by slot; `None` when there is no such device.
pub(super) fn legend(file: &OpenFile, device: i64, colouring: Grouping) -> Option<Vec<LegendEntry>> {
    let history = file.history(device)?;
    let mut groups: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    let peak = Moment::after_event_or_minus_one(history.numbers.peak_event);
    for id in history.live.live_at(&history.allocations, peak) {
        if history.allocations.source(id) != Source::Unexplained {
            let group = groups.entry(file.groups.of(&file.snapshot, history, id, colouring)).or_default();
            *group = (group.0.saturating_add(history.allocations.size(id)), group.1 + 1);
        }
    }
    let mut entries: Vec<LegendEntry> = Vec::new();
    let count = file.groups.count(history, colouring);
    for group in (1..count.max(1)).chain([0]) {
        let (peak_requested, peak_count) = groups.get(&group).copied().unwrap_or_default();
        let slot = slot_of(group);
        match entries.last_mut().filter(|last| last.slot == slot) {
            Some(shared) => {
                shared.groups += 1;
                shared.peak_requested = shared.peak_requested.saturating_add(peak_requested);
                shared.peak_count += peak_count;
            }
            None => {
                let label = file.groups.label(&file.snapshot, history, colouring, group);
                entries.push(LegendEntry { slot, label, groups: 1, peak_requested, peak_count });
            }
        }
    }
    for shared in entries.iter_mut().filter(|entry| entry.groups > 1) {
        shared.label = format!("{} others", shared.groups);
    }
    Some(entries)
}
