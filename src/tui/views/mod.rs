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
use rows::body;
use ui::features::events::EventsAction;
use ui::features::flame::FlameAction;
use ui::features::segments::SegmentsAction;
use ui::features::table::TableAction;
use ui::features::tree::ROW_PX as TREE_PX;
use ui::features::tree_keys::TreeAction;
use ui::features::{events, table};
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
            let (seen, top) = (state.table.scroll.visible_rows(), state.table.scroll.rows_above() * table::ROW_PX);
            if (seen - rows).abs() > 1e-6 {
                app.act(Action::feature(TableAction::Scrolled(top, rows * table::ROW_PX)));
            }
        }
        Some(Tab::Events) => {
            let (seen, top) = (state.events.scroll.visible_rows(), state.events.scroll.rows_above() * events::ROW_PX);
            if (seen - rows).abs() > 1e-6 {
                app.act(Action::feature(EventsAction::Scrolled(top, rows * events::ROW_PX)));
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
            let (seen, top) = (
                state.segments.scroll.visible_rows(),
                state.segments.scroll.rows_above() * ui::features::segments::ROW_PX,
            );
            let rows = f64::from(area.height);
            let is_other = (seen - rows).abs() > 1e-6;
            if state.segments.canvas != Some(canvas) {
                app.act(Action::feature(SegmentsAction::Resized(canvas)));
            }
            if is_other {
                app.act(Action::feature(SegmentsAction::Scrolled(top, rows * ui::features::segments::ROW_PX)));
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
