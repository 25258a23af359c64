//! Insight on savings: the peak without each category and call site, and the effect of common changes in this trace.
//!
//! Without a group, another moment may become the peak. Then less is saved than the bytes of the group at the old peak.
//! The report determines the new peak exactly.

mod groupings;
mod kept_activations;
mod kinds;
mod matched_stacks;
mod pass;
mod stale_gradients;
mod statements;
mod tables;

use super::insight::{Given, Insight, Need};
use super::layout::Layout;
use super::leaks::Lifetimes;
use super::writer::{MIN_EFFECT, ReportWriter, threshold};
use crate::report::fragmentation::peak_reserved_moment;
use crate::side::Side;
use crate::stack_trees::Population;
use crate::state::ReleasableSegments;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{sorted_by_key, sorted_numbers, two_part_key};
use base::units::Moment;
use groupings::NumberedGrouping;
use history::replay::{AllocationId, DeviceHistory, SegmentLifetimes};
use history::snapshot::Action;
pub(super) use kinds::STALE_GRADIENTS_FIX;
use kinds::{KINDS, Saving, SavingKind};
use matched_stacks::MatchedStacks;
use pass::PeakPass;
use protocol::{Grouping, Scope};
pub(super) use stale_gradients::StaleGradients;
pub(super) use statements::{is_in_optimizer_step, optimizer_temporaries_fix};

/// Maximum number of call sites in a statement.
const MAX_SITES: usize = 3;
/// Savings that differ by at most this part of the larger one (2 %) are nearly equal.
const EQUAL_PART: u64 = 50;

/// The insight on savings.
pub(super) struct Savings {
    matched: MatchedStacks,
    pass: PeakPass,
    live: LiveAtPeak,
    reserved: ReservedPeak,
    /// Call sites that accumulate allocations, if no steps are known.
    accumulations: Option<Lifetimes>,
}

/// Allocations that are live at the peak.
struct LiveAtPeak {
    population: Population,
    next: usize,
    ids: Vec<AllocationId>,
}

/// State of the allocator at the peak of reserved bytes.
struct ReservedPeak {
    layout: Layout,
    keeping: ReleasableSegments,
}

/// Returns the moment with the peak of reserved bytes: that of the peak of live bytes, if as much is reserved then. If
/// the event reserves a segment for the allocation that follows, it is the moment after this allocation.
fn reserved_moment(history: &DeviceHistory) -> u32 {
    let has_peak = |moment| history.reserved_at(Moment(moment)) == history.numbers.peak_reserved;
    let Moment(moment) = history.live_peak().0;
    if has_peak(moment) {
        return moment;
    }
    let moment = peak_reserved_moment(history);
    let is_filled = moment < history.event_count() && history.events.action(moment) == Action::Alloc;
    if is_filled && has_peak(moment + 1) { moment + 1 } else { moment }
}

impl Insight for Savings {
    const NEEDS: &'static [Need] =
        &[Need::Categories, Need::Forward, Need::Segments, Need::Steps, Need::Growth, Need::Simulation, Need::OomPlans];

    fn new(&Given { side, question, segments, steps, growth, .. }: &Given<'_>) -> Savings {
        let caches = growth.map_or_else(Vec::new, |growth| growth.kv_caches(side));
        let pass = PeakPass::new(side, &steps.steps, caches);
        let population = Population::new(side.history, Scope::At(pass.peak.0));
        Savings {
            matched: MatchedStacks::default(),
            pass,
            live: LiveAtPeak { population, next: 0, ids: Vec::new() },
            reserved: ReservedPeak {
                layout: Layout::new(side.history, segments, reserved_moment(side.history)),
                keeping: ReleasableSegments::default(),
            },
            accumulations: growth.filter(|growth| !growth.is_known()).map(|_| Lifetimes::new(side, question)),
        }
    }

    fn step(&mut self, &Given { side, segments, .. }: &Given<'_>, slice: &mut TimeSlice) -> SliceResult {
        let Savings { matched, pass, live: LiveAtPeak { population, next, ids }, reserved, accumulations } = self;
        matched.step(side.snapshot(), slice)?;
        pass.step(side, matched, slice)?;
        population.visit(side.history, next, slice, &mut |id, bytes| ids.extend((bytes > 0).then_some(id)))?;
        if let Some(lifetimes) = accumulations {
            lifetimes.step(side, slice)?;
        }
        reserved.step(side, segments, slice)
    }

