//! Growth per step: live bytes of each call site at the end of every step, from one pass over the events. Bytes
//! awaiting free are not counted, because the program has freed them. If the bytes fall in some steps, but each step
//! allocates bytes that are never freed, these are counted instead ([`kept`]).
//!
//! The baseline is the end of the second step, because the first two steps allocate optimizer state and caches. A call
//! site is considered growing if, after the baseline, its bytes never fall between the ends of two consecutive steps,
//! and rise often enough, see [`ranking`]. With only two or three steps, the baseline is the start of the first one,
//! and the bytes must rise in every step, which optimizer state and caches do not.
//!
//! Statements grade the certainty, see [`certainty::Certainty`].

mod certainty;
mod effect;
mod kept;
mod kv_cache;
mod ranking;
mod replaced;
mod sheet;
mod site_growth;
mod statements;

use crate::report::step_finder::Steps;
use crate::report::writer::threshold;
use crate::side::Side;
use base::slice::{SliceResult, TimeSlice};
use base::units::{EventIdx, group_digits};
use effect::GrowthEffects;
use history::replay::AllocationId;
use protocol::{Grouping, ReportQuestion, Span, Threshold};
use replaced::ReplacedTensors;
use site_growth::SiteGrowth;
pub(in crate::report) use statements::{FIX, caller_text};

/// Default of the minimum number of steps with growth of a call site.
const MIN_STEPS: u64 = 2;

/// Kind of change in the bytes of a call site.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Alloc,
    Free,
}

/// Returns the moment at which the program freed an allocation. This is when the free was requested, or when it
/// completed if the request was not recorded.
fn freed_moment(side: Side<'_>, id: AllocationId) -> u32 {
    let [from, _] = side.device_data().awaiting_free(id).unwrap_or([u32::MAX; 2]);
    side.history.allocations.span(id).1.min(from)
}

/// Returns the user's threshold for the minimum number of steps with growth of a call site.
fn min_steps(question: &ReportQuestion) -> Threshold {
    threshold(question, ["steps", "in at least", "steps"], MIN_STEPS)
}

/// Computes the growth of each call site per step.
pub(in crate::report) struct Growth {
    /// Moments that are compared, in ascending order: the start of the first step, and the end of each step. `baseline`
    /// is an index into them.
    moments: Vec<u32>,
    baseline: u32,
    /// Number of steps that were found.
    steps: u32,
    /// Labels of the first moment, of the baseline, and of the last two moments.
    end_labels: [String; 4],
    next_early: u32,
    next_event: u32,
    next_end: u32,
    sites: Vec<SiteGrowth>,
    /// Groups of the call sites that have changed since the last step end.
    changed: Vec<u32>,
    effects: GrowthEffects,
    /// Tensors that get larger, if no steps are known.
    replaced: ReplacedTensors,
}

base::heap_bytes!(Growth: sites, [sites], moments, effects, replaced);

impl Growth {
    pub(in crate::report) fn new(side: Side<'_>, steps: &Steps) -> Growth {
        let (moments, baseline) = steps.all_growth_moments();
        let last = (moments.len() as u32).saturating_sub(1);
        // Steps without a name are numbered from 0.
        let name = |step: u32| match step {
            0 => "start".to_owned(),
            _ => steps
                .annotation_text(side, step as usize - 1)
                .unwrap_or_else(|| "step ".to_owned() + &group_digits(u64::from(step) - 1)),
        };
        Growth {
            end_labels: [0, baseline, last.saturating_sub(1), last].map(name),
            moments,
            baseline,
            steps: steps.spans.len() as u32,
            next_early: 0,
            next_event: 0,
            next_end: 0,
            sites: vec![SiteGrowth::default(); side.group_count(Grouping::CallSite) as usize],
            changed: Vec::new(),
            effects: GrowthEffects::default(),
            replaced: ReplacedTensors::default(),
        }
    }

    /// Continues processing the allocations made before recording, and then the events.
    pub(in crate::report) fn step(&mut self, side: Side<'_>, slice: &mut TimeSlice) -> SliceResult {
        let early = side.history.allocations.early_count() as u32;
        while self.next_early < early {
            slice.tick()?;
            let id = AllocationId(self.next_early);
            self.next_early += 1;
            if freed_moment(side, id) > 0 {
                self.change(side, id, Change::Alloc);
            }
        }
        if self.moments.is_empty() {
            // Only inference has KV caches.
            return if side.file.backward.is_empty() { self.replaced.step(side, slice) } else { Ok(()) };
        }
        // After the last step, the rest of the trace shows what is freed later.
        while self.next_end <= self.moments.len() as u32 {
            let until = self.moments.get(self.next_end as usize).copied().unwrap_or(u32::MAX);
            for event in (self.next_event..until.min(side.history.event_count())).map(EventIdx) {
                slice.tick()?;
                self.next_event += 1;
                match side.history.allocation_change(event) {
                    Some(change) if change.is_program_free => self.change(side, change.id, Change::Free),
                    Some(change) if change.starts_lifetime == Some(true) => {
                        self.change(side, change.id, Change::Alloc);
                    }
                    _ => {}
                }
            }
            slice.tick()?;
            if until < u32::MAX {
                self.end_step(side.history.event_count());
            }
            self.next_end += 1;
        }
        self.count_kept();
        let mut effects = std::mem::take(&mut self.effects);
        let result = effects.step(side, || self.largest(), slice);
        self.effects = effects;
        result
    }

