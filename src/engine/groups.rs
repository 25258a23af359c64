//! Groups of allocations, for their colours and for stacking by group.
//!
//! Group 0 contains allocations for which the value is not recorded. All other groups are numbered from 1 in a fixed
//! order: call sites by area (bytes × events, as seen in the plot), sizes and lifetimes in ascending order, streams and
//! pools in order of their ids.

mod labels;

pub use labels::UNKNOWN_POOL;
mod pool_names;
mod pools;
mod ranges;

use super::categories::Categories;
use super::origin::{labels_of, metadata_of, stack_of};
use super::regions::Regions;
use analysis::Sites;
use base::column::Column;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{signed_key, sorted_by_key, two_part_key};
use hashbrown::HashMap;
use history::replay::{AllocationId, DeviceHistory};
use history::snapshot::{FrameId, Snapshot, StackId};
use picture::timeline::Paint;
use pool_names::PoolNames;
use protocol::Grouping;
use std::sync::Arc;

/// Width of each size or lifetime class, as a power of two: a class spans a factor of four.
const CLASS_BITS: u32 = 2;
/// Upper end of the smallest size class, as a power of two. The allocator rounds smaller requests up to this size.
const MIN_CLASS_BITS: u32 = 9;
/// Number of equal parts into which the trace is divided to group allocations by age.
const AGE_COUNT: u32 = 16;
/// Number of classes of sizes or lifetimes, which are 64-bit values.
const CLASS_COUNT: u32 = 64 / CLASS_BITS;

/// Groups of the allocations of one file, for each kind of grouping.
pub(super) struct Groups {
    /// Group of each stack by call site. 0 if the stack has no call site.
    sites: Column<u32>,
    /// Call site of each call site group, starting with group 1.
    call_sites: Vec<FrameId>,
    streams: Vec<u64>,
    pools: Vec<(u64, u64)>,
    /// Device, first address, last address, and index of each segment, sorted by device and address.
    segments: Vec<(i64, u64, u64, u32)>,
    /// Progress of ranking the call sites. `None` once the ranking is complete.
    ranking: Option<Ranking>,
    /// Categories of allocations. It has no rules until a category set is selected.
    pub(super) categories: Categories,
    pub(super) regions: Regions,
    pool_names: PoolNames,
}

base::heap_bytes!(Groups: sites, categories, regions, ranking, call_sites, streams, pools, segments);

/// Progress of sorting the call sites by area.
#[derive(Default)]
struct Ranking {
    device: usize,
    next: usize,
    /// Area of each stack: bytes × events.
    area: Column<f64>,
    /// Area of each call site. `places` maps a call site to its index in this list.
    areas: Vec<(f64, FrameId)>,
    places: HashMap<FrameId, u32, foldhash::fast::RandomState>,
    group_of_site: Option<HashMap<FrameId, u32, foldhash::fast::RandomState>>,
}

base::heap_bytes!(Ranking: area);

impl Groups {
    /// Creates the groups of streams and pools. [`Groups::step`] ranks the call sites later.
    pub(super) fn new(snapshot: &Snapshot) -> Groups {
        let labels = snapshot.labels.rows();
        let mut streams: Vec<u64> = labels.iter().filter_map(|labels| labels.stream).collect();
        streams.extend(snapshot.segments.iter().filter_map(|segment| segment.stream));
        streams.sort_unstable();
        streams.dedup();
        let mut pools: Vec<(u64, u64)> = labels.iter().filter_map(|labels| labels.pool).collect();
        pools.extend(snapshot.segments.iter().filter_map(|segment| segment.pool));
        pools = sorted_by_key(pools, |&(first, second)| two_part_key(first, second));
        pools.dedup();
        let indexed = (0u32..).zip(&snapshot.segments);
        let mut segments: Vec<_> = indexed
            .filter_map(|(index, segment)| {
                let start = segment.address?;
                Some((segment.device, start, start.saturating_add(segment.total_size.checked_sub(1)?), index))
            })
            .collect();
        segments = sorted_by_key(segments, |&(device, start, _, _)| two_part_key(signed_key(device), start));
        let ranking = Ranking { area: (0..snapshot.stacks.len()).map(|_| 0.0).collect(), ..Ranking::default() };
        let sites = (0..snapshot.stacks.len()).map(|_| 0).collect();
        let categories = Categories::new(Arc::default());
        let (call_sites, regions, pool_names) = Default::default();
        Groups { sites, call_sites, streams, pools, segments, ranking: Some(ranking), categories, regions, pool_names }
    }

