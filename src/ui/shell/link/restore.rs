//! Follows a link: opens its file or requests it from the user, and then restores the view.

use crate::features::State;
use crate::plot::comparing;
use crate::session::opening::{load, load_links};
use crate::session::{first_group, ranks};
use crate::shell::default_view::show_default_view;
use crate::shell::link::build::snapshot_urls;
use crate::shell::link::keys::KEYS;
use crate::state::drawing::Purpose;
use crate::state::link::{FORMAT_VERSION, Link, TAB, Unknown};
use crate::state::link_value::ValueReader;
use crate::state::outbox::Outbox;
use crate::state::shared::Shared;
use crate::state::stage::Stage;
use crate::text::fingerprint::length;
use crate::text::tab::Tab;
use base::units::Bytes;

/// Follows a link from the page's address, or from a saved page that contains one.
pub(crate) fn follow_link(state: &mut State, link: Link, out: &mut Outbox) {
    let is_open = Link::from_state(state).is_some_and(|now| link.has_same_file(&now));
    if is_open {
        // The fragment of an anchor is not a link.
        if link.version.is_some() || link.has_view() {
            if link.names_only_tab() {
                apply_keys(state, &Link::default(), &mut Unknown::default(), out);
                let shown = state.device_index;
                show_default_view(state, Some(shown), out);
            }
            restore_view(state, link.clone(), out);
            state.linked.pending = state.linked.pending.take().or(Some(link));
            match_file(state, out);
            if let Some(wanted) = state.comparing.pending_second.take() {
                comparing::load_second(state, &wanted, out);
            }
        }
        return;
    }
    let (urls, index) = (link.urls.clone(), link.snapshot);
    // If an archive was downloaded before, only the linked snapshot of the archive is loaded.
    let is_listed = |_: &usize| urls.get(index).is_some_and(|address| snapshot_urls(state, address) == urls);
    let known = state.snapshots.iter().position(|choice| link.points_to(choice)).filter(is_listed);
    let needs_file = link.needs_local_file();
    // The fragment of an anchor is not a link.
    let is_needed_later = !urls.is_empty() && (link.member.is_some() || link.unknown.count > 0);
    state.linked.pending =
        Some(link).filter(|link| link.has_view() || needs_file || is_needed_later || version_warning(link).is_some());
    match known {
        _ if urls.is_empty() => state.linked.notice = file_request(state),
        Some(index) => {
            // The link specifies which events are loaded.
            state.snapshots.iter_mut().skip(index).take(1).for_each(|choice| choice.load = None);
            load(state, index, out);
        }
        None => {
            load_links(state, urls, index, out);
            ranks::start_survey(state, out);
        }
    }
}

/// Restores the view of the pending link after a file was opened.
pub(crate) fn on_file_opened(state: &mut State, out: &mut Outbox) {
    // A file without an address can only be matched with the link by its fingerprint, which is not known yet.
    let is_its_file = |link: &&Link| !link.urls.is_empty() || link.fingerprint.is_empty();
    if let Some(link) = state.linked.pending.as_ref().filter(is_its_file).cloned() {
        // If the link has no view, the file is shown with its defaults.
        if link.has_view() {
            restore_view(state, link, out);
        } else {
            state.linked.notice = warnings(&link, &link.unknown);
        }
        if !matches!(state.stage, Stage::Ready(_)) {
            return;
        }
    }
    match_file(state, out);
}

/// Stores the fingerprint of the open file and compares the file with the pending link.
pub(crate) fn on_fingerprint(state: &mut State, print: String, out: &mut Outbox) {
    state.linked.fingerprint = print;
    match_file(state, out);
}

/// Compares the open file with the pending link, once the file is open and its fingerprint is known.
fn match_file(state: &mut State, out: &mut Outbox) {
    let is_known = !state.linked.fingerprint.is_empty();
    let is_open = matches!(state.stage, Stage::Ready(_));
    let Some(link) = state.linked.pending.take_if(|link| is_open && (is_known || link.fingerprint.is_empty())) else {
        return;
    };
    let is_same = link.fingerprint == state.linked.fingerprint;
    match (link.urls.is_empty(), is_same) {
        _ if link.fingerprint.is_empty() => {}
        (true, true) => restore_view(state, link, out),
        (true, false) => {
            state.linked.pending = Some(link);
            state.linked.notice = file_request(state).map(|asked| ["This is a different file. ", &asked].concat());
        }
        (false, true) => {}
        (false, false) => {
            let text = "The file at this address has changed since the link was made, so the view may differ.";
            state.linked.notice = join_sentences([Some(text.to_owned()), state.linked.notice.take()]);
        }
    }
}

