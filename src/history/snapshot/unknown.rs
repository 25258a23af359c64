//! Keys and words that are not of the schema: counted while the file is read, and named with their first place at the end.

use super::reader::Reader;
use super::schema::{KEYS, Key};
use super::top::{HOST, Top};
use super::value::Value;
use super::warning::{WarningKind, Warnings};
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
    /// A key of a frame.
    Frame,
    /// A key of an entry of a block's history.
    History,
    /// A key at the top.
    Snapshot,
}

struct Unknown {
    of: Of,
    word: Value,
    count: u64,
    /// The row of the first.
    row: u32,
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
    unknown: Vec<Unknown>,
    /// The rows of events that are named in a warning; trace and index once a list has taken them.
    events: HashMap<u32, Option<(u32, u64)>, foldhash::fast::RandomState>,
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

impl<S> Reader<S> {
    pub(super) fn warnings(&self, top: &Top) -> Warnings {
        let mut warnings = Warnings::default();
        for unknown in &self.seen.unknown {
            let word = self.store.describe(unknown.word);
            let dotted = format!(".{word}");
            let (kind, place) = match unknown.of {
                Of::Action => (WarningKind::UnknownAction(word), self.event_place(unknown.row, top) + ".action"),
                Of::Event => (WarningKind::UnknownKey("an event", word), self.event_place(unknown.row, top) + &dotted),
                Of::State => (WarningKind::UnknownState(word), self.block_place(unknown.row, top) + ".state"),
                Of::Block => (WarningKind::UnknownKey("a block", word), self.block_place(unknown.row, top) + &dotted),
                Of::Segment => {
                    (WarningKind::UnknownKey("a segment", word), self.segment_place(unknown.row, top) + &dotted)
                }
                // Many stacks share a frame, so it has no place of its own.
                Of::Frame => (WarningKind::UnknownKey("a frame", word), format!("frame {}", unknown.row) + &dotted),
                Of::History => (WarningKind::UnknownKey("a block's history", word), "history".to_owned() + &dotted),
                Of::Snapshot => (WarningKind::UnknownKey("the snapshot", word.clone()), word),
            };
            warnings.add(kind, unknown.count, || place);
        }
        warnings
    }

    fn event_place(&self, row: u32, top: &Top) -> String {
        let place = self.seen.events.get(&row).copied().flatten();
        let device = place.and_then(|(trace, _)| top.traces.iter().find(|(_, number)| *number == trace));
        match (device, place) {
            (Some((HOST, _)), Some((_, index))) => format!("host_traces[{index}]"),
            (Some((device, _)), Some((_, index))) => format!("device_traces[{device}][{index}]"),
            _ => "a dict that is in no trace".to_owned(),
        }
    }

    fn segment_place(&self, row: u32, top: &Top) -> String {
        let place = top.segment_places.iter().find(|place| place.row == row);
        place.map_or_else(|| "a dict that is in no list of segments".to_owned(), |place| place.text())
    }

    fn block_place(&self, row: u32, top: &Top) -> String {
        let holder = top.segment_places.iter().zip(&top.segments).find(|(_, segment)| segment.blocks.contains(&row));
        match holder {
            Some((place, segment)) => format!("{}.blocks[{}]", place.text(), row - segment.blocks.start),
            None => "a dict that is in no segment".to_owned(),
        }
    }
}
