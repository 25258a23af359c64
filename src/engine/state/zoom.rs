//! Finds the scale at which all segments fit into a given number of rows.
//!
//! Scales start at one byte per pixel. Eight steps double the scale, so that it stays the same if the segments change
//! little. A binary search finds the finest scale that needs few enough rows. If there are too many segments for any
//! scale, the result is the finest scale with the minimum number of rows.

use super::arrangement::{SegmentLayout, SegmentOrder};
use super::device_state::DeviceState;
use base::slice::{SliceResult, TimeSlice};

/// The eight scale steps of one doubling, in units of 1/1024.
const STEPS: [u32; 8] = [1024, 1117, 1218, 1328, 1448, 1579, 1722, 1878];

/// Binary search for the scale at which all segments fit.
pub(super) struct ScaleSearch {
    /// Finest scale step that may still be sufficient. `sufficient` is the finest step that is known to be sufficient.
    finest: u32,
    sufficient: u32,
    rows: u64,
    trial: SegmentLayout,
    has_started: bool,
}

impl ScaleSearch {
    pub(super) fn new(arranged: &SegmentOrder, width_px: u32, rows: u32) -> ScaleSearch {
        let sufficient = (u64::BITS - arranged.total.reserved.leading_zeros()) * STEPS.len() as u32;
        let trial = SegmentLayout::new(scale_at(sufficient), width_px);
        ScaleSearch { finest: 0, sufficient, rows: rows.into(), trial, has_started: false }
    }

    /// Continues the search. Returns the scale at which all segments fit, in bytes per pixel.
    pub(super) fn step(
        &mut self,
        state: &DeviceState,
        arranged: &SegmentOrder,
        slice: &mut TimeSlice,
    ) -> SliceResult<f64> {
        while !self.has_started || self.finest < self.sufficient {
            self.trial.step(state, arranged, slice)?;
            let tried = if self.has_started { self.middle() } else { self.sufficient };
            if !self.has_started {
                self.rows = self.rows.max(self.trial.row);
                self.has_started = true;
            } else if self.trial.row <= self.rows {
                self.sufficient = tried;
            } else {
                self.finest = tried + 1;
            }
            let width_px = self.trial.width_px;
            self.trial = SegmentLayout::new(scale_at(self.middle()), width_px);
        }
        Ok(scale_at(self.sufficient))
    }

    fn middle(&self) -> u32 {
        u32::midpoint(self.finest, self.sufficient)
    }
}

/// Returns the number of bytes per pixel at a scale step.
fn scale_at(step: u32) -> f64 {
    let count = STEPS.len() as u32;
    let part = STEPS.get((step % count) as usize).copied().unwrap_or(1024);
    f64::from(part) / 1024.0 * (1u128 << (step / count).min(100)) as f64
}

/// Clamps a requested scale to at least one byte per pixel. Also makes sure that the number of rows fits into 32 bits.
pub(super) fn clamp_scale(requested: f64, arranged: &SegmentOrder, width_px: u32) -> f64 {
    let max_pixels = f64::from(width_px.max(1)) * f64::from(1u32 << 31);
    requested.max(1.0).max(arranged.total.reserved as f64 / max_pixels)
}
