//! What is a text in every table that has it.

use sqlite::Cell;

/// An address: no number, since a page or a spreadsheet would round it.
pub(super) fn hex<'a>(address: u64) -> Cell<'a> {
    format!("0x{address:x}").into()
}

/// A pool as `memscape events --pool` takes it.
pub(super) fn pool_text<'a>(pool: Option<(u64, u64)>) -> Cell<'a> {
    pool.map(|(first, second)| format!("{first},{second}")).into()
}
