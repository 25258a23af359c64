//! Allocations in a window, and the columns where each starts and ends. Computed in one linear pass over all lifetimes.

use super::columns::Grid;
use super::scene::SceneColumns;
use super::source::Source;
use base::slice::{SliceResult, TimeSlice};
use base::units::Moment;
use history::replay::AllocationId;

/// Allocations that are live at the moment of at least one column, in order of rank. Each is a leaf of the tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Visible {
    next: usize,
    ids: Vec<u32>,
    enters: Vec<u16>,
    /// For each leaf: first column after its lifetime, or the number of columns.
    leaves: Vec<u16>,
    /// Leaves that are awaiting free in at least one column, each with the first such column. Sorted by leaf.
    pending: Vec<(u32, u16)>,
    /// Highlighted leaves, one bit each. Truncated after the last highlighted leaf.
    highlighted: Vec<u64>,
}

impl Visible {
    /// Continues collecting the visible allocations. Allocations that are live in the window but not at any column's
    /// moment are counted as hidden, in their first column.
    pub(super) fn collect(
        &mut self,
        source: &Source,
        grid: &Grid,
        columns: &mut SceneColumns,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let window = grid.all_moments();
        while let Some(part) = slice.next_range(&mut self.next, source.allocations.len(), 1)? {
            source.for_each_in(part, |id, (allocated_at, freed_at, size)| {
                // Allocations of 0 bytes are neither drawn nor hidden.
                if freed_at > window.start && allocated_at < window.end && allocated_at < freed_at && size > 0 {
                    let enters = grid.first_column_from(&columns.moment, allocated_at);
                    let leaves = grid.first_column_from(&columns.moment, freed_at);
                    if enters < leaves {
                        self.push(source, grid, columns, id, [enters, leaves].map(|column| column as u16));
                    } else {
                        count_hidden(columns, grid.column_of(allocated_at.max(window.start)), size);
                    }
                }
            });
        }
        Ok(())
    }

    /// Adds an allocation as the next leaf, visible in the columns `enters..leaves`.
    #[inline(always)]
    pub(super) fn push(
        &mut self,
        source: &Source,
        grid: &Grid,
        columns: &SceneColumns,
        id: u32,
        [enters, leaves]: [u16; 2],
    ) {
        let allocation = AllocationId(id);
        if source.highlight.is_some_and(|is_highlighted| is_highlighted(allocation)) {
            self.mark_next();
        }
        let requested = source.allocations.awaiting_free_from(allocation);
        if source.allocations.outlives(allocation, Moment(requested)) && requested < grid.all_moments().end {
            let pending_from = grid.first_column_from(&columns.moment, requested).max(enters.into());
            // Rarely true unless zoomed in: most frees complete at the next event.
            if pending_from < usize::from(leaves) {
                self.pending.push((self.ids.len() as u32, pending_from as u16));
            }
        }
        self.ids.push(id);
        self.enters.push(enters);
        self.leaves.push(leaves);
    }

    /// Returns the number of leaves.
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(super) fn id(&self, leaf: u32) -> AllocationId {
        AllocationId(self.ids.get(leaf as usize).copied().unwrap_or(u32::MAX))
    }

    /// Returns true if a leaf is awaiting free in `column`.
    pub(super) fn is_pending(&self, leaf: u32, column: usize) -> bool {
        let place = self.pending.binary_search_by_key(&leaf, |&(leaf, _)| leaf);
        place.ok().and_then(|place| self.pending.get(place)).is_some_and(|&(_, from)| usize::from(from) <= column)
    }

    /// Marks the next leaf as highlighted.
    fn mark_next(&mut self) {
        let leaf = self.ids.len();
        self.highlighted.resize(leaf / 64 + 1, 0);
        if let Some(word) = self.highlighted.last_mut() {
            *word |= 1 << (leaf % 64);
        }
    }

    /// Returns true if a leaf is highlighted.
    #[inline(always)]
    pub(super) fn is_highlighted(&self, leaf: u32) -> bool {
        self.highlighted.get(leaf as usize / 64).is_some_and(|word| word >> (leaf % 64) & 1 == 1)
    }

    /// Returns the first column that shows a leaf.
    pub(super) fn enters(&self, leaf: u32) -> usize {
        self.enters.get(leaf as usize).copied().map_or(usize::MAX, usize::from)
    }

    /// Returns the first column after the leaf's last column.
    pub(super) fn leaves(&self, leaf: u32) -> usize {
        self.leaves.get(leaf as usize).copied().map_or(0, usize::from)
    }
}

