//! A file and which of its devices are surveyed: one, or, where it has the traces of several ranks, each.

use super::answer::Rank;
use super::survey::{Surveyed, Surveying};
use base::slice::{Slice, Sliced};
use engine::Side;
use engine::protocol::{DeviceSummary, FileSummary};
use serde::{Deserialize, Serialize};

/// What is known of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfFile {
    /// Its devices are ranks.
    pub is_merged: bool,
    /// At least one.
    pub devices: Vec<Surveyed>,
}

/// The survey of a file, as far as it is.
pub struct FileSurvey {
    is_merged: bool,
    devices: Vec<i64>,
    surveying: Option<Surveying>,
    done: Vec<Surveyed>,
}

impl FileSurvey {
    /// Of the device that is shown first, or of all that stand for ranks.
    ///
    /// # Errors
    /// The file has no device: one sentence.
    pub fn new(of: &FileSummary) -> Result<FileSurvey, String> {
        let gpus: Vec<&DeviceSummary> =
            of.devices.iter().filter(|device| device.device >= 0 && device.events > 0).collect();
        let is_merged = is_merged(&gpus);
        let devices = match is_merged {
            true => gpus.iter().map(|gpu| gpu.device).collect(),
            false => of.devices.get(of.default_device()).map(|device| vec![device.device]).unwrap_or_default(),
        };
        let (surveying, done) = Default::default();
        match devices.is_empty() {
            true => Err("no device has events or segments".to_owned()),
            false => Ok(FileSurvey { is_merged, devices, surveying, done }),
        }
    }

    /// Surveys. `side` has the devices of the file.
    ///
    /// # Errors
    /// The time is up.
    pub fn step<'a>(&mut self, side: impl Fn(i64) -> Option<Side<'a>>, slice: &mut Slice) -> Sliced<OfFile> {
        while let Some(&device) = self.devices.get(self.done.len()) {
            let Some(side) = side(device) else { break };
            let surveyed = self.surveying.get_or_insert_with(|| Surveying::new(&side)).step(&side, slice)?;
            self.done.push(surveyed);
            self.surveying = None;
        }
        Ok(OfFile { is_merged: self.is_merged, devices: std::mem::take(&mut self.done) })
    }
}

/// Whether the traces of several ranks are in one file, which torch-snapkit writes: several devices have a trace, and only the first has
/// segments.
fn is_merged(gpus: &[&DeviceSummary]) -> bool {
    let has_segments = |device: &&DeviceSummary| device.segments > 0;
    gpus.len() > 1 && gpus.iter().all(|gpu| has_segments(gpu) == (gpu.device == 0))
}

impl Rank {
    /// The ranks of this file, and what is to be said of it.
    pub fn of_file(self, of: OfFile) -> (Vec<Rank>, Option<String>) {
        let note = of.is_merged.then(|| {
            format!(
                "{} has the traces of {} ranks and the segments of rank 0 only: what the others had before recording is unknown.",
                self.file,
                of.devices.len()
            )
        });
        let ranks = of.devices.into_iter().map(|surveyed| {
            let own = if of.is_merged { u32::try_from(surveyed.device).ok() } else { self.rank };
            Rank { rank: own, ..self.clone() }.surveyed(surveyed)
        });
        (ranks.collect(), note)
    }
}
