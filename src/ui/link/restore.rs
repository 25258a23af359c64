//! A link is followed: its file is opened or asked for, and then all is shown as the link has it.

use super::keys::KEYS;
use super::values::Window;
use super::{Link, VERSION};
use crate::ui::action::Effect;
use crate::ui::fingerprint::length;
use crate::ui::opening::{load, load_links};
use crate::ui::state::{Stage, State};
use crate::units::Bytes;

/// What a link still wants.
#[derive(Clone, Debug, Default)]
pub struct Linked {
    /// The link whose file is not open yet.
    pub wanted: Option<Link>,
    /// What tells the open file from others; empty until that is known.
    pub print: String,
    /// What is to be said of the link, until somebody closes it.
    pub notice: Option<String>,
    /// The window that is to be shown as soon as it is known how high the plot is.
    pub(in crate::ui) window: Option<Window>,
    /// The request for the details of an allocation that shall be selected without a move of the window.
    pub(in crate::ui) quiet: Option<u32>,
}

impl Linked {
    /// Another file is opened. A link that asks for one goes on asking.
    pub(in crate::ui) fn leave_file(&mut self) {
        let wanted = self.wanted.take().filter(|link| link.urls.is_empty());
        let notice = self.notice.take().filter(|_| wanted.is_some());
        *self = Linked { wanted, notice, ..Linked::default() };
    }

    /// What is said of the link was read: it asks for nothing any more.
    pub(in crate::ui) fn close_notice(&mut self) {
        (self.wanted, self.notice) = (None, None);
    }
}

/// A link was given: by the page's address, or by the page itself.
pub(in crate::ui) fn given(state: &mut State, link: Link, now_ms: f64, effects: &mut Vec<Effect>) {
    let is_open = Link::of(state).is_some_and(|now| link.is_of_same_file(&now));
    if is_open {
        // The fragment of an anchor is no link.
        if link.version.is_some() || link.has_view() {
            show(state, link.clone(), now_ms, effects);
            state.linked.wanted = state.linked.wanted.take().or(Some(link));
            compare(state, now_ms, effects);
        }
        return;
    }
    let urls = link.urls.clone();
    let place = link.chosen;
    let asks = urls.is_empty() && !link.print.is_empty();
    state.linked.wanted = Some(link).filter(|link| link.has_view() || asks || later(link).is_some());
    if urls.is_empty() {
        state.linked.notice = asking(state);
    } else {
        let wanted = state.linked.wanted.take();
        load_links(state, urls, place, now_ms, effects);
        state.linked.wanted = wanted;
    }
}

/// A file was opened: it is shown as its link has it.
pub(in crate::ui) fn opened(state: &mut State, now_ms: f64, effects: &mut Vec<Effect>) {
    // Whether a file without an address is the link's is known once its fingerprint is.
    let is_its = |link: &&Link| !link.urls.is_empty() || link.print.is_empty();
    if let Some(link) = state.linked.wanted.as_ref().filter(is_its).cloned() {
        show(state, link, now_ms, effects);
        if !matches!(state.stage, Stage::Ready(_)) {
            return;
        }
    }
    compare(state, now_ms, effects);
}

/// What tells the open file from others is known now.
pub(in crate::ui) fn printed(state: &mut State, print: String, now_ms: f64, effects: &mut Vec<Effect>) {
    state.linked.print = print;
    compare(state, now_ms, effects);
}

/// As soon as a file is open and known: whether it is the link's.
fn compare(state: &mut State, now_ms: f64, effects: &mut Vec<Effect>) {
    let is_known = !state.linked.print.is_empty();
    let is_open = matches!(state.stage, Stage::Ready(_));
    let Some(link) = state.linked.wanted.take_if(|link| is_open && (is_known || link.print.is_empty())) else { return };
    let is_same = link.print == state.linked.print;
    match (link.urls.is_empty(), is_same) {
        _ if link.print.is_empty() => {}
        (true, true) => show(state, link, now_ms, effects),
        (true, false) => {
            state.linked.wanted = Some(link);
            state.linked.notice = asking(state).map(|asked| ["This is another file. ", &asked].concat());
        }
        (false, true) => {}
        (false, false) => {
            let text = "The file at this address is not the one that the link was made for: what the link shows may be something else in it.";
            state.linked.notice = Some(text.to_owned());
        }
    }
}

/// What a link asks for that names a file without an address; `None` while none does.
fn asking(state: &State) -> Option<String> {
    let link = state.linked.wanted.as_ref().filter(|link| link.urls.is_empty() && !link.print.is_empty())?;
    let length = length(&link.print).map_or_else(String::new, |bytes| format!(" ({})", Bytes(bytes)));
    let name = if link.name.is_empty() { "a file that is not hosted" } else { &link.name };
    Some(format!("The link shows {name}{length}: drop or choose that file, and it opens as the link has it."))
}

fn later(link: &Link) -> Option<String> {
    let version = link.version.filter(|version| *version != VERSION)?;
    Some(format!("The link is of another version of this page (v={version}): what can be understood of it is shown."))
}

/// Shows the open file as a link has it; what the link does not say is as a page begins. Where the link is about another snapshot of the
/// same archive, that is opened first.
fn show(state: &mut State, link: Link, now_ms: f64, effects: &mut Vec<Effect>) {
    if !matches!(state.stage, Stage::Ready(_)) {
        return;
    }
    if let Some(place) = other_member(state, &link) {
        load(state, place, now_ms, effects);
        state.linked.wanted = Some(link);
        return;
    }
    state.linked.notice = later(&link);
    for key in KEYS {
        (key.set)(state, link.value(key.name), effects);
    }
    // What was selected and clicked before has no place in it.
    (state.tools.kept, state.question) = (None, None);
}

impl State {
    /// Whether a link is still being followed: what is seen is not yet what it says, or its file is asked for.
    pub fn is_following(&self) -> bool {
        let asks = self.linked.wanted.as_ref().is_some_and(|link| link.urls.is_empty());
        asks || self.linked.window.is_some() || self.selecting.is_some()
    }
}

/// The place of the snapshot that a link is about, where another one of the same file is open.
fn other_member(state: &State, link: &Link) -> Option<usize> {
    let open = state.snapshots.get(state.chosen)?;
    let wanted = link.member.filter(|member| open.member != Some(*member))?;
    state.snapshots.iter().position(|choice| choice.origin == open.origin && choice.member == Some(wanted))
}

/// Puts the window where a link wants it, as soon as it is known how high the plot is.
pub(in crate::ui) fn settle(state: &mut State) {
    if let Some(window) = state.linked.window
        && state.view.is_some()
        && state.device().is_some_and(|device| state.plot_height(device).is_some())
    {
        state.linked.window = None;
        state.navigate(|plane, view| window.of(plane, view));
    }
}
