//! Segments that the driver could have back, and those that a single live block pins: what they cost, and whose block it is.
//!
//! A segment goes back to the driver as a whole, so one block of a few bytes keeps all of it. Expandable segments give back free pages
//! and are pinned by nothing.

use super::device_state::DeviceState;
use crate::open::OpenFile;
use crate::protocol::{Grouping, PinnedBy, StateKept, StateSums};
use base::slice::{Slice, Sliced};
use base::sorted::{pair, sorted_by_key};
use hashbrown::HashMap;
use history::replay::{AllocationId, DeviceHistory, SegmentLives};

/// Call sites that are told of.
const MOST_SITES: usize = 100;

/// What holds segments, as far as they were looked at.
#[derive(Default)]
pub(crate) struct Keeping {
    next: usize,
    empty: StateSums,
    empty_private: StateSums,
    pinned: StateSums,
    /// By call site: sums of what is pinned, the allocation that pins most, and the free bytes of its segment.
    sites: HashMap<u32, (StateSums, u32, u64), foldhash::fast::RandomState>,
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
        while let Some(part) = slice.part(&mut self.next, count, 2)? {
            for at in part {
                let place = places.map_or(at, |places| places.get(at).map_or(usize::MAX, |&place| place as usize));
                let Some(segment) = state.segments.get(place) else { continue };
                let Some(kind) = lives.kinds().get(segment.kind as usize) else { continue };
                match (segment.sums.blocks, segment.keeper) {
                    (0, _) if kind.pool.is_some_and(|pool| pool != (0, 0)) => self.empty_private.add(&segment.sums),
                    (0, _) => self.empty.add(&segment.sums),
                    (1, Some((keeper, _))) if !kind.expandable && segment.sums.free > 0 => {
                        self.pinned.add(&segment.sums);
                        let id = AllocationId(keeper);
                        let site = file.groups.of(&file.snapshot, history, id, Grouping::CallSite);
                        let (sums, most_by, most) = self.sites.entry(site).or_default();
                        sums.add(&segment.sums);
                        if sums.segments == 1 || segment.sums.free > *most {
                            (*most_by, *most) = (keeper, segment.sums.free);
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
        let sites = self.sites.iter().map(|(&site, &(sums, allocation, _))| (site, sums, allocation)).collect();
        let ranked = sorted_by_key(sites, |&(site, sums, _): &(u32, StateSums, u32)| pair(!sums.free, site.into()));
        let pinned_by = |(site, sums, allocation)| {
            let site = file.groups.label(&file.snapshot, history, Grouping::CallSite, site);
            PinnedBy { site, sums, allocation }
        };
        StateKept {
            empty: self.empty,
            empty_private: self.empty_private,
            pinned: self.pinned,
            left_out: ranked.len().saturating_sub(MOST_SITES) as u32,
            by_site: ranked.into_iter().take(MOST_SITES).map(pinned_by).collect(),
        }
    }
}
