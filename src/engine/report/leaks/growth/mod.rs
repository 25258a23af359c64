//! Growth per step: live bytes of each call site at the end of every step, from one pass over the events. Bytes
//! awaiting free are not counted, because the program has freed them.
//!
//! The baseline is the end of the second step, because the first two steps allocate optimizer state and caches. A call
//! site is considered growing if, after the baseline, its bytes never fall between the ends of two consecutive steps,
//! and rise often enough, see [`ranking`]. With only two or three steps, the baseline is the start of the first one, and
//! the bytes must rise in every step, which optimizer state and caches do not.
//!
//! Statements grade the certainty, see [`statements::Certainty`].

mod effect;
mod kv_cache;
mod ranking;
mod replaced;
mod sheet;
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
pub(super) use statements::caller_text;

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

/// Live bytes and number of allocations of a call site.
#[derive(Clone, Copy, Default)]
struct Amount {
    bytes: u64,
    count: u64,
}

/// State of a call site while the events are processed.
#[derive(Clone, Default)]
struct SiteGrowth {
    /// Now, at the start of the first step, at the baseline, and at the end of the previous step. After the last event,
    /// `live` has the end of the trace.
    live: Amount,
    first: Amount,
    baseline: Amount,
    previous: Amount,
    /// Number of steps with more, and with fewer bytes than before: after the baseline, and before it.
    rises: u32,
    falls: u32,
    early_rises: u32,
    early_falls: u32,
    /// Smallest and largest rise in a step.
    rise_range: Option<(u64, u64)>,
    /// The same, without the steps before the baseline.
    late_rise_range: Option<(u64, u64)>,
    /// 1-based index of the first step end after the last change. 0 if the call site has not changed.
    last_changed: u32,
    /// Id of the newest allocation.
    newest: u32,
    /// True if, after the baseline, an allocation of an earlier step was freed.
    frees_older: bool,
    /// Index of each step end at which the bytes have risen, and the bytes at this moment. Cleared when the bytes fall.
    values: Vec<(u32, u64)>,
}

base::heap_bytes!(SiteGrowth: values);

impl SiteGrowth {
    fn growth(&self) -> u64 {
        self.previous.bytes.saturating_sub(self.baseline.bytes)
    }

    /// Returns whether the number of allocations has grown since the baseline, not only their bytes.
    fn has_more_allocations(&self) -> bool {
        self.previous.count > self.baseline.count
    }

    /// Returns the number of live allocations at the end of the last step.
    fn live_count(&self) -> u64 {
        self.previous.count
    }

    /// Returns the bytes of the last step end that are freed at the end of the trace.
    fn freed_later(&self) -> u64 {
        self.previous.bytes.saturating_sub(self.live.bytes)
    }
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
    /// Labels of the first moment, of the baseline, and of the last moment.
    end_labels: [String; 3],
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
        // Steps without a name are numbered from 0.
        let name = |step: u32| match step {
            0 => "start".to_owned(),
            _ => steps
                .annotation_text(side, step as usize - 1)
                .unwrap_or_else(|| "step ".to_owned() + &group_digits(u64::from(step) - 1)),
        };
        Growth {
            end_labels: [0, baseline, (moments.len() as u32).saturating_sub(1)].map(name),
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
                self.end_step();
            }
            self.next_end += 1;
        }
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
        if change == Change::Alloc {
            (live.bytes, live.count, site.newest) = (live.bytes.saturating_add(size), live.count + 1, id.0);
        } else {
            (live.bytes, live.count) = (live.bytes.saturating_sub(size), live.count.saturating_sub(1));
            let allocated_at = side.history.allocations.allocated_at(id).0;
            let moment = |index: u32| self.moments.get(index as usize).copied().unwrap_or(0);
            let is_counted = self.next_end > self.baseline && (self.next_end as usize) < self.moments.len();
            site.frees_older |= is_counted && (moment(0) + 1..=moment(self.next_end - 1)).contains(&allocated_at);
        }
        if site.last_changed != self.next_end + 1 {
            site.last_changed = self.next_end + 1;
            self.changed.push(group);
        }
    }

    fn end_step(&mut self) {
        if self.next_end == 0 {
            self.changed.clear();
            for site in &mut self.sites {
                (site.first, site.baseline, site.previous) = (site.live, site.live, site.live);
            }
        }
        for group in self.changed.drain(..) {
            let Some(site) = self.sites.get_mut(group as usize) else { continue };
            let (bytes, previous) = (site.live.bytes, site.previous.bytes);
            site.rises += u32::from(bytes > previous);
            site.falls += u32::from(bytes < previous);
            if bytes > previous {
                let with = |range: Option<(u64, u64)>| {
                    let (min, max) = range.unwrap_or((u64::MAX, 0));
                    Some((min.min(bytes - previous), max.max(bytes - previous)))
                };
                site.rise_range = with(site.rise_range);
                if self.next_end > self.baseline {
                    site.late_rise_range = with(site.late_rise_range);
                }
            }
            if site.falls > 0 {
                site.values = Vec::new();
            } else if bytes > previous {
                site.values.push((self.next_end, bytes));
            }
            site.previous = site.live;
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

    /// Returns the number of steps that are compared with the previous step.
    fn compared(&self) -> u32 {
        (self.moments.len() as u32).saturating_sub(1 + self.baseline)
    }

    /// Returns the range from the baseline to the end of the last step. `None` if no steps are compared.
    fn span(&self) -> Option<Span> {
        self.span_from(self.baseline as usize)
    }

    /// Returns the range from the moment at an index to the end of the last step.
    fn span_from(&self, index: usize) -> Option<Span> {
        self.moments.get(index).zip(self.moments.last()).map(|(&from, &to)| Span { from, to })
    }

    /// Returns whether the bytes of a call site rise in every step, including the steps before the baseline.
    fn rises_always(&self, site: &SiteGrowth) -> bool {
        site.early_falls + site.falls == 0 && site.early_rises + site.rises + 1 == self.moments.len() as u32
    }
}
