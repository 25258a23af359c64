//! State of the SQL tab, and what is shown of it.

use super::node::Node;
use super::subject::QuerySubject;
use super::utf16::{bytes_to, utf16_length};
use super::{lists, rows};
use crate::state::effect::{Effect, SqlEffect};
use crate::state::outbox::Outbox;
use protocol::sql::{Completion, QueryResult, RowTarget, Schema, SqlReply, SqlRequest, Token};

/// Maximum number of queries in the history.
const REMEMBERED: usize = 50;
/// Separator of the queries in the stored history. It is a character that cannot be typed.
const SEPARATOR: char = '\u{1e}';

base::listed! {
    /// Part of the tab that is shown on its own.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SqlPart {
        Tables,
        Examples,
        History,
        Query,
        Words,
        Chart,
        Rows,
    }
}

/// Stage of the worker.
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
    pub(super) is_busy: bool,
    schema: Schema,
    /// Previous queries, the newest first.
    history: Vec<String>,
    text: String,
    /// Serial of the last request for the syntax of the query.
    edit: u32,
    tokens: Vec<Token>,
    completion: Completion,
    /// Index of the selected suggestion.
    chosen: Option<usize>,
    result: QueryResult,
    /// Sort column of the result, and whether the order is descending.
    sorted: Option<(u32, bool)>,
    /// True if the worker has the rows of the result.
    pub(super) has_rows: bool,
    /// True while more rows are requested.
    waits_for_rows: bool,
    status: (String, bool),
    /// Number of changes of each part.
    versions: [u32; SqlPart::ALL.len()],
}

impl Sql {
    /// Returns whether a query is running, or snapshots are being opened.
    pub fn is_busy(&self) -> bool {
        self.is_busy
    }

    /// Returns the text of the status line, and whether it is an error.
    pub fn status(&self) -> (&str, bool) {
        (&self.status.0, self.status.1)
    }

    pub(super) fn set_status(&mut self, text: &str, is_error: bool) {
        self.status = (text.to_owned(), is_error);
    }

    /// Returns a number that changes whenever the part must be shown again. Further rows do not change it.
    pub fn version(&self, part: SqlPart) -> u32 {
        self.versions.get(part as usize).copied().unwrap_or(0)
    }

    fn on_change(&mut self, part: SqlPart) {
        self.versions.get_mut(part as usize).into_iter().for_each(|version| *version += 1);
    }

    /// Returns the elements of a part.
    pub fn nodes(&self, part: SqlPart) -> Vec<Node> {
        match part {
            SqlPart::Tables => lists::schema(&self.schema),
            SqlPart::Examples => lists::examples(&self.schema),
            SqlPart::History => lists::history(&self.history),
            SqlPart::Query => lists::highlighted(&self.text, &self.tokens),
            SqlPart::Words => lists::words(&self.completion, self.chosen),
            SqlPart::Chart => self.result.chart.as_ref().map(rows::chart).unwrap_or_default(),
            SqlPart::Rows => rows::table(&self.result, self.sorted),
        }
    }

    /// Returns the number of rows that can be shown.
    pub fn row_count(&self) -> usize {
        self.result.rows.len()
    }

    /// Returns the rows of the table from the index `first` on.
    pub fn rows_from(&self, first: usize) -> Vec<Node> {
        rows::rows(&self.result, first)
    }

    /// Returns the allocation or event of the row that `act`, the action of an element, refers to.
    pub fn row_target(&self, act: &str) -> Option<RowTarget> {
        let row = act.strip_prefix("row:")?.parse::<usize>().ok()?;
        self.result.rows.get(row).filter(|_| self.has_rows)?.target
    }

    /// Restores the stored history.
    pub(super) fn load_history(&mut self, stored: &str) {
        let queries = stored.split(SEPARATOR).filter(|query| !query.is_empty());
        self.history = queries.take(REMEMBERED).map(str::to_owned).collect();
        self.on_change(SqlPart::History);
    }

    fn remember(&mut self, query: &str) -> SqlEffect {
        let query = query.trim().replace(SEPARATOR, " ");
        self.history.retain(|known| *known != query);
        self.history.insert(0, query);
        self.history.truncate(REMEMBERED);
        self.on_change(SqlPart::History);
        SqlEffect::StoreHistory(self.history.join(&SEPARATOR.to_string()))
    }

