//! Where the cursor is, and which step of it is on its way.

use crate::latest::Latest;
use engine::protocol::{HitAllocation, HitMemory, Looks, MomentFacts, Step};
use picture::timeline::{Scene, View};

/// What is at a place: the allocation, the segment and what is free.
pub(crate) type There = (Option<HitAllocation>, Option<Box<HitMemory>>);

/// A place that keys have led to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// The moment: how many events have happened.
    pub moment: u32,
    /// The height in the stack, in bytes.
    pub byte: u64,
}

/// The cursor.
#[derive(Clone, Debug, Default)]
pub struct Cursor {
    /// Where keys have led it; `None` while the pointer leads.
    pub keys: Option<Standing>,
    /// What the worker said last of a moment it stood at.
    pub(crate) facts: Option<MomentFacts>,
    /// What is under it, when keys lead.
    pub(crate) hit: Latest<(Standing, Looks), There>,
    pub(crate) stepping: Option<Stepping>,
    /// Commands that came while a step was on its way.
    pub(crate) waiting: Vec<CursorStep>,
    pub(crate) follow: Follow,
}

impl Cursor {
    /// What the worker says of a moment.
    pub(crate) fn take(&mut self, facts: MomentFacts) {
        self.facts = Some(facts);
    }
}

/// A step that the worker was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stepping {
    pub(crate) serial: u32,
    pub(crate) step: Step,
    /// Events to go on after it.
    pub(crate) and_events: u32,
}

/// Whether the window has to come along.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Follow {
    #[default]
    No,
    Yes,
}

/// Where keys lead the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CursorStep {
    Earlier,
    Later,
    ColumnLeft,
    ColumnRight,
    Above,
    Below,
    /// Onto the allocation before, at the same byte.
    Before,
    /// Onto the allocation after, at the same byte.
    After,
    /// To the event that made the selected allocation.
    ToBorn,
    ToFreed,
    /// Nowhere: what is there is selected.
    Select,
}

/// Whether the window came along.
#[derive(PartialEq, Eq)]
pub(crate) enum Followed {
    No,
    Yes,
}

/// The column of the scene at `x` device pixels of the window.
pub(crate) fn column_under(scene: &Scene, view: &View, x: f64) -> Option<usize> {
    column_under_edges(&scene.columns.edge_px, &scene.view, view, x)
}

/// The column, of those with these edges in pixels of the window `of`, at `x` device pixels of the window `view`.
pub(crate) fn column_under_edges(edge_px: &[i32], of: &View, view: &View, x: f64) -> Option<usize> {
    let x = of.column_from_x(view.x_from_column(x.floor() + 0.5)).floor() as i32;
    let column = edge_px.partition_point(|&edge| edge <= x).checked_sub(1)?;
    (column + 1 < edge_px.len()).then_some(column)
}
