//! Search for allocations: the query, its matches, navigation between matches, and highlighting of matches in the
//! timeline.

pub(crate) use crate::state::find::FindResult;
pub use crate::state::find::{Find, MatchCase, MatchScope, SameStack};

use crate::scope::selecting::select;
use crate::state::change::AskPhase;
use crate::state::drawing::BytesAxis;
use crate::state::effect::Effect;
use crate::state::outbox::Outbox;
use crate::state::part::Part;
use crate::state::shared::Shared;
use crate::text::amount::amount;
use base::units::{Bytes, group_digits, pluralize};
use protocol::{
    Answer, Details, Direction, Highlight, Match, Plot, PlotSettings, Query, QueryError, Question, Scope, SearchStart,
    Tally, Weight,
};

/// Status text beside the search field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindStatus {
    /// Short text: `12 of 3,407 · 1.20 GiB total · 310 MiB at the peak`.
    pub text: String,
    /// Text with exact bytes. May be empty.
    pub exact: String,
    /// True if `text` is an error message about the query.
    pub is_error: bool,
    /// Totals over all matches. `None` until the search has finished.
    pub tally: Option<Tally>,
}

/// Starts a search if `text` differs from the current text.
pub(crate) fn set_text(state: &mut Shared, text: String) {
    if text != state.find.text {
        search(state, text, state.find.match_case);
    }
}

/// Turns case-sensitive search on or off, and repeats the search.
pub(crate) fn toggle_match_case(state: &mut Shared) {
    let toggled = if state.find.match_case == MatchCase::On { MatchCase::Off } else { MatchCase::On };
    let text = state.find.text.clone();
    search(state, text, toggled);
}

/// Repeats the search if the query contains `@category`. Called after the category rules have changed.
pub(crate) fn categories_changed(state: &mut Shared) {
    if state.find.text.contains("@category") {
        let Find { text, match_case, .. } = state.find.clone();
        search(state, text, match_case);
        state.find.pending = None;
        state.find.result = None;
    }
}

fn search(state: &mut Shared, text: String, match_case: MatchCase) {
    // Previous matches stay highlighted until new ones arrive, which avoids flicker while typing.
    let found = state.find.result.take();
    let mut find = Find { text, match_case, ..Find::default() };
    let query = Query::parse(&find.query());
    // A query for an allocation's id goes to its only match at once.
    find.queued_step = matches!(query, Ok(Query::Number(_))).then_some((Direction::Next, MatchScope::All));
    let is_empty = matches!(query, Err(QueryError::Empty));
    find.error = query.err().filter(|_| !is_empty);
    find.result = found.filter(|_| !is_empty && find.error.is_none());
    state.find = find;
}

/// Sends the query to the worker if its result is missing, and goes to a match if that was requested before the search
/// had finished.
fn ask(state: &mut Shared, device: i64, out: &mut Outbox) {
    if state.find.needs_search() {
        state.find.pending = Some(out.ask(device, Question::Find(state.find.query())));
    }
    if let Some((direction, among)) = state.find.queued_step.take() {
        go_to_match(state, direction, among, out);
    }
}

/// Callbacks of the search.
pub(crate) const PART: Part = Part { asks: &[(AskPhase::BeforeScene, ask)], take };

fn take(state: &mut Shared, serial: u32, answer: Answer, out: &mut Outbox) -> Option<Answer> {
    match answer {
        Answer::Find(tally) => on_found(state, serial, tally),
        Answer::FindNext(found) => on_stepped(state, serial, found, out),
        other => return Some(other),
    }
    None
}

