//! Finds a longest common subsequence of two sequences of numbers with Myers' algorithm in linear space. A box is a
//! range of both sequences. The shortest edit path in a box is searched from both ends, and the box is split where the
//! searches meet.
//!
//! If the searches do not meet within [`MAX_EDITS`] edits, the box is split at the furthest point. This bounds the time
//! to about N × [`MAX_EDITS`] steps for N numbers, but fewer numbers than possible may be paired. [`Diff::is_exact`]
//! then returns false.

use base::slice::{SliceResult, TimeSlice};

/// Maximum number of edits that the search from each end may take.
const MAX_EDITS: i64 = 256;

/// A range of both sequences. Each range consists of a start and an exclusive end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Range of the first sequence.
    pub a: (u32, u32),
    /// Range of the second sequence.
    pub b: (u32, u32),
}

/// State of the search in one box.
struct Search {
    window: Window,
    edits: i64,
    /// Diagonal to examine next.
    next: i64,
    /// True if the next diagonal belongs to the search from the end of the box.
    is_from_end: bool,
    /// Furthest position in the first sequence reached on each diagonal, by the search from the start.
    forward: Vec<i64>,
    /// Furthest position in the first sequence reached on each diagonal, by the search from the end.
    backward: Vec<i64>,
}

/// Pairs equal numbers of two sequences in order. The work can be split into time slices.
pub struct Diff {
    /// Boxes that remain to be processed. The last element is processed next.
    boxes: Vec<Window>,
    search: Option<Search>,
    /// Number of steps that are not yet charged to the time slice.
    owed: u32,
    is_exact: bool,
}

impl Diff {
    /// Creates a diff that pairs numbers only within these windows, which must be ordered and disjoint.
    pub fn new(windows: impl DoubleEndedIterator<Item = Window>) -> Diff {
        Diff { boxes: windows.rev().collect(), search: None, owed: 0, is_exact: true }
    }

    /// Returns true if no other pairing has more pairs.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Continues pairing until it is complete or the time slice is used up. Calls `paired` with the indices of each
    /// pair, in order. `a` and `b` must be the same in each call.
    ///
    /// # Errors
    /// Returns an error if the time is up.
    pub fn step(
        &mut self,
        a: &[u32],
        b: &[u32],
        paired: &mut dyn FnMut(u32, u32),
        slice: &mut TimeSlice,
    ) -> SliceResult {
        loop {
            slice.spend(1 + std::mem::take(&mut self.owed))?;
            if let Some(search) = &mut self.search {
                let (cut, is_exact) = search.step(a, b, &mut self.owed, slice)?;
                self.is_exact &= is_exact;
                let Window { a: (a0, a1), b: (b0, b1) } = search.window;
                self.search = None;
                // A split at a corner would repeat forever. A search that met never splits there.
                if cut == (a0, b0) || cut == (a1, b1) {
                    self.is_exact = false;
                    continue;
                }
                self.boxes.push(Window { a: (cut.0, a1), b: (cut.1, b1) });
                self.boxes.push(Window { a: (a0, cut.0), b: (b0, cut.1) });
                continue;
            }
            let Some(Window { a: (mut a0, mut a1), b: (mut b0, mut b1) }) = self.boxes.pop() else { return Ok(()) };
            let is_pair = |x: u32, y: u32| a.get(x as usize).is_some_and(|one| b.get(y as usize) == Some(one));
            let start = a0;
            while a0 < a1 && b0 < b1 && is_pair(a0, b0) {
                paired(a0, b0);
                (a0, b0) = (a0 + 1, b0 + 1);
            }
            self.owed = a0 - start;
            if a0 >= a1 || b0 >= b1 {
                continue;
            }
            let end = a1;
            while a0 < a1 && b0 < b1 && is_pair(a1 - 1, b1 - 1) {
                (a1, b1) = (a1 - 1, b1 - 1);
            }
            self.owed += end - a1;
            if end > a1 {
                // The common end comes after the middle, so it becomes a box of its own.
                let length = end - a1;
                self.boxes.push(Window { a: (a1, end), b: (b1, b1 + length) });
            }
            if a0 < a1 && b0 < b1 {
                self.search = Some(Search::new(Window { a: (a0, a1), b: (b0, b1) }));
            }
        }
    }
}

impl Search {
    fn new(window: Window) -> Search {
        let (n, m) = window.lengths();
        let length = 2 * (MAX_EDITS.min(n + m) + 1) as usize + 1;
        let mut search = Search {
            window,
            edits: 0,
            next: 0,
            is_from_end: false,
            forward: vec![-1; length],
            backward: vec![-1; length],
        };
        // Both searches start at their end, as if coming from the adjacent diagonal.
        search.set(false, 1, 0);
        search.set(true, 1, 0);
        search
    }