/// Counts an allocation that is too short-lived to be drawn in its column.
pub(super) fn count_hidden(columns: &mut SceneColumns, column: usize, size: u64) {
    if let (Some(count), Some(largest)) = (columns.hidden.get_mut(column), columns.hidden_largest.get_mut(column)) {
        *count += 1;
        *largest = size.max(*largest);
    }
}

/// Leaves that start or end in each column. In a column, leaves that end precede leaves that start.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    /// Number of leaves counted so far.
    counted: usize,
    /// Number of leaves sorted so far.
    next: usize,
    /// Index in `leaves` of the start of each bucket, for a counting sort, and a last entry for the end. Each column
    /// has two buckets (leave, enter).
    starts: Vec<u32>,
    /// Number of leaves sorted into each bucket so far.
    filled: Vec<u32>,
    leaves: Vec<u32>,
    /// Leaves that start awaiting free: column << 32 | leaf, ascending.
    pending: Vec<u64>,
}

/// Change of the live leaves in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Leaf that is no longer live.
    Leave(u32),
    /// Leaf that becomes live.
    Enter(u32),
}

impl Changes {
    /// Returns the lowest leaf that starts awaiting free in `column`.
    pub(super) fn lowest_pending_from(&self, column: usize) -> Option<u32> {
        let first = self.pending.partition_point(|&pending| pending >> 32 < column as u64);
        self.pending.get(first).filter(|&&pending| pending >> 32 == column as u64).map(|&pending| pending as u32)
    }

    /// Returns the leaves that start awaiting free in `column`, ascending.
    pub(super) fn pending_from(&self, column: usize) -> impl Iterator<Item = u32> + '_ {
        let first = self.pending.partition_point(|&pending| pending >> 32 < column as u64);
        let from = self.pending.iter().skip(first);
        from.take_while(move |&&pending| pending >> 32 == column as u64).map(|&pending| pending as u32)
    }
}

impl Changes {
    /// Creates an empty list for this many columns.
    pub(super) fn new(columns: usize) -> Changes {
        Changes { starts: vec![0; 2 * columns + 1], filled: vec![0; 2 * columns], ..Changes::default() }
    }

    /// Continues counting all leaves, and then sorting them into their buckets.
    pub(super) fn sort(&mut self, visible: &Visible, slice: &mut TimeSlice) -> SliceResult {
        while let Some(chunk) = slice.next_range(&mut self.counted, visible.len(), 1)? {
            let mut count = |bucket: usize| {
                if let Some(start) = self.starts.get_mut(bucket + 1) {
                    *start += 1;
                }
            };
            visible
                .enters
                .get(chunk.clone())
                .unwrap_or_default()
                .iter()
                .for_each(|&column| count(2 * usize::from(column) + 1));
            visible.leaves.get(chunk).unwrap_or_default().iter().for_each(|&column| count(2 * usize::from(column)));
        }
        if self.leaves.is_empty() {
            self.size_buckets(visible);
        }
        while let Some(part) = slice.next_range(&mut self.next, visible.len(), 1)? {
            for leaf in part {
                if let (Some(&enters), Some(&leaves)) = (visible.enters.get(leaf), visible.leaves.get(leaf)) {
                    self.put(2 * usize::from(enters) + 1, leaf as u32);
                    self.put(2 * usize::from(leaves), leaf as u32);
                }
            }
        }
        Ok(())
    }

    /// Converts the counts to the starts of the buckets.
    fn size_buckets(&mut self, visible: &Visible) {
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.leaves = vec![0; sum as usize];
        let pending = visible.pending.iter().map(|&(leaf, from)| u64::from(from) << 32 | u64::from(leaf));
        self.pending = pending.collect();
        self.pending.sort_unstable();
    }

    /// Iterates over the changes of a column, except the first `skip` of them.
    pub(super) fn in_column(&self, column: usize, skip: usize) -> impl Iterator<Item = Change> + '_ {
        let start = |bucket: usize| self.starts.get(bucket).map_or(0, |&start| start as usize);
        let (from, middle, to) = (start(2 * column), start(2 * column + 1), start(2 * column + 2));
        let leaves = self.leaves.get(from + skip.min(to - from)..to).unwrap_or_default();
        let leave_count = middle.saturating_sub(from + skip);
        leaves
            .iter()
            .enumerate()
            .map(move |(index, &leaf)| if index < leave_count { Change::Leave(leaf) } else { Change::Enter(leaf) })
    }

    fn put(&mut self, bucket: usize, leaf: u32) {
        // Leaves that stay until the last column have no bucket.
        let (Some(&start), Some(filled)) = (self.starts.get(bucket), self.filled.get_mut(bucket)) else { return };
        if let Some(slot) = self.leaves.get_mut((start + *filled) as usize) {
            *slot = leaf;
            *filled += 1;
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/units/picture/timeline/visible.rs"]
mod tests;
