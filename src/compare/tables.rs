//! Key ids of both sides, computed on demand.

use crate::chains::OF_FREE;
use crate::key::Key;
use crate::keyed::{KeyNumbers, SharedTexts};
use analysis::{RuleCache, Sites};
use base::slice::{SliceResult, TimeSlice};
use engine::Side;
use history::replay::AllocationId;

/// Key ids of both sides for one kind of key.
struct KeyTable {
    sides: [KeyNumbers; 2],
    /// For each side, the key ids that occur in its allocations, and the number of allocations examined so far.
    seen: [(Vec<bool>, usize); 2],
}

base::heap_bytes!(KeyTable: [sides]);

/// Key ids of both sides, for all kinds of keys used so far.
pub(crate) struct KeyTables {
    pub(crate) common: SharedTexts,
    pub(crate) sites: [Sites; 2],
    pub(crate) internal: [RuleCache; 2],
    tables: Vec<KeyTable>,
}

base::heap_bytes!(KeyTables: common, [sites], [tables]);

impl KeyTables {
    pub(crate) fn new(sides: [&Side; 2]) -> KeyTables {
        let sites = sides.map(|side| Sites::new(side.snapshot()));
        KeyTables { common: SharedTexts::default(), sites, internal: Default::default(), tables: Vec::new() }
    }

    /// Continues assigning key ids to the stacks or groups of both sides. Does nothing if they are complete.
    pub(crate) fn step(&mut self, key: Key, sides: [&Side; 2], slice: &mut TimeSlice) -> SliceResult {
        let KeyTables { common, sites, tables, .. } = self;
        if !tables.iter().any(|table| table.sides[0].key() == key) {
            tables.push(KeyTable { sides: [KeyNumbers::new(key), KeyNumbers::new(key)], seen: Default::default() });
        }
        let known = tables.iter_mut().find(|table| table.sides[0].key() == key);
        let both = known.into_iter().flat_map(|table| &mut table.sides);
        both.zip(sites).zip(sides).try_for_each(|((keyed, sites), side)| keyed.step(side, sites, common, slice))
    }

    /// Continues recording, for each side, which key ids occur in its allocations. Call it after [`KeyTables::step`]
    /// has succeeded.
    pub(crate) fn collect_used(&mut self, key: Key, sides: [&Side; 2], slice: &mut TimeSlice) -> SliceResult {
        let count = self.common.chains.count();
        let Some(table) = self.tables.iter_mut().find(|table| table.sides[0].key() == key) else { return Ok(()) };
        for (((seen, next), keyed), side) in table.seen.iter_mut().zip(&table.sides).zip(sides) {
            seen.resize(count.max(seen.len()), false);
            while let Some(part) = slice.next_range(next, side.history.allocations.len(), 4)? {
                for id in part {
                    // The stack of a free counts like that of an allocation.
                    let number = keyed.number_of(side, AllocationId(id as u32)) & !OF_FREE;
                    seen.get_mut(number as usize).into_iter().for_each(|seen| *seen = true);
                }
            }
        }
        Ok(())
    }

    /// Returns for each side whether any allocation has this key id. Call it after [`KeyTables::collect_used`] has
    /// succeeded.
    pub(crate) fn occurs_in(&self, key: Key, number: u32) -> [bool; 2] {
        let known = self.tables.iter().find(|table| table.sides[0].key() == key);
        let number = (number & !OF_FREE) as usize;
        [0, 1].map(|side| {
            let seen = known.and_then(|table| table.seen.get(side));
            seen.and_then(|(seen, _)| seen.get(number)).copied().unwrap_or(false)
        })
    }

    /// Returns the key ids of both sides, or `None` for a side if [`KeyTables::step`] was not called for this kind of
    /// key.
    pub(crate) fn of(&self, key: Key) -> [Option<&KeyNumbers>; 2] {
        let known = self.tables.iter().find(|table| table.sides[0].key() == key);
        [0, 1].map(|side| known.and_then(|table| table.sides.get(side)))
    }
}