/// Returns the message that asks the user for a file that has no address. `None` if the link does not wait for such a
/// file.
fn file_request(state: &Shared) -> Option<String> {
    let link = state.linked.pending.as_ref().filter(|link| link.needs_local_file())?;
    let length = length(&link.fingerprint).map_or_else(String::new, |bytes| format!(" ({})", Bytes(bytes)));
    let name = if link.name.is_empty() { "a local file" } else { &link.name };
    Some(format!("This view belongs to {name}{length}. Choose that file to restore it."))
}

fn version_warning(link: &Link) -> Option<String> {
    let version = link.version.filter(|version| *version != FORMAT_VERSION)?;
    Some(format!("The link was made by another version of memscape (v={version}); parts of the view may be missing."))
}

/// Returns a warning about another format version and unknown keys. `None` if there is nothing to report.
fn warnings(link: &Link, unknown: &Unknown) -> Option<String> {
    join_sentences([version_warning(link), unknown.message()])
}

/// Joins the sentences that are present.
fn join_sentences(sentences: [Option<String>; 2]) -> Option<String> {
    let all: Vec<String> = sentences.into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// Restores the view of a link. Missing keys get their defaults, except that a link with only a tab changes nothing but
/// the tab. If the link belongs to another snapshot of the same archive, opens that snapshot first.
fn restore_view(state: &mut State, link: Link, out: &mut Outbox) {
    if !matches!(state.stage, Stage::Ready(_)) {
        return;
    }
    if let Some(index) = linked_member(state, &link) {
        load(state, index, out);
        state.linked.pending = Some(link);
        return;
    }
    let mut unknown = link.unknown.clone();
    if link.names_only_tab() {
        match Tab::from_name(link.value(TAB)) {
            Some(tab) => state.views.show(tab),
            None => unknown.add(TAB),
        }
    } else {
        apply_keys(state, &link, &mut unknown, out);
    }
    state.linked.notice = warnings(&link, &unknown);
}

/// Applies the keys of a link. Missing keys get their defaults. Adds the keys that are not understood to `unknown`.
fn apply_keys(state: &mut State, link: &Link, unknown: &mut Unknown, out: &mut Outbox) {
    first_group::cancel(&mut state.shared);
    // A pending question about a click no longer applies.
    state.question = None;
    let mut read = |name: &'static str, out: &mut Outbox, set: &mut dyn FnMut(&mut ValueReader<'_>)| {
        let mut reader = ValueReader { out, text: link.value(name), is_understood: true };
        set(&mut reader);
        if !reader.is_understood {
            unknown.add(name);
        }
    };
    for key in KEYS {
        read(key.name, out, &mut |reader| (key.set)(&mut state.shared, reader));
    }
    // Another device may be shown now.
    state.forget(out);
    state.show_link(&mut read, out);
    state.tools.kept_selection = None;
}

/// Returns true while a link is being followed: the view is not restored yet, or the user is asked for the file.
pub fn is_following_link(state: &Shared) -> bool {
    let waits_for_file = state.linked.pending.as_ref().is_some_and(|link| link.urls.is_empty());
    let selects_segment = state.question.is_some_and(|question| question.purpose == Purpose::SelectSegment);
    let sets_window = state.linked.pending_window.is_some() || state.linked.pending_heights.is_some();
    waits_for_file || sets_window || selects_segment || state.selecting.is_some()
}

/// Returns the index of the linked snapshot, if another snapshot of the same file is open.
fn linked_member(state: &Shared, link: &Link) -> Option<usize> {
    let open = state.snapshots.get(state.snapshot_index)?;
    let wanted = link.member.filter(|member| open.member != Some(*member))?;
    state.snapshots.iter().position(|choice| choice.origin == open.origin && choice.member == Some(wanted))
}
