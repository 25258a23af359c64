//! State and actions of the SQL tab.

use crate::state::effect::{Effect, SqlEffect};
use crate::state::outbox::Outbox;
use crate::state::shared::Shared;
use base::units::{group_digits, pluralize};
use protocol::split_ordinal;
use protocol::sql::{Completion, QueryResult, RowTarget, Schema, SqlReply, SqlRequest, Token, TokenClass};
use std::rc::Rc;

/// Maximum number of queries in the history.
const REMEMBERED: usize = 50;
/// Separator of the queries in the stored history. It is a character that cannot be typed.
const SEPARATOR: char = '\u{1e}';

/// Action of the SQL tab.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlAction {
    /// The stored history was read.
    HistoryLoaded(String),
    /// The query was edited. Holds its text, and the byte offset of the cursor.
    Edited(String, usize),
    /// A key was pressed while suggestions are listed.
    KeyPressed(String),
    /// The query was run. Holds its text.
    Run(String),
    /// An element was clicked: its action, with the index of the element after a colon.
    Clicked(String),
    /// The end of the rows is near.
    MoreWanted,
    Cancelled,
    Replied(Box<SqlReply>),
    /// The worker could not be started, or has crashed.
    Failed(String),
    /// A row of this allocation of the shown device was clicked.
    Allocation(u32),
    /// A row of this event of the shown device was clicked.
    Event(u32),
}

/// Data that queries run on. If it changes, earlier results are outdated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct QuerySubject {
    /// Load ids of the queried files: the open file, or the files of A and B in a comparison of two files.
    pub(super) loads: Vec<u32>,
    /// True if device B is in the file that was opened second.
    pub(super) is_b_second: bool,
    /// File name of the snapshot, for naming a saved result.
    pub(super) name: String,
    /// Version of the category rules.
    rules: u32,
}

