//! Helper functions for panes that contain a list: areas and scrolling.

use crate::app::App;
use crate::panes::Focus;
use crate::text::{Line, Tone, write_row};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ui::plot::scroll::Scroll;

/// Number of rows above a list, which contain column headings.
pub(crate) const HEAD_ROWS: u16 = 1;
/// Number of rows below a list, which contain details of the active row.
pub(crate) const FOOT_ROWS: u16 = 1;

/// Returns the area of the list within a pane, between headings and details.
pub(crate) fn body(pane: Rect) -> Rect {
    let foot = if pane.height > 4 { FOOT_ROWS } else { 0 };
    Rect { y: pane.y + HEAD_ROWS.min(pane.height), height: pane.height.saturating_sub(HEAD_ROWS + foot), ..pane }
}

/// Returns the row of a pane that shows details of the active row, or `None` if the pane is too small.
pub(crate) fn foot_row(pane: Rect) -> Option<Rect> {
    (pane.height > 4).then(|| Rect { y: pane.bottom() - 1, height: 1, ..pane })
}

/// Writes lines into a pane, starting with the line with index `from`.
pub(crate) fn lines(buffer: &mut Buffer, pane: Rect, lines: &[Line], from: usize) {
    for (at, line) in lines.iter().skip(from).take(usize::from(pane.height)).enumerate() {
        write_row(buffer, pane, at, line);
    }
}

/// Returns the scroll position that makes `lines` visible and is closest to `before`. `lines` contains the indices of
/// the first and the last line.
pub(crate) fn scroll_to_show(before: usize, lines: [usize; 2], height: usize, all: usize) -> usize {
    let [first, last] = lines;
    let max_scroll = all.saturating_sub(height);
    let top = if first < before {
        first
    } else if last >= before + height {
        (last + 1).saturating_sub(height).min(first)
    } else {
        before
    };
    top.min(max_scroll)
}

/// Returns the offset of a list in CSS pixels after it is scrolled by a number of rows. `height` is the number of
/// visible rows.
pub(crate) fn scrolled_px(scroll: &Scroll, rows: f64, height: f64, row_px: f64) -> f64 {
    let max_scroll = (f64::from(scroll.rows) - height).max(0.0);
    (scroll.rows_above() + rows).clamp(0.0, max_scroll) * row_px
}

/// Returns the offset of a list in CSS pixels if the number of visible rows is not `rows`.
pub(crate) fn resized_px(scroll: &Scroll, rows: f64, row_px: f64) -> Option<f64> {
    ((scroll.visible_rows() - rows).abs() > 1e-6).then(|| scroll.rows_above() * row_px)
}

/// Writes a message into the pane of an empty list.
pub(crate) fn draw_empty(buffer: &mut Buffer, pane: Rect, text: &str) {
    write_row(buffer, pane, 0, &Line::new(text, Tone::Soft));
}

/// Returns true if the view has the focus.
pub(crate) fn has_focus(app: &App) -> bool {
    app.focus == Focus::View
}
