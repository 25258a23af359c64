//! State of the plots other than the stack: their windows, replies of the worker and curves.

use super::line::{CurvesKey, CurvesRequest, Line, MemoryPart};
use super::selected_segment::SelectedSegment;
use crate::drawing::Canvas;
use crate::latest::Latest;
use crate::navigate::Plane;
use engine::protocol::{AddressMap, MemoryFilter, Overview, Plot};
use picture::timeline::{Axis, Scene, View};
use std::rc::Rc;

/// Maximum number of replies of a kind that are kept, and of windows.
pub(crate) const MAX_CACHED: usize = 64;

/// Names of the plots, in the order of the picker.
pub const NAMES: [&str; 3] = ["stack", "addresses", "reserved"];

/// State of the plots other than the stack.
#[derive(Clone, Debug, Default)]
pub struct Plots {
    /// Windows of plots that were shown before, by device ordinal and plot.
    pub(crate) windows: Vec<(i64, Plot, View)>,
    pub(crate) maps: Vec<(MemoryPart, Rc<AddressMap>)>,
    /// Totals over the whole axis, for the overview.
    pub(crate) overviews: Vec<((MemoryPart, Axis), Rc<Overview>)>,
    pub(crate) pending_map: Option<(u32, MemoryPart)>,
    pub(crate) curves: Latest<CurvesKey, Rc<engine::protocol::Curves>>,
    pub(crate) pending_curves: Option<(u32, CurvesRequest)>,
    /// Curves that the user has hidden.
    pub(crate) hidden_lines: Vec<Line>,
    pub(crate) selected_segment: Option<Box<SelectedSegment>>,
}

/// A choice in the pickers of the plot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlotAction {
    /// Shows the plot at this index of [`NAMES`].
    KindChosen(usize),
    /// Shows only the pool at this index, or all pools.
    Pool(Option<usize>),
    /// Shows only the stream at this index, or all streams.
    Stream(Option<usize>),
}

/// Commands for the plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlotStep {
    NextPlot,
    /// Shows only the next pool. All pools come after the last one.
    NextPool,
    /// Shows only the next stream. All streams come after the last one.
    NextStream,
    /// Toggles between the selected segment alone and all addresses.
    OnlySegment,
    /// Toggles a curve of the Reserved plot.
    ToggleLine(Line),
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
pub(crate) fn with_filter(plot: Plot, only: MemoryFilter) -> Plot {
    match plot {
        Plot::Stack => Plot::Stack,
        Plot::Addresses(_) => Plot::Addresses(only),
        Plot::Reserved(_) => Plot::Reserved(only),
    }
}

/// Returns a plot of the same kind that shows all memory.
pub(crate) fn unfiltered(plot: Plot) -> Plot {
    with_filter(plot, MemoryFilter::default())
}

/// Looks up the value of a key.
pub(crate) fn lookup<Q: PartialEq, A>(all: &[(Q, A)], of: Q) -> Option<&A> {
    all.iter().find(|(known, _)| *known == of).map(|(_, answer)| answer)
}

/// Appends an entry, and drops the oldest one if there are too many.
pub(crate) fn push_bounded<T>(all: &mut Vec<T>, one: T) {
    if all.len() >= MAX_CACHED {
        all.remove(0);
    }
    all.push(one);
}

/// Removes the Reserved curve and the awaiting-free bytes from a scene of segments, which has neither.
pub(crate) fn without_curves(mut scene: Scene, plot: Plot) -> Scene {
    if matches!(plot, Plot::Reserved(_)) {
        scene.columns.reserved.fill(0);
        scene.columns.pending.fill(0);
    }
    scene
}

/// Combines the horizontal range of `now` with the vertical range of `kept`, or with the full height.
pub(crate) fn with_heights_of(plane: Plane, now: View, kept: Option<View>) -> View {
    let Some(kept) = kept else { return plane.full_height(now) };
    let canvas = Canvas { width_px: now.width_px, height_px: now.height_px, scale: 1.0 };
    let View { axis, x_per_px, left_px, width_px, .. } = now;
    plane.resized(View { axis, x_per_px, left_px, width_px, ..kept }, canvas)
}