    fn middle(&self) -> i64 {
        (self.forward.len() / 2) as i64
    }

    fn at(&self, is_from_end: bool, diagonal: i64) -> i64 {
        let places = if is_from_end { &self.backward } else { &self.forward };
        usize::try_from(diagonal + self.middle()).ok().and_then(|index| places.get(index)).copied().unwrap_or(-1)
    }

    fn set(&mut self, is_from_end: bool, diagonal: i64, x: i64) {
        let index = usize::try_from(diagonal + self.middle()).ok();
        let places = if is_from_end { &mut self.backward } else { &mut self.forward };
        if let Some(place) = index.and_then(|index| places.get_mut(index)) {
            *place = x;
        }
    }

    /// Continues the search. Returns the point where the box is split, and true if the point is on a shortest path.
    fn step(&mut self, a: &[u32], b: &[u32], owed: &mut u32, slice: &mut TimeSlice) -> SliceResult<((u32, u32), bool)> {
        let (n, m) = self.window.lengths();
        loop {
            slice.spend(2 + std::mem::take(owed))?;
            if self.edits > MAX_EDITS {
                return Ok((self.furthest(), false));
            }
            if self.next > self.edits {
                self.next = -self.edits;
                if self.is_from_end {
                    self.edits += 1;
                    self.next = -self.edits;
                }
                self.is_from_end = !self.is_from_end;
                continue;
            }
            let (diagonal, from_end) = (self.next, self.is_from_end);
            self.next += 2;
            // There is no path outside the box.
            if diagonal > n || -diagonal > m {
                continue;
            }
            let (below, above) = (self.at(from_end, diagonal - 1), self.at(from_end, diagonal + 1));
            let is_down = diagonal == -self.edits || (diagonal != self.edits && below < above);
            let mut x = if is_down { above } else { below + 1 };
            let start = x;
            if x < 0 || x > n || x - diagonal > m || x < diagonal {
                continue;
            }
            while x < n && x - diagonal < m && self.is_pair(a, b, (x, x - diagonal), from_end) {
                x += 1;
            }
            *owed = (x - start) as u32;
            self.set(from_end, diagonal, x);
            // Both searches meet on the same diagonal, counted from either end.
            let other = n - m - diagonal;
            let reached = if other.abs() <= self.middle() { self.at(!from_end, other) } else { -1 };
            let parity = (n - m).rem_euclid(2) == 1;
            let is_other_there = other.abs() <= self.edits - i64::from(!from_end);
            if parity != from_end && is_other_there && reached >= 0 && x + reached >= n {
                let (x, y) = if from_end { (n - x, m - (x - diagonal)) } else { (x, x - diagonal) };
                return Ok((self.window.place(x, y), true));
            }
        }
    }

    fn is_pair(&self, a: &[u32], b: &[u32], (x, y): (i64, i64), from_end: bool) -> bool {
        let (n, m) = self.window.lengths();
        let (x, y) = if from_end { (n - 1 - x, m - 1 - y) } else { (x, y) };
        let (x, y) = self.window.place(x, y);
        a.get(x as usize).is_some_and(|one| b.get(y as usize) == Some(one))
    }

    /// Returns the point furthest from its starting corner that either search reached.
    fn furthest(&self) -> (u32, u32) {
        let (n, m) = self.window.lengths();
        let middle = self.middle();
        let mut best = (-1, (0, 0));
        for diagonal in -middle..=middle {
            for from_end in [false, true] {
                let x = self.at(from_end, diagonal);
                let y = x - diagonal;
                if x >= 0 && (0..=m).contains(&y) && x <= n && x + y > best.0 {
                    best = (x + y, if from_end { (n - x, m - y) } else { (x, y) });
                }
            }
        }
        self.window.place(best.1.0, best.1.1)
    }
}

impl Window {
    fn lengths(&self) -> (i64, i64) {
        (i64::from(self.a.1) - i64::from(self.a.0), i64::from(self.b.1) - i64::from(self.b.0))
    }

    /// Converts a position relative to the start of the window to indices in the sequences.
    fn place(&self, x: i64, y: i64) -> (u32, u32) {
        (self.a.0.saturating_add(x.max(0) as u32).min(self.a.1), self.b.0.saturating_add(y.max(0) as u32).min(self.b.1))
    }
}

#[cfg(test)]
#[path = "../../tests/units/compare/sequence.rs"]
mod tests;
