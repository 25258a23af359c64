//! State and actions of the Source tab.

use crate::state::latest::Latest;
use protocol::{Scope, SourceFile, SourcesPage};
use std::rc::Rc;

/// Maximum length of a path in a search, in bytes. Longer paths are cut at the start, because the length of a search is
/// limited.
pub(crate) const MAX_SEARCH_PATH: usize = 400;

/// State of the Source tab.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    pub(crate) page: Latest<Scope, Rc<SourcesPage>>,
    /// Paths of the expanded files. `None` until the user expands or collapses a file. Then only the largest file is
    /// expanded.
    pub(crate) expanded: Option<Vec<String>>,
    pub(crate) text: Option<Rc<SourceText>>,
    /// Counter that increases with each change of the other fields.
    pub(crate) changes: u32,
}

impl Sources {
    /// Returns true if a file is expanded. `index` is the index of the file in the page, where the largest file comes
    /// first.
    pub(crate) fn is_expanded(&self, index: usize, path: &str) -> bool {
        self.expanded.as_ref().map_or(index == 0, |open| open.iter().any(|known| known == path))
    }

    /// Returns the expanded files. `None` until the user expands or collapses one.
    pub(crate) fn expanded(&self) -> Option<&[String]> {
        self.expanded.as_deref()
    }

    /// Sets the expanded files. `None` expands the largest file.
    pub(crate) fn set_expanded(&mut self, open: Option<Vec<String>>) {
        self.expanded = open;
        self.changes += 1;
    }

    pub(crate) fn index_of(&self, name: &str) -> Option<usize> {
        best_match(name, &self.page.latest()?.files)
    }

    /// Returns the file of the snapshot that matches the dropped file.
    pub(crate) fn text_file(&self) -> Option<&SourceFile> {
        self.page.latest()?.files.get(self.index_of(&self.text.as_ref()?.name)?)
    }
}

/// A dropped source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// File name, or path in a dropped folder.
    pub name: String,
    pub text: String,
}

/// User input in the Source tab, and results of reading a file.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceAction {
    /// The row at this index was clicked.
    RowClicked(usize),
    /// A line of the dropped file was clicked.
    LineClicked(u32),
    /// Result of reading the dropped file: its text, or an error message.
    Read(Result<SourceText, String>),
    /// The dropped file was closed.
    Closed,
}

/// State that the contents of the tab depend on. If it is unchanged, so are the contents.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceInputs {
    pub(crate) changes: u32,
    pub(crate) search: String,
    /// Selected allocation and selected node.
    pub selected: [Option<u32>; 2],
}

/// Returns the search text that finds allocations whose call site is this line. Omits the line number if it is 0.
pub(crate) fn line_query(path: &str, line: &str) -> String {
    let cut = path.len().saturating_sub(MAX_SEARCH_PATH);
    let cut = path.char_indices().map(|(offset, _)| offset).find(|offset| *offset >= cut).unwrap_or(0);
    let end = path.get(cut..).unwrap_or(path);
    let line = if line == "0" { String::new() } else { [":", line].concat() };
    ["@\"", end, &line, " \""].concat()
}

/// Returns the index of the file whose path shares the most trailing components with `name`, including the whole file
/// name. If several files match equally, returns the first, which has the most bytes.
pub(crate) fn best_match(name: &str, files: &[SourceFile]) -> Option<usize> {
    let separators = ['/', '\\'];
    let mut best: Option<(usize, usize)> = None;
    for (index, file) in files.iter().enumerate() {
        let parts = file.path.rsplit(separators).zip(name.rsplit(separators));
        let shared = parts.take_while(|(of_file, of_name)| of_file == of_name).count();
        if shared > best.map_or(0, |(length, _)| length) {
            best = Some((shared, index));
        }
    }
    best.map(|(_, index)| index)
}
