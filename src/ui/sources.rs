//! The view "By source": files and lines of the user's own code with what is theirs, and a source file that was dropped, beside it.

use super::action::{Effect, GivenFile};
use super::find;
use super::state::{Stage, State};
use super::surroundings::Answer;
use super::views::Tab;
use crate::engine::protocol::{Request, Scope, SourceFile, SourcesPage, Standing};
use crate::units::{Bytes, counted, grouped};
use std::rc::Rc;

/// Bytes of a source file that is shown: no code is longer, and snapshots are.
const LONGEST_SOURCE: u64 = 4 << 20;
/// Lines of a source file that are shown.
pub const MOST_TEXT_LINES: usize = 40_000;
/// Rows of the table that are shown.
const MOST_ROWS: usize = 1500;

/// The view.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// What the worker told last.
    page: Answer<Scope, Rc<SourcesPage>>,
    /// Paths of the files whose lines are seen; `None` until a person opened or closed one: the heaviest file's.
    open: Option<Vec<String>>,
    /// The source file that was dropped.
    text: Option<Rc<SourceText>>,
}

/// A source file that was dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// Its name, or its path in a dropped folder.
    pub name: String,
    /// What stands in it.
    pub text: String,
}

/// What happened in the view.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceAction {
    /// The row with this place was clicked.
    Picked(usize),
    /// A line of the source file beside it was clicked.
    LinePicked(u32),
    /// The source file was read, or why not.
    Read(Result<SourceText, String>),
    /// It is no longer wanted.
    Closed,
}

/// What a row of the table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// A file; whether its lines are seen.
    File(Unfolded),
    /// A line of the file above.
    Line,
    /// What is none of them.
    Note,
}

/// Whether the lines of a file are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfolded {
    /// They are.
    Yes,
    /// They are not.
    No,
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is.
    pub kind: RowKind,
    /// The file's name, or the line's number.
    pub label: String,
    /// The whole path, with the line's number.
    pub place: String,
    /// Bytes in the scope, in short; in full, to the byte, in `exact`.
    pub bytes: String,
    /// See `bytes`.
    pub exact: String,
    /// Thousandths of all of the scope.
    pub share: u64,
    /// Allocations in the scope.
    pub count: String,
    /// Bytes live at the device's peak.
    pub peak: String,
    /// Whether the search looks for this line.
    pub is_picked: bool,
}

/// The table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceView {
    /// What the column of bytes holds.
    pub unit: &'static str,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A line of the dropped file that has bytes: its number from 1, bytes in the scope and at the peak, and thousandths of the
/// heaviest line.
#[derive(Clone, Debug, PartialEq)]
pub struct Margin {
    /// The line.
    pub line: u32,
    /// In the scope.
    pub now: String,
    /// At the peak.
    pub peak: String,
    /// Of the heaviest line, in thousandths.
    pub part: u64,
}

/// The dropped file beside the table.
#[derive(Clone, Debug, PartialEq)]
pub struct TextView {
    /// The file.
    pub text: Rc<SourceText>,
    /// Its path in the snapshot, or that it has none.
    pub title: String,
    /// The lines with bytes, heaviest first.
    pub margins: Vec<Margin>,
}

impl Sources {
    /// Another device, or another file: only the dropped text stays.
    pub(super) fn forget(&mut self) {
        *self = Sources { text: self.text.take(), ..Sources::default() };
    }

    fn is_open(&self, place: usize, path: &str) -> bool {
        self.open.as_ref().map_or(place == 0, |open| open.iter().any(|known| known == path))
    }
}

/// Asks for what is missing, while the view is seen.
pub(super) fn ask(state: &mut State, device: i64, effects: &mut Vec<Effect>) {
    let scope = state.views.scope;
    if state.views.seen() == Some(Tab::Sources) && state.sources.page.wants(scope) {
        let serial = state.next_serial();
        state.sources.page.ask(serial, scope);
        effects.push(Effect::Ask(Request::Sources { serial, device, scope }));
    }
}

/// Takes the worker's answer.
pub(super) fn take(state: &mut State, serial: u32, page: SourcesPage) {
    state.sources.page.take(serial, Rc::new(page));
}

/// Whether a file that was given is a source file of the open snapshot, and no snapshot; then it is to be read.
pub(super) fn given(state: &mut State, files: &[GivenFile], effects: &mut Vec<Effect>) -> bool {
    let ([file], Stage::Ready(_)) = (files, &state.stage) else { return false };
    let page = state.sources.page.latest();
    let is_known = page.is_some_and(|page| best_match(&file.name, &page.files).is_some());
    if file.bytes > LONGEST_SOURCE || !(is_known || file.name.ends_with(".py")) {
        return false;
    }
    state.views.show(Tab::Sources);
    effects.push(Effect::ReadText(file.name.clone()));
    true
}

/// Carries out what happened in the view.
pub(super) fn act(state: &mut State, action: SourceAction) {
    match action {
        SourceAction::Picked(place) => {
            let Some(row) = view(state).rows.into_iter().nth(place) else { return };
            match row.kind {
                RowKind::File(_) => fold(state, row.place),
                RowKind::Line => pick(state, &row.place),
                RowKind::Note => {}
            }
        }
        SourceAction::LinePicked(line) => {
            let Some(path) = text_file(state).map(|file| file.path.clone()) else { return };
            pick(state, &(path + ":" + &line.to_string()));
        }
        SourceAction::Read(Ok(text)) => state.sources.text = Some(Rc::new(text)),
        SourceAction::Read(Err(cause)) => state.remark = Some(cause),
        SourceAction::Closed => state.sources.text = None,
    }
}