impl QuerySubject {
    /// Returns the data of the open files. `None` if no file is open.
    pub(super) fn from_state(state: &Shared) -> Option<QuerySubject> {
        let name = state.file()?.file.clone();
        let is_b_second = state.comparing.pair.is_none_or(|[_, b]| {
            let device = state.device_at(b);
            device.is_some_and(|device| split_ordinal(device.device).1)
        });
        let loads = match state.comparing.second_load() {
            0 => vec![state.load],
            second if is_b_second => vec![state.load, second],
            second => vec![second, state.load],
        };
        Some(QuerySubject { loads, is_b_second, name, rules: state.rules.version })
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum WorkerStage {
    #[default]
    Stopped,
    /// The worker is opening the snapshots.
    Opening,
    Open,
}

/// State of the SQL tab.
#[derive(Clone, Debug, Default)]
pub struct Sql {
    pub(super) stage: WorkerStage,
    /// Snapshots that queries run on.
    pub(super) subject: QuerySubject,
    /// Query to run once the snapshots are open.
    pub(super) queued: Option<String>,
    /// True while snapshots are being opened, or a request is pending that may take long.
    pub is_busy: bool,
    pub schema: Rc<Schema>,
    /// Previous queries, the newest first.
    pub history: Rc<Vec<String>>,
    text: String,
    /// Serial of the last request for the syntax of the query.
    edit: u32,
    tokens: Vec<Token>,
    pub completion: Completion,
    /// Index of the selected suggestion.
    pub chosen: Option<usize>,
    /// The last result, with the rows received so far.
    pub result: QueryResult,
    /// Number of results so far, where each order of the rows counts.
    pub result_count: u32,
    /// Sort column of the result, and whether the order is descending.
    pub sorted: Option<(usize, bool)>,
    /// True while more rows are requested.
    waits_for_rows: bool,
    /// Text of the status line, and whether it is an error.
    pub status: (String, bool),
}

impl Sql {
    pub(super) fn set_status(&mut self, text: &str, is_error: bool) {
        self.status = (text.to_owned(), is_error);
    }

    /// Returns the pieces of the query with their style classes. Without tokens, it is one plain piece.
    pub fn highlighted(&self) -> Vec<(&'static str, String)> {
        if self.tokens.is_empty() {
            return vec![("", self.text.clone())];
        }
        let piece = |token: &Token| {
            let class = match token.class {
                TokenClass::Plain => "",
                TokenClass::Keyword => "keyword",
                TokenClass::Known => "known",
                TokenClass::Function => "function",
                TokenClass::Number => "number",
                TokenClass::Text => "text",
                TokenClass::Comment => "comment",
            };
            Some((class, self.text.get(token.from..token.to)?.to_owned()))
        };
        self.tokens.iter().filter_map(piece).collect()
    }

    /// Returns the allocation or event of the row that `act`, the action of an element, refers to. `None` once other
    /// snapshots are opened.
    pub fn row_target(&self, act: &str) -> Option<RowTarget> {
        let row = act.strip_prefix("row:")?.parse::<usize>().ok()?;
        self.result.rows.get(row).filter(|_| self.result.row_count > 0)?.target
    }

    /// Restores the stored history.
    pub(super) fn load_history(&mut self, stored: &str) {
        let queries = stored.split(SEPARATOR).filter(|query| !query.is_empty());
        self.history = Rc::new(queries.take(REMEMBERED).map(str::to_owned).collect());
    }

    fn remember(&mut self, query: &str) -> SqlEffect {
        let query = query.trim().replace(SEPARATOR, " ");
        let history = Rc::make_mut(&mut self.history);
        history.retain(|known| *known != query);
        history.insert(0, query);
        history.truncate(REMEMBERED);
        SqlEffect::StoreHistory(history.join(&SEPARATOR.to_string()))
    }

    /// Returns the query of an element: a ready-made query, one of the history, or the rows of a table.
    pub(super) fn listed_query(&self, list: &str, index: usize) -> Option<String> {
        match list {
            "canned" => self.schema.examples.get(index).map(|(_, query)| query.clone()),
            "history" => self.history.get(index).cloned(),
            "table" => self.schema.tables.get(index).map(|table| table.example.clone()),
            _ => None,
        }
    }

    /// Appends the column with this index, counted over all tables, to the query.
    pub(super) fn insert_column(&mut self, index: usize, out: &mut Outbox) {
        let mut columns = self.schema.tables.iter().flat_map(|table| &table.columns);
        let Some((name, _)) = columns.nth(index) else { return };
        let space = if self.text.is_empty() || self.text.ends_with([' ', '\n', '(']) { "" } else { " " };
        let text = [&*self.text, space, name].concat();
        self.set_text(text.len(), text, out);
    }

    /// Handles an edit of the query. `cursor` is a byte offset.
    pub(super) fn on_edit(&mut self, text: String, cursor: usize, out: &mut Outbox) {
        self.text = text;
        self.request_syntax(Some(cursor), out);
    }

    /// Replaces the text of the query. `cursor` is the byte offset of the new cursor position.
    pub(super) fn set_text(&mut self, cursor: usize, text: String, out: &mut Outbox) {
        out.push(Effect::Sql(SqlEffect::SetText(text.clone(), cursor)));
        self.text = text;
        self.request_syntax(None, out);
    }

    fn request_syntax(&mut self, cursor: Option<usize>, out: &mut Outbox) {
        self.close_words();
        self.tokens.clear();
        self.edit += 1;
        if self.stage == WorkerStage::Open {
            let request = SqlRequest::Edit { serial: self.edit, text: self.text.clone(), cursor };
            out.push(Effect::Sql(SqlEffect::Ask(request)));
        }
    }

    fn close_words(&mut self) {
        (self.completion, self.chosen) = Default::default();
    }

    /// Handles a key that is pressed while suggestions are listed.
    pub(super) fn on_key(&mut self, key: &str, out: &mut Outbox) {
        let count = self.completion.words.len();
        match key {
            _ if count == 0 => {}
            "ArrowDown" => self.chosen = Some(self.chosen.map_or(0, |at| (at + 1) % count)),
            "ArrowUp" => self.chosen = Some(self.chosen.map_or(count - 1, |at| (at + count - 1) % count)),
            "Tab" => self.complete(self.chosen.unwrap_or(0), out),
            _ => self.close_words(),
        }
    }

    /// Replaces the word at the cursor by the suggestion with this index.
    pub(super) fn complete(&mut self, index: usize, out: &mut Outbox) {
        let Some(word) = self.completion.words.get(index) else { return };
        let (before, rest) = self.text.split_at_checked(self.completion.from).unwrap_or((&self.text, ""));
        let behind = rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        self.set_text(before.len() + word.len(), [before, word, behind].concat(), out);
    }

    /// Runs a query in the worker, which has opened the snapshots.
    pub(super) fn run(&mut self, query: String, out: &mut Outbox) {
        self.text.clone_from(&query);
        self.close_words();
        self.ask(SqlRequest::Run(query), out);
    }

    /// Sends a request that may take long.
    pub(super) fn ask(&mut self, request: SqlRequest, out: &mut Outbox) {
        self.is_busy = true;
        out.push(Effect::Sql(SqlEffect::Ask(request)));
    }

    /// Requests more rows, if there are any.
    pub(super) fn request_rows(&mut self, out: &mut Outbox) {
        if self.result.rows.len() < self.result.row_count && !self.waits_for_rows {
            self.waits_for_rows = true;
            out.push(Effect::Sql(SqlEffect::Ask(SqlRequest::More)));
        }
    }

    /// Handles a reply of the worker.
    pub(super) fn on_reply(&mut self, reply: SqlReply, out: &mut Outbox) {
        self.is_busy &= matches!(reply, SqlReply::Edited { .. } | SqlReply::More(_));
        match reply {
            SqlReply::Opened(Ok(schema)) => {
                (self.stage, self.schema) = (WorkerStage::Open, Rc::new(schema));
                self.set_status("Ctrl+Enter runs the query.", false);
                if let Some(query) = self.queued.take() {
                    self.run(query, out);
                }
            }
            SqlReply::Opened(Err(error)) => {
                (self.stage, self.queued) = (WorkerStage::Stopped, None);
                self.set_status(&error, true);
            }
            SqlReply::Edited { serial, tokens, completion } if serial == self.edit => {
                (self.tokens, self.completion, self.chosen) = (tokens, completion, None);
            }
            SqlReply::Ran { query, result: Ok(result) } => {
                self.set_status(&status(&result), false);
                (self.result, self.sorted, self.waits_for_rows) = (result, None, false);
                self.result_count += 1;
                out.push(Effect::Sql(self.remember(&query)));
            }
            // The previous result stays, and the status line shows the error.
            SqlReply::Ran { result: Err(error), .. } | SqlReply::File(Err(error)) => self.set_status(&error, true),
            SqlReply::Sorted { column, is_descending, rows } => {
                (self.result.rows, self.sorted, self.waits_for_rows) = (rows, Some((column, is_descending)), false);
                self.result_count += 1;
            }
            SqlReply::More(rows) => {
                self.result.rows.extend(rows);
                self.waits_for_rows = false;
            }
            SqlReply::Text(text) => out.push(Effect::Copy(text)),
            // Outdated, or a file that the page saves.
            SqlReply::Edited { .. } | SqlReply::File(Ok(_)) => {}
        }
    }
}

/// Returns the text of the status line after a query.
fn status(result: &QueryResult) -> String {
    let rows = match result.is_cut {
        true => format!("The first {} rows", group_digits(result.row_count as u64)),
        false => pluralize(result.row_count as u64, "row"),
    };
    let ms = result.seconds * 1e3;
    let time = if ms < 1000.0 { format!("{} ms", ms.ceil()) } else { format!("{:.1} s", result.seconds) };
    format!("{rows} in {time}.")
}
