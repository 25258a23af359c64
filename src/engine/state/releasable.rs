//! Segments that can be released to the driver, and segments that a single live block keeps reserved. The latter are
//! called pinned, and are grouped by the call site of the block.
//!
//! A segment is only released as a whole, so a block of a few bytes can keep the whole segment reserved. Expandable
//! segments are not counted, because they release free pages individually.

use super::device_state::DeviceState;
use crate::side::Side;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{sorted_numbers, two_part_key};
use history::replay::{AllocationId, SegmentLifetimes};
use protocol::{Grouping, HeldBySite, SegmentsKept, Weight};

/// Maximum number of call sites in a result.
const MAX_SITES: usize = 100;

/// Totals of the empty segments and the pinned segments that were examined so far.
#[derive(Default)]
pub(crate) struct ReleasableSegments {
    next: usize,
    totals: SegmentsKept,
    /// Segments that are pinned by a single block, by the call site of the block.
    sites: Vec<Site>,
}

/// Segments that are pinned by a single block of the same call site.
#[derive(Clone, Copy, Default)]
struct Site {
    free: Weight,
    reserved: u64,
    /// Id of the allocation that pins the segment with the most free bytes. `most` is the number of free bytes of this
    /// segment.
    allocation: u32,
    most: u64,
}

impl ReleasableSegments {
    /// Continues examining segments. `indices` selects segments of the state. If it is `None`, all segments are
    /// examined.
    pub(crate) fn step(
        &mut self,
        side: Side<'_>,
        lives: &SegmentLifetimes,
        (state, indices): (&DeviceState, Option<&[u32]>),
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let count = indices.map_or(state.segments.len(), <[u32]>::len);
        self.sites.resize(side.group_count(Grouping::CallSite) as usize, Site::default());
        while let Some(part) = slice.next_range(&mut self.next, count, 2)? {
            for position in part {
                let index = indices
                    .map_or(position, |indices| indices.get(position).map_or(usize::MAX, |&index| index as usize));
                let Some(segment) = state.segments.get(index) else { continue };
                let Some(kind) = lives.kinds().get(segment.kind as usize) else { continue };
                let sums = &segment.sums;
                let one = |bytes| Weight { bytes, count: 1 };
                match (sums.blocks, segment.largest_block) {
                    (0, _) if kind.pool.is_some_and(|pool| pool != (0, 0)) => {
                        self.totals.empty_private.add(one(sums.reserved));
                    }
                    (0, _) => self.totals.empty.add(one(sums.reserved)),
                    (1, Some((allocation, _))) if !kind.expandable && sums.free > 0 => {
                        self.totals.single_block.add(one(sums.free));
                        let id = AllocationId(allocation);
                        let site = side.group(Grouping::CallSite, id);
                        let Some(site) = self.sites.get_mut(site as usize) else { continue };
                        site.free.add(one(sums.free));
                        site.reserved = site.reserved.saturating_add(sums.reserved);
                        if sums.free > site.most {
                            (site.allocation, site.most) = (allocation, sums.free);
                        }
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Returns the totals. The call site that pins the most free bytes comes first.
    pub(crate) fn finish(&self, side: Side<'_>) -> SegmentsKept {
        let pinning = self.sites.iter().zip(0..).filter(|(site, _)| site.free.count > 0);
        let ranked = sorted_numbers(pinning.map(|(site, group)| (two_part_key(!site.free.bytes, 0), group)).collect());
        let pinned_by = |&group: &u32| {
            let Site { free, reserved, allocation, .. } = self.sites.get(group as usize).copied().unwrap_or_default();
            let site = side.group_label(Grouping::CallSite, group);
            HeldBySite { call_site: site, free, reserved, allocation }
        };
        SegmentsKept {
            left_out: ranked.len().saturating_sub(MAX_SITES) as u32,
            by_site: ranked.iter().take(MAX_SITES).map(pinned_by).collect(),
            ..self.totals.clone()
        }
    }
}
