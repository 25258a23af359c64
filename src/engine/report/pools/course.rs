//! Reserved and live bytes of each pool over the trace, from one pass over the events.

use crate::open::OpenFile;
use crate::protocol::Grouping;
use crate::radix::Radix;
use base::slice::{Slice, Sliced};
use base::units::{EventIdx, Moment};
use history::replay::{AllocationId, DeviceHistory, Provenance, SegmentLives, Turn};

/// Bytes in a pool at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Holds {
    pub(super) reserved: u64,
    pub(super) requested: u64,
    /// Lower bound.
    pub(super) rounded: u64,
    pub(super) pending: u64,
}

impl Holds {
    /// Returns reserved bytes that are not live. Upper bound.
    pub(super) fn idle(&self) -> u64 {
        self.reserved.saturating_sub(self.rounded)
    }
}

/// State of a pool during the pass.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    now: Holds,
    /// Peak of reserved bytes and its first moment. `contents` is the same for live bytes.
    pub(super) capacity: (u64, u32),
    pub(super) contents: (u64, u32),
    /// State at the peak and at the cursor.
    pub(super) at: [Holds; 2],
    /// Number of allocations whose pool is known from their event, and of those known from their segment at the end.
    pub(super) told: [u64; 2],
}

impl Pool {
    /// Adds or removes an allocation, given its requested and rounded bytes.
    fn live(&mut self, (requested, rounded): (u64, u64), is_born: bool) {
        let change = |bytes: &mut u64, by: u64| {
            *bytes = if is_born { bytes.saturating_add(by) } else { bytes.saturating_sub(by) };
        };
        change(&mut self.now.requested, requested);
        change(&mut self.now.rounded, rounded);
    }

    fn look(&mut self, moment: u32) {
        if self.now.reserved > self.capacity.0 {
            self.capacity = (self.now.reserved, moment);
        }
        if self.now.requested > self.contents.0 {
            self.contents = (self.now.requested, moment);
        }
    }
}

/// Pass over the events that tracks the bytes of each pool.
pub(super) struct Course {
    /// By pool number. 0 is for memory without a recorded pool.
    pub(super) pools: Vec<Pool>,
    pub(super) moments: [u32; 2],
    /// Mapped ranges sorted by end.
    ends: Radix,
    ended: Vec<u32>,
    next_end: usize,
    next_range: usize,
    next_early: usize,
    next_event: u32,
    /// Pool number by label row, or [`NOT_LOOKED_UP`].
    of_labels: Vec<u32>,
}

const NOT_LOOKED_UP: u32 = u32::MAX;

impl Course {
    pub(super) fn new(file: &OpenFile, history: &DeviceHistory, lives: &SegmentLives, moments: [u32; 2]) -> Course {
        let pools = vec![Pool::default(); file.groups.count(history, Grouping::Pool) as usize];
        let ends = Radix::with_room(lives.ranges.len());
        let (ended, next_end, next_range, next_early, next_event) = Default::default();
        let of_labels = vec![NOT_LOOKED_UP; file.snapshot.labels.len()];
        Course { pools, moments, ends, ended, next_end, next_range, next_early, next_event, of_labels }
    }

    /// Continues the pass.
    pub(super) fn step(
        &mut self,
        file: &OpenFile,
        history: &DeviceHistory,
        lives: &SegmentLives,
        slice: &mut Slice,
    ) -> Sliced {
        while self.ends.len() < lives.ranges.len() && self.ended.is_empty() {
            slice.tick()?;
            let id = self.ends.len() as u32;
            let (_, died, _) = lives.ranges.span(AllocationId(id));
            self.ends.push(died.into(), id);
        }
        if self.ended.is_empty() {
            self.ends.step(slice)?;
            self.ended = std::mem::take(&mut self.ends).into_ids();
            self.map(file, lives, 0);
        }
        let early = history.allocations.early();
        while self.next_early < early {
            slice.tick()?;
            let id = AllocationId(self.next_early as u32);
            self.next_early += 1;
            let (number, by_event) = self.pool_of(file, history, id);
            let Some(pool) = self.pools.get_mut(number as usize) else { continue };
            pool.told[usize::from(!by_event)] += 1;
            if history.allocations.outlives(id, Moment::START) {
                let size = history.allocations.size(id);
                pool.live((size, file.about(history).rounded(id).0), true);
                if history.allocations.pending_from(id) == 0 {
                    pool.now.pending = pool.now.pending.saturating_add_signed(size as i64);
                }
            }
        }
        if self.next_event == 0 {
            self.pools.iter_mut().for_each(|pool| pool.look(0));
            self.keep(0);
        }
        for event in (self.next_event..history.event_count()).map(EventIdx) {
            slice.tick()?;
            self.next_event += 1;
            self.event(file, history, lives, event);
        }
        Ok(())
    }

