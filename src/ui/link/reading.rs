//! A value of a link on its way into the state, and whether it was understood.

use crate::effect::Effect;
use crate::shared::Shared;
use engine::protocol::Only;
use std::str::FromStr;

/// Bytes of a value that is written: all of the longest together are still read.
pub(crate) const LONGEST_VALUE: usize = 2048;

/// A key of a link that belongs to a feature with the state `S`.
pub(crate) struct Key<S> {
    /// Its name. Links outlive the page: none of these may change.
    pub(crate) name: &'static str,
    /// Whether another value is a step that the browser's way back leads over.
    pub(crate) is_step: bool,
    /// Its value now; empty: as every page begins.
    pub(crate) get: fn(&S, &Shared) -> String,
    /// Takes a value, which is empty where the link has none.
    pub(crate) set: fn(&mut S, &mut Shared, &mut Reading<'_>),
}

/// A key that the way back leads over.
pub(crate) const fn step<S>(
    name: &'static str,
    get: fn(&S, &Shared) -> String,
    set: fn(&mut S, &mut Shared, &mut Reading<'_>),
) -> Key<S> {
    Key { name, is_step: true, get, set }
}

/// A key whose changes are no step.
pub(crate) const fn kept<S>(
    name: &'static str,
    get: fn(&S, &Shared) -> String,
    set: fn(&mut S, &mut Shared, &mut Reading<'_>),
) -> Key<S> {
    Key { name, is_step: false, get, set }
}

/// Entries of a list that are read, and written.
pub(crate) const MOST: usize = 200;

/// A value on its way into the state. What makes no sense is left out of it, and that is remembered.
pub(crate) struct Reading<'a> {
    pub(crate) effects: &'a mut Vec<Effect>,
    /// The value; empty where the link does not say.
    pub(crate) text: &'a str,
    /// Whether all of it was understood so far.
    pub(crate) is_clear: bool,
}

impl Reading<'_> {
    /// What was made of the value: nothing of one that says something is not understood.
    pub(crate) fn take<T>(&mut self, value: Option<T>) -> Option<T> {
        self.is_clear &= value.is_some() || self.text.is_empty();
        value
    }

    /// A number.
    pub(crate) fn number<T: FromStr>(&mut self) -> Option<T> {
        let number = self.text.parse().ok();
        self.take(number)
    }

    /// A number in hexadecimal digits.
    pub(crate) fn hexadecimal(&mut self) -> Option<u64> {
        let number = u64::from_str_radix(self.text, 16).ok();
        self.take(number)
    }

    /// The place of the value among words.
    pub(crate) fn place(&mut self, words: &[&str]) -> Option<usize> {
        let place = words.iter().position(|word| *word == self.text);
        self.take(place)
    }

    /// What stands in the value's place among words: of the value of one, that of the other.
    pub(crate) fn one_of<T: Copy + Default>(&mut self, words: &[&str], meanings: &[T]) -> T {
        self.place(words).and_then(|place| meanings.get(place)).copied().unwrap_or_default()
    }

    /// Whether the second of two words stands there.
    pub(crate) fn is_second(&mut self, words: [&str; 2]) -> bool {
        self.place(&words) == Some(1)
    }

    /// Two numbers, the larger one last.
    pub(crate) fn numbers<T: FromStr + PartialOrd>(&mut self) -> Option<[T; 2]> {
        let numbers = numbers(self.text);
        self.take(numbers)
    }

    /// Takes entry by entry of a list; of one that makes no sense, nothing.
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

/// The word where something is so; nothing where it is not.
pub(crate) fn word(is_so: bool, word: &str) -> String {
    if is_so { word.to_owned() } else { String::new() }
}

/// The number, where there is one.
pub(crate) fn optional<T: ToString>(number: Option<T>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

/// The word of this place.
pub(crate) fn name<'a>(words: &[&'a str], place: usize) -> &'a str {
    words.get(place).copied().unwrap_or_default()
}

/// The word of this place; nothing for the first, which is how every page begins.
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

/// Two numbers as [`numbers`] reads them.
pub(crate) fn between<T: ToString>(numbers: Option<[T; 2]>) -> String {
    numbers.map_or_else(String::new, |numbers| numbers.map(|number| number.to_string()).join(".."))
}

/// A moment by the event before it: −1 is before the first.
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
