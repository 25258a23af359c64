//! State of a device's history before its first event: the allocations from before recording, and the key figures that
//! follow from the state at the end.

use super::{DeviceBuilder, add_anomaly, device_path};
use crate::replay::allocations::Allocations;
use crate::replay::annotations::annotation_ranges;
use crate::replay::device::Device;
use crate::replay::device_history::DeviceHistory;
use crate::replay::end::{EarlyBuilder, EndAllocations, EndBlocks, InitialState, end_blocks};
use crate::replay::live::LiveSets;
use crate::replay::loaded_range::{NetChange, OutsideRange};
use crate::replay::numbers::DeviceFigures;
use crate::replay::totals::Totals;
use crate::replay::trace::{Anomaly, NEVER, Subject, Trace, to_signed};
use crate::replay::unlisted::Unlisted;
use crate::snapshot::{Action, EndState, Snapshot, WarningKind, Warnings};
use base::column::Column;
use base::units::{Bytes, pluralize};

impl DeviceBuilder {
    /// Creates the builder of a device's history. This takes time proportional to the number of blocks at the end, not
    /// to the number of events. The exception is a trace without any `free_completed`: two columns are copied, 80 MB
    /// for 10 million events, which takes some ten milliseconds.
    pub(in crate::replay::build) fn new(device: Device, snapshot: &Snapshot, warnings: &mut Warnings) -> DeviceBuilder {
        let Device { ordinal, mut trace, segments, marks, .. } = device;
        let place = device_path(ordinal);
        let end_blocks = end_blocks(&segments, snapshot);
        let ending_action = trace.ending_action(&end_blocks, snapshot);
        let only_requests = ending_action == Action::FreeRequested;
        if only_requests {
            warnings.add(WarningKind::FreesNeverComplete, 1, || place.clone());
            for lives in [&mut trace.traced, &mut trace.early] {
                lives.freed_at = lives.free_requested.clone();
            }
        } else {
            add_anomaly(warnings, WarningKind::AllocatedTwice, trace.allocated_while_pending, &place);
        }
        add_anomaly(warnings, WarningKind::AllocatedTwice, trace.allocated_twice, &place);
        add_anomaly(warnings, WarningKind::FreedTwice, trace.freed_twice, &place);
        add_anomaly(warnings, WarningKind::TimeDecreases, trace.time_steps_back, &place);
        let differing = Anomaly {
            count: trace.free_sizes.len() as u64,
            bytes: 0,
            first: trace.free_sizes.first().map_or(0, |&(event, _)| event),
        };
        add_anomaly(warnings, WarningKind::FreeSizeDiffers, differing, &place);

        let mut numbers = DeviceFigures::default();
        let mut at_end = EndAllocations::default();
        // Bytes of blocks without an event in the whole trace.
        let mut unknown = 0u64;
        for &row in &end_blocks {
            let Some(block) = snapshot.blocks.get(row as usize) else { continue };
            numbers.end = numbers.end.saturating_add(block.requested);
            numbers.end_rounded = numbers.end_rounded.saturating_add(block.size);
            let known = trace.live_at(block.address).filter(|&subject| match subject {
                Subject::Traced(index) => trace.traced.freed_at.get(index as usize) == Some(NEVER),
                Subject::Early(index) => trace.early.freed_at.get(index as usize) == Some(NEVER),
                // Allocated after the loaded range.
                Subject::Note(_) => true,
                Subject::Segment(_) => false,
            });
            match known {
                Some(Subject::Traced(index)) => at_end.traced.push((index, row)),
                Some(Subject::Early(index)) => {
                    // Awaiting its free at the end and allocated before recording: static, although events refer to it.
                    numbers.static_blocks += 1;
                    numbers.static_bytes = numbers.static_bytes.saturating_add(block.requested);
                    at_end.early.insert(index, row);
                    if !trace.is_carried(index) {
                        unknown = unknown.saturating_add(block.requested);
                    }
                }
                Some(Subject::Note(_)) => {}
                _ => {
                    numbers.static_blocks += 1;
                    numbers.static_bytes = numbers.static_bytes.saturating_add(block.requested);
                    unknown = unknown.saturating_add(block.requested);
                    at_end.statics.push(row);
                }
            }
        }
        let unlisted = Unlisted::new(&trace, &segments, &end_blocks, ending_action, snapshot);
        trace.drop_live();
        numbers.segments = segments.len() as u64;
        numbers.annotations = marks.len() as u64;

        let frees = trace.frees(ending_action);
        numbers.unmatched_frees = frees.unmatched;
        numbers.unmatched_free_bytes = frees.unmatched_bytes;
        let net = trace.allocated.saturating_sub(frees.bytes);
        if snapshot.end == EndState::Unknown {
            // Bytes live before the trace are then those that it frees, which determines the end.
            let end = to_signed(numbers.end).saturating_add(to_signed(frees.unmatched_bytes)).saturating_add(net);
            numbers.end = u64::try_from(end).unwrap_or(0);
        } else {
            numbers.end = numbers.end.saturating_add(unlisted.bytes);
        }
        numbers.baseline = to_signed(numbers.end).saturating_sub(net);
        let explained = to_signed(numbers.unmatched_free_bytes.saturating_add(unknown));
        numbers.remainder = numbers.baseline.saturating_sub(explained);
        // What the trace frees and what it never mentions was live before it.
        numbers.baseline = numbers.baseline.max(explained);
        numbers.reserved_end = unlisted.reserved;
        numbers.reserved_start = to_signed(numbers.reserved_end).saturating_sub(trace.reserved).max(0);
        let is_missing = snapshot.end == EndState::Recorded && (unlisted.count > 0 || !unlisted.ranges.is_empty());
        warnings.add(WarningKind::MissingSegments, u64::from(is_missing), || {
            format!("{place}: {} in {}", Bytes(unlisted.bytes), pluralize(unlisted.count, "allocation"))
        });
        let mut counts = trace.counts;
        if !trace.outside.keep.is_all() {
            counts.iter_mut().zip(trace.outside.counts).for_each(|(count, outside)| *count -= outside.min(*count));
            limit_to_range(&mut numbers, &trace, &at_end, ending_action);
        }
        numbers.allocations = counts[Action::Alloc as usize] + numbers.unmatched_frees + numbers.static_blocks;
        let remainder = |bytes: i64| format!("{place}: {}", Bytes(bytes.unsigned_abs()));
        match numbers.remainder {
            bytes @ 1.. => warnings.add(WarningKind::UnexplainedBytes, 1, || remainder(bytes)),
            bytes @ ..0 => warnings.add(WarningKind::NegativeRemainder, 1, || remainder(bytes)),
            0 => {}
        }

        let (early, mut end_blocks) = (trace.early, EndBlocks::default());
        let mut allocations = Allocations { allocated_at: trace.allocated_at, ..Allocations::default() };
        allocations.parts[1] = trace.traced;
        allocations.may_start_awaiting_free =
            ending_action == Action::FreeCompleted && trace.counts[Action::FreeRequested as usize] > 0;
        let at_start = InitialState { early, facts: trace.outside.facts, ending_action, at_end };
        let early_builder = EarlyBuilder::new(at_start, &numbers, snapshot, &mut allocations, &mut end_blocks);
        let history = DeviceHistory {
            device: ordinal,
            action_counts: counts,
            live: LiveSets::default(),
            annotations: annotation_ranges(&marks, snapshot, warnings),
            events: trace.events,
            allocations,
            drawn: Totals::new(0),
            reserved: Totals::new(numbers.reserved_start),
            awaiting_free: Totals::new(0),
            live_counts: Column::new(),
            end_blocks,
            segment_operations: trace.segment_operations,
            unlisted_ranges: unlisted.ranges,
            notes: trace.notes,
            annotated: trace.annotated,
            note_events: trace.note_events,
            early_facts: Column::new(),
            later_operations: trace.outside.operations,
            later_event_count: trace.outside.later_events,
            ending_action,
            numbers,
        };
        let base = history.numbers.baseline;
        DeviceBuilder {
            history,
            place,
            early_builder: Some(early_builder),
            free_sizes: trace.free_sizes,
            live: 0,
            total: base,
            next_event: 0,
            totals: Column::new(),
            max_excess: (0, [0; 2], 0),
            next_chunk: 0,
            sum: i128::from(base),
            weighted: 0.0,
            median: None,
        }
    }
}

