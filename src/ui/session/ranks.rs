//! The rank survey, which scans many snapshots of one program, one per rank. The files are read one after the other, in
//! addition to the open file. The result is the insight [`protocol::Topic::Ranks`].

pub use crate::state::ranks::{Ranks, RanksAction, ServedFiles, Survey};

use crate::plot::comparing;
use crate::session::opening::load;
use crate::state::comparing::SecondSource;
use crate::state::effect::{Effect, FileToSurvey, Origin, RanksEffect};
use crate::state::outbox::{Intent, Outbox};
use crate::state::shared::Shared;
use crate::state::stage::{SnapshotChoice, Stage};
use base::units::group_digits;
use protocol::Topic;

/// Minimum number of files for a rank survey. Two files can be compared instead.
const MIN_FILES: usize = 3;

/// Starts a rank survey of the files that were just opened, or offers it if they are on a server.
pub(crate) fn start_survey(state: &mut Shared, out: &mut Outbox) {
    let version = state.ranks.version.wrapping_add(1);
    let was_available = state.ranks.is_available();
    state.ranks = Ranks { version, server_files: state.ranks.server_files, ..Ranks::default() };
    let members = state.snapshots.iter().any(|choice| choice.member.is_some());
    let link_count = state.snapshots.iter().filter(|choice| matches!(choice.origin, Origin::Link(_))).count();
    let is_many = state.snapshots.len() >= if members { 2 } else { MIN_FILES };
    // Surveying links would download each file completely. `memscape serve` surveys its files itself, on request.
    let is_served = is_many && state.snapshots.iter().all(is_served);
    if is_served {
        state.ranks =
            Ranks { files: link_count.max(state.ranks.server_files), stage: Survey::Offered, ..state.ranks.clone() };
    }
    if link_count > 0 || !is_many {
        out.extend(was_available.then_some(Effect::Ranks(RanksEffect::End)));
        return;
    }
    let files = files(state);
    // A link already determines the opened file and the view.
    let tries_next = state.linked.pending.is_none();
    state.ranks = Ranks { files: files.len(), stage: Survey::Running, tries_next, ..state.ranks.clone() };
    if tries_next {
        out.intend(Intent::OpenTopic(Topic::Ranks));
    }
    out.push(Effect::Ranks(RanksEffect::Survey(files)));
}

/// Updates the rank survey's offer, or the number of new files, after the server has listed more files.
pub(crate) fn on_files_listed(state: &mut Shared) {
    let listed = state.snapshots.len();
    if listed < MIN_FILES || !state.snapshots.iter().all(is_served) {
        return;
    }
    let ranks = &mut state.ranks;
    match ranks.stage {
        Survey::None | Survey::Offered => {
            (ranks.files, ranks.stage) = (listed.max(ranks.server_files), Survey::Offered);
        }
        // The requested list will contain the new files.
        _ if ranks.waits_for_list => return,
        _ => ranks.newer = listed.saturating_sub(ranks.files),
    }
    ranks.version = ranks.version.wrapping_add(1);
}

/// Stores the number of files on the server. The server lists only the newest of them.
pub(crate) fn on_files_counted(state: &mut Shared, served: usize) {
    state.ranks.server_files = served;
    if state.ranks.stage == Survey::Offered {
        on_files_listed(state);
    }
}

/// Returns a note that the list of snapshots omits files of the server. `None` if it is complete.
pub fn unlisted_note(state: &Shared) -> Option<String> {
    let (listed, served) = (state.snapshots.len(), state.ranks.server_files);
    let is_cut = served > listed && listed > 0 && state.snapshots.iter().all(is_served);
    is_cut.then(|| format!("Showing the {} newest of {}", group_digits(listed as u64), group_digits(served as u64)))
}

/// Starts the rank survey of all files on the server, including files that the list of snapshots omits.
fn survey_listed(state: &mut Shared, listed: Result<ServedFiles, String>, out: &mut Outbox) {
    if !std::mem::take(&mut state.ranks.waits_for_list) {
        return;
    }
    let note = match listed {
        Ok(ServedFiles { addresses, notes }) => {
            // The page lists few files, so comparing with each is fast.
            let known: Vec<&str> = state.snapshots.iter().filter_map(link_of).collect();
            let is_new = |address: &String| !known.contains(&address.as_str());
            let others: Vec<String> = addresses.into_iter().filter(is_new).collect();
            state.snapshots.extend(others.into_iter().map(SnapshotChoice::linked));
            notes.join(" ")
        }
        Err(cause) => format!("Only the files that the page lists are surveyed ({cause})."),
    };
    let files = files(state);
    state.ranks.files = files.len();
    state.ranks.version = state.ranks.version.wrapping_add(1);
    out.push(Effect::Ranks(RanksEffect::Survey(files)));
    if !note.is_empty() {
        out.push(Effect::Ranks(RanksEffect::NoteOmitted(note)));
    }
    if state.ranks.stage == Survey::Cancelled {
        out.push(Effect::Ranks(RanksEffect::Cancel));
    }
}

