//! The command palette: typed text, recently used entries, and the selected entry. `ui::palette_entries` builds and
//! runs the entries, because that requires the state of all features.

pub mod commands;

use crate::features::feature::{Feature, close_nothing, take_nothing};
use crate::state::change::Change;
use crate::state::outbox::Outbox;
use crate::state::settings::Dialog;
use crate::state::shared::Shared;
use protocol::Topic;

/// Maximum number of recently used entries.
const MAX_RECENT: usize = 8;

/// Target of a palette entry: a command to run or an item to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaletteTarget {
    /// A command, by its index in [`crate::shell::commands::all`].
    Command(usize),
    Insight(Topic),
    /// A device, by its index in the summary.
    Device(usize),
    /// A snapshot, by its index in [`Shared::snapshots`].
    File(usize),
    /// An annotation of the shown device, by its index.
    Annotation(usize),
}

/// State of the palette.
#[derive(Clone, Debug, Default)]
pub struct Palette {
    pub dialog: Dialog,
    /// Text of the input field.
    pub text: String,
    /// Offset of the active entry from the first one. Wraps around at both ends.
    pub(crate) active_offset: i32,
    /// Recently used commands and insights, latest first.
    pub(crate) recent: Vec<PaletteTarget>,
    /// Selected entry that has not run yet.
    pub(crate) pending: Option<PaletteTarget>,
}

/// User input in the palette.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaletteAction {
    /// New text of the input field.
    Typed(String),
    /// An arrow key moved the active entry down by this number of entries. Negative for up.
    Moved(i32),
    Picked(PaletteTarget),
    /// The browser closed the palette.
    Closed,
}

pub(crate) const FEATURE: Feature<Palette, PaletteAction> =
    Feature { reset, questions: &[], on_reply: take_nothing, on_action, link_keys: &[], on_escape: close_nothing };

fn on_action(palette: &mut Palette, _: &Shared, action: PaletteAction, _: &mut Outbox) {
    match action {
        PaletteAction::Typed(text) => (palette.text, palette.active_offset) = (text, 0),
        PaletteAction::Moved(delta) => palette.active_offset = palette.active_offset.saturating_add(delta),
        PaletteAction::Picked(target) => {
            palette.dialog = Dialog::Closed;
            palette.pending = Some(target);
            if matches!(target, PaletteTarget::Command(_) | PaletteTarget::Insight(_)) {
                palette.recent.retain(|recent| *recent != target);
                palette.recent.insert(0, target);
                palette.recent.truncate(MAX_RECENT);
            }
        }
        PaletteAction::Closed => palette.dialog = Dialog::Closed,
    }
}

/// Opens or closes the palette.
fn toggle(palette: &mut Palette) {
    if palette.dialog == Dialog::Open {
        palette.dialog = Dialog::Closed;
    } else {
        (palette.dialog, palette.active_offset) = (Dialog::Open, 0);
        palette.text.clear();
    }
}

/// Makes the first entry active after a change of device, because the annotations among the entries change.
fn reset(palette: &mut Palette, _: &Shared, change: Change, _: &mut Outbox) {
    if change.is_device_change() {
        palette.active_offset = 0;
    }
}
