//! State of the plots other than the stack: their windows, replies of the worker and curves.

use super::chosen::Chosen;
use super::line::{Curved, Line, Wanted, Whose};
use crate::latest::Latest;
use crate::navigate::Plane;
use crate::shown::Canvas;
use engine::protocol::{AddressMap, Only, Overview, Plot};
use picture::timeline::{Axis, Scene, View};
use std::rc::Rc;

/// Maximum number of replies of a kind that are kept, and of windows.
pub(crate) const MOST_KEPT: usize = 64;

/// Names of the plots, in the order of the picker.
pub const NAMES: [&str; 3] = ["stack", "addresses", "reserved"];

/// State of the plots other than the stack.
#[derive(Clone, Debug, Default)]
pub struct Plots {
    /// Windows of plots that were shown before, by device ordinal and plot.
    pub(crate) windows: Vec<(i64, Plot, View)>,
    pub(crate) maps: Vec<(Whose, Rc<AddressMap>)>,
    /// Totals over the whole axis, for the overview.
    pub(crate) overviews: Vec<((Whose, Axis), Rc<Overview>)>,
    pub(crate) asked_map: Option<(u32, Whose)>,
    pub(crate) curves: Latest<Curved, Rc<engine::protocol::Curves>>,
    pub(crate) asked_curves: Option<(u32, Wanted)>,
    /// Curves that the user has hidden.
    pub(crate) off: Vec<Line>,
    pub(crate) chosen: Option<Box<Chosen>>,
}

/// A choice in the pickers of the plot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlotAction {
    /// Shows the plot at this index of [`NAMES`].
    Shown(usize),
    /// Shows only the pool at this index, or all pools.
    Pool(Option<usize>),
    /// Shows only the stream at this index, or all streams.
    Stream(Option<usize>),
}

/// Commands for the plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlotStep {
    Next,
    /// Shows only the next pool. All pools come after the last one.
    NextPool,
    /// Shows only the next stream. All streams come after the last one.
    NextStream,
    /// Toggles between the selected segment alone and all addresses.
    OnlySegment,
    /// Toggles a curve of the Reserved plot.
    Toggle(Line),
}

/// Returns the name of a plot's kind, as used by the picker.
pub fn name(plot: Plot) -> &'static str {
    match plot {
        Plot::Stack => NAMES[0],
        Plot::Addresses(_) => NAMES[1],
        Plot::Reserved(_) => NAMES[2],
    }
}

/// Returns a plot of the same kind that shows the given part of memory.
pub(crate) fn of(plot: Plot, only: Only) -> Plot {
    match plot {
        Plot::Stack => Plot::Stack,
        Plot::Addresses(_) => Plot::Addresses(only),
        Plot::Reserved(_) => Plot::Reserved(only),
    }
}

/// Returns a plot of the same kind that shows all memory.
pub(crate) fn of_all(plot: Plot) -> Plot {
    of(plot, Only::default())
}

/// Looks up the value of a key.
pub(crate) fn known<Q: PartialEq, A>(all: &[(Q, A)], of: Q) -> Option<&A> {
    all.iter().find(|(known, _)| *known == of).map(|(_, answer)| answer)
}

/// Appends an entry, and drops the oldest one if there are too many.
pub(crate) fn keep<T>(all: &mut Vec<T>, one: T) {
    if all.len() >= MOST_KEPT {
        all.remove(0);
    }
    all.push(one);
}

/// Removes the Reserved curve and the awaiting-free bytes from a scene of segments, which has neither.
pub(crate) fn bare(mut scene: Scene, plot: Plot) -> Scene {
    if matches!(plot, Plot::Reserved(_)) {
        scene.columns.reserved.fill(0);
        scene.columns.pending.fill(0);
    }
    scene
}

/// Combines the horizontal range of `now` with the vertical range of `kept`, or with the full height.
pub(crate) fn upright(plane: Plane, now: View, kept: Option<View>) -> View {
    let Some(kept) = kept else { return plane.upright(now) };
    let canvas = Canvas { width_px: now.width_px, height_px: now.height_px, scale: 1.0 };
    let View { axis, x_per_px, left_px, width_px, .. } = now;
    plane.resized(View { axis, x_per_px, left_px, width_px, ..kept }, canvas)
}
