//! What queries may do, and for how long.

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a query may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Seconds; 0: no limit.
    pub seconds: u64,
    /// Bytes that SQLite may take in this process, for all queries together.
    pub memory: u64,
}

/// Stops the query that runs, from any thread.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Stops it.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is to stop.
    pub(crate) fn is_wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The next query may run.
    pub(crate) fn reset(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Watches the query that runs.
pub(crate) struct Guard {
    /// Milliseconds since any moment.
    clock: fn() -> f64,
    ends: Cell<f64>,
    pub(crate) cancel: Cancel,
    /// What was refused last.
    refused: RefCell<Option<String>>,
    /// Whether anything is refused: not while the database is set up.
    is_closed: Cell<bool>,
}

impl Guard {
    pub(crate) fn new(clock: fn() -> f64) -> Guard {
        let cancel = Cancel::default();
        Guard { clock, ends: Cell::new(f64::MAX), cancel, refused: RefCell::default(), is_closed: Cell::new(false) }
    }

    /// A query begins.
    pub(crate) fn begin(&self, limits: Limits) {
        self.cancel.reset();
        self.refused.take();
        let ends = if limits.seconds == 0 { f64::MAX } else { (self.clock)() + limits.seconds as f64 * 1e3 };
        self.ends.set(ends);
    }

    /// From now on only reading is allowed; or all is.
    pub(crate) fn close(&self, is_closed: bool) {
        self.is_closed.set(is_closed);
    }

    /// Whether the query is to stop.
    pub(crate) fn is_over(&self) -> bool {
        self.cancel.is_wanted() || (self.clock)() > self.ends.get()
    }

    /// What was refused last.
    pub(crate) fn take_refused(&self) -> Option<String> {
        self.refused.take()
    }

    /// Whether a statement may do something.
    pub(crate) fn allows(&self, context: &AuthContext<'_>) -> Authorization {
        let refused = match context.action {
            _ if !self.is_closed.get() => return Authorization::Allow,
            AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => return Authorization::Allow,
            AuthAction::Function { function_name } if !matches!(function_name, "load_extension" | "fts3_tokenizer") => {
                return Authorization::Allow;
            }
            AuthAction::Function { function_name } => function_name.to_owned(),
            AuthAction::Attach { .. } => "ATTACH".to_owned(),
            AuthAction::Detach { .. } => "DETACH".to_owned(),
            AuthAction::Pragma { pragma_name, .. } => format!("PRAGMA {pragma_name}"),
            AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => "a transaction".to_owned(),
            AuthAction::Insert { .. } => "INSERT".to_owned(),
            AuthAction::Update { .. } => "UPDATE".to_owned(),
            AuthAction::Delete { .. } => "DELETE".to_owned(),
            _ => "this statement".to_owned(),
        };
        // What comes first says most: an INSERT is about the schema, too.
        self.refused.borrow_mut().get_or_insert(refused);
        Authorization::Deny
    }
}
