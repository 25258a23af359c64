//! Stranded bytes of a device over the trace, computed when the curve is shown for the first time.

use crate::open::OpenFile;
use crate::stranded::{Ledger, StrandedCurve};
use base::slice::{SliceResult, TimeSlice};

/// Stranded bytes of the devices whose curves were requested.
#[derive(Default)]
pub(super) struct StrandedCurves {
    /// Device ordinal, and the pass over its events.
    in_progress: Option<(i64, Ledger)>,
    /// Curves by device ordinal.
    done: Vec<(i64, StrandedCurve)>,
}

base::heap_bytes!(StrandedCurves: [done]);

impl StrandedCurves {
    /// Computes the curve of a device if it is missing. The segments of the device must have been computed.
    pub(super) fn compute(&mut self, file: &OpenFile, device: i64, slice: &mut TimeSlice) -> SliceResult {
        if self.curve(device).is_some() {
            return Ok(());
        }
        if self.in_progress.as_ref().is_some_and(|(other, _)| *other != device) {
            self.in_progress = None;
        }
        let (_, ledger) = self.in_progress.get_or_insert_with(|| (device, Ledger::new(None)));
        if let (Some(side), Some(lives)) = (file.side(device), file.segments(device)) {
            ledger.step(side, lives, slice)?;
        }
        if let Some((device, ledger)) = self.in_progress.take() {
            self.done.push((device, ledger.into_curve()));
        }
        Ok(())
    }

    /// Returns the curve of a device if it was computed.
    pub(super) fn curve(&self, device: i64) -> Option<&StrandedCurve> {
        self.done.iter().find(|(known, _)| *known == device).map(|(_, curve)| curve)
    }
}
