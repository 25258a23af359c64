//! memscape in the terminal, for use over SSH, in tmux and without a browser.
//!
//! Takes files, keys and mouse events, and draws the state of the `ui` crate in terminal cells.
//!
//! ```text
//! keys, mouse ──▶ ui::update ──▶ effects ──▶ engine, in slices between two keys
//!                     │                          │
//!                view models ◀── state ◀── answers
//!                     │
//!                     └──▶ cells; ratatui sends those that changed
//! ```
//! All decisions and computations are shared with the page. The timeline is the page's scene, rasterized on the CPU
//! with at least two pixels per cell, and each view is one of the page's view models.
//!
//! Read first: `app.rs` (state and effects), `keys.rs` (input) and `screen.rs` (drawing).

mod app;
mod bindings;
mod cells;
mod chrome;
mod commands;
mod dialogs;
mod field;
mod keys;
mod layout;
mod mouse;
mod panes;
mod plain;
mod ranks;
mod screen;
mod source;
mod status_line;
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
