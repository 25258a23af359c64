//! Construction of a [`DeviceHistory`] from a trace and the segments at its end, in time slices.

use super::allocations::Allocations;
use super::annotations::annotation_ranges;
use super::device::Device;
use super::device_history::{DeviceHistory, MOMENTS_PER_COUNT};
use super::end::{EarlyBuilder, EndAllocations, EndBlocks, InitialState, end_blocks};
use super::live::LiveSets;
use super::loaded_range::{NetChange, OutsideRange};
use super::median::Median;
use super::numbers::DeviceFigures;
use super::partial::Partial;
use super::recorder::Recorder;
use super::totals::Totals;
use super::trace::{Anomaly, NEVER, Subject, Trace, to_signed};
use super::unlisted::Unlisted;
use crate::snapshot::{Action, EndState, HOST_DEVICE, Snapshot, WarningKind, Warnings};
use base::column::Column;
use base::out_of_line::out_of_line;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{signed_key, sorted_by_key, two_part_key};
use base::units::{Bytes, EventIdx, Moment};
use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// Builder of the histories of all devices of a snapshot.
pub struct Builder {
    /// Devices whose histories are not built yet. The next device is last.
    waiting: Vec<Device>,
    current: Option<Box<DeviceBuilder>>,
    done: Vec<DeviceHistory>,
    warnings: Warnings,
}

/// Device whose history is being built.
struct DeviceBuilder {
    history: DeviceHistory,
    place: String,
    /// Builder of the allocations from before the trace. `None` once all are added.
    early_builder: Option<EarlyBuilder>,
    free_sizes: Vec<(u32, u64)>,
    /// Number of allocations live at the current moment.
    live: u32,
    /// Total of live bytes as in the reference implementation (DESIGN §2). It differs from the drawn total only in
    /// corrupt files.
    total: i64,
    next_event: u32,
    /// Reference total at each moment, for computing the median.
    totals: Column<i64>,
    /// Excess of live over reserved bytes where it is largest: the difference, the live and reserved bytes, and the
    /// moment.
    max_excess: (i64, [i64; 2], u32),
    next_chunk: usize,
    sum: i128,
    weighted: f64,
    median: Option<Median>,
}

impl Builder {
    /// Creates a builder from the recorded traces, and the snapshot's segments and annotation marks.
    pub fn new(snapshot: &Snapshot, mut recorder: Recorder) -> Builder {
        if let Some(mut image) = recorder.image.take().filter(|image| image.has_parts()) {
            let (done, warnings) = image.finish(snapshot);
            return Builder { waiting: Vec::new(), current: None, done, warnings };
        }
        let whole = |mut trace: Trace| {
            trace.keep_last();
            Some(trace)
        };
        let mut traces: Vec<Option<Trace>> = recorder.traces.into_iter().map(whole).collect();
        let mut devices: HashMap<i64, Device, RandomState> = HashMap::default();
        for &(device, number) in &snapshot.traces {
            if let Some(trace) = traces.get_mut(number as usize).and_then(Option::take) {
                let device = devices.entry(device).or_default();
                (device.trace, device.number) = (trace, Some(number));
            }
        }
        for (row, segment) in (0u32..).zip(&snapshot.segments) {
            devices.entry(segment.device).or_default().segments.push(row);
        }
        for (row, mark) in (0u32..).zip(&snapshot.marks) {
            if let Some(device) = devices.get_mut(&mark.device) {
                device.marks.push(row);
            }
        }
        // Devices without events and blocks are skipped. Ordinals ascend, host memory comes last, and the vector is
        // reversed.
        let has_any = |device: &Device| {
            let segments = device.segments.iter().filter_map(|&row| snapshot.segments.get(row as usize));
            !device.trace.events.is_empty()
                || device.trace.outside.later_events > 0
                || segments.into_iter().any(|segment| !segment.blocks.is_empty())
        };
        let devices = devices.into_iter().map(|(ordinal, device)| Device { ordinal, ..device });
        let waiting = devices.filter(has_any).collect();
        // Devices are taken from the end, so host memory sorts first.
        let waiting = sorted_by_key(waiting, |device| {
            two_part_key(u64::from(device.ordinal != HOST_DEVICE), !signed_key(device.ordinal))
        });
        Builder { waiting, current: None, done: Vec::new(), warnings: Warnings::default() }
    }

    /// Completes the outlines with exact values. Called after decoding, before any history is built.
    pub fn close_outlines(&self, partial: &mut Partial, snapshot: &Snapshot) {
        partial.finish(self.waiting.iter().rev(), snapshot);
    }

