//! State of the page's SQL tab. It is kept in the worker, which handles input events and returns commands. The page
//! only creates the elements.

mod chart;
mod command;
mod lists;
mod node;
mod result;

pub use command::PageCommand;
pub use node::Node;

use crate::completion::{Completion, completions, tokens};
use crate::examples::EXAMPLE_QUERIES;
use crate::queries::Queries;
use result::QueryResult;

/// Maximum number of queries in the history.
const REMEMBERED: usize = 50;
/// Separator of the queries in the stored history. It is a character that cannot be typed.
const SEPARATOR: char = '\u{1e}';

/// State of the SQL tab.
pub struct SqlTab {
    queries: Queries,
    clock: fn() -> f64,
    /// Name of saved files, without extension.
    name: String,
    /// Previous queries, the newest first.
    history: Vec<String>,
    typed: String,
    completion: Completion,
    chosen: Option<usize>,
    rows: QueryResult,
    second: Option<&'static str>,
}

impl SqlTab {
    /// Creates the tab with the stored query history. If two files are compared, `second` is the side (A or B) of the
    /// page's second file. Also returns commands that show the tab.
    pub fn new(
        queries: Queries,
        clock: fn() -> f64,
        name: &str,
        history: &str,
        second: Option<&'static str>,
    ) -> (SqlTab, Vec<PageCommand>) {
        let history: Vec<String> =
            history.split(SEPARATOR).filter(|query| !query.is_empty()).take(REMEMBERED).map(str::to_owned).collect();
        let (typed, completion, chosen, rows) = Default::default();
        let desk = SqlTab { queries, clock, name: name.to_owned(), history, typed, completion, chosen, rows, second };
        let commands = vec![
            PageCommand::Replace("sql-schema", lists::schema(desk.queries.catalog())),
            PageCommand::Replace("sql-canned", lists::canned()),
            PageCommand::Replace("sql-history", lists::history(&desk.history)),
            PageCommand::Status("Ctrl+Enter runs the query.".to_owned(), false),
        ];
        (desk, commands)
    }

    /// Handles an edit of the query. `cursor` is the cursor position in UTF-16 units.
    pub fn on_edit(&mut self, text: &str, cursor: usize) -> Vec<PageCommand> {
        self.typed = text.to_owned();
        self.completion = completions(self.queries.catalog(), text, bytes_to(text, cursor));
        self.chosen = None;
        vec![self.show_highlighted(), self.show_completions()]
    }

    fn show_highlighted(&self) -> PageCommand {
        PageCommand::Replace("sql-colour", lists::coloured(&self.typed, &tokens(self.queries.catalog(), &self.typed)))
    }

    fn show_completions(&self) -> PageCommand {
        PageCommand::Replace("sql-words", lists::word_nodes(&self.completion.words, self.chosen))
    }

    /// Handles a key that is pressed while completions are shown.
    pub fn on_key(&mut self, key: &str) -> Vec<PageCommand> {
        let count = self.completion.words.len();
        if count == 0 {
            return Vec::new();
        }
        match key {
            "ArrowDown" => self.chosen = Some(self.chosen.map_or(0, |at| (at + 1) % count)),
            "ArrowUp" => self.chosen = Some(self.chosen.map_or(count - 1, |at| (at + count - 1) % count)),
            "Tab" => return self.complete(self.chosen.unwrap_or(0)),
            _ => self.completion.words.clear(),
        }
        vec![self.show_completions()]
    }

    fn complete(&mut self, index: usize) -> Vec<PageCommand> {
        let Some(word) = self.completion.words.get(index).cloned() else { return Vec::new() };
        let (before, rest) = self.typed.split_at_checked(self.completion.from).unwrap_or((&self.typed, ""));
        let behind = rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        let start = [before, &word].concat();
        let cursor = start.encode_utf16().count();
        self.set_query([&start, behind].concat(), cursor)
    }

    /// Replaces the text of the query. `cursor` is the new cursor position in UTF-16 units.
    fn set_query(&mut self, text: String, cursor: usize) -> Vec<PageCommand> {
        self.typed.clone_from(&text);
        self.completion = Completion::default();
        vec![PageCommand::SetQuery(text, cursor), self.show_highlighted(), self.show_completions()]
    }

