//! Loading of a range of a file's events: offered before a large file is read, or on request.

pub mod data;

use super::effect::Effect;
use super::features::State;
use super::link;
use super::load_range::{KEY, read};
use super::opening::{ask, load};
use super::shared::Shared;
use super::stage::Stage;
use super::summary::loaded_range;
use data::WRONG;
use engine::protocol::{LoadRange, Request};

/// Loads the range of events that was typed, or reports a syntax error in the dialog.
pub(super) fn typed(state: &mut State, text: &str, now_ms: f64, effects: &mut Vec<Effect>) {
    match (read(text), &mut state.shared.stage) {
        (Some(range), Stage::Choosing(_)) => open(state, range, now_ms, effects),
        (None, Stage::Choosing(choosing)) => choosing.wrong = WRONG,
        _ => {}
    }
}

/// Loads all events: of the file that is being asked about, or of an open file with only a range loaded.
pub(super) fn all(state: &mut State, now_ms: f64, effects: &mut Vec<Effect>) {
    match &state.stage {
        Stage::Choosing(_) => open(state, LoadRange::ALL, now_ms, effects),
        Stage::Ready(_) if loaded(state).is_some() => open(state, LoadRange::ALL, now_ms, effects),
        _ => {}
    }
}

fn open(state: &mut State, range: LoadRange, now_ms: f64, effects: &mut Vec<Effect>) {
    let place = state.chosen;
    // The view of the file is restored after the load.
    let seen = link::of_place(state, place).or_else(|| link::Link::of(state).map(link::Link::seen_only));
    let Some(choice) = state.shared.snapshots.get_mut(place) else { return };
    choice.load = Some(range);
    state.linked.wanted = seen.or(state.linked.wanted.take());
    state.linked.wanted.iter_mut().for_each(|link| link.forget(KEY));
    let compared = state.comparing.wanted.take();
    load(&mut state.shared, place, now_ms, effects);
    state.comparing.wanted = compared;
}

/// Asks which events to load of the open or loading file.
pub(super) fn again(state: &mut State, effects: &mut Vec<Effect>) {
    if matches!(state.stage, Stage::Loading(_)) {
        effects.push(Effect::Ask(Request::Cancel));
    }
    if matches!(state.stage, Stage::Loading(_) | Stage::Ready(_)) {
        let place = state.chosen;
        ask(&mut state.shared, place);
    }
}

/// Returns a sentence if only a range of events is loaded: `Events 1,000–1,999 of 27,358 are loaded.` Otherwise `None`.
pub fn loaded(state: &Shared) -> Option<String> {
    let range = loaded_range(state.device()?)?;
    let mut letters = range.chars();
    let first = letters.next()?.to_ascii_uppercase();
    Some(format!("{first}{} are loaded.", letters.as_str()))
}
