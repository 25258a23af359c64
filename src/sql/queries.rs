//! Execution of SQL queries on the files of a source.

use crate::catalog::Catalog;
use crate::completion::tokens_with;
use crate::source::Source;
use crate::{functions, mindstudio, save, tables};
use protocol::sql::{SqlFile, TokenClass};
use sqlite::{Cancel, Database, Error, Limits, Value};
use std::borrow::Cow;
use std::rc::Rc;

/// Database with the tables of a source.
pub struct Queries {
    database: Database,
    catalog: Catalog,
}

impl Queries {
    /// Creates a database with the tables of `source`. `clock` returns milliseconds.
    ///
    /// # Errors
    /// Returns an error if SQLite runs out of memory.
    pub fn new(source: Source, clock: fn() -> f64, limits: Limits) -> Result<Queries, Error> {
        let source = Rc::new(source);
        let database = Database::new(clock, limits)?;
        let tables = Vec::from(tables::all(&source));
        for (name, table) in &tables {
            database.add_table(name, table.clone())?;
        }
        functions::add(&database, &source)?;
        let catalog = Catalog::new(tables.iter().map(|(name, table)| (*name, table.columns())));
        Ok(Queries { database, catalog })
    }

    /// Executes one statement. Passes the column names to `head`, then each row to `row` until `row` returns false.
    ///
    /// # Errors
    /// Returns an error if the query is invalid, not allowed, or exceeds a limit.
    pub fn run(
        &self,
        sql: &str,
        head: &mut dyn FnMut(&[&str]),
        row: &mut dyn FnMut(&[Value<'_>]) -> bool,
    ) -> Result<(), Error> {
        self.database.query(&quote_between(sql), head, row)
    }

    /// Returns a handle that stops the running query from any thread.
    pub fn cancel(&self) -> Cancel {
        self.database.cancel()
    }

    /// Returns the names of the tables and their columns.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Writes all tables, except table functions, to a new SQLite file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn save(&self, file: &str) -> Result<(), Error> {
        self.database.save(file, &save::statements(&self.catalog))
    }

    /// Writes a new SQLite file for another tool.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn save_for_tool(&self, tool: SqlFile, file: &str) -> Result<(), Error> {
        self.database.save(file, &self.statements(tool)?)
    }

    /// Returns the bytes of a SQLite file for another tool.
    ///
    /// # Errors
    /// Returns an error if the file exceeds the memory limit.
    pub(crate) fn file_for_tool(&mut self, tool: SqlFile) -> Result<Vec<u8>, Error> {
        let statements = self.statements(tool)?;
        self.database.save_in_memory(&statements)
    }

    fn statements(&self, tool: SqlFile) -> Result<Vec<String>, Error> {
        match tool {
            SqlFile::MindStudio => mindstudio::statements(&self.database),
        }
    }
}

/// Quotes the table name `between`, which SQLite would otherwise parse as an operator.
fn quote_between(sql: &str) -> Cow<'_, str> {
    let mut quoted = String::new();
    let (mut done, mut before) = (0, "");
    for piece in tokens_with(sql, &|_| false) {
        let Some(text) = sql.get(piece.from..piece.to) else { continue };
        if piece.class == TokenClass::Comment || text.trim().is_empty() {
            continue;
        }
        let is_table = |word: &str| before.eq_ignore_ascii_case(word);
        if text.eq_ignore_ascii_case("between") && [",", "FROM", "JOIN"].into_iter().any(is_table) {
            quoted += sql.get(done..piece.from).unwrap_or_default();
            quoted += "\"between\"";
            done = piece.to;
        }
        before = text;
    }
    if done == 0 {
        return Cow::Borrowed(sql);
    }
    Cow::Owned(quoted + sql.get(done..).unwrap_or_default())
}
