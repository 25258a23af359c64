//! Checks for problems that allocator settings are related to, and their thresholds.
//!
//! The thresholds are high on purpose, so a healthy trace must not cause any findings. Whether a setting helps is not
//! decided here, but by the simulation.

use crate::report::fragmentation::{MIN_PROBLEM_BYTES, newest_oom, peak_moment};
use crate::report::layout::Layout;
use crate::report::writer::bytes_text;
use crate::side::Side;
use base::slice::{SliceResult, TimeSlice};
use base::units::{EventIdx, pluralize};
use history::replay::{AllocationId, DeviceHistory, SegmentLifetimes};
use history::snapshot::Action;

const MIB: u64 = 1 << 20;

/// The checks, in display order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// An OOM occurred although enough memory was free, because it was scattered over several blocks.
    FragmentedOom,
    /// A few small blocks prevent the release of large segments.
    PinnedSegments,
    /// Bytes are lost because sizes between powers of two are rounded up.
    Rounding,
    /// Segments stay unused during the whole trace.
    UnusedSegments,
    /// Memory is repeatedly released to the driver and reserved again.
    Churn,
}

impl Check {
    pub(super) const ALL: [Check; 5] =
        [Check::FragmentedOom, Check::PinnedSegments, Check::Rounding, Check::UnusedSegments, Check::Churn];

    /// Returns the setting that the check is related to.
    pub(super) fn setting(self) -> &'static str {
        match self {
            Check::FragmentedOom | Check::Churn => "expandable_segments",
            Check::PinnedSegments => "max_split_size",
            Check::Rounding => "roundup_power2_divisions",
            Check::UnusedSegments => "garbage_collection_threshold",
        }
    }

    /// Returns a description of the bytes that the check finds.
    pub(super) fn description(self) -> &'static str {
        match self {
            Check::FragmentedOom => "free (cached) at the OOM",
            Check::PinnedSegments => "free (cached) at the peak, in large segments less than 10 % used",
            Check::Rounding => "lost to rounding at the peak",
            Check::UnusedSegments => "segments empty throughout the trace",
            Check::Churn => "segments freed and allocated again",
        }
    }

    /// Returns the thresholds for a statement: minimum share of the total in percent, and minimum number of bytes.
    pub(super) fn thresholds(self) -> (u64, u64) {
        match self {
            Check::FragmentedOom | Check::Rounding => (10, MIN_PROBLEM_BYTES),
            Check::PinnedSegments | Check::UnusedSegments => (25, 1024 * MIB),
            Check::Churn => (200, 1024 * MIB),
        }
    }
}

impl Check {
    /// Returns whether `part` of a total of `whole` bytes reaches both thresholds.
    fn reaches_thresholds(self, part: u64, whole: u64) -> bool {
        let (percent, bytes) = self.thresholds();
        part >= bytes && u128::from(part) * 100 >= u128::from(whole) * u128::from(percent) && whole > 0
    }
}

/// Result of a check: the bytes found, the total that they are compared with, and the moment.
#[derive(Clone, Debug)]
pub(super) struct CheckResult {
    pub(super) check: Check,
    pub(super) found_bytes: u64,
    pub(super) whole_bytes: u64,
    /// Moment of the finding. `None` if the situation to check for did not occur in the trace.
    pub(super) moment: Option<u32>,
    /// True if all conditions of the check hold, apart from the thresholds.
    conditions_hold: bool,
    pub(super) detail: String,
}

impl CheckResult {
    /// Returns whether the result leads to a statement: it reaches the thresholds and meets all other conditions.
    pub(super) fn is_hint(&self) -> bool {
        self.conditions_hold && self.check.reaches_thresholds(self.found_bytes, self.whole_bytes)
    }
}

/// Data that the checks are computed from.
pub(super) struct Checks {
    newest_oom: Option<(u32, Layout)>,
    at_peak: Layout,
    at_end: Layout,
    next_event: u32,
    /// Bytes and number of the events that reserved memory, followed by bytes and number of the events that released
    /// it.
    driver_traffic: [(u64, u64); 2],
    /// Fixed-size segments that have no block at the end of the trace, sorted by address. Each is the start address,
    /// the end address, and the moment of the last use.
    empty_segments: Option<Vec<[u64; 3]>>,
    next_allocation: usize,
}

impl Checks {
    pub(super) fn new(history: &DeviceHistory, lives: &SegmentLifetimes) -> Checks {
        let layout = |moment| Layout::new(history, lives, moment);
        Checks {
            newest_oom: newest_oom(history).map(|event| (event, layout(event))),
            at_peak: layout(peak_moment(history)),
            at_end: layout(history.event_count()),
            next_event: 0,
            driver_traffic: [(0, 0); 2],
            empty_segments: None,
            next_allocation: 0,
        }
    }

    /// Continues collecting the data for the checks.
    pub(super) fn step(&mut self, side: Side<'_>, lives: &SegmentLifetimes, slice: &mut TimeSlice) -> SliceResult {
        let Checks { newest_oom, at_peak, at_end, .. } = self;
        let layouts = [at_peak, at_end].into_iter().chain(newest_oom.as_mut().map(|it| &mut it.1));
        for layout in layouts {
            layout.step(side, lives, slice)?;
        }
        for event in self.next_event..side.history.event_count() {
            slice.tick()?;
            self.next_event += 1;
            let index = match side.history.events.action(event) {
                Action::SegmentAlloc | Action::SegmentMap => 0,
                Action::SegmentFree | Action::SegmentUnmap => 1,
                _ => continue,
            };
            let (bytes, count) = &mut self.driver_traffic[index];
            *bytes = bytes.saturating_add(side.history.address_and_size(EventIdx(event)).1);
            *count += 1;
        }
        let segments = self.empty_segments.get_or_insert_with(|| find_empty_segments(&self.at_end, lives));
        while self.next_allocation < side.history.allocations.len() && !segments.is_empty() {
            slice.tick()?;
            let id = AllocationId(self.next_allocation as u32);
            self.next_allocation += 1;
            let address = side.history.allocations.address(id);
            let after = segments.partition_point(|&[from, ..]| from <= address);
            let Some([_, to, used]) = after.checked_sub(1).and_then(|index| segments.get_mut(index)) else { continue };
            let (_, freed_at, _) = side.history.allocations.span(id);
            if address < *to && freed_at != u32::MAX {
                *used = (*used).max(freed_at.into());
            }
        }
        Ok(())
    }

