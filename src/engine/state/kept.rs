//! Segments that the driver could have back, and those that a single live block pins: what they cost, and whose block it is.
//!
//! A segment goes back to the driver as a whole, so one block of a few bytes keeps all of it. Expandable segments give back free pages
//! and are pinned by nothing.

use super::device_state::DeviceState;
use crate::open::OpenFile;
use crate::protocol::{Grouping, PinnedBy, StateKept, Weight};
use base::slice::{Slice, Sliced};
use base::sorted::{pair, sorted_numbers};
use history::replay::{AllocationId, DeviceHistory, SegmentLives};

/// Call sites that are told of.
const MOST_SITES: usize = 100;

/// What holds segments, as far as they were looked at.
#[derive(Default)]
pub(crate) struct Keeping {
    next: usize,
    told: StateKept,
    /// What is pinned, by call site.
    sites: Vec<Site>,
}

/// What blocks of a call site pin.
#[derive(Clone, Copy, Default)]
struct Site {
    free: Weight,
    reserved: u64,
    /// The block in the segment with the most free bytes, and these.
    allocation: u32,
    most: u64,
}

impl Keeping {
    /// Looks at segments: those in these places of the state, or all.
    pub(crate) fn step(
        &mut self,
        file: &OpenFile,
        history: &DeviceHistory,
        lives: &SegmentLives,
        (state, places): (&DeviceState, Option<&[u32]>),
        slice: &mut Slice,
    ) -> Sliced {
        let count = places.map_or(state.segments.len(), <[u32]>::len);
        self.sites.resize(file.groups.count(history, Grouping::CallSite) as usize, Site::default());
        while let Some(part) = slice.part(&mut self.next, count, 2)? {
            for at in part {
                let place = places.map_or(at, |places| places.get(at).map_or(usize::MAX, |&place| place as usize));
                let Some(segment) = state.segments.get(place) else { continue };
                let Some(kind) = lives.kinds().get(segment.kind as usize) else { continue };
                let sums = &segment.sums;
                let one = |bytes| Weight { bytes, count: 1 };
                match (sums.blocks, segment.keeper) {
                    (0, _) if kind.pool.is_some_and(|pool| pool != (0, 0)) => {
                        self.told.empty_private.add(one(sums.reserved));
                    }
                    (0, _) => self.told.empty.add(one(sums.reserved)),
                    (1, Some((allocation, _))) if !kind.expandable && sums.free > 0 => {
                        self.told.pinned.add(one(sums.free));
                        let id = AllocationId(allocation);
                        let site = file.groups.of(&file.snapshot, history, id, Grouping::CallSite);
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

    /// What was found, once all were looked at: the call site that pins most free bytes first.
    pub(crate) fn told(&self, file: &OpenFile, history: &DeviceHistory) -> StateKept {
        let some = self.sites.iter().zip(0..).filter(|(site, _)| site.free.count > 0);
        let ranked = sorted_numbers(some.map(|(site, group)| (pair(!site.free.bytes, 0), group)).collect());
        let pinned_by = |&group: &u32| {
            let Site { free, reserved, allocation, .. } = self.sites.get(group as usize).copied().unwrap_or_default();
            let site = file.groups.label(&file.snapshot, history, Grouping::CallSite, group);
            PinnedBy { site, free, reserved, allocation }
        };
        StateKept {
            left_out: ranked.len().saturating_sub(MOST_SITES) as u32,
            by_site: ranked.iter().take(MOST_SITES).map(pinned_by).collect(),
            ..self.told.clone()
        }
    }
}
