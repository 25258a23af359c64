//! Selection of rows in a list: the selected ranges, the anchor where Shift starts to extend the selection, and the row
//! that arrow keys start from.

use crate::plot::scroll::Scroll;

/// Keyboard movement within the rows of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowMove {
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
}

/// Effect of selecting a row on the rows that were selected before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SelectMode {
    Only,
    /// Selects all rows from the one that was selected last (the anchor) to this one.
    Extend,
    /// Adds this row to the selection, or removes it.
    Toggle,
}

/// The selected rows of a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowSelection {
    /// Half-open ranges in ascending order. Adjacent ranges are merged.
    ranges: Vec<[u32; 2]>,
    anchor: u32,
    active: Option<u32>,
}

impl RowSelection {
    /// Returns the selected rows as half-open ranges, in ascending order.
    pub fn ranges(&self) -> &[[u32; 2]] {
        &self.ranges
    }

    /// Returns the selected rows as half-open ranges, or all rows if none is selected.
    pub(crate) fn ranges_or_all(&self, scroll: &Scroll) -> Vec<[u32; 2]> {
        if self.ranges.is_empty() { vec![[0, scroll.rows]] } else { self.ranges.clone() }
    }

    /// Returns the index of the row that arrow keys start from.
    pub fn active(&self) -> Option<u32> {
        self.active
    }

    pub fn contains(&self, row: u32) -> bool {
        self.ranges.iter().any(|[from, to]| (*from..*to).contains(&row))
    }

    /// Returns the number of selected rows.
    pub fn count(&self) -> u32 {
        self.ranges.iter().map(|[from, to]| to - from).sum()
    }

    /// Returns the index of the row that a key moves to. `last` is the index of the last row.
    pub(crate) fn moved(&self, direction: RowMove, last: u32, scroll: &Scroll) -> u32 {
        let rows_per_page = scroll.visible_rows().max(2.0) as u32 - 1;
        let row = match (direction, self.active) {
            (RowMove::First, _) => 0,
            (RowMove::Last, _) => last,
            (_, None) => scroll.rows_above().ceil() as u32,
            (RowMove::Up, Some(row)) => row.saturating_sub(1),
            (RowMove::Down, Some(row)) => row.saturating_add(1),
            (RowMove::PageUp, Some(row)) => row.saturating_sub(rows_per_page),
            (RowMove::PageDown, Some(row)) => row.saturating_add(rows_per_page),
        };
        row.min(last)
    }

    /// Changes the selection after a click on a row.
    pub(crate) fn select(&mut self, row: u32, mode: SelectMode) {
        match mode {
            SelectMode::Only => self.select_only(row),
            SelectMode::Extend => self.extend_to(row),
            SelectMode::Toggle => self.toggle(row),
        }
    }

    /// Selects only this row, which becomes the anchor.
    pub(crate) fn select_only(&mut self, row: u32) {
        *self = RowSelection { ranges: vec![[row, row + 1]], anchor: row, active: Some(row) };
    }

    /// Selects all rows from the anchor to this row.
    pub(crate) fn extend_to(&mut self, row: u32) {
        let anchor = if self.active.is_some() { self.anchor } else { row };
        *self = RowSelection { ranges: vec![[anchor.min(row), anchor.max(row) + 1]], anchor, active: Some(row) };
    }

    /// Adds a row to the selection, or removes it.
    pub(crate) fn toggle(&mut self, row: u32) {
        let is_selected = self.contains(row);
        let mut ranges: Vec<[u32; 2]> = Vec::with_capacity(self.ranges.len() + 1);
        let mut add = |from: u32, to: u32| match ranges.last_mut() {
            _ if from >= to => {}
            Some(last) if last[1] == from => last[1] = to,
            _ => ranges.push([from, to]),
        };
        let mut is_added = is_selected;
        for &[from, to] in &self.ranges {
            if !is_added && row < from {
                add(row, row + 1);
                is_added = true;
            }
            if is_selected && (from..to).contains(&row) {
                add(from, row);
                add(row + 1, to);
            } else {
                add(from, to);
            }
        }
        if !is_added {
            add(row, row + 1);
        }
        *self = RowSelection { ranges, anchor: row, active: Some(row) };
    }

    /// Selects all rows of a list of `rows` rows.
    pub(crate) fn select_all(&mut self, rows: u32) {
        self.ranges = if rows > 0 { vec![[0, rows]] } else { Vec::new() };
        (self.anchor, self.active) = (0, self.active.or((rows > 0).then_some(0)));
    }
}

#[cfg(test)]
#[path = "../../../../tests/units/ui/rows/chosen.rs"]
mod tests;
