//! The command palette: whether it is open, what is typed in it, what was used of it, and what was picked and waits to be done.
//! What it lists, and how that is done, says `ui::palette_entries`: it takes all of the state.

use crate::binding::{Binding, Scope, line};
use crate::change::Change;
use crate::effect::Effect;
use crate::feature::{Feature, ends_nothing, takes_nothing};
use crate::settings::Dialog;
use crate::shared::Shared;
use engine::protocol::Topic;

/// Entries that are remembered as used.
const MOST_RECENT: usize = 8;

/// What an entry of the palette stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A command, by its place in the key table ([`crate::keys::BINDINGS`]).
    Command(usize),
    Insight(Topic),
    /// A device, by its place in the summary's list.
    Device(usize),
    /// A snapshot, by its place in [`Shared::snapshots`].
    File(usize),
    /// An annotation of the shown device, by its place among its marks.
    Annotation(usize),
}

/// What the page knows of the palette.
#[derive(Clone, Debug, Default)]
pub struct Palette {
    pub dialog: Dialog,
    /// What is typed in it.
    pub text: String,
    /// How far the arrows went down from the first entry; beyond either end it goes on at the other.
    pub(crate) moved: i32,
    /// Commands and insights that were used, the latest first.
    pub(crate) recent: Vec<Target>,
    /// What was picked and is not done yet.
    pub(crate) picked: Option<Target>,
}

/// What happened in the palette.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaletteAction {
    /// This stands in its field.
    Typed(String),
    /// The arrows went so many entries down, or up.
    Moved(i32),
    Picked(Target),
    /// It was closed by the browser.
    Closed,
}

/// What keys and controls do with the palette.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PaletteStep {
    /// Opens it, or closes it.
    Toggle,
}

/// Its key.
const KEYS: &[Binding<PaletteStep>] =
    &[line(Scope::Page, &["Ctrl+k"], PaletteStep::Toggle, "Open the command palette", "palette-open")];

/// How it takes part.
pub(crate) const FEATURE: Feature<Palette, PaletteAction, PaletteStep> =
    Feature { reset, asks: &[], take: takes_nothing, act, command, keys: KEYS, links: &[], escape: ends_nothing };

fn act(palette: &mut Palette, _: &mut Shared, action: PaletteAction, _: &mut Vec<Effect>) {
    match action {
        PaletteAction::Typed(text) => (palette.text, palette.moved) = (text, 0),
        PaletteAction::Moved(by) => palette.moved = palette.moved.saturating_add(by),
        PaletteAction::Picked(target) => {
            palette.dialog = Dialog::Closed;
            palette.picked = Some(target);
            if matches!(target, Target::Command(_) | Target::Insight(_)) {
                palette.recent.retain(|recent| *recent != target);
                palette.recent.insert(0, target);
                palette.recent.truncate(MOST_RECENT);
            }
        }
        PaletteAction::Closed => palette.dialog = Dialog::Closed,
    }
}

fn command(palette: &mut Palette, _: &mut Shared, step: PaletteStep, _: &mut Vec<Effect>) {
    match step {
        PaletteStep::Toggle if palette.dialog == Dialog::Open => palette.dialog = Dialog::Closed,
        PaletteStep::Toggle => {
            (palette.dialog, palette.moved) = (Dialog::Open, 0);
            palette.text.clear();
        }
    }
}

/// Another device has other annotations: the entry that is active is chosen anew.
fn reset(palette: &mut Palette, _: &mut Shared, change: Change) {
    if change.is_of_device() {
        palette.moved = 0;
    }
}
