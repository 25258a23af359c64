//! Layout and drawing of the whole screen.

use crate::app::App;
use crate::layout::{Places, Wishes};
use crate::panes::Focus;
use crate::views::{insights, side};
use crate::{around, dialogs, timeline, views};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ui::Action;
use ui::marks::lanes;
use ui::shown::Canvas;
use ui::stage::Stage;
use ui::tab::Tab;
use ui::views::Panel;

/// Minimum height of a screen that shows more than one row of annotations.
const TALL: u16 = 34;

impl App {
    /// Updates the layout for a screen of this size. Returns `true` if that caused new requests, which [`App::work`]
    /// answers.
    pub fn arrange(&mut self, columns: u16, rows: u16) -> bool {
        let before = self.acts;
        let lanes = u16::try_from(lanes(&self.state)).unwrap_or(0);
        let wishes = Wishes {
            view_percent: self.state.views.height,
            is_folded: self.state.views.panel == Panel::Folded,
            slices: if rows < TALL { lanes.min(1) } else { lanes },
            side_has_focus: self.focus == Focus::Side,
        };
        self.settle(Places::of(Rect { x: 0, y: 0, width: columns, height: rows }, wishes));
        self.acts != before
    }

    /// Sets the layout and updates the sizes of the panes in the state.
    pub(crate) fn settle(&mut self, places: Places) {
        self.places = places;
        let [width_px, height_px] = timeline::pixels(self, places.picture);
        let canvas = Canvas { width_px, height_px, scale: timeline::SCALE };
        if width_px > 0 && height_px > 0 && self.state.canvas != Some(canvas) {
            self.act(Action::Resized(canvas));
        }
        views::arrange(self);
        if self.state.views.seen() == Some(Tab::Why) {
            insights::follow(self);
        }
    }

    /// Draws the screen.
    pub fn draw(&self, frame: &mut Frame<'_>) {
        self.draw_on(frame.buffer_mut());
    }

    pub(crate) fn draw_on(&self, buffer: &mut Buffer) {
        around::header(self, buffer);
        if matches!(self.state.stage, Stage::Ready(_)) {
            around::minimap(self, buffer);
            timeline::draw(self, buffer);
            around::reading(self, buffer);
            around::tabs(self, buffer);
            views::draw(self, buffer);
            side::draw(self, buffer);
        } else if self.state.unfinished().is_some() {
            around::minimap(self, buffer);
            timeline::draw(self, buffer);
            let Places { all, reading, foot, .. } = self.places;
            around::loading(self, buffer, Rect { y: reading.y, height: foot.y.saturating_sub(reading.y), ..all });
        } else {
            let all = self.places.all;
            around::loading(self, buffer, Rect { y: all.y + 1, height: all.height.saturating_sub(2), ..all });
        }
        dialogs::draw(self, buffer);
        around::foot(self, buffer);
    }
}
