//! Construction of the history of one device: adds one event after another to its totals and key figures.

mod initial;

use crate::replay::device_history::{DeviceHistory, MOMENTS_PER_COUNT};
use crate::replay::end::EarlyBuilder;
use crate::replay::median::Median;
use crate::replay::totals::Totals;
use crate::replay::trace::{Anomaly, to_signed};
use crate::snapshot::{Action, HOST_DEVICE, Snapshot, WarningKind, Warnings};
use base::column::Column;
use base::slice::{SliceResult, TimeSlice};
use base::units::{Bytes, EventIdx, Moment};

/// Device whose history is being built.
pub(super) struct DeviceBuilder {
    pub(super) history: DeviceHistory,
    place: String,
    /// Builder of the allocations from before the trace. `None` once all are added.
    early_builder: Option<EarlyBuilder>,
    free_sizes: Vec<(u32, u64)>,
    /// Number of allocations live at the current moment.
    live: u32,
    /// Total of live bytes as in the reference implementation. It differs from the drawn total only in
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
    pub(super) fn warn_excess(&self, warnings: &mut Warnings) {
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
    pub(super) fn step(&mut self, snapshot: &Snapshot, warnings: &mut Warnings, slice: &mut TimeSlice) -> SliceResult {
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
        self.history.events.shrink();
        self.history.allocations.shrink();
        let moments = u64::from(self.history.event_count() - self.history.events.first()) + 1;
        let numbers = &mut self.history.numbers;
        numbers.mean = self.sum as f64 / moments as f64;
        let span = numbers.time_us.map_or(0, |(first, last)| last.saturating_sub(first));
        numbers.time_weighted_mean = (span > 0).then(|| self.weighted / span as f64);
        self.median = Some(Median::new(numbers.min, numbers.peak, moments));
    }
}

/// Returns the path of a device's events in the file, for warnings.
pub(super) fn device_path(ordinal: i64) -> String {
    if ordinal == HOST_DEVICE { "host_traces".to_owned() } else { format!("device_traces[{ordinal}]") }
}

fn add_anomaly(warnings: &mut Warnings, kind: WarningKind, anomaly: Anomaly, place: &str) {
    warnings.add(kind, anomaly.count, || match anomaly.bytes {
        0 => format!("{place}[{}]", anomaly.first),
        bytes => format!("{place}[{}], {} in all", anomaly.first, Bytes(bytes)),
    });
}