fn fold(state: &mut State, path: String) {
    let Some(page) = state.sources.page.latest().cloned() else { return };
    let seen =
        |(place, file): (usize, &SourceFile)| state.sources.is_open(place, &file.path).then(|| file.path.clone());
    let mut open: Vec<String> = page.files.iter().enumerate().filter_map(seen).collect();
    match open.iter().position(|known| *known == path) {
        Some(at) => drop(open.remove(at)),
        None => open.push(path),
    }
    state.sources.open = Some(open);
}

/// The search that finds the stacks of a line.
fn query(place: &str) -> String {
    ["\"", place, " \""].concat()
}

/// Searches for a line, or ends that.
fn pick(state: &mut State, place: &str) {
    let query = query(place);
    let text = if state.find.text == query { String::new() } else { query };
    find::typed(state, text);
}

/// The table.
pub fn view(state: &State) -> SourceView {
    let Some(page) = state.sources.page.latest() else { return SourceView::default() };
    let is_product = matches!(state.views.scope, Scope::ByteMoments(_));
    let mut rows = Vec::new();
    let row = |kind, label: String, place: String, standing: &Standing| {
        let (now, peak, total) = (standing.now, standing.peak, page.total.now.bytes.max(1));
        let is_picked = kind == RowKind::Line && state.find.text == query(&place);
        Row {
            kind,
            label,
            place,
            bytes: Bytes(now.bytes).to_string(),
            exact: grouped(now.bytes) + if is_product { " B × moments" } else { " B requested" },
            share: (u128::from(now.bytes) * 1000 / u128::from(total)) as u64,
            count: grouped(now.count.into()),
            peak: Bytes(peak.bytes).to_string(),
            is_picked,
        }
    };
    for (place, file) in page.files.iter().enumerate() {
        if rows.len() >= MOST_ROWS {
            break;
        }
        let is_open = state.sources.is_open(place, &file.path);
        let kind = RowKind::File(if is_open { Unfolded::Yes } else { Unfolded::No });
        rows.push(row(kind, base(&file.path).to_owned(), file.path.clone(), &file.standing));
        if is_open {
            let lines = file.lines.iter().take(MOST_ROWS - rows.len().min(MOST_ROWS));
            rows.extend(lines.map(|line| {
                let place = [file.path.as_str(), ":", &line.line].concat();
                row(RowKind::Line, line.line.clone(), place, &line.standing)
            }));
            if file.left_out > 0 {
                let label = counted(file.left_out.into(), "lighter line") + " not shown";
                rows.push(row(RowKind::Note, label, String::new(), &Standing::default()));
            }
        }
    }
    let notes = [("no frame of your own code", &page.elsewhere), ("files not shown", &page.left_out)];
    for (label, standing) in notes {
        if standing.now.count > 0 || standing.peak.count > 0 {
            rows.push(row(RowKind::Note, label.to_owned(), String::new(), standing));
        }
    }
    SourceView { unit: if is_product { "Bytes × moments" } else { "Requested" }, rows }
}

fn base(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The file whose path shares most of its end with `name`, at least the whole file name; of equally good ones the heaviest.
fn best_match<'a>(name: &str, files: &'a [SourceFile]) -> Option<&'a SourceFile> {
    let parts = |path: &str| path.split(['/', '\\']).map(str::to_owned).rev().collect::<Vec<_>>();
    let wanted = parts(name);
    let mut best: Option<(usize, &SourceFile)> = None;
    for file in files {
        let shared = parts(&file.path).iter().zip(&wanted).take_while(|(a, b)| a == b).count();
        if shared > best.map_or(0, |(most, _)| most) {
            best = Some((shared, file));
        }
    }
    best.map(|(_, file)| file)
}

fn text_file(state: &State) -> Option<&SourceFile> {
    best_match(&state.sources.text.as_ref()?.name, &state.sources.page.latest()?.files)
}

/// The dropped file; `None` without one.
pub fn text(state: &State) -> Option<TextView> {
    let text = state.sources.text.clone()?;
    let file = text_file(state);
    let known = state.sources.page.latest().is_some();
    let title = match file {
        Some(file) => file.path.clone(),
        None if known => base(&text.name).to_owned() + ": none of the files here has this name",
        None => base(&text.name).to_owned(),
    };
    let lines = file.map_or(&[][..], |file| &file.lines);
    let most = lines.iter().map(|line| line.standing.now.bytes).max().unwrap_or(0).max(1);
    let margins = lines.iter().filter_map(|line| {
        let Standing { now, peak } = line.standing;
        Some(Margin {
            line: line.line.parse().ok()?,
            now: if now.count > 0 { Bytes(now.bytes).to_string() } else { String::new() },
            peak: if peak.count > 0 { Bytes(peak.bytes).to_string() } else { String::new() },
            part: (u128::from(now.bytes) * 1000 / u128::from(most)) as u64,
        })
    });
    Some(TextView { margins: margins.collect(), text, title })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_shared_end_of_a_path_is_the_file() {
        let file = |path: &str| SourceFile { path: path.into(), ..SourceFile::default() };
        let files = [file("/a/model.py"), file("/b/src/model.py"), file("/b/train.py")];
        let found = |name: &str| best_match(name, &files).map(|file| file.path.as_str());
        assert_eq!(found("model.py"), Some("/a/model.py"), "the first is the heaviest");
        assert_eq!(found("src/model.py"), Some("/b/src/model.py"));
        assert_eq!(found("C:\\work\\src\\model.py"), Some("/b/src/model.py"));
        assert_eq!((found("odel.py"), found("other.py")), (None, None));
    }
}
