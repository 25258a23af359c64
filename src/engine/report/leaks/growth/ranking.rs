//! Call sites that grow, most growth first. A call site grows if its bytes rise in half of the steps after the
//! baseline, or less often at even intervals, as those of a list that every tenth step appends to.

use super::site_growth::SiteGrowth;
use super::{Growth, MIN_STEPS};
use base::sorted::{sorted_numbers, two_part_key};

impl Growth {
    /// Returns whether the number of allocations rises at least three times after the baseline, without a gap of more
    /// than twice the mean. The time before the first rise and after the last one are gaps, too.
    fn rises_evenly(&self, site: &SiteGrowth) -> bool {
        let compared = self.compared_of(site);
        let end = self.baseline + compared;
        let early = site.values.partition_point(|&(index, _)| index <= self.baseline);
        let late = site.values.get(early..).unwrap_or_default();
        let rises = late.iter().map(|&(index, _)| index).chain([end]);
        let (mut before, mut longest) = (self.baseline, 0);
        for index in rises {
            longest = longest.max(index.saturating_sub(before));
            before = index;
        }
        let (longest, count) = (u64::from(longest), late.len() as u64);
        site.has_more_allocations() && count > 2 && longest * count <= 2 * u64::from(compared)
    }

    /// Returns whether a call site grows steadily: in half of the steps after the baseline, or less often at even
    /// intervals.
    pub(super) fn is_steady(&self, site: &SiteGrowth) -> bool {
        let compared = self.compared_of(site);
        let enough = if self.baseline > 0 { compared.div_ceil(2) } else { compared };
        site.rises >= enough || self.baseline > 0 && self.rises_evenly(site)
    }

    /// Returns the growing call sites, most growth first. Call sites with more allocations than at the baseline come
    /// before the others, because a single allocation that is replaced by a larger one need not be a leak.
    pub(super) fn ranked(&self, min_steps: u64) -> Vec<u32> {
        self.sorted(|site| u64::from(site.rises) >= min_steps.max(1) && self.is_steady(site))
    }

    /// Returns the call sites whose allocations become more in several steps, but not steadily, most growth first.
    pub(super) fn unsteady(&self, min_steps: u64) -> Vec<u32> {
        let min_steps = min_steps.max(MIN_STEPS);
        self.sorted(|site| u64::from(site.rises) >= min_steps && !self.is_steady(site) && site.has_more_allocations())
    }

    fn sorted(&self, is_included: impl Fn(&SiteGrowth) -> bool) -> Vec<u32> {
        let growing = (0u32..).zip(&self.sites).filter(|(_, site)| site.falls == 0 && is_included(site));
        let key = |site: &SiteGrowth| two_part_key(u64::from(!site.has_more_allocations()), !site.growth());
        sorted_numbers(growing.map(|(group, site)| (key(site), group)).collect())
    }
}
