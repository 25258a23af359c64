//! Rows of a pane: those of a list between its headings and what is said of the active one, and where they are scrolled to.

use crate::app::App;
use crate::panes::Focus;
use crate::text::{Line, Tone, put_line, row};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Rows above the rows of a list: their headings; and below: what is said of the active one.
pub(crate) const HEAD: u16 = 1;
pub(crate) const FOOT: u16 = 1;

/// The part of a pane that has a list's rows.
pub(crate) fn body(pane: Rect) -> Rect {
    let foot = if pane.height > 4 { FOOT } else { 0 };
    Rect { y: pane.y + HEAD.min(pane.height), height: pane.height.saturating_sub(HEAD + foot), ..pane }
}

/// The last row of a pane that has room for it.
pub(crate) fn foot_row(pane: Rect) -> Option<Rect> {
    (pane.height > 4).then(|| Rect { y: pane.bottom() - 1, height: 1, ..pane })
}

/// Writes lines into a pane, from one of them on.
pub(crate) fn lines(buffer: &mut Buffer, pane: Rect, lines: &[Line], from: usize) {
    for (at, line) in lines.iter().skip(from).enumerate() {
        let Some(row) = row(pane, at) else { break };
        put_line(buffer, row, line);
    }
}

/// Where a list is scrolled to so that this line is seen, if it was scrolled so far before.
pub(crate) fn scrolled_to(before: usize, lines: [usize; 2], height: usize, all: usize) -> usize {
    let [first, last] = lines;
    let most = all.saturating_sub(height);
    let top = if first < before {
        first
    } else if last >= before + height {
        (last + 1).saturating_sub(height).min(first)
    } else {
        before
    };
    top.min(most)
}

/// A line that stands where nothing else does.
pub(crate) fn nothing(buffer: &mut Buffer, pane: Rect, text: &str) {
    if let Some(row) = row(pane, 0) {
        put_line(buffer, row, &Line::of(text, Tone::Soft));
    }
}

/// Whether the view has the focus.
pub(crate) fn has_focus(app: &App) -> bool {
    app.focus == Focus::View
}
