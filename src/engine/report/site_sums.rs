//! Totals of allocations by call site. The groups are the same as those that determine the colours of the timeline.

use super::writer::{ReportWriter, truncate};
use crate::origin::{holder_of, is_free_stack};
use crate::side::Side;
use analysis::IdSet;
use base::sorted::{sorted_numbers, two_part_key};
use base::units::group_digits;
use history::replay::{AllocationId, DeviceHistory};
use history::snapshot::StackId;
use protocol::{Grouping, SheetRow};

/// Comes before the call site of allocations that were made before recording: the call site is that of the free.
const FREED_AT: &str = "freed at ";

/// Totals of all allocations of one call site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SiteSum {
    /// Requested bytes. Sums that are too large saturate.
    pub(super) bytes: u64,
    pub(super) count: u64,
    /// Id of the largest allocation (the first one if several are equally large). `largest_bytes` is its size.
    pub(super) largest: u32,
    pub(super) largest_bytes: u64,
    /// Id of the first allocation. `last` is the id of the last allocation.
    pub(super) first: u32,
    pub(super) last: u32,
    /// Number of allocations that were made before recording, so that only the stack of their free is known.
    pub(super) with_free_stack: u64,
    /// Id of the largest allocation whose holder the recorder found (the first one if several are equally large).
    pub(super) held: Option<u32>,
}

/// Maximum number of stacks of a call site that a table row steps through.
const MAX_STACKS: usize = 100;

/// Totals of each call site group. Group 0 is for allocations without a stack.
#[derive(Default)]
pub(super) struct SiteSums {
    pub(super) sums: Vec<SiteSum>,
    /// Stacks of the allocations of each group, in the order of their first allocations.
    stacks: Vec<Vec<StackId>>,
    /// Stacks in `stacks`.
    seen: IdSet,
}

impl SiteSums {
    /// Creates totals of zero for all call sites of the device.
    pub(super) fn new(side: Side<'_>) -> SiteSums {
        let count = side.group_count(Grouping::CallSite) as usize;
        let seen = IdSet::with_bound(side.file.snapshot.stacks.len());
        SiteSums { sums: vec![SiteSum::default(); count], stacks: vec![Vec::new(); count], seen }
    }

    /// Adds an allocation of `bytes` to the totals of its call site. Allocations must be added in ascending order of
    /// id.
    pub(super) fn add(&mut self, side @ Side { history, .. }: Side<'_>, id: AllocationId, bytes: u64) {
        let group = side.group(Grouping::CallSite, id);
        let Some(sum) = self.sums.get_mut(group as usize) else { return };
        if sum.count == 0 {
            sum.first = id.0;
        }
        if sum.count == 0 || bytes > sum.largest_bytes {
            (sum.largest, sum.largest_bytes) = (id.0, bytes);
        }
        let size = |id| history.allocations.size(AllocationId(id));
        if holder_of(side.snapshot(), history, id).is_some() && sum.held.is_none_or(|held| size(id.0) > size(held)) {
            sum.held = Some(id.0);
        }
        sum.last = id.0;
        sum.bytes = sum.bytes.saturating_add(bytes);
        sum.count += 1;
        let stack = side.stack(id);
        if let Some(stacks) = self.stacks.get_mut(group as usize).filter(|known| known.len() < MAX_STACKS)
            && !self.seen.contains(stack.0)
        {
            self.seen.insert(stack.0);
            stacks.push(stack);
        }
        let is_early = (id.0 as usize) < history.allocations.early_count();
        sum.with_free_stack += u64::from(is_early && is_stack_of_free(history, id, stack));
    }

    /// Returns the groups that have allocations and at least `min_bytes`, sorted by bytes in descending order.
    pub(super) fn ranked(&self, min_bytes: u64) -> Vec<u32> {
        let counted = (0u32..).zip(&self.sums).filter(|(_, sum)| sum.count > 0 && sum.bytes >= min_bytes);
        sorted_numbers(counted.map(|(group, sum)| (two_part_key(!sum.bytes, 0), group)).collect())
    }

    /// Returns the totals of a group. They are 0 if nothing was added to the group.
    pub(super) fn get(&self, group: u32) -> SiteSum {
        self.sums.get(group as usize).copied().unwrap_or_default()
    }

    /// Returns the bytes and the number of allocations of several groups together.
    pub(super) fn total(&self, groups: &[u32]) -> (u64, u64) {
        groups
            .iter()
            .map(|&group| self.get(group))
            .fold((0, 0), |(bytes, count), sum| (sum.bytes.saturating_add(bytes), sum.count + count))
    }

    /// Returns the label of a group. It contains a note if only the stack of the free is known for some of the
    /// allocations.
    pub(super) fn name(&self, side: Side<'_>, group: u32) -> String {
        let mut name = label(side, group);
        let sum = self.get(group);
        if sum.with_free_stack == sum.count && sum.count > 0 {
            name.insert_str(0, FREED_AT);
        } else if sum.with_free_stack > 0 {
            name.push_str(&format!(" ({} with the stack of the free)", group_digits(sum.with_free_stack)));
        }
        name
    }
}

impl ReportWriter<'_> {
    /// Creates a table row for a call site, without cells. A click on the row selects the largest allocation, whose
    /// stack comes first.
    pub(super) fn site_row(&mut self, sums: &SiteSums, group: u32, moment: Option<u32>) -> SheetRow {
        let mut row = self.allocation_row(AllocationId(sums.get(group).largest), moment);
        for &stack in sums.stacks.get(group as usize).into_iter().flatten() {
            let lines = self.other_lines.stack_lines(self.side.file, stack);
            // Stacks that differ only in internal frames look the same.
            if !lines.is_empty() && lines != row.stack && !row.other_stacks.contains(&lines) {
                row.other_stacks.push(lines);
            }
        }
        row
    }
}

/// Returns the label of a call site group, truncated to a readable length.
pub(super) fn label(side: Side<'_>, group: u32) -> String {
    truncate(&side.group_label(Grouping::CallSite, group))
}

/// Returns the call site of an allocation. It contains a note if only the stack of the free is known.
pub(super) fn site_of(side: Side<'_>, id: AllocationId) -> String {
    let group = side.group(Grouping::CallSite, id);
    let mut name = label(side, group);
    if is_stack_of_free(side.history, id, side.stack(id)) {
        name.insert_str(0, FREED_AT);
    }
    name
}

/// Returns whether a stack is that of the free, and has frames.
fn is_stack_of_free(history: &DeviceHistory, id: AllocationId, stack: StackId) -> bool {
    !matches!(stack, StackId::NONE | StackId::EMPTY) && is_free_stack(history, id, stack)
}
