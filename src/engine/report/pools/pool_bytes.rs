//! Reserved and live bytes of each pool during the trace, computed in one pass over the events.

use crate::open::OpenFile;
use crate::radix::Radix;
use crate::side::Side;
use base::slice::{SliceResult, TimeSlice};
use base::units::{EventIdx, Moment};
use history::replay::{AllocationChange, AllocationId, Provenance, SegmentLifetimes};
use protocol::Grouping;

/// Byte totals of a pool after one event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PoolBytes {
    pub(super) reserved: u64,
    pub(super) live: u64,
    /// Rounded bytes of live blocks. This is a lower bound.
    pub(super) rounded: u64,
    pub(super) awaiting_free: u64,
}

impl PoolBytes {
    /// Returns the reserved bytes outside live blocks. This is an upper bound.
    pub(super) fn free(&self) -> u64 {
        self.reserved.saturating_sub(self.rounded)
    }
}

/// State of a pool while the events are processed.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    current: PoolBytes,
    /// Peak of reserved bytes, and the first moment with this value. `peak_live` is the same for live bytes.
    pub(super) peak_reserved: (u64, u32),
    pub(super) peak_live: (u64, u32),
    /// Bytes at the device's peak and at the cursor.
    pub(super) sampled: [PoolBytes; 2],
    /// Number of allocations whose event records the pool, and number of allocations whose pool is only known from the
    /// segment at their address at the end of the trace.
    pub(super) identified: [u64; 2],
}

impl Pool {
    /// Adds an allocation if `starts_lifetime` is true, and removes it otherwise. The sizes are its requested and
    /// rounded bytes.
    fn change_live(&mut self, (requested, rounded): (u64, u64), starts_lifetime: bool) {
        let change = |bytes: &mut u64, by: u64| {
            *bytes = if starts_lifetime { bytes.saturating_add(by) } else { bytes.saturating_sub(by) };
        };
        change(&mut self.current.live, requested);
        change(&mut self.current.rounded, rounded);
    }

    fn update_peaks(&mut self, moment: u32) {
        if self.current.reserved > self.peak_reserved.0 {
            self.peak_reserved = (self.current.reserved, moment);
        }
        if self.current.live > self.peak_live.0 {
            self.peak_live = (self.current.live, moment);
        }
    }
}

/// Pass over the events that counts the bytes of each pool.
pub(super) struct PoolPass {
    /// State of each pool, by pool number. Number 0 is for memory without a recorded pool.
    pub(super) pools: Vec<Pool>,
    pub(super) moments: [u32; 2],
    /// Sorts the mapped ranges by the moment at which they are unmapped. `by_end` has the result.
    ranges_by_end: Radix,
    by_end: Vec<u32>,
    next_end: usize,
    next_range: usize,
    next_early: usize,
    next_event: u32,
    /// Maps each labels id to a pool number, or to [`NOT_LOOKED_UP`].
    pool_of_labels: Vec<u32>,
}

const NOT_LOOKED_UP: u32 = u32::MAX;

impl PoolPass {
    pub(super) fn new(side: Side<'_>, lives: &SegmentLifetimes, moments: [u32; 2]) -> PoolPass {
        let pools = vec![Pool::default(); side.group_count(Grouping::Pool) as usize];
        let ranges_by_end = Radix::with_capacity(lives.ranges.len());
        let (by_end, next_end, next_range, next_early, next_event) = Default::default();
        let pool_of_labels = vec![NOT_LOOKED_UP; side.file.snapshot.labels.len()];
        PoolPass { pools, moments, ranges_by_end, by_end, next_end, next_range, next_early, next_event, pool_of_labels }
    }

    /// Continues processing the allocations made before recording, and then the events.
    pub(super) fn step(&mut self, side: Side<'_>, lives: &SegmentLifetimes, slice: &mut TimeSlice) -> SliceResult {
        while self.ranges_by_end.len() < lives.ranges.len() && self.by_end.is_empty() {
            slice.tick()?;
            let id = self.ranges_by_end.len() as u32;
            let (_, freed_at, _) = lives.ranges.span(AllocationId(id));
            self.ranges_by_end.push(freed_at.into(), id);
        }
        if self.by_end.is_empty() {
            self.ranges_by_end.step(slice)?;
            self.by_end = std::mem::take(&mut self.ranges_by_end).into_ids();
            self.apply_mappings(side.file, lives, 0);
        }
        let early = side.history.allocations.early_count();
        while self.next_early < early {
            slice.tick()?;
            let id = AllocationId(self.next_early as u32);
            self.next_early += 1;
            let (number, by_event) = self.pool_of(side, id);
            let Some(pool) = self.pools.get_mut(number as usize) else { continue };
            pool.identified[usize::from(!by_event)] += 1;
            if side.history.allocations.outlives(id, Moment::START) {
                let size = side.history.allocations.size(id);
                pool.change_live((size, side.device_data().rounded_size(id).0), true);
                if side.history.allocations.awaiting_free_from(id) == 0 {
                    pool.current.awaiting_free = pool.current.awaiting_free.saturating_add_signed(size as i64);
                }
            }
        }
        if self.next_event == 0 {
            self.pools.iter_mut().for_each(|pool| pool.update_peaks(0));
            self.store_state(0);
        }
        for event in (self.next_event..side.history.event_count()).map(EventIdx) {
            slice.tick()?;
            self.next_event += 1;
            self.process_event(side, lives, event);
        }
        Ok(())
    }

