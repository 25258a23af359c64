//! An entry is mostly what the entry before it was: only what differs is read.

use super::event::{Action, Event};
use super::schema::Key;
use super::store::Store;
use super::strings::StringId;
use super::unknown::Seen;
use super::value::{Kind, Value};

/// The entry before: its keys and values, and the event it is.
#[derive(Default)]
pub(super) struct EntryBefore {
    keys: Vec<Value>,
    values: Vec<Value>,
    fields: Vec<Key>,
    event: Option<Event>,
}

impl EntryBefore {
    /// The entry with these keys and values is an event, or none that the next could begin with.
    pub(super) fn set(&mut self, keys: &[Value], values: &[Value], event: Option<Event>) {
        self.event = event.filter(|event| event.action != Action::Unknown && self.know(keys));
        if self.event.is_some() {
            self.values.clear();
            self.values.extend_from_slice(values);
        }
    }

    /// Whether the keys are such that a value can be exchanged on its own: all of an event, each once, and none that stands for
    /// the same as another (`device_free`) or makes others needless.
    fn know(&mut self, keys: &[Value]) -> bool {
        if self.keys == keys {
            return true;
        }
        self.keys.clear();
        self.fields.clear();
        for &key in keys {
            let name = key.as_kind(Kind::String).and_then(|id| Key::from_id(StringId(id)));
            match name.filter(|&name| is_of_events(name) && !self.fields.contains(&name)) {
                Some(name) => self.fields.push(name),
                None => return false,
            }
        }
        // Only keys that pass are kept: those of an `oom` without an address make no alloc.
        let is_whole = [Key::Action, Key::Addr, Key::Size].iter().all(|key| self.fields.contains(key));
        if is_whole {
            self.keys.extend_from_slice(keys);
        }
        is_whole
    }

    /// The event with these keys and values, if it differs from the one before in what most events differ in.
    #[inline]
    pub(super) fn next(
        &mut self,
        keys: &[Value],
        values: &[Value],
        store: &mut Store,
        seen: &mut Seen,
    ) -> Option<Event> {
        let mut event = self.event?;
        if self.keys != keys {
            return None;
        }
        let mut word = None;
        for ((&value, before), &field) in values.iter().zip(&self.values).zip(&self.fields) {
            if value == *before {
                continue;
            }
            match field {
                Key::Action => {
                    word = Key::from_id(store.string_at(field, value).ok()?);
                    event.action = word.and_then(Key::action)?;
                }
                Key::Addr => event.address = store.address_at(field, value).ok()?,
                Key::Size => event.size = store.bytes_at(field, value).ok()?,
                Key::TimeUs => event.time_us = store.signed_at(field, value).ok()?,
                Key::Frames => event.stack = store.stack_at(field, value).ok()?,
                _ => return None,
            }
        }
        if let Some(word) = word {
            seen.key(word);
        }
        // As many as there are keys, and those are the same.
        for (before, &value) in self.values.iter_mut().zip(values) {
            *before = value;
        }
        self.event = Some(event);
        Some(event)
    }
}

fn is_of_events(key: Key) -> bool {
    matches!(
        key,
        Key::Action
            | Key::Addr
            | Key::Size
            | Key::Stream
            | Key::TimeUs
            | Key::Frames
            | Key::CompileContext
            | Key::UserMetadata
            | Key::InternalMetadata
            | Key::Category
            | Key::PoolId
            | Key::ForwardFrames
    )
}
