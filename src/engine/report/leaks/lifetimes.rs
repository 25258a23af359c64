//! Allocations that are never freed, freed late, or short-lived. They are found in one pass over all allocations.

use super::growth::caller_text;
use super::held::{Cycles, held_by, holder_text};
use crate::moments::elapsed_us;
use crate::open::OpenFile;
use crate::report::column::{self, sheet};
use crate::report::frame_roles::FrameRoles;
use crate::report::recording::without_stacks;
use crate::report::site_sums::{SiteSums, label, site_of};
use crate::report::top_k::TopK;
use crate::report::writer::{
    MAX_ROWS, ReportWriter, allocation_evidence, bytes_text, freed_by_cell, is_notable, moment_evidence, threshold,
};
use base::slice::{SliceResult, TimeSlice};
use base::sorted::two_part_key;
use base::units::{Moment, duration_us, group_digits, percent, pluralize};
use history::replay::{AllocationId, Curve, DeviceHistory};
use protocol::{Cell, Grouping, ReportQuestion, Threshold, Tone};

/// Maximum number of statements about accumulating call sites.
const MAX_ACCUMULATIONS: usize = 3;

/// Search for allocations that are never freed, freed late, or short-lived.
pub(super) struct Lifetimes {
    next: usize,
    min_bytes: Threshold,
    min_wait: Threshold,
    max_lifetime: Threshold,
    /// Allocations made in the trace and never freed. Those whose free was requested are in `awaiting_at_end`.
    pub(super) never_freed: SiteSums,
    awaiting_at_end: SiteSums,
    /// Allocations that only the garbage collector frees.
    pub(super) cycles: Cycles,
    /// For each call site, the moments at which allocations were made that are never freed.
    accumulations: Vec<Accumulation>,
    delayed: TopK,
    delayed_count: u32,
    delayed_bytes: u64,
    short_lived: SiteSums,
}

impl Lifetimes {
    pub(super) fn new(file: &OpenFile, history: &DeviceHistory, question: &ReportQuestion) -> Lifetimes {
        Lifetimes {
            next: 0,
            min_bytes: threshold(question, ["alive", "at least", "bytes"], 1 << 20),
            min_wait: threshold(question, ["late", "longer than", "events"], 100),
            max_lifetime: threshold(question, ["within", "freed within", "events"], 10),
            never_freed: SiteSums::new(file, history),
            awaiting_at_end: SiteSums::new(file, history),
            cycles: Cycles::default(),
            accumulations: Vec::new(),
            delayed: TopK::new(question.rows.min(MAX_ROWS) as usize),
            delayed_count: 0,
            delayed_bytes: 0,
            short_lived: SiteSums::new(file, history),
        }
    }

    /// Continues examining the allocations until all are examined or the time slice is used up.
    pub(super) fn step(&mut self, file: &OpenFile, history: &DeviceHistory, slice: &mut TimeSlice) -> SliceResult {
        let allocations = &history.allocations;
        while self.next < allocations.len() {
            slice.tick()?;
            let id = AllocationId(self.next as u32);
            self.next += 1;
            let (allocated_at, freed_at, size) = allocations.span(id);
            if freed_at == u32::MAX && file.device_data(history).awaiting_free(id).is_some() {
                self.awaiting_at_end.add(file, history, id, size);
            } else if freed_at == u32::MAX {
                self.cycles.add(file, history, id, size);
                if allocated_at > 0 {
                    self.never_freed.add(file, history, id, size);
                    let site = file.groups.group_of(&file.snapshot, history, id, Grouping::CallSite) as usize;
                    if self.accumulations.len() <= site {
                        self.accumulations.resize(site + 1, Accumulation::default());
                    }
                    self.accumulations.get_mut(site).into_iter().for_each(|it| it.add(allocated_at));
                }
            } else if allocated_at > 0 && u64::from(freed_at.saturating_sub(allocated_at)) <= self.max_lifetime.value {
                self.short_lived.add(file, history, id, size);
            }
            if let Some([from, to]) = file.device_data(history).awaiting_free(id)
                && u64::from(to - from) > self.min_wait.value
            {
                self.delayed.add(two_part_key((to - from).into(), size), id.0);
                self.delayed_count += 1;
                self.delayed_bytes = self.delayed_bytes.saturating_add(size);
            }
        }
        Ok(())
    }

