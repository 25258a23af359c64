//! The flame graph: zoom, scrolling, and the selected and the hovered box.

pub mod commands;
mod data;
mod feature;
mod link;
pub mod picture;
pub mod words;

pub use data::{FlameAction, FlameGraph, GrowthDirection};
pub(crate) use feature::FEATURE;

use crate::scope::find;
use crate::state::change::Change;
use crate::state::outbox::{Intent, Outbox};
use crate::state::shared::Shared;
use crate::text::tab::Tab;
use protocol::{Answer, Arrangement, FlameQuestion, Question};
use std::rc::Rc;

/// Minimum number of rows that stay visible above a zoomed box.
const MIN_ROWS_ABOVE_ZOOM: i64 = 2;

impl FlameGraph {
    /// Returns the index of the selected node's box, or of the zoomed box if there is no selection.
    pub fn selected_box(&self, shared: &Shared) -> Option<usize> {
        let selected = shared.views.node.and_then(|node| self.box_of(node));
        selected.or_else(|| Some(self.page()?.zoom as usize))
    }

    /// Returns the request for the visible boxes. `None` while the flame graph is hidden.
    fn question(&self, shared: &Shared) -> Option<FlameQuestion> {
        let canvas = self.canvas.filter(|_| shared.views.visible() == Some(Tab::Flame))?;
        let (arrangement, zoom) = (shared.views.arrangement, self.zoom_node(shared));
        let allocation = shared.selection.as_ref().map(|selection| selection.allocation);
        let search_serial = find::match_serial(shared);
        Some(FlameQuestion {
            scope: shared.views.scope,
            arrangement,
            zoom,
            width_px: canvas.width_px,
            search_serial,
            allocation,
        })
    }

    /// Returns the zoomed node, if it belongs to the current arrangement.
    fn zoom_node(&self, shared: &Shared) -> Option<u32> {
        self.zoom.filter(|(of, _)| *of == shared.views.arrangement).map(|(_, node)| node)
    }

    /// Zooms to a node. Node 0 shows the whole graph.
    fn zoom_to(&mut self, shared: &Shared, node: u32) {
        self.zoom = (node != 0).then_some((shared.views.arrangement, node));
    }

    /// Returns true if the boxes belong to a previous arrangement, which has other node ids.
    fn has_stale_boxes(&self, shared: &Shared) -> bool {
        self.answer.answered_question().is_some_and(|question| question.arrangement != shared.views.arrangement)
    }

    fn select_box(&mut self, index: usize, out: &mut Outbox) {
        let found = self.page().and_then(|page| page.boxes.get(index).copied());
        if let Some(found) = found.filter(|found| found.node_count == 1) {
            out.intend(Intent::Node(Some(found.node)));
            self.bring_into_view(found.row);
        }
    }
}

/// Zooms out fully. Returns false if the graph is not visible or was not zoomed.
fn zoom_out_fully(flame: &mut FlameGraph, shared: &Shared) -> bool {
    shared.views.visible() == Some(Tab::Flame) && flame.zoom.take().is_some()
}

fn reset(flame: &mut FlameGraph, _: &Shared, change: Change, _: &mut Outbox) {
    if change == Change::InternalFrames {
        flame.clear_boxes();
    }
    if change.is_device_change() {
        *flame = FlameGraph { canvas: flame.canvas, growth: flame.growth, ..FlameGraph::default() };
    }
}

/// Requests missing boxes.
fn ask(flame: &mut FlameGraph, shared: &Shared, device: i64, out: &mut Outbox) {
    reveal_selected_node(flame, shared);
    let label = shared.unnamed_node().and_then(|node| flame.label(node));
    out.intents.extend(label.cloned().map(Intent::NodeLabel));
    let Some(question) = flame.question(shared) else { return };
    flame.answer.ask(question, device, out, Question::Flame);
}

/// Scrolls to a node that was selected in another tab. Zooms to the node if it has no box of its own.
fn reveal_selected_node(flame: &mut FlameGraph, shared: &Shared) {
    let node = shared.views.node;
    let is_known = flame.question(shared).is_some_and(|question| flame.answer.answer_to(&question).is_some());
    if !is_known || flame.revealed_node == node {
        return;
    }
    flame.revealed_node = node;
    let Some(node) = node else { return };
    let row = flame.box_of(node).and_then(|index| Some(flame.page()?.boxes.get(index)?.row));
    match row {
        Some(row) => flame.bring_into_view(row),
        None => flame.zoom_to(shared, node),
    }
}

/// Handles a reply with boxes. Returns replies for other features.
fn take(flame: &mut FlameGraph, shared: &Shared, serial: u32, answer: Answer, _: &mut Outbox) -> Option<Answer> {
    let Answer::Flame(page) = answer else { return Some(answer) };
    flame.answer.take(serial, Rc::from(page));
    update_scroll(flame);
    let selected = shared.selection.as_ref().map(|selection| selection.allocation);
    let revealed = flame.page().and_then(|page| page.boxes.get(page.revealed? as usize)).map(|it| it.row);
    if let Some(row) = revealed.filter(|_| flame.revealed_allocation != selected) {
        flame.revealed_allocation = selected;
        flame.bring_into_view(row);
    }
    None
}

/// Sets the scroll offset after a change of the zoom or the growth direction. Otherwise only clamps it.
fn update_scroll(flame: &mut FlameGraph) {
    let (Some(page), Some(canvas)) = (flame.page().cloned(), flame.canvas) else { return };
    let Some(zoom) = page.boxes.get(page.zoom as usize) else { return };
    let current = (zoom.node, flame.growth, canvas);
    let previous = flame.scrolled_for.replace(current);
    if previous.is_none_or(|previous| (previous.0, previous.1) != (current.0, current.1)) {
        let above = flame.row_px() * (i64::from(zoom.row) - MIN_ROWS_ABOVE_ZOOM).max(0);
        let end = flame.content_px() - flame.height_px();
        flame.scroll_to(if flame.growth == GrowthDirection::Down { above } else { end - above });
    } else {
        flame.scroll_to(flame.scrolled_px);
    }
}

/// Handles pointer and browser events.
fn handle_action(flame: &mut FlameGraph, shared: &Shared, action: FlameAction, out: &mut Outbox) {
    match action {
        FlameAction::Resized(canvas) => {
            flame.canvas = Some(canvas);
            update_scroll(flame);
        }
        FlameAction::Scrolled(css) => {
            // A difference below one pixel is a rounding error of the browser.
            if (css - f64::from(flame.scrolled_css())).abs() >= 1.0 {
                let scale = flame.canvas.map_or(1.0, |canvas| canvas.scale);
                flame.scroll_to((css * scale).round() as i64);
            }
        }
        FlameAction::PointerAt(position) => flame.pointer = position,
        FlameAction::Clicked(_) | FlameAction::DoubleClicked(_) | FlameAction::CrumbClicked(_)
            if flame.has_stale_boxes(shared) => {}
        FlameAction::Clicked(at) => match flame.hit_test(at) {
            Some(index) => flame.select_box(index, out),
            None => out.intend(Intent::Node(None)),
        },
        FlameAction::DoubleClicked(at) => {
            let page = flame.page();
            let hit = page.and_then(|page| page.boxes.get(flame.hit_test(at)?).copied());
            if let Some(hit) = hit.filter(|hit| hit.node_count == 1) {
                flame.zoom_to(shared, hit.node);
            }
        }
        FlameAction::CrumbClicked(node) => flame.zoom_to(shared, node),
        FlameAction::Merged(merge) => out.intend(Intent::Arrange(Arrangement { merge, ..shared.views.arrangement })),
    }
}
