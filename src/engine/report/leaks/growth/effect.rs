//! Effect of growth on the peak: the peak of live bytes without the allocations that growing call sites keep.

use crate::side::Side;
use analysis::{Change, Changes, GroupEffect, PeakWithout};
use base::slice::{SliceResult, TimeSlice};
use protocol::Grouping;

/// Maximum number of call sites with a statement.
pub(super) const MAX_STATEMENTS: usize = 3;
/// Maximum number of call sites whose effect is computed. Some may have no statement, because they are KV caches.
pub(super) const MAX_EFFECTS: usize = 8;

/// Peak without what the largest growing call sites have allocated since the start of the growth and never freed.
#[derive(Default)]
pub(super) struct GrowthEffects {
    /// Group of each call site, and the moment at which its growth starts. `None` until the growth is known.
    sites: Option<Vec<(u32, u32)>>,
    changes: Changes,
    without: Option<PeakWithout>,
    results: Vec<GroupEffect>,
}

base::heap_bytes!(GrowthEffects: without, results);

impl GrowthEffects {
    /// Continues computing the effects until they are complete or the time slice is used up.
    pub(super) fn step(
        &mut self,
        side: Side<'_>,
        largest: impl FnOnce() -> Vec<(u32, u32)>,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let GrowthEffects { sites, changes, without, results } = self;
        let sites = sites.get_or_insert_with(largest);
        if sites.is_empty() || !results.is_empty() {
            return Ok(());
        }
        let sum = without.get_or_insert_with(|| PeakWithout::new(sites.len(), side.history.live_peak().0.0));
        changes.step(side.history, slice, |Change { id, moment, bytes, .. }| {
            if bytes != 0 && side.history.allocations.freed_at(id).is_none() {
                let group = side.group(Grouping::CallSite, id);
                let allocated_at = side.history.allocations.allocated_at(id).0;
                let index = sites.iter().position(|&(site, start)| site == group && allocated_at > start);
                index.into_iter().for_each(|index| sum.change(index as u32, moment, bytes));
            }
            sum.add(moment, bytes);
        })?;
        *results = without.take().map(PeakWithout::finish).unwrap_or_default();
        Ok(())
    }

    /// Returns the effect of a call site. `None` if it is not one of the largest.
    pub(super) fn effect(&self, group: u32) -> Option<GroupEffect> {
        let index = self.sites.iter().flatten().position(|&(site, _)| site == group)?;
        self.results.get(index).copied()
    }
}
