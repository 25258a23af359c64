//! Opening, listing, cancelling and closing snapshots, and switching between devices.

use super::candidates::{candidates, none_of};
use super::change::Change;
use super::choosing::data::{Choosing, is_large};
use super::comparing::{Wanted, second};
use super::effect::{Effect, GivenFile, Origin};
use super::load_range;
use super::parts;
use super::shared::Shared;
use super::stage::{Choice, Loading, Stage};
use super::toast::Toast;
use super::url;
use engine::protocol::{LoadRange, Member, Request};
use picture::timeline::Axis;

/// Lists the snapshots in the given files and opens the first one.
pub(super) fn files_given(state: &mut Shared, files: Vec<GivenFile>, now_ms: f64, effects: &mut Vec<Effect>) {
    let none = none_of(&files);
    let are_two = files.len() == 2;
    let name = files.first().map(|file| file.name.clone()).unwrap_or_default();
    let found = candidates(files);
    if found.is_empty() {
        if state.file().is_some() {
            state.toast = Some(Toast::new(name, &none));
            effects.push(Effect::BackToOpen);
            return;
        }
        state.snapshots = found;
        close(state, Stage::Failed(none));
    } else {
        let is_pair = are_two && found.len() == 2;
        state.snapshots = found;
        load(state, 0, now_ms, effects);
        // Two files opened together are compared.
        state.comparing.wanted = is_pair.then_some(Wanted::Place(1));
    }
}

/// Appends files to the list of snapshots. `from` is the shell's index of the first file. Returns the list index of the
/// first new entry.
pub(super) fn added(state: &mut Shared, from: usize, files: Vec<GivenFile>) -> usize {
    let place = state.snapshots.len();
    state.snapshots.extend((from..).zip(files).map(|(at, file)| Choice {
        origin: Origin::File(at),
        member: None,
        file: file.name,
        path: None,
        bytes: Some(file.bytes),
        load: None,
    }));
    place
}

/// Reports that the link of load `load` could not be fetched. `status` is the HTTP status, if there was a response.
pub(super) fn link_failed(state: &mut Shared, load: u32, status: Option<u16>) {
    if load == state.load
        && let Stage::Loading(loading) = &state.stage
    {
        let address = if let Origin::Link(address) = &loading.origin { address } else { &loading.name };
        let message = url::fetch_failure(address, status, state.came);
        close(state, Stage::Failed(message));
    }
}

/// Reports that the download of load `load` broke off after `at` bytes and is being resumed.
pub(super) fn link_broke(state: &mut Shared, load: u32, at: u64) {
    if load == state.load {
        state.remark = Some(url::resume::going_on(at));
    }
}

/// Loads the snapshot at index `place` of the list, or asks for its event range first if it is large.
pub(super) fn load(state: &mut Shared, place: usize, now_ms: f64, effects: &mut Vec<Effect>) {
    let Some(choice) = state.snapshots.get(place).cloned() else { return };
    let Some(range) = decided(state, &choice) else {
        ask(state, place);
        return;
    };
    if range != LoadRange::ALL
        && let Some(choice) = state.snapshots.get_mut(place)
    {
        choice.load = Some(range);
    }
    let Choice { origin, member, bytes, .. } = &choice;
    let loading = Loading::new(origin.clone(), choice.name(), *bytes, now_ms);
    // A link that points to this snapshot stays in force, even if an earlier attempt to load it failed.
    state.linked.wanted.take_if(|link| !link.urls.is_empty() && !link.is_about(&choice));
    close(state, Stage::Loading(loading));
    state.chosen = place;
    if let Origin::Link(link) = origin
        && let Some(message) = url::refused(link, state.came)
    {
        close(state, Stage::Failed(message));
        return;
    }
    let member = member.or_else(|| wanted_member(state, &choice));
    effects.push(Effect::Load { origin: origin.clone(), member, load: state.load, range });
}

