//! Rows of the Allocations table before sorting: the allocations in a scope that pass a filter. Also computes
//! histograms of their sizes and lifetimes. All of this is done in time slices.

use crate::find::matches_target;
use crate::open::OpenFile;
use crate::side::Side;
use crate::stack_match::StackMatch;
use crate::stack_trees::{Population, clamp_scope};
use analysis::filter::{Filter, Term};
use base::slice::{SliceResult, TimeSlice};
use history::replay::{AllocationId, DeviceHistory};
use protocol::{Highlight, LIFETIME_CLASSES, SIZE_CLASSES, Scope, TableFilter, Weight, lifetime_class, size_class};

/// Parsed terms of a filter, and the stacks that match each term. They do not depend on the scope.
pub(super) struct Terms {
    text: String,
    /// Each term, and the stacks that match it. `None` if the filter is invalid.
    terms: Option<Vec<(Term, StackMatch)>>,
}

base::heap_bytes!(Terms: [[terms]]);

impl Terms {
    /// Parses the text of a filter. Stacks are matched later.
    pub(super) fn parse(text: &str) -> Terms {
        let terms = Filter::parse(text).ok();
        let terms = terms.map(|it| it.terms.into_iter().map(|term| (term, StackMatch::default())).collect());
        Terms { text: text.to_owned(), terms }
    }

    /// Continues matching all stacks against the terms.
    fn step(&mut self, file: &mut OpenFile, slice: &mut TimeSlice) -> SliceResult {
        for (term, stacks) in self.terms.iter_mut().flatten() {
            if let Term::Query(query) = term {
                file.match_stacks(stacks, query, slice)?;
            }
        }
        Ok(())
    }

    fn matches(&self, side: Side<'_>, id: AllocationId, at: Lifespan) -> bool {
        let Lifespan { allocated_at, freed_at, size, moment } = at;
        let holds = |(term, stacks): &(Term, StackMatch)| match term {
            Term::Query(query) => matches_target(side, id, size, query, stacks),
            Term::Age(min, max) => {
                (*min..=*max).contains(&u64::from(moment.min(freed_at).saturating_sub(allocated_at)))
            }
            Term::Life(_, max) if freed_at == u32::MAX => *max == u64::MAX,
            Term::Life(min, max) => (*min..=*max).contains(&u64::from(freed_at.saturating_sub(allocated_at))),
        };
        self.terms.as_ref().is_some_and(|terms| terms.iter().all(holds))
    }
}

/// Lifetime and size of an allocation, and the moment at which its age is measured.
#[derive(Clone, Copy)]
struct Lifespan {
    allocated_at: u32,
    freed_at: u32,
    size: u64,
    moment: u32,
}

/// Rows of a table that are not sorted yet.
pub(super) struct Listing {
    pub(super) device: i64,
    pub(super) scope: Scope,
    /// The scope, clamped to the trace.
    within: Scope,
    last: u32,
    pub(super) filter: TableFilter,
    /// Ids of the listed allocations, in order of allocation.
    pub(super) ids: Vec<u32>,
    pub(super) all: Weight,
    pub(super) listed: Weight,
    /// For [`Scope::Change`], the total of the listed allocations that are live at the start of the range.
    pub(super) freed: Weight,
    pub(super) sizes: Vec<Weight>,
    pub(super) lifetimes: Vec<Weight>,
    /// Index of the next allocation to test, among the candidates of the scope.
    next: usize,
    population: Option<Population>,
    is_done: bool,
    /// Serial of the search whose matches are counted, and the number of rows that were counted so far.
    found: Option<(u32, usize)>,
    pub(super) found_total: Weight,
}

base::heap_bytes!(Listing: ids);

impl Listing {
    pub(super) fn new(file: &OpenFile, device: i64, scope: Scope, filter: TableFilter) -> Listing {
        let within = file.history(device).map_or(scope, |history| clamp_scope(history, scope));
        let (sizes, lifetimes) = (vec![Weight::default(); SIZE_CLASSES], vec![Weight::default(); LIFETIME_CLASSES]);
        let [all, listed, freed] = [Weight::default(); 3];
        Listing {
            device,
            scope,
            within,
            last: file.history(device).map_or(0, DeviceHistory::event_count),
            filter,
            ids: Vec::new(),
            all,
            listed,
            freed,
            sizes,
            lifetimes,
            next: 0,
            population: None,
            is_done: false,
            found: None,
            found_total: Weight::default(),
        }
    }

    /// Returns whether the listing was built for these parameters.
    pub(super) fn is_of(&self, device: i64, scope: Scope, filter: &TableFilter) -> bool {
        (self.device, self.scope) == (device, scope) && self.filter == *filter
    }

