//! In-memory database whose tables are implemented in Rust.

use crate::adapter::{Local, add, limit_memory, to_value};
use crate::cell::{Cell, Value};
use crate::error::Error;
use crate::guard::{Cancel, Guard, Limits};
use crate::save::MEMORY_FILE;
use crate::statement::check;
use crate::table::Table;
use rusqlite::config::DbConfig;
use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::functions::FunctionFlags;
use rusqlite::hooks::AuthContext;
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, Value as Owned};
use rusqlite::{Batch, Connection};
use std::marker::PhantomData;
use std::rc::Rc;

/// Number of SQLite instructions between two checks of the time limit. They take tens of microseconds.
const STEPS: i32 = 4000;

/// Maximum sizes and counts in a query. SQLite's defaults are higher, because they are meant for trusted queries.
const LIMITS: [(Limit, i32); 9] = [
    (Limit::SQLITE_LIMIT_LENGTH, 16 << 20),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
    (Limit::SQLITE_LIMIT_COLUMN, 500),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 100),
    (Limit::SQLITE_LIMIT_VDBE_OP, 1_000_000),
    (Limit::SQLITE_LIMIT_FUNCTION_ARG, 64),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000),
    (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
];

/// In-memory database whose tables are implemented in Rust.
pub struct Database {
    connection: Connection,
    guard: Rc<Guard>,
    limits: Limits,
    /// Makes the type neither `Send` nor `Sync`, since its tables and functions must stay on their thread.
    of_thread: PhantomData<Rc<()>>,
}