    /// Writes statements about call sites that accumulate allocations. They replace those on growth per step if no
    /// steps are known.
    pub(super) fn write_accumulations(&self, writer: &mut ReportWriter<'_>) {
        let (file, history) = (writer.file, writer.history);
        let (_, peak) = history.live_peak();
        let mut roles = FrameRoles::default();
        let ranked = self.never_freed.ranked(1);
        let worthy = |group: &u32| is_notable(self.never_freed.get(*group).bytes, peak);
        let even = ranked.into_iter().filter(worthy).filter(|&group| {
            let accumulation = self.accumulations.get(group as usize).copied().unwrap_or_default();
            // Activations accumulate in a forward pass, which may be where the trace ends.
            let stack = file.stack(history, AllocationId(self.never_freed.get(group).last));
            let frames = roles.python_frames(&file.snapshot, stack);
            accumulation.is_even(history.event_count()) && !roles.is_inside(&file.snapshot, &frames)
        });
        for group in even.take(MAX_ACCUMULATIONS) {
            let sum = self.never_freed.get(group);
            let stack = file.stack(history, AllocationId(sum.last));
            let text = format!(
                "{}{} allocated {} at even intervals, none freed: {} in all (possibly a leak).{}",
                label(file, history, group),
                caller_text(&file.snapshot, stack),
                pluralize(sum.count, "time"),
                bytes_text(sum.bytes),
                holder_text(file, history, &sum)
            );
            let evidence = allocation_evidence(sum.last, Some(history.event_count()));
            writer.add_statement(Tone::Fact, text, Some(evidence));
        }
    }

    /// Writes the statements about lifetimes and their tables.
    pub(super) fn write(self, writer: &mut ReportWriter<'_>) {
        let Lifetimes {
            min_bytes,
            min_wait,
            max_lifetime,
            never_freed,
            awaiting_at_end,
            delayed,
            delayed_count,
            delayed_bytes,
            short_lived,
            ..
        } = self;
        write_never_freed(writer, &never_freed, min_bytes);
        write_awaiting_at_end(writer, &awaiting_at_end);
        write_delayed(writer, delayed.ranked(), (delayed_count, delayed_bytes), min_wait);
        write_short_lived(writer, &short_lived, max_lifetime);
    }
}

/// Moments at which a call site made allocations that are never freed.
#[derive(Clone, Copy, Default)]
struct Accumulation {
    count: u32,
    first: u32,
    last: u32,
    interval_squares: u128,
}

impl Accumulation {
    fn add(&mut self, moment: u32) {
        let distance = u128::from(moment.saturating_sub(self.last));
        if self.count == 0 {
            self.first = moment;
        } else {
            self.interval_squares += distance * distance;
        }
        (self.count, self.last) = (self.count + 1, moment);
    }

    /// Returns whether there are at least three allocations that span half of the trace, with intervals whose standard
    /// deviation is at most half of their mean.
    fn is_even(&self, events: u32) -> bool {
        let range = u128::from(self.last - self.first);
        self.count > 2
            && range * 2 >= u128::from(events)
            && u128::from(self.count - 1).saturating_mul(self.interval_squares) * 4 <= range * range * 5
    }
}

fn write_awaiting_at_end(writer: &mut ReportWriter<'_>, awaiting: &SiteSums) {
    let (file, history) = (writer.file, writer.history);
    let ranked = awaiting.ranked(1);
    let Some(&first) = ranked.first() else { return };
    let (bytes, count) = awaiting.total(&ranked);
    let mut text = format!(
        "{} await their free at the end, in {}: the program has freed them, and another stream may still use them.",
        bytes_text(bytes),
        pluralize(count, "allocation")
    );
    if without_stacks(file).is_none() {
        let largest = bytes_text(awaiting.get(first).bytes);
        text.push_str(&format!(" Largest call site: {} ({largest}).", awaiting.name(file, history, first)));
    }
    let evidence = allocation_evidence(awaiting.get(first).largest, Some(history.event_count()));
    writer.add_statement(Tone::Fact, text, Some(evidence));
}

