//! Permissions and limits of queries.

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Time and memory limits of a query.
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
    /// Stops the running query.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns true if the query was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Allows the next query to run.
    pub(crate) fn reset(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Enforces the permissions and limits of the running query.
pub(crate) struct Guard {
    /// Clock in milliseconds since an arbitrary point in time.
    clock: fn() -> f64,
    deadline: Cell<f64>,
    pub(crate) cancel: Cancel,
    /// Description of the action that was denied last.
    denied: RefCell<Option<String>>,
    /// True if only reading is allowed. False while the database is set up.
    is_read_only: Cell<bool>,
}

impl Guard {
    pub(crate) fn new(clock: fn() -> f64) -> Guard {
        let cancel = Cancel::default();
        Guard {
            clock,
            deadline: Cell::new(f64::MAX),
            cancel,
            denied: RefCell::default(),
            is_read_only: Cell::new(false),
        }
    }

    /// Starts the time limit of a new query.
    pub(crate) fn start(&self, limits: Limits) {
        self.cancel.reset();
        self.denied.take();
        let ends = if limits.seconds == 0 { f64::MAX } else { (self.clock)() + limits.seconds as f64 * 1e3 };
        self.deadline.set(ends);
    }

    /// Sets whether statements may only read.
    pub(crate) fn set_read_only(&self, is_closed: bool) {
        self.is_read_only.set(is_closed);
    }

    /// Returns true if the query must stop.
    pub(crate) fn must_stop(&self) -> bool {
        self.cancel.is_cancelled() || (self.clock)() > self.deadline.get()
    }

    /// Returns the description of the action that was denied last, and clears it.
    pub(crate) fn take_denied(&self) -> Option<String> {
        self.denied.take()
    }

    /// Returns whether a statement may perform an action. Records a denied action.
    pub(crate) fn allows(&self, context: &AuthContext<'_>) -> Authorization {
        let refused = match context.action {
            _ if !self.is_read_only.get() => return Authorization::Allow,
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
        self.denied.borrow_mut().get_or_insert(refused);
        Authorization::Deny
    }
}
