//! Tables of decoded values, and access to the values.

mod fields;
mod texts;

pub(super) use texts::clipped;

use super::error::ReadError;
use super::frames::Frames;
use super::labels::LabelTable;
use super::segments::{AnnotationMark, Block, Segment};
use super::stacks::{StackId, Stacks};
use super::strings::Strings;
use super::value::{Kind, Value};
use base::column::Column;
use base::heap::HeapBytes;
use hashbrown::HashMap;

/// Block whose address may not be computed yet (before PyTorch 2.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ReadBlock {
    pub(super) block: Block,
    pub(super) has_address: bool,
}

/// Entry of a block's history, in old files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HistoryEntry {
    pub(super) real_size: u64,
    pub(super) stack: StackId,
}

/// Range of a container's values in [`Store::items`].
#[derive(Clone, Copy, Default)]
struct Container {
    start: u64,
    length: u32,
    /// Number of leading values that have the same kind. The first value of another kind can be found without a search.
    same_kind: u32,
}

/// Maximum number of distinct pairs in the cache. Pairs are ids of memory pools, and a process has fewer pools.
const MAX_CACHED_PAIRS: usize = 4096;

/// Tables of a file while it is being read.
#[derive(Default)]
pub(super) struct Store {
    pub(super) strings: Strings,
    pub(super) frames: Frames,
    pub(super) stacks: Stacks,
    pub(super) labels: LabelTable,
    /// Tracebacks of forward ops, as stacks of string ids.
    pub(super) lines: Stacks,
    /// Stack of each list of traceback lines, by the index of the list in `containers`.
    pub(super) line_lists: HashMap<u32, StackId, foldhash::fast::RandomState>,
    pub(super) blocks: Vec<ReadBlock>,
    /// One past the last row of `blocks` that belongs to a segment so far.
    pub(super) blocks_taken: u32,
    pub(super) segments: Vec<Segment>,
    pub(super) marks: Vec<AnnotationMark>,
    pub(super) history: Vec<HistoryEntry>,
    wide: Vec<i128>,
    wide_ids: HashMap<i128, u32, foldhash::fast::RandomState>,
    floats: Vec<f64>,
    /// Concatenated values of all lists, tuples and dicts that have no table.
    items: Column<Value>,
    /// Range of each container in `items`.
    containers: Column<Container>,
    /// Cache of pairs by their elements. It saves memory, because every event has a memory pool and there are few
    /// pools.
    pairs: HashMap<[Value; 2], Value, foldhash::fast::RandomState>,
}

/// Index shared by all empty containers. It is never a valid row, because 2^32 rows do not fit into memory.
const EMPTY_CONTAINER: u32 = u32::MAX;

impl Store {
    /// Stores an integer: in the handle itself if it fits, otherwise in a table.
    pub(super) fn integer(&mut self, value: i128) -> Result<Value, ReadError> {
        if let Some(value) = i64::try_from(value).ok().and_then(Value::int) {
            return Ok(value);
        }
        let next = u32::try_from(self.wide.len()).map_err(|_| ReadError::TooMany("integers"))?;
        let id = *self.wide_ids.entry(value).or_insert(next);
        if id == next {
            self.wide.push(value);
        }
        Ok(Value::new(Kind::WideInt, id))
    }

    pub(super) fn float(&mut self, value: f64) -> Result<Value, ReadError> {
        let id = u32::try_from(self.floats.len()).map_err(|_| ReadError::TooMany("floats"))?;
        self.floats.push(value);
        Ok(Value::new(Kind::Float, id))
    }

