//! Which events of a large file are loaded: asked before it is read, with what all of it takes; or whenever somebody wants a range only.

use super::effect::Effect;
use super::features::State;
use super::link;
use super::opening::{close, load};
use super::shared::Shared;
use super::stage::{Choice, Stage};
use super::summary::loaded_range;
use base::units::{Bytes, grouped};
use engine::protocol::{LoadRange, Request};

/// A file of more bytes is asked about.
const LARGE: u64 = 2_000_000_000;
/// Of the 4 GiB that a page can have, the tables of a file may take so much (`src/engine/memory.rs`).
const ROOM: u64 = 3 << 30;
/// What a page can have.
const PAGE_MEMORY: u64 = 4 << 30;
/// Percent of a file's bytes that its tables take, from snapshots with deep call stacks to those with none: an event takes some 45 bytes
/// there, and 110 to 400 in the file.
const TAKEN: [u64; 2] = [10, 42];
/// The same of a file that is packed, 5 to 18 times as small.
const TAKEN_PACKED: [u64; 2] = [100, 700];
/// Endings of files that are packed.
const PACKED: [&str; 4] = [".gz", ".zst", ".zip", ".tgz"];
/// What stands in the field at first: a second or two of work, and far more than a few steps of training.
const OFFERED: &str = "last 1,000,000";
/// What is wrong with what was typed.
const WRONG: &str = "Expected events such as last 1,000,000 or 2,000,000..3,000,000.";

/// A file that is not read yet: all of it, or a range?
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choosing {
    /// Its name.
    pub name: String,
    /// Its size, and what all of it takes.
    pub text: String,
    /// Whether all of it may be more than a page can have.
    pub may_not_fit: bool,
    /// What the field has at first.
    pub offered: String,
    /// What is wrong with what was typed last; empty: nothing.
    pub wrong: &'static str,
}

impl Choosing {
    fn new(choice: &Choice) -> Choosing {
        let bytes = choice.bytes.unwrap_or(0);
        let [least, most] = taken(&choice.file, bytes);
        let (size, page) = (Bytes(bytes), Bytes(PAGE_MEMORY));
        let text = match choice.bytes {
            None => "Only these events are kept, with their numbers in the file.".to_owned(),
            Some(_) if least > ROOM => {
                format!(
                    "{size}. All events take at least {} of memory, and a page can have {page}: load a range of them, or use the command line.",
                    Bytes(least)
                )
            }
            Some(_) if most > ROOM => {
                format!(
                    "{size}. All events take from {} to {} of memory, and a page can have {page}. A range takes less.",
                    Bytes(least),
                    Bytes(most)
                )
            }
            Some(_) => format!("{size}. All events take at most {} of memory.", Bytes(most)),
        };
        let offered = choice.load.filter(|load| *load != LoadRange::ALL).map_or_else(|| OFFERED.to_owned(), written);
        Choosing { name: choice.name(), text, may_not_fit: most > ROOM, offered, wrong: "" }
    }
}

/// Bytes that all events of a file take in memory: at least, and at most.
fn taken(name: &str, bytes: u64) -> [u64; 2] {
    let is_packed = PACKED.iter().any(|ending| name.to_ascii_lowercase().ends_with(ending));
    (if is_packed { TAKEN_PACKED } else { TAKEN }).map(|percent| (bytes / 100).saturating_mul(percent))
}

/// Whether a file is asked about before it is read.
fn is_large(choice: &Choice) -> bool {
    let is_large = |bytes| bytes > LARGE || taken(&choice.file, bytes)[1] > ROOM;
    choice.bytes.is_some_and(is_large)
}

/// Which events of the snapshot in this place are loaded: those chosen for it, or those of the link that leads to it. `None`: that is asked.
pub(super) fn decided(state: &Shared, choice: &Choice) -> Option<LoadRange> {
    let linked = || {
        let link = state.linked.wanted.as_ref().filter(|link| link.urls.is_empty() || link.is_about(choice))?;
        read(link.value(KEY))
    };
    choice.load.or_else(linked).or_else(|| (!is_large(choice)).then_some(LoadRange::ALL))
}

/// The key of links.
pub(super) const KEY: &str = "load";

/// Asks which events of the snapshot in this place are loaded.
pub(super) fn ask(state: &mut Shared, place: usize) {
    let Some(choice) = state.snapshots.get(place) else { return };
    let choosing = Choosing::new(choice);
    close(state, Stage::Choosing(Box::new(choosing)));
    state.chosen = place;
}

