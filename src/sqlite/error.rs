//! Query errors.

use rusqlite::ErrorCode;

/// Query error that is displayed as one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The query is invalid. Contains SQLite's own message.
    #[error("{0}")]
    Query(String),
    #[error("{0} is not allowed: queries only read")]
    NotAllowed(String),
    #[error("stopped after {0} s, the time limit: add conditions, or raise the limit")]
    TimeLimit(u64),
    #[error("cancelled")]
    Cancelled,
    #[error("the query needs more memory than its limit of {0} MiB: select fewer columns or rows")]
    MemoryLimit(u64),
    #[error("one statement at a time")]
    MultipleStatements,
    #[error("no statement")]
    NoStatement,
}

impl Error {
    /// Converts an error from SQLite. `memory` is the memory limit in bytes, for the message.
    pub(crate) fn from_sqlite(error: &rusqlite::Error, memory: u64) -> Error {
        match error {
            rusqlite::Error::SqliteFailure(failure, _) if failure.code == ErrorCode::OutOfMemory => {
                Error::MemoryLimit(memory >> 20)
            }
            rusqlite::Error::SqliteFailure(_, Some(message)) => Error::Query(message.clone()),
            rusqlite::Error::SqlInputError { msg, sql, offset, .. } => {
                let before = usize::try_from(*offset).ok().and_then(|offset| sql.get(..offset));
                let line = before.map(|before| before.matches('\n').count() + 1).filter(|&line| line > 1);
                Error::Query(line.map_or(msg.clone(), |line| format!("line {line}: {msg}")))
            }
            other => Error::Query(other.to_string()),
        }
    }
}