    /// Continues building the histories until all are complete or the time slice is used up.
    ///
    /// # Errors
    /// Returns an error if the time slice is used up.
    pub fn step(&mut self, snapshot: &Snapshot, slice: &mut TimeSlice) -> SliceResult {
        loop {
            if self.current.is_none() {
                let Some(device) = self.waiting.pop() else { return Ok(()) };
                self.current = Some(Box::new(DeviceBuilder::new(device, snapshot, &mut self.warnings)));
            }
            let Some(building) = &mut self.current else { return Ok(()) };
            out_of_line(|| building.step(snapshot, &mut self.warnings, slice))?;
            if let Some(building) = self.current.take() {
                building.warn_excess(&mut self.warnings);
                let history = building.history;
                let at_limit = u64::from(history.numbers.is_saturated());
                self.warnings.add(WarningKind::TotalsAtLimit, at_limit, || device_path(history.device));
                self.done.push(history);
            }
            // A file may have thousands of devices with a handful of events each.
            slice.check()?;
        }
    }

    /// Returns the histories, sorted by device ordinal with host memory last, and the warnings.
    pub fn finish(self) -> (Vec<DeviceHistory>, Warnings) {
        (self.done, self.warnings)
    }
}

/// Changes at an event: the totals in bytes, and in `live` the number of allocations and the number of frees.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    total: i64,
    drawn: i64,
    awaiting_free: i64,
    reserved: i64,
    live: [u32; 2],
}

