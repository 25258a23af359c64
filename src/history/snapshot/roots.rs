//! Finds the snapshots in the top-level value of a file: the value itself, one under a key, or several in a list.

use super::error::{ContentError, Problem};
use super::event::EventSink;
use super::reader::Reader;
use super::schema::Key;
use super::top::schema_key;
use super::value::{Kind, Value};

/// Maximum depth at which snapshots are searched for.
const MAX_DEPTH: u32 = 4;
/// Maximum number of values that are examined, because shared lists can expand without limit, and maximum number of
/// snapshots found. Files have a snapshot for each rank at most.
const MAX_VISITS: usize = 1 << 20;
const MAX_FOUND: usize = 4096;
/// Number of items at the start of a list. At least one must be a container.
const MAX_FIRST: usize = 64;
/// Maximum number of keys in an error message.
const MAX_KEYS: usize = 8;
/// Approximate maximum length of their text, in bytes.
const MAX_KEYS_TEXT: usize = 200;

impl<S: EventSink> Reader<S> {
    /// Returns the names of the snapshots in the top-level value, if there are several: their places, such as
    /// `ranks[3]`.
    pub fn members(&self, root: Value) -> Vec<String> {
        let mut found = self.find_snapshots(root);
        if found.len() < 2 {
            found.clear();
        }
        found.into_iter().map(|(path, _)| path).collect()
    }

    /// Returns the place and value of each snapshot: dicts with `segments` or `device_traces`, and lists of segments or
    /// of events.
    pub(super) fn find_snapshots(&self, root: Value) -> Vec<(String, Value)> {
        let is_empty_list = matches!(root.kind(), Kind::List | Kind::Tuple) && self.store.values(root).next().is_none();
        if is_empty_list || self.is_snapshot(root) || self.is_list_of_traces(root) || root.kind() == Kind::Trace {
            return vec![(String::new(), root)];
        }
        let (mut found, mut visits) = (Vec::new(), 0);
        self.search(root, "", 0, &mut visits, &mut found);
        found
    }

    fn search(&self, value: Value, path: &str, depth: u32, visits: &mut usize, found: &mut Vec<(String, Value)>) {
        let is_dict = value.kind() == Kind::Dict;
        let is_container = |value: Value| matches!(value.kind(), Kind::Dict | Kind::List | Kind::Tuple);
        // Lists of numbers may be long. Ranks without a snapshot may be None.
        if depth > MAX_DEPTH || !(is_dict || self.store.values(value).take(MAX_FIRST).any(is_container)) {
            return;
        }
        let mut key = None;
        let mut index = 0;
        for item in self.store.values(value) {
            *visits += 1;
            if *visits > MAX_VISITS || found.len() >= MAX_FOUND {
                return;
            }
            if is_dict && key.is_none() {
                key = Some(item);
                continue;
            }
            let place = |key: Option<Value>| match key {
                None => format!("{path}[{index}]"),
                Some(key) => {
                    let joint = if path.is_empty() { "" } else { "." };
                    format!("{path}{joint}{}", self.store.describe(key))
                }
            };
            if self.is_snapshot(item) {
                found.push((place(key), item));
            } else if is_container(item) {
                self.search(item, &place(key), depth + 1, visits, found);
            }
            (key, index) = (None, index + 1);
        }
    }

    fn is_snapshot(&self, value: Value) -> bool {
        match value.kind() {
            Kind::Dict => self
                .store
                .values(value)
                .step_by(2)
                .any(|key| matches!(schema_key(key), Some(Key::Segments | Key::DeviceTraces))),
            Kind::List | Kind::Tuple => self.store.values(value).next().is_some_and(|first| first.is(Kind::Segment)),
            _ => false,
        }
    }

    pub(super) fn is_list_of_traces(&self, value: Value) -> bool {
        matches!(value.kind(), Kind::List | Kind::Tuple) && self.store.values(value).any(|item| item.is(Kind::Trace))
    }

    /// Returns the error for a file without a snapshot.
    pub(super) fn not_a_snapshot(&mut self, root: Value) -> ContentError {
        let mut keys = String::new();
        let values = if root.kind() == Kind::Dict { self.store.pairs(root) } else { Vec::new() };
        for (index, pair) in values.chunks_exact(2).enumerate() {
            if index >= MAX_KEYS || keys.len() > MAX_KEYS_TEXT {
                keys += ", …";
                break;
            }
            let text: String = self.store.describe(pair[0]).chars().take(60).collect();
            keys += if index == 0 { "" } else { ", " };
            keys += &format!("'{text}'");
        }
        let first = || match root.kind() {
            Kind::List | Kind::Tuple => self.store.values(root).next(),
            _ => None,
        };
        match first() {
            Some(first) => {
                let error = ContentError { path: "[0]".to_owned(), problem: Problem::Type("a segment", first.kind()) };
                self.incomplete_segment(first).map_or(error, |error| error.within("[0]"))
            }
            None => ContentError { path: String::new(), problem: Problem::NotASnapshot(keys) },
        }
    }
}
