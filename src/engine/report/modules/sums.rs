//! Totals per module, computed in a pass over the events and a pass over the allocations that are live at the peak.

use super::tree::{Module, ModuleTree};
use crate::innermost::InnermostAnnotations;
use crate::origin::is_free_stack;
use crate::side::Side;
use base::slice::{SliceResult, TimeSlice};
use base::units::{EventIdx, Moment};
use history::replay::{AllocationId, DeviceHistory};
use history::snapshot::{Action, StringId};

/// Innermost annotation that is open at all events of a module, if they have the same one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum CommonAnnotation {
    /// The module has no events so far.
    #[default]
    NoEvent,
    Same(Option<StringId>),
    Mixed,
}

impl CommonAnnotation {
    fn add(&mut self, other: CommonAnnotation) {
        *self = match (*self, other) {
            (current, CommonAnnotation::NoEvent) => current,
            (CommonAnnotation::NoEvent, other) => other,
            (current, other) if current == other => current,
            _ => CommonAnnotation::Mixed,
        };
    }
}

/// Totals of a module, including its nested modules.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ModuleTotals {
    pub(super) events: u64,
    /// Number of `alloc` events. `allocated` is the sum of their requested bytes. `frees` and `freed` are the same for
    /// completed frees.
    pub(super) allocations: u64,
    pub(super) allocated: u64,
    pub(super) frees: u64,
    pub(super) freed: u64,
    /// Highest value of the device's live bytes among the moments right after the module's events. `peak_moment` is the
    /// first of these moments that has this value.
    pub(super) peak: u64,
    pub(super) peak_moment: u32,
    /// Highest value of the device's reserved bytes among the moments right after the module's events.
    pub(super) reserved: u64,
    /// Sum of the fragmentation (0 to 1) at each event of the module. The mean is this sum divided by `events`.
    pub(super) fragmentation_sum: f64,
    pub(super) first: u32,
    pub(super) last: u32,
    /// Bytes that were allocated in the module and are live at the device's peak.
    pub(super) live_at_peak: u64,
    pub(super) annotation: CommonAnnotation,
}

impl ModuleTotals {
    fn add(&mut self, inner: ModuleTotals) {
        if inner.events > 0 {
            self.first = if self.events == 0 { inner.first } else { self.first.min(inner.first) };
            self.last = self.last.max(inner.last);
            if self.events == 0 || (inner.peak, self.peak_moment) > (self.peak, inner.peak_moment) {
                (self.peak, self.peak_moment) = (inner.peak, inner.peak_moment);
            }
        }
        self.events += inner.events;
        self.allocations += inner.allocations;
        self.allocated = self.allocated.saturating_add(inner.allocated);
        self.frees += inner.frees;
        self.freed = self.freed.saturating_add(inner.freed);
        self.reserved = self.reserved.max(inner.reserved);
        self.fragmentation_sum += inner.fragmentation_sum;
        self.live_at_peak = self.live_at_peak.saturating_add(inner.live_at_peak);
        self.annotation.add(inner.annotation);
    }
}

/// Totals of each module.
#[derive(Default)]
pub(super) struct Sums {
    event: u32,
    next: u32,
    live: i64,
    reserved: i64,
    annotation_position: usize,
    pub(super) sums: Vec<ModuleTotals>,
    is_done: bool,
}

impl Sums {
    /// Continues computing the totals of all modules until they are complete or the time slice is used up.
    pub(super) fn step(&mut self, side: Side<'_>, tree: &ModuleTree, slice: &mut TimeSlice) -> SliceResult {
        let Side { file, history } = side;
        if self.is_done {
            return Ok(());
        }
        let Some(innermost) = file.groups.regions.innermost(history) else { return Ok(()) };
        let (events, allocations) = (history.event_count(), &history.allocations);
        if self.sums.is_empty() {
            self.sums = vec![ModuleTotals::default(); tree.modules.len()];
            (self.live, self.reserved) = (history.drawn_at(Moment::START), history.reserved_at(Moment::START));
        }
        for event in self.event..events {
            slice.tick()?;
            self.event += 1;
            self.process_event(history, tree, innermost, event);
        }
        let peak = Moment::after_event_or_minus_one(history.numbers.peak_event).0;
        for id in (self.next..allocations.len() as u32).map(AllocationId) {
            slice.tick()?;
            self.next += 1;
            let (allocated_at, freed_at, size) = allocations.span(id);
            if allocated_at > peak || freed_at <= peak {
                continue;
            }
            let stack = side.stack(id);
            // A stack recorded at the free does not show where the memory was allocated.
            if let Some(sum) = self.sums.get_mut(tree.module_of(stack) as usize)
                && !is_free_stack(history, id, stack)
            {
                sum.live_at_peak = sum.live_at_peak.saturating_add(size);
            }
        }
        // Nested modules have higher numbers, so children are added before their parents.
        for (number, &Module { parent, .. }) in tree.modules.iter().enumerate().skip(1).rev() {
            let inner = self.sums.get(number).copied().unwrap_or_default();
            self.sums.get_mut(parent as usize).into_iter().for_each(|outer| outer.add(inner));
        }
        self.is_done = true;
        Ok(())
    }

    fn process_event(
        &mut self,
        history: &DeviceHistory,
        tree: &ModuleTree,
        innermost: &InnermostAnnotations,
        event: u32,
    ) {
        let change = history.lifetime_change(EventIdx(event));
        let size = change.map_or(0, |(id, _)| history.allocations.size(id));
        let bytes = i64::try_from(size).unwrap_or(i64::MAX);
        match change {
            Some((_, true)) => self.live = self.live.saturating_add(bytes),
            Some((_, false)) => self.live = self.live.saturating_sub(bytes),
            None => self.reserved = self.reserved.saturating_add(history.reserved_change(EventIdx(event))),
        }
        let number = tree.module_of(history.events.stack(event)) as usize;
        let Some(sum) = self.sums.get_mut(number).filter(|_| number > 0) else { return };
        let (live, reserved) = (u64::try_from(self.live).unwrap_or(0), u64::try_from(self.reserved).unwrap_or(0));
        let fragmentation = if reserved > 0 { 1.0 - live as f64 / reserved as f64 } else { 0.0 };
        let annotation = CommonAnnotation::Same(innermost.at_event(&mut self.annotation_position, event));
        let is_alloc = change.is_some_and(|(_, is_alloc)| is_alloc);
        let is_free = change.is_some() && !is_alloc || history.events.action(event) == Action::FreeCompleted;
        sum.add(ModuleTotals {
            events: 1,
            allocations: is_alloc.into(),
            allocated: if is_alloc { size } else { 0 },
            frees: is_free.into(),
            freed: if is_alloc { 0 } else { size },
            peak: live,
            peak_moment: event + 1,
            reserved,
            fragmentation_sum: fragmentation.max(0.0),
            first: event,
            last: event,
            live_at_peak: 0,
            annotation,
        });
    }
}
