//! Insight on leaks and waste: memory that is never freed, growth per step, delayed frees, short lifetimes, rounding and
//! cached memory.

mod cached;
mod growth;
mod held;
mod lifetimes;
mod outside;
mod rounding;

use super::insight::{Given, Insight, Need};
use super::recording::without_events;
use super::writer::ReportWriter;
use base::slice::{SliceResult, TimeSlice};
pub(super) use cached::{pool_name, stream_name};
pub(super) use growth::Growth;

use cached::Cached;
use lifetimes::Lifetimes;
use protocol::Tone;
use rounding::RoundingLoss;

/// The insight on leaks and waste.
pub(super) struct Leaks {
    lifetimes: Lifetimes,
    rounding: RoundingLoss,
    cached: Cached,
}

impl Insight for Leaks {
    const NEEDS: &'static [Need] = &[Need::Growth];

    fn new(&Given { file, history, question, .. }: &Given<'_>) -> Leaks {
        Leaks {
            lifetimes: Lifetimes::new(file, history, question),
            rounding: RoundingLoss::new(history, question),
            cached: Cached::new(question),
        }
    }

    fn step(&mut self, &Given { file, history, .. }: &Given<'_>, slice: &mut TimeSlice) -> SliceResult {
        self.lifetimes.step(file, history, slice)?;
        self.rounding.step(file, history, slice)?;
        self.cached.step(file, history, slice)
    }

    fn write(self, given: &Given<'_>, writer: &mut ReportWriter<'_>) {
        if let Some(text) = without_events(given.file, given.history) {
            writer.add_statement(Tone::Fact, text, None);
        }
        // The most likely problems come first.
        if let Some(growth) = given.growth {
            growth.write(writer, &self.lifetimes.never_freed);
            if !growth.is_known() {
                self.lifetimes.write_accumulations(writer);
            }
        }
        self.lifetimes.cycles.write(writer);
        outside::write(writer);
        self.lifetimes.write(writer);
        self.cached.write(writer);
        self.rounding.write(writer);
    }
}