/// Goes to the next or previous match. If the search has not finished, does so once it has.
pub(crate) fn go_to_match(state: &mut Shared, direction: Direction, among: MatchScope, out: &mut Outbox) {
    // A new stacking order is built together with the scene. A question sent before that would block the worker.
    let is_stacking_built = state.drawn_settings().stacking == state.plot_settings.stacking;
    let Some(found) = state.find.current_result().filter(|_| is_stacking_built && state.find.pending_step.is_none())
    else {
        if state.find.text.trim().is_empty() {
            out.push(Effect::FocusFind);
        } else {
            state.find.queued_step = Some((direction, among));
        }
        return;
    };
    let search_serial = found.serial;
    let Some(device) = state.device().map(|device| device.device) else { return };
    let window = window(state);
    // The details of the last visited match may still be on their way.
    let last = state.find.match_to_reveal.map(|it| it.allocation);
    let last = last.or(state.selection.as_deref().map(|it| it.allocation));
    let last = last.or(state.find.last_match.map(|it| it.allocation));
    let begin = last.map_or(SearchStart::Moment(window[0]), SearchStart::Allocation);
    let plot_settings = state.plot_settings.without_highlight();
    let scope = if among == MatchScope::All { Scope::All } else { state.views.scope };
    let question = Question::FindNext { search_serial, begin, direction, plot_settings, window, scope };
    state.find.pending_step = Some(out.ask(device, question));
}

/// Returns the range of moments in the window. The end is exclusive.
pub(crate) fn window(state: &Shared) -> [u32; 2] {
    let (Some(view), Some(scene)) = (state.view(), state.scene()) else { return [0, u32::MAX] };
    let moment = |column: f64| {
        let x = scene.view.column_from_x(view.x_from_column(column)).floor() as i32;
        let after = scene.columns.edge_px.partition_point(|&edge| edge <= x);
        scene.columns.moment.get(after.saturating_sub(1)).or(scene.columns.moment.last()).copied()
    };
    let (from, to) = (moment(0.0).unwrap_or(0), moment(f64::from(view.width_px)).unwrap_or(u32::MAX - 1));
    [from, to.saturating_add(1)]
}

/// Handles the result of a search. Ignored if `serial` is not that of the pending search.
fn on_found(state: &mut Shared, serial: u32, tally: Tally) {
    if state.find.pending.take_if(|asked| *asked == serial).is_none() {
        return;
    }
    state.find.result = Some(FindResult { serial, query: state.find.query(), tally });
}

/// Handles the worker's response to a request for the next or previous match. Ignored if `serial` is not that of the
/// pending request.
fn on_stepped(state: &mut Shared, serial: u32, found: Option<Match>, out: &mut Outbox) {
    if state.find.pending_step.take_if(|pending| *pending == serial).is_none() {
        return;
    }
    let Some(found) = found else {
        state.remark = Some("No matches in this view.".to_owned());
        return;
    };
    select(state, found.allocation, out);
    (state.find.last_match, state.find.match_to_reveal) = (Some(found), Some(found));
}

/// Pans the window to the match that was navigated to, if it is outside. Returns `None` if `details` describe another
/// allocation.
pub(crate) fn reveal(state: &mut Shared, details: &Details) -> Option<()> {
    let found = state.find.match_to_reveal.take_if(|it| it.allocation == details.allocation)?;
    let allocated_at = details.allocated_event.map_or(Some(0.0), |event| state.x_of(event, details.allocated_us))?;
    let freed_at = details.freed_event.map_or(Some(f64::INFINITY), |event| state.x_of(event, details.freed_us))?;
    let fits_bytes = state.bytes_axis == BytesAxis::FitsWindow && state.no_fit_reason().is_none();
    state.navigate(|plane, view| {
        let (width, height) = (f64::from(view.width_px), f64::from(view.height_px));
        let in_time =
            view.x_from_column(width) > allocated_at && view.x_from_column(0.0) < freed_at.max(allocated_at + 1.0);
        let right = if in_time { 0.0 } else { view.column_from_x(allocated_at + 0.5) - width / 2.0 };
        let edges = [found.lowest_byte, found.lowest_byte.saturating_add(found.requested)];
        let [lower, upper] = edges.map(|byte| view.row_from_bytes(byte) as f64);
        let in_height = fits_bytes || (upper >= 1.0 && lower + 1.0 <= height);
        let up = if in_height { 0.0 } else { lower.midpoint(upper) - height / 2.0 };
        if right == 0.0 && up == 0.0 { view } else { plane.moved(view, right, up) }
    });
    Some(())
}

