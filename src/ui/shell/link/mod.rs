//! Links: the view, stored in the fragment of the page's address. Parsing never fails. Parts that are not understood
//! are ignored and listed in a message.
//!
//! ```text
//! #v=1&url=run/a.pickle&axis=time&x=0..512000&at=126670&stack=site&show=reserved&tab=why&topic=leaks
//! ```
//! `v` is the version of the format. Of a link with a later version, all known parts are applied, and a message is
//! shown. Defaults are omitted to keep links short. Links never contain rules, settings or the theme (DESIGN.md §7).

mod build;
mod keys;
mod points;
mod restore;
mod values;
mod window;

pub use crate::state::link::{FORMAT_VERSION, Link, LinkState, Unknown};
pub(crate) use build::{copy_link, for_snapshot};
pub use restore::is_following_link;
pub(crate) use restore::{follow_link, on_file_opened, on_fingerprint};
pub(crate) use window::apply_windows;
