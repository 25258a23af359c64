//! Helper functions for panes that contain a list: areas and scrolling.

use crate::app::App;
use crate::panes::Focus;
use crate::text::{Line, Tone, pane_row, write_line};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

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
    for (at, line) in lines.iter().skip(from).enumerate() {
        let Some(row) = pane_row(pane, at) else { break };
        write_line(buffer, row, line);
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

/// Writes a message into the pane of an empty list.
pub(crate) fn draw_empty(buffer: &mut Buffer, pane: Rect, text: &str) {
    if let Some(row) = pane_row(pane, 0) {
        write_line(buffer, row, &Line::new(text, Tone::Soft));
    }
}

/// Returns true if the view has the focus.
pub(crate) fn has_focus(app: &App) -> bool {
    app.focus == Focus::View
}
