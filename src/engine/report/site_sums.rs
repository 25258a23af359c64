//! Sums of allocations by call site: the same groups by which they are coloured and stacked.

use super::writing::{Writing, cut};
use crate::open::OpenFile;
use crate::origin::is_of_free;
use crate::protocol::{Grouping, SheetRow};
use base::sorted::{pair, sorted_numbers};
use base::units::grouped;
use history::replay::{AllocationId, DeviceHistory};

/// Sums over the allocations of one call site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SiteSum {
    /// Bytes; at most 2^64 − 1.
    pub(super) bytes: u64,
    pub(super) count: u64,
    /// The largest, of those the first in birth order, and its bytes.
    pub(super) largest: u32,
    pub(super) most: u64,
    /// The first and the last in birth order.
    pub(super) first: u32,
    pub(super) last: u32,
    /// How many of them have only the stack of their free, because they were allocated before recording.
    pub(super) of_free: u64,
}

/// Sums by group: 0 has those without a stack.
#[derive(Default)]
pub(super) struct SiteSums {
    pub(super) sums: Vec<SiteSum>,
}

impl SiteSums {
    /// Room for every call site of a device.
    pub(super) fn new(file: &OpenFile, history: &DeviceHistory) -> SiteSums {
        SiteSums { sums: vec![SiteSum::default(); file.groups.count(history, Grouping::CallSite) as usize] }
    }

    /// Adds an allocation, in birth order, that weighs so many bytes to its call site.
    pub(super) fn add(&mut self, file: &OpenFile, history: &DeviceHistory, id: AllocationId, bytes: u64) {
        let group = file.groups.of(&file.snapshot, history, id, Grouping::CallSite);
        let Some(sum) = self.sums.get_mut(group as usize) else { return };
        if sum.count == 0 {
            sum.first = id.0;
        }
        if sum.count == 0 || bytes > sum.most {
            (sum.largest, sum.most) = (id.0, bytes);
        }
        sum.last = id.0;
        sum.bytes = sum.bytes.saturating_add(bytes);
        sum.count += 1;
        let is_early = (id.0 as usize) < history.allocations.early();
        sum.of_free += u64::from(is_early && is_of_free(history, id, file.stack(history, id)));
    }

    /// The groups that have at least so many bytes (and an allocation), most bytes first.
    pub(super) fn ranked(&self, least: u64) -> Vec<u32> {
        let counted = (0u32..).zip(&self.sums).filter(|(_, sum)| sum.count > 0 && sum.bytes >= least);
        sorted_numbers(counted.map(|(group, sum)| (pair(!sum.bytes, 0), group)).collect())
    }

    /// The sum of a group.
    pub(super) fn of(&self, group: u32) -> SiteSum {
        self.sums.get(group as usize).copied().unwrap_or_default()
    }

    /// Bytes and count of these groups together.
    pub(super) fn total(&self, groups: &[u32]) -> (u64, u64) {
        groups
            .iter()
            .map(|&group| self.of(group))
            .fold((0, 0), |(bytes, count), sum| (sum.bytes.saturating_add(bytes), sum.count + count))
    }

    /// What a group is called, and whether only the free of its allocations has a stack.
    pub(super) fn name(&self, file: &OpenFile, history: &DeviceHistory, group: u32) -> String {
        let mut name = label(file, history, group);
        let sum = self.of(group);
        if sum.of_free == sum.count && sum.count > 0 {
            name.push_str(" (stack of the free)");
        } else if sum.of_free > 0 {
            name.push_str(" (");
            name.push_str(&grouped(sum.of_free));
            name.push_str(" with the stack of the free)");
        }
        name
    }
}

impl Writing<'_> {
    /// A row about a call site: its largest allocation stands for it.
    pub(super) fn site_row(&mut self, sums: &SiteSums, group: u32, moment: Option<u32>) -> SheetRow {
        self.allocation_row(AllocationId(sums.of(group).largest), moment)
    }
}

/// What the call site of a group is called.
pub(super) fn label(file: &OpenFile, history: &DeviceHistory, group: u32) -> String {
    cut(&file.groups.label(&file.snapshot, history, Grouping::CallSite, group))
}

/// The call site of one allocation; marked where it is that of its free.
pub(super) fn site_of(file: &OpenFile, history: &DeviceHistory, id: AllocationId) -> String {
    let group = file.groups.of(&file.snapshot, history, id, Grouping::CallSite);
    let mut name = label(file, history, group);
    if is_of_free(history, id, file.stack(history, id)) {
        name.push_str(" (stack of the free)");
    }
    name
}
