//! The survey of many snapshots of one program, one per rank. Its files are read one after the other, next to the open
//! one. The result is the insight [`engine::protocol::Topic::Ranks`].

mod data;

pub use data::{Ranks, RanksAction, ServedFiles, Survey};

use super::comparing::{self, Wanted};
use super::effect::{Effect, FileToSurvey, Origin, RanksEffect};
use super::opening::load;
use super::shared::Shared;
use super::stage::{Choice, Stage};
use super::url;
use base::units::grouped;
use engine::protocol::Topic;
use std::collections::BTreeSet;

/// Minimum number of files for a survey. Two files are compared instead.
const LEAST: usize = 3;

/// Starts or offers a survey after files were opened.
pub(super) fn begin(state: &mut Shared, effects: &mut Vec<Effect>) {
    let version = state.ranks.version.wrapping_add(1);
    let had = state.ranks.is_any();
    state.ranks = Ranks { version, served: state.ranks.served, ..Ranks::default() };
    let members = state.snapshots.iter().any(|choice| choice.member.is_some());
    let far = state.snapshots.iter().filter(|choice| matches!(choice.origin, Origin::Link(_))).count();
    let is_many = state.snapshots.len() >= if members { 2 } else { LEAST };
    // Surveying links would download each file completely. `memscape serve` surveys its files itself, on request.
    let is_served = is_many && state.snapshots.iter().all(is_served);
    if is_served {
        state.ranks = Ranks { files: far.max(state.ranks.served), stage: Survey::Offered, ..state.ranks.clone() };
    }
    if far > 0 || !is_many {
        effects.extend(had.then_some(Effect::Ranks(RanksEffect::End)));
        return;
    }
    let files = files(state);
    // A link already determines the opened file and the view.
    let opens_any = state.linked.wanted.is_none();
    state.ranks = Ranks { files: files.len(), stage: Survey::Running, opens_any, ..state.ranks.clone() };
    if opens_any {
        state.topic_wanted = Some(Topic::Ranks);
    }
    effects.push(Effect::Ranks(RanksEffect::Begin(files)));
}

/// Updates the survey after the server has listed more files.
pub(super) fn grown(state: &mut Shared) {
    let listed = state.snapshots.len();
    if listed < LEAST || !state.snapshots.iter().all(is_served) {
        return;
    }
    let ranks = &mut state.ranks;
    match ranks.stage {
        Survey::None | Survey::Offered => (ranks.files, ranks.stage) = (listed.max(ranks.served), Survey::Offered),
        // The requested list will contain the new files.
        _ if ranks.waits_for_list => return,
        _ => ranks.newer = listed.saturating_sub(ranks.files),
    }
    ranks.version = ranks.version.wrapping_add(1);
}

/// Records the number of files on the server, which lists only the newest ones.
pub(super) fn counted(state: &mut Shared, served: usize) {
    state.ranks.served = served;
    if state.ranks.stage == Survey::Offered {
        grown(state);
    }
}

/// Returns a sentence about files of the server that are missing from the list of snapshots. `None` if all are listed.
pub fn unlisted(state: &Shared) -> Option<String> {
    let (listed, served) = (state.snapshots.len(), state.ranks.served);
    let is_cut = served > listed && listed > 0 && state.snapshots.iter().all(is_served);
    is_cut.then(|| format!("Showing the {} newest of {}", grouped(listed as u64), grouped(served as u64)))
}

/// Starts the survey of all files on the server. The list of snapshots contains only the newest of them.
fn listed(state: &mut Shared, listed: Result<ServedFiles, String>, effects: &mut Vec<Effect>) {
    if !std::mem::take(&mut state.ranks.waits_for_list) {
        return;
    }
    let cut = match listed {
        Ok(ServedFiles { addresses, missed }) => {
            let known: BTreeSet<&str> = state.snapshots.iter().filter_map(link_of).collect();
            let others: Vec<String> = addresses.into_iter().filter(|it| !known.contains(it.as_str())).collect();
            state.snapshots.extend(others.into_iter().map(|address| Choice {
                file: url::file_name(&address),
                origin: Origin::Link(address),
                member: None,
                path: None,
                bytes: None,
                load: None,
            }));
            missed.join(" ")
        }
        Err(cause) => format!("Only the files that the page lists are surveyed ({cause})."),
    };
    let files = files(state);
    state.ranks.files = files.len();
    state.ranks.version = state.ranks.version.wrapping_add(1);
    effects.push(Effect::Ranks(RanksEffect::Begin(files)));
    if !cut.is_empty() {
        effects.push(Effect::Ranks(RanksEffect::Cut(cut)));
    }
    if state.ranks.stage == Survey::Cancelled {
        effects.push(Effect::Ranks(RanksEffect::Cancel));
    }
}

fn link_of(choice: &Choice) -> Option<&str> {
    if let Origin::Link(link) = &choice.origin { Some(link) } else { None }
}

/// Returns all snapshots as files to survey.
fn files(state: &Shared) -> Vec<FileToSurvey> {
    let file =
        |choice: &Choice| FileToSurvey { origin: choice.origin.clone(), member: choice.member, name: choice.name() };
    state.snapshots.iter().map(file).collect()
}

/// Returns true if a snapshot has an address of `memscape serve`: a number and a name, relative to the page.
pub(super) fn is_served(choice: &Choice) -> bool {
    let Origin::Link(link) = &choice.origin else { return false };
    let number = link.split_once('/').map_or("", |(number, _)| number);
    choice.member.is_none() && !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
}

/// Applies an action. Replies ([`RanksAction::Told`]) are ignored because `update` handles them as replies about the
/// open file.
pub(super) fn act(state: &mut Shared, action: RanksAction, effects: &mut Vec<Effect>) {
    let ranks = &mut state.ranks;
    match action {
        RanksAction::Told(_) => {}
        RanksAction::Listed(files) => listed(state, files, effects),
        RanksAction::Cut(sentence) => {
            if ranks.is_begun() {
                effects.push(Effect::Ranks(RanksEffect::Cut(sentence.clone())));
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
            effects.push(Effect::Ranks(RanksEffect::Names(typed)));
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
            effects.push(Effect::Ranks(effect));
        }
    }
}

/// Records that the user has chosen a snapshot.
pub(super) fn chosen(state: &mut Shared) {
    state.ranks.opens_any = false;
}

/// Opens the next snapshot if the chosen one failed to open and the user did not choose it. Returns true if it does.
pub(super) fn opens_next(state: &mut Shared, now_ms: f64, effects: &mut Vec<Effect>) -> bool {
    let next = state.chosen + 1;
    let is_so = state.ranks.opens_any && state.ranks.is_any() && next < state.snapshots.len();
    if is_so {
        load(state, next, now_ms, effects);
        state.topic_wanted = Some(Topic::Ranks);
    }
    is_so
}

/// Opens or compares the snapshots that a click on evidence asks for.
pub(super) fn carry_out(state: &mut Shared, now_ms: f64, effects: &mut Vec<Effect>) {
    let Some((place, with)) = state.ranks.wanted.take() else { return };
    chosen(state);
    let with = with.map(Wanted::Place);
    if place == state.chosen && matches!(state.stage, Stage::Ready(_)) {
        with.iter().for_each(|with| comparing::begin(state, with, now_ms, effects));
        return;
    }
    load(state, place, now_ms, effects);
    state.comparing.wanted = with;
}