    fn event(&mut self, file: &OpenFile, history: &DeviceHistory, lives: &SegmentLives, event: EventIdx) {
        let moment = Moment::after(event).0;
        match history.turn(event) {
            Some(turn) if turn.changes() => self.allocation(file, history, turn),
            Some(_) => {}
            None => self.map(file, lives, moment),
        }
        self.keep(moment);
    }

    /// Applies the ranges mapped and unmapped up to a moment.
    fn map(&mut self, file: &OpenFile, lives: &SegmentLives, moment: u32) {
        let of = |id: AllocationId| file.groups.pool_number(lives.kind(id).and_then(|kind| kind.pool));
        while let Some(&id) = self.ended.get(self.next_end) {
            let id = AllocationId(id);
            let (_, died, size) = lives.ranges.span(id);
            if died > moment {
                break;
            }
            self.next_end += 1;
            if let Some(pool) = self.pools.get_mut(of(id) as usize) {
                pool.now.reserved = pool.now.reserved.saturating_sub(size);
            }
        }
        while self.next_range < lives.ranges.len() {
            let id = AllocationId(self.next_range as u32);
            let (born, _, size) = lives.ranges.span(id);
            if born > moment {
                break;
            }
            self.next_range += 1;
            if let Some(pool) = self.pools.get_mut(of(id) as usize) {
                pool.now.reserved = pool.now.reserved.saturating_add(size);
            }
            self.look(of(id), moment);
        }
    }

    fn look(&mut self, pool: u32, moment: u32) {
        self.pools.get_mut(pool as usize).into_iter().for_each(|pool| pool.look(moment));
    }

    /// Stores the state if the moment is the peak or the cursor.
    fn keep(&mut self, moment: u32) {
        for (which, &at) in self.moments.iter().enumerate() {
            if at == moment {
                self.pools.iter_mut().for_each(|pool| pool.at[which] = pool.now);
            }
        }
    }

    /// Applies the change of an allocation by an event.
    fn allocation(&mut self, file: &OpenFile, history: &DeviceHistory, turn: Turn) {
        let (number, by_event) = self.pool_of(file, history, turn.id);
        let Some(pool) = self.pools.get_mut(number as usize) else { return };
        if turn.is_born == Some(true) {
            pool.told[usize::from(!by_event)] += 1;
        }
        if let Some(is_born) = turn.is_born {
            pool.live((turn.size, file.about(history).block_bytes(turn.id)), is_born);
        }
        pool.now.pending = pool.now.pending.saturating_add_signed(turn.awaiting);
        pool.look(turn.moment);
    }

    /// Returns the number of an allocation's pool in [`Grouping::Pool`], and whether its event names the pool.
    fn pool_of(&mut self, file: &OpenFile, history: &DeviceHistory, id: AllocationId) -> (u32, bool) {
        let groups = &file.groups;
        if !groups.knows_pools() {
            return (0, false);
        }
        let event = match history.allocations.provenance(id) {
            Provenance::AllocatedBy(event) | Provenance::FreedBy(event) => Some(event),
            Provenance::Static => None,
            Provenance::Unexplained => return (0, false),
        };
        if let Some(event) = event {
            let labels = history.events.labels(event.0);
            if let Some(number) = self.of_labels.get_mut(labels.0 as usize) {
                if *number == NOT_LOOKED_UP {
                    *number = groups.pool_number(file.snapshot.labels.labels(labels).pool);
                }
                if *number > 0 {
                    return (*number, true);
                }
            }
        }
        let segment = groups.segment(history, id).and_then(|place| file.snapshot.segments.get(place as usize));
        (groups.pool_number(segment.and_then(|segment| segment.pool)), false)
    }
}
