//! Layout of the panes on the screen.
//!
//! ```text
//! ┌ header ───────────────────────────┐
//! │ minimap                           │
//! │ picture                  │ side   │   on screens of at least 120 columns, the side pane is on the right;
//! │ axis, annotations        │        │   otherwise it replaces the view while it has the focus
//! │ reading                  │        │
//! │ tabs                     │        │
//! │ view                     │        │
//! └ foot ─────────────────────────────┘
//! ```

use ratatui::layout::{Position, Rect};

/// Areas of the panes. Hidden panes are empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PaneAreas {
    pub(crate) all: Rect,
    pub(crate) header: Rect,
    pub(crate) minimap: Rect,
    /// Labels of the vertical axis, to the left of the picture.
    pub(crate) gutter: Rect,
    pub(crate) picture: Rect,
    pub(crate) axis: Rect,
    pub(crate) slices: Rect,
    pub(crate) reading: Rect,
    pub(crate) tabs: Rect,
    pub(crate) view: Rect,
    pub(crate) side: Rect,
    pub(crate) foot: Rect,
}

/// Inputs of the layout other than the size of the screen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayoutInput {
    /// Height of the view in percent of the available rows.
    pub(crate) view_percent: u32,
    pub(crate) is_folded: bool,
    /// Number of rows that show annotations.
    pub(crate) slices: u16,
    pub(crate) side_has_focus: bool,
}

/// Width of the labels of the vertical axis, in cells.
const GUTTER_WIDTH: u16 = 9;
/// Maximum width of the side pane in cells.
const SIDE_WIDTH: u16 = 46;
/// Minimum width, in cells, of a screen that shows the side pane on the right.
const MIN_WIDTH_WITH_SIDE: u16 = 120;

impl PaneAreas {
    pub(crate) fn compute(all: Rect, input: LayoutInput) -> PaneAreas {
        let mut rest = all;
        let header = take_top(&mut rest, 1);
        let foot = take_bottom(&mut rest, 1);
        let has_side = all.width >= MIN_WIDTH_WITH_SIDE;
        let side = if has_side { take_right(&mut rest, SIDE_WIDTH.min(all.width / 3)) } else { Rect::default() };
        let minimap = take_top(&mut rest, if all.height >= 40 { 2 } else { 1 });
        // Axis, cursor line and tabs. The picture and the view share the rest.
        let fixed = 3 + input.slices;
        let free = rest.height.saturating_sub(fixed);
        let wanted = u32::from(free) * input.view_percent.min(100) / 100;
        let view_rows = if input.is_folded {
            0
        } else {
            u16::try_from(wanted).unwrap_or(0).clamp(free.min(3), free.saturating_sub(3).max(free.min(3)))
        };
        let view = take_bottom(&mut rest, view_rows);
        let tabs = take_bottom(&mut rest, 1);
        let reading = take_bottom(&mut rest, 1);
        let slices = take_bottom(&mut rest, input.slices);
        let axis = take_bottom(&mut rest, 1);
        let gutter = Rect { width: GUTTER_WIDTH.min(rest.width / 2), ..rest };
        let cut = |area: Rect| Rect { x: area.x + gutter.width, width: area.width - gutter.width, ..area };
        let (picture, minimap) = (cut(rest), cut(minimap));
        let (view, side) = match (has_side, input.side_has_focus) {
            (false, true) => (Rect::default(), view),
            _ => (view, side),
        };
        PaneAreas {
            all,
            header,
            minimap,
            gutter,
            picture,
            axis: cut(axis),
            slices: cut(slices),
            reading,
            tabs,
            view,
            side,
            foot,
        }
    }

    /// Returns true if a cell lies within a pane.
    pub(crate) fn contains(pane: Rect, (x, y): (u16, u16)) -> bool {
        pane.contains(Position { x, y })
    }
}

fn take_top(rest: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(rest.height);
    let top = Rect { height: rows, ..*rest };
    (rest.y, rest.height) = (rest.y + rows, rest.height - rows);
    top
}

fn take_bottom(rest: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(rest.height);
    rest.height -= rows;
    Rect { y: rest.y + rest.height, height: rows, ..*rest }
}

fn take_right(rest: &mut Rect, columns: u16) -> Rect {
    let columns = columns.min(rest.width);
    rest.width -= columns;
    Rect { x: rest.x + rest.width, width: columns, ..*rest }
}

#[cfg(test)]
#[path = "../../tests/units/tui/layout.rs"]
mod tests;
