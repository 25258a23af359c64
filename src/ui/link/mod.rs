//! Links: all that is seen, as the fragment of the page's address has it. Parsing never fails: what is not understood is left out.
//!
//! ```text
//! #v=1&url=run/a.pickle&axis=time&x=0..512000&at=126670&stack=site&show=reserved&tab=why&topic=leaks
//! ```
//! `v` counts ways of writing: of a later one, what has stayed the same is read, and the page says so. It says as well what it did not
//! understand of a link. What is as every page begins is not written, so a link is as long as what was changed. Rules, settings and the theme are never in it (DESIGN.md §7).

mod fragment;
mod keys;
mod making;
mod points;
pub(crate) mod reading;
mod restore;
mod values;
mod window;

pub use fragment::{Link, Linked, Unknown, VERSION};
pub(super) use making::{copy, of_place};
pub(super) use restore::{given, opened, printed};
pub(super) use window::settle;
