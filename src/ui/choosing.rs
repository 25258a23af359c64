//! Which events of a large file are loaded: asked before it is read, with what all of it takes; or whenever somebody wants a range only.

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
    let seen = link::of_place(state, place).or_else(|| link::Link::of(state).map(link::Link::seen_only));
    let Some(choice) = state.shared.snapshots.get_mut(place) else { return };
    choice.load = Some(range);
    state.linked.wanted = seen.or(state.linked.wanted.take());
    state.linked.wanted.iter_mut().for_each(|link| link.forget(KEY));
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
