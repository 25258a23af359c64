//! Opens, lists, cancels and closes snapshots, and switches between devices.

use crate::plot::comparing::second;
use crate::plot::lane_focus::show_device;
use crate::plot::reset::reset;
use crate::session::candidates::{candidates, no_snapshot_message, skipped_message};
use crate::state::change::Change;
use crate::state::comparing::SecondSource;
use crate::state::effect::{Effect, GivenFile, Origin};
use crate::state::load_dialog::{LoadDialog, is_large};
use crate::state::outbox::Outbox;
use crate::state::shared::Shared;
use crate::state::stage::{Loading, SnapshotChoice, Stage};
use crate::state::toast::Toast;
use crate::text::{load_range, url};
use protocol::{LoadRange, Member, Request};

/// Lists the snapshots among the given files and opens the first one.
pub(crate) fn open_files(state: &mut Shared, files: Vec<GivenFile>, out: &mut Outbox) {
    let none = no_snapshot_message(&files);
    let are_two_given = files.len() == 2;
    let name = files.first().map(|file| file.name.clone()).unwrap_or_default();
    let found = candidates(files.clone());
    if found.is_empty() {
        if state.file().is_some() {
            state.toast = Some(Toast::new(name, &none));
            out.push(Effect::RestoreOpen);
            return;
        }
        state.snapshots = found;
        close(state, Stage::Failed(none));
    } else {
        let is_pair = are_two_given && found.len() == 2;
        state.snapshots = found;
        let skipped = skipped_message(&files, &state.snapshots);
        load(state, 0, out);
        state.remark = state.remark.take().or(skipped);
        // Two files opened together are compared.
        state.comparing.pending_second = is_pair.then_some(SecondSource::Index(1));
    }
}

/// Reports that a linked file could not be fetched. `load` is the id of its load. `status` is the HTTP status, if there
/// was a response.
pub(crate) fn on_link_failed(state: &mut Shared, load: u32, status: Option<u16>) {
    if load == state.load
        && let Stage::Loading(loading) = &state.stage
    {
        let address = if let Origin::Link(address) = &loading.origin { address } else { &loading.name };
        let message = url::fetch_failure(address, status, state.page_scheme);
        close(state, Stage::Failed(message));
    }
}

/// Reports that the download of a file was interrupted after `at` bytes and is being resumed. `load` is the id of its
/// load.
pub(crate) fn on_link_interrupted(state: &mut Shared, load: u32, at: u64) {
    if load == state.load {
        state.remark = Some(url::resume::resuming_message(at));
    }
}

/// Loads the snapshot at this index of the list. If it is large, asks for the range of events first.
pub(crate) fn load(state: &mut Shared, index: usize, out: &mut Outbox) {
    let Some(choice) = state.snapshots.get(index).cloned() else { return };
    let Some(range) = range_to_load(state, &choice) else {
        ask_for_range(state, index);
        return;
    };
    if range != LoadRange::ALL
        && let Some(choice) = state.snapshots.get_mut(index)
    {
        choice.load = Some(range);
    }
    let SnapshotChoice { origin, member, bytes, .. } = &choice;
    let loading = Loading::new(origin.clone(), choice.name(), *bytes, out.now_ms);
    // A pending link to this snapshot is kept, even if an earlier attempt to load it failed.
    state.linked.pending.take_if(|link| !link.urls.is_empty() && !link.points_to(&choice));
    close(state, Stage::Loading(loading));
    state.snapshot_index = index;
    if let Origin::Link(link) = origin
        && let Some(message) = url::blocked_fetch(link, state.page_scheme)
    {
        close(state, Stage::Failed(message));
        return;
    }
    let member = member.or_else(|| linked_member(state, &choice));
    out.push(Effect::Load { origin: origin.clone(), member, load: state.load, range });
}

/// Returns the range of events to load: the one that the user chose for this snapshot, or the one in the link to it.
/// `None` if the file is large and the user has not chosen yet.
fn range_to_load(state: &Shared, choice: &SnapshotChoice) -> Option<LoadRange> {
    let linked = || {
        let link = state.linked.pending.as_ref().filter(|link| link.urls.is_empty() || link.points_to(choice))?;
        load_range::parse(link.value(load_range::LINK_KEY))
    };
    choice
        .load
        .or_else(linked)
        .or_else(|| (!choice.bytes.is_some_and(|bytes| is_large(&choice.file, bytes))).then_some(LoadRange::ALL))
}

