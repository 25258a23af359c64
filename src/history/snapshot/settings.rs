//! Allocator settings at the top level, and the flags that newer versions put among them.

use super::event::EventSink;
use super::reader::Reader;
use super::schema::Key;
use super::top::MAX_SETTINGS;
use super::top_level::TopLevel;
use super::value::{Kind, Value};

impl<S: EventSink> Reader<S> {
    /// Reads the allocator settings of a simulation, and the name of the simulated recording.
    pub(super) fn parse_simulation(&self, value: Value, top: &mut TopLevel) {
        let pairs = if value.kind() == Kind::Dict { self.store.pairs(value) } else { Vec::new() };
        let mut simulated = [String::new(), String::new()];
        for pair in pairs.chunks_exact(2) {
            let index = ["settings", "source"].iter().position(|known| *known == self.store.describe(pair[0]));
            index
                .and_then(|index| simulated.get_mut(index))
                .into_iter()
                .for_each(|text| *text = self.store.describe(pair[1]));
        }
        top.simulated = Some(simulated);
    }

    /// Flattens nested settings to dotted keys. Dicts that are nested deeper than in PyTorch's settings become text.
    /// The number of settings is limited, because shared dicts can expand without limit.
    pub(super) fn settings(&self, prefix: &str, value: Value, depth: u32, out: &mut Vec<(String, String)>) {
        if value.kind() != Kind::Dict || depth > 3 {
            out.push((prefix.to_owned(), self.store.describe(value)));
            return;
        }
        for pair in self.store.pairs(value).chunks_exact(2) {
            if out.len() >= MAX_SETTINGS {
                if out.len() == MAX_SETTINGS {
                    out.push(("…".to_owned(), "too many settings: ignored".to_owned()));
                }
                return;
            }
            let key = self.store.describe(pair[0]);
            let joint = if prefix.is_empty() { "" } else { "." };
            self.settings(&format!("{prefix}{joint}{key}"), pair[1], depth + 1, out);
        }
    }
}

impl TopLevel {
    /// Takes the flag that the ring buffer has overwritten events, and its size, out of the settings.
    pub(super) fn take_overflow(&mut self) {
        let [flag, size] = [Key::TraceAllocOverflowed, Key::TraceAllocMaxEntries].map(Key::text);
        let mut entries = String::new();
        self.settings.retain(|(key, value)| {
            let is_flag = key.starts_with(flag);
            self.has_overflow_flag |= is_flag;
            // A bool or a count, in some files one for each device.
            let is_set = value.contains("True")
                || value.contains("true")
                || value.contains(|digit| ('1'..='9').contains(&digit));
            if is_flag && is_set && self.overflow.is_none() {
                self.overflow = Some(String::new());
            }
            if key == size {
                entries = format!("max_entries={value}");
                self.max_entries = value.parse().ok();
            }
            !is_flag && key != size
        });
        if let Some(place) = self.overflow.as_mut().filter(|place| place.is_empty()) {
            *place = entries;
        }
    }
}
