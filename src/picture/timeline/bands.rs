//! Estimation of θ, the minimum height of bands. It counts the quads of a few sampled columns, so that an attempt to
//! draw the scene rarely exceeds the maximum number of quads.
//!
//! ```text
//! columns    0 1 2 .. ┃15 16┃ .. ┃46 47┃ ..     counted for each pair and each candidate for θ:
//!                                                the quads that the right column adds to those of the left one
//! ```

use super::column_cursor::ColumnCursor;
use super::paint::Paint;
use super::pieces::descend;
use super::quads::{MAX_QUADS, Quads};
use super::source::Source;
use super::view::View;
use super::visible::{Change, Changes, Visible};
use base::slice::{SliceResult, TimeSlice};

/// Maximum number of sampled column pairs.
const SAMPLES: usize = 32;
/// Candidates for θ in pixels. If the last one is not enough, further attempts increase it.
const CANDIDATES_PX: [u32; 6] = [1, 2, 3, 4, 6, 8];

/// Time-sliced estimation of θ.
#[derive(Clone, Debug)]
pub(super) struct Estimate {
    cursor: ColumnCursor,
    /// First column after the previous sampled pair.
    from: usize,
    sample: usize,
    /// Number of quads that the right columns of all sampled pairs have added, by candidate.
    added: [usize; CANDIDATES_PX.len()],
    /// Quads of the left column of the current pair, by candidate.
    quads: [Quads; CANDIDATES_PX.len()],
}

impl Estimate {
    /// Creates an estimate for a window that shows `leaves` allocations.
    pub(super) fn new(leaves: usize) -> Estimate {
        let (added, quads) = Default::default();
        Estimate { cursor: ColumnCursor::new(leaves), from: 0, sample: 0, added, quads }
    }

    /// Samples further column pairs. Returns the smallest θ, at least `min_band_px`, that likely keeps the scene within
    /// [`MAX_QUADS`]. The scene may still exceed it.
    pub(super) fn step(
        &mut self,
        (source, visible, changes): (&Source, &Visible, &Changes),
        view: &View,
        columns: usize,
        min_band_px: u32,
        slice: &mut TimeSlice,
    ) -> SliceResult<u32> {
        // Colours do not matter here.
        let source = &Source { paint: &|_| Paint::NO_STACK, highlight: None, ..*source };
        let samples = SAMPLES.min(columns / 2).max(1);
        while self.sample < samples {
            let left = (columns * (2 * self.sample + 1) / (2 * samples)).saturating_sub(1);
            while self.cursor.column <= left {
                // Leaves that come and go between two samples never enter the tree.
                let from = self.from;
                let stays = |change: Change| match change {
                    Change::Leave(leaf) => visible.enters(leaf) < from,
                    Change::Enter(leaf) => visible.leaves(leaf) > left,
                };
                self.cursor.apply((source, visible, changes), stays, slice)?;
                if self.cursor.column > left {
                    for (quads, band_px) in self.quads.iter_mut().zip(CANDIDATES_PX) {
                        *quads = Quads::default();
                        descend(quads, &self.cursor, band_px, 0, (source, visible, view), (left, [0, 1]));
                    }
                }
            }
            let changed = self.cursor.apply((source, visible, changes), |_| true, slice)?;
            for ((quads, band_px), added) in self.quads.iter_mut().zip(CANDIDATES_PX).zip(&mut self.added) {
                let before = quads.quads.len();
                descend(quads, &self.cursor, band_px, changed, (source, visible, view), (left + 1, [1, 2]));
                *added += quads.quads.len() - before;
            }
            self.from = self.cursor.column;
            self.sample += 1;
            slice.check()?;
        }
        let fits = |added: &usize| added * columns / samples <= MAX_QUADS / 16 * 15;
        let found =
            CANDIDATES_PX.iter().zip(&self.added).find(|(band_px, added)| **band_px >= min_band_px && fits(added));
        let last = CANDIDATES_PX.last().copied().unwrap_or(1);
        Ok(found.map_or(last, |(&band_px, _)| band_px).max(min_band_px))
    }
}
