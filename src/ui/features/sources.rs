//! The Source tab: expanded files, the dropped source file, requests to the worker, and clicks.

mod data;

pub(crate) use data::line_query;
pub use data::{SourceAction, SourceInputs, SourceText, Sources};

mod link;

use crate::features::feature::{Feature, close_nothing};
use crate::features::source_rows::{RowKind, view};
use crate::state::change::{AskPhase, Change};
use crate::state::effect::{Effect, GivenFile};
use crate::state::outbox::{Intent, Outbox};
use crate::state::shared::Shared;
use crate::state::stage::Stage;
use crate::text::tab::Tab;
use protocol::{Answer, Question, SourceFile};
use std::rc::Rc;

pub(crate) const FEATURE: Feature<Sources, SourceAction> = Feature {
    reset,
    questions: &[(AskPhase::BeforeScene, ask)],
    on_reply: take,
    on_action: handle_action,
    link_keys: link::LINKS,
    on_escape: close_nothing,
};

/// Maximum size of a source file in bytes. Larger files are treated as snapshots.
const MAX_SOURCE_BYTES: u64 = 4 << 20;
/// Returns all state that the contents of the tab depend on.
pub fn inputs(sources: &Sources, shared: &Shared) -> SourceInputs {
    let selected = [shared.selection.as_deref().map(|selection| selection.allocation), shared.views.node];
    SourceInputs { changes: sources.changes, search: shared.find.text.clone(), selected }
}

/// Resets the tab after a change of device, but keeps the dropped file.
fn reset(sources: &mut Sources, _: &Shared, change: Change, _: &mut Outbox) {
    if change.is_device_change() {
        let changes = sources.changes + 1;
        *sources = Sources { text: sources.text.take(), changes, ..Sources::default() };
    }
}

/// Requests missing data while the tab is visible.
fn ask(sources: &mut Sources, shared: &Shared, device: i64, out: &mut Outbox) {
    if shared.views.visible() == Some(Tab::Sources) {
        sources.page.ask(shared.views.scope, device, out, Question::Sources);
    }
}

/// Stores a reply with bytes per file and line. Returns replies for other features.
fn take(sources: &mut Sources, _: &Shared, serial: u32, answer: Answer, _: &mut Outbox) -> Option<Answer> {
    let Answer::Sources(page) = answer else { return Some(answer) };
    sources.page.take(serial, Rc::from(page));
    sources.changes += 1;
    None
}

/// Opens a source file if all given files are source files and a snapshot is open. Chooses the file with the most bytes
/// in the snapshot, or else the first one. Returns true if a file is opened.
pub(crate) fn open_if_sources(sources: &Sources, shared: &Shared, files: &[GivenFile], out: &mut Outbox) -> bool {
    let is_source = |file: &GivenFile| {
        let is_code = [".py", ".pyx"].iter().any(|end| file.name.ends_with(end));
        file.bytes <= MAX_SOURCE_BYTES && (is_code || sources.index_of(&file.name).is_some())
    };
    if !matches!(shared.stage, Stage::Ready(_)) || !files.iter().all(is_source) {
        return false;
    }
    let by_weight = |(_, file): &(usize, &GivenFile)| sources.index_of(&file.name).unwrap_or(usize::MAX);
    let Some((index, file)) = files.iter().enumerate().min_by_key(by_weight) else { return false };
    out.intend(Intent::Show(Tab::Sources));
    out.push(Effect::ReadText(index, file.name.clone()));
    true
}

/// Handles user input in the tab.
fn handle_action(sources: &mut Sources, shared: &Shared, action: SourceAction, out: &mut Outbox) {
    sources.changes += 1;
    match action {
        SourceAction::RowClicked(index) => {
            let Some(row) = view(sources, shared).rows.into_iter().nth(index) else { return };
            match row.kind {
                RowKind::File(_) => toggle_file(sources, row.path),
                RowKind::Line => toggle_line_search(shared, &row.path, &row.label, out),
                RowKind::Note => {}
            }
        }
        SourceAction::LineClicked(line) => {
            let Some(path) = sources.text_file().map(|file| file.path.clone()) else { return };
            toggle_line_search(shared, &path, &line.to_string(), out);
        }
        SourceAction::Read(Ok(text)) => sources.text = Some(Rc::new(text)),
        SourceAction::Read(Err(cause)) => out.say(cause),
        SourceAction::Closed => sources.text = None,
    }
}

fn toggle_file(sources: &mut Sources, path: String) {
    let Some(page) = sources.page.latest() else { return };
    let expanded_path =
        |(index, file): (usize, &SourceFile)| sources.is_expanded(index, &file.path).then(|| file.path.clone());
    let mut open: Vec<String> = page.files.iter().enumerate().filter_map(expanded_path).collect();
    match open.iter().position(|known| *known == path) {
        Some(position) => drop(open.remove(position)),
        None => open.push(path),
    }
    sources.expanded = Some(open);
}

/// Toggles a search for a line, which highlights it in all views and in the timeline.
fn toggle_line_search(shared: &Shared, path: &str, line: &str, out: &mut Outbox) {
    let query = line_query(path, line);
    let text = if shared.find.text == query { String::new() } else { query };
    // A selected node would take precedence.
    out.intend(Intent::Node(None));
    out.intend(Intent::Search(text));
}

#[cfg(test)]
#[path = "../../../tests/units/ui/features/sources.rs"]
mod tests;
