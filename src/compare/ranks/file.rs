//! Scans a file: its default device, or all devices if they are the traces of several ranks.

use super::answer::Rank;
use super::survey::{RankSurvey, RankSurveyor};
use base::slice::{SliceResult, TimeSlice};
use engine::Side;
use protocol::{DeviceSummary, FileSummary};
use serde::{Deserialize, Serialize};

/// Scan results of all ranks in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSurveys {
    /// True if each device of the file is a rank.
    pub is_merged: bool,
    /// Scan result of each device, at least one.
    pub devices: Vec<RankSurvey>,
}

/// Resumable scan of a file.
pub struct FileSurvey {
    is_merged: bool,
    devices: Vec<i64>,
    surveying: Option<RankSurveyor>,
    done: Vec<RankSurvey>,
}

impl FileSurvey {
    /// Creates a scan of the default device, or of all devices if each is a rank.
    ///
    /// # Errors
    /// Returns an error message if the file contains no device.
    pub fn new(summary: &FileSummary) -> Result<FileSurvey, String> {
        let gpus: Vec<&DeviceSummary> =
            summary.devices.iter().filter(|device| device.device >= 0 && device.events > 0).collect();
        let is_merged = is_merged(&gpus);
        let devices = match is_merged {
            true => gpus.iter().map(|gpu| gpu.device).collect(),
            false => {
                summary.devices.get(summary.default_device()).map(|device| vec![device.device]).unwrap_or_default()
            }
        };
        let (surveying, done) = Default::default();
        match devices.is_empty() {
            true => Err("no device has events or segments".to_owned()),
            false => Ok(FileSurvey { is_merged, devices, surveying, done }),
        }
    }

    /// Continues the scan until it is complete or the time slice is used up. `side` returns a device of the file.
    ///
    /// # Errors
    /// Returns an error if the time is up.
    pub fn step<'a>(
        &mut self,
        side: impl Fn(i64) -> Option<Side<'a>>,
        slice: &mut TimeSlice,
    ) -> SliceResult<FileSurveys> {
        while let Some(&device) = self.devices.get(self.done.len()) {
            let Some(side) = side(device) else { break };
            let surveyed = self.surveying.get_or_insert_with(|| RankSurveyor::new(&side)).step(&side, slice)?;
            self.done.push(surveyed);
            self.surveying = None;
        }
        Ok(FileSurveys { is_merged: self.is_merged, devices: std::mem::take(&mut self.done) })
    }
}

/// Returns true if a file contains the traces of several ranks, as written by torch-snapkit: several devices have a
/// trace, but only the first has segments.
fn is_merged(gpus: &[&DeviceSummary]) -> bool {
    let has_segments = |device: &&DeviceSummary| device.segments > 0;
    gpus.len() > 1 && gpus.iter().all(|gpu| has_segments(gpu) == (gpu.device == 0))
}

impl Rank {
    /// Returns one rank for each scanned device of this file. Also returns a note if the file contains several ranks.
    pub fn of_file(self, surveys: FileSurveys) -> (Vec<Rank>, Option<String>) {
        let note = surveys.is_merged.then(|| {
            format!(
                "{} has the traces of {} ranks and the segments of rank 0 only: what the others had before recording is unknown.",
                self.file,
                surveys.devices.len()
            )
        });
        let ranks = surveys.devices.into_iter().map(|surveyed| {
            let rank = if surveys.is_merged { u32::try_from(surveyed.device).ok() } else { self.rank };
            Rank { rank, ..self.clone() }.with_survey(surveyed)
        });
        (ranks.collect(), note)
    }
}
