//! Tensors that are replaced by larger ones: a KV cache whose keys and values are concatenated with those of each
//! token. They show the growth of a cache in traces without known steps.

use crate::side::Side;
use analysis::{Change, Changes};
use base::slice::{SliceResult, TimeSlice};
use protocol::Grouping;

/// Minimum number of steps where the tensors of a call site get larger.
const MIN_STEPS: u32 = 4;

/// Sizes of the allocations of a call site, in order. A step begins when the size increases.
#[derive(Clone, Copy, Default)]
pub(super) struct Sizes {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) steps: u32,
    /// Smallest and largest increase.
    pub(super) increase: Option<(u64, u64)>,
    pub(super) newest: u32,
    live: u64,
    /// Number of allocations in this step, and in the step before.
    counts: [u64; 2],
    /// True if a size decreased, or increased while none or too many of the smaller tensors were live.
    is_other: bool,
}

/// Sizes of all call sites.
#[derive(Default)]
pub(super) struct ReplacedTensors {
    changes: Changes,
    sites: Vec<Sizes>,
}

base::heap_bytes!(ReplacedTensors: sites);

impl Sizes {
    /// Returns the number of tensors.
    pub(super) fn tensors(&self) -> u64 {
        self.counts[0].max(self.counts[1])
    }

    fn add(&mut self, id: u32, size: u64) {
        match size.checked_sub(self.last) {
            _ if self.steps == 0 && self.counts[0] == 0 => (self.first, self.last) = (size, size),
            Some(0) => {}
            Some(increase) => {
                // The smaller tensors are still live, and those before them are not.
                self.is_other |= self.live == 0 || self.live > 2 * self.counts[0];
                let (min, max) = self.increase.unwrap_or((u64::MAX, 0));
                self.increase = Some((min.min(increase), max.max(increase)));
                (self.last, self.steps, self.counts) = (size, self.steps + 1, [0, self.counts[0]]);
            }
            None => self.is_other = true,
        }
        (self.newest, self.live) = (id, self.live + 1);
        self.counts[0] += 1;
    }
}

impl ReplacedTensors {
    /// Continues examining the allocations until all are examined or the time slice is used up.
    pub(super) fn step(&mut self, side: Side<'_>, slice: &mut TimeSlice) -> SliceResult {
        let ReplacedTensors { changes, sites } = self;
        if sites.is_empty() {
            sites.resize(side.group_count(Grouping::CallSite) as usize, Sizes::default());
        }
        changes.step(side.history, slice, |Change { id, moment, bytes, .. }| {
            let group = side.group(Grouping::CallSite, id);
            let Some(site) = sites.get_mut(group as usize).filter(|_| moment > 0 && bytes != 0) else { return };
            match u64::try_from(bytes) {
                Ok(size) => site.add(id.0, size),
                Err(_) => site.live = site.live.saturating_sub(1),
            }
        })
    }

    /// Returns the call sites whose tensors were replaced by larger ones in each step, the largest growth first.
    pub(super) fn growing(&self) -> Vec<(u32, &Sizes)> {
        let growing = (0u32..).zip(&self.sites).filter(|(_, site)| !site.is_other && site.steps >= MIN_STEPS);
        let growth = |site: &Sizes| u128::from(site.last - site.first) * u128::from(site.tensors());
        base::sorted::sorted_by_key(growing.collect(), |(_, site): &(u32, &Sizes)| !growth(site))
    }
}
