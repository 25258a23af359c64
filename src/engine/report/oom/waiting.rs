//! Memory that the program had freed before an OOM, but that another stream still used: whether the failed request
//! would have fitted in it, and when the same request succeeded.

use super::facts::{OomFacts, OomState};
use super::request_pool::RequestPool;
use crate::report::frame_words::has_frame_with;
use crate::report::writer::{ReportWriter, allocation_evidence, bytes_text};
use crate::side::Side;
use crate::state::{DeviceState, Segment, SegmentSizing, driver_request_size, page_size};
use base::slice::{SliceResult, TimeSlice};
use base::units::{EventIdx, group_digits};
use history::replay::{AllocationId, SegmentKind, SegmentLifetimes};
use history::snapshot::Action;
use protocol::Tone;
use std::ops::Range;

/// Allocations that await their free at an OOM, and the first later request with the same size.
pub(super) struct Waiting {
    event: u32,
    ids: Vec<u32>,
    next: u32,
    /// Event of the first allocation after the OOM with the size and the stream of the failed request.
    succeeded: Option<u32>,
}

impl Waiting {
    /// Creates an empty list for an OOM.
    pub(super) fn new(event: u32) -> Waiting {
        Waiting { event, ids: Vec::new(), next: event.saturating_add(1), succeeded: None }
    }

    /// Adds a live allocation if it awaits its free at the OOM.
    pub(super) fn add(&mut self, side: Side<'_>, id: AllocationId) {
        let moment = self.event.saturating_add(1);
        if side.device_data().awaits_free_at(id, moment) {
            self.ids.push(id.0);
        }
    }

    /// Continues searching for the later request.
    pub(super) fn step(&mut self, Side { file, history }: Side<'_>, slice: &mut TimeSlice) -> SliceResult {
        if self.ids.is_empty() {
            return Ok(());
        }
        let stream = |event: u32| file.snapshot.labels.labels(history.events.labels(event)).stream.unwrap_or_default();
        let rounded = |event: u32| file.rounding.rounded(history.address_and_size(EventIdx(event)).1);
        let wanted = rounded(self.event);
        while self.next < history.event_count() && self.succeeded.is_none() {
            slice.tick()?;
            let event = self.next;
            self.next += 1;
            let is_alloc = history.events.action(event) == Action::Alloc;
            if is_alloc && rounded(event) == wanted && stream(event) == stream(self.event) {
                self.succeeded = Some(event);
            }
        }
        Ok(())
    }

