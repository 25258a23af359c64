//! Text formats shared by all tables.

use sqlite::Cell;

/// Formats an address. It is text, because pages and spreadsheets would round a number.
pub(super) fn hex<'a>(address: u64) -> Cell<'a> {
    format!("0x{address:x}").into()
}

/// Formats a pool for `memscape events --pool`.
pub(super) fn pool_text<'a>(pool: Option<(u64, u64)>) -> Cell<'a> {
    pool.map(|(first, second)| format!("{first},{second}")).into()
}
