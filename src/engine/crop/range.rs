//! Ranges of events to crop, by device.

use base::units::{EventIdx, Moment};
use history::replay::{DeviceHistory, Provenance};
use history::snapshot::Action;

/// Value of `internal_metadata` in the events of the prologue.
pub const PROLOGUE: &str = "memscape: live before the cropped range";

/// Parameters of a crop.
#[derive(Clone, Debug)]
pub struct Crop {
    /// Device ordinals, each with a range of events: start and end (exclusive).
    pub devices: Vec<(i64, [u32; 2])>,
    /// True to write the prologue, with the allocations that are live before the range.
    pub prologue: bool,
    /// Stream whose events and segments are kept. `None` keeps all.
    pub stream: Option<u64>,
    /// Name of the source, recorded in the crop.
    pub source: String,
}

/// A range of the events of one device.
pub(super) struct Range<'a> {
    pub(super) history: &'a DeviceHistory,
    /// Index of the first event of the range. `to` is the index of the first event after the range.
    pub(super) from: u32,
    pub(super) to: u32,
    /// Times of the first and the last event in µs, if recorded.
    pub(super) times: Option<[i64; 2]>,
}

impl<'a> Range<'a> {
    pub(super) fn new(history: &'a DeviceHistory, events: [u32; 2]) -> Range<'a> {
        let [from, to] = events.map(|event| event.min(history.event_count()));
        let to = to.max(from);
        let at = |event: u32| history.events.times.at(event);
        let times = (from..to).find_map(at).zip((from..to).rev().find_map(at)).map(|(first, last)| [first, last]);
        Range { history, from, to, times }
    }

    /// Returns the events of the prologue in order: alloc events of the allocations that are live before the range, and
    /// requests to free them that were made before the range.
    pub(super) fn prologue(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.from).filter(|&event| self.is_in_prologue(event).unwrap_or(false))
    }

    fn is_in_prologue(&self, event: u32) -> Option<bool> {
        let (history, from) = (self.history, self.from);
        let action = history.events.action(event);
        if !matches!(action, Action::Alloc | Action::FreeRequested) {
            return None;
        }
        let id = history.allocation_of(EventIdx(event))?;
        let allocations = &history.allocations;
        let (allocated_at, freed_at, _) = allocations.span(id);
        let is_recorded = matches!(allocations.provenance(id), Provenance::AllocatedBy(_));
        let is_latest = match action {
            Action::Alloc => allocated_at == event + 1,
            _ => allocations.free_requested(id) == Some(Moment(event + 1)),
        };
        Some(is_recorded && is_latest && allocated_at <= from && from < freed_at)
    }
}
