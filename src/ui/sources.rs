//! The view "By source": what of it is open, which source file was dropped, what is asked and what a click does.

mod link;

use super::effect::{Effect, GivenFile};
use super::feature::{Change, Feature, Turn, commands_nothing, ends_nothing};
use super::find;
use super::latest::Latest;
use super::shared::Shared;
use super::source_rows::{RowKind, view};
use super::stage::Stage;
use super::views::Tab;
use engine::protocol::{Answer, Question, Scope, SourceFile, SourcesPage};
use std::convert::Infallible;
use std::rc::Rc;

/// Bytes of a source file that is shown: no code is longer, and snapshots are.
const LONGEST_SOURCE: u64 = 4 << 20;
/// Bytes of a path that are searched for, its last: a search has room for no more.
const LONGEST_SOUGHT: usize = 400;

/// The view.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// What the worker told last.
    pub(super) page: Latest<Scope, Rc<SourcesPage>>,
    /// Paths of the files whose lines are seen; `None` until a person opened or closed one: the heaviest file's.
    open: Option<Vec<String>>,
    /// The source file that was dropped.
    pub(super) text: Option<Rc<SourceText>>,
    /// Grows whenever one of these changes.
    changes: u32,
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

/// All that the view depends on: where it is the same, so is the view.
#[derive(Clone, Debug, PartialEq)]
pub struct Basis {
    changes: u32,
    sought: String,
    /// The selected allocation and the selected node.
    pub selected: [Option<u32>; 2],
}

impl Sources {
    /// Whether the lines of a file are seen, which has this place among all.
    pub(super) fn is_open(&self, place: usize, path: &str) -> bool {
        self.open.as_ref().map_or(place == 0, |open| open.iter().any(|known| known == path))
    }

    /// The files whose lines are seen; `None` while nobody has opened or closed one.
    pub(super) fn opened(&self) -> Option<&[String]> {
        self.open.as_deref()
    }

    /// Shows the lines of these files; `None`: of the heaviest.
    pub(super) fn open_all(&mut self, open: Option<Vec<String>>) {
        self.open = open;
        self.changes += 1;
    }

    fn place_of(&self, name: &str) -> Option<usize> {
        best_match(name, &self.page.latest()?.files)
    }

    /// The file of the snapshot that the dropped text is.
    pub(super) fn text_file(&self) -> Option<&SourceFile> {
        self.page.latest()?.files.get(self.place_of(&self.text.as_ref()?.name)?)
    }
}

/// What the view depends on now.
pub fn basis(sources: &Sources, shared: &Shared) -> Basis {
    let selected = [shared.selection.as_deref().map(|selection| selection.allocation), shared.views.node];
    Basis { changes: sources.changes, sought: shared.find.text.clone(), selected }
}

/// How it takes part.
pub(super) const FEATURE: Feature<Sources, SourceAction, Infallible> = Feature {
    reset,
    asks: &[(Turn::Early, ask)],
    take,
    act,
    command: commands_nothing,
    keys: &[],
    links: link::LINKS,
    escape: ends_nothing,
};

/// Another device, or another file: only the dropped text stays.
fn reset(sources: &mut Sources, _: &mut Shared, change: Change) {
    if change.is_of_device() {
        let changes = sources.changes + 1;
        *sources = Sources { text: sources.text.take(), changes, ..Sources::default() };
    }
}

/// Asks for what is missing, while the view is seen.
fn ask(sources: &mut Sources, shared: &mut Shared, device: i64, effects: &mut Vec<Effect>) {
    if shared.views.seen() == Some(Tab::Sources) {
        sources.page.ask(shared.views.scope, device, &mut shared.serial, effects, Question::Sources);
    }
}

/// Takes the worker's answer.
fn take(sources: &mut Sources, _: &mut Shared, serial: u32, answer: Answer, _: &mut Vec<Effect>) -> Option<Answer> {
    let Answer::Sources(page) = answer else { return Some(answer) };
    sources.page.take(serial, Rc::from(page));
    sources.changes += 1;
    None
}

/// Whether files that were given are source files and no snapshots, while a snapshot is open. Then one is to be read: that of the
/// heaviest file of the snapshot, or else the first.
pub(super) fn given(
    sources: &mut Sources,
    shared: &mut Shared,
    files: &[GivenFile],
    effects: &mut Vec<Effect>,
) -> bool {
    let is_source = |file: &GivenFile| {
        let is_code = [".py", ".pyx"].iter().any(|end| file.name.ends_with(end));
        file.bytes <= LONGEST_SOURCE && (is_code || sources.place_of(&file.name).is_some())
    };
    if !matches!(shared.stage, Stage::Ready(_)) || !files.iter().all(is_source) {
        return false;
    }
    let by_weight = |(_, file): &(usize, &GivenFile)| sources.place_of(&file.name).unwrap_or(usize::MAX);
    let Some((place, file)) = files.iter().enumerate().min_by_key(by_weight) else { return false };
    shared.views.show(Tab::Sources);
    effects.push(Effect::ReadText(place, file.name.clone()));
    true
}

