//! What a table lists: the allocations of a scope that pass a filter, and the histograms of their sizes and lives. In slices.

use crate::answers::{Population, within};
use crate::find::is_sought;
use crate::open::OpenFile;
use crate::protocol::{Highlight, LIFE_CLASSES, SIZE_CLASSES, Scope, TableFilter, Weight, life_class, size_class};
use crate::stack_match::StackMatch;
use analysis::filter::{Filter, Term};
use base::slice::{Slice, Sliced};
use history::replay::{AllocationId, DeviceHistory};

/// The terms of a filter, each with the stacks that match it. They hold for a file, whatever the scope.
pub(super) struct Terms {
    text: String,
    /// `None` for what can't be read.
    terms: Option<Vec<(Term, StackMatch)>>,
}

impl Terms {
    /// Those of a text.
    pub(super) fn of(text: &str) -> Terms {
        let terms = Filter::parse(text).ok();
        let terms = terms.map(|it| it.terms.into_iter().map(|term| (term, StackMatch::default())).collect());
        Terms { text: text.to_owned(), terms }
    }

    /// Looks at all stacks.
    fn step(&mut self, file: &mut OpenFile, slice: &mut Slice) -> Sliced {
        for (term, stacks) in self.terms.iter_mut().flatten() {
            if let Term::Query(query) = term {
                stacks.step(file, query, slice)?;
            }
        }
        Ok(())
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.terms.iter().flatten().map(|(_, stacks)| stacks.frames.heap_bytes() + stacks.stacks.heap_bytes()).sum()
    }

    fn hold(&self, file: &OpenFile, history: &DeviceHistory, id: AllocationId, at: Lived) -> bool {
        let Lived { born, died, size, moment } = at;
        let holds = |(term, stacks): &(Term, StackMatch)| match term {
            Term::Query(query) => is_sought(file, history, id, size, query, &stacks.stacks),
            Term::Age(least, most) => (*least..=*most).contains(&u64::from(moment.min(died).saturating_sub(born))),
            Term::Life(_, most) if died == u32::MAX => *most == u64::MAX,
            Term::Life(least, most) => (*least..=*most).contains(&u64::from(died.saturating_sub(born))),
        };
        self.terms.as_ref().is_some_and(|terms| terms.iter().all(holds))
    }
}

/// How an allocation lives, and the moment it is looked at.
#[derive(Clone, Copy)]
struct Lived {
    born: u32,
    died: u32,
    size: u64,
    moment: u32,
}

/// The rows of a table before they are sorted.
pub(super) struct Listing {
    pub(super) device: i64,
    pub(super) scope: Scope,
    /// The same with moments that the trace has.
    within: Scope,
    last: u32,
    pub(super) filter: TableFilter,
    /// In order of birth.
    pub(super) ids: Vec<u32>,
    pub(super) all: Weight,
    pub(super) listed: Weight,
    /// Of [`Scope::Change`], those of them that are live at the beginning.
    pub(super) gone: Weight,
    pub(super) sizes: Vec<Weight>,
    pub(super) lives: Vec<Weight>,
    /// The candidate that is looked at next.
    next: usize,
    population: Option<Population>,
    is_done: bool,
    /// Which search, counted from the first, was held against how many rows, and what it found of them.
    found: Option<(u32, usize)>,
    pub(super) of_found: Weight,
}

impl Listing {
    pub(super) fn new(file: &OpenFile, device: i64, scope: Scope, filter: TableFilter) -> Listing {
        let within = file.history(device).map_or(scope, |history| within(history, scope));
        let (sizes, lives) = (vec![Weight::default(); SIZE_CLASSES], vec![Weight::default(); LIFE_CLASSES]);
        let [all, listed, gone] = [Weight::default(); 3];
        Listing {
            device,
            scope,
            within,
            last: file.history(device).map_or(0, DeviceHistory::event_count),
            filter,
            ids: Vec::new(),
            all,
            listed,
            gone,
            sizes,
            lives,
            next: 0,
            population: None,
            is_done: false,
            found: None,
            of_found: Weight::default(),
        }
    }

    /// Whether it lists this.
    pub(super) fn is_of(&self, device: i64, scope: Scope, filter: &TableFilter) -> bool {
        (self.device, self.scope) == (device, scope) && self.filter == *filter
    }