    /// Stores a container that has no table. Empty containers share [`EMPTY_CONTAINER`], because JSON has `[]` for
    /// every event without a stack.
    pub(super) fn container(&mut self, kind: Kind, values: &[Value]) -> Result<Value, ReadError> {
        if values.is_empty() {
            return Ok(Value::new(kind, EMPTY_CONTAINER));
        }
        let id = u32::try_from(self.containers.len()).map_err(|_| ReadError::TooMany("containers"))?;
        let length = u32::try_from(values.len()).map_err(|_| ReadError::TooMany("values in one container"))?;
        let first = values.first().map(|first| first.kind());
        let same_kind = values.iter().take_while(|value| Some(value.kind()) == first).count() as u32;
        self.containers.push(Container { start: self.items.len() as u64, length, same_kind });
        values.iter().for_each(|&value| self.items.push(value));
        Ok(Value::new(kind, id))
    }

    /// Stores a tuple, or a list that may represent a tuple (JSON has no tuples). Pairs with equal elements share an
    /// index.
    pub(super) fn tuple(&mut self, kind: Kind, values: &[Value]) -> Result<Value, ReadError> {
        let Ok(pair) = <[Value; 2]>::try_from(values) else { return self.container(kind, values) };
        if let Some(&known) = self.pairs.get(&pair) {
            return Ok(Value::new(kind, known.index()));
        }
        let tuple = self.container(kind, values)?;
        if self.pairs.len() < MAX_CACHED_PAIRS {
            self.pairs.insert(pair, tuple);
        }
        Ok(tuple)
    }

    /// Iterates over the values of a list or tuple. For a dict, iterates over key, value, key, value and so on.
    pub(super) fn values(&self, container: Value) -> impl Iterator<Item = Value> + '_ {
        let Container { start, length, .. } = self.container_range(container);
        self.items.range(start as usize..start as usize + length as usize)
    }

    fn container_range(&self, container: Value) -> Container {
        match container.kind() {
            Kind::List | Kind::Tuple | Kind::Dict => {
                self.containers.get(container.index() as usize).unwrap_or_default()
            }
            _ => Container::default(),
        }
    }

    /// Returns the keys and values of a dict as one list: key, value, key, value and so on.
    pub(super) fn pairs(&self, dict: Value) -> Vec<Value> {
        self.values(dict).collect()
    }

    pub(super) fn as_integer(&self, value: Value) -> Option<i128> {
        match value.kind() {
            Kind::Int => Some(i128::from(value.small_int())),
            Kind::WideInt => self.wide.get(value.index() as usize).copied(),
            // JSON written from floats.
            Kind::Float => {
                let float = self.as_float(value)?;
                (float.fract() == 0.0 && float.abs() < 1e30).then_some(float as i128)
            }
            _ => None,
        }
    }

    pub(super) fn as_float(&self, value: Value) -> Option<f64> {
        self.floats.get(value.as_kind(Kind::Float)? as usize).copied()
    }

    /// Returns the index and handle of the first value in a list that is not of `kind`.
    pub(super) fn first_not_of(&self, list: Value, kind: Kind) -> Option<(usize, Value)> {
        let place = self.container_range(list);
        let at = |index: u32| Some((index as usize, self.items.get(place.start as usize + index as usize)?));
        match (place.length > 0).then(|| at(0)).flatten() {
            Some((_, first)) if first.kind() == kind => {
                (place.same_kind < place.length).then(|| at(place.same_kind)).flatten()
            }
            first => first,
        }
    }

    /// Returns the heap size of each table, in bytes.
    pub(super) fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        vec![
            ("strings", self.strings.heap_bytes()),
            ("frames", self.frames.heap_bytes()),
            ("stacks", self.stacks.heap_bytes()),
            ("labels", self.labels.heap_bytes() + self.lines.heap_bytes()),
            ("segments and blocks", self.blocks.heap_bytes() + self.segments.heap_bytes()),
            (
                "other values",
                self.items.heap_bytes()
                    + self.containers.heap_bytes()
                    + self.line_lists.heap_bytes()
                    + self.wide.heap_bytes()
                    + self.wide_ids.heap_bytes()
                    + self.floats.heap_bytes()
                    + self.marks.heap_bytes()
                    + self.history.heap_bytes(),
            ),
        ]
    }
}