fn link_of(choice: &SnapshotChoice) -> Option<&str> {
    if let Origin::Link(link) = &choice.origin { Some(link) } else { None }
}

/// Returns the list of snapshots as files to scan.
fn files(state: &Shared) -> Vec<FileToSurvey> {
    let file = |choice: &SnapshotChoice| FileToSurvey {
        origin: choice.origin.clone(),
        member: choice.member,
        name: choice.name(),
    };
    state.snapshots.iter().map(file).collect()
}

/// Returns whether a snapshot is a file of `memscape serve`. Addresses of such files consist of a number and a name,
/// relative to the page.
pub(crate) fn is_served(choice: &SnapshotChoice) -> bool {
    let Origin::Link(link) = &choice.origin else { return false };
    let number = link.split_once('/').map_or("", |(number, _)| number);
    choice.member.is_none() && !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
}

/// Applies an action of the rank survey. [`RanksAction::Reply`] is ignored, because `update` handles it like a reply
/// about the open file.
pub(crate) fn handle_action(state: &mut Shared, action: RanksAction, out: &mut Outbox) {
    let ranks = &mut state.ranks;
    match action {
        RanksAction::Reply(_) => {}
        RanksAction::Listed(files) => survey_listed(state, files, out),
        RanksAction::FilesSkipped(sentence) => {
            if ranks.is_started() {
                out.push(Effect::Ranks(RanksEffect::NoteOmitted(sentence.clone())));
            }
            state.remark = Some(sentence);
        }
        RanksAction::Surveyed(done) => {
            (ranks.done, ranks.version) = (done, ranks.version.wrapping_add(1));
            if done >= ranks.files {
                ranks.stage = Survey::Done;
            }
        }
        RanksAction::Failed(cause) => ranks.stage = Survey::Failed(cause),
        RanksAction::OrderChosen(order) => (ranks.order, ranks.version) = (order, ranks.version.wrapping_add(1)),
        RanksAction::NamesTyped(typed) => {
            ranks.version = ranks.version.wrapping_add(1);
            out.push(Effect::Ranks(RanksEffect::SetNamePattern(typed)));
        }
        RanksAction::Toggled => {
            let (stage, effect) = match ranks.stage {
                Survey::Offered => (Survey::Running, RanksEffect::List),
                Survey::Done if ranks.newer > 0 => (Survey::Running, RanksEffect::List),
                Survey::Running => (Survey::Cancelled, RanksEffect::Cancel),
                Survey::Cancelled => (Survey::Running, RanksEffect::Resume),
                _ => return,
            };
            if effect == RanksEffect::List {
                (ranks.done, ranks.newer, ranks.waits_for_list) = (0, 0, true);
                ranks.version = ranks.version.wrapping_add(1);
            }
            ranks.stage = stage;
            out.push(Effect::Ranks(effect));
        }
    }
}

/// Records that the user has chosen a snapshot, so that no other snapshot is opened automatically.
pub(crate) fn on_snapshot_chosen(state: &mut Shared) {
    state.ranks.tries_next = false;
}

/// Opens the next snapshot after a snapshot failed to open, unless the user had chosen it. Returns whether a snapshot
/// was opened.
pub(crate) fn open_next(state: &mut Shared, out: &mut Outbox) -> bool {
    let next = state.snapshot_index + 1;
    let opens_next = state.ranks.tries_next && state.ranks.is_available() && next < state.snapshots.len();
    if opens_next {
        load(state, next, out);
        out.intend(Intent::OpenTopic(Topic::Ranks));
    }
    opens_next
}

/// Opens the snapshot at `index`, and compares it with the one at `second`, after a click in the insight.
pub(crate) fn open(state: &mut Shared, index: usize, second: Option<usize>, out: &mut Outbox) {
    on_snapshot_chosen(state);
    let second = second.map(SecondSource::Index);
    if index == state.snapshot_index && matches!(state.stage, Stage::Ready(_)) {
        second.iter().for_each(|second| comparing::load_second(state, second, out));
        return;
    }
    load(state, index, out);
    state.comparing.pending_second = second;
}
