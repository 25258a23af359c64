//! What a table lists: the allocations of a scope that pass a filter, and the histograms of their sizes and lives. In slices.

use crate::analysis::filter::{Filter, Term};
use crate::analysis::query::Query;
use crate::engine::find::is_sought;
use crate::engine::open::OpenFile;
use crate::engine::protocol::{LIFE_CLASSES, SIZE_CLASSES, Scope, TableFilter, Weight, life_class, size_class};
use crate::engine::stack_match::StackMatch;
use crate::replay::{AllocationId, DeviceHistory};

/// Allocations between two questions for the time.
const ROWS_PER_CHECK: usize = 2048;

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

    /// Looks at more stacks while there is time; `true` when all are looked at.
    fn step(&mut self, file: &OpenFile, has_time: &mut dyn FnMut() -> bool) -> bool {
        self.terms.iter_mut().flatten().all(|(term, stacks)| match term {
            Term::Query(Query::Frame(wording)) => stacks.step(&file.snapshot, wording, has_time),
            _ => true,
        })
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
    pub(super) filter: TableFilter,
    /// In order of birth.
    pub(super) ids: Vec<u32>,
    pub(super) all: Weight,
    pub(super) listed: Weight,
    pub(super) sizes: Vec<Weight>,
    pub(super) lives: Vec<Weight>,
    /// The allocation that is looked at next.
    next: usize,
}

impl Listing {
    pub(super) fn new(device: i64, scope: Scope, filter: TableFilter) -> Listing {
        let (sizes, lives) = (vec![Weight::default(); SIZE_CLASSES], vec![Weight::default(); LIFE_CLASSES]);
        let (all, listed) = (Weight::default(), Weight::default());
        Listing { device, scope, filter, ids: Vec::new(), all, listed, sizes, lives, next: 0 }
    }

    /// Whether it lists this.
    pub(super) fn is_of(&self, device: i64, scope: Scope, filter: &TableFilter) -> bool {
        (self.device, self.scope) == (device, scope) && self.filter == *filter
    }

    /// The moment that ages are told at.
    pub(super) fn moment(&self) -> u32 {
        match self.scope {
            Scope::At(moment) => moment,
            Scope::Born(span) | Scope::Freed(span) | Scope::Kept(span) | Scope::ByteMoments(span) => span.to,
        }
    }

    /// Looks at more allocations while there is time; `true` when all are looked at.
    pub(super) fn step(
        &mut self,
        file: &OpenFile,
        terms: &mut Option<Terms>,
        has_time: &mut dyn FnMut() -> bool,
    ) -> bool {
        if terms.as_ref().is_none_or(|terms| terms.text != self.filter.text) {
            *terms = Some(Terms::of(&self.filter.text));
        }
        let Some(terms) = terms else { return true };
        if !terms.step(file, has_time) {
            return false;
        }
        let Some(history) = file.history(self.device) else { return true };
        let count = history.allocations.len();
        while self.next < count {
            let rows = self.next..count.min(self.next + ROWS_PER_CHECK);
            self.next = rows.end;
            let moment = self.moment();
            for (id, (born, died, size)) in (rows.start as u32..).zip(history.allocations.spans_in(rows)) {
                if is_in(self.scope, born, died) {
                    self.take(file, history, terms, (AllocationId(id), Lived { born, died, size, moment }));
                }
            }
            if !has_time() {
                return false;
            }
        }
        true
    }

    fn take(&mut self, file: &OpenFile, history: &DeviceHistory, terms: &Terms, (id, at): (AllocationId, Lived)) {
        add(&mut self.all, at.size);
        if !terms.hold(file, history, id, at) {
            return;
        }
        let (size, life) = (size_class(at.size), life_class(at.born, at.died));
        let is_within =
            |wanted: Option<[u8; 2]>, class: u8| wanted.is_none_or(|[from, to]| (from..=to).contains(&class));
        let (by_size, by_life) = (is_within(self.filter.sizes, size), is_within(self.filter.lives, life));
        if by_life && let Some(bar) = self.sizes.get_mut(usize::from(size)) {
            add(bar, at.size);
        }
        if by_size && let Some(bar) = self.lives.get_mut(usize::from(life)) {
            add(bar, at.size);
        }
        if by_size && by_life {
            add(&mut self.listed, at.size);
            self.ids.push(id.0);
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.ids.capacity() * size_of::<u32>()
    }
}

fn add(weight: &mut Weight, bytes: u64) {
    weight.bytes = weight.bytes.saturating_add(bytes);
    weight.count += 1;
}

/// Whether a life is of a scope.
fn is_in(scope: Scope, born: u32, died: u32) -> bool {
    // Event k leads to moment k + 1.
    let within = |moment: u32, from: u32, to: u32| from < moment && moment <= to;
    match scope {
        Scope::At(moment) => born <= moment && moment < died,
        Scope::Born(span) => within(born, span.from, span.to),
        Scope::Freed(span) => died < u32::MAX && within(died, span.from, span.to),
        Scope::Kept(span) => within(born, span.from, span.to) && span.to < died,
        Scope::ByteMoments(span) => born.max(span.from) < died.min(span.to),
    }
}
