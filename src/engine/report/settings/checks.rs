//! Checks for problems that another setting may fix, with their thresholds.
//!
//! The thresholds are high on purpose. Each hint costs the reader an experiment, so a healthy trace must not get any.

use crate::open::OpenFile;
use crate::report::fragmentation::{MUCH, most_requested, most_reserved, newest_failure};
use crate::report::layout::{DriverRequest, Layout};
use crate::report::writing::bytes;
use base::slice::{Slice, Sliced};
use base::units::{EventIdx, counted, grouped};
use history::replay::{AllocationId, DeviceHistory, SegmentLives};
use history::snapshot::Action;

const MIB: u64 = 1 << 20;

/// Checks, in display order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// The driver was asked for memory although enough was free in pieces.
    Scattered,
    /// An OOM occurred although enough was free in pieces.
    Failed,
    /// A few small blocks pin large segments.
    Remainders,
    /// Bytes are lost by rounding between powers of two.
    Rounding,
    /// Segments are never used.
    Idle,
    /// Memory is repeatedly released to the driver and allocated again.
    Churn,
}

impl About {
    pub(super) const ALL: [About; 6] =
        [About::Scattered, About::Failed, About::Remainders, About::Rounding, About::Idle, About::Churn];

    /// Returns the setting that the check suggests changing.
    pub(super) fn setting(self) -> &'static str {
        match self {
            About::Scattered | About::Failed | About::Churn => "expandable_segments",
            About::Remainders => "max_split_size",
            About::Rounding => "roundup_power2_divisions",
            About::Idle => "garbage_collection_threshold",
        }
    }

    /// Returns the description of the check.
    pub(super) fn words(self) -> &'static str {
        match self {
            About::Scattered => "free (cached) in the pool at the driver request that led to peak reserved",
            About::Failed => "free (cached) at the OOM",
            About::Remainders => "free (cached) at the peak, in large segments less than 10 % used",
            About::Rounding => "lost to rounding at the peak",
            About::Idle => "segments empty throughout the trace",
            About::Churn => "released to the driver and allocated again",
        }
    }

    /// Returns the minimum share in percent and the minimum bytes for a hint.
    pub(super) fn least(self) -> (u64, u64) {
        match self {
            About::Scattered | About::Failed | About::Rounding => (10, MUCH),
            About::Remainders | About::Idle => (25, 1024 * MIB),
            About::Churn => (200, 1024 * MIB),
        }
    }
}

impl About {
    /// Returns whether `part` of `whole` bytes reaches the thresholds.
    fn is_much(self, part: u64, whole: u64) -> bool {
        let (percent, bytes) = self.least();
        part >= bytes && u128::from(part) * 100 >= u128::from(whole) * u128::from(percent) && whole > 0
    }
}

/// Result of a check.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) about: About,
    pub(super) part: u64,
    pub(super) whole: u64,
    /// Moment of the finding. `None` if the situation did not occur in the trace.
    pub(super) moment: Option<u32>,
    /// True if the other conditions of the check hold.
    is_so: bool,
    pub(super) words: String,
}

impl Found {
    /// Returns whether the result reaches the thresholds and meets the other conditions.
    pub(super) fn is_hint(&self) -> bool {
        self.is_so && self.about.is_much(self.part, self.whole)
    }
}

/// Computation of all checks.
pub(super) struct Checks {
    driver: Option<(DriverRequest, Layout)>,
    failed: Option<(u32, Layout)>,
    active: Layout,
    end: Layout,
    next_event: u32,
    /// Bytes and number of events that took memory from the driver, and of those that released it.
    turned: [(u64, u64); 2],
    /// Fixed segments without a block at the end: start address, end address, moment of last use. Sorted by address.
    whole: Option<Vec<[u64; 3]>>,
    next: usize,
}

impl Checks {
    pub(super) fn new(file: &OpenFile, history: &DeviceHistory, lives: &SegmentLives) -> Checks {
        let peak = most_reserved(history);
        let layout = |moment| Layout::new(history, lives, moment);
        Checks {
            driver: DriverRequest::before(file, history, lives, peak).map(|driver| (driver, layout(driver.event))),
            failed: newest_failure(history).map(|event| (event, layout(event))),
            active: layout(most_requested(history)),
            end: layout(history.event_count()),
            next_event: 0,
            turned: [(0, 0); 2],
            whole: None,
            next: 0,
        }
    }

    /// Continues the computation.
    pub(super) fn step(
        &mut self,
        file: &OpenFile,
        history: &DeviceHistory,
        lives: &SegmentLives,
        slice: &mut Slice,
    ) -> Sliced {
        let Checks { driver, failed, active, end, .. } = self;
        let beside = [driver.as_mut().map(|it| &mut it.1), failed.as_mut().map(|it| &mut it.1)];
        let layouts = [active, end].into_iter().chain(beside.into_iter().flatten());
        for layout in layouts {
            layout.step(file, history, lives, slice)?;
        }
        for event in self.next_event..history.event_count() {
            slice.tick()?;
            self.next_event += 1;
            let which = match history.events.action(event) {
                Action::SegmentAlloc | Action::SegmentMap => 0,
                Action::SegmentFree | Action::SegmentUnmap => 1,
                _ => continue,
            };
            let (bytes, count) = &mut self.turned[which];
            *bytes = bytes.saturating_add(history.address_and_size(EventIdx(event)).1);
            *count += 1;
        }
        let whole = self.whole.get_or_insert_with(|| whole_segments(&self.end, lives));
        while self.next < history.allocations.len() && !whole.is_empty() {
            slice.tick()?;
            let id = AllocationId(self.next as u32);
            self.next += 1;
            let address = history.allocations.address(id);
            let after = whole.partition_point(|&[from, ..]| from <= address);
            let Some([_, to, used]) = after.checked_sub(1).and_then(|place| whole.get_mut(place)) else { continue };
            let (_, died, _) = history.allocations.span(id);
            if address < *to && died != u32::MAX {
                *used = (*used).max(died.into());
            }
        }
        Ok(())
    }

