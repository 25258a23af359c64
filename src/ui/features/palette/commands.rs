//! Command that opens the palette.

use crate::binding::KeyScope::Page;
use crate::command::{PAGE, row, rows};
use crate::features::palette;

rows! {
    pub(crate) ROWS:
    TOGGLE = row(Page, PAGE, &["Ctrl+k"], "Open the command palette", "palette-open",
        |state, _| palette::toggle(&mut state.palette)).when(|_| false);
}
