//! A value of a link on its way into the state, and whether it was understood.

use crate::effect::Effect;
use crate::shared::Shared;
use std::str::FromStr;

/// Entries of a list that are read, and written.
pub(super) const MOST: usize = 200;

/// A value on its way into the state. What makes no sense is left out of it, and that is remembered.
pub(super) struct Reading<'a> {
    pub(super) state: &'a mut Shared,
    pub(super) effects: &'a mut Vec<Effect>,
    /// The value; empty where the link does not say.
    pub(super) text: &'a str,
    /// Whether all of it was understood so far.
    pub(super) is_clear: bool,
}

impl Reading<'_> {
    /// What was made of the value: nothing of one that says something is not understood.
    pub(super) fn take<T>(&mut self, value: Option<T>) -> Option<T> {
        self.is_clear &= value.is_some() || self.text.is_empty();
        value
    }

    /// A number.
    pub(super) fn number<T: FromStr>(&mut self) -> Option<T> {
        let number = self.text.parse().ok();
        self.take(number)
    }

    /// A number in hexadecimal digits.
    pub(super) fn hexadecimal(&mut self) -> Option<u64> {
        let number = u64::from_str_radix(self.text, 16).ok();
        self.take(number)
    }

    /// The place of the value among words.
    pub(super) fn place(&mut self, words: &[&str]) -> Option<usize> {
        let place = words.iter().position(|word| *word == self.text);
        self.take(place)
    }

    /// What stands in the value's place among words: of the value of one, that of the other.
    pub(super) fn one_of<T: Copy + Default>(&mut self, words: &[&str], meanings: &[T]) -> T {
        self.place(words).and_then(|place| meanings.get(place)).copied().unwrap_or_default()
    }

    /// Whether the second of two words stands there.
    pub(super) fn is_second(&mut self, words: [&str; 2]) -> bool {
        self.place(&words) == Some(1)
    }

    /// Two numbers, the larger one last.
    pub(super) fn numbers<T: FromStr + PartialOrd>(&mut self) -> Option<[T; 2]> {
        let numbers = numbers(self.text);
        self.take(numbers)
    }

    /// Takes entry by entry of a list; of one that makes no sense, nothing.
    pub(super) fn each(&mut self, take: &mut dyn FnMut(&mut Shared, &str) -> Option<()>) {
        if self.text.is_empty() {
            return;
        }
        let mut entries = self.text.split(',');
        for entry in entries.by_ref().take(MOST) {
            self.is_clear &= take(self.state, entry).is_some();
        }
        self.is_clear &= entries.next().is_none();
    }
}

/// The word where something is so; nothing where it is not.
pub(super) fn word(is_so: bool, word: &str) -> String {
    if is_so { word.to_owned() } else { String::new() }
}

/// The number, where there is one.
pub(super) fn told<T: ToString>(number: Option<T>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

/// The word of this place.
pub(super) fn name<'a>(words: &[&'a str], place: usize) -> &'a str {
    words.get(place).copied().unwrap_or_default()
}

/// The word of this place; nothing for the first, which is how every page begins.
pub(super) fn later_name(words: &[&str], place: usize) -> String {
    word(place > 0, name(words, place))
}

pub(super) fn list(all: &mut dyn Iterator<Item = String>) -> String {
    let mut text = String::new();
    for one in all.take(MOST) {
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(&one);
    }
    text
}

pub(super) fn ends(text: &str) -> Option<[&str; 2]> {
    text.split_once("..").map(|(from, to)| [from, to])
}

pub(super) fn two<T>([from, to]: [Option<T>; 2]) -> Option<[T; 2]> {
    Some([from?, to?])
}

pub(super) fn numbers<T: FromStr + PartialOrd>(text: &str) -> Option<[T; 2]> {
    two(ends(text)?.map(|end| end.parse().ok())).filter(|[from, to]| from <= to)
}

/// Two numbers as [`numbers`] reads them.
pub(super) fn between<T: ToString>(numbers: Option<[T; 2]>) -> String {
    numbers.map_or_else(String::new, |numbers| numbers.map(|number| number.to_string()).join(".."))
}

/// A moment by the event before it: −1 is before the first.
pub(super) fn event(moment: u32) -> String {
    (i64::from(moment) - 1).to_string()
}

pub(super) fn moment(text: &str) -> Option<u32> {
    u32::try_from(text.parse::<i64>().ok()?.checked_add(1)?).ok()
}
