//! Search for the scale at which all segments fit into a given number of rows.
//!
//! Scales are in steps of an eighth of a doubling, from one byte per pixel up, so that small changes do not move the
//! scale. A binary search finds the finest scale that needs few enough rows. If there are too many segments for any
//! scale, the result is the finest scale with the minimum number of rows.

use super::arranged::{Arranged, Flow};
use super::device_state::DeviceState;
use base::slice::{Slice, Sliced};

/// Scale steps within one doubling, in units of 1/1024.
const STEPS: [u32; 8] = [1024, 1117, 1218, 1328, 1448, 1579, 1722, 1878];

/// Binary search for a scale.
pub(super) struct Zoom {
    /// Bounds of the search: the finest step that may be sufficient, and the finest step known to be sufficient.
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

    /// Returns the scale in bytes per pixel.
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

/// Returns the bytes per pixel at a scale step.
fn bytes(step: u32) -> f64 {
    let count = STEPS.len() as u32;
    let part = STEPS.get((step % count) as usize).copied().unwrap_or(1024);
    f64::from(part) / 1024.0 * (1u128 << (step / count).min(100)) as f64
}

/// Clamps a requested scale to at least one byte per pixel, and to a number of rows that fits 32 bits.
pub(super) fn bounded(asked: f64, arranged: &Arranged, width_px: u32) -> f64 {
    let most_pixels = f64::from(width_px.max(1)) * f64::from(1u32 << 31);
    asked.max(1.0).max(arranged.whole.reserved as f64 / most_pixels)
}
