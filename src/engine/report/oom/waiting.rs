//! Memory that the program had freed before an OOM, but that another stream still used: whether the failed request would
//! have fitted in it, and when the same request succeeded.

use super::facts::{OomFacts, OomState};
use crate::report::frame_words::has_frame_with;
use crate::report::writer::{ReportWriter, allocation_evidence, bytes_text};
use crate::side::Side;
use crate::state::{SegmentSizing, driver_request_size, is_small};
use base::slice::{SliceResult, TimeSlice};
use base::units::{EventIdx, group_digits};
use history::replay::{AllocationId, SegmentLifetimes};
use history::snapshot::Action;
use protocol::Tone;

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
        let is_matching = |id: AllocationId| {
            let segment = oom.state.segment_at(side.history.allocations.address(id));
            let kind = segment.and_then(|segment| lives.kinds().get(segment.kind as usize));
            kind.is_some_and(|kind| {
                kind.pool.unwrap_or_default() == labels.pool.unwrap_or_default()
                    && kind.stream.unwrap_or_default() == labels.stream.unwrap_or_default()
                    && kind.small == is_small(rounded)
            })
        };
        let size = |id: AllocationId| data.rounded_size(id).0;
        let all = || ids.iter().map(|&id| AllocationId(id));
        // A block of the same pool and stream is reused as it is.
        let block = all().filter(|&id| size(id) >= rounded && is_matching(id)).max_by_key(|&id| size(id));
        // Segments of the default pool without other blocks are released to the driver.
        let released = oom.state.segments.iter().fold(0u64, |sum, segment| {
            let blocks = oom.state.blocks_of(segment);
            let is_default = lives
                .kinds()
                .get(segment.kind as usize)
                .is_some_and(|kind| kind.pool.unwrap_or_default() == (0, 0) && !kind.expandable);
            let is_free = is_default && blocks.iter().all(|block| ids.binary_search(&block.id).is_ok());
            if is_free { sum.saturating_add(segment.sums.reserved) } else { sum }
        });
        let needed = driver_request_size(rounded, SegmentSizing::Fixed);
        let is_released = facts.device_free.is_some_and(|free| free.saturating_add(released) >= needed);
        let Some(largest) = block.or_else(|| all().filter(|_| is_released).max_by_key(|&id| size(id))) else { return };
        let awaited = block.map_or(facts.awaiting_free, |id| side.history.allocations.size(id));
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

/// Names the stream of an allocation: `stream 0`, or `stream 0x55d0`.
fn block_stream(Side { file, history }: Side<'_>, id: AllocationId) -> String {
    let event = history.allocations.allocated_at(id).event();
    let stream = event.and_then(|event| file.snapshot.labels.labels(history.events.labels(event.0)).stream);
    match stream.unwrap_or_default() {
        0 => "stream 0".to_owned(),
        stream => format!("stream {stream:#x}"),
    }
}

/// Returns whether the stack of an allocation has frames of NCCL or FSDP.
fn uses_nccl(side: Side<'_>, id: AllocationId) -> bool {
    has_frame_with(side.snapshot(), side.stack(id), &["nccl", "fsdp"])
}
