//! The numbers of keys of both sides, made once each.

use crate::key::Key;
use crate::keyed::{Common, Keyed};
use analysis::Sites;
use base::slice::{Slice, Sliced};
use engine::Side;

/// What is known of one key.
struct Table {
    sides: [Keyed; 2],
}

/// The numbers of keys that were needed so far.
pub(crate) struct Tables {
    pub(crate) common: Common,
    pub(crate) sites: [Sites; 2],
    tables: Vec<Table>,
}

impl Tables {
    pub(crate) fn new(sides: [&Side; 2]) -> Tables {
        let sites = sides.map(|side| Sites::new(side.snapshot()));
        Tables { common: Common::default(), sites, tables: Vec::new() }
    }

    /// Numbers what both sides have by a key.
    pub(crate) fn step(&mut self, key: Key, sides: [&Side; 2], slice: &mut Slice) -> Sliced {
        let Tables { common, sites, tables } = self;
        if !tables.iter().any(|table| table.sides[0].key() == key) {
            tables.push(Table { sides: [Keyed::new(key), Keyed::new(key)] });
        }
        let known = tables.iter_mut().find(|table| table.sides[0].key() == key);
        let both = known.into_iter().flat_map(|table| &mut table.sides);
        both.zip(sites).zip(sides).try_for_each(|((keyed, sites), side)| keyed.step(side, sites, common, slice))
    }

    /// What is known of a key, once [`Tables::step`] is done with it.
    pub(crate) fn of(&self, key: Key) -> [Option<&Keyed>; 2] {
        let known = self.tables.iter().find(|table| table.sides[0].key() == key);
        [0, 1].map(|side| known.and_then(|table| table.sides.get(side)))
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        let tables = self.tables.iter().flat_map(|table| &table.sides).map(Keyed::heap_bytes);
        self.common.heap_bytes() + tables.sum::<usize>() + self.sites.iter().map(Sites::heap_bytes).sum::<usize>()
    }
}