fn write_never_freed(writer: &mut ReportWriter<'_>, never_freed: &SiteSums, min_bytes: Threshold) {
    let (file, history) = (writer.file, writer.history);
    let last = history.event_count();
    let end = history.numbers.end;
    let ranked = never_freed.ranked(min_bytes.value.max(1));
    let total = never_freed.total(&ranked);
    if let Some(&first) = ranked.first() {
        let largest = without_stacks(file).unwrap_or_else(|| {
            let bytes = bytes_text(never_freed.get(first).bytes);
            format!("Largest call site: {} ({bytes}).", never_freed.name(file, history, first))
        });
        let text = format!(
            "Allocated in the trace and never freed: {} ({} of live bytes at the end), in {}. {largest}",
            bytes_text(total.0),
            percent(total.0, end),
            pluralize(total.1, "allocation"),
        );
        writer.add_statement(Tone::Fact, text, Some(allocation_evidence(never_freed.get(first).largest, Some(last))));
    } else if history.event_count() > 0 {
        writer.add_statement(
            Tone::Good,
            "No call site above the threshold has allocations that are never freed.".to_owned(),
            Some(moment_evidence(last)),
        );
    }
    let allocated_at = |id| history.allocations.allocated_at(AllocationId(id)).0;
    let mut columns = vec![
        column::bytes("live_bytes", "live at the end", |group| never_freed.get(group).bytes)
            .total(Cell::Bytes(total.0)),
        column::share("share", "share of live bytes", |group| (never_freed.get(group).bytes, end))
            .total(Cell::Share { part: total.0, whole: end }),
        column::count("count", "allocations", |group| never_freed.get(group).count).total(Cell::Count(total.1)),
        column::event("first_allocated_at", "first allocated at event", |group| {
            allocated_at(never_freed.get(group).first)
        }),
        column::event("last_allocated_at", "last allocated at event", |group| {
            allocated_at(never_freed.get(group).last)
        }),
        column::text("call_site", "call site", |group| never_freed.name(file, history, group)),
    ];
    if !file.snapshot.recorder.observed.holders.is_empty() {
        columns.push(column::text("held_by", "held by", |group| {
            never_freed.get(group).held.map_or_else(String::new, |id| held_by(file, history, AllocationId(id)))
        }));
    }
    let note = "Not necessarily a leak: optimizer state of the first step and memory of an unfinished step are listed as well. Growth per \
                step, measured from the end of the second step, is the stronger sign.";
    let mut sheet = sheet(["alive", "Allocated in the trace, never freed", note], &columns);
    sheet.threshold = Some(min_bytes);
    writer.add_sheet(sheet, &columns, &ranked, |writer, group| writer.site_row(never_freed, group, Some(last)));
}

