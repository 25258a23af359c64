//! Permissions and limits of queries.

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Limits of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time limit in seconds. 0 is unlimited.
    pub seconds: u64,
    /// Memory limit in bytes, for all of SQLite in this process.
    pub memory: u64,
}

/// Handle that stops the running query from any thread.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Stops the query.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns true if the query was cancelled.
    pub(crate) fn is_wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Allows the next query to run.
    pub(crate) fn reset(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Enforces permissions and limits of the running query.
pub(crate) struct Guard {
    /// Milliseconds since an arbitrary time.
    clock: fn() -> f64,
    ends: Cell<f64>,
    pub(crate) cancel: Cancel,
    /// Last action that was denied.
    refused: RefCell<Option<String>>,
    /// True if only reading is allowed. False while the database is set up.
    is_closed: Cell<bool>,
}

impl Guard {
    pub(crate) fn new(clock: fn() -> f64) -> Guard {
        let cancel = Cancel::default();
        Guard { clock, ends: Cell::new(f64::MAX), cancel, refused: RefCell::default(), is_closed: Cell::new(false) }
    }

    /// Starts the time limit of a query.
    pub(crate) fn begin(&self, limits: Limits) {
        self.cancel.reset();
        self.refused.take();
        let ends = if limits.seconds == 0 { f64::MAX } else { (self.clock)() + limits.seconds as f64 * 1e3 };
        self.ends.set(ends);
    }

    /// Allows only reading, or everything.
    pub(crate) fn close(&self, is_closed: bool) {
        self.is_closed.set(is_closed);
    }

    /// Returns true if the query must stop.
    pub(crate) fn is_over(&self) -> bool {
        self.cancel.is_wanted() || (self.clock)() > self.ends.get()
    }

    /// Returns and clears the last action that was denied.
    pub(crate) fn take_refused(&self) -> Option<String> {
        self.refused.take()
    }

    /// Decides if a statement may perform an action.
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
        // The first denied action is the most specific. An INSERT also touches the schema.
        self.refused.borrow_mut().get_or_insert(refused);
        Authorization::Deny
    }
}
