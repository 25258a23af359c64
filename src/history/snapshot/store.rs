//! Tables of decoded values, and typed access to the values.

use super::error::{ContentError, Problem, ReadError};
use super::frames::Frames;
use super::labels::LabelTable;
use super::schema::Key;
use super::segments::{AnnotationMark, Block, Segment};
use super::stacks::{StackId, Stacks};
use super::strings::{StringId, Strings};
use super::value::{Kind, Value};
use crate::recorder::{Token, ValueTree};
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

/// Maximum nesting depth of recorder data.
const MAX_DEPTH: u32 = 8;

/// Approximate maximum length of a value's text for display, in bytes.
const MAX_TEXT: usize = 2_000;

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

    /// Returns the value as an integer, if it is one.
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

    pub(super) fn integer_at(&self, key: Key, value: Value) -> Result<i128, ContentError> {
        self.as_integer(value).ok_or_else(|| ContentError::at_key(key, Problem::Type("an integer", value.kind())))
    }

    /// Returns a size in bytes. It must be from 0 to 2^63 − 1, so that sums of sizes cannot overflow 128 bits.
    #[inline]
    pub(super) fn bytes_at(&self, key: Key, value: Value) -> Result<u64, ContentError> {
        if value.kind() == Kind::Int && value.small_int() >= 0 {
            return Ok(value.small_int() as u64);
        }
        let integer = self.integer_at(key, value)?;
        i64::try_from(integer)
            .ok()
            .and_then(|bytes| u64::try_from(bytes).ok())
            .ok_or_else(|| ContentError::at_key(key, Problem::Range("a number of bytes between 0 and 2^63")))
    }

    /// Returns a 64-bit address or handle. PyTorch's C++ pickler writes values of 2^63 and more as negative numbers.
    #[inline]
    pub(super) fn address_at(&self, key: Key, value: Value) -> Result<u64, ContentError> {
        if value.kind() == Kind::Int {
            return Ok(value.small_int() as u64);
        }
        let integer = self.integer_at(key, value)?;
        u64::try_from(integer)
            .ok()
            .or_else(|| i64::try_from(integer).ok().map(|negative| negative as u64))
            .ok_or_else(|| ContentError::at_key(key, Problem::Range("a 64-bit address")))
    }

    #[inline]
    pub(super) fn signed_at(&self, key: Key, value: Value) -> Result<i64, ContentError> {
        if value.kind() == Kind::Int {
            return Ok(value.small_int());
        }
        let integer = self.integer_at(key, value)?;
        i64::try_from(integer)
            .ok()
            .filter(|&value| value != i64::MIN)
            .ok_or_else(|| ContentError::at_key(key, Problem::Range("a signed 64-bit integer")))
    }

    pub(super) fn string_at(&self, key: Key, value: Value) -> Result<StringId, ContentError> {
        value
            .as_kind(Kind::String)
            .map(StringId)
            .ok_or_else(|| ContentError::at_key(key, Problem::Type("a string", value.kind())))
    }

    pub(super) fn bool_at(&self, key: Key, value: Value) -> Result<bool, ContentError> {
        match value {
            Value::TRUE => Ok(true),
            Value::FALSE => Ok(false),
            _ => Err(ContentError::at_key(key, Problem::Type("a bool", value.kind()))),
        }
    }

    pub(super) fn pool_at(&self, key: Key, value: Value) -> Result<(u64, u64), ContentError> {
        let mut values = self.values(value);
        match (values.next(), values.next(), values.next()) {
            (Some(first), Some(second), None) => Ok((self.address_at(key, first)?, self.address_at(key, second)?)),
            _ => Err(ContentError::at_key(key, Problem::Type("a pair of integers", value.kind()))),
        }
    }

    /// Returns the stack for a list of frames, which may be empty.
    pub(super) fn stack_at(&mut self, key: Key, value: Value) -> Result<StackId, ContentError> {
        match value.kind() {
            Kind::Stack => Ok(StackId(value.index())),
            Kind::List | Kind::Tuple => match self.first_not_of(value, Kind::Frame) {
                None => Ok(StackId::EMPTY),
                Some((index, other)) => {
                    let problem = match other.kind() {
                        Kind::Dict => {
                            let pairs = self.pairs(other);
                            self.parse_frame(&pairs, &mut Default::default())
                                .err()
                                .unwrap_or_else(|| ContentError { path: String::new(), problem: Problem::Missing })
                        }
                        kind => ContentError { path: String::new(), problem: Problem::Type("a frame", kind) },
                    };
                    Err(problem.within(&format!("{}[{index}]", key.text())))
                }
            },
            kind => Err(ContentError::at_key(key, Problem::Type("a list of frames", kind))),
        }
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

    /// Formats a value for display, similar to JSON. The text is cut after about 2,000 bytes and below six levels of
    /// nesting.
    pub(super) fn describe(&self, value: Value) -> String {
        let mut text = String::new();
        self.write_text(value, 0, &mut text);
        text
    }

    /// Formats a dict as JSON. Values other than integers become strings. The text is cut as in [`Store::describe`].
    pub(super) fn json(&self, dict: Value) -> String {
        let mut text = String::from("{");
        for pair in self.pairs(dict).chunks_exact(2) {
            if text.len() > MAX_TEXT {
                break;
            }
            if text.len() > 1 {
                text.push_str(", ");
            }
            quote(&mut text, &self.describe(pair[0]));
            text.push_str(": ");
            match pair[1].kind() {
                Kind::Int | Kind::WideInt => text.push_str(&self.describe(pair[1])),
                _ => quote(&mut text, &self.describe(pair[1])),
            }
        }
        text.push('}');
        text
    }

    fn write_text(&self, value: Value, depth: u32, text: &mut String) {
        if depth > 6 || text.len() > MAX_TEXT {
            text.push('…');
            return;
        }
        match value.kind() {
            Kind::String => text.push_str(&clipped(self.strings.bytes(StringId(value.index())))),
            Kind::Int | Kind::WideInt => text.push_str(&self.as_integer(value).unwrap_or_default().to_string()),
            Kind::Float => text.push_str(&self.floats.get(value.index() as usize).copied().unwrap_or(0.0).to_string()),
            Kind::Constant => text.push_str(match value {
                Value::TRUE => "True",
                Value::FALSE => "False",
                _ => "None",
            }),
            kind @ (Kind::List | Kind::Tuple | Kind::Dict) => {
                text.push_str(if kind == Kind::Dict { "{" } else { "[" });
                for (index, item) in self.values(value).enumerate() {
                    if text.len() > MAX_TEXT {
                        break;
                    }
                    match (index, kind) {
                        (0, _) => {}
                        (_, Kind::Dict) if index % 2 == 1 => text.push_str(": "),
                        _ => text.push_str(", "),
                    }
                    self.write_text(item, depth + 1, text);
                }
                text.push_str(if kind == Kind::Dict { "}" } else { "]" });
            }
            kind => text.push_str(kind.noun()),
        }
    }

    /// Appends a value to `tree`. Large or deeply nested values are cut, because shared containers can expand without
    /// limit.
    pub(super) fn encode(&self, value: Value, depth: u32, tree: &mut ValueTree) {
        let is_dict = value.kind() == Kind::Dict;
        tree.put(match value.kind() {
            Kind::Constant if value == Value::NONE => Token::None,
            Kind::Constant => Token::Bool(value == Value::TRUE),
            Kind::Int => Token::Int(value.small_int()),
            Kind::WideInt => {
                self.as_integer(value).and_then(|integer| i64::try_from(integer).ok()).map_or(Token::None, Token::Int)
            }
            Kind::Float => Token::Float(self.floats.get(value.index() as usize).copied().unwrap_or(0.0)),
            Kind::String => Token::Text(self.strings.bytes(StringId(value.index()))),
            Kind::List | Kind::Tuple if depth < MAX_DEPTH => Token::List,
            Kind::Dict if depth < MAX_DEPTH => Token::Dict,
            _ => return tree.put(Token::None),
        });
        if !matches!(value.kind(), Kind::List | Kind::Tuple | Kind::Dict) {
            return;
        }
        let mut is_key = is_dict;
        let mut is_skipped = false;
        for item in self.values(value) {
            // A key that is not a string is skipped together with its value.
            is_skipped = if is_key { item.kind() != Kind::String || !tree.has_room() } else { is_skipped };
            let is_wanted = if is_dict { !is_skipped } else { tree.has_room() };
            if is_wanted {
                self.encode(item, depth + 1, tree);
            } else if !is_dict {
                break;
            }
            is_key = is_dict && !is_key;
        }
        tree.put(Token::End);
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

/// Appends a string in JSON quotes. `text` must not contain control characters.
fn quote(json: &mut String, text: &str) {
    json.push('"');
    for letter in text.chars() {
        if matches!(letter, '"' | '\\') {
            json.push('\\');
        }
        json.push(letter);
    }
    json.push('"');
}

/// Returns the start of a string for display. Control characters are escaped, because a terminal could interpret them.
pub(super) fn clipped(bytes: &[u8]) -> String {
    let (beginning, more) = bytes.get(..MAX_TEXT).map_or((bytes, ""), |beginning| (beginning, "…"));
    let mut text = String::with_capacity(beginning.len());
    for letter in String::from_utf8_lossy(beginning).chars() {
        match letter.is_control() {
            true => text.extend(letter.escape_default()),
            false => text.push(letter),
        }
    }
    text + more
}