fn write_delayed(writer: &mut ReportWriter<'_>, ranked: Vec<u32>, (count, all): (u32, u64), min_wait: Threshold) {
    let (file, history) = (writer.file, writer.history);
    let waited = |id| file.device_data(history).awaiting_free(AllocationId(id)).unwrap_or_default();
    let elapsed = |[from, to]: [u32; 2]| {
        let [from, to] = [from, to].map(|moment| Moment(moment).event());
        elapsed_us(history, from?, to?)
    };
    if let Some(&longest) = ranked.first() {
        let span = waited(longest);
        let mut text = format!(
            "{} took longer than {} to complete ({}), the slowest {}",
            pluralize(count.into(), "free"),
            pluralize(min_wait.value, "event"),
            bytes_text(all),
            pluralize((span[1] - span[0]).into(), "event")
        );
        if let Some(us) = elapsed(span) {
            text.push_str(&format!(" ({})", duration_us(us)));
        }
        let change = |event| history.awaiting_free_change(event);
        let peak = Curve::new(&history.awaiting_free, &change).max_in(0..history.event_count().saturating_add(1));
        let peak = peak.filter(|&(_, bytes)| bytes > 0);
        if let Some((_, bytes)) = peak {
            text.push_str(&format!(". Maximum awaiting free at once: {}", bytes_text(bytes.unsigned_abs())));
        }
        text.push('.');
        writer.add_statement(Tone::Fact, text, Some(allocation_evidence(longest, peak.map(|(moment, _)| moment.0))));
    } else if history.event_count() > 0 {
        let text = format!("No free took longer than {} to complete.", pluralize(min_wait.value, "event"));
        writer.add_statement(Tone::Good, text, None);
    }
    let stream_of = |id| file.groups.group_of(&file.snapshot, history, AllocationId(id), Grouping::Stream);
    let columns = [
        column::count("waited_events", "events waited", |id| (waited(id)[1] - waited(id)[0]).into()),
        column::cell("waited_us", "time waited", |id| {
            elapsed(waited(id)).map_or(Cell::Empty, |us| Cell::Micros(us.unsigned_abs()))
        }),
        column::bytes("requested_bytes", "requested", |id| history.allocations.size(AllocationId(id)))
            .total(Cell::Bytes(all)),
        column::event("free_requested_at", "free requested at event", |id| waited(id)[0]),
        column::cell("free_completed_at", "free completed at event", |id| freed_by_cell(history, AllocationId(id))),
        column::text("stream", "stream", |id| {
            file.groups.label(&file.snapshot, history, Grouping::Stream, stream_of(id))
        }),
        column::text("call_site", "call site", |id| site_of(file, history, AllocationId(id))),
    ];
    let note = "Between free_requested and free_completed another stream may still use the block, so it cannot be reused. Usually that \
                takes one event. Longest first.";
    let mut sheet = sheet(["late", "Delayed frees", note], &columns);
    sheet.threshold = Some(min_wait);
    sheet.left_out = count;
    writer
        .add_sheet(sheet, &columns, &ranked, |writer, id| writer.allocation_row(AllocationId(id), Some(waited(id)[0])));
}

fn write_short_lived(writer: &mut ReportWriter<'_>, short_lived: &SiteSums, max_lifetime: Threshold) {
    let (file, history) = (writer.file, writer.history);
    let ranked = short_lived.ranked(0);
    let total = short_lived.total(&ranked);
    if let Some(&first) = ranked.first() {
        let mut text = format!(
            "{} of {} freed within {}.",
            group_digits(total.1),
            pluralize(history.allocations.len() as u64, "allocation"),
            pluralize(max_lifetime.value, "event")
        );
        if without_stacks(file).is_none() {
            text.push_str(&format!(" Largest call site: {}.", short_lived.name(file, history, first)));
        }
        writer.add_statement(Tone::Fact, text, Some(allocation_evidence(short_lived.get(first).largest, None)));
    }
    let columns = [
        column::bytes("requested_bytes", "total requested", |group| short_lived.get(group).bytes)
            .total(Cell::Bytes(total.0)),
        column::count("count", "allocations", |group| short_lived.get(group).count).total(Cell::Count(total.1)),
        column::bytes("largest_bytes", "largest", |group| short_lived.get(group).largest_bytes),
        column::text("call_site", "call site", |group| short_lived.name(file, history, group)),
    ];
    let note =
        "Bytes are summed over the trace and need not be live at the same time. Each allocation costs allocator time.";
    let mut sheet = sheet(["brief", "Short-lived allocations", note], &columns);
    sheet.threshold = Some(max_lifetime);
    writer.add_sheet(sheet, &columns, &ranked, |writer, group| {
        let allocated_at = history.allocations.allocated_at(AllocationId(short_lived.get(group).largest)).0;
        writer.site_row(short_lived, group, Some(allocated_at))
    });
}
