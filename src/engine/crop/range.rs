//! What is cropped: a range of the events of a device.

use crate::open::OpenFile;
use base::units::{EventIdx, Moment};
use history::replay::{AllocationId, DeviceHistory, Provenance};
use history::snapshot::Action;

/// What marks the events of the prologue, as their `internal_metadata`.
pub const PROLOGUE: &str = "memscape: live before the cropped range";

/// What is cropped.
#[derive(Clone, Debug)]
pub struct Crop {
    pub device: i64,
    /// The first event, and the first beyond.
    pub events: [u32; 2],
    /// Whether the prologue is written.
    pub prologue: bool,
    /// What the source is called, for whoever opens the crop.
    pub source: String,
}

/// The range, of an open file.
pub(super) struct Range<'a> {
    pub(super) file: &'a OpenFile,
    pub(super) history: &'a DeviceHistory,
    /// The first event, and the first beyond.
    pub(super) from: u32,
    pub(super) to: u32,
    /// Times of the first and the last event, where they were recorded.
    pub(super) times: Option<[i64; 2]>,
}

impl<'a> Range<'a> {
    pub(super) fn new(file: &'a OpenFile, history: &'a DeviceHistory, [from, to]: [u32; 2]) -> Range<'a> {
        let at = |event: u32| history.events.times.at(event);
        let times = (from..to).find_map(at).zip((from..to).rev().find_map(at)).map(|(first, last)| [first, last]);
        Range { file, history, from, to, times }
    }

    /// The events of the prologue in their order, each with its allocation: allocs of what is live before the range, and the requests to
    /// free it that came before.
    pub(super) fn prologue(&self) -> impl Iterator<Item = (u32, AllocationId)> + '_ {
        let (history, from) = (self.history, self.from);
        (0..from).filter_map(move |event| {
            let action = history.events.action(event);
            if !matches!(action, Action::Alloc | Action::FreeRequested) {
                return None;
            }
            let id = history.allocation_of(EventIdx(event))?;
            let allocations = &history.allocations;
            let (born, died, _) = allocations.span(id);
            let is_recorded = matches!(allocations.provenance(id), Provenance::AllocatedBy(_));
            let is_own = match action {
                Action::Alloc => born == event + 1,
                _ => allocations.free_requested(id) == Some(Moment(event + 1)),
            };
            (is_recorded && is_own && born <= from && from < died).then_some((event, id))
        })
    }
}
