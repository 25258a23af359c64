//! Draws the views: the page's view models, converted to terminal cells.

pub(crate) mod flame;
pub(crate) mod grid;
pub(crate) mod insights;
pub(crate) mod rows;
pub(crate) mod segments;
pub(crate) mod side;
pub(crate) mod tree;

use crate::app::App;
use ratatui::buffer::Buffer;
use rows::{body, resized_px};
use ui::features::events::EventsAction;
use ui::features::flame::FlameAction;
use ui::features::segments::{ROW_PX as SEGMENTS_PX, SegmentsAction};
use ui::features::table::TableAction;
use ui::features::tree::ROW_PX as TREE_PX;
use ui::features::tree_keys::TreeAction;
use ui::plot::scroll;
use ui::shell::action::Action;
use ui::state::drawing::Canvas;
use ui::text::tab::Tab;

/// Updates the size of the visible view in the page's state.
pub(crate) fn arrange(app: &mut App) {
    let pane = app.layout.view;
    let rows = f64::from(body(pane).height);
    let state = &app.state;
    match state.views.visible() {
        Some(Tab::CallTree) => {
            let height_px = rows * TREE_PX;
            let top_px = state.tree.scroll.top_px;
            if state.tree.scroll.height_px != height_px {
                app.act(Action::feature(TreeAction::Scrolled { top_px, height_px }));
            }
        }
        Some(Tab::Allocations) => {
            if let Some(top) = resized_px(&state.table.scroll, rows, scroll::ROW_PX) {
                app.act(Action::feature(TableAction::Scrolled(top, rows * scroll::ROW_PX)));
            }
        }
        Some(Tab::Events) => {
            if let Some(top) = resized_px(&state.events.scroll, rows, scroll::ROW_PX) {
                app.act(Action::feature(EventsAction::Scrolled(top, rows * scroll::ROW_PX)));
            }
        }
        Some(Tab::Flame) => {
            let canvas = flame::canvas(body(pane));
            if state.flame.canvas != Some(canvas) {
                app.act(Action::feature(FlameAction::Resized(canvas)));
            }
        }
        Some(Tab::Segments) => {
            let area = segments::body(app);
            let canvas: Canvas = segments::canvas(area);
            let rows = f64::from(area.height);
            let resized = resized_px(&state.segments.scroll, rows, SEGMENTS_PX);
            if state.segments.canvas != Some(canvas) {
                app.act(Action::feature(SegmentsAction::Resized(canvas)));
            }
            if let Some(top) = resized {
                app.act(Action::feature(SegmentsAction::Scrolled(top, rows * SEGMENTS_PX)));
            }
        }
        _ => {}
    }
}

/// Draws the visible view.
pub(crate) fn draw(app: &App, buffer: &mut Buffer) {
    let pane = app.layout.view;
    if pane.is_empty() || app.state.file().is_none() {
        return;
    }
    match app.state.views.visible() {
        Some(Tab::Insights) => insights::draw(app, buffer, pane),
        Some(Tab::CallTree) => tree::draw(app, buffer, pane),
        Some(Tab::Allocations) => grid::allocations(app, buffer, pane),
        Some(Tab::Events) => grid::events(app, buffer, pane),
        Some(Tab::Flame) => flame::draw(app, buffer, pane),
        Some(Tab::Segments) => segments::draw(app, buffer, pane),
        _ => {}
    }
}
