//! Delta decoding of entries: only the fields that differ from the previous entry are parsed.

use super::event::{Action, Event};
use super::schema::Key;
use super::store::Store;
use super::strings::StringId;
use super::unknown::SeenWords;
use super::value::{Kind, Value};

/// Previous entry: keys, values and the resulting event.
#[derive(Default)]
pub(super) struct PreviousEntry {
    keys: Vec<Value>,
    values: Vec<Value>,
    fields: Vec<Key>,
    event: Option<Event>,
}

impl PreviousEntry {
    /// Sets the previous entry. `event` is `None` if the entry is not an event.
    pub(super) fn set(&mut self, keys: &[Value], values: &[Value], event: Option<Event>) {
        self.event = event.filter(|event| event.action != Action::Unknown && self.set_keys(keys));
        if self.event.is_some() {
            self.values.clear();
            self.values.extend_from_slice(values);
        }
    }

    /// Sets the keys. Returns whether the value of each key can be replaced without affecting other fields: all keys
    /// belong to an event and occur once, and none is an alias (`device_free`) or makes others unnecessary.
    fn set_keys(&mut self, keys: &[Value]) -> bool {
        if self.keys == keys {
            return true;
        }
        self.keys.clear();
        self.fields.clear();
        for &key in keys {
            let name = key.as_kind(Kind::String).and_then(|id| Key::from_id(StringId(id)));
            match name.filter(|&name| is_event_key(name) && !self.fields.contains(&name)) {
                Some(name) => self.fields.push(name),
                None => return false,
            }
        }
        // Only suitable keys are stored. Those of an `oom` without an address are not enough for an `alloc`.
        let is_whole = [Key::Action, Key::Addr, Key::Size].iter().all(|key| self.fields.contains(key));
        if is_whole {
            self.keys.extend_from_slice(keys);
        }
        is_whole
    }

    /// Returns the event with these keys and values if it differs from the previous event only in fields that vary
    /// often. Otherwise returns `None`, and the caller parses the whole entry.
    #[inline]
    pub(super) fn next(
        &mut self,
        keys: &[Value],
        values: &[Value],
        store: &mut Store,
        seen: &mut SeenWords,
    ) -> Option<Event> {
        // The address of an OOM is not read as it is: it may stand for unknown free memory.
        let mut event = self.event.filter(|event| event.action != Action::Oom)?;
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
        if event.action == Action::Oom {
            return None;
        }
        if let Some(word) = word {
            seen.mark_key(word);
        }
        // The lengths match, because the keys are the same.
        for (before, &value) in self.values.iter_mut().zip(values) {
            *before = value;
        }
        self.event = Some(event);
        Some(event)
    }
}

fn is_event_key(key: Key) -> bool {
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
