//! Peak of live bytes without a group of allocations, for all groups at once and exactly.
//!
//! The result is the maximum of `live − group` over all moments. It may exceed the peak minus the group's bytes at the
//! peak, because the peak may move to another moment. While the group's bytes are constant, only the maximum of live
//! bytes in that interval matters. Since an interval is evaluated when it ends, its maximum is one of the *tops*:
//! moments after which live bytes were never higher.
//!
//! ```text
//! live   ▂▅█▃▆▂▄▁        tops: █ ▆ ▄ ▁, ever lower; the first top since a moment is the maximum since then
//! ```
//!
//! This takes one pass over the events, and a binary search per change of a group. Tops that no group can need are
//! dropped, so the number of tops is never much larger than the number of groups.

use base::sorted::sorted_numbers;

/// Change of the peak if a group of allocations did not exist, in requested bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupEffect {
    /// Bytes of the group at the original peak.
    pub at_peak: u64,
    /// Peak of live bytes without the group.
    pub peak: u64,
    /// First moment with the peak without the group.
    pub moment: u32,
}

/// Computation of the peak of live bytes without each group. Its input is the changes in live bytes, in order of time.
#[derive(Clone, Debug, Default)]
pub struct PeakWithout {
    /// Current live bytes.
    live: i64,
    groups: Vec<Group>,
    tops: Tops,
    /// Moment of the original peak, at which `at_peak` is recorded for each group. `None` once recorded.
    peak_moment: Option<u32>,
}

base::heap_bytes!(PeakWithout: groups, tops);

/// State of one group of allocations.
#[derive(Clone, Copy, Debug)]
struct Group {
    live: i64,
    /// Moment of the last change of the group.
    since: u32,
    /// Maximum of live bytes minus the group's bytes up to `since`, and the first moment with this maximum.
    max_without: (i64, u32),
    at_peak: i64,
}

impl PeakWithout {
    /// Creates the computation for `groups` groups. `peak` is the first moment with the peak of live bytes.
    pub fn new(groups: usize, peak: u32) -> PeakWithout {
        let mut without =
            PeakWithout { groups: vec![Group::new(); groups], peak_moment: Some(peak), ..PeakWithout::default() };
        // Without allocations before recording, nothing is live at the start.
        without.tops.push(0, 0);
        without
    }

    /// Adds a group that has no live bytes yet, and returns its index.
    pub fn add_group(&mut self) -> u32 {
        self.groups.push(Group::new());
        self.groups.len() as u32 - 1
    }

    /// Adds `bytes` to the live bytes of a group. Must be called before [`PeakWithout::add`] for the same moment.
    /// Moments must not decrease.
    #[inline(never)]
    pub fn change(&mut self, group: u32, moment: u32, bytes: i64) {
        self.advance_to(moment);
        let Some(group) = self.groups.get_mut(group as usize) else { return };
        group.close(&self.tops, moment);
        group.live = group.live.saturating_add(bytes);
    }

    /// Adds `bytes` to the live bytes of all allocations. `bytes` is 0 if a change affects only a group.
    #[inline]
    pub fn add(&mut self, moment: u32, bytes: i64) {
        self.advance_to(moment);
        self.live = self.live.saturating_add(bytes);
        self.tops.push(moment, self.live);
        if self.tops.is_full() {
            // Groups added later have not changed since the start.
            self.tops.retain_needed(std::iter::once(0).chain(self.groups.iter().map(|group| group.since)));
        }
    }

    /// Records the groups' bytes at the peak if `moment` is after the peak. Must be called before each change.
    #[inline(always)]
    fn advance_to(&mut self, moment: u32) {
        if self.peak_moment.is_some_and(|wanted| wanted < moment) {
            self.record_at_peak();
        }
    }

    #[cold]
    fn record_at_peak(&mut self) {
        self.peak_moment = None;
        self.groups.iter_mut().for_each(|group| group.at_peak = group.live);
    }

