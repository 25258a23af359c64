//! How high bands have to be for a scene to have few enough quads: told by a few columns, so that few attempts are in vain.
//!
//! ```text
//! columns    0 1 2 .. ┃15 16┃ .. ┃46 47┃ ..        of each pair: what the right one adds to the quads of the left one,
//!                                                  by the real tree and the real pieces, for every θ that comes into question
//! ```

use super::moving::Moving;
use super::paint::Paint;
use super::pieces::descend;
use super::quads::{MAX_QUADS, Quads};
use super::source::Source;
use super::view::View;
use super::visible::{Change, Changes, Visible};
use base::slice::{Slice, Sliced};

/// Pairs of columns that are looked at, where there are as many.
const SAMPLES: usize = 32;
/// The θ that come into question, in pixels. Where not even the last is enough, the attempts go on from it.
const CANDIDATES_PX: [u32; 6] = [1, 2, 3, 4, 6, 8];

/// An estimate in the making.
#[derive(Clone, Debug)]
pub(super) struct Estimate {
    moving: Moving,
    /// The first column after the last pair.
    from: usize,
    sample: usize,
    /// The quads that all samples added, by candidate.
    added: [usize; CANDIDATES_PX.len()],
    /// The quads of the left column of the pair in work, by candidate.
    quads: [Quads; CANDIDATES_PX.len()],
}

impl Estimate {
    /// Nothing looked at yet.
    pub(super) fn new(leaves: usize) -> Estimate {
        let (added, quads) = Default::default();
        Estimate { moving: Moving::new(leaves), from: 0, sample: 0, added, quads }
    }

    /// Looks at more columns of `columns`; when done, the smallest θ, not under `at_least`, with which the
    /// scene will likely have few enough quads. A guess: the attempt with it may still fail.
    pub(super) fn step(
        &mut self,
        (source, visible, changes): (&Source, &Visible, &Changes),
        view: &View,
        columns: usize,
        at_least: u32,
        slice: &mut Slice,
    ) -> Sliced<u32> {
        // What it looks like does not matter here.
        let source = &Source { paint: &|_| Paint::NO_STACK, highlight: None, ..*source };
        let samples = SAMPLES.min(columns / 2).max(1);
        while self.sample < samples {
            let left = (columns * (2 * self.sample + 1) / (2 * samples)).saturating_sub(1);
            while self.moving.column <= left {
                // What comes and goes since the last pair never enters the tree.
                let from = self.from;
                let stays = |change: Change| match change {
                    Change::Goes(leaf) => visible.enters(leaf) < from,
                    Change::Comes(leaf) => visible.leaves(leaf) > left,
                };
                self.moving.apply((source, visible, changes), stays, slice)?;
                if self.moving.column > left {
                    for (quads, band_px) in self.quads.iter_mut().zip(CANDIDATES_PX) {
                        *quads = Quads::default();
                        descend(quads, &self.moving, band_px, 0, (source, visible, view), (left, [0, 1]));
                    }
                }
            }
            let changed = self.moving.apply((source, visible, changes), |_| true, slice)?;
            for ((quads, band_px), added) in self.quads.iter_mut().zip(CANDIDATES_PX).zip(&mut self.added) {
                let before = quads.quads.len();
                descend(quads, &self.moving, band_px, changed, (source, visible, view), (left + 1, [1, 2]));
                *added += quads.quads.len() - before;
            }
            self.from = self.moving.column;
            self.sample += 1;
            slice.check()?;
        }
        let fits = |added: &usize| added * columns / samples <= MAX_QUADS / 16 * 15;
        let found = CANDIDATES_PX.iter().zip(&self.added).find(|(band_px, added)| **band_px >= at_least && fits(added));
        let last = CANDIDATES_PX.last().copied().unwrap_or(1);
        Ok(found.map_or(last, |(&band_px, _)| band_px).max(at_least))
    }
}
