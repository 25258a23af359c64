//! The legend of a plot: its colours, and the live memory of each colour at the peak and at another moment.

use super::open::OpenFile;
use base::units::Moment;
use protocol::{Grouping, LegendEntry, Weight};

/// Returns the legend of a device, with one entry per palette slot. Each entry has the live memory at the peak and at
/// the moment `at`. `None` if there is no such device.
pub(super) fn legend(file: &OpenFile, device: i64, colouring: Grouping, at: Option<u32>) -> Option<Vec<LegendEntry>> {
    let history = file.history(device)?;
    let count = file.groups.group_count(history, colouring);
    let mut groups = vec![[Weight::default(); 2]; count.max(1) as usize];
    let peak = Moment::after_event_or_minus_one(history.numbers.peak_event);
    let at = at.map(|at| Moment(at.min(history.event_count())));
    for (part, moment) in [Some(peak), at].into_iter().enumerate() {
        let live = moment.into_iter().flat_map(|moment| history.live.live_at(&history.allocations, moment));
        for id in live.filter(|&id| !history.allocations.is_unexplained(id)) {
            let group = file.groups.group_of(&file.snapshot, history, id, colouring);
            if let Some(weight) = groups.get_mut(group as usize).and_then(|parts| parts.get_mut(part)) {
                weight.add(Weight { bytes: history.allocations.size(id), count: 1 });
            }
        }
    }
    let mut entries: Vec<LegendEntry> = Vec::new();
    for group in (1..count.max(1)).chain([0]) {
        let [peak, at] = groups.get(group as usize).copied().unwrap_or_default();
        let slot = file.groups.slot(colouring, group);
        // Every allocation has a category.
        if group == 0 && colouring == Grouping::Category {
            continue;
        }
        match entries.last_mut().filter(|last| last.slot == slot) {
            Some(shared) => {
                shared.groups += 1;
                shared.peak_requested = shared.peak_requested.saturating_add(peak.bytes);
                shared.peak_count += u64::from(peak.count);
                shared.at.add(at);
            }
            None => {
                let label = file.groups.label(&file.snapshot, history, colouring, group);
                let (peak_requested, peak_count) = (peak.bytes, peak.count.into());
                entries.push(LegendEntry { slot, label, groups: 1, peak_requested, peak_count, at });
            }
        }
    }
    for shared in entries.iter_mut().filter(|entry| entry.groups > 1) {
        shared.label = format!("{} others", shared.groups);
    }
    Some(entries)
}