    /// Returns the results of all checks.
    pub(super) fn found(&self, file: &OpenFile, history: &DeviceHistory, lives: &SegmentLives) -> Vec<Found> {
        let all = About::ALL.into_iter();
        all.map(|about| self.of(about, file, history, lives)).collect()
    }

    fn of(&self, about: About, file: &OpenFile, history: &DeviceHistory, lives: &SegmentLives) -> Found {
        let found = |part, whole, moment, is_so, words: String| Found {
            about,
            part,
            whole,
            moment: Some(moment),
            is_so,
            words,
        };
        let none = |whole| Found { moment: None, ..found(0, whole, 0, false, String::new()) };
        let most_reserved = u64::try_from(history.numbers.peak_reserved).unwrap_or(0);
        match about {
            About::Scattered => {
                let Some((driver, layout)) = &self.driver else { return none(most_reserved) };
                let free = layout.rooms.serving(driver.kind);
                let needed = driver.request.map_or_else(String::new, |request| bytes(request) + " requested, ");
                let words = needed + &of_largest(free.largest_free);
                let is_so = driver.is_scattered(&free) && !driver.kind.expandable;
                found(free.free, layout.whole.reserved, driver.event, is_so, words)
            }
            About::Failed => {
                let Some((event, layout)) = &self.failed else { return none(most_reserved) };
                let (_, request) = history.address_and_size(EventIdx(*event));
                let sums = layout.whole;
                let is_scattered = sums.free >= request && sums.largest_free < request;
                let fixed = layout.rooms.rooms.iter().filter(|room| !room.kind.expandable).map(|room| room.sums.free);
                let fixed = fixed.fold(0u64, u64::saturating_add);
                let words = bytes(request) + " requested, " + &of_largest(sums.largest_free);
                // Segments that can grow already must not count as a reason to enable growth.
                let is_so = is_scattered && about.is_much(fixed, sums.reserved);
                found(sums.free, sums.reserved, *event, is_so, words)
            }
            About::Remainders => {
                let of =
                    |kind: u32| lives.kinds().get(kind as usize).is_some_and(|kind| !kind.expandable && !kind.small);
                let pinned = self.active.state.segments.iter().filter(|segment| {
                    let sums = &segment.sums;
                    of(segment.kind) && sums.blocks > 0 && sums.requested < sums.reserved / 10
                });
                let (count, free) =
                    pinned.fold((0, 0u64), |(count, free), it| (count + 1, it.sums.free.saturating_add(free)));
                found(
                    free,
                    self.active.whole.reserved,
                    self.active.moment,
                    true,
                    "in ".to_owned() + &counted(count, "segment"),
                )
            }
            About::Rounding => {
                let sums = self.active.whole;
                let is_set = |(key, value): &(String, String)| {
                    key.starts_with(super::known::DIVISIONS)
                        && value.parse::<u64>().is_ok_and(|divisions| divisions > 1)
                };
                let is_set = file.snapshot.settings.iter().any(is_set);
                let lost = sums.rounded.saturating_sub(sums.requested);
                let words = "of ".to_owned() + &counted(sums.blocks.into(), "block");
                found(lost, sums.rounded, self.active.moment, is_set, words)
            }
            About::Idle => {
                let idle = self.whole.iter().flatten().filter(|[.., used]| *used == 0);
                let (count, sum) =
                    idle.fold((0, 0u64), |(count, sum), [from, to, _]| (count + 1, sum.saturating_add(to - from)));
                let is_long = history.event_count() >= 1000;
                found(
                    sum,
                    self.end.whole.reserved,
                    self.end.moment,
                    is_long,
                    counted(count, "segment") + " without a block",
                )
            }
            About::Churn => {
                let [(taken, times), (_, back)] = self.turned;
                let numbers = &history.numbers;
                let grown = numbers.peak_reserved.saturating_sub(numbers.reserved_start);
                let again = taken.saturating_sub(u64::try_from(grown).unwrap_or(0));
                let actions = &history.action_counts;
                let is_fixed = actions[Action::SegmentAlloc as usize] > actions[Action::SegmentMap as usize];
                let words = [&grouped(times), " times allocated, ", &grouped(back), " times released"].concat();
                found(again, most_reserved, self.end.moment, is_fixed && back >= 100, words)
            }
        }
    }
}

/// Formats the size of the largest free block.
fn of_largest(free: u64) -> String {
    "largest free block ≤ ".to_owned() + &bytes(free)
}

/// Returns the fixed segments without a block, sorted by address: start address, end address, and the moment when they
/// were mapped.
fn whole_segments(end: &Layout, lives: &SegmentLives) -> Vec<[u64; 3]> {
    let segments = end.state.segments.iter();
    let whole = segments.filter(|segment| {
        let is_fixed = lives.kinds().get(segment.kind as usize).is_some_and(|kind| !kind.expandable);
        is_fixed && segment.sums.blocks == 0
    });
    whole.map(|segment| [segment.address, segment.end, end.state.mapped_since(segment, lives).into()]).collect()
}