    fn change(&mut self, side: Side<'_>, id: AllocationId, change: Change) {
        let group = side.group(Grouping::CallSite, id);
        let Some(site) = self.sites.get_mut(group as usize) else { return };
        let size = side.history.allocations.size(id);
        let live = &mut site.live;
        let start = self.next_end.checked_sub(1).and_then(|last| self.moments.get(last as usize));
        let is_in_step = start.is_some() && (self.next_end as usize) < self.moments.len();
        if change == Change::Alloc {
            (live.bytes, live.count, site.newest) = (live.bytes.saturating_add(size), live.count + 1, id.0);
            let is_freed = side.history.allocations.freed_at(id).is_some();
            if is_in_step && !is_freed && freed_moment(side, id) == u32::MAX {
                site.kept.add(id.0, size);
            }
        } else {
            (live.bytes, live.count) = (live.bytes.saturating_sub(size), live.count.saturating_sub(1));
            let is_older = start.is_some_and(|&start| side.history.allocations.allocated_at(id).0 <= start);
            site.frees_now |= is_older && is_in_step && self.next_end > self.baseline;
        }
        if site.last_changed != self.next_end + 1 {
            site.last_changed = self.next_end + 1;
            self.changed.push(group);
        }
    }

    /// Ends a step. `end` is the end of the trace.
    fn end_step(&mut self, end: u32) {
        if self.next_end == 0 {
            self.changed.clear();
            for site in &mut self.sites {
                (site.first, site.baseline, site.previous) = (site.live, site.live, site.live);
            }
        }
        let is_last = self.next_end as usize + 1 == self.moments.len();
        let is_end = is_last && self.moments.last() == Some(&end);
        for group in self.changed.drain(..) {
            let Some(site) = self.sites.get_mut(group as usize) else { continue };
            if !is_last {
                site.kept.end_step(self.next_end, self.baseline);
            }
            site.end_step(self.next_end, self.baseline, is_end);
        }
        if self.next_end == self.baseline.max(1) {
            self.sites.iter_mut().for_each(|site| site.settled_count = site.live.count);
        }
        if self.next_end > 0 && self.next_end == self.baseline {
            for site in &mut self.sites {
                (site.early_rises, site.early_falls) = (site.rises, site.falls);
                (site.rises, site.falls, site.baseline) = (0, 0, site.live);
                // Only rises in every step are described from the first step on.
                site.rise_range = site.rise_range.filter(|_| site.early_rises == self.baseline);
            }
        }
    }

    /// Replaces the growth of call sites whose bytes fall in some steps, if each step keeps bytes.
    fn count_kept(&mut self) {
        let steps = (self.moments.len() as u32).saturating_sub(2);
        for site in self.sites.iter_mut().filter(|site| site.falls > 0) {
            if let Some(growth) = site.of_kept(steps, self.baseline) {
                *site = growth;
            }
        }
    }

    /// Returns the number of steps of a call site that are compared with the previous step.
    fn compared_of(&self, site: &SiteGrowth) -> u32 {
        self.compared().saturating_sub(u32::from(site.is_cut))
    }

    /// Returns the number of steps that are compared with the previous step.
    fn compared(&self) -> u32 {
        (self.moments.len() as u32).saturating_sub(1 + self.baseline)
    }

    /// Returns the index of the moment at the end of a call site's last step that is compared.
    fn last_compared(&self, site: &SiteGrowth) -> u32 {
        self.baseline + self.compared_of(site)
    }

    /// Returns the range between the moments with these indices. `None` if no steps are compared.
    fn span(&self, from: u32, to: u32) -> Option<Span> {
        let moment = |index: u32| self.moments.get(index as usize).copied();
        Some(Span { from: moment(from)?, to: moment(to)? })
    }

    /// Returns the range from the baseline to the end of a call site's last step that is compared.
    fn span_of(&self, site: &SiteGrowth) -> Option<Span> {
        self.span(self.baseline, self.last_compared(site))
    }

    /// Returns whether the bytes of a call site rise in every step, including the steps before the baseline.
    fn rises_always(&self, site: &SiteGrowth) -> bool {
        let steps = site.early_rises + site.rises + u32::from(site.is_cut);
        site.early_falls + site.falls == 0 && steps + 1 == self.moments.len() as u32
    }
}
