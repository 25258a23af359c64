//! Selection of rows: ranges of chosen rows, the anchor they extend from, and the row that arrow keys start from.

use crate::scroll::Scroll;

/// Direction of a key that moves through rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Go {
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
}

/// Effect of choosing a row on the rows chosen before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    One,
    /// Chooses all rows from the one chosen last to this one.
    Through,
    /// Adds the row to the chosen ones, or removes it.
    Toggle,
}

/// The chosen rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chosen {
    /// Half-open ranges, ascending. Adjacent ranges are merged.
    ranges: Vec<[u32; 2]>,
    anchor: u32,
    active: Option<u32>,
}

impl Chosen {
    /// Returns the chosen rows as half-open ranges, ascending.
    pub fn ranges(&self) -> &[[u32; 2]] {
        &self.ranges
    }

    /// Returns the chosen ranges, or all rows if none is chosen.
    pub(crate) fn or_all(&self, scroll: &Scroll) -> Vec<[u32; 2]> {
        if self.ranges.is_empty() { vec![[0, scroll.rows]] } else { self.ranges.clone() }
    }

    /// Returns the row that arrow keys start from.
    pub fn active(&self) -> Option<u32> {
        self.active
    }

    pub fn holds(&self, row: u32) -> bool {
        self.ranges.iter().any(|[from, to]| (*from..*to).contains(&row))
    }

    /// Returns the number of chosen rows.
    pub fn count(&self) -> u32 {
        self.ranges.iter().map(|[from, to]| to - from).sum()
    }

    /// Returns the row that a key leads to, at most `last`.
    pub(crate) fn gone(&self, go: Go, last: u32, scroll: &Scroll) -> u32 {
        let seen = scroll.seen().max(2.0) as u32 - 1;
        let row = match (go, self.active) {
            (Go::First, _) => 0,
            (Go::Last, _) => last,
            (_, None) => scroll.above().ceil() as u32,
            (Go::Up, Some(row)) => row.saturating_sub(1),
            (Go::Down, Some(row)) => row.saturating_add(1),
            (Go::PageUp, Some(row)) => row.saturating_sub(seen),
            (Go::PageDown, Some(row)) => row.saturating_add(seen),
        };
        row.min(last)
    }

    /// Chooses one row only.
    pub(crate) fn only(&mut self, row: u32) {
        *self = Chosen { ranges: vec![[row, row + 1]], anchor: row, active: Some(row) };
    }

    /// Chooses all rows from the one chosen last to this one.
    pub(crate) fn through(&mut self, row: u32) {
        let anchor = if self.active.is_some() { self.anchor } else { row };
        *self = Chosen { ranges: vec![[anchor.min(row), anchor.max(row) + 1]], anchor, active: Some(row) };
    }

    /// Adds a row to the chosen ones, or removes it.
    pub(crate) fn toggle(&mut self, row: u32) {
        let is_in = self.holds(row);
        let mut ranges: Vec<[u32; 2]> = Vec::with_capacity(self.ranges.len() + 1);
        let mut add = |from: u32, to: u32| match ranges.last_mut() {
            _ if from >= to => {}
            Some(last) if last[1] == from => last[1] = to,
            _ => ranges.push([from, to]),
        };
        let mut is_added = is_in;
        for &[from, to] in &self.ranges {
            if !is_added && row < from {
                add(row, row + 1);
                is_added = true;
            }
            if is_in && (from..to).contains(&row) {
                add(from, row);
                add(row + 1, to);
            } else {
                add(from, to);
            }
        }
        if !is_added {
            add(row, row + 1);
        }
        *self = Chosen { ranges, anchor: row, active: Some(row) };
    }

    /// Chooses all of `rows` rows.
    pub(crate) fn all(&mut self, rows: u32) {
        self.ranges = if rows > 0 { vec![[0, rows]] } else { Vec::new() };
        (self.anchor, self.active) = (0, self.active.or((rows > 0).then_some(0)));
    }
}

#[cfg(test)]
#[path = "../../../tests/units/ui/rows/chosen.rs"]
mod tests;