/// Opens the dialog that asks for the range of events of the snapshot at this index.
pub(crate) fn ask_for_range(state: &mut Shared, index: usize) {
    let Some(choice) = state.snapshots.get(index) else { return };
    let choosing = LoadDialog::new(choice.name(), &choice.file, choice.bytes, choice.load);
    close(state, Stage::Choosing(Box::new(choosing)));
    state.snapshot_index = index;
}

/// Stores the size of a file that is being downloaded. If the file is large, cancels the load, asks for the range of
/// events, and returns true.
pub(crate) fn on_length_known(state: &mut Shared, bytes: u64, out: &mut Outbox) -> bool {
    let index = state.snapshot_index;
    let Some(choice) = state.snapshots.get_mut(index).filter(|choice| choice.bytes.is_none()) else { return false };
    choice.bytes = Some(bytes);
    let choice = choice.clone();
    if range_to_load(state, &choice).is_some() {
        return false;
    }
    ask_for_range(state, index);
    out.push(Effect::Ask(Request::Cancel));
    true
}

/// Returns the index of the snapshot within a file that holds several, as given by the current link. `None` if the link
/// is to another file.
fn linked_member(state: &Shared, choice: &SnapshotChoice) -> Option<u32> {
    state.linked.pending.as_ref().filter(|link| link.points_to(choice))?.member
}

/// Lists the snapshots that `links` point to, and loads the one at `index`.
pub(crate) fn load_links(state: &mut Shared, links: Vec<String>, index: usize, out: &mut Outbox) {
    state.snapshots = links.into_iter().map(SnapshotChoice::linked).collect();
    load(state, index, out);
}

/// Replaces the list entry of a file that holds several snapshots with an entry for each snapshot. The snapshot given
/// by the link becomes the current one, or the first if there is no such link. Returns false if the snapshots are
/// listed already: each one that is opened lists them again.
pub(crate) fn list_members(state: &mut Shared, members: Vec<Member>) -> bool {
    let Some(file) = state.snapshots.get(state.snapshot_index).filter(|choice| choice.member.is_none()).cloned() else {
        return false;
    };
    let wanted = linked_member(state, &file).map_or(0, |member| member as usize);
    let first = state.snapshot_index;
    if wanted < members.len() {
        state.snapshot_index += wanted;
    }
    let listed = (0..).zip(members).map(|(member_index, member)| SnapshotChoice {
        member: Some(member_index),
        path: Some(member.name),
        bytes: Some(member.bytes),
        ..file.clone()
    });
    state.snapshots.splice(first..=first, listed);
    true
}

/// Cancels the current load, or closes the dialog that asks for the range of events.
pub(crate) fn cancel(state: &mut Shared, out: &mut Outbox) {
    if matches!(state.stage, Stage::Choosing(_)) {
        close(state, Stage::Empty);
    }
    if let Stage::Loading(loading) = &state.stage {
        state.remark = Some(format!("Cancelled {}.", loading.name));
        // The page does not wait for the worker to confirm. Late replies are dropped because they belong to an earlier
        // load.
        close(state, Stage::Empty);
        out.push(Effect::Ask(Request::Cancel));
    }
}

/// Closes the file that is open or loading, and switches to `stage`. Later replies about that file are dropped.
pub(crate) fn close(state: &mut Shared, stage: Stage) {
    state.comparing.pending_second = None;
    if matches!(stage, Stage::Choosing(_) | Stage::Loading(_)) {
        (state.remark, state.toast) = (None, None);
    }
    second::discard(state);
    if let Stage::Ready(file) = std::mem::replace(&mut state.stage, stage) {
        state.closed_file = Some(file);
    }
    // The number must be new, because the closed file may be restored under its old one.
    state.last_load = state.last_load.wrapping_add(1);
    state.load = state.last_load;
    state.linked.on_file_closed();
    reset(state, Change::File);
    show_device(state, 0);
}
