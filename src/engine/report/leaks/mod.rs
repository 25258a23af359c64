//! Insight on leaks and waste: memory that is never freed, growth per step, delayed frees, short lifetimes, rounding
//! and cached memory.

mod cached;
mod growth;
mod held;
mod leaking_site;
mod lifetimes;
mod outside;
mod rounding;

use super::insight::{Given, Insight, Need};
use super::recording::without_events;
use super::writer::ReportWriter;
use base::slice::{SliceResult, TimeSlice};
pub(super) use cached::{pool_name, stream_name};
pub(super) use growth::{FIX, Growth, caller_text};
pub(super) use leaking_site::LeakingSite;
pub(super) use lifetimes::Lifetimes;

use crate::side::Side;
use cached::Cached;
use protocol::Tone;
use rounding::RoundingLoss;

/// Returns the largest call sites that leak: those that grow per step or, if no steps are known, those that accumulate
/// allocations.
pub(super) fn leaking_sites(side: Side<'_>, growth: Option<&Growth>, lifetimes: &Lifetimes) -> Vec<LeakingSite> {
    match growth.filter(|growth| growth.is_known()) {
        Some(growth) => growth.leaking_sites(side),
        None => {
            let leak = |(group, _)| LeakingSite { group, from: 0, to: u32::MAX, is_likely: false };
            lifetimes.accumulations(side).into_iter().map(leak).collect()
        }
    }
}

/// The insight on leaks and waste.
pub(super) struct Leaks {
    lifetimes: Lifetimes,
    rounding: RoundingLoss,
    cached: Cached,
}

impl Insight for Leaks {
    const NEEDS: &'static [Need] = &[Need::Forward, Need::Growth];

    fn new(&Given { side, question, .. }: &Given<'_>) -> Leaks {
        Leaks {
            lifetimes: Lifetimes::new(side, question),
            rounding: RoundingLoss::new(side.history, question),
            cached: Cached::new(question),
        }
    }

    fn step(&mut self, &Given { side, .. }: &Given<'_>, slice: &mut TimeSlice) -> SliceResult {
        self.lifetimes.step(side, slice)?;
        self.rounding.step(side, slice)?;
        self.cached.step(side, slice)
    }

    fn write(self, given: &Given<'_>, writer: &mut ReportWriter<'_>) {
        if let Some(text) = without_events(given.side) {
            writer.add_statement(Tone::Fact, text, None);
        }
        // The most likely problems come first.
        if let Some(growth) = given.growth {
            growth.write(writer, &self.lifetimes.never_freed);
            if !growth.is_known() {
                let accumulations = self.lifetimes.accumulations(writer.side);
                accumulations.iter().for_each(|&(group, _)| self.lifetimes.write_accumulation(writer, group));
            }
        }
        self.lifetimes.cycles.write(writer);
        outside::write(writer);
        self.lifetimes.write(writer);
        self.cached.write(writer);
        self.rounding.write(writer);
    }
}
