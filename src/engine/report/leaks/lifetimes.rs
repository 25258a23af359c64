//! Allocations that are never freed, freed late, or short-lived. They are found in one pass over all allocations.

mod statements;

use super::growth::caller_text;
use super::held::{Cycles, holder_text};
use crate::report::frame_roles::FrameRoles;
use crate::report::site_sums::{SiteSums, label};
use crate::report::top_k::TopK;
use crate::report::writer::{MAX_ROWS, ReportWriter, allocation_evidence, bytes_text, is_notable, threshold};
use crate::side::Side;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::two_part_key;
use base::units::pluralize;
use history::replay::AllocationId;
use protocol::{Grouping, ReportQuestion, Threshold, Tone};
use statements::{write_awaiting_at_end, write_delayed, write_never_freed, write_short_lived};

/// Maximum number of accumulating call sites.
const MAX_ACCUMULATIONS: usize = 3;

/// Search for allocations that are never freed, freed late, or short-lived.
pub(in crate::report) struct Lifetimes {
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
    /// Number of allocations so far that are freed.
    freed_count: u32,
    /// Moment after the first allocation of a forward pass.
    first_forward: Option<u32>,
    delayed: TopK,
    delayed_count: u32,
    delayed_bytes: u64,
    short_lived: SiteSums,
}

impl Lifetimes {
    pub(in crate::report) fn new(side: Side<'_>, question: &ReportQuestion) -> Lifetimes {
        Lifetimes {
            next: 0,
            min_bytes: threshold(question, ["alive", "at least", "bytes"], 1 << 20),
            min_wait: threshold(question, ["late", "longer than", "events"], 100),
            max_lifetime: threshold(question, ["within", "freed within", "events"], 10),
            never_freed: SiteSums::new(side),
            awaiting_at_end: SiteSums::new(side),
            cycles: Cycles::default(),
            accumulations: Vec::new(),
            freed_count: 0,
            first_forward: None,
            delayed: TopK::new(question.rows.min(MAX_ROWS) as usize),
            delayed_count: 0,
            delayed_bytes: 0,
            short_lived: SiteSums::new(side),
        }
    }

    /// Continues examining the allocations until all are examined or the time slice is used up.
    pub(in crate::report) fn step(&mut self, side: Side<'_>, slice: &mut TimeSlice) -> SliceResult {
        let allocations = &side.history.allocations;
        while self.next < allocations.len() {
            slice.tick()?;
            let id = AllocationId(self.next as u32);
            self.next += 1;
            let (allocated_at, freed_at, size) = allocations.span(id);
            self.freed_count += u32::from(allocated_at > 0 && freed_at < u32::MAX);
            if self.first_forward.is_none() && allocated_at > 0 && side.file.is_forward(side.stack(id)) {
                self.first_forward = Some(allocated_at);
            }
            if freed_at == u32::MAX && side.device_data().awaiting_free(id).is_some() {
                self.awaiting_at_end.add(side, id, size);
            } else if freed_at == u32::MAX {
                self.cycles.add(side, id, size);
                if allocated_at > 0 {
                    self.never_freed.add(side, id, size);
                    let site = side.group(Grouping::CallSite, id) as usize;
                    if self.accumulations.len() <= site {
                        self.accumulations.resize(site + 1, Accumulation::default());
                    }
                    let freed = self.freed_count;
                    self.accumulations.get_mut(site).into_iter().for_each(|it| it.add(allocated_at, freed));
                }
            } else if allocated_at > 0 && u64::from(freed_at.saturating_sub(allocated_at)) <= self.max_lifetime.value {
                self.short_lived.add(side, id, size);
            }
            if let Some([from, to]) = side.device_data().awaiting_free(id)
                && u64::from(to - from) > self.min_wait.value
            {
                self.delayed.add(two_part_key((to - from).into(), size), id.0);
                self.delayed_count += 1;
                self.delayed_bytes = self.delayed_bytes.saturating_add(size);
            }
        }
        Ok(())
    }

    /// Returns the call sites that accumulate allocations, each with its bytes, largest first. They show possible leaks
    /// if no steps are known.
    pub(in crate::report) fn accumulations(&self, side: Side<'_>) -> Vec<(u32, u64)> {
        let (_, peak) = side.history.live_peak();
        let mut roles = FrameRoles::default();
        let ranked = self.never_freed.ranked(1);
        let with_bytes = ranked.into_iter().map(|group| (group, self.never_freed.get(group).bytes));
        let worthy = with_bytes.filter(|&(_, bytes)| is_notable(bytes, peak));
        let even = worthy.filter(|&(group, _)| {
            let accumulation = self.accumulations.get(group as usize).copied().unwrap_or_default();
            // Activations accumulate in a forward pass, which may be where the trace ends, and parameters in a model.
            let stack = side.stack(AllocationId(self.never_freed.get(group).last));
            let frames = roles.python_frames(side.snapshot(), stack);
            let is_of_model = roles.is_inside(side.snapshot(), &frames) || roles.is_setup(side.snapshot(), &frames);
            // What is allocated before the first forward pass, and stays, is loaded or set up.
            let is_setup = self.first_forward.is_some_and(|first| accumulation.last < first);
            accumulation.is_even(side.history.event_count()) && !is_of_model && !is_setup
        });
        even.take(MAX_ACCUMULATIONS).collect()
    }

    /// Writes the statement about a call site that accumulates allocations.
    pub(in crate::report) fn write_accumulation(&self, writer: &mut ReportWriter<'_>, group: u32) {
        let side = writer.side;
        let sum = self.never_freed.get(group);
        let stack = side.stack(AllocationId(sum.last));
        let text = format!(
            "{}{} allocated {} at even intervals, none freed: {} in all (possibly a leak).{}",
            label(side, group),
            caller_text(side.snapshot(), stack),
            pluralize(sum.count, "time"),
            bytes_text(sum.bytes),
            holder_text(side, &sum)
        );
        let evidence = allocation_evidence(sum.last, Some(side.history.event_count()));
        writer.add_statement(Tone::Fact, text, Some(evidence));
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
    /// Number of allocations before the first one that are freed, and of those between the first and the last one.
    freed_before: u32,
    freed_between: u32,
}

impl Accumulation {
    fn add(&mut self, moment: u32, freed: u32) {
        let distance = u128::from(moment.saturating_sub(self.last));
        if self.count == 0 {
            (self.first, self.freed_before) = (moment, freed);
        } else {
            self.interval_squares += distance * distance;
        }
        self.freed_between = freed - self.freed_before;
        (self.count, self.last) = (self.count + 1, moment);
    }

    /// Returns whether there are at least three allocations at even intervals (standard deviation at most half of the
    /// mean) that span half of the trace. A quarter is enough if at least as many other allocations between the first
    /// and the last one are freed as there are intervals, as in a loop.
    fn is_even(&self, events: u32) -> bool {
        let range = u128::from(self.last - self.first);
        let part = if self.freed_between + 1 >= self.count { 4 } else { 2 };
        self.count > 2
            && range * part >= u128::from(events)
            && u128::from(self.count - 1).saturating_mul(self.interval_squares) * 4 <= range * range * 5
    }
}
