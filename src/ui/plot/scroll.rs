//! Virtual scrolling of rows with equal heights: the scroll position, the visible rows, and the rows to request.

use std::ops::RangeInclusive;

/// Maximum height of all rows together, in CSS pixels. Browsers limit the height of an element to 17 million pixels or
/// more. In a list that would be higher, one pixel of scrolling moves the rows by more than one pixel.
const MAX_HEIGHT_PX: f64 = 12_000_000.0;
/// Number of rows to request until the shell reports the visible height.
const FIRST_ROWS: f64 = 40.0;
/// Maximum number of visible rows. It is a third of the maximum number of rows in a response of the engine.
const MAX_ROWS: f64 = 170.0;

/// Number of rows that are rendered above and below the visible rows.
const OVERSCAN_ROWS: f64 = 6.0;

/// Default height of a row, in CSS pixels.
pub const ROW_PX: f64 = 22.0;

/// Scroll state of a list of rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scroll {
    /// Height of a row, in CSS pixels.
    row_px: f64,
    /// Number of rows in the list.
    pub rows: u32,
    /// Offset and height of the visible part, in CSS pixels.
    visible_px: [f64; 2],
    /// Number of scrolls that the program has caused, and target offset of the latest one. Positions that the shell
    /// reports just after a scroll may predate it.
    jump: (u32, f64),
}

impl Default for Scroll {
    fn default() -> Scroll {
        Scroll::new(ROW_PX)
    }
}

impl Scroll {
    /// Creates the state of an empty list. `row_px` is the height of a row in CSS pixels.
    pub fn new(row_px: f64) -> Scroll {
        Scroll { row_px, rows: 0, visible_px: [0.0; 2], jump: (0, 0.0) }
    }

    /// Returns the number of scrolls that the program has caused, and the target offset of the latest one in CSS
    /// pixels. The shell scrolls to that offset whenever the number changes.
    pub fn jump(&self) -> (u32, f64) {
        self.jump
    }

    /// Stores the offset and the height of the visible part, in CSS pixels, as reported by the shell.
    pub(crate) fn set_visible(&mut self, top: f64, height: f64) {
        self.visible_px = [top.max(0.0), height.max(0.0)];
    }

    /// Returns the height of all rows together, in CSS pixels.
    pub fn all_px(&self) -> f64 {
        (f64::from(self.rows) * self.row_px).min(MAX_HEIGHT_PX)
    }

    /// Returns the number of rows above the visible part, including fractions of a row.
    pub fn rows_above(&self) -> f64 {
        let [top, height] = self.visible_px;
        let (all, rows) = (self.all_px(), f64::from(self.rows));
        if all < MAX_HEIGHT_PX {
            return top / self.row_px;
        }
        (top / (all - height).max(1.0)).clamp(0.0, 1.0) * (rows - height / self.row_px)
    }

    /// Returns the number of visible rows, including fractions of a row.
    pub fn visible_rows(&self) -> f64 {
        self.visible_px[1] / self.row_px
    }

    /// Returns the range of rows to render: the visible rows, and a few above and below so that they exist before they
    /// become visible.
    pub fn rendered_rows(&self) -> RangeInclusive<u32> {
        let above = self.rows_above();
        (above - OVERSCAN_ROWS).max(0.0) as u32..=(above + self.visible_rows().max(1.0) + OVERSCAN_ROWS) as u32
    }

    /// Returns the distance from the top of the list to the top of a row, in CSS pixels. It depends on the scroll
    /// position if the list exceeds the maximum height.
    pub fn top_px(&self, row: u32) -> f64 {
        (self.visible_px[0] + (f64::from(row) - self.rows_above()) * self.row_px).round()
    }

    /// Scrolls a row into view: by the shortest distance, or to the middle if the row is far away.
    pub(crate) fn scroll_to_row(&mut self, row: u32) {
        let (row, height, above) = (f64::from(row), self.visible_px[1], self.rows_above());
        let visible = self.visible_rows().max(1.0);
        let wanted = if row < above - visible || row > above + 2.0 * visible {
            row - visible / 2.0
        } else if row < above {
            row
        } else if row + 1.0 > above + visible {
            row + 1.0 - visible
        } else {
            // Scrolls to where the row is in view, because the position may be one from before the latest jump.
            above
        };
        let (all, rows) = (self.all_px(), f64::from(self.rows));
        let wanted = wanted.clamp(0.0, (rows - visible).max(0.0));
        let px = if all < MAX_HEIGHT_PX { wanted * self.row_px } else { wanted / (rows - visible) * (all - height) };
        self.scroll_to_px(px.round());
    }

    /// Scrolls to an offset in CSS pixels.
    pub(crate) fn scroll_to_px(&mut self, px: f64) {
        self.visible_px[0] = px;
        self.jump = (self.jump.0 + 1, px);
    }

    /// Removes all rows, and scrolls to the beginning.
    pub(crate) fn clear(&mut self) {
        self.rows = 0;
        self.scroll_to_px(0.0);
    }

    /// Returns the rows to request, as first row and count. If the rows `known` cover the visible rows, returns
    /// `known`. Otherwise, returns the visible rows and as many rows before and after them.
    pub(crate) fn rows_to_request(&self, known: Option<[u32; 2]>) -> [u32; 2] {
        let visible = self.visible_rows().clamp(FIRST_ROWS, MAX_ROWS).ceil();
        let above = self.rows_above().max(0.0);
        let (first, last) = (above as u32, (above + visible) as u32 + 1);
        let covers_visible = |[from, count]: &[u32; 2]| {
            *from <= first && last.min(self.rows) <= from.saturating_add(*count) && *count > 0
        };
        known.filter(covers_visible).unwrap_or([first.saturating_sub(visible as u32), 3 * visible as u32])
    }
}