    /// Continues ranking the call sites, then indexing annotations, then naming pools.
    pub(super) fn step(
        &mut self,
        snapshot: &Snapshot,
        histories: &[DeviceHistory],
        sites: &mut Sites,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let Some(ranking) = &mut self.ranking else { return Ok(()) };
        while let Some(history) = histories.get(ranking.device) {
            let moments = f64::from(history.event_count()) + 1.0;
            while let Some(ids) = slice.next_range(&mut ranking.next, history.allocations.len(), 1)? {
                let mut id = ids.start as u32;
                // `for_each` instead of a `for` loop, which would check on each step of the chained iterator which part
                // it is in.
                history.allocations.spans_in(ids).for_each(|(allocated_at, freed_at, size)| {
                    let stack = stack_of(snapshot, history, AllocationId(id));
                    id += 1;
                    let life = f64::from(freed_at).min(moments) - f64::from(allocated_at.max(history.events.first()));
                    if let Some(area) = ranking.area.get(stack.0 as usize) {
                        ranking.area.set(stack.0 as usize, area + size as f64 * life.max(0.0));
                    }
                });
            }
            (ranking.device, ranking.next) = (ranking.device + 1, 0);
        }
        if ranking.group_of_site.is_none() {
            while let Some(stacks) = slice.next_range(&mut ranking.next, ranking.area.len(), 1)? {
                for (stack, area) in (stacks.start as u32..).zip(ranking.area.range(stacks)) {
                    if area > 0.0
                        && let Some(site) = sites.call_site(snapshot, StackId(stack))
                    {
                        let next = ranking.areas.len() as u32;
                        let index = *ranking.places.entry(site).or_insert(next);
                        if index == next {
                            ranking.areas.push((0.0, site));
                        }
                        if let Some(sum) = ranking.areas.get_mut(index as usize) {
                            sum.0 += area;
                        }
                    }
                }
            }
            let ranked = std::mem::take(&mut ranking.areas);
            // Positive floats sort like their bits.
            let ranked = sorted_by_key(ranked, |&(area, site)| two_part_key(!area.to_bits(), site.0.into()));
            self.call_sites = ranked.into_iter().map(|(_, site)| site).collect();
            ranking.next = 0;
        }
        let number = || self.call_sites.iter().copied().zip(1..).collect();
        let numbered = ranking.group_of_site.get_or_insert_with(number);
        while let Some(stacks) = slice.next_range(&mut ranking.next, self.sites.len(), 1)? {
            for stack in stacks.filter(|&stack| ranking.area.at(stack) > 0.0) {
                let number =
                    sites.call_site(snapshot, StackId(stack as u32)).and_then(|site| numbered.get(&site).copied());
                self.sites.set(stack, number.unwrap_or(0));
            }
        }
        self.regions.step(snapshot, histories, slice)?;
        self.name_pools(snapshot, histories, slice)?;
        self.ranking = None;
        Ok(())
    }

    pub(super) fn group_of(&self, snapshot: &Snapshot, history: &DeviceHistory, id: AllocationId, by: Grouping) -> u32 {
        if history.allocations.is_unexplained(id) {
            return 0;
        }
        match by {
            Grouping::CallSite => self.call_site_group(stack_of(snapshot, history, id)),
            Grouping::Size => 1 + class_of(history.allocations.size(id).saturating_sub(1) >> MIN_CLASS_BITS),
            Grouping::Lifetime => match history.allocations.span(id) {
                (_, u32::MAX, _) => CLASS_COUNT + 2,
                (0, _, _) => CLASS_COUNT + 1,
                (allocated_at, freed_at, _) => {
                    1 + class_of(u64::from(freed_at.saturating_sub(allocated_at).saturating_sub(1)))
                }
            },
            Grouping::Age => match history.allocations.allocated_at(id).0 {
                0 => 1,
                allocated_at => {
                    2 + (u64::from(allocated_at - 1) * u64::from(AGE_COUNT) / u64::from(history.event_count().max(1)))
                        as u32
                }
            },
            Grouping::Stream => self.group_number(&self.streams, self.stream(snapshot, history, id)),
            Grouping::Pool => self.group_number(&self.pools, self.pool(snapshot, history, id)),
            Grouping::Category => 1 + u32::from(self.categories.category(history, id)),
            Grouping::Annotation => self.regions.annotation(history, history.allocations.allocated_at(id)),
            Grouping::CompileContext => self.regions.context(snapshot, history, history.allocations.allocated_at(id)),
            Grouping::Metadata => self.regions.metadata(metadata_of(snapshot, history, id)),
        }
    }

    /// Returns the palette slot of a group. The last category, unknown, shares its slot with values that are not
    /// recorded.
    pub(super) fn slot(&self, by: Grouping, group: u32) -> u32 {
        let is_unknown = by == Grouping::Category && group as usize == self.categories.set().categories().len();
        Paint::slot_of(if is_unknown { 0 } else { group })
    }

    fn group_number<T: Ord>(&self, all: &[T], value: Option<T>) -> u32 {
        value.and_then(|value| all.binary_search(&value).ok()).map_or(0, |index| index as u32 + 1)
    }

