//! Command that opens the palette.

use crate::features::command::{PAGE, row, rows};
use crate::features::palette;
use crate::state::binding::KeyScope::Page;

rows! {
    pub(crate) ROWS:
    TOGGLE = row(Page, PAGE, &["Ctrl+k"], "Open the command palette", "palette-open",
        |state, _| palette::toggle(&mut state.palette)).when(|_| false);
}