impl Database {
    /// Creates a database without tables. `clock` returns milliseconds.
    ///
    /// # Errors
    /// Returns an error if SQLite runs out of memory.
    pub fn new(clock: fn() -> f64, limits: Limits) -> Result<Database, Error> {
        let of = |error: rusqlite::Error| Error::from_sqlite(&error, limits.memory);
        let mut connection = Connection::open_in_memory().map_err(of)?;
        limit_memory(limits.memory);
        for (limit, max) in LIMITS {
            connection.set_limit(limit, max).map_err(of)?;
        }
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map_err(of)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false).map_err(of)?;
        // A large sort stops at the memory limit instead of writing to disk. The statement fails if SQLite was built
        // without PRAGMA, where this is the default (`build_sql` in `run`).
        let _ = connection.execute_batch("PRAGMA temp_store = MEMORY");
        let guard = Rc::new(Guard::new(clock));
        let watching = Local::new(guard.clone());
        connection.progress_handler(STEPS, Some(move || watching.get().must_stop())).map_err(of)?;
        let asked = Local::new(guard.clone());
        let allows = move |context: AuthContext<'_>| asked.get().allows(&context);
        connection.authorizer(Some(allows)).map_err(of)?;
        guard.set_read_only(true);
        Ok(Database { connection, guard, limits, of_thread: PhantomData })
    }

    /// Registers a table under a name.
    ///
    /// # Errors
    /// Returns an error if SQLite runs out of memory.
    pub fn add_table(&self, name: &str, table: Rc<dyn Table>) -> Result<(), Error> {
        add(&self.connection, name, table, self.guard.clone()).map_err(|error| self.error(&error))
    }

    /// Registers a deterministic function with `values` arguments.
    ///
    /// # Errors
    /// Returns an error if SQLite runs out of memory.
    pub fn add_function(
        &self,
        name: &str,
        values: i32,
        function: impl Fn(&[Value<'_>]) -> Result<Cell<'static>, String> + 'static,
    ) -> Result<(), Error> {
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
        let function = Local::new(function);
        let call = move |context: &mut rusqlite::functions::Context<'_>| {
            let values: Vec<Value<'_>> = (0..context.len()).map(|at| to_value(context.get_raw(at))).collect();
            let cell = function.get()(&values).map_err(|why| rusqlite::Error::UserFunctionError(why.into()))?;
            Ok(ToSqlOutput::Owned(match cell {
                Cell::Null => Owned::Null,
                Cell::Integer(value) => Owned::Integer(value),
                Cell::Real(value) => Owned::Real(value),
                Cell::Text(text) => Owned::Text(text.into_owned()),
            }))
        };
        self.connection.create_scalar_function(name, values, flags, call).map_err(|error| self.error(&error))
    }

    /// Returns a handle that stops the running query from any thread.
    pub fn cancel(&self) -> Cancel {
        self.guard.cancel.clone()
    }

    /// Executes one statement. Passes the column names to `head`, then each row to `row` until `row` returns false.
    ///
    /// # Errors
    /// Returns an error if the query is invalid, not allowed, or exceeds a limit.
    pub fn query(
        &self,
        sql: &str,
        head: &mut dyn FnMut(&[&str]),
        row: &mut dyn FnMut(&[Value<'_>]) -> bool,
    ) -> Result<(), Error> {
        self.guard.start(self.limits);
        self.run(sql, head, row).map_err(|error| match error {
            Failure::Ours(error) => error,
            Failure::Sqlite(error) => self.error(&error),
        })
    }

    fn run(
        &self,
        sql: &str,
        head: &mut dyn FnMut(&[&str]),
        row: &mut dyn FnMut(&[Value<'_>]) -> bool,
    ) -> Result<(), Failure> {
        check(sql).map_err(Failure::Ours)?;
        let mut batch = Batch::new(&self.connection, sql);
        let mut statement = batch.next()?.ok_or(Failure::Ours(Error::NoStatement))?;
        if batch.next()?.is_some() {
            return Err(Failure::Ours(Error::MultipleStatements));
        }
        // Catches statements that the authorizer does not see.
        if !statement.readonly() {
            return Err(Failure::Ours(Error::NotAllowed("this statement".to_owned())));
        }
        let count = statement.column_count();
        head(&statement.column_names().collect::<Vec<_>>());
        let mut rows = statement.raw_query();
        while let Some(next) = rows.next()? {
            let values = (0..count).map(|at| next.get_ref(at).map(to_value)).collect::<Result<Vec<_>, _>>()?;
            if !row(&values) {
                break;
            }
        }
        Ok(())
    }

    fn error(&self, error: &rusqlite::Error) -> Error {
        if let Some(refused) = self.guard.take_denied() {
            return Error::NotAllowed(refused);
        }
        if self.guard.cancel.is_cancelled() {
            return Error::Cancelled;
        }
        if self.guard.must_stop() {
            return Error::TimeLimit(self.limits.seconds);
        }
        Error::from_sqlite(error, self.limits.memory)
    }

    /// Copies tables to an SQLite file. `statements` create, fill and index the tables in the schema `saved`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn save(&self, file: &str, statements: &[String]) -> Result<(), Error> {
        // The file is new and useless if incomplete, so it needs no journal on disk. SQLite ignores journal_mode OFF in
        // defensive mode.
        let settings = "PRAGMA saved.journal_mode = MEMORY; PRAGMA saved.synchronous = OFF";
        self.allow_writing();
        let saved = self.copy_into(file, settings, statements).and_then(|()| self.detach());
        self.guard.set_read_only(true);
        saved.map_err(|error| self.error(&error))
    }

    /// Copies tables as [`Database::save`] does, and returns the bytes of the file.
    ///
    /// # Errors
    /// Returns an error if the file exceeds the memory limit.
    pub fn save_in_memory(&mut self, statements: &[String]) -> Result<Vec<u8>, Error> {
        self.allow_writing();
        let saved = self.copy_into(MEMORY_FILE, "", statements).and_then(|()| {
            let bytes = self.connection.serialize("saved").map(|data| data.to_vec());
            self.detach().and(bytes)
        });
        self.guard.set_read_only(true);
        saved.map_err(|error| self.error(&error))
    }

    fn allow_writing(&self) {
        self.guard.start(Limits { seconds: 0, ..self.limits });
        self.guard.set_read_only(false);
    }

    /// Copies tables to a new file. Attaches it as `saved`, where it stays unless there was an error.
    fn copy_into(&self, file: &str, settings: &str, statements: &[String]) -> rusqlite::Result<()> {
        self.connection.execute("ATTACH ?1 AS saved", [file])?;
        let run = |statement: &str| self.connection.execute_batch(statement);
        let done = run(settings).and_then(|()| {
            run("BEGIN")?;
            statements.iter().try_for_each(|statement| run(statement))?;
            run("COMMIT")
        });
        if done.is_err() {
            // If the rollback or the detaching fails too, the first error is more useful.
            if !self.connection.is_autocommit() {
                let _ = run("ROLLBACK");
            }
            let _ = self.detach();
        }
        done
    }

    fn detach(&self) -> rusqlite::Result<()> {
        self.connection.execute_batch("DETACH saved")
    }
}

/// Error of this crate or of rusqlite.
enum Failure {
    Ours(Error),
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Failure {
        Failure::Sqlite(error)
    }
}
