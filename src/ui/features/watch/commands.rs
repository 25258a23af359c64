//! Commands that reload files that change.

use crate::binding::KeyScope::Page;
use crate::command::Trait::OpensFile;
use crate::command::{FILES, row, rows};
use crate::features::watch;

rows! {
    pub(crate) ROWS:
    RELOAD = row(Page, FILES, &["!"], "Reload the file that changed", "live-reload",
        |state, out| watch::reload(&mut state.live, out)).with(&[OpensFile]);
    FOLLOW = row(Page, FILES, &["'"], "Follow changes: reload by itself, or not", "live-follow",
        |state, out| watch::toggle_following(&mut state.live, out)).with(&[OpensFile]);
}
