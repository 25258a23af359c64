//! Totals by category at a moment, and the peak of each category over the trace.

use crate::categories::NO_RULE;
use crate::open::OpenFile;
use crate::report::site_sums::SiteSums;
use crate::side::Side;
use crate::stack_trees::Population;
use base::slice::{SliceResult, TimeSlice};
use base::units::EventIdx;
use history::replay::AllocationId;
use history::snapshot::StackId;
use protocol::{Scope, Weight};

/// Totals of live bytes after one event, by category and by rule.
pub(super) struct Sums {
    pub(super) moment: u32,
    population: Option<Population>,
    next: usize,
    pub(super) total: Weight,
    pub(super) categories: Vec<Weight>,
    /// Total of each rule, and the id of the rule's largest allocation. The last item is for allocations that match no
    /// rule.
    pub(super) rules: Vec<(Weight, u32)>,
    largest_bytes: Vec<u64>,
    /// Bytes that belong to no recorded allocation. They have no category.
    pub(super) unexplained: Weight,
    pub(super) unknown: SiteSums,
    /// Bytes in the category "unknown" that were allocated before recording and have no stack.
    pub(super) without_stack: u64,
    /// Bytes that were classified by rules that compare sizes.
    pub(super) by_size: u64,
}

impl Sums {
    pub(super) fn new(side: Side<'_>, moment: u32) -> Sums {
        let set = side.file.groups.categories.set();
        let rules = set.rules().len() + 1;
        Sums {
            moment: moment.min(side.history.event_count()),
            population: None,
            next: 0,
            total: Weight::default(),
            categories: vec![Weight::default(); set.categories().len()],
            rules: vec![Default::default(); rules],
            largest_bytes: vec![0; rules],
            unexplained: Weight::default(),
            unknown: SiteSums::new(side),
            without_stack: 0,
            by_size: 0,
        }
    }

    /// Continues adding up the allocations that are live at the moment.
    pub(super) fn step(&mut self, side: Side<'_>, slice: &mut TimeSlice) -> SliceResult {
        let population = self.population.get_or_insert_with(|| Population::new(side.history, Scope::At(self.moment)));
        let (categories, last) = (&side.file.groups.categories, self.categories.len().saturating_sub(1));
        population.visit(side.history, &mut self.next, slice, &mut |id, bytes| {
            let one = Weight { bytes, count: 1 };
            self.total.add(one);
            if side.history.allocations.is_unexplained(id) {
                self.unexplained.add(one);
                return;
            }
            let rule = categories.rule(side.history, id);
            let category = usize::from(categories.set().category(rule));
            self.categories.get_mut(category).into_iter().for_each(|sum| sum.add(one));
            let index = if rule == NO_RULE { self.rules.len() - 1 } else { usize::from(rule) };
            if let (Some((sum, largest)), Some(max)) = (self.rules.get_mut(index), self.largest_bytes.get_mut(index)) {
                if sum.count == 0 || bytes > *max {
                    (*largest, *max) = (id.0, bytes);
                }
                sum.add(one);
            }
            if category == last {
                self.unknown.add(side, id, bytes);
                let is_early = (id.0 as usize) < side.history.allocations.early_count();
                if is_early && matches!(side.stack(id), StackId::NONE | StackId::EMPTY) {
                    self.without_stack = self.without_stack.saturating_add(bytes);
                }
            }
            if categories.set().compares_sizes(rule) {
                self.by_size = self.by_size.saturating_add(bytes);
            }
        })
    }

    /// Returns the totals of a category. They are 0 if nothing was added to the category.
    pub(super) fn category(&self, category: usize) -> Weight {
        self.categories.get(category).copied().unwrap_or_default()
    }
}

/// Peak of each category over the trace, and the first moment with this value.
pub(super) struct CategoryPeaks {
    /// For each category: current bytes, peak, and first moment of the peak.
    by_category: Vec<(u64, u64, u32)>,
    /// Number of processed allocations that were made before recording. `next_event` is the number of processed events.
    next_early: usize,
    next_event: u32,
}

impl CategoryPeaks {
    pub(super) fn new(file: &OpenFile) -> CategoryPeaks {
        CategoryPeaks {
            by_category: vec![(0, 0, 0); file.groups.categories.set().categories().len()],
            next_early: 0,
            next_event: 0,
        }
    }

    /// Continues processing the allocations made before recording, and then the events.
    pub(super) fn step(&mut self, side: Side<'_>, slice: &mut TimeSlice) -> SliceResult {
        let early = side.history.allocations.early_count();
        while self.next_early < early {
            slice.tick()?;
            let id = AllocationId(self.next_early as u32);
            self.next_early += 1;
            self.change(side, id, true, 0);
        }
        for event in self.next_event..side.history.event_count() {
            slice.tick()?;
            self.next_event += 1;
            if let Some((id, starts_lifetime)) = side.history.lifetime_change(EventIdx(event)) {
                self.change(side, id, starts_lifetime, event + 1);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn change(&mut self, Side { file, history }: Side<'_>, id: AllocationId, starts_lifetime: bool, moment: u32) {
        if id.0 == 0 && history.allocations.is_unexplained(id) {
            return;
        }
        let category = file.groups.categories.category(history, id);
        let Some((now, peak, peak_moment)) = self.by_category.get_mut(usize::from(category)) else { return };
        let size = history.allocations.size(id);
        *now = if starts_lifetime { now.saturating_add(size) } else { now.saturating_sub(size) };
        if *now > *peak {
            (*peak, *peak_moment) = (*now, moment);
        }
    }

    /// Returns the peak of a category in bytes, and the first moment of the peak.
    pub(super) fn peak(&self, category: usize) -> (u64, u32) {
        self.by_category.get(category).map_or((0, 0), |&(_, peak, moment)| (peak, moment))
    }
}