    /// Runs a query and shows its result or error.
    pub fn run(&mut self, text: &str) -> Vec<PageCommand> {
        let began = (self.clock)();
        self.typed = text.to_owned();
        self.completion = Completion::default();
        let answered = QueryResult::run(&self.queries, text);
        let seconds = ((self.clock)() - began) / 1e3;
        let mut commands = vec![self.show_completions()];
        match answered {
            Ok(rows) => {
                self.remember(text);
                commands.push(PageCommand::Status(rows.status(seconds), false));
                self.rows = rows;
                commands.push(PageCommand::Replace("sql-chart", chart::chart(&self.rows)));
                commands.push(PageCommand::Replace("sql-result", self.rows.table()));
                commands.push(PageCommand::Replace("sql-history", lists::history(&self.history)));
                commands.push(PageCommand::History(self.history.join(&SEPARATOR.to_string())));
            }
            // The previous result stays, and the status line shows the error.
            Err(error) => commands.push(PageCommand::Status(error.to_string(), true)),
        }
        commands
    }

    fn remember(&mut self, text: &str) {
        let text = text.trim().replace(SEPARATOR, " ");
        self.history.retain(|known| *known != text);
        self.history.insert(0, text);
        self.history.truncate(REMEMBERED);
    }

    /// Shows the next rows of the result.
    pub fn more(&mut self) -> Vec<PageCommand> {
        let more = self.rows.more();
        if more.is_empty() { Vec::new() } else { vec![PageCommand::Append("sql-rows", more)] }
    }

    /// Handles a click on an element. `action` names the kind of element and its index.
    pub fn on_click(&mut self, action: &str) -> Vec<PageCommand> {
        let (what, number) = action.split_once(':').unwrap_or((action, ""));
        let number = number.parse::<usize>().unwrap_or(usize::MAX);
        let end = |text: &str| text.encode_utf16().count();
        match what {
            "canned" => {
                EXAMPLE_QUERIES.get(number).map_or_else(Vec::new, |query| self.run_example(query.sql.to_owned()))
            }
            "history" => self.history.get(number).cloned().map_or_else(Vec::new, |query| self.run_example(query)),
            "table" => lists::example(number).map_or_else(Vec::new, |query| self.run_example(query)),
            "column" => {
                let columns = self.queries.catalog().tables().flat_map(|(_, columns)| columns);
                let Some(name) = columns.map(|column| column.name).nth(number) else { return Vec::new() };
                let space = if self.typed.is_empty() || self.typed.ends_with([' ', '\n', '(']) { "" } else { " " };
                let text = [&self.typed, space, name].concat();
                let cursor = end(&text);
                self.set_query(text, cursor)
            }
            "word" => self.complete(number),
            "sort" => {
                self.rows.sort(number);
                vec![PageCommand::Replace("sql-result", self.rows.table())]
            }
            "row" => self.rows.target(number, self.second).into_iter().collect(),
            "copy" => vec![PageCommand::Copy(self.rows.text('\t'))],
            "csv" => vec![PageCommand::Save(format!("{}.csv", self.name), self.rows.csv().into_bytes())],
            "sqlite" => match self.rows.sqlite() {
                Ok(bytes) => vec![PageCommand::Save(format!("{}.sqlite", self.name), bytes)],
                Err(error) => vec![PageCommand::Status(error.to_string(), true)],
            },
            _ => Vec::new(),
        }
    }

    /// Replaces the query by a ready-made one and runs it.
    fn run_example(&mut self, query: String) -> Vec<PageCommand> {
        let cursor = query.encode_utf16().count();
        let mut commands = self.set_query(query.clone(), cursor);
        commands.extend(self.run(&query));
        commands
    }
}

/// Converts an offset in UTF-16 units to a byte offset.
fn bytes_to(text: &str, utf16_offset: usize) -> usize {
    let mut left = utf16_offset;
    for (offset, c) in text.char_indices() {
        match left.checked_sub(c.len_utf16()) {
            Some(rest) if left > 0 => left = rest,
            _ => return offset,
        }
    }
    text.len()
}

#[cfg(test)]
#[path = "../../../tests/units/sql/desk.rs"]
mod tests;