/// Restricts key figures of the whole trace to the loaded range.
fn limit_to_range(numbers: &mut DeviceFigures, trace: &Trace, at_end: &EndAllocations, ends: Action) {
    let OutsideRange { before, after, later_events, facts, .. } = &trace.outside;
    let lives = trace.early.freed_at.iter().zip(trace.early.size.iter());
    (numbers.unmatched_frees, numbers.unmatched_free_bytes) = (0, 0);
    for (index, (freed_at, size)) in lives.enumerate() {
        let stays = || facts.get(index).is_some_and(|facts| facts.stays_live(ends));
        let (count, bytes) = match freed_at {
            NEVER if stays() && !at_end.early.contains_key(&(index as u32)) => {
                (&mut numbers.static_blocks, &mut numbers.static_bytes)
            }
            0 | NEVER => continue,
            _ => (&mut numbers.unmatched_frees, &mut numbers.unmatched_free_bytes),
        };
        *count += 1;
        *bytes = bytes.saturating_add(size);
    }
    let whole = NetChange {
        allocated: trace.allocated,
        completed: trace.completed.bytes,
        requested: trace.requested.bytes,
        reserved: trace.reserved,
    };
    numbers.baseline = numbers.baseline.saturating_add(before.live(ends));
    numbers.reserved_start = numbers.reserved_start.saturating_add(before.reserved);
    if *later_events > 0 {
        let end = numbers.baseline.saturating_add(whole.live(ends)).saturating_sub(before.live(ends));
        numbers.end = u64::try_from(end.saturating_sub(after.live(ends))).unwrap_or(0);
        let reserved = numbers.reserved_start.saturating_add(whole.reserved).saturating_sub(before.reserved);
        numbers.reserved_end = u64::try_from(reserved.saturating_sub(after.reserved)).unwrap_or(0);
        // The file has the blocks at its end only.
        numbers.end_rounded = 0;
    }
}
