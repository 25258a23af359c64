//! Reserved and free bytes over the trace: finds the worst moments in one pass over the events.

use crate::open::OpenFile;
use base::slice::{Slice, Sliced};
use base::sorted::{pair, sorted_numbers};
use base::units::{EventIdx, Moment};
use history::replay::{AllocationId, DeviceHistory};

/// Number of parts of the trace in the table.
pub(super) const PARTS: usize = 48;
/// Number of finer parts per part, for the choice of the worst moments.
const FINER: usize = 16;

/// Free bytes at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Free {
    pub(super) moment: u32,
    /// Upper bound.
    pub(super) free: u64,
    pub(super) reserved: u64,
    pub(super) requested: u64,
}

impl Free {
    /// Returns whether the share of reserved bytes that is free is higher than in `other`.
    fn is_worse_share_than(&self, other: &Free) -> bool {
        let product = |part: u64, whole: u64| u128::from(part) * u128::from(whole);
        product(self.free, other.reserved) > product(other.free, self.reserved)
    }
}

/// Pass over the events that finds the moments with the most free bytes.
pub(super) struct Course {
    /// Current bytes: reserved, allocated (rounded), requested.
    now: [i64; 3],
    next_early: usize,
    next_event: Option<u32>,
    /// Worst moments of each finer part, indexed by [`By`]. For shares, only moments with at least half of peak
    /// reserved count.
    parts: Vec<[Option<Free>; 2]>,
}

impl Course {
    pub(super) fn new(history: &DeviceHistory) -> Course {
        let now = [history.reserved_at(Moment::START), 0, history.drawn_at(Moment::START)];
        Course { now, next_early: 0, next_event: None, parts: vec![[None; 2]; PARTS * FINER] }
    }

    /// Continues the pass.
    pub(super) fn step(&mut self, file: &OpenFile, history: &DeviceHistory, slice: &mut Slice) -> Sliced {
        let bytes = |id: AllocationId| i64::try_from(file.about(history).rounded(id).0).unwrap_or(i64::MAX);
        let blocks = |id: AllocationId| i64::try_from(file.about(history).block_bytes(id)).unwrap_or(i64::MAX);
        let early = history.allocations.early();
        while self.next_early < early {
            slice.tick()?;
            let id = AllocationId(self.next_early as u32);
            self.next_early += 1;
            if history.allocations.outlives(id, Moment::START) {
                self.now[1] = self.now[1].saturating_add(bytes(id));
            }
        }
        if self.next_event.is_none() {
            self.look(history, 0);
        }
        let next = *self.next_event.get_or_insert(0);
        for event in (next..history.event_count()).map(EventIdx) {
            slice.tick()?;
            self.next_event = Some(event.0 + 1);
            let changes = match history.change(event) {
                Some((id, true)) => [0, blocks(id), history.allocations.size(id) as i64],
                Some((id, false)) => [0, -blocks(id), -(history.allocations.size(id) as i64)],
                None => [history.reserved_change(event), 0, 0],
            };
            for (now, change) in self.now.iter_mut().zip(&changes) {
                *now = now.saturating_add(*change);
            }
            self.look(history, Moment::after(event).0);
        }
        Ok(())
    }

    fn look(&mut self, history: &DeviceHistory, moment: u32) {
        let positive = |bytes: i64| u64::try_from(bytes).unwrap_or(0);
        let [reserved, rounded, requested] = self.now;
        let [reserved, rounded, requested] = [positive(reserved), positive(rounded), positive(requested)];
        let free = Free { moment, free: reserved.saturating_sub(rounded), reserved, requested };
        let moments = u64::from(history.event_count()) + 1;
        let part = u64::from(moment) * (PARTS * FINER) as u64 / moments;
        let Some([most, largest]) = self.parts.get_mut(part as usize) else { return };
        if most.is_none_or(|most| free.free > most.free) {
            *most = Some(free);
        }
        let half = u64::try_from(history.numbers.peak_reserved).unwrap_or(0) / 2;
        if reserved >= half.max(1) && largest.is_none_or(|largest| free.is_worse_share_than(&largest)) {
            *largest = Some(free);
        }
    }

    /// Returns the first moment with the most free bytes of each part. Parts without moments are left out.
    pub(super) fn over_time(&self) -> Vec<Free> {
        let parts = self.parts.chunks(FINER);
        parts.filter_map(|parts| most(parts.iter().filter_map(|[most, _]| *most))).collect()
    }

    /// Returns the moment with the most free bytes.
    pub(super) fn worst(&self) -> Option<Free> {
        most(self.parts.iter().filter_map(|[most, _]| *most))
    }

    /// Returns the worst moments in order, at least a part of the trace apart from each other.
    pub(super) fn worst_moments(&self, by: By, history: &DeviceHistory) -> Vec<Free> {
        let found: Vec<Free> = self.parts.iter().filter_map(|of| of[by as usize]).collect();
        let order = found.iter().zip(0..).map(|(it, place)| {
            let key = match by {
                By::Bytes => it.free,
                By::Share => (u128::from(it.free) * u128::from(u64::MAX >> 1) / u128::from(it.reserved.max(1))) as u64,
            };
            (pair(!key, it.moment.into()), place)
        });
        let apart = (history.event_count() / PARTS as u32).max(1);
        let mut chosen: Vec<Free> = Vec::new();
        for place in sorted_numbers(order.collect()) {
            let Some(it) = found.get(place as usize).filter(|it| it.free > 0) else { continue };
            if chosen.iter().all(|other| other.moment.abs_diff(it.moment) >= apart) {
                chosen.push(*it);
            }
        }
        chosen
    }
}

/// Criterion for the worst moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// Free bytes.
    Bytes,
    /// Share of reserved bytes that is free.
    Share,
}

fn most(of: impl Iterator<Item = Free>) -> Option<Free> {
    of.reduce(|most, it| if it.free > most.free { it } else { most })
}
