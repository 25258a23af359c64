//! Reserved and free bytes over the trace: finds the worst moments in one pass over the events.

use crate::side::Side;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{sorted_numbers, two_part_key};
use base::units::{EventIdx, Moment};
use history::replay::{AllocationId, DeviceHistory};

/// Number of parts of the trace in the table.
pub(super) const PARTS: usize = 48;
/// Number of finer parts per part, for the choice of the worst moments.
const FINE_PARTS_PER_PART: usize = 16;

/// Free bytes after one event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FreeAt {
    pub(super) moment: u32,
    /// Upper bound.
    pub(super) free: u64,
    pub(super) reserved: u64,
    pub(super) requested: u64,
}

impl FreeAt {
    /// Returns whether a larger share of the reserved bytes is free than in `other`.
    fn is_more_fragmented_than(&self, other: &FreeAt) -> bool {
        // Decides most events without multiplications in 128 bits, which are slow in wasm.
        if self.free <= other.free && self.reserved >= other.reserved {
            return false;
        }
        let product = |part: u64, whole: u64| u128::from(part) * u128::from(whole);
        product(self.free, other.reserved) > product(other.free, self.reserved)
    }
}

/// Pass over the events that finds the moments with the most free bytes.
pub(super) struct FreeOverTime {
    /// Current bytes: reserved, allocated (rounded), requested.
    current: [i64; 3],
    next_early: usize,
    next_event: Option<u32>,
    /// Worst moments of each finer part, indexed by [`By`]. For shares, only moments with at least half of peak
    /// reserved count.
    parts: Vec<[Option<FreeAt>; 2]>,
}

impl FreeOverTime {
    pub(super) fn new(history: &DeviceHistory) -> FreeOverTime {
        let current = [history.reserved_at(Moment::START), 0, history.drawn_at(Moment::START)];
        FreeOverTime { current, next_early: 0, next_event: None, parts: vec![[None; 2]; PARTS * FINE_PARTS_PER_PART] }
    }

    /// Continues the pass.
    pub(super) fn step(&mut self, side: Side<'_>, slice: &mut TimeSlice) -> SliceResult {
        let Side { history, .. } = side;
        let bytes = |id: AllocationId| i64::try_from(side.device_data().rounded_size(id).0).unwrap_or(i64::MAX);
        let blocks = |id: AllocationId| i64::try_from(side.device_data().block_bytes(id)).unwrap_or(i64::MAX);
        let early = history.allocations.early_count();
        while self.next_early < early {
            slice.tick()?;
            let id = AllocationId(self.next_early as u32);
            self.next_early += 1;
            if history.allocations.outlives(id, Moment::START) {
                self.current[1] = self.current[1].saturating_add(bytes(id));
            }
        }
        if self.next_event.is_none() {
            self.sample(history, 0);
        }
        let next = *self.next_event.get_or_insert(0);
        for event in (next..history.event_count()).map(EventIdx) {
            slice.tick()?;
            self.next_event = Some(event.0 + 1);
            let changes = match history.lifetime_change(event) {
                Some((id, true)) => [0, blocks(id), history.allocations.size(id) as i64],
                Some((id, false)) => [0, -blocks(id), -(history.allocations.size(id) as i64)],
                None => [history.reserved_change(event), 0, 0],
            };
            for (now, change) in self.current.iter_mut().zip(&changes) {
                *now = now.saturating_add(*change);
            }
            self.sample(history, Moment::after(event).0);
        }
        Ok(())
    }

    fn sample(&mut self, history: &DeviceHistory, moment: u32) {
        let positive = |bytes: i64| u64::try_from(bytes).unwrap_or(0);
        let [reserved, rounded, requested] = self.current;
        let [reserved, rounded, requested] = [positive(reserved), positive(rounded), positive(requested)];
        let free = FreeAt { moment, free: reserved.saturating_sub(rounded), reserved, requested };
        let moments = u64::from(history.event_count()) + 1;
        let part = u64::from(moment) * (PARTS * FINE_PARTS_PER_PART) as u64 / moments;
        let Some([most, largest]) = self.parts.get_mut(part as usize) else { return };
        if most.is_none_or(|most| free.free > most.free) {
            *most = Some(free);
        }
        let half = u64::try_from(history.numbers.peak_reserved).unwrap_or(0) / 2;
        if reserved >= half.max(1) && largest.is_none_or(|largest| free.is_more_fragmented_than(&largest)) {
            *largest = Some(free);
        }
    }

    /// Returns the first moment with the most free bytes of each part. Parts without moments are left out.
    pub(super) fn over_time(&self) -> Vec<FreeAt> {
        let parts = self.parts.chunks(FINE_PARTS_PER_PART);
        parts.filter_map(|parts| most_free(parts.iter().filter_map(|[most, _]| *most))).collect()
    }

    /// Returns the moment with the most free bytes.
    pub(super) fn worst(&self) -> Option<FreeAt> {
        most_free(self.parts.iter().filter_map(|[most, _]| *most))
    }

    /// Returns the worst moments in order, at least a part of the trace apart from each other.
    pub(super) fn worst_moments(&self, by: Criterion, history: &DeviceHistory) -> Vec<FreeAt> {
        let found: Vec<FreeAt> = self.parts.iter().filter_map(|of| of[by as usize]).collect();
        let order = found.iter().zip(0..).map(|(it, place)| {
            let key = match by {
                Criterion::Bytes => it.free,
                Criterion::Share => {
                    (u128::from(it.free) * u128::from(u64::MAX >> 1) / u128::from(it.reserved.max(1))) as u64
                }
            };
            (two_part_key(!key, it.moment.into()), place)
        });
        let apart = (history.event_count() / PARTS as u32).max(1);
        let mut chosen: Vec<FreeAt> = Vec::new();
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
pub(super) enum Criterion {
    /// Free bytes.
    Bytes,
    /// Share of reserved bytes that is free.
    Share,
}

fn most_free(of: impl Iterator<Item = FreeAt>) -> Option<FreeAt> {
    of.reduce(|most, it| if it.free > most.free { it } else { most })
}