    fn write(self, given: &Given<'_>, writer: &mut ReportWriter<'_>) {
        let Given { side, question, growth, simulation, .. } = *given;
        let Savings { pass, live, reserved, .. } = &self;
        let peak = pass.peak;
        if side.history.event_count() == 0 || peak.1 == 0 {
            return statements::write_nothing_to_save(writer);
        }
        let min_bytes = threshold(question, ["saved", "at least", "bytes"], (peak.1 / 100).clamp(1, MIN_EFFECT));
        let savings = self.savings(side, min_bytes.value);
        let accumulations = self.accumulations.as_ref();
        statements::write_insights(writer, (peak.0, peak.1, min_bytes.value), &savings, accumulations, given);
        growth.into_iter().for_each(|growth| growth.write_kv_cache(writer));
        statements::write_reserved(writer, &reserved.keeping.finish(side), &reserved.layout, simulation);
        tables::write_savings(writer, peak.1, &savings, min_bytes);
        tables::write_categories(writer, pass);
        tables::write_sites(writer, pass, &live.ids);
        tables::write_stacks(writer, pass, &live.ids);
        tables::write_modules(writer, pass);
        tables::write_named(writer, pass, NumberedGrouping::Annotation);
        tables::write_named(writer, pass, NumberedGrouping::Region);
        tables::write_nodes(writer, pass);
    }
}

impl ReservedPeak {
    fn step(&mut self, side: Side<'_>, lives: &SegmentLifetimes, slice: &mut TimeSlice) -> SliceResult {
        self.layout.step(side, lives, slice)?;
        self.keeping.step(side, lives, (&self.layout.state, None), slice)
    }
}

impl Savings {
    /// Returns the changes that save at least `min_bytes`. The change that saves most comes first. Of those that save
    /// nearly the same, the one that costs least does.
    fn savings(&self, side: Side<'_>, min_bytes: u64) -> Vec<Saving> {
        let pass = &self.pass;
        let categories = &side.file.groups.categories;
        let savings = KINDS.into_iter().filter_map(|kind| {
            let effect = pass.without_kind(kind);
            let saved_bytes = pass.peak.1.saturating_sub(effect.peak);
            if saved_bytes < min_bytes.max(1) {
                return None;
            }
            let (mut concerned_bytes, mut by_size) = (0u64, 0u64);
            let mut sites: Vec<(u64, u64, AllocationId)> = Vec::new();
            sites.resize(side.group_count(Grouping::CallSite) as usize, (0, 0, AllocationId(0)));
            for &id in &self.live.ids {
                let bytes = pass.concerned_bytes(side, &self.matched, (kind, id));
                concerned_bytes = concerned_bytes.saturating_add(bytes);
                if categories.set().compares_sizes(categories.rule(side.history, id)) {
                    by_size = by_size.saturating_add(bytes);
                }
                let site = side.group(Grouping::CallSite, id);
                let Some((sum, max, largest)) = sites.get_mut(site as usize).filter(|_| bytes > 0) else { continue };
                *sum = sum.saturating_add(bytes);
                if bytes > *max {
                    (*max, *largest) = (bytes, id);
                }
            }
            let concerned = (0u32..).zip(&sites).filter(|(_, (sum, ..))| *sum > 0);
            let ranked = sorted_numbers(concerned.map(|(site, (sum, ..))| (two_part_key(!sum, 0), site)).collect());
            let top_site = |site: u32| sites.get(site as usize).map(|&(sum, _, largest)| (site, sum, largest));
            let top_sites = ranked.into_iter().take(MAX_SITES).filter_map(top_site).collect();
            let confidence = match kind {
                SavingKind::AwaitingFree => "high: recorded",
                SavingKind::Loss | SavingKind::AttentionScores => "medium: by function names",
                _ if by_size > concerned_bytes / 2 => "low: classified by size",
                _ => "medium: classified by call stack",
            };
            Some(Saving { kind, effect, saved_bytes, concerned_bytes, top_sites, confidence })
        });
        let savings = sorted_by_key(savings.collect(), |saving: &Saving| !u128::from(saving.saved_bytes));
        // Bytes of the first change of each group of nearly equal ones.
        let mut groups: Vec<u64> = Vec::new();
        let is_less = |bytes: u64, first: u64| bytes < first - first / EQUAL_PART;
        for bytes in savings.iter().map(|saving| saving.saved_bytes) {
            if groups.last().is_none_or(|&first| is_less(bytes, first)) {
                groups.push(bytes);
            }
        }
        sorted_by_key(savings, |saving: &Saving| {
            let group = groups.partition_point(|&first| is_less(saving.saved_bytes, first));
            two_part_key(group as u64, saving.kind.cost())
        })
    }
}
