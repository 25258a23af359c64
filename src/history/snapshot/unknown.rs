//! Keys and words that are not of the schema: counted while the file is read.

use super::schema::{KEYS, Key};
use super::value::Value;
use hashbrown::HashMap;

/// Hostile files have endless new keys; a list of so many says enough.
const MOST: usize = 100;

/// What has a key, or is a word, that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// A key of an event; numbered as the queue of events does.
    Event,
    /// The `action` of an event.
    Action,
    /// A key of a segment, by its row.
    Segment,
    /// A key of a block, by its row.
    Block,
    /// The `state` of a block.
    State,
    /// The `stage` of an annotation, by its index in the list.
    Stage,
    Frame,
    /// A key of an entry of a block's history.
    History,
    Snapshot,
}

pub(super) struct Unknown {
    pub(super) of: Of,
    pub(super) word: Value,
    pub(super) count: u64,
    pub(super) row: u32,
}

struct Keys([bool; KEYS.len()]);

impl Default for Keys {
    fn default() -> Self {
        Keys([false; KEYS.len()])
    }
}

/// Which words of the schema were seen, and which were not known. Kept apart from the tables so that both can be borrowed.
#[derive(Default)]
pub(super) struct Seen {
    /// One a [`Key`].
    keys: Keys,
    pub(super) unknown: Vec<Unknown>,
    /// The rows of events that are named in a warning; trace and index once a list has taken them.
    pub(super) events: HashMap<u32, Option<(u32, u64)>, foldhash::fast::RandomState>,
}

impl Seen {
    pub(super) fn key(&mut self, key: Key) {
        self.keys.0[key as usize] = true;
    }

    /// Whether a dict that uses this key was read.
    pub(super) fn has(&self, key: Key) -> bool {
        self.keys.0[key as usize]
    }

    pub(super) fn unknown(&mut self, of: Of, word: Value, row: u32) {
        if let Some(known) = self.unknown.iter_mut().find(|known| known.of == of && known.word == word) {
            known.count += 1;
        } else if self.unknown.len() < MOST {
            self.unknown.push(Unknown { of, word, count: 1, row });
            if matches!(of, Of::Event | Of::Action) {
                self.events.insert(row, None);
            }
        }
    }

    /// The event of `row` stands at `index` of this trace.
    #[inline]
    pub(super) fn place(&mut self, row: u32, trace: u32, index: u64) {
        if !self.events.is_empty()
            && let Some(place) = self.events.get_mut(&row)
        {
            *place = Some((trace, index));
        }
    }
}
