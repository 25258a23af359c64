//! Rows of one height, far more of them than are seen: how far they are scrolled, which are seen, which have to be asked for.

use std::ops::RangeInclusive;

/// CSS pixels that all rows together may have: browsers stop at 17 million or later. Beyond it, a pixel of the scroll bar is more than
/// a pixel of rows.
const MOST_PX: f64 = 12_000_000.0;
/// Rows that are asked for before the shell has told how many are seen.
const FIRST_ROWS: f64 = 40.0;
/// Rows that are seen at most: a third of what the engine tells at once.
const MOST_ROWS: f64 = 170.0;

/// Rows beyond each edge that are shown as well.
const BEYOND: f64 = 6.0;

/// How far rows are scrolled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scroll {
    /// CSS pixels of a row.
    row_px: f64,
    /// How many rows there are.
    pub rows: u32,
    /// CSS pixels above what is seen, and of what is seen.
    seen_px: [f64; 2],
    /// How often it was wanted to be scrolled elsewhere, and to where: what the shell tells meanwhile may be of before.
    jump: (u32, f64),
}

impl Scroll {
    /// No rows yet, each of so many CSS pixels.
    pub fn new(row_px: f64) -> Scroll {
        Scroll { row_px, rows: 0, seen_px: [0.0; 2], jump: (0, 0.0) }
    }

    /// Where it is to be scrolled to, in CSS pixels, and how often that was wanted: the shell does it when that number is another.
    pub fn jump(&self) -> (u32, f64) {
        self.jump
    }

    /// The shell tells how far it is scrolled, and how much is seen, in CSS pixels.
    pub(super) fn seen_at(&mut self, top: f64, height: f64) {
        self.seen_px = [top.max(0.0), height.max(0.0)];
    }

    /// CSS pixels of all rows together.
    pub fn all_px(&self) -> f64 {
        (f64::from(self.rows) * self.row_px).min(MOST_PX)
    }

    /// How many rows lie above what is seen; a part of one counts as a part.
    pub fn above(&self) -> f64 {
        let [top, height] = self.seen_px;
        let (all, rows) = (self.all_px(), f64::from(self.rows));
        if all < MOST_PX {
            return top / self.row_px;
        }
        (top / (all - height).max(1.0)).clamp(0.0, 1.0) * (rows - height / self.row_px)
    }

    /// How many rows are seen; a part of one counts as a part.
    pub fn seen(&self) -> f64 {
        self.seen_px[1] / self.row_px
    }

    /// The rows to show: those just beyond the edges are there before they are scrolled to.
    pub fn shown(&self) -> RangeInclusive<u32> {
        let above = self.above();
        (above - BEYOND).max(0.0) as u32..=(above + self.seen().max(1.0) + BEYOND) as u32
    }

    /// CSS pixels from the top of all rows to the top of this one, as they are scrolled now.
    pub fn top_px(&self, row: u32) -> f64 {
        (self.seen_px[0] + (f64::from(row) - self.above()) * self.row_px).round()
    }

    /// Brings a row into view by the shortest way, or to the middle when it is far.
    pub(super) fn bring(&mut self, row: u32) {
        let (row, height, above) = (f64::from(row), self.seen_px[1], self.above());
        let seen = self.seen().max(1.0);
        let wanted = if row < above - seen || row > above + 2.0 * seen {
            row - seen / 2.0
        } else if row < above {
            row
        } else if row + 1.0 > above + seen {
            row + 1.0 - seen
        } else {
            return;
        };
        let (all, rows) = (self.all_px(), f64::from(self.rows));
        let wanted = wanted.clamp(0.0, (rows - seen).max(0.0));
        let px = if all < MOST_PX { wanted * self.row_px } else { wanted / (rows - seen) * (all - height) };
        self.to(px.round());
    }

    /// Scrolls to so many CSS pixels.
    pub(super) fn to(&mut self, px: f64) {
        self.seen_px[0] = px;
        self.jump = (self.jump.0 + 1, px);
    }

    /// The rows to ask for: those that are known while they reach as far as one sees, else those and as many around them.
    pub(super) fn wanted(&self, known: Option<[u32; 2]>) -> [u32; 2] {
        let seen = self.seen().clamp(FIRST_ROWS, MOST_ROWS).ceil();
        let above = self.above().max(0.0);
        let (first, last) = (above as u32, (above + seen) as u32 + 1);
        let fits = |[from, count]: &[u32; 2]| {
            *from <= first && last.min(self.rows) <= from.saturating_add(*count) && *count > 0
        };
        known.filter(fits).unwrap_or([first.saturating_sub(seen as u32), 3 * seen as u32])
    }
}
