//! State of the crosshair: its position, and the step in progress.

use crate::latest::Latest;
use engine::protocol::{HitAllocation, HitMemory, Looks, MomentFacts, Step};
use picture::timeline::{Scene, View};

/// Answer to a hit test: the allocation at a position, and the segment and free bytes there.
pub(crate) type HitResult = (Option<HitAllocation>, Option<Box<HitMemory>>);

/// A position of the crosshair: a moment and a height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// Number of events before this position in time.
    pub moment: u32,
    /// Height in the plot, in bytes.
    pub byte: u64,
}

/// State of the crosshair.
#[derive(Clone, Debug, Default)]
pub struct Crosshair {
    /// Position set by keys. `None` while the pointer controls the crosshair.
    pub by_keys: Option<Position>,
    /// Latest facts from the worker about a moment of the crosshair.
    pub(crate) facts: Option<MomentFacts>,
    /// Answer about the object under the crosshair while keys control it.
    pub(crate) hit: Latest<(Position, Looks), HitResult>,
    pub(crate) pending_step: Option<PendingStep>,
    /// Commands queued during a step, oldest first.
    pub(crate) queued_steps: Vec<CrosshairStep>,
    pub(crate) follow: Follow,
}

impl Crosshair {
    /// Stores the worker's facts about a moment.
    pub(crate) fn take(&mut self, facts: MomentFacts) {
        self.facts = Some(facts);
    }
}

/// A step that the worker was asked to compute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingStep {
    pub(crate) serial: u32,
    pub(crate) step: Step,
    /// Number of events to move the crosshair forward after the step.
    pub(crate) and_events: u32,
}

/// Request for the window to follow the crosshair.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Follow {
    #[default]
    No,
    Yes,
}

/// A move of the crosshair by keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CrosshairStep {
    Earlier,
    Later,
    ColumnLeft,
    ColumnRight,
    Above,
    Below,
    /// To the previous allocation at the same byte.
    Before,
    /// To the next allocation at the same byte.
    After,
    /// To the event that allocated the selected allocation.
    ToAllocation,
    ToFreed,
    /// Selects the object under the crosshair, without moving it.
    Select,
}

/// Result of [`follow`](super::follow). `Yes` if the window was moved.
#[derive(PartialEq, Eq)]
pub(crate) enum Followed {
    No,
    Yes,
}

/// Returns the index of the scene's column at `x` device pixels of the window.
pub(crate) fn column_under(scene: &Scene, view: &View, x: f64) -> Option<usize> {
    column_under_edges(&scene.columns.edge_px, &scene.view, view, x)
}

/// Returns the index of the column at `x` device pixels of the window `view`. `edge_px` holds the edges of the columns
/// in pixels of the window `edge_view`.
pub(crate) fn column_under_edges(edge_px: &[i32], edge_view: &View, view: &View, x: f64) -> Option<usize> {
    let x = edge_view.column_from_x(view.x_from_column(x.floor() + 0.5)).floor() as i32;
    let column = edge_px.partition_point(|&edge| edge <= x).checked_sub(1)?;
    (column + 1 < edge_px.len()).then_some(column)
}
