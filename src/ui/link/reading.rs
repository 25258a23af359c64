//! Link keys, and conversion of their values from and to text.

use crate::effect::Effect;
use crate::shared::Shared;
use engine::protocol::Only;
use std::str::FromStr;

/// Maximum length of a written value, in bytes. A fragment with all values at this length can still be read.
pub(crate) const LONGEST_VALUE: usize = 2048;

/// A link key of a feature with the state `S`.
pub(crate) struct Key<S> {
    /// Name of the key. Published links contain it, so it must not change.
    pub(crate) name: &'static str,
    /// True if a change adds an entry to the browser's history.
    pub(crate) is_step: bool,
    /// Returns the current value. Empty for the default.
    pub(crate) get: fn(&S, &Shared) -> String,
    /// Applies a value. The value is empty if the link does not contain the key.
    pub(crate) set: fn(&mut S, &mut Shared, &mut Reading<'_>),
}

/// Returns a key whose changes add an entry to the browser's history.
pub(crate) const fn step<S>(
    name: &'static str,
    get: fn(&S, &Shared) -> String,
    set: fn(&mut S, &mut Shared, &mut Reading<'_>),
) -> Key<S> {
    Key { name, is_step: true, get, set }
}

/// Returns a key whose changes add no history entry.
pub(crate) const fn kept<S>(
    name: &'static str,
    get: fn(&S, &Shared) -> String,
    set: fn(&mut S, &mut Shared, &mut Reading<'_>),
) -> Key<S> {
    Key { name, is_step: false, get, set }
}

/// Maximum number of entries of a list, read or written.
pub(crate) const MOST: usize = 200;

/// A link value that is being applied to the state. Invalid parts are left out and recorded.
pub(crate) struct Reading<'a> {
    pub(crate) effects: &'a mut Vec<Effect>,
    /// The value. Empty if the link does not contain the key.
    pub(crate) text: &'a str,
    /// True while everything has been understood.
    pub(crate) is_clear: bool,
}

impl Reading<'_> {
    /// Returns `value` unchanged. Records an error if it is `None` although the text is not empty.
    pub(crate) fn take<T>(&mut self, value: Option<T>) -> Option<T> {
        self.is_clear &= value.is_some() || self.text.is_empty();
        value
    }

    /// Parses a number.
    pub(crate) fn number<T: FromStr>(&mut self) -> Option<T> {
        let number = self.text.parse().ok();
        self.take(number)
    }

    /// Parses a hexadecimal number.
    pub(crate) fn hexadecimal(&mut self) -> Option<u64> {
        let number = u64::from_str_radix(self.text, 16).ok();
        self.take(number)
    }

    /// Returns the index of the value in `words`.
    pub(crate) fn place(&mut self, words: &[&str]) -> Option<usize> {
        let place = words.iter().position(|word| *word == self.text);
        self.take(place)
    }

    /// Maps the value to the entry of `meanings` at its index in `words`, or to the default.
    pub(crate) fn one_of<T: Copy + Default>(&mut self, words: &[&str], meanings: &[T]) -> T {
        self.place(words).and_then(|place| meanings.get(place)).copied().unwrap_or_default()
    }

    /// Returns true if the value is the second of two words.
    pub(crate) fn is_second(&mut self, words: [&str; 2]) -> bool {
        self.place(&words) == Some(1)
    }

    /// Parses a range `a..b` with a ≤ b.
    pub(crate) fn numbers<T: FromStr + PartialOrd>(&mut self) -> Option<[T; 2]> {
        let numbers = numbers(self.text);
        self.take(numbers)
    }

    /// Calls `take` with each entry of a comma-separated list. `None` marks an entry as not understood.
    pub(crate) fn each(&mut self, take: &mut dyn FnMut(&str) -> Option<()>) {
        if self.text.is_empty() {
            return;
        }
        let mut entries = self.text.split(',');
        for entry in entries.by_ref().take(MOST) {
            self.is_clear &= take(entry).is_some();
        }
        self.is_clear &= entries.next().is_none();
    }
}

/// Returns `word` if the condition is true, otherwise an empty text.
pub(crate) fn word(is_so: bool, word: &str) -> String {
    if is_so { word.to_owned() } else { String::new() }
}

/// Formats an optional number. Empty if it is `None`.
pub(crate) fn optional<T: ToString>(number: Option<T>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

/// Returns the word at this index. Empty if out of range.
pub(crate) fn name<'a>(words: &[&'a str], place: usize) -> &'a str {
    words.get(place).copied().unwrap_or_default()
}

/// Returns the word at this index. Empty for the first, which is the default.
pub(crate) fn later_name(words: &[&str], place: usize) -> String {
    word(place > 0, name(words, place))
}

pub(crate) fn list(all: &mut dyn Iterator<Item = String>) -> String {
    let mut text = String::new();
    for one in all.take(MOST) {
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(&one);
    }
    text
}

pub(crate) fn ends(text: &str) -> Option<[&str; 2]> {
    text.split_once("..").map(|(from, to)| [from, to])
}

pub(crate) fn two<T>([from, to]: [Option<T>; 2]) -> Option<[T; 2]> {
    Some([from?, to?])
}

pub(crate) fn numbers<T: FromStr + PartialOrd>(text: &str) -> Option<[T; 2]> {
    two(ends(text)?.map(|end| end.parse().ok())).filter(|[from, to]| from <= to)
}

/// Formats a range so that [`numbers`] can parse it.
pub(crate) fn between<T: ToString>(numbers: Option<[T; 2]>) -> String {
    numbers.map_or_else(String::new, |numbers| numbers.map(|number| number.to_string()).join(".."))
}

/// Formats a moment as the event before it. -1 means before the first event.
pub(crate) fn event(moment: u32) -> String {
    (i64::from(moment) - 1).to_string()
}

pub(crate) fn moment(text: &str) -> Option<u32> {
    u32::try_from(text.parse::<i64>().ok()?.checked_add(1)?).ok()
}

pub(crate) fn pool(only: Only) -> String {
    only.pool.map_or_else(String::new, |(first, second)| [first, second].map(|id| id.to_string()).join("."))
}

pub(crate) fn pool_of(text: &str) -> Option<(u64, u64)> {
    let (first, second) = text.split_once('.')?;
    Some((first.parse().ok()?, second.parse().ok()?))
}

pub(crate) fn hexadecimal(number: u64) -> String {
    format!("{number:x}")
}
