//! Unknown keys and values ("words"), counted while the file is read.

use super::schema::{KEYS, Key};
use super::value::Value;
use hashbrown::HashMap;

/// Maximum number of distinct unknown words that are stored. Malicious files can have any number.
const MAX_UNKNOWN_WORDS: usize = 100;

/// Object with an unknown key, or field with an unknown value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnknownOwner {
    /// Key of an event, by its row in the event queue.
    Event,
    /// The `action` of an event.
    Action,
    /// Key of a segment, by its row.
    Segment,
    /// Key of a block, by its row.
    Block,
    /// The `state` of a block.
    State,
    /// The `stage` of an annotation, by its index in the list.
    Stage,
    Frame,
    /// Key of an entry in a block's history.
    History,
    Snapshot,
}

pub(super) struct Unknown {
    pub(super) owner: UnknownOwner,
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

/// Known keys that occurred, and unknown words. Stored separately from the tables, so that both can be borrowed
/// mutably.
#[derive(Default)]
pub(super) struct SeenWords {
    /// True for each [`Key`] that occurred.
    keys: Keys,
    pub(super) unknown: Vec<Unknown>,
    /// Rows of events that a warning refers to. After the event has been added to a list, each row has the trace and
    /// the index in the trace.
    pub(super) events: HashMap<u32, Option<(u32, u64)>, foldhash::fast::RandomState>,
}

impl SeenWords {
    pub(super) fn mark_key(&mut self, key: Key) {
        self.keys.0[key as usize] = true;
    }

    /// Returns whether any dict with this key was read.
    pub(super) fn has(&self, key: Key) -> bool {
        self.keys.0[key as usize]
    }

    pub(super) fn add_unknown(&mut self, owner: UnknownOwner, word: Value, row: u32) {
        if let Some(known) = self.unknown.iter_mut().find(|known| known.owner == owner && known.word == word) {
            known.count += 1;
        } else if self.unknown.len() < MAX_UNKNOWN_WORDS {
            self.unknown.push(Unknown { owner, word, count: 1, row });
            if matches!(owner, UnknownOwner::Event | UnknownOwner::Action) {
                self.events.insert(row, None);
            }
        }
    }

    /// Records that the event in `row` of the queue is event `index` of `trace`.
    #[inline]
    pub(super) fn place(&mut self, row: u32, trace: u32, index: u64) {
        if !self.events.is_empty()
            && let Some(place) = self.events.get_mut(&row)
        {
            *place = Some((trace, index));
        }
    }
}
