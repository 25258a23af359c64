//! Answers to the page's SQL tab: the schema, the syntax of queries, and the last result.

use crate::completion::{completions, tokens};
use crate::examples::EXAMPLE_QUERIES;
use crate::functions::FUNCTIONS;
use crate::queries::Queries;
use crate::result::Rows;
use crate::schema::{TABLES, TableDescription, WHEN, note};
use crate::series::chart;
use protocol::sql::{Completion, QueryResult, Schema, SchemaTable, SqlFormat, SqlReply, SqlRequest};

/// Open snapshots, and the result of the last query.
pub struct Session {
    queries: Queries,
    clock: fn() -> f64,
    /// Name of saved files, without extension.
    name: String,
    rows: Rows,
    second: Option<&'static str>,
}

impl Session {
    /// Creates a session without a result. `clock` returns milliseconds. If two files are compared, `second` is the
    /// side (A or B) of the page's second file.
    pub fn new(queries: Queries, clock: fn() -> f64, name: String, second: Option<&'static str>) -> Session {
        Session { queries, clock, name, rows: Rows::default(), second }
    }

    /// Returns the tables with their columns, the functions and the ready-made queries.
    pub fn schema(&self) -> Schema {
        let pair = |(one, two): (&str, &str)| (one.to_owned(), two.to_owned());
        let table = |(table, columns): (&TableDescription, &Vec<sqlite::Column>)| {
            let TableDescription { name, arguments, about } = *table;
            let (call, about, values) = match arguments {
                "" => (name.to_owned(), about.to_owned(), ""),
                "when" => (format!("{name}(when)"), format!("{about}. {WHEN}"), "('peak')"),
                _ => (format!("{name}({arguments})"), format!("{about}. {WHEN}"), "('peak', 'end')"),
            };
            let columns = columns.iter().map(|column| pair((column.name, note(column.name)))).collect();
            SchemaTable { call, about, example: format!("SELECT *\nFROM {name}{values}\nLIMIT 100"), columns }
        };
        Schema {
            tables: TABLES.iter().zip(self.queries.catalog().tables().map(|(_, columns)| columns)).map(table).collect(),
            functions: FUNCTIONS.map(pair).to_vec(),
            examples: EXAMPLE_QUERIES.iter().map(|query| pair((query.title, query.sql))).collect(),
        }
    }

    /// Answers a request. Also returns the content of an exported file. `None` for a request to open other snapshots.
    pub fn answer(&mut self, request: SqlRequest) -> Option<(SqlReply, Option<Vec<u8>>)> {
        let reply = match request {
            SqlRequest::Open { .. } => return None,
            SqlRequest::Edit { serial, text, cursor } => {
                let catalog = self.queries.catalog();
                let complete = |cursor| completions(catalog, &text, cursor);
                let completion = cursor.map_or_else(Completion::default, complete);
                SqlReply::Edited { serial, tokens: tokens(catalog, &text), completion }
            }
            SqlRequest::Run(query) => {
                let began = (self.clock)();
                let result = Rows::run(&self.queries, &query).map_err(|error| error.to_string());
                let seconds = ((self.clock)() - began) / 1e3;
                SqlReply::Ran { query, result: result.map(|rows| self.show(rows, seconds)) }
            }
            SqlRequest::Sort(column) => {
                let is_descending = self.rows.sort(column);
                SqlReply::Sorted { column, is_descending, rows: self.rows.more(self.second) }
            }
            SqlRequest::More => SqlReply::More(self.rows.more(self.second)),
            SqlRequest::Export(SqlFormat::Text) => SqlReply::Text(self.rows.text('\t')),
            SqlRequest::Export(SqlFormat::Csv) => {
                let name = format!("{}.csv", self.name);
                return Some((SqlReply::File(Ok(name)), Some(self.rows.csv().into_bytes())));
            }
            SqlRequest::Export(SqlFormat::Snapshot(tool)) => match self.queries.file_for_tool(tool) {
                Ok(bytes) => return Some((SqlReply::File(Ok(self.name.clone())), Some(bytes))),
                Err(error) => SqlReply::File(Err(error.to_string())),
            },
            SqlRequest::Export(SqlFormat::Sqlite) => match self.rows.sqlite() {
                Ok(bytes) => return Some((SqlReply::File(Ok(format!("{}.sqlite", self.name))), Some(bytes))),
                Err(error) => SqlReply::File(Err(error.to_string())),
            },
        };
        Some((reply, None))
    }

    /// Replaces the result, and returns it with its first rows.
    fn show(&mut self, rows: Rows, seconds: f64) -> QueryResult {
        self.rows = rows;
        let numeric = (0..self.rows.names.len()).map(|column| self.rows.is_numeric(column));
        QueryResult {
            columns: self.rows.names.iter().cloned().zip(numeric).collect(),
            row_count: self.rows.rows.len(),
            is_cut: self.rows.has_more,
            seconds,
            chart: chart(&self.rows),
            rows: self.rows.more(self.second),
        }
    }
}
