//! Opening what is newer than the open file, with the view kept; and what is said of it.

use super::comparing;
use super::effect::Effect;
use super::features::State;
use super::features::live::{Asker, Offer, Reload, Wanted, open, place};
use super::link;
use super::opening::{close, load};
use super::ranks;
use super::stage::{Choice, Stage};
use super::url::file_name;

/// What stands above the picture of newer files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveView {
    /// `a.pickle changed`, or what is followed.
    pub text: String,
    /// `12 s ago`; empty where that is not known.
    pub ago: String,
    /// What opens the newer file; empty where there is none.
    pub button: &'static str,
    pub follows: bool,
    /// Snapshots to compare with, by their places in the list; the newest first.
    pub compared: Vec<(usize, String)>,
}

/// Whether newer files can come, and whether they open by themselves.
pub fn follows(state: &State) -> Option<bool> {
    (state.live.is_on && !state.live.is_elsewhere(&state.shared)).then_some(state.live.follows)
}

/// The address of the open file, where its server has to be asked whether it changed.
pub fn asks(state: &State) -> Option<String> {
    if state.live.asks() && state.file().is_some() { open(&state.shared).map(str::to_owned) } else { None }
}

/// What is shown of newer files; `None` where there is nothing to say.
pub fn view(state: &State, now_ms: f64) -> Option<LiveView> {
    let live = &state.live;
    if follows(state).is_none() || !(live.follows || live.offer.is_some()) {
        return None;
    }
    let (text, since, button) = match &live.offer {
        Some(Offer { address, changed_ms, is_open: true }) => {
            (file_name(address) + " changed", Some(*changed_ms), "Reload")
        }
        Some(Offer { address, changed_ms, .. }) => (file_name(address) + " is new", Some(*changed_ms), "Open"),
        None => match open(&state.shared).filter(|_| state.file().is_some()) {
            Some(open) => ("Following ".to_owned() + &file_name(open), live.changed_ms(open), ""),
            None => ("Waiting for a snapshot".to_owned(), None, ""),
        },
    };
    let name = |place: usize| state.snapshots.get(place).map(Choice::name).unwrap_or_default();
    let compared = live.comparable(&state.shared).into_iter().map(|place| (place, name(place))).collect();
    let ago = since.filter(|since| since.is_finite()).map_or_else(String::new, |since| ago(now_ms - since));
    let ago = if button.is_empty() && !ago.is_empty() { ["changed ", &ago].concat() } else { ago };
    Some(LiveView { text, ago, button, follows: live.follows, compared })
}

/// `12 s ago`, in the largest unit of which there is one.
fn ago(ms: f64) -> String {
    let seconds = (ms / 1000.0).max(0.0) as u64;
    let (count, unit) = match seconds {
        0..=99 => (seconds, "s"),
        100..=5999 => (seconds / 60, "min"),
        6000..=172_799 => (seconds / 3600, "h"),
        _ => (seconds / 86_400, "days"),
    };
    [&count.to_string(), " ", unit, " ago"].concat()
}

/// Does what is wanted.
pub(super) fn carry_out(state: &mut State, now_ms: f64, effects: &mut Vec<Effect>) {
    match state.live.wanted.take() {
        None => {}
        Some(Wanted::Compare(place)) => {
            comparing::begin(&mut state.shared, &comparing::Wanted::Place(place), now_ms, effects);
        }
        // Whatever is on its way is waited for.
        Some(Wanted::Open(_, Asker::Follower)) if matches!(state.stage, Stage::Loading(_)) => {}
        Some(Wanted::Open(address, asker)) => {
            let Some(place) = place(&state.shared, &address) else { return };
            ranks::chosen(state);
            state.linked.wanted = link::of_place(state, place).or(state.linked.wanted.take());
            load(state, place, now_ms, effects);
            state.live.reload = Some(Reload { load: state.load, asker, begun_ms: now_ms });
        }
    }
}

/// Whether the newer file is there, or what was open has come back.
pub(super) fn settle(state: &mut State) {
    let Some(reload) = state.live.reload else { return };
    let is_loading = matches!(state.stage, Stage::Loading(_));
    if state.load != reload.load {
        state.live.reload = None;
        if is_loading {
            return;
        }
        // It is tried again when it changes.
        state.live.begin_asking(&state.shared, reload.load);
        if reload.asker == Asker::Follower {
            state.toast = None;
            if matches!(state.stage, Stage::Failed(_)) {
                close(&mut state.shared, Stage::Empty);
            }
        }
    } else if !is_loading && !state.waits_for_scene() {
        state.live.reload = None;
        // What was selected may not be in it; that is no news.
        state.linked.notice = None;
        if reload.asker == Asker::Person {
            let name = state.snapshots.get(state.chosen).map(Choice::name).unwrap_or_default();
            state.remark = Some(["Loaded the newest version of ", &name, "."].concat());
        }
    }
}

#[cfg(test)]
#[path = "../../tests/units/ui/reloading.rs"]
mod tests;
