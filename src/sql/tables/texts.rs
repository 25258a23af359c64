//! Text formats that several tables use.

use sqlite::Cell;

/// Formats an address as hexadecimal text. As a number, JavaScript and spreadsheets would round it.
pub(super) fn hex<'a>(address: u64) -> Cell<'a> {
    format!("0x{address:x}").into()
}

/// Formats a pool id in the syntax of `memscape events --pool`.
pub(super) fn pool_text<'a>(pool: Option<(u64, u64)>) -> Cell<'a> {
    pool.map(|(first, second)| format!("{first},{second}")).into()
}
