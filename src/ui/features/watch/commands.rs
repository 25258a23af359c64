//! Commands that reload files that change.

use crate::features::command::Trait::OpensFile;
use crate::features::command::{FILES, row, rows};
use crate::features::watch;
use crate::state::binding::KeyScope::Page;

rows! {
    pub(crate) ROWS:
    RELOAD = row(Page, FILES, &["!"], "Reload the file that changed", "live-reload",
        |state, out| watch::reload(&mut state.live, out)).with(&[OpensFile]);
    FOLLOW = row(Page, FILES, &["'"], "Follow changes: reload by itself, or not", "live-follow",
        |state, out| watch::toggle_following(&mut state.live, out)).with(&[OpensFile]);
}
