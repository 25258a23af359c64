//! memscape in the terminal: one more shell over `ui` and `engine`, for whoever works over SSH, in tmux, without a browser.
//!
//! ```text
//! keys, mouse ──▶ ui::update ──▶ effects ──▶ engine, in slices between two keys
//!                     │                          │
//!                view models ◀── state ◀── answers
//!                     │
//!                     └──▶ cells; ratatui sends those that changed
//! ```
//! Nothing is decided or computed here that the page decides or computes: the picture is the page's scene, drawn by the CPU twin with two
//! pixels a cell; each view is one of the page's view models.

mod app;
mod around;
mod bindings;
mod cells;
mod dialogs;
mod field;
mod keys;
mod layout;
mod mouse;
mod own;
mod panes;
mod plain;
mod ranks;
mod screen;
mod source;
mod terminal;
mod text;
mod timeline;
mod views;
mod worker;

pub use app::{App, Screen};
pub use cells::Depth;
pub use plain::plain;
pub use ranks::SurveyFile;
pub use source::{Disk, Found, Source};
pub use terminal::run;