    /// The moment that ages are told at.
    pub(super) fn moment(&self) -> u32 {
        match self.within {
            Scope::Ever => self.last,
            Scope::At(moment) => moment,
            Scope::Born(span)
            | Scope::Freed(span)
            | Scope::Kept(span)
            | Scope::ByteMoments(span)
            | Scope::Change(span) => span.to,
        }
    }

    /// Looks at all allocations.
    pub(super) fn step(&mut self, file: &mut OpenFile, terms: &mut Option<Terms>, slice: &mut Slice) -> Sliced {
        if terms.as_ref().is_none_or(|terms| terms.text != self.filter.text) {
            *terms = Some(Terms::of(&self.filter.text));
        }
        let Some(terms) = terms else { return Ok(()) };
        if self.is_done {
            return Ok(());
        }
        terms.step(file, slice)?;
        let of_node = self.filter.node.map(|(arrangement, node)| Highlight::Node(arrangement, node));
        file.collect(self.device, of_node.unwrap_or_default(), slice)?;
        let file = &*file;
        let Some(history) = file.history(self.device) else { return Ok(()) };
        let below = self.filter.node.map(|(arrangement, node)| file.answers.subtree(arrangement, node));
        let open = file.about(history);
        let is_below = |id: AllocationId| {
            below.is_none_or(|below| below.is_some_and(|it| it.holds(&file.answers.stems, open, id)))
        };
        // Candidates mean the same ids however many checkpoints are taken meanwhile.
        let population = self.population.take().unwrap_or_else(|| {
            let population = Population::new(history, self.within);
            // Growing would copy all of them in one go.
            self.ids.reserve_exact(population.len());
            population
        });
        let population = self.population.insert(population).clone();
        while let Some(part) = slice.part(&mut self.next, population.len(), 1)? {
            population.part(history, part, &mut |id, _| {
                let (born, died, size) = history.allocations.span(id);
                let at = Lived { born, died, size, moment: self.moment() };
                self.all.add(one(size));
                if is_below(id) && terms.hold(file, history, id, at) {
                    self.take(id, at);
                }
            });
        }
        self.population = None;
        self.is_done = true;
        Ok(())
    }

    /// Weighs what the search of this serial finds of it.
    pub(super) fn weigh_found(&mut self, file: &OpenFile, find: Option<u32>, slice: &mut Slice) -> Sliced {
        let found = file.found.as_ref().filter(|found| (Some(found.serial), found.device) == (find, self.device));
        let (Some(found), Some(history)) = (found, file.history(self.device)) else {
            (self.found, self.of_found) = Default::default();
            return Ok(());
        };
        let search = file.answers.searches;
        if self.found.is_none_or(|(known, _)| known != search) {
            (self.found, self.of_found) = (None, Weight::default());
        }
        let (_, next) = self.found.get_or_insert((search, 0));
        while let Some(part) = slice.part(next, self.ids.len(), 1)? {
            for &id in self.ids.get(part).unwrap_or_default().iter().filter(|&&id| found.matches.contains(id)) {
                self.of_found.add(one(history.allocations.span(AllocationId(id)).2));
            }
        }
        Ok(())
    }

    /// Puts one that passes all but sizes and lives where it belongs.
    fn take(&mut self, id: AllocationId, at: Lived) {
        let (size, life) = (size_class(at.size), life_class(at.born, at.died));
        let is_within =
            |wanted: Option<[u8; 2]>, class: u8| wanted.is_none_or(|[from, to]| (from..=to).contains(&class));
        let (by_size, by_life) = (is_within(self.filter.sizes, size), is_within(self.filter.lives, life));
        if by_life && let Some(bar) = self.sizes.get_mut(usize::from(size)) {
            bar.add(one(at.size));
        }
        if by_size && let Some(bar) = self.lives.get_mut(usize::from(life)) {
            bar.add(one(at.size));
        }
        if by_size && by_life {
            self.listed.add(one(at.size));
            if matches!(self.within, Scope::Change(span) if at.born <= span.from) {
                self.gone.add(one(at.size));
            }
            self.ids.push(id.0);
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.ids.capacity() * size_of::<u32>()
    }
}

/// An allocation of so many bytes.
fn one(bytes: u64) -> Weight {
    Weight { bytes, count: 1 }
}