impl DeviceBuilder {
    /// Creates the builder of a device's history. This takes time proportional to the number of blocks at the end, not
    /// to the number of events. The exception is a trace without any `free_completed`: two columns are copied, 80 MB
    /// for 10 million events, which takes some ten milliseconds.
    fn new(device: Device, snapshot: &Snapshot, warnings: &mut Warnings) -> DeviceBuilder {
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
            format!("{place}: {} in {} allocations", Bytes(unlisted.bytes), unlisted.count)
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

    /// Initializes the totals with the state before the first event.
    fn start(&mut self, mut early_builder: EarlyBuilder, warnings: &mut Warnings) {
        add_anomaly(warnings, WarningKind::FreeOfUnknownBlock, early_builder.never_freed, &self.place);
        let history = &mut self.history;
        early_builder.finish(&history.allocations, &mut history.end_blocks);
        history.drawn = Totals::new(early_builder.drawn);
        history.awaiting_free = Totals::new(early_builder.awaiting_free);
        history.early_facts = std::mem::take(&mut early_builder.facts);
        self.live = (history.allocations.early_count() as u32).saturating_sub(early_builder.ended);
        history.live_counts.push(self.live);
        let numbers = &mut history.numbers;
        let before = i64::from(history.events.first()) - 1;
        (numbers.peak, numbers.peak_event, numbers.min) = (numbers.baseline, before, numbers.baseline);
        numbers.peak_reserved = numbers.reserved_start;
        numbers.drawn_peak = u64::try_from(early_builder.drawn).unwrap_or(0);
        self.totals.push(numbers.baseline);
        let first = self.history.events.first();
        self.update_excess(first);
    }

    /// Updates the maximum excess of live over reserved bytes.
    #[inline(always)]
    fn update_excess(&mut self, moment: u32) {
        let [live, reserved] = [self.history.drawn.last(), self.history.reserved.last()];
        let excess = live.saturating_sub(reserved);
        if excess > self.max_excess.0 {
            self.max_excess = (excess, [live, reserved], moment);
        }
    }

    /// Adds a warning if more bytes were live than reserved, unless the file has no reserved bytes at all.
    fn warn_excess(&self, warnings: &mut Warnings) {
        let (excess, bytes, moment) = self.max_excess;
        let numbers = &self.history.numbers;
        if excess > 0 && numbers.peak_reserved > 0 && !numbers.is_saturated() {
            let [live, reserved] = bytes.map(|bytes| Bytes(u64::try_from(bytes).unwrap_or(0)));
            let event = Moment(moment).event().map_or_else(String::new, |event| format!("[{}]", event.0));
            warnings.add(WarningKind::LiveExceedsReserved, 1, || {
                format!("{}{event}: {live} requested, {reserved} reserved", self.place)
            });
        }
    }

    /// Continues building the history until it is complete or the time slice is used up.
    fn step(&mut self, snapshot: &Snapshot, warnings: &mut Warnings, slice: &mut TimeSlice) -> SliceResult {
        while let Some(mut early_builder) = self.early_builder.take() {
            if early_builder.step(snapshot, &mut self.history.allocations) {
                self.start(early_builder, warnings);
            } else {
                self.early_builder = Some(early_builder);
            }
            slice.check()?;
        }
        let events = self.history.event_count();
        while self.next_event < events {
            slice.tick()?;
            match self.next_event < self.history.events.first() {
                true => self.skip(),
                false => self.add_event(EventIdx(self.next_event)),
            }
            self.next_event += 1;
        }
        if self.median.is_none() {
            self.finish_counting();
        }
        while let Some(median) = &mut self.median {
            while let Some(totals) = self.totals.chunk(self.next_chunk) {
                totals.iter().for_each(|&total| median.add(total));
                self.next_chunk += 1;
                slice.check()?;
            }
            self.next_chunk = 0;
            if let Some(found) = median.narrow() {
                self.history.numbers.median = found;
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns how an event changes each total. Every free reduces `total` by the size that its event records, even if
    /// the allocation was already freed. Only the first free reduces `drawn`, by the allocation's size.
    #[inline(always)]
    fn event_changes(&self, event: EventIdx) -> Change {
        let history = &self.history;
        let action = history.events.action(event.0);
        let subject = history.events.subject_of(event.0, action);
        let Some((lifetimes, row)) = history.allocations.row(subject) else {
            return Change { reserved: history.reserved_change(event), ..Change::default() };
        };
        let size = lifetimes.size.get(row).map_or(0, to_signed);
        if action == Action::Alloc {
            return Change { total: size, drawn: size, live: [1, 0], ..Change::default() };
        }
        let moment = Moment::after(event).0;
        let id = history.allocations.id(subject);
        let awaiting_free = id.map_or(0, |id| history.awaiting_free_change_of(id, action, event));
        if action != history.ending_action {
            return Change { awaiting_free, ..Change::default() };
        }
        let find = || self.free_sizes.binary_search_by_key(&event.0, |&(event, _)| event).ok();
        let free_size_index = if self.free_sizes.is_empty() { None } else { find() };
        let (ended, free_count) = if lifetimes.freed_at.get(row) == Some(moment) { (size, 1) } else { (0, 0) };
        Change {
            total: -free_size_index.map_or(size, |index| to_signed(self.free_sizes[index].1)),
            drawn: -ended,
            awaiting_free,
            reserved: 0,
            live: [0, free_count],
        }
    }

    /// Skips an event before the loaded range. Its effect is already part of the state at the start of the range.
    fn skip(&mut self) {
        let history = &mut self.history;
        [&mut history.drawn, &mut history.reserved, &mut history.awaiting_free]
            .into_iter()
            .for_each(|totals| totals.push(0));
        if (self.next_event + 1).is_multiple_of(MOMENTS_PER_COUNT) {
            history.live_counts.push(self.live);
        }
    }

    /// Adds an event to all key figures except the median, which is computed later.
    #[inline(always)]
    fn add_event(&mut self, event: EventIdx) {
        let change = self.event_changes(event);
        let history = &mut self.history;
        let numbers = &mut history.numbers;
        let total = self.total.saturating_add(change.total);
        if let Some(time) = history.events.times.at(event.0) {
            let (first, before) = numbers.time_us.unwrap_or((time, time));
            let latest = before.max(time);
            // The previous total was valid until now.
            self.weighted += self.total as f64 * latest.saturating_sub(before) as f64;
            numbers.time_us = Some((first, latest));
        }
        self.total = total;
        self.totals.push(total);
        self.sum += i128::from(total);
        history.drawn.push(change.drawn);
        history.reserved.push(change.reserved);
        history.awaiting_free.push(change.awaiting_free);
        let [allocated, freed] = change.live;
        self.live = self.live.saturating_add(allocated).saturating_sub(freed);
        if Moment::after(event).0.is_multiple_of(MOMENTS_PER_COUNT) {
            history.live_counts.push(self.live);
        }
        if total > numbers.peak {
            (numbers.peak, numbers.peak_event) = (total, i64::from(event.0));
        }
        numbers.min = numbers.min.min(total);
        numbers.peak_reserved = numbers.peak_reserved.max(history.reserved.last());
        numbers.drawn_peak = numbers.drawn_peak.max(u64::try_from(history.drawn.last()).unwrap_or(0));
        self.update_excess(Moment::after(event).0);
    }

    fn finish_counting(&mut self) {
        let moments = u64::from(self.history.event_count() - self.history.events.first()) + 1;
        let numbers = &mut self.history.numbers;
        numbers.mean = self.sum as f64 / moments as f64;
        let span = numbers.time_us.map_or(0, |(first, last)| last.saturating_sub(first));
        numbers.time_weighted_mean = (span > 0).then(|| self.weighted / span as f64);
        self.median = Some(Median::new(numbers.min, numbers.peak, moments));
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

/// Returns the path of a device's events in the file, for warnings.
fn device_path(ordinal: i64) -> String {
    if ordinal == HOST_DEVICE { "host_traces".to_owned() } else { format!("device_traces[{ordinal}]") }
}

fn add_anomaly(warnings: &mut Warnings, kind: WarningKind, anomaly: Anomaly, place: &str) {
    warnings.add(kind, anomaly.count, || match anomaly.bytes {
        0 => format!("{place}[{}]", anomaly.first),
        bytes => format!("{place}[{}], {} in all", anomaly.first, Bytes(bytes)),
    });
}