    /// Returns the moment at which ages are measured.
    pub(super) fn moment(&self) -> u32 {
        match self.within {
            Scope::All => self.last,
            Scope::At(moment) => moment,
            Scope::Allocated(span)
            | Scope::Freed(span)
            | Scope::StillLive(span)
            | Scope::ByteMoments(span)
            | Scope::Change(span) => span.to,
        }
    }

    /// Continues testing the allocations in the scope until all are tested or the time slice is used up.
    pub(super) fn step(
        &mut self,
        file: &mut OpenFile,
        terms: &mut Option<Terms>,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        if terms.as_ref().is_none_or(|terms| terms.text != self.filter.text) {
            *terms = Some(Terms::parse(&self.filter.text));
        }
        let Some(terms) = terms else { return Ok(()) };
        if self.is_done {
            return Ok(());
        }
        terms.step(file, slice)?;
        let node = self.filter.node.map(|(arrangement, node)| Highlight::Node(arrangement, node));
        file.collect_highlight(self.device, node.unwrap_or_default(), slice)?;
        let file = &*file;
        let Some(side) = file.side(self.device) else { return Ok(()) };
        let below = self.filter.node.map(|(arrangement, node)| file.stack_trees.subtree(arrangement, node));
        let data = side.device_data();
        let is_below = |id: AllocationId| {
            below.is_none_or(|below| below.is_some_and(|it| it.contains(&file.stack_trees.stack_keys, data, id)))
        };
        // The candidates keep their ids even if more checkpoints are added between slices.
        let population = self.population.take().unwrap_or_else(|| {
            let population = Population::new(side.history, self.within);
            // Growing would copy all ids in one go.
            self.ids.reserve_exact(population.len());
            population
        });
        let population = self.population.insert(population).clone();
        while let Some(part) = slice.next_range(&mut self.next, population.len(), 1)? {
            population.visit_part(side.history, part, &mut |id, _| {
                let (allocated_at, freed_at, size) = side.history.allocations.span(id);
                let at = Lifespan { allocated_at, freed_at, size, moment: self.moment() };
                self.all.add(single_weight(size));
                if is_below(id) && terms.matches(side, id, at) {
                    self.add(id, at);
                }
            });
        }
        self.population = None;
        self.is_done = true;
        Ok(())
    }

    /// Continues adding up the rows that match the search with the serial `find`.
    pub(super) fn weigh_found(
        &mut self,
        file: &OpenFile,
        search_serial: Option<u32>,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let found =
            file.found.as_ref().filter(|found| (Some(found.serial), found.device) == (search_serial, self.device));
        let (Some(found), Some(history)) = (found, file.history(self.device)) else {
            (self.found, self.found_total) = Default::default();
            return Ok(());
        };
        let search = file.stack_trees.searches;
        if self.found.is_none_or(|(known, _)| known != search) {
            (self.found, self.found_total) = (None, Weight::default());
        }
        let (_, next) = self.found.get_or_insert((search, 0));
        while let Some(part) = slice.next_range(next, self.ids.len(), 1)? {
            for &id in self.ids.get(part).unwrap_or_default().iter().filter(|&&id| found.matches.contains(id)) {
                self.found_total.add(single_weight(history.allocations.span(AllocationId(id)).2));
            }
        }
        Ok(())
    }

    /// Adds an allocation that passes all conditions of the filter except size and lifetime. It is added to the size
    /// histogram if its lifetime passes, to the lifetime histogram if its size passes, and to the rows if both pass.
    fn add(&mut self, id: AllocationId, at: Lifespan) {
        let (size, life) = (size_class(at.size), lifetime_class(at.allocated_at, at.freed_at));
        let is_within =
            |wanted: Option<[u8; 2]>, class: u8| wanted.is_none_or(|[from, to]| (from..=to).contains(&class));
        let (by_size, by_life) = (is_within(self.filter.sizes, size), is_within(self.filter.lifetimes, life));
        if by_life && let Some(bar) = self.sizes.get_mut(usize::from(size)) {
            bar.add(single_weight(at.size));
        }
        if by_size && let Some(bar) = self.lifetimes.get_mut(usize::from(life)) {
            bar.add(single_weight(at.size));
        }
        if by_size && by_life {
            self.listed.add(single_weight(at.size));
            if matches!(self.within, Scope::Change(span) if at.allocated_at <= span.from) {
                self.freed.add(single_weight(at.size));
            }
            self.ids.push(id.0);
        }
    }
}

fn single_weight(bytes: u64) -> Weight {
    Weight { bytes, count: 1 }
}
