//! Lays out and draws the whole screen.

use crate::app::App;
use crate::layout::{LayoutInput, PaneAreas};
use crate::panes::Focus;
use crate::status_line::status_line;
use crate::views::{insights, side};
use crate::{chrome, dialogs, timeline, views};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ui::plot::marks::track_count;
use ui::shell::action::Action;
use ui::state::drawing::Canvas;
use ui::state::stage::Stage;
use ui::state::views::PanelState;
use ui::text::tab::Tab;

/// Minimum height, in rows, of a screen that shows more than one row of annotations.
const MIN_ROWS_WITH_LANES: u16 = 34;

impl App {
    /// Updates the layout for a screen of this size, in cells. Returns `true` if this caused new requests, which
    /// [`App::work`] answers.
    pub fn update_layout(&mut self, columns: u16, rows: u16) -> bool {
        let before = self.action_count;
        let lanes = u16::try_from(track_count(&self.state)).unwrap_or(0);
        let input = LayoutInput {
            view_percent: self.state.views.height,
            is_folded: self.state.views.panel == PanelState::Collapsed,
            slices: if rows < MIN_ROWS_WITH_LANES { lanes.min(1) } else { lanes },
            side_has_focus: self.focus == Focus::Side,
        };
        self.set_layout(PaneAreas::compute(Rect { x: 0, y: 0, width: columns, height: rows }, input));
        self.action_count != before
    }

    /// Sets the areas of the panes, and updates the sizes of the panes in the state.
    pub(crate) fn set_layout(&mut self, places: PaneAreas) {
        self.layout = places;
        let [width_px, height_px] = timeline::pixels(self, places.picture);
        let canvas = Canvas { width_px, height_px, scale: timeline::SCALE };
        if width_px > 0 && height_px > 0 && self.state.canvas != Some(canvas) {
            self.act(Action::Resized(canvas));
        }
        views::arrange(self);
        if self.state.views.visible() == Some(Tab::Insights) {
            insights::scroll_to_active(self);
        }
    }

    /// Draws the screen.
    pub fn draw(&self, frame: &mut Frame<'_>) {
        self.draw_on(frame.buffer_mut());
    }

    pub(crate) fn draw_on(&self, buffer: &mut Buffer) {
        chrome::header(self, buffer);
        if matches!(self.state.stage, Stage::Ready(_)) {
            chrome::minimap(self, buffer);
            timeline::draw(self, buffer);
            chrome::cursor_line(self, buffer);
            chrome::tabs(self, buffer);
            views::draw(self, buffer);
            side::draw(self, buffer);
        } else if self.state.partial().is_some() {
            chrome::minimap(self, buffer);
            timeline::draw(self, buffer);
            let PaneAreas { all, reading, foot, .. } = self.layout;
            chrome::loading(self, buffer, Rect { y: reading.y, height: foot.y.saturating_sub(reading.y), ..all });
        } else {
            let all = self.layout.all;
            chrome::loading(self, buffer, Rect { y: all.y + 1, height: all.height.saturating_sub(2), ..all });
        }
        dialogs::draw(self, buffer);
        status_line(self, buffer);
    }
}
