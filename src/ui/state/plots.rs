//! State of the plots other than the stack: their windows, replies of the worker and curves.

use crate::state::drawing::Canvas;
use crate::state::latest::Latest;
use crate::state::line::{CurvesKey, CurvesRequest, Line, MemoryPart};
use crate::state::navigate::Plane;
use crate::state::selected_segment::SelectedSegment;
use picture::timeline::{Axis, Scene, View};
use protocol::{AddressMap, MemoryFilter, Overview, Plot};
use std::rc::Rc;

/// Maximum number of cached windows, and of cached replies of each kind.
pub(crate) const MAX_CACHED: usize = 64;

/// Names of the plots, in the order of the picker.
pub const NAMES: [&str; 3] = ["stack", "addresses", "reserved"];

/// State of the plots other than the stack.
#[derive(Clone, Debug)]
pub struct Plots {
    /// Windows of plots that were shown before, by device ordinal and plot.
    pub(crate) windows: Vec<(i64, Plot, View)>,
    pub(crate) maps: Vec<(MemoryPart, Rc<AddressMap>)>,
    /// Overview curves over the whole axis, by part of memory and axis.
    pub(crate) overviews: Vec<((MemoryPart, Axis), Rc<Overview>)>,
    pub(crate) pending_map: Option<(u32, MemoryPart)>,
    pub(crate) curves: Latest<CurvesKey, Rc<protocol::Curves>>,
    pub(crate) pending_curves: Option<(u32, CurvesRequest)>,
    /// Curves that the user has hidden.
    pub(crate) hidden_lines: Vec<Line>,
    pub(crate) selected_segment: Option<Box<SelectedSegment>>,
}

impl Default for Plots {
    fn default() -> Plots {
        let (windows, maps, overviews, pending_map, curves, pending_curves, selected_segment) = Default::default();
        let hidden_lines = Line::HIDDEN_BY_DEFAULT.to_vec();
        Plots { windows, maps, overviews, pending_map, curves, pending_curves, hidden_lines, selected_segment }
    }
}

impl Plots {
    /// Hides or shows a curve.
    pub(crate) fn toggle_line(&mut self, line: Line) {
        match self.hidden_lines.iter().position(|hidden| *hidden == line) {
            Some(index) => drop(self.hidden_lines.remove(index)),
            None => self.hidden_lines.push(line),
        }
    }
}

/// User input in the pickers of the plot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlotAction {
    /// Shows the plot at this index of [`NAMES`].
    KindChosen(usize),
    /// Shows only the pool at this index, or all pools (`None`).
    Pool(Option<usize>),
    /// Shows only the stream at this index, or all streams (`None`).
    Stream(Option<usize>),
}

/// Returns the name of a plot, as listed in [`NAMES`].
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

/// Returns the value of a key in a list of keys and values.
pub(crate) fn lookup<Q: PartialEq, A>(all: &[(Q, A)], key: Q) -> Option<&A> {
    all.iter().find(|(known, _)| *known == key).map(|(_, answer)| answer)
}

/// Appends an entry. Drops the oldest one if the list already has [`MAX_CACHED`] entries.
pub(crate) fn push_bounded<T>(all: &mut Vec<T>, one: T) {
    if all.len() >= MAX_CACHED {
        all.remove(0);
    }
    all.push(one);
}

/// Clears the reserved curve and the bytes awaiting free in a scene of the Reserved plot, where they do not apply.
pub(crate) fn without_curves(mut scene: Scene, plot: Plot) -> Scene {
    if matches!(plot, Plot::Reserved(_)) {
        scene.columns.reserved.fill(0);
        scene.columns.pending.fill(0);
    }
    scene
}

/// Returns the horizontal range of `current` combined with the vertical range of `previous`, or with the full height.
pub(crate) fn with_heights_of(plane: Plane, current: View, previous: Option<View>) -> View {
    let Some(previous) = previous else { return plane.full_height(current) };
    let canvas = Canvas { width_px: current.width_px, height_px: current.height_px, scale: 1.0 };
    let View { axis, x_per_px, left_px, width_px, .. } = current;
    plane.resized(View { axis, x_per_px, left_px, width_px, ..previous }, canvas)
}