    /// Returns the effect of each group, in the order of their indices.
    pub fn finish(mut self) -> Vec<GroupEffect> {
        if self.peak_moment.is_some() {
            self.record_at_peak();
        }
        let bytes = |bytes: i64| u64::try_from(bytes).unwrap_or(0);
        let tops = &self.tops;
        let groups = self.groups.iter_mut().map(|group| {
            group.close(tops, u32::MAX);
            GroupEffect { at_peak: bytes(group.at_peak), peak: bytes(group.max_without.0), moment: group.max_without.1 }
        });
        groups.collect()
    }
}

impl Group {
    fn new() -> Group {
        Group { live: 0, since: 0, max_without: (i64::MIN, 0), at_peak: 0 }
    }

    /// Evaluates the interval from `since` to `moment`, during which the group's bytes were constant.
    #[inline(always)]
    fn close(&mut self, tops: &Tops, moment: u32) {
        // Skips intervals where even the highest live bytes would not be enough.
        let needed = self.max_without.0.saturating_add(self.live);
        if moment > self.since
            && tops.highest() > needed
            && let Some((when, max)) = tops.above(needed, self.since)
        {
            self.max_without = (max.saturating_sub(self.live), when);
        }
        self.since = moment;
    }
}

/// Minimum number of tops before unneeded ones are dropped.
const MIN_TOPS: usize = 4096;

/// The tops: moments after which live bytes were never higher, each with its live bytes. Moments ascend, and bytes
/// never increase.
#[derive(Clone, Debug, Default)]
struct Tops {
    all: Vec<(u32, i64)>,
    /// Number of tops that remained when unneeded ones were last dropped.
    kept: usize,
}

base::heap_bytes!(Tops: all);

impl Tops {
    #[inline(always)]
    fn push(&mut self, moment: u32, live: i64) {
        while self.all.last().is_some_and(|&(when, lower)| lower < live || when == moment) {
            self.all.pop();
        }
        self.all.push((moment, live));
    }

    /// Returns the peak of live bytes so far, which is the first top. The first top is never dropped.
    #[inline(always)]
    fn highest(&self) -> i64 {
        self.all.first().map_or(i64::MIN, |&(_, live)| live)
    }

    /// Returns the first moment with the maximum of live bytes since `moment`, and the maximum. `None` unless the
    /// maximum is above `bytes`.
    #[inline(never)]
    fn above(&self, bytes: i64, moment: u32) -> Option<(u32, i64)> {
        // Searches from the end, because most groups changed recently.
        let mut back = 1;
        while back < self.all.len() && self.all.get(self.all.len() - back).is_some_and(|&(when, _)| when >= moment) {
            back *= 2;
        }
        let from = self.all.len().saturating_sub(back);
        let near = self.all.get(from..).unwrap_or_default();
        // Most maxima are too low, as the last top before `moment` shows, which is at least as high.
        if near.first().is_some_and(|&(when, live)| when < moment && live <= bytes) {
            return None;
        }
        near.get(near.partition_point(|&(when, _)| when < moment)).copied().filter(|&(_, max)| max > bytes)
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.all.len() > MIN_TOPS + 2 * self.kept
    }

    /// Drops tops that no group needs. `last_changes` are the moments at which each group last changed. The last top is
    /// always kept.
    #[cold]
    fn retain_needed(&mut self, last_changes: impl Iterator<Item = u32>) {
        let last_changes = sorted_numbers(last_changes.map(|since| (u128::from(since), since)).collect());
        let mut wanted = 0;
        let last = self.all.last().copied();
        // For each such moment, the first top at or after it.
        self.all.retain(|&top| {
            let before = wanted;
            wanted += last_changes.get(wanted..).unwrap_or_default().partition_point(|&since| since <= top.0);
            wanted > before || Some(top) == last
        });
        self.kept = self.all.len().max(last_changes.len());
    }
}
