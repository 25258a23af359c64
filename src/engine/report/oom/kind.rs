//! Sizes at every OOM of a device, and the kind of OOM that they imply. The report lists the kinds, and surveys of many
//! files store all sizes.

use super::facts::{OomFacts, RoundedAtOoms, min_capacity};
use super::kind_sums::SumsByKind;
use crate::open::OpenFile;
use crate::recorder_facts::{paused_over_time, recorder_facts};
use crate::side::Side;
use crate::state::{DeviceState, SegmentSizing, driver_request_size};
use base::slice::TimeSlice;
use protocol::{CAPACITY, SegmentsSums};

/// Maximum number of OOMs for which the free blocks are examined. Each needs a pass over the live allocations.
const MAX_STATES: usize = 8;

base::listed! {
    /// Reason why a request failed, from the recorded numbers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum OomKind {
        /// The device had room for the request: a memory fraction limits the process, or the memory was freed since.
        Limit = "limit",
        /// Free device memory and free (cached) memory would have sufficed together.
        Fragmentation = "fragmentation",
        /// Without the memory in use outside the allocator, the request would have fitted.
        Outside = "outside",
        /// The live allocations left too little room.
        Live = "live",
        /// The file does not record the free device memory or the reserved memory.
        Unknown = "unknown",
    }
}

/// A failed request, and the sizes of memory at that moment. Values that the file does not record are `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OomRecord {
    pub event: u32,
    pub requested_bytes: u64,
    pub live_bytes: u64,
    pub reserved_bytes: u64,
    /// Free device memory that the driver reported.
    pub device_free_bytes: Option<u64>,
    /// Upper bound of the reserved bytes outside live blocks.
    pub idle_bytes: Option<u64>,
    /// Lower bound of the device memory that was neither reserved nor free.
    pub outside_bytes: Option<u64>,
    /// Upper bound of the largest free block. Only known for the newest OOMs.
    pub largest_hole_bytes: Option<u64>,
    pub kind: OomKind,
}

/// Returns all OOMs of a device, oldest first. The sizes equal those in the table of OOMs of the insight. Needs
/// [`Engine::complete_side`](crate::Engine::complete_side).
pub fn oom_records(side: &Side<'_>) -> Vec<OomRecord> {
    let &Side { file, history } = side;
    let events: Vec<u32> = history.oom_events().collect();
    if events.is_empty() {
        return Vec::new();
    }
    let has_time = &mut || true;
    let slice = &mut TimeSlice::new(has_time);
    let mut rounded = RoundedAtOoms::default();
    while rounded.step(*side, slice).is_err() {}
    let recorded = recorder_facts(&file.snapshot, history).into_iter().find(|(key, _)| key == CAPACITY);
    let paused = paused_over_time(&file.snapshot, history.device);
    let capacity = recorded.map_or(0, |(_, bytes)| bytes).max(min_capacity(history, &paused));
    let first_state = events.len().saturating_sub(MAX_STATES);
    let records = events.iter().zip(&rounded.at_ooms).enumerate().map(|(index, (&event, &rounded))| {
        let facts = OomFacts::new(history, event, &paused);
        let free = (index >= first_state).then(|| free_at(*side, event, slice)).flatten();
        // As in the insight, which examines the free blocks at the newest OOM only.
        let exact = free.as_ref().filter(|_| index + 1 == events.len()).map(|sums| sums.free);
        let idle = exact.unwrap_or(facts.reserved.saturating_sub(rounded));
        let Causes { idle_bytes, outside_bytes, kind } = causes(file, &facts, idle, capacity);
        OomRecord {
            event,
            requested_bytes: facts.request,
            live_bytes: facts.live,
            reserved_bytes: facts.reserved,
            device_free_bytes: facts.device_free,
            idle_bytes,
            outside_bytes,
            largest_hole_bytes: free.map(|sums| sums.largest_free),
            kind,
        }
    });
    records.collect()
}

/// Kind of an OOM, and the sizes that it follows from, if they are recorded.
pub(super) struct Causes {
    pub(super) idle_bytes: Option<u64>,
    pub(super) outside_bytes: Option<u64>,
    pub(super) kind: OomKind,
}

/// Classifies an OOM. `idle` is an upper bound of the reserved bytes outside live blocks.
pub(super) fn causes(file: &OpenFile, facts: &OomFacts, idle: u64, capacity: u64) -> Causes {
    let idle_bytes = (facts.reserved > 0).then_some(idle);
    let accounted = facts.accounted().filter(|_| facts.reserved > 0);
    let outside_bytes = accounted.map(|accounted| capacity.saturating_sub(accounted));
    let kind = kind(file.rounding.rounded(facts.request), facts.device_free, idle_bytes, outside_bytes);
    Causes { idle_bytes, outside_bytes, kind }
}

/// Returns the sums over all segments at an OOM. `None` without recorded segments.
fn free_at(side: Side<'_>, event: u32, slice: &mut TimeSlice) -> Option<SegmentsSums> {
    let lives = side.segment_lives()?;
    let mut state = DeviceState::new(side.history, lives, event.saturating_add(1));
    while state.step(side, lives, slice).is_err() {}
    let mut by_kind = SumsByKind::default();
    while by_kind.step(&state, lives, slice).is_err() {}
    Some(by_kind.total).filter(|total| total.reserved > 0)
}

/// Classifies an OOM. `rounded` is the rounded size of the request; the other sizes are those of [`OomRecord`].
fn kind(rounded: u64, device_free: Option<u64>, idle: Option<u64>, outside: Option<u64>) -> OomKind {
    let Some((free, idle)) = device_free.zip(idle) else { return OomKind::Unknown };
    match rounded {
        _ if free >= driver_request_size(rounded, SegmentSizing::Fixed) => OomKind::Limit,
        _ if free.saturating_add(idle) >= rounded => OomKind::Fragmentation,
        _ if outside.is_some_and(|outside| outside >= rounded) => OomKind::Outside,
        _ => OomKind::Live,
    }
}

#[cfg(test)]
#[path = "../../../../tests/units/engine/report/oom_kind.rs"]
mod tests;
