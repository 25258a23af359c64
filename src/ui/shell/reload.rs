//! Opens a newer version of the open file while keeping the view, and announces newer files above the timeline.

use crate::features::State;
use crate::features::watch::{LoadCause, NewerFile, Reload, WatchTask, index_of, open_address};
use crate::plot::{comparing, lane_scenes};
use crate::session::opening::{close, load};
use crate::session::ranks;
use crate::shell::link;
use crate::state::outbox::Outbox;
use crate::state::stage::{SnapshotChoice, Stage};
use crate::text::url::file_name;

/// Contents of the bar above the timeline that announces newer files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveView {
    /// Text such as `a.pickle changed`, or the name of the file that is followed.
    pub text: String,
    /// Age of the newer file, such as `12 s ago`. Empty if unknown.
    pub ago: String,
    /// Label of the button that opens the newer file. Empty if there is no newer file.
    pub button: &'static str,
    pub follows: bool,
    /// Indices and names of snapshots that can be compared with the open one, newest first.
    pub compared: Vec<(usize, String)>,
}

/// Returns whether newer files open automatically. `None` if newer files cannot be detected.
pub fn follows(state: &State) -> Option<bool> {
    (state.live.is_on && !state.live.is_elsewhere(&state.shared)).then_some(state.live.follows)
}

/// Returns the address of the open file if the page has to poll the server for changes to it.
pub fn polled_address(state: &State) -> Option<String> {
    if state.live.polls() && state.file().is_some() { open_address(&state.shared).map(str::to_owned) } else { None }
}

/// Builds the bar that announces newer files. `None` if there is nothing to announce.
pub fn view(state: &State, now_ms: f64) -> Option<LiveView> {
    let live = &state.live;
    if follows(state).is_none() || !(live.follows || live.newer.is_some()) {
        return None;
    }
    let (text, since, button) = match &live.newer {
        Some(NewerFile { address, changed_ms, is_open: true }) => {
            (file_name(address) + " changed", Some(*changed_ms), "Reload")
        }
        Some(NewerFile { address, changed_ms, .. }) => (file_name(address) + " is new", Some(*changed_ms), "Open"),
        None => match open_address(&state.shared).filter(|_| state.file().is_some()) {
            Some(open) => ("Following ".to_owned() + &file_name(open), live.changed_ms(open), ""),
            None => ("Waiting for a snapshot".to_owned(), None, ""),
        },
    };
    let name = |index: usize| state.snapshots.get(index).map(SnapshotChoice::name).unwrap_or_default();
    let compared = live.comparable(&state.shared).into_iter().map(|index| (index, name(index))).collect();
    let ago = since.filter(|since| since.is_finite()).map_or_else(String::new, |since| age_text(now_ms - since));
    let ago = if button.is_empty() && !ago.is_empty() { ["changed ", &ago].concat() } else { ago };
    Some(LiveView { text, ago, button, follows: live.follows, compared })
}

/// Formats an age in a suitable unit, such as `12 s ago`.
fn age_text(ms: f64) -> String {
    let seconds = (ms / 1000.0).max(0.0) as u64;
    let (count, unit) = match seconds {
        0..=99 => (seconds, "s"),
        100..=5999 => (seconds / 60, "min"),
        6000..=172_799 => (seconds / 3600, "h"),
        _ => (seconds / 86_400, "days"),
    };
    [&count.to_string(), " ", unit, " ago"].concat()
}

/// Runs the pending task, which is a reload or a comparison.
pub(crate) fn run_wanted(state: &mut State, out: &mut Outbox) {
    match state.live.task.take() {
        None => {}
        Some(WatchTask::Compare(index)) => {
            comparing::load_second(&mut state.shared, &comparing::SecondSource::Index(index), out);
        }
        // An automatic reload waits for a file that is still loading.
        Some(WatchTask::Open(_, LoadCause::Automatic)) if matches!(state.stage, Stage::Loading(_)) => {}
        Some(WatchTask::Open(address, cause)) => {
            let Some(index) = index_of(&state.shared, &address) else { return };
            ranks::on_snapshot_chosen(state);
            state.linked.pending = link::for_snapshot(state, index).or(state.linked.pending.take());
            load(state, index, out);
            state.live.reload = Some(Reload { load: state.load, cause, started_ms: out.now_ms });
        }
    }
}

/// Ends the reload once the newer file is open, or once the previous file is restored because the newer one failed to
/// open.
pub(crate) fn finish_reload(state: &mut State) {
    let Some(reload) = state.live.reload else { return };
    let is_loading = matches!(state.stage, Stage::Loading(_));
    if state.load != reload.load {
        state.live.reload = None;
        if is_loading {
            return;
        }
        // The reload is retried when the file changes again.
        state.live.start_polling(&state.shared, reload.load);
        if reload.cause == LoadCause::Automatic {
            state.toast = None;
            if matches!(state.stage, Stage::Failed(_)) {
                close(&mut state.shared, Stage::Empty);
            }
        }
    } else if !is_loading && !lane_scenes::waits_for_scene(state) {
        state.live.reload = None;
        // The selection may not exist in the newer file. That is not worth a notice.
        state.linked.notice = None;
        if reload.cause == LoadCause::User {
            let name = state.snapshots.get(state.snapshot_index).map(SnapshotChoice::name).unwrap_or_default();
            state.remark = Some(["Loaded the newest version of ", &name, "."].concat());
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/units/ui/reloading.rs"]
mod tests;
