//! Link keys, and the conversion of their values from and to text.

use crate::state::outbox::Outbox;
use crate::state::shared::Shared;
use protocol::MemoryFilter;
use std::str::FromStr;

/// Maximum length of a value that is written, in bytes. A fragment stays within its own limit even if all values have
/// this length.
pub(crate) const MAX_VALUE: usize = 2048;

/// A link key of a feature with the state `S`.
pub(crate) type Key<S> = LinkKey<fn(&S, &Shared) -> String, fn(&mut S, &Shared, &mut ValueReader<'_>)>;
/// A link key of the shared state.
pub(crate) type PageKey = LinkKey<fn(&Shared) -> String, fn(&mut Shared, &mut ValueReader<'_>)>;

/// A link key, with a getter and a setter.
pub(crate) struct LinkKey<G, S> {
    /// Name of the key. Published links contain it, so it must not change.
    pub(crate) name: &'static str,
    /// True if a change adds an entry to the browser's history.
    pub(crate) adds_history: bool,
    /// Returns the current value. Empty for the default.
    pub(crate) get: G,
    /// Applies a value. The value is empty if the link does not contain the key.
    pub(crate) set: S,
}

/// Returns a key whose changes add an entry to the browser's history.
pub(crate) const fn history_key<G, S>(name: &'static str, get: G, set: S) -> LinkKey<G, S> {
    LinkKey { name, adds_history: true, get, set }
}

/// Returns a key whose changes add no history entry.
pub(crate) const fn view_key<G, S>(name: &'static str, get: G, set: S) -> LinkKey<G, S> {
    LinkKey { name, adds_history: false, get, set }
}

/// Maximum number of entries in a list, when reading and when writing.
pub(crate) const MAX_LIST: usize = 200;

/// Reader of a link value. Ignores invalid parts and clears `is_understood` if there are any.
pub(crate) struct ValueReader<'a> {
    pub(crate) out: &'a mut Outbox,
    /// The value. Empty if the link does not contain the key.
    pub(crate) text: &'a str,
    /// False if a part of the value was invalid.
    pub(crate) is_understood: bool,
}

impl ValueReader<'_> {
    /// Returns `value` unchanged. Clears `is_understood` if it is `None` although the text is not empty.
    pub(crate) fn check<T>(&mut self, value: Option<T>) -> Option<T> {
        self.is_understood &= value.is_some() || self.text.is_empty();
        value
    }

    /// Parses the value as a number.
    pub(crate) fn number<T: FromStr>(&mut self) -> Option<T> {
        let number = self.text.parse().ok();
        self.check(number)
    }

    /// Parses the value as a hexadecimal number.
    pub(crate) fn hex_number(&mut self) -> Option<u64> {
        let number = u64::from_str_radix(self.text, 16).ok();
        self.check(number)
    }

    /// Returns the index of the value in `words`.
    pub(crate) fn index(&mut self, words: &[&str]) -> Option<usize> {
        let index = words.iter().position(|word| *word == self.text);
        self.check(index)
    }

    /// Returns true if the value is the second of two words.
    pub(crate) fn is_second_word(&mut self, words: [&str; 2]) -> bool {
        self.index(&words) == Some(1)
    }

    /// Parses a range `a..b` with a ≤ b.
    pub(crate) fn range<T: FromStr + PartialOrd>(&mut self) -> Option<[T; 2]> {
        let numbers = numbers(self.text);
        self.check(numbers)
    }

    /// Calls `take` with each entry of a comma-separated list. `take` returns `None` for an entry that it does not
    /// understand.
    pub(crate) fn for_each_entry(&mut self, take: &mut dyn FnMut(&str) -> Option<()>) {
        if self.text.is_empty() {
            return;
        }
        let mut entries = self.text.split(',');
        for entry in entries.by_ref().take(MAX_LIST) {
            self.is_understood &= take(entry).is_some();
        }
        self.is_understood &= entries.next().is_none();
    }
}

/// Returns `word` if the condition is true, otherwise an empty text.
pub(crate) fn word_if(condition: bool, word: &str) -> String {
    if condition { word.to_owned() } else { String::new() }
}

/// Formats an optional number. Empty if it is `None`.
pub(crate) fn format_optional<T: ToString>(number: Option<T>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

pub(crate) fn format_list(all: &mut dyn Iterator<Item = String>) -> String {
    let mut text = String::new();
    for one in all.take(MAX_LIST) {
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(&one);
    }
    text
}

pub(crate) fn split_range(text: &str) -> Option<[&str; 2]> {
    text.split_once("..").map(|(from, to)| [from, to])
}

pub(crate) fn both<T>([from, to]: [Option<T>; 2]) -> Option<[T; 2]> {
    Some([from?, to?])
}

pub(crate) fn numbers<T: FromStr + PartialOrd>(text: &str) -> Option<[T; 2]> {
    both(split_range(text)?.map(|end| end.parse().ok())).filter(|[from, to]| from <= to)
}

/// Formats a range so that [`numbers`] can parse it.
pub(crate) fn format_range<T: ToString>(numbers: Option<[T; 2]>) -> String {
    numbers.map_or_else(String::new, |numbers| numbers.map(|number| number.to_string()).join(".."))
}

/// Formats a moment as the index of the event before it. -1 means before the first event.
pub(crate) fn format_moment(moment: u32) -> String {
    (i64::from(moment) - 1).to_string()
}

pub(crate) fn parse_moment(text: &str) -> Option<u32> {
    u32::try_from(text.parse::<i64>().ok()?.checked_add(1)?).ok()
}

pub(crate) fn format_pool(only: MemoryFilter) -> String {
    only.pool.map_or_else(String::new, |(first, second)| [first, second].map(|id| id.to_string()).join("."))
}

pub(crate) fn parse_pool(text: &str) -> Option<(u64, u64)> {
    let (first, second) = text.split_once('.')?;
    Some((first.parse().ok()?, second.parse().ok()?))
}

pub(crate) fn hexadecimal(number: u64) -> String {
    format!("{number:x}")
}
