//! Which pane has which cells.
//!
//! ```text
//! ┌ header ───────────────────────────┐
//! │ minimap                           │
//! │ picture                  │ side   │   the side pane stands beside them from 120 columns on,
//! │ axis, annotations        │        │   else in the place of the view while it has the focus
//! │ reading                  │        │
//! │ tabs                     │        │
//! │ view                     │        │
//! └ foot ─────────────────────────────┘
//! ```

use ratatui::layout::{Position, Rect};

/// The panes; those that are not seen are empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    pub(crate) all: Rect,
    pub(crate) header: Rect,
    pub(crate) minimap: Rect,
    /// Left of the picture: what its height is.
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

/// What the panes depend on besides the size of the screen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wishes {
    /// Percent of the rows that the view has.
    pub(crate) view_percent: u32,
    pub(crate) is_folded: bool,
    /// Rows of annotations.
    pub(crate) slices: u16,
    pub(crate) side_has_focus: bool,
}

/// Columns left of the picture.
const GUTTER: u16 = 9;
/// Columns of the side pane, and of a screen that has room for it.
const SIDE: u16 = 46;
const WIDE: u16 = 120;

impl Places {
    pub(crate) fn of(all: Rect, wishes: Wishes) -> Places {
        let mut rest = all;
        let header = take_top(&mut rest, 1);
        let foot = take_bottom(&mut rest, 1);
        let has_side = all.width >= WIDE;
        let side = if has_side { take_right(&mut rest, SIDE.min(all.width / 3)) } else { Rect::default() };
        let minimap = take_top(&mut rest, if all.height >= 40 { 2 } else { 1 });
        // Axis, reading and tabs; the rest is shared by picture and view.
        let fixed = 3 + wishes.slices;
        let free = rest.height.saturating_sub(fixed);
        let wanted = u32::from(free) * wishes.view_percent.min(100) / 100;
        let view_rows = if wishes.is_folded {
            0
        } else {
            u16::try_from(wanted).unwrap_or(0).clamp(free.min(3), free.saturating_sub(3).max(free.min(3)))
        };
        let view = take_bottom(&mut rest, view_rows);
        let tabs = take_bottom(&mut rest, 1);
        let reading = take_bottom(&mut rest, 1);
        let slices = take_bottom(&mut rest, wishes.slices);
        let axis = take_bottom(&mut rest, 1);
        let gutter = Rect { width: GUTTER.min(rest.width / 2), ..rest };
        let cut = |of: Rect| Rect { x: of.x + gutter.width, width: of.width - gutter.width, ..of };
        let (picture, minimap) = (cut(rest), cut(minimap));
        let (view, side) = match (has_side, wishes.side_has_focus) {
            (false, true) => (Rect::default(), view),
            _ => (view, side),
        };
        Places {
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

    /// Whether a pane has this cell.
    pub(crate) fn has(pane: Rect, (x, y): (u16, u16)) -> bool {
        pane.contains(Position { x, y })
    }
}

fn take_top(rest: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(rest.height);
    let taken = Rect { height: rows, ..*rest };
    (rest.y, rest.height) = (rest.y + rows, rest.height - rows);
    taken
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
