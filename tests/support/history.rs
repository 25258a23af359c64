//! Histories made of lifetimes only, drawn as text or random.

use memscape::replay::{AllocationId, Allocations, Curve, LiveSets, Times, Totals};
use memscape::slice::TimeSlice;
use memscape::timeline::{Order, Paint, Source};
use memscape::units::{EventIdx, Moment};
use proptest::prelude::*;

/// The lifetimes of one device, with the totals derived from them.
#[derive(Debug)]
pub(crate) struct History {
    /// `(allocated_at, freed_at, size)`, sorted by the first. The index is the allocation id.
    pub(crate) spans: Vec<(u32, u32, u64)>,
    /// Moment of each allocation's free_requested event.
    pub(crate) requested_at: Vec<u32>,
    /// Allocation ids from the bottom of the stack to the top.
    pub(crate) order: Vec<u32>,
    /// Time of each event in µs since the first, non-decreasing. Empty if times are not recorded.
    pub(crate) elapsed: Vec<u64>,
    /// Live requested bytes at each moment.
    pub(crate) requested: Vec<i64>,
    pub(crate) reserved: Vec<i64>,
    /// Bytes awaiting free at each moment.
    pub(crate) pending: Vec<i64>,
    allocations: Allocations,
    grouped: Option<Order>,
    times: Times,
    live: LiveSets,
    totals: [Totals; 3],
    /// True if every third allocation is highlighted.
    pub(crate) highlight: bool,
}

impl History {
    /// Builds a history of `events` events. Reserved bytes are the requested bytes rounded up to 64, and nothing awaits
    /// free.
    pub(crate) fn new(events: u32, spans: impl IntoIterator<Item = (u32, u32, u64)>) -> History {
        let mut spans: Vec<_> = spans.into_iter().collect();
        spans.sort_by_key(|span| span.0);
        let allocations = Allocations::from_spans(spans.iter().copied());
        let requested_at = spans.iter().map(|span| span.1).collect();
        let mut change = vec![0i64; events as usize + 2];
        for &(allocated_at, freed_at, size) in spans.iter().filter(|span| span.0 < span.1) {
            change[(allocated_at as usize).min(events as usize + 1)] += size as i64;
            change[(freed_at as usize).min(events as usize + 1)] -= size as i64;
        }
        let mut total = 0;
        let requested: Vec<i64> = change[..=events as usize]
            .iter()
            .map(|change| {
                total += change;
                total
            })
            .collect();
        let reserved: Vec<i64> = requested.iter().map(|total| (total + 63) / 64 * 64).collect();
        let pending = vec![0; requested.len()];
        let totals = [&requested, &reserved, &pending]
            .map(|curve| Totals::build(events, curve[0], |event| change_at(curve, event)));
        let order = (0..spans.len() as u32).collect();
        let mut live = LiveSets::default();
        live.step(&allocations, events + 1, &mut TimeSlice::new(&mut || true)).unwrap();
        let (grouped, times, elapsed) = (None, Times::default(), Vec::new());
        History {
            spans,
            requested_at,
            order,
            elapsed,
            requested,
            reserved,
            pending,
            allocations,
            grouped,
            times,
            live,
            totals,
            highlight: false,
        }
    }

    /// Stacks allocations by group. Allocation `id` is in group `groups[id % groups.len()]`.
    pub(crate) fn grouped(mut self, groups: &[u32]) -> History {
        let groups: Vec<u32> = (0..self.spans.len()).map(|id| groups[id % groups.len()]).collect();
        self.order.sort_by_key(|&id| groups[id as usize]);
        self.grouped = Some(Order::grouped(&groups));
        self
    }

    /// Makes every fourth allocation await its free for the last two thirds of its lifetime.
    pub(crate) fn pending(mut self) -> History {
        let events = self.moments() - 1;
        for (id, &(allocated_at, freed_at, _)) in self.spans.iter().enumerate().filter(|(id, _)| id % 4 == 1) {
            self.requested_at[id] = allocated_at + freed_at.min(events).saturating_sub(allocated_at) / 3;
            self.allocations.request_free(AllocationId(id as u32), Moment(self.requested_at[id]));
        }
        // Adds up their bytes.
        let mut change = vec![0i64; events as usize + 2];
        for (&(allocated_at, freed_at, size), &requested) in self.spans.iter().zip(&self.requested_at) {
            if allocated_at < freed_at && requested < freed_at {
                change[requested.max(allocated_at) as usize] += size as i64;
                change[freed_at.min(events + 1) as usize] -= size as i64;
            }
        }
        let pending = change[..=events as usize].iter().scan(0, |total, change| {
            *total += change;
            Some(*total)
        });
        self.pending = pending.collect();
        self.totals[2] = Totals::build(events, self.pending[0], |event| change_at(&self.pending, event));
        self
    }