    /// Writes the statement if the memory that awaited its free would have served the request.
    pub(super) fn write(
        &self,
        writer: &mut ReportWriter<'_>,
        facts: &OomFacts,
        oom: &OomState,
        lives: &SegmentLifetimes,
    ) {
        let side = writer.side;
        let Waiting { ids, succeeded, .. } = self;
        let data = side.device_data();
        let rounded = side.file.rounding.rounded(facts.request);
        let labels = side.file.snapshot.labels.labels(side.history.events.labels(facts.event));
        let pool = RequestPool::new(side, facts, oom, lives);
        let size = |id: AllocationId| data.rounded_size(id).0;
        let largest_of = |ids: &[u32]| ids.iter().map(|&id| AllocationId(id)).max_by_key(|&id| size(id));
        // Blocks of the same pool and stream are reused: one, or several with the free memory around them.
        let (mut block, mut joined): (Option<AllocationId>, Option<Vec<u32>>) = Default::default();
        let (mut released, mut sizing) = (0u64, SegmentSizing::Fixed);
        for segment in &oom.state.segments {
            let Some(kind) = lives.kinds().get(segment.kind as usize) else { continue };
            for (range, waiting) in free_runs(&oom.state, segment, ids) {
                released = released.saturating_add(releasable_bytes(kind, segment, &range));
                if !pool.is_served_by(kind) {
                    continue;
                }
                sizing = if kind.expandable { SegmentSizing::Expandable } else { sizing };
                block = block.into_iter().chain(largest_of(&waiting)).max_by_key(|&id| size(id));
                let is_same = |&id: &u32| stream_of(side, AllocationId(id)) == labels.stream.unwrap_or_default();
                if range.end - range.start >= rounded && !waiting.is_empty() && waiting.iter().all(is_same) {
                    joined = Some(waiting);
                }
            }
        }
        let needed = driver_request_size(rounded, sizing);
        let is_enough = facts.device_free.is_some_and(|free| free.saturating_add(released) >= needed);
        let is_released = is_enough && pool.releases_cached();
        let block = block.filter(|&id| size(id) >= rounded).map(|id| vec![id.0]);
        let Some(found) = block.or(joined).or_else(|| is_released.then(|| ids.clone())) else { return };
        let Some(largest) = largest_of(&found) else { return };
        let bytes = |&id: &u32| side.history.allocations.size(AllocationId(id));
        let awaited = found.iter().fold(0u64, |sum, id| sum.saturating_add(bytes(id)));
        let stream = block_stream(side, largest);
        let mut text = format!("{} awaited their free on {stream} and would have fitted", bytes_text(awaited));
        if let Some(event) = *succeeded {
            text.push_str(&format!("; the same request succeeded at event {}", group_digits(event.into())));
        }
        text.push('.');
        let evidence = allocation_evidence(largest.0, Some(facts.event.saturating_add(1)));
        writer.add_statement(Tone::Alarm, text, Some(evidence));
        writer.set_fix(match uses_nccl(side, largest) {
            true => "Set TORCH_NCCL_AVOID_RECORD_STREAMS=1, so that record_stream() does not delay the free.",
            false => {
                "Avoid record_stream() for it: let its stream wait for the other stream (wait_stream or an event) before the tensor is freed."
            }
        });
    }
}

/// Returns the bytes of a free range of a segment that PyTorch releases before a request of the default pool fails:
/// whole segments of the default pool, and whole pages of its expandable segments.
pub(super) fn releasable_bytes(kind: &SegmentKind, segment: &Segment, range: &Range<u64>) -> u64 {
    let page = if kind.expandable { page_size(kind.small) } else { segment.end - segment.address };
    if kind.pool.unwrap_or_default() != (0, 0) || page == 0 {
        return 0;
    }
    let [from, to] = [range.start, range.end].map(|address| address - segment.address);
    (to / page).saturating_sub(from.div_ceil(page)).saturating_mul(page)
}

/// Returns the ranges of a segment that are free, or would be without the allocations with these ids, and the ids of
/// those in each range. `ids` are ascending.
pub(super) fn free_runs(state: &DeviceState, segment: &Segment, ids: &[u32]) -> Vec<(Range<u64>, Vec<u32>)> {
    let (mut runs, mut from, mut waiting) = (Vec::new(), segment.address, Vec::new());
    for block in state.blocks_of(segment) {
        if ids.binary_search(&block.id).is_ok() {
            waiting.push(block.id);
        } else {
            runs.push((from..block.from, std::mem::take(&mut waiting)));
            from = block.to;
        }
    }
    runs.push((from..segment.end, waiting));
    runs.retain(|(range, _)| range.start < range.end);
    runs
}

/// Returns the stream of an allocation, or the default stream if it is not recorded.
fn stream_of(Side { file, history }: Side<'_>, id: AllocationId) -> u64 {
    let event = history.allocations.allocated_at(id).event();
    let stream = event.and_then(|event| file.snapshot.labels.labels(history.events.labels(event.0)).stream);
    stream.unwrap_or_default()
}

/// Names the stream of an allocation: `stream 0`, or `stream 0x55d0`.
fn block_stream(side: Side<'_>, id: AllocationId) -> String {
    match stream_of(side, id) {
        0 => "stream 0".to_owned(),
        stream => format!("stream {stream:#x}"),
    }
}

/// Returns whether the stack of an allocation has frames of NCCL or FSDP.
fn uses_nccl(side: Side<'_>, id: AllocationId) -> bool {
    has_frame_with(side.snapshot(), side.stack(id), &["nccl", "fsdp"])
}
