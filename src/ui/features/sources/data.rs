//! Which files are open, which source file was dropped, what the worker said.

use crate::latest::Latest;
use engine::protocol::{Scope, SourceFile, SourcesPage};
use std::rc::Rc;

/// Bytes of a path that are searched for, its last: a search has room for no more.
pub(crate) const LONGEST_SOUGHT: usize = 400;

/// The view.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    pub(crate) page: Latest<Scope, Rc<SourcesPage>>,
    /// Paths of the files whose lines are seen; `None` until a person opened or closed one: the heaviest file's.
    pub(crate) open: Option<Vec<String>>,
    pub(crate) text: Option<Rc<SourceText>>,
    /// Grows whenever one of these changes.
    pub(crate) changes: u32,
}

impl Sources {
    /// Whether the lines of a file are seen, which has this place among all.
    pub(crate) fn is_open(&self, place: usize, path: &str) -> bool {
        self.open.as_ref().map_or(place == 0, |open| open.iter().any(|known| known == path))
    }

    /// The files whose lines are seen; `None` while nobody has opened or closed one.
    pub(crate) fn opened(&self) -> Option<&[String]> {
        self.open.as_deref()
    }

    /// Shows the lines of these files; `None`: of the heaviest.
    pub(crate) fn open_all(&mut self, open: Option<Vec<String>>) {
        self.open = open;
        self.changes += 1;
    }

    pub(crate) fn place_of(&self, name: &str) -> Option<usize> {
        best_match(name, &self.page.latest()?.files)
    }

    /// The file of the snapshot that the dropped text is.
    pub(crate) fn text_file(&self) -> Option<&SourceFile> {
        self.page.latest()?.files.get(self.place_of(&self.text.as_ref()?.name)?)
    }
}

/// A source file that was dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// Its name, or its path in a dropped folder.
    pub name: String,
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
    pub(crate) changes: u32,
    pub(crate) sought: String,
    /// The selected allocation and the selected node.
    pub selected: [Option<u32>; 2],
}

/// The search that finds what a line weighs: all whose innermost frame of the user's own code it is. Frames of line 0 read without it.
pub(crate) fn query(path: &str, line: &str) -> String {
    let cut = path.len().saturating_sub(LONGEST_SOUGHT);
    let cut = path.char_indices().map(|(at, _)| at).find(|at| *at >= cut).unwrap_or(0);
    let end = path.get(cut..).unwrap_or(path);
    let line = if line == "0" { String::new() } else { [":", line].concat() };
    ["@\"", end, &line, " \""].concat()
}

/// The place of the file whose path shares most of its end with `name`, at least the whole file name; of equally good ones the
/// heaviest, which is the first.
pub(crate) fn best_match(name: &str, files: &[SourceFile]) -> Option<usize> {
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