/// The length of what a link leads to is known only now: whether it is to be asked about after all.
pub(super) fn length_known(state: &mut Shared, bytes: u64, effects: &mut Vec<Effect>) -> bool {
    let place = state.chosen;
    let Some(choice) = state.snapshots.get_mut(place).filter(|choice| choice.bytes.is_none()) else { return false };
    choice.bytes = Some(bytes);
    let choice = choice.clone();
    if decided(state, &choice).is_some() {
        return false;
    }
    ask(state, place);
    effects.push(Effect::Ask(Request::Cancel));
    true
}

/// These events were chosen, as they were typed: of the file that is asked about.
pub(super) fn typed(state: &mut State, text: &str, now_ms: f64, effects: &mut Vec<Effect>) {
    match (read(text), &mut state.shared.stage) {
        (Some(range), Stage::Choosing(_)) => open(state, range, now_ms, effects),
        (None, Stage::Choosing(choosing)) => choosing.wrong = WRONG,
        _ => {}
    }
}

/// All events: of the file that is asked about, or of the open one, which is seen as before.
pub(super) fn all(state: &mut State, now_ms: f64, effects: &mut Vec<Effect>) {
    match &state.stage {
        Stage::Choosing(_) => open(state, LoadRange::ALL, now_ms, effects),
        Stage::Ready(_) if loaded(state).is_some() => open(state, LoadRange::ALL, now_ms, effects),
        _ => {}
    }
}

fn open(state: &mut State, range: LoadRange, now_ms: f64, effects: &mut Vec<Effect>) {
    let place = state.chosen;
    // What was seen of it is seen of it again.
    let mut seen = link::of_place(state, place).or_else(|| link::Link::of(state).map(link::Link::seen_only));
    seen.iter_mut().for_each(|link| link.forget(KEY));
    let Some(choice) = state.shared.snapshots.get_mut(place) else { return };
    choice.load = Some(range);
    state.linked.wanted.iter_mut().for_each(|link| link.forget(KEY));
    state.linked.wanted = seen.or(state.linked.wanted.take());
    let compared = state.comparing.wanted.take();
    load(&mut state.shared, place, now_ms, effects);
    state.comparing.wanted = compared;
}

/// Asks about the open file, or the one that is loading.
pub(super) fn again(state: &mut State, effects: &mut Vec<Effect>) {
    if matches!(state.stage, Stage::Loading(_)) {
        effects.push(Effect::Ask(Request::Cancel));
    }
    if matches!(state.stage, Stage::Loading(_) | Stage::Ready(_)) {
        let place = state.chosen;
        ask(&mut state.shared, place);
    }
}

/// What is said of a file of which a range is loaded: `Events 1,000–1,999 of 27,358 are loaded.` `None` where all are.
pub fn loaded(state: &Shared) -> Option<String> {
    let range = loaded_range(state.device()?)?;
    let mut letters = range.chars();
    let first = letters.next()?.to_ascii_uppercase();
    Some(format!("{first}{} are loaded.", letters.as_str()))
}

/// Reads what somebody types, or a link has: `last 1,000,000`, `2000000..3000000`, `2000000..`, `..3000000`; both ends are included.
pub(super) fn read(text: &str) -> Option<LoadRange> {
    let text: String = text.chars().filter(|letter| !letter.is_whitespace() && !matches!(letter, ',' | '_')).collect();
    let text = text.to_ascii_lowercase();
    if text == "all" {
        return Some(LoadRange::ALL);
    }
    if let Some(count) = text.strip_prefix("last") {
        return count.parse().ok().filter(|&last| last > 0).map(|last| LoadRange { last, ..LoadRange::ALL });
    }
    let (from, to) = text.split_once("..").or_else(|| text.split_once(['-', '–']))?;
    let number = |text: &str, none: u32| if text.is_empty() { Some(none) } else { text.parse().ok() };
    let (from, to) = (number(from, 0)?, number(to, u32::MAX)?);
    (from <= to).then(|| LoadRange { from, to: to.saturating_add(1), ..LoadRange::ALL })
}

/// As [`read`] reads it, for people.
fn written(range: LoadRange) -> String {
    let LoadRange { from, to, last } = range;
    match (to, last) {
        (u32::MAX, u32::MAX) => [&grouped(from.into()), ".."].concat(),
        (to, u32::MAX) => [&grouped(from.into()), "..", &grouped(u64::from(to).saturating_sub(1))].concat(),
        (_, last) => ["last ", &grouped(last.into())].concat(),
    }
}

/// As a link has it; empty where all events are loaded.
pub(super) fn in_link(state: &Shared) -> String {
    let range = state.snapshots.get(state.chosen).and_then(|choice| choice.load);
    range.filter(|range| *range != LoadRange::ALL).map_or_else(String::new, |range| {
        written(range).chars().filter(|letter| !matches!(letter, ',' | ' ')).collect()
    })
}

#[cfg(test)]
#[path = "../../tests/units/ui/choosing.rs"]
mod tests;
