//! State, actions and geometry of the flame graph.

use crate::state::drawing::Canvas;
use crate::state::latest::Latest;
use protocol::{Arrangement, FlameBox, FlamePage, FlameQuestion, Merge, NodeLabel};
use std::rc::Rc;

/// Height of a row in CSS pixels.
const ROW_PX: f64 = 20.0;

/// State of the flame graph.
#[derive(Clone, Debug, Default)]
pub struct FlameGraph {
    /// Size of the canvas. `None` until the canvas is laid out.
    pub canvas: Option<Canvas>,
    /// Direction of the rows, starting at the root.
    pub growth: GrowthDirection,
    /// Scroll offset in device pixels.
    pub(super) scrolled_px: i64,
    /// Arrangement of the tree and id of the zoomed node in that arrangement. `None` shows the whole graph.
    pub(super) zoom: Option<(Arrangement, u32)>,
    /// Position of the pointer in device pixels, from the upper left corner of the canvas.
    pub pointer: Option<[f64; 2]>,
    pub(super) answer: Latest<FlameQuestion, Rc<FlamePage>>,
    /// The allocation whose box was last scrolled into view.
    pub(super) revealed_allocation: Option<u32>,
    /// The selected node that was last scrolled into view.
    pub(super) revealed_node: Option<u32>,
    /// Zoomed node, growth direction and canvas size when the scroll offset was last set. If the node or the direction
    /// changes, the offset is set again.
    pub(super) scrolled_for: Option<(u32, GrowthDirection, Canvas)>,
}

/// Direction of the rows, starting at the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum GrowthDirection {
    /// The root is at the top, as in an icicle graph.
    #[default]
    Down,
    Up,
}

/// Pointer and browser events of the flame graph. Positions are in device pixels from the upper left corner of the
/// canvas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FlameAction {
    Resized(Canvas),
    /// Scroll offset in CSS pixels.
    Scrolled(f64),
    /// Position of the pointer. `None` when it left the canvas.
    PointerAt(Option<[f64; 2]>),
    /// Selects the box at this position, or clears the selection.
    Clicked([f64; 2]),
    /// Zooms to the box at this position.
    DoubleClicked([f64; 2]),
    /// Zooms to a node of the breadcrumb path.
    CrumbClicked(u32),
    /// Sets how frames are merged.
    Merged(Merge),
}

impl FlameGraph {
    /// Returns the boxes that are shown.
    pub fn page(&self) -> Option<&Rc<FlamePage>> {
        self.answer.latest()
    }

    /// Drops the boxes and the zoom. Called when node ids have changed.
    pub(crate) fn clear_boxes(&mut self) {
        (self.answer, self.zoom) = Default::default();
    }

    /// Returns the height of a row in device pixels.
    pub fn row_px(&self) -> i64 {
        self.canvas.map_or(1, |canvas| (ROW_PX * canvas.scale).round() as i64)
    }

    /// Returns the height of all rows in device pixels.
    pub fn content_px(&self) -> i64 {
        let last = self.page().and_then(|page| page.boxes.last());
        last.map_or(0, |last| (i64::from(last.row) + 1) * self.row_px())
    }

    /// Returns the scroll offset in CSS pixels.
    pub fn scrolled_css(&self) -> i32 {
        let scale = self.canvas.map_or(1.0, |canvas| canvas.scale);
        (self.scrolled_px as f64 / scale).round() as i32
    }

    pub(super) fn height_px(&self) -> i64 {
        self.canvas.map_or(0, |canvas| canvas.height_px.into())
    }

    /// Returns the upper edge of a row in device pixels, from the top of the canvas.
    pub(super) fn top_of(&self, row: u32) -> i64 {
        let row = i64::from(row);
        match self.growth {
            GrowthDirection::Down => row * self.row_px() - self.scrolled_px,
            // With the root at the bottom, rows are aligned to the bottom of the canvas.
            GrowthDirection::Up => {
                self.content_px().max(self.height_px()) - (row + 1) * self.row_px() - self.scrolled_px
            }
        }
    }

    pub(super) fn scroll_to(&mut self, px: i64) {
        self.scrolled_px = px.clamp(0, (self.content_px() - self.height_px()).max(0));
    }

    /// Scrolls a row into view by the shortest distance.
    pub(super) fn bring_into_view(&mut self, row: u32) {
        let top = self.top_of(row);
        let hidden_below = (top + self.row_px() - self.height_px()).max(0);
        let delta = if top < 0 { top } else { hidden_below };
        self.scroll_to(self.scrolled_px + delta);
    }

    /// Returns the index of the box at a position, in device pixels from the upper left corner of the canvas.
    pub fn hit_test(&self, [x, y]: [f64; 2]) -> Option<usize> {
        let (page, width) = (self.page()?, self.canvas?.width_px);
        let from_top = y.floor() as i64 - self.top_of(0);
        let row = from_top.div_euclid(self.row_px().max(1));
        let row = u32::try_from(if self.growth == GrowthDirection::Down { row } else { -row }).ok()?;
        let drawn = page.boxes.first()?.x[1];
        let x = ((x.floor() + 0.5) * f64::from(drawn) / f64::from(width.max(1))) as u32;
        let from = page.boxes.partition_point(|it| (it.row, it.x[1]) <= (row, x));
        let found = page.boxes.get(from)?;
        (found.row == row && found.x[0] <= x).then_some(from)
    }

    /// Returns the box under the pointer.
    pub fn hovered(&self) -> Option<&FlameBox> {
        self.page()?.boxes.get(self.hit_test(self.pointer?)?)
    }

    /// Returns the label of a node. `None` if the node has no box of its own, such as a frame narrower than a pixel.
    pub(crate) fn label(&self, node: u32) -> Option<&NodeLabel> {
        let page = self.page()?;
        page.labels.get(page.boxes.get(self.box_of(node)?)?.label as usize)
    }

    /// Returns the index of a node's box. `None` if the node has no box of its own, such as a frame narrower than a
    /// pixel.
    pub(super) fn box_of(&self, node: u32) -> Option<usize> {
        self.page()?.boxes.iter().position(|it| it.node == node && it.node_count == 1)
    }
}
