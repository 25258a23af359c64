//! Report on leaks and waste: memory that is never freed, growth per step, delayed frees, short lifetimes, rounding and
//! cached memory.

mod cached;
mod growth;
mod lifetimes;
mod rounding;

use super::job::Job;
use super::shared::SharedResults;
use super::writer::ReportWriter;
use crate::open::OpenFile;
use base::slice::{OutOfTime, SliceResult, TimeSlice};
pub(super) use cached::{pool_name, stream_name};
pub(super) use growth::Growth;
use protocol::{Report, ReportQuestion};

use cached::Cached;
use lifetimes::Lifetimes;
use rounding::RoundingLoss;

/// The report on leaks and waste, while it is computed.
pub(crate) struct Leaks {
    device: i64,
    question: ReportQuestion,
    shared: SharedResults,
    parts: Option<Parts>,
}

struct Parts {
    lifetimes: Lifetimes,
    rounding: RoundingLoss,
    cached: Cached,
}

impl Leaks {
    pub(super) fn new(device: i64, question: ReportQuestion) -> Leaks {
        Leaks { device, question, shared: SharedResults::new(device), parts: None }
    }
}

impl Job for Leaks {
    fn step(&mut self, file: &mut OpenFile, slice: &mut TimeSlice) -> SliceResult<Report> {
        let file = &*file;
        let Some(history) = file.history(self.device) else {
            return Ok(Report { topic: self.question.topic, ..Report::default() });
        };
        self.shared.find_growth(file, history, slice)?;
        let parts = self.parts.get_or_insert_with(|| Parts {
            lifetimes: Lifetimes::new(file, history, &self.question),
            rounding: RoundingLoss::new(file, history, &self.question),
            cached: Cached::new(&self.question),
        });
        parts.lifetimes.step(file, history, slice)?;
        parts.rounding.step(file, history, slice)?;
        parts.cached.step(file, history, slice)?;
        let Parts { lifetimes, rounding, cached } = self.parts.take().ok_or(OutOfTime)?;
        let mut writer = ReportWriter::new(file, history, &self.question);
        // The most likely problems come first.
        if let Some(growth) = self.shared.growth() {
            growth.write(&mut writer, &lifetimes.never_freed);
        }
        lifetimes.write(&mut writer);
        cached.write(&mut writer);
        rounding.write(&mut writer);
        Ok(writer.report)
    }

    fn shared(&mut self) -> Option<&mut SharedResults> {
        Some(&mut self.shared)
    }
}
