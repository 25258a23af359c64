//! How many bytes a pixel covers where all segments are to fit into so many rows.
//!
//! Eight steps to a doubling, from a byte up, so that the scale does not move with every small change; the finest at which the rows
//! suffice, found by halving. Where none does, because there are so many segments, the coarsest that takes as few rows as can be.

use super::arranged::{Arranged, Flow};
use super::device_state::DeviceState;
use base::slice::{Slice, Sliced};

/// Steps to a doubling, as parts of 1024.
const STEPS: [u32; 8] = [1024, 1117, 1218, 1328, 1448, 1579, 1722, 1878];

/// The search for a scale.
pub(super) struct Zoom {
    /// The steps between which it is: the finest that may do, and the finest that is known to.
    finest: u32,
    does: u32,
    rows: u64,
    trial: Flow,
    is_begun: bool,
}

impl Zoom {
    pub(super) fn new(arranged: &Arranged, width_px: u32, rows: u32) -> Zoom {
        let does = (u64::BITS - arranged.whole.reserved.leading_zeros()) * STEPS.len() as u32;
        let trial = Flow::new(bytes(does), width_px);
        Zoom { finest: 0, does, rows: rows.into(), trial, is_begun: false }
    }

    /// Bytes a pixel when found.
    pub(super) fn step(&mut self, state: &DeviceState, arranged: &Arranged, slice: &mut Slice) -> Sliced<f64> {
        while !self.is_begun || self.finest < self.does {
            self.trial.step(state, arranged, slice)?;
            let tried = if self.is_begun { self.middle() } else { self.does };
            if !self.is_begun {
                self.rows = self.rows.max(self.trial.row);
                self.is_begun = true;
            } else if self.trial.row <= self.rows {
                self.does = tried;
            } else {
                self.finest = tried + 1;
            }
            let width_px = self.trial.width_px;
            self.trial = Flow::new(bytes(self.middle()), width_px);
        }
        Ok(bytes(self.does))
    }

    fn middle(&self) -> u32 {
        u32::midpoint(self.finest, self.does)
    }
}

/// Bytes a pixel at a step.
fn bytes(step: u32) -> f64 {
    let count = STEPS.len() as u32;
    let part = STEPS.get((step % count) as usize).copied().unwrap_or(1024);
    f64::from(part) / 1024.0 * (1u128 << (step / count).min(100)) as f64
}

/// A scale that was asked for, in bounds: a pixel is a byte at least, and all rows can be counted.
pub(super) fn bounded(asked: f64, arranged: &Arranged, width_px: u32) -> f64 {
    let most_pixels = f64::from(width_px.max(1)) * f64::from(1u32 << 31);
    asked.max(1.0).max(arranged.whole.reserved as f64 / most_pixels)
}