/// Carries out what happened in the view.
fn act(sources: &mut Sources, shared: &mut Shared, action: SourceAction, _: &mut Vec<Effect>) {
    sources.changes += 1;
    match action {
        SourceAction::Picked(place) => {
            let Some(row) = view(sources, shared).rows.into_iter().nth(place) else { return };
            match row.kind {
                RowKind::File(_) => fold(sources, row.path),
                RowKind::Line => pick(shared, &row.path, &row.label),
                RowKind::Note => {}
            }
        }
        SourceAction::LinePicked(line) => {
            let Some(path) = sources.text_file().map(|file| file.path.clone()) else { return };
            pick(shared, &path, &line.to_string());
        }
        SourceAction::Read(Ok(text)) => sources.text = Some(Rc::new(text)),
        SourceAction::Read(Err(cause)) => shared.remark = Some(cause),
        SourceAction::Closed => sources.text = None,
    }
}

fn fold(sources: &mut Sources, path: String) {
    let Some(page) = sources.page.latest() else { return };
    let seen = |(place, file): (usize, &SourceFile)| sources.is_open(place, &file.path).then(|| file.path.clone());
    let mut open: Vec<String> = page.files.iter().enumerate().filter_map(seen).collect();
    match open.iter().position(|known| *known == path) {
        Some(at) => drop(open.remove(at)),
        None => open.push(path),
    }
    sources.open = Some(open);
}

/// The search that finds what a line weighs: all whose innermost frame of the user's own code it is. Frames of line 0 read without it.
pub(super) fn query(path: &str, line: &str) -> String {
    let cut = path.len().saturating_sub(LONGEST_SOUGHT);
    let cut = path.char_indices().map(|(at, _)| at).find(|at| *at >= cut).unwrap_or(0);
    let end = path.get(cut..).unwrap_or(path);
    let line = if line == "0" { String::new() } else { [":", line].concat() };
    ["@\"", end, &line, " \""].concat()
}

/// Searches for a line, so that it stands out in all views and in the timeline; or ends that.
fn pick(shared: &mut Shared, path: &str, line: &str) {
    let query = query(path, line);
    let text = if shared.find.text == query { String::new() } else { query };
    // A node would stand out before it.
    shared.views.node = None;
    find::typed(shared, text);
}

/// The place of the file whose path shares most of its end with `name`, at least the whole file name; of equally good ones the
/// heaviest, which is the first.
fn best_match(name: &str, files: &[SourceFile]) -> Option<usize> {
    let separators = ['/', '\\'];
    let mut best: Option<(usize, usize)> = None;
    for (place, file) in files.iter().enumerate() {
        let parts = file.path.rsplit(separators).zip(name.rsplit(separators));
        let shared = parts.take_while(|(of_file, of_name)| of_file == of_name).count();
        if shared > best.map_or(0, |(most, _)| most) {
            best = Some((shared, place));
        }
    }
    best.map(|(_, place)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_shared_end_of_a_path_is_the_file() {
        let file = |path: &str| SourceFile { path: path.into(), ..SourceFile::default() };
        let files = [file("/a/model.py"), file("/b/src/model.py"), file("/b/train.py"), file("…b/deep.py")];
        let found = |name: &str| best_match(name, &files);
        assert_eq!(found("model.py"), Some(0), "the first is the heaviest");
        assert_eq!(found("src/model.py"), Some(1));
        assert_eq!(found("C:\\work\\src\\model.py"), Some(1));
        assert_eq!((found("deep.py"), found("odel.py"), found("other.py")), (Some(3), None, None));
    }

    #[test]
    fn a_line_is_searched_for_by_the_end_of_its_path() {
        assert_eq!(query("/a/train.py", "12"), "@\"/a/train.py:12 \"");
        assert_eq!(query("/a/train.py", "0"), "@\"/a/train.py \"");
        let long = "ä".repeat(1000) + "/train.py";
        let typed = query(&long, "1");
        assert!(typed.ends_with("ä/train.py:1 \"") && (400..420).contains(&typed.len()), "{}", typed.len());
    }
}
