//! Opening, listing, giving up and closing snapshots; showing a device from its beginning.

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

/// Files were given: their snapshots are listed, and the first is opened.
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
        // Two that are given together are compared.
        state.comparing.wanted = is_pair.then_some(Wanted::Place(1));
    }
}

/// Lists files that came in addition, the first as file `from` of the shell's: the place of the first.
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

/// The link of this load could not be fetched.
pub(super) fn link_failed(state: &mut Shared, load: u32, status: Option<u16>) {
    if load == state.load
        && let Stage::Loading(loading) = &state.stage
    {
        let address = if let Origin::Link(address) = &loading.origin { address } else { &loading.name };
        let message = url::fetch_failure(address, status, state.came);
        close(state, Stage::Failed(message));
    }
}

/// The link of this load broke half-way, and the rest is asked for.
pub(super) fn link_broke(state: &mut Shared, load: u32, at: u64) {
    if load == state.load {
        state.remark = Some(url::resume::going_on(at));
    }
}

/// Reads the snapshot of this place in the list.
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
    // A link to it still holds, whatever came of it the last time.
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

/// Which events of the snapshot in this place are loaded: those chosen for it, or those of the link that leads to it. `None`: that is asked.
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

/// Asks which events of the snapshot in this place are loaded.
pub(super) fn ask(state: &mut Shared, place: usize) {
    let Some(choice) = state.snapshots.get(place) else { return };
    let choosing = Choosing::new(choice.name(), &choice.file, choice.bytes, choice.load);
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

/// Which of the snapshots in a file a link is about that is being followed to it.
fn wanted_member(state: &Shared, choice: &Choice) -> Option<u32> {
    state.linked.wanted.as_ref().filter(|link| link.is_about(choice))?.member
}

/// Lists the snapshots behind links, and reads the one of this place.
pub(super) fn load_links(state: &mut Shared, links: Vec<String>, place: usize, now_ms: f64, effects: &mut Vec<Effect>) {
    let choice = |link: String| {
        let file = url::file_name(&link);
        Choice { origin: Origin::Link(link), member: None, file, path: None, bytes: None, load: None }
    };
    state.snapshots = links.into_iter().map(choice).collect();
    load(state, place, now_ms, effects);
}

/// The file that is loading holds several snapshots: each is listed, in the file's place. The one that its link is about is loading, or else
/// the first.
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

/// Gives up what is loading.
pub(super) fn cancel(state: &mut Shared, effects: &mut Vec<Effect>) {
    if matches!(state.stage, Stage::Choosing(_)) {
        close(state, Stage::Empty);
    }
    if let Stage::Loading(loading) = &state.stage {
        state.remark = Some(format!("Cancelled {}.", loading.name));
        // The page does not wait for the worker to agree: its late answers belong to an earlier load.
        close(state, Stage::Empty);
        effects.push(Effect::Ask(Request::Cancel));
    }
}

/// Ends whatever is open or loading; what the worker still says of it is dropped.
pub(super) fn close(state: &mut Shared, stage: Stage) {
    state.comparing.wanted = None;
    if matches!(stage, Stage::Choosing(_) | Stage::Loading(_)) {
        (state.remark, state.toast) = (None, None);
    }
    second::forget(state);
    if let Stage::Ready(file) = std::mem::replace(&mut state.stage, stage) {
        state.left = Some(file);
    }
    // A file that comes back has its old number, and none is given twice.
    state.loads = state.loads.wrapping_add(1);
    state.load = state.loads;
    state.linked.leave_file();
    parts::reset(state, Change::File);
    show_device(state, 0);
}

/// Shows another device of the file, from the beginning; of several lanes, gives its one the focus.
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
