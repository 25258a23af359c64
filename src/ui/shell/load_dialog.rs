//! The dialog for loading a range of a file's events. It opens before a large file is read, and on request.

use crate::features::State;
use crate::session::opening::{ask_for_range, load};
use crate::shell::link;
use crate::state::effect::Effect;
use crate::state::load_dialog::SYNTAX_ERROR;
use crate::state::outbox::Outbox;
use crate::state::shared::Shared;
use crate::state::stage::Stage;
use crate::text::load_range::{LINK_KEY, parse};
use crate::text::summary::loaded_range;
use protocol::{LoadRange, Request};

/// Loads the typed range of events, or shows a syntax error in the dialog.
pub(crate) fn load_typed(state: &mut State, text: &str, out: &mut Outbox) {
    match (parse(text), &mut state.shared.stage) {
        (Some(range), Stage::Choosing(_)) => open(state, range, out),
        (None, Stage::Choosing(choosing)) => choosing.error = SYNTAX_ERROR,
        _ => {}
    }
}

/// Loads all events of the file in the dialog, or of the open file if only a range of its events is loaded.
pub(crate) fn load_all(state: &mut State, out: &mut Outbox) {
    match &state.stage {
        Stage::Choosing(_) => open(state, LoadRange::ALL, out),
        Stage::Ready(_) if loaded_text(state).is_some() => open(state, LoadRange::ALL, out),
        _ => {}
    }
}

fn open(state: &mut State, range: LoadRange, out: &mut Outbox) {
    let index = state.snapshot_index;
    // The view of the file is restored after the load.
    let view_link =
        link::for_snapshot(state, index).or_else(|| link::Link::from_state(state).map(link::Link::without_file));
    let Some(choice) = state.shared.snapshots.get_mut(index) else { return };
    choice.load = Some(range);
    state.linked.pending = view_link.or(state.linked.pending.take());
    state.linked.pending.iter_mut().for_each(|link| link.remove(LINK_KEY));
    let compared = state.comparing.pending_second.take();
    load(&mut state.shared, index, out);
    state.comparing.pending_second = compared;
}

/// Opens the dialog for the file that is open or loading.
pub(crate) fn ask_again(state: &mut State, out: &mut Outbox) {
    if matches!(state.stage, Stage::Loading(_)) {
        out.push(Effect::Ask(Request::Cancel));
    }
    if matches!(state.stage, Stage::Loading(_) | Stage::Ready(_)) {
        let index = state.snapshot_index;
        ask_for_range(&mut state.shared, index);
    }
}

/// Returns a sentence if only a range of events is loaded: `Events 1,000–1,999 of 27,358 are loaded.` Otherwise `None`.
pub fn loaded_text(state: &Shared) -> Option<String> {
    let range = loaded_range(state.device()?)?;
    let mut letters = range.chars();
    let first = letters.next()?.to_ascii_uppercase();
    Some(format!("{first}{} are loaded.", letters.as_str()))
}