    /// Returns the results of all checks.
    pub(super) fn results(&self, side: Side<'_>, lives: &SegmentLifetimes) -> Vec<CheckResult> {
        Check::ALL.into_iter().map(|check| self.run(check, side, lives)).collect()
    }

    fn run(&self, check: Check, Side { file, history }: Side<'_>, lives: &SegmentLifetimes) -> CheckResult {
        let found = |found_bytes, whole_bytes, moment, conditions_hold, detail: String| CheckResult {
            check,
            found_bytes,
            whole_bytes,
            moment: Some(moment),
            conditions_hold,
            detail,
        };
        let none = |whole| CheckResult { moment: None, ..found(0, whole, 0, false, String::new()) };
        let peak_reserved = u64::try_from(history.numbers.peak_reserved).unwrap_or(0);
        match check {
            Check::FragmentedOom => {
                let Some((event, layout)) = &self.newest_oom else { return none(peak_reserved) };
                let (_, request) = history.address_and_size(EventIdx(*event));
                let sums = layout.total;
                let is_scattered = sums.free >= request && sums.largest_free < request;
                let fixed = layout.by_kind.kinds.iter().filter(|it| !it.kind.expandable).map(|it| it.sums.free);
                let fixed = fixed.fold(0u64, u64::saturating_add);
                let words = bytes_text(request) + " requested, " + &largest_free_text(sums.largest_free);
                // Segments that can grow already must not count as a reason to enable growth.
                let conditions_hold = is_scattered && check.reaches_thresholds(fixed, sums.reserved);
                found(sums.free, sums.reserved, *event, conditions_hold, words)
            }
            Check::PinnedSegments => {
                let is_large =
                    |kind: u32| lives.kinds().get(kind as usize).is_some_and(|kind| !kind.expandable && !kind.small);
                let pinned = self.at_peak.state.segments.iter().filter(|segment| {
                    let sums = &segment.sums;
                    is_large(segment.kind) && sums.blocks > 0 && sums.requested < sums.reserved / 10
                });
                let (count, free) =
                    pinned.fold((0, 0u64), |(count, free), it| (count + 1, it.sums.free.saturating_add(free)));
                found(
                    free,
                    self.at_peak.total.reserved,
                    self.at_peak.moment,
                    true,
                    "in ".to_owned() + &pluralize(count, "segment"),
                )
            }
            Check::Rounding => {
                let sums = self.at_peak.total;
                let is_set = |(key, value): &(String, String)| {
                    key.starts_with(super::known_settings::DIVISIONS_KEY)
                        && value.parse::<u64>().is_ok_and(|divisions| divisions > 1)
                };
                let is_set = file.snapshot.settings.iter().any(is_set);
                let lost = sums.rounded.saturating_sub(sums.requested);
                let words = "of ".to_owned() + &pluralize(sums.blocks.into(), "block");
                found(lost, sums.rounded, self.at_peak.moment, is_set, words)
            }
            Check::UnusedSegments => {
                let idle = self.empty_segments.iter().flatten().filter(|[.., used]| *used == 0);
                let (count, sum) =
                    idle.fold((0, 0u64), |(count, sum), [from, to, _]| (count + 1, sum.saturating_add(to - from)));
                let is_long = history.event_count() >= 1000;
                found(
                    sum,
                    self.at_end.total.reserved,
                    self.at_end.moment,
                    is_long,
                    pluralize(count, "segment") + " without a block",
                )
            }
            Check::Churn => {
                let [(taken, requests), (_, releases)] = self.driver_traffic;
                let numbers = &history.numbers;
                let grown = numbers.peak_reserved.saturating_sub(numbers.reserved_start);
                let again = taken.saturating_sub(u64::try_from(grown).unwrap_or(0));
                let actions = &history.action_counts;
                let is_fixed = actions[Action::SegmentAlloc as usize] > actions[Action::SegmentMap as usize];
                let words =
                    ["allocated ", &pluralize(requests, "time"), ", released ", &pluralize(releases, "time")].concat();
                found(again, peak_reserved, self.at_end.moment, is_fixed && releases >= 100, words)
            }
        }
    }
}

/// Returns the text that states the size of the largest free block.
fn largest_free_text(free: u64) -> String {
    "largest free block ≤ ".to_owned() + &bytes_text(free)
}

/// Returns the fixed-size segments that have no block at the end of the trace, sorted by address. Each is the start
/// address, the end address, and the moment at which its last range was mapped.
fn find_empty_segments(end: &Layout, lives: &SegmentLifetimes) -> Vec<[u64; 3]> {
    let segments = end.state.segments.iter();
    let empty = segments.filter(|segment| {
        let is_fixed = lives.kinds().get(segment.kind as usize).is_some_and(|kind| !kind.expandable);
        is_fixed && segment.sums.blocks == 0
    });
    empty.map(|segment| [segment.address, segment.end, end.state.mapped_since(segment, lives).into()]).collect()
}