/// Returns the event range to load: the one chosen for this snapshot, or the one in the link that points to it. Returns
/// `None` if the user has to choose because the file is large.
fn decided(state: &Shared, choice: &Choice) -> Option<LoadRange> {
    let linked = || {
        let link = state.linked.wanted.as_ref().filter(|link| link.urls.is_empty() || link.is_about(choice))?;
        load_range::read(link.value(load_range::KEY))
    };
    choice
        .load
        .or_else(linked)
        .or_else(|| (!choice.bytes.is_some_and(|bytes| is_large(&choice.file, bytes))).then_some(LoadRange::ALL))
}

/// Shows the dialog that asks for the range of events to load.
pub(super) fn ask(state: &mut Shared, place: usize) {
    let Some(choice) = state.snapshots.get(place) else { return };
    let choosing = Choosing::new(choice.name(), &choice.file, choice.bytes, choice.load);
    close(state, Stage::Choosing(Box::new(choosing)));
    state.chosen = place;
}

/// Records the size of a downloaded file once it is known. If the file turns out to be large, cancels the load, asks
/// for the event range and returns true.
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

/// Returns the index of the snapshot (in a file that holds several) that the current link points to.
fn wanted_member(state: &Shared, choice: &Choice) -> Option<u32> {
    state.linked.wanted.as_ref().filter(|link| link.is_about(choice))?.member
}

/// Lists the snapshots behind `links` and loads the one at index `place`.
pub(super) fn load_links(state: &mut Shared, links: Vec<String>, place: usize, now_ms: f64, effects: &mut Vec<Effect>) {
    let choice = |link: String| {
        let file = url::file_name(&link);
        Choice { origin: Origin::Link(link), member: None, file, path: None, bytes: None, load: None }
    };
    state.snapshots = links.into_iter().map(choice).collect();
    load(state, place, now_ms, effects);
}

/// Replaces the entry of a file that holds several snapshots by one entry for each. The one that the link points to is
/// loading, or the first one if there is no such link.
pub(super) fn list(state: &mut Shared, members: Vec<Member>) {
    let Some(file) = state.snapshots.get(state.chosen).filter(|choice| choice.member.is_none()).cloned() else {
        return;
    };
    let wanted = wanted_member(state, &file).map_or(0, |member| member as usize);
    let first = state.chosen;
    if wanted < members.len() {
        state.chosen += wanted;
    }
    let listed = (0..).zip(members).map(|(place, member)| Choice {
        member: Some(place),
        path: Some(member.name),
        bytes: Some(member.bytes),
        ..file.clone()
    });
    state.snapshots.splice(first..=first, listed);
}

/// Cancels the current load, or closes the dialog that asks for the range of events.
pub(super) fn cancel(state: &mut Shared, effects: &mut Vec<Effect>) {
    if matches!(state.stage, Stage::Choosing(_)) {
        close(state, Stage::Empty);
    }
    if let Stage::Loading(loading) = &state.stage {
        state.remark = Some(format!("Cancelled {}.", loading.name));
        // The page does not wait for the worker to confirm. Late replies are dropped because they belong to an earlier
        // load.
        close(state, Stage::Empty);
        effects.push(Effect::Ask(Request::Cancel));
    }
}

/// Closes the open or loading file and switches to `stage`. Later replies about that file are dropped.
pub(super) fn close(state: &mut Shared, stage: Stage) {
    state.comparing.wanted = None;
    if matches!(stage, Stage::Choosing(_) | Stage::Loading(_)) {
        (state.remark, state.toast) = (None, None);
    }
    second::forget(state);
    if let Stage::Ready(file) = std::mem::replace(&mut state.stage, stage) {
        state.left = Some(file);
    }
    // The number must be new, because the closed file may be restored under its old one.
    state.loads = state.loads.wrapping_add(1);
    state.load = state.loads;
    state.linked.leave_file();
    parts::reset(state, Change::File);
    show_device(state, 0);
}

/// Shows another device from its start. If the device is one of several lanes, focuses its lane instead.
pub(super) fn show_device(state: &mut Shared, place: usize) {
    second::choose(state, place);
    if state.focus(place) {
        return;
    }
    state.device_place = place;
    parts::reset(state, Change::Device);
    if state.device().is_some_and(|device| device.time_us.is_none()) {
        state.axis = Axis::Events;
    }
}