    /// Adds times, with the given µs between events, repeated. Negative steps count as zero.
    pub(crate) fn timed(mut self, steps: &[i32]) -> History {
        let (mut now, mut latest) = (1_700_000_000_000_000i64, i64::MIN);
        for event in 0..self.moments() as usize - 1 {
            self.times.push(now);
            latest = latest.max(now);
            self.elapsed.push((latest - 1_700_000_000_000_000) as u64);
            now += i64::from(steps[event % steps.len()]);
        }
        self
    }

    /// Parses a picture: one line per allocation, top of the stack first, one character per moment (`#` if live), then
    /// the size in bytes.
    pub(crate) fn from_picture(picture: &str) -> History {
        let lines = picture.lines().rev().map(str::trim).filter(|line| !line.is_empty());
        let mut events = 0;
        let spans: Vec<_> = lines
            .map(|line| {
                let (life, bytes) = line.split_once(' ').unwrap();
                let allocated_at = life.find('#').unwrap();
                let end = life.rfind('#').unwrap() + 1;
                events = life.len() as u32 - 1;
                (
                    allocated_at as u32,
                    if end == life.len() { u32::MAX } else { end as u32 },
                    bytes.trim().parse().unwrap(),
                )
            })
            .collect();
        History::new(events, spans)
    }

    /// Returns the number of moments, which is one more than events.
    pub(crate) fn moments(&self) -> u32 {
        self.requested.len() as u32
    }

    pub(crate) fn peak(&self) -> u64 {
        self.requested.iter().copied().max().unwrap() as u64
    }

    /// Passes the history to `look` as a [`Source`].
    pub(crate) fn with_source<R>(&self, look: impl FnOnce(&Source) -> R) -> R {
        let requested = |event| change_at(&self.requested, event);
        let reserved = |event| change_at(&self.reserved, event);
        let pending = |event| change_at(&self.pending, event);
        look(&Source {
            allocations: &self.allocations,
            live: &self.live,
            order: self.grouped.as_ref(),
            clock: self.times.time_axis(),
            requested: Curve::new(&self.totals[0], &requested),
            reserved: Curve::new(&self.totals[1], &reserved),
            pending: Curve::new(&self.totals[2], &pending),
            paint: &paint,
            highlight: self.highlight.then_some(&is_highlighted as &dyn Fn(AllocationId) -> bool),
        })
    }
}

/// Returns whether an allocation is highlighted in a history with highlights.
pub(crate) fn is_highlighted(allocation: AllocationId) -> bool {
    allocation.0 % 3 == 1
}

/// Returns the color of an allocation, which is its id.
pub(crate) fn paint(allocation: AllocationId) -> Paint {
    Paint(allocation.0 as u16 % 256)
}

/// Generates random histories: short and long lifetimes, all orders of sizes, some from the start or to the end, some
/// with groups or times.
pub(crate) fn histories(events: u32, allocations: usize) -> impl Strategy<Value = History> {
    let life = move |events: u32| prop_oneof![4 => 1..8u32, 2 => 1..=events, 1 => Just(u32::MAX)];
    let size = || prop_oneof![4 => 1..40u64, 2 => 100..400u64, 1 => 2000..4000u64, 1 => Just(0u64)];
    (1..=events).prop_flat_map(move |events| {
        let allocated_at = prop_oneof![1 => Just(0u32), 6 => 0..=events];
        let groups = prop::option::of(prop::collection::vec(0u32..4, 1..7));
        let step = prop_oneof![3 => 0..3i32, 2 => 3..200i32, 1 => -20..0i32, 1 => 1000..3000i32];
        let steps = prop::option::of(prop::collection::vec(step, 1..40));
        let lives = prop::collection::vec((allocated_at, life(events), size()), 0..=allocations);
        (lives, groups, steps, any::<bool>()).prop_map(move |(lives, groups, steps, highlight)| {
            let freed_at = |allocated_at: u32, life: u32| {
                Some(allocated_at.saturating_add(life)).filter(|&freed_at| freed_at <= events)
            };
            let span =
                |(allocated_at, life, size)| (allocated_at, freed_at(allocated_at, life).unwrap_or(u32::MAX), size);
            let history = History::new(events, lives.into_iter().map(span)).pending();
            let history = groups.into_iter().fold(history, |history, groups| history.grouped(&groups));
            let history = steps.into_iter().fold(history, |history, steps| history.timed(&steps));
            History { highlight, ..history }
        })
    })
}

fn change_at(curve: &[i64], event: EventIdx) -> i64 {
    curve[event.0 as usize + 1] - curve[event.0 as usize]
}