    /// Returns the query that is shown in a list: as a ready-made query, in the history, or as rows of a table.
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
        let columns = self.schema.tables.iter().flat_map(|table| &table.columns);
        let Some((name, _)) = columns.into_iter().nth(index) else { return };
        let space = if self.text.is_empty() || self.text.ends_with([' ', '\n', '(']) { "" } else { " " };
        let text = [&*self.text, space, name].concat();
        let end = utf16_length(&text);
        self.set_text(text, end, out);
    }

    /// Handles an edit of the query. `cursor` is the position of the cursor in UTF-16 units.
    pub(super) fn on_edit(&mut self, text: String, cursor: usize, out: &mut Outbox) {
        let cursor = bytes_to(&text, cursor) as u32;
        self.text = text;
        self.close_words();
        self.request_syntax(Some(cursor), out);
    }

    /// Replaces the text of the query. `cursor` is the new position of the cursor in UTF-16 units.
    pub(super) fn set_text(&mut self, text: String, cursor: usize, out: &mut Outbox) {
        out.push(Effect::Sql(SqlEffect::SetText(text.clone(), cursor as u32)));
        self.text = text;
        self.close_words();
        self.request_syntax(None, out);
    }

    fn request_syntax(&mut self, cursor: Option<u32>, out: &mut Outbox) {
        self.tokens.clear();
        self.on_change(SqlPart::Query);
        self.edit += 1;
        if self.stage == WorkerStage::Open {
            let request = SqlRequest::Edit { serial: self.edit, text: self.text.clone(), cursor };
            out.push(Effect::Sql(SqlEffect::Ask(request)));
        }
    }

    fn close_words(&mut self) {
        (self.completion, self.chosen) = Default::default();
        self.on_change(SqlPart::Words);
    }

    /// Handles a key that is pressed while suggestions are listed.
    pub(super) fn on_key(&mut self, key: &str, out: &mut Outbox) {
        let count = self.completion.words.len();
        if count == 0 {
            return;
        }
        match key {
            "ArrowDown" => self.chosen = Some(self.chosen.map_or(0, |at| (at + 1) % count)),
            "ArrowUp" => self.chosen = Some(self.chosen.map_or(count - 1, |at| (at + count - 1) % count)),
            "Tab" => return self.complete(self.chosen.unwrap_or(0), out),
            _ => self.completion.words.clear(),
        }
        self.on_change(SqlPart::Words);
    }

    /// Replaces the word at the cursor by the suggestion with this index.
    pub(super) fn complete(&mut self, index: usize, out: &mut Outbox) {
        let Some(word) = self.completion.words.get(index) else { return };
        let (before, rest) = self.text.split_at_checked(self.completion.from).unwrap_or((&self.text, ""));
        let behind = rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        let start = [before, word].concat();
        let cursor = utf16_length(&start);
        self.set_text([&start, behind].concat(), cursor, out);
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
        let has_more = self.result.rows.len() < self.result.row_count as usize;
        if self.stage == WorkerStage::Open && self.has_rows && has_more && !self.waits_for_rows {
            self.waits_for_rows = true;
            out.push(Effect::Sql(SqlEffect::Ask(SqlRequest::More)));
        }
    }

    /// Handles a reply of the worker.
    pub(super) fn on_reply(&mut self, reply: SqlReply, out: &mut Outbox) {
        self.is_busy &= matches!(reply, SqlReply::Edited { .. } | SqlReply::More(_));
        match reply {
            SqlReply::Opened(Ok(schema)) => {
                (self.stage, self.schema) = (WorkerStage::Open, schema);
                self.set_status("Ctrl+Enter runs the query.", false);
                self.on_change(SqlPart::Tables);
                self.on_change(SqlPart::Examples);
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
                self.on_change(SqlPart::Query);
                self.on_change(SqlPart::Words);
            }
            SqlReply::Edited { .. } => {}
            SqlReply::Ran { query, result: Ok(result) } => {
                self.set_status(&rows::status(&result), false);
                (self.result, self.sorted, self.has_rows, self.waits_for_rows) = (result, None, true, false);
                self.on_change(SqlPart::Chart);
                self.on_change(SqlPart::Rows);
                out.push(Effect::Sql(self.remember(&query)));
            }
            // The previous result stays, and the status line shows the error.
            SqlReply::Ran { result: Err(error), .. } | SqlReply::File(Err(error)) => self.set_status(&error, true),
            SqlReply::Sorted { column, is_descending, rows } => {
                self.sorted = Some((column, is_descending));
                (self.result.rows, self.waits_for_rows) = (rows, false);
                self.on_change(SqlPart::Rows);
            }
            SqlReply::More(rows) => {
                self.result.rows.extend(rows);
                self.waits_for_rows = false;
            }
            SqlReply::Text(text) => out.push(Effect::Copy(text)),
            // The page saves the file.
            SqlReply::File(Ok(_)) => {}
        }
    }
}
