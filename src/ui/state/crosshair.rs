//! State of the crosshair: its position, and the step in progress.

use crate::state::latest::Latest;
use picture::timeline::{Scene, View};
use protocol::{HitAllocation, HitMemory, MomentFacts, PlotSettings, Step};

/// Result of a hit test: the allocation at a position, and the segment with its free blocks at that position.
pub(crate) type HitResult = (Option<HitAllocation>, Option<Box<HitMemory>>);

/// Position of the crosshair in the plot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// Moment: the number of events before this position.
    pub moment: u32,
    /// Height in the plot, in bytes.
    pub byte: u64,
}

/// State of the crosshair: its position, and the steps that the worker is computing.
#[derive(Clone, Debug, Default)]
pub struct Crosshair {
    /// Position set by keys. `None` while the pointer controls the crosshair.
    pub by_keys: Option<Position>,
    /// Latest facts from the worker about a moment at which the crosshair is or was.
    pub(crate) facts: Option<MomentFacts>,
    /// Result of the hit test at the crosshair's position, while keys control the crosshair.
    pub(crate) hit: Latest<(Position, PlotSettings), HitResult>,
    pub(crate) pending_step: Option<PendingStep>,
    /// Commands given while a step was pending, oldest first.
    pub(crate) queued_steps: Vec<CrosshairStep>,
    pub(crate) follow: Follow,
}

impl Crosshair {
    /// Lets the crosshair follow the pointer again, and cancels pending steps.
    pub(crate) fn follow_pointer(&mut self) {
        (self.by_keys, self.pending_step, self.follow) = (None, None, Follow::No);
        self.queued_steps.clear();
    }

    /// Stores the worker's facts about a moment.
    pub(crate) fn take(&mut self, facts: MomentFacts) {
        self.facts = Some(facts);
    }
}

/// A move of the crosshair that the worker is computing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingStep {
    pub(crate) serial: u32,
    pub(crate) step: Step,
    /// Number of events to advance the crosshair after the step.
    pub(crate) extra_events: u32,
}

/// `Yes` if the window has to scroll to the crosshair or the cursor in the next update.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Follow {
    #[default]
    No,
    Yes,
}

/// A command that moves the crosshair, or selects the object under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CrosshairStep {
    Earlier,
    Later,
    ColumnLeft,
    ColumnRight,
    Above,
    Below,
    /// Moves to the previous allocation at the same height in bytes.
    Before,
    /// Moves to the next allocation at the same height in bytes.
    After,
    /// Moves to the event at which the selected allocation was made.
    ToAllocation,
    ToFreed,
    /// Selects the object under the crosshair, without moving it.
    Select,
}

/// Result of [`follow`](crate::plot::crosshair::follow): `Yes` if it panned the window.
#[derive(PartialEq, Eq)]
pub(crate) enum Followed {
    No,
    Yes,
}

/// Returns the index of the scene's column at `x`, in device pixels from the left edge of the window `view`.
pub(crate) fn column_under(scene: &Scene, view: &View, x: f64) -> Option<usize> {
    column_under_edges(&scene.columns.edge_px, &scene.view, view, x)
}

/// Returns the index of the column at `x`, in device pixels from the left edge of the window `view`. `edge_px` holds
/// the edges of the columns, in pixels of the window `edge_view`.
pub(crate) fn column_under_edges(edge_px: &[i32], edge_view: &View, view: &View, x: f64) -> Option<usize> {
    let x = edge_view.column_from_x(view.x_from_column(x.floor() + 0.5)).floor() as i32;
    let column = edge_px.partition_point(|&edge| edge <= x).checked_sub(1)?;
    (column + 1 < edge_px.len()).then_some(column)
}
