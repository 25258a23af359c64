//! What the picture's height shows where that is not the stack, and what is known of it.

use super::chosen::Chosen;
use super::line::{Curved, Line, Wanted, Whose};
use crate::latest::Latest;
use crate::navigate::Plane;
use crate::shown::Canvas;
use engine::protocol::{AddressMap, Only, Overview, Plot};
use picture::timeline::{Axis, Scene, View};
use std::rc::Rc;

/// Answers of a kind that are kept, and windows.
pub(crate) const MOST_KEPT: usize = 64;

/// The kinds of plots, in the order of the picker.
pub const NAMES: [&str; 3] = ["stack", "addresses", "reserved"];

/// What is kept for the plots besides the stack.
#[derive(Clone, Debug, Default)]
pub struct Plots {
    /// The windows of plots that were left: of a device, by its ordinal.
    pub(crate) windows: Vec<(i64, Plot, View)>,
    pub(crate) maps: Vec<(Whose, Rc<AddressMap>)>,
    /// Over the whole of an axis, for the small picture.
    pub(crate) overviews: Vec<((Whose, Axis), Rc<Overview>)>,
    pub(crate) asked_map: Option<(u32, Whose)>,
    pub(crate) curves: Latest<Curved, Rc<engine::protocol::Curves>>,
    pub(crate) asked_curves: Option<(u32, Wanted)>,
    /// The lines that are not wanted.
    pub(crate) off: Vec<Line>,
    pub(crate) chosen: Option<Box<Chosen>>,
}

/// What of the plot's part of memory is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlotAction {
    /// The plot of this place among [`NAMES`] is wanted.
    Shown(usize),
    /// Only this pool, by its place in the list; `None`: all.
    Pool(Option<usize>),
    /// Only this stream, likewise.
    Stream(Option<usize>),
}

/// What keys and buttons do to the plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlotStep {
    Next,
    /// Only the next pool, all after the last.
    NextPool,
    /// Only the next stream, likewise.
    NextStream,
    /// Only the chosen segment, in addresses; or all again.
    OnlySegment,
    /// This line of the reserved plot, or no longer.
    Toggle(Line),
}

/// The name of a plot's kind, as the picker has it as a value.
pub fn name(plot: Plot) -> &'static str {
    match plot {
        Plot::Stack => NAMES[0],
        Plot::Addresses(_) => NAMES[1],
        Plot::Reserved(_) => NAMES[2],
    }
}

/// A plot of the same kind, of this part of memory.
pub(crate) fn of(plot: Plot, only: Only) -> Plot {
    match plot {
        Plot::Stack => Plot::Stack,
        Plot::Addresses(_) => Plot::Addresses(only),
        Plot::Reserved(_) => Plot::Reserved(only),
    }
}

/// A plot of the same kind, of all memory.
pub(crate) fn of_all(plot: Plot) -> Plot {
    of(plot, Only::default())
}

/// The one of these keys, if it is known.
pub(crate) fn known<Q: PartialEq, A>(all: &[(Q, A)], of: Q) -> Option<&A> {
    all.iter().find(|(known, _)| *known == of).map(|(_, answer)| answer)
}

/// Keeps it, and lets go of the oldest where there are too many.
pub(crate) fn keep<T>(all: &mut Vec<T>, one: T) {
    if all.len() >= MOST_KEPT {
        all.remove(0);
    }
    all.push(one);
}

/// A scene of a plot, without the curve and the line that a stack of segments has not.
pub(crate) fn bare(mut scene: Scene, plot: Plot) -> Scene {
    if matches!(plot, Plot::Reserved(_)) {
        scene.columns.reserved.fill(0);
        scene.columns.pending.fill(0);
    }
    scene
}

/// The moments of one window at the heights of another; all heights where there is none.
pub(crate) fn upright(plane: Plane, now: View, kept: Option<View>) -> View {
    let Some(kept) = kept else { return plane.upright(now) };
    let canvas = Canvas { width_px: now.width_px, height_px: now.height_px, scale: 1.0 };
    let View { axis, x_per_px, left_px, width_px, .. } = now;
    plane.resized(View { axis, x_per_px, left_px, width_px, ..kept }, canvas)
}
