//! What each compiled region has live, and what Mosaic counts: only what was born in the trace, no baseline (`semantics.md` §1).

use crate::innermost::{Innermost, Marks};
use crate::protocol::Span;
use crate::regions::compile_context;
use base::slice::{Slice, Sliced};
use base::sorted::{pair, sorted_by_key};
use base::units::{EventIdx, Moment};
use hashbrown::HashMap;
use history::replay::{AllocationId, DeviceHistory};
use history::snapshot::{Action, Snapshot, StringId};

/// What the allocations of a compiled region come to: requested bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Region {
    /// What it is called; `None`: nothing was recorded, or `N/A`.
    pub(super) name: Option<StringId>,
    live: u64,
    /// Live at the peak of the device.
    pub(super) at_peak: u64,
    /// The most that is live of it, and the first moment then.
    pub(super) peak: u64,
    pub(super) peak_moment: u32,
    pub(super) allocated: u64,
    pub(super) count: u64,
    /// Live at the peak as Mosaic counts.
    pub(super) mosaic: u64,
}

/// The highest that Mosaic counts, and the first moment then.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Highest {
    pub(super) bytes: u64,
    pub(super) moment: u32,
}

/// The count, as far as it is.
#[derive(Default)]
pub(super) struct Counted {
    event: u32,
    next: u32,
    live: u64,
    pub(super) regions: Vec<Region>,
    numbers: HashMap<u32, u32, foldhash::fast::RandomState>,
    /// The highest of the trace, and of the window that is requested.
    pub(super) highest: Highest,
    pub(super) window: Option<(Span, Highest)>,
    /// When it is asked what is live, ascending, and for which number; up to which that is told.
    wanted: Vec<(u32, u32)>,
    told: usize,
    /// What is live then, by these numbers.
    pub(super) usages: Vec<u64>,
    /// The place after that of the region in `regions`, by the labels of an event; 0: not looked up yet.
    of_labels: Vec<u32>,
    innermost: Innermost,
    /// How far `innermost` was asked.
    at: usize,
    /// Live at Mosaic's peak, by the annotation they were born in; `None`: in none.
    pub(super) annotations: Vec<(Option<StringId>, u64)>,
    of_annotation: HashMap<u32, u32, foldhash::fast::RandomState>,
}

/// What stands for a name, or for none: a text has no such number.
fn key(name: Option<StringId>) -> u32 {
    name.map_or(u32::MAX, |name| name.0)
}

impl Counted {
    /// With the highest within a window, where one is asked for.
    pub(super) fn with(window: Option<Span>) -> Counted {
        let window = window.map(|span| (span, Highest { bytes: 0, moment: span.from }));
        Counted { window, innermost: Innermost::by(Marks::OfFile), ..Counted::default() }
    }

    /// Asks what is live at these moments as well.
    pub(super) fn ask(&mut self, moments: impl Iterator<Item = u32>) {
        self.wanted = sorted_by_key(moments.zip(0..).collect(), |&(moment, number)| pair(moment.into(), number.into()));
        self.usages = vec![0; self.wanted.len()];
    }

    /// Tells what is live now, where that is asked.
    fn tell(&mut self) {
        while let Some(&(_, number)) = self.wanted.get(self.told).filter(|&&(moment, _)| moment <= self.event) {
            self.usages.get_mut(number as usize).into_iter().for_each(|usage| *usage = self.live);
            self.told += 1;
        }
    }

    /// Counts.
    pub(super) fn step(&mut self, snapshot: &Snapshot, history: &DeviceHistory, slice: &mut Slice) -> Sliced {
        let (events, allocations) = (history.event_count(), &history.allocations);
        let peak = Moment::after_event_or_minus_one(history.numbers.peak_event).0;
        for event in self.event..events {
            slice.tick()?;
            self.tell();
            self.event += 1;
            self.pass(snapshot, history, event);
            if let Some((span, highest)) = &mut self.window
                && (span.from < self.event && self.event <= span.to)
                && self.live > highest.bytes
            {
                *highest = Highest { bytes: self.live, moment: self.event };
            }
            if self.event == peak {
                self.regions.iter_mut().for_each(|region| region.at_peak = region.live);
            }
        }
        self.tell();
        self.innermost.step(snapshot, history, slice)?;
        let (first, count) = (allocations.early() as u32, allocations.len() as u32);
        for id in first + self.next..count {
            slice.tick()?;
            self.next += 1;
            let (born, died, size) = allocations.span(AllocationId(id));
            // Those that follow are born later.
            if born > self.highest.moment {
                break;
            }
            // Mosaic knows no end but the completed free.
            let is_freed = died <= self.highest.moment && is_completed(history, died);
            if is_freed {
                continue;
            }
            let number = self.region(snapshot, history, born);
            if let Some(region) = self.regions.get_mut(number) {
                region.mosaic = region.mosaic.saturating_add(size);
            }
            let name = self.innermost.at_event(&mut self.at, born.saturating_sub(1));
            let next = self.annotations.len() as u32;
            let number = *self.of_annotation.entry(key(name)).or_insert(next);
            if number == next {
                self.annotations.push((name, 0));
            }
            if let Some((_, bytes)) = self.annotations.get_mut(number as usize) {
                *bytes = bytes.saturating_add(size);
            }
        }
        Ok(())
    }

    fn pass(&mut self, snapshot: &Snapshot, history: &DeviceHistory, event: u32) {
        let Some((id, is_birth)) = history.change(EventIdx(event)) else { return };
        let (born, _, size) = history.allocations.span(id);
        if born == 0 {
            return;
        }
        let moment = event + 1;
        let number = self.region(snapshot, history, born);
        let Some(region) = self.regions.get_mut(number) else { return };
        if !is_birth {
            region.live = region.live.saturating_sub(size);
            if is_completed(history, moment) {
                self.live = self.live.saturating_sub(size);
            }
            return;
        }
        region.live = region.live.saturating_add(size);
        region.allocated = region.allocated.saturating_add(size);
        region.count += 1;
        if region.live > region.peak {
            (region.peak, region.peak_moment) = (region.live, moment);
        }
        self.live = self.live.saturating_add(size);
        if self.live > self.highest.bytes {
            self.highest = Highest { bytes: self.live, moment };
        }
    }

    /// The number of the region of what is born at a moment of the trace.
    fn region(&mut self, snapshot: &Snapshot, history: &DeviceHistory, born: u32) -> usize {
        let event = EventIdx(born.saturating_sub(1));
        let labels = history.events.labels(event.0).0 as usize;
        if self.of_labels.is_empty() {
            self.of_labels = vec![0; snapshot.labels.len()];
        }
        if let Some(known) = self.of_labels.get(labels).and_then(|known| known.checked_sub(1)) {
            return known as usize;
        }
        let name = compile_context(snapshot, history, event);
        let next = self.regions.len();
        let number = *self.numbers.entry(key(name)).or_insert(next as u32) as usize;
        if number >= self.regions.len() {
            self.regions.push(Region { name, ..Region::default() });
        }
        self.of_labels.get_mut(labels).into_iter().for_each(|known| *known = number as u32 + 1);
        number
    }
}

/// Whether a life ends at a moment by a `free_completed`.
fn is_completed(history: &DeviceHistory, died: u32) -> bool {
    Moment(died).event().is_some_and(|event| history.events.action(event.0) == Action::FreeCompleted)
}
