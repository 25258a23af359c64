//! Which rows of the table are chosen: ranges, one end that they grow from, and the row that keys start from.

use crate::scroll::Scroll;

/// Where a key leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Go {
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
}

/// What becomes of what was chosen before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    One,
    /// All from the one that was chosen last to this one.
    Through,
    /// The row is chosen beside the others, or no longer.
    Toggle,
}

/// The rows that are chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chosen {
    /// Each from its first row to before its second; ascending, none touches the next.
    ranges: Vec<[u32; 2]>,
    anchor: u32,
    active: Option<u32>,
}

impl Chosen {
    /// The ranges: each from its first row to before its second, ascending.
    pub fn ranges(&self) -> &[[u32; 2]] {
        &self.ranges
    }

    /// The ranges; all rows where none is chosen.
    pub(crate) fn or_all(&self, scroll: &Scroll) -> Vec<[u32; 2]> {
        if self.ranges.is_empty() { vec![[0, scroll.rows]] } else { self.ranges.clone() }
    }

    /// The row that keys start from.
    pub fn active(&self) -> Option<u32> {
        self.active
    }

    /// Whether a row is chosen.
    pub fn holds(&self, row: u32) -> bool {
        self.ranges.iter().any(|[from, to]| (*from..*to).contains(&row))
    }

    /// How many rows are chosen.
    pub fn count(&self) -> u32 {
        self.ranges.iter().map(|[from, to]| to - from).sum()
    }

    /// The row that a key leads to, at most `last`.
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

    /// One row and no other.
    pub(crate) fn only(&mut self, row: u32) {
        *self = Chosen { ranges: vec![[row, row + 1]], anchor: row, active: Some(row) };
    }

    /// All rows from the one that was chosen last to this one.
    pub(crate) fn through(&mut self, row: u32) {
        let anchor = if self.active.is_some() { self.anchor } else { row };
        *self = Chosen { ranges: vec![[anchor.min(row), anchor.max(row) + 1]], anchor, active: Some(row) };
    }

    /// A row beside the others, or no longer.
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

    /// All of so many rows.
    pub(crate) fn all(&mut self, rows: u32) {
        self.ranges = if rows > 0 { vec![[0, rows]] } else { Vec::new() };
        (self.anchor, self.active) = (0, self.active.or((rows > 0).then_some(0)));
    }
}

#[cfg(test)]
#[path = "../../../tests/units/ui/rows/chosen.rs"]
mod tests;