    /// Returns the stream of an allocation. If it is not recorded, returns the stream of the segment at the
    /// allocation's address at the end of the trace.
    pub(super) fn stream(&self, snapshot: &Snapshot, history: &DeviceHistory, id: AllocationId) -> Option<u64> {
        let segment_stream = || snapshot.segments.get(self.segment(history, id)? as usize)?.stream;
        labels_of(snapshot, history, id).stream.or_else(segment_stream)
    }

    /// Returns the search for the allocations of a [`Grouping::Stream`] group. `None` if the stream is not recorded.
    pub(super) fn stream_query(&self, group: u32) -> Option<String> {
        let stream = self.streams.get(group.checked_sub(1)? as usize)?;
        Some(["stream:", &stream.to_string()].concat())
    }

    /// Returns the pool of an allocation. If it is not recorded, returns the pool of the segment at the allocation's
    /// address at the end of the trace.
    pub(super) fn pool(&self, snapshot: &Snapshot, history: &DeviceHistory, id: AllocationId) -> Option<(u64, u64)> {
        let segment_pool = || snapshot.segments.get(self.segment(history, id)? as usize)?.pool;
        labels_of(snapshot, history, id).pool.or_else(segment_pool)
    }

    /// Returns the [`Grouping::Pool`] group of a pool, or 0 if the pool is not recorded.
    pub(super) fn pool_number(&self, pool: Option<(u64, u64)>) -> u32 {
        self.group_number(&self.pools, pool)
    }

    /// Returns whether a [`Grouping::Pool`] group is a private pool.
    pub(super) fn is_private(&self, number: u32) -> bool {
        let pool = number.checked_sub(1).and_then(|index| self.pools.get(index as usize));
        pool.is_some_and(|&pool| pool != (0, 0))
    }

    /// Returns whether the file records any pool.
    pub(super) fn has_pools(&self) -> bool {
        !self.pools.is_empty()
    }

    /// Returns the index in the snapshot of the segment at an allocation's address at the end of the trace.
    pub(super) fn segment(&self, history: &DeviceHistory, id: AllocationId) -> Option<u32> {
        self.segment_at(history.device, history.allocations.address(id))
    }

    /// Returns the index in the snapshot of the segment at an address of a device at the end of the trace.
    pub(super) fn segment_at(&self, device: i64, address: u64) -> Option<u32> {
        // Hand-written binary search. In builds optimized for size, the one of slices calls its closure at each step.
        let (mut from, mut to) = (0, self.segments.len());
        while from < to {
            let middle = usize::midpoint(from, to);
            match self.segments.get(middle) {
                Some(&(owner, start, ..)) if owner < device || owner == device && start <= address => from = middle + 1,
                _ => to = middle,
            }
        }
        let &(owner, _, last, index) = self.segments.get(from.checked_sub(1)?)?;
        (owner == device && address <= last).then_some(index)
    }

    /// Returns the call site group of a stack, or 0 if the stack has no call site.
    pub(super) fn call_site_group(&self, stack: StackId) -> u32 {
        self.sites.get(stack.0 as usize).unwrap_or(0)
    }

    /// Returns the group of a stack by call site, and the frame of the call site. Group 0 and `None` if there is no
    /// call site.
    pub(super) fn call_site_of(&self, stack: StackId) -> (u32, Option<FrameId>) {
        let group = self.call_site_group(stack);
        (group, group.checked_sub(1).and_then(|index| self.call_sites.get(index as usize).copied()))
    }

    /// Returns the call sites, starting with the one of group 1.
    pub(super) fn call_sites(&self) -> &[FrameId] {
        &self.call_sites
    }

    /// Returns the upper bound (exclusive) of the group numbers that are possible on this device.
    pub(super) fn group_count(&self, history: &DeviceHistory, by: Grouping) -> u32 {
        match by {
            Grouping::CallSite => self.call_sites.len() as u32 + 1,
            Grouping::Size => 2 + class_of((history.numbers.drawn_peak >> MIN_CLASS_BITS).max(1)),
            Grouping::Lifetime => CLASS_COUNT + 3,
            Grouping::Age => AGE_COUNT + 2,
            Grouping::Stream => self.streams.len() as u32 + 1,
            Grouping::Pool => self.pools.len() as u32 + 1,
            Grouping::Category => self.categories.set().categories().len() as u32 + 1,
            Grouping::Annotation => self.regions.counts()[0],
            Grouping::CompileContext => self.regions.counts()[1],
            Grouping::Metadata => self.regions.counts()[2],
        }
    }
}

/// Returns the class of a value: the number of its significant bits divided by [`CLASS_BITS`], rounded up. 0 for the
/// value 0.
fn class_of(value: u64) -> u32 {
    (u64::BITS - value.leading_zeros()).div_ceil(CLASS_BITS)
}
