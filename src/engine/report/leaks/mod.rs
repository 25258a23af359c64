//! Report on leaks and waste: memory that is never freed, growth per step, delayed frees, short lifetimes, rounding and
//! cached memory.

mod cached;
mod growth;
mod lives;
mod rounding;

use super::job::Job;
use super::known::Known;
use super::writing::Writing;
use crate::open::OpenFile;
use crate::protocol::{Report, ReportQuestion};
use base::apart::apart;
use base::slice::{Slice, Sliced, Spent};
pub(super) use cached::{pool_name, stream_name};
pub(super) use growth::Growth;

use cached::Cached;
use lives::Lives;
use rounding::Lost;

/// Report on leaks and waste, in progress.
pub(crate) struct Leaks {
    device: i64,
    question: ReportQuestion,
    known: Known,
    parts: Option<Parts>,
}

struct Parts {
    lives: Lives,
    lost: Lost,
    cached: Cached,
}

impl Leaks {
    pub(super) fn new(device: i64, question: ReportQuestion) -> Leaks {
        Leaks { device, question, known: Known::of(device), parts: None }
    }
}

impl Job for Leaks {
    fn step(&mut self, file: &mut OpenFile, slice: &mut Slice) -> Sliced<Report> {
        let file = &*file;
        let Some(history) = file.history(self.device) else {
            return Ok(Report { topic: self.question.topic, ..Report::default() });
        };
        apart(|| self.known.grow(file, history, slice))?;
        let parts = self.parts.get_or_insert_with(|| Parts {
            lives: Lives::new(file, history, &self.question),
            lost: Lost::new(file, history, &self.question),
            cached: Cached::new(&self.question),
        });
        apart(|| parts.lives.step(file, history, slice))?;
        apart(|| parts.lost.step(file, history, slice))?;
        apart(|| parts.cached.step(file, history, slice))?;
        let Parts { lives, lost, cached } = self.parts.take().ok_or(Spent)?;
        apart(|| {
            let mut writing = Writing::new(file, history, &self.question);
            // The most likely problems come first.
            if let Some(growth) = self.known.growth() {
                growth.write(&mut writing, &lives.stay);
            }
            lives.write(&mut writing);
            cached.write(&mut writing);
            lost.write(&mut writing);
            Ok(writing.report)
        })
    }

    fn known(&mut self) -> Option<&mut Known> {
        Some(&mut self.known)
    }
}