/// Returns the serial of the search whose matches are highlighted.
pub(crate) fn match_serial(state: &Shared) -> Option<u32> {
    state.find.result.as_ref().filter(|found| found.tally.count > 0).map(|found| found.serial)
}

/// Returns the display settings to draw with. They highlight the selected node, or else the search matches, or else
/// the allocations with the selected allocation's stack.
pub(crate) fn wanted_plot_settings(state: &Shared) -> PlotSettings {
    if matches!(state.plot_settings.plot, Plot::Reserved(_)) {
        // The reserved plot draws segments, not allocations.
        return state.plot_settings.without_highlight();
    }
    let found = state.find.result.as_ref().filter(|found| found.tally.count > 0);
    let stack = state.selection.as_deref().and_then(|selection| selection.stack);
    let stack = stack.filter(|_| state.same_stack == SameStack::Highlighted);
    let by_stack = stack.map_or(Highlight::Nothing, Highlight::Stack);
    let found = found.map_or(by_stack, |found| Highlight::Found(found.serial));
    PlotSettings {
        highlight: state.views.node.map(|node| Highlight::Node(state.views.arrangement, node)).unwrap_or(found),
        ..state.plot_settings
    }
}

/// Builds the status text beside the search field.
pub fn status(state: &Shared) -> FindStatus {
    let find = &state.find;
    if let Some(error) = &find.error {
        return FindStatus { text: error.to_string(), is_error: true, ..FindStatus::default() };
    }
    let Some(tally) = find.current_result().map(|found| found.tally) else {
        let text = if find.pending.is_some() { "Searching…" } else { "" };
        return FindStatus { text: text.to_owned(), ..FindStatus::default() };
    };
    if tally.count == 0 {
        return FindStatus { text: "No matches".to_owned(), tally: Some(tally), ..FindStatus::default() };
    }
    let selected = state.selection.as_deref().map(|selection| selection.allocation);
    let count = u64::from(tally.count);
    let counted = match find.last_match.filter(|last_match| Some(last_match.allocation) == selected) {
        Some(last_match) => format!("{} of {}", group_digits(u64::from(last_match.index) + 1), group_digits(count)),
        None if count == 1 => "1 match".to_owned(),
        None => format!("{} matches", group_digits(count)),
    };
    FindStatus {
        text: format!("{counted} · {} total · {} at the peak", Bytes(tally.requested), Bytes(tally.peak_requested)),
        exact: format!(
            "{} B requested in total{}; {} live at the peak, {} B",
            group_digits(tally.requested),
            // The sums are over the whole trace, like those of the command line.
            if tally.peak_requested < tally.requested { " (not all live at once)" } else { "" },
            group_digits(tally.peak_count.into()),
            group_digits(tally.peak_requested)
        ),
        is_error: false,
        tally: Some(tally),
    }
}

/// Formats the matches within a view: `12 found · 310 MiB`. `search_serial` is the search that the view was
/// computed for. Empty if that is not the latest search, or if the search has no matches.
pub(crate) fn matches_text(state: &Shared, search_serial: Option<u32>, scope: Scope, weight: Weight) -> String {
    if search_serial.is_none() || search_serial != match_serial(state) {
        return String::new();
    }
    let mut text = group_digits(weight.count.into());
    text.push_str(" found · ");
    text.push_str(&amount(scope, weight.bytes));
    text
}

/// Formats the totals of all allocations with the selected allocation's stack. Empty until they are known.
pub fn same_stack_text(state: &Shared) -> String {
    let stack = state.selection.as_deref().and_then(|selection| selection.stack);
    let Some(tally) = stack.and_then(|stack| state.surroundings.same_stack.answer_to(&stack)) else {
        return String::new();
    };
    let at_peak = match tally.peak_count {
        0 => "none at the peak".to_owned(),
        count => format!("{} at the peak, {}", group_digits(count.into()), Bytes(tally.peak_requested)),
    };
    let counted = pluralize(tally.count.into(), "allocation");
    format!("{counted} · {} total · {at_peak}", Bytes(tally.requested))
}