    fn process_event(&mut self, side: Side<'_>, lives: &SegmentLifetimes, event: EventIdx) {
        let moment = Moment::after(event).0;
        match side.history.allocation_change(event) {
            Some(change) if change.changes() => self.apply_change(side, change),
            Some(_) => {}
            None => self.apply_mappings(side.file, lives, moment),
        }
        self.store_state(moment);
    }

    /// Updates the reserved bytes for all ranges that are mapped or unmapped up to a moment.
    fn apply_mappings(&mut self, file: &OpenFile, lives: &SegmentLifetimes, moment: u32) {
        let pool_number = |id: AllocationId| file.groups.pool_number(lives.kind(id).and_then(|kind| kind.pool));
        while let Some(&id) = self.by_end.get(self.next_end) {
            let id = AllocationId(id);
            let (_, freed_at, size) = lives.ranges.span(id);
            if freed_at > moment {
                break;
            }
            self.next_end += 1;
            if let Some(pool) = self.pools.get_mut(pool_number(id) as usize) {
                pool.current.reserved = pool.current.reserved.saturating_sub(size);
            }
        }
        while self.next_range < lives.ranges.len() {
            let id = AllocationId(self.next_range as u32);
            let (allocated_at, _, size) = lives.ranges.span(id);
            if allocated_at > moment {
                break;
            }
            self.next_range += 1;
            if let Some(pool) = self.pools.get_mut(pool_number(id) as usize) {
                pool.current.reserved = pool.current.reserved.saturating_add(size);
            }
            self.update_peaks(pool_number(id), moment);
        }
    }

    fn update_peaks(&mut self, pool: u32, moment: u32) {
        self.pools.get_mut(pool as usize).into_iter().for_each(|pool| pool.update_peaks(moment));
    }

    /// Stores the current bytes of all pools if the moment is the peak or the cursor.
    fn store_state(&mut self, moment: u32) {
        for (index, &sampled) in self.moments.iter().enumerate() {
            if sampled == moment {
                self.pools.iter_mut().for_each(|pool| pool.sampled[index] = pool.current);
            }
        }
    }

    /// Updates the live bytes for an allocation or free.
    fn apply_change(&mut self, side: Side<'_>, change: AllocationChange) {
        let (number, by_event) = self.pool_of(side, change.id);
        let Some(pool) = self.pools.get_mut(number as usize) else { return };
        if change.starts_lifetime == Some(true) {
            pool.identified[usize::from(!by_event)] += 1;
        }
        if let Some(starts_lifetime) = change.starts_lifetime {
            pool.change_live((change.size, side.device_data().block_bytes(change.id)), starts_lifetime);
        }
        pool.current.awaiting_free = pool.current.awaiting_free.saturating_add_signed(change.awaiting_free);
        pool.update_peaks(change.moment);
    }

    /// Returns the pool number of an allocation in [`Grouping::Pool`], and true if the allocation's event records the
    /// pool.
    fn pool_of(&mut self, Side { file, history }: Side<'_>, id: AllocationId) -> (u32, bool) {
        let groups = &file.groups;
        if !groups.has_pools() {
            return (0, false);
        }
        let event = match history.allocations.provenance(id) {
            Provenance::AllocatedBy(event) | Provenance::FreedBy(event) => Some(event),
            Provenance::Static => None,
            Provenance::Unexplained => return (0, false),
        };
        if let Some(event) = event {
            let labels = history.events.labels(event.0);
            if let Some(number) = self.pool_of_labels.get_mut(labels.0 as usize) {
                if *number == NOT_LOOKED_UP {
                    *number = groups.pool_number(file.snapshot.labels.labels(labels).pool);
                }
                if *number > 0 {
                    return (*number, true);
                }
            }
        }
        let segment = groups.segment(history, id).and_then(|index| file.snapshot.segments.get(index as usize));
        (groups.pool_number(segment.and_then(|segment| segment.pool)), false)
    }
}
