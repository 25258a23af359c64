//! Insights: reports with findings and tables. There is one module per insight, with the name of its command.

mod at_once;
mod categories;
mod excess;
mod finished;
mod fragmentation;
mod frame_roles;
mod frame_words;
mod insight;
mod layout;
mod leaks;
mod live_sites;
mod modules;
pub(super) mod oom;
mod oom_plans;
mod peak;
mod phase_peaks;
mod pools;
mod range;
mod ranges;
mod recording;
mod savings;
pub(super) mod search;
pub(super) mod settings;
mod shared;
mod simulated;
mod site_sums;
pub(super) mod step_finder;
mod steps;
mod stream_peaks;
mod top_k;
mod writer;

use super::open::OpenFile;
use super::what_if::NewSimulator;
use base::slice::{SliceResult, TimeSlice};
use insight::{Given, Insight, Need, Running};
use protocol::{Report, ReportQuestion, Topic, column};
use shared::SharedResults;
use writer::ReportWriter;

pub(super) use finished::FinishedReports;

/// Needs of an insight, and the function that starts it.
type Entry = (&'static [Need], fn(&Given<'_>) -> Box<dyn Running>);

fn entry<I: Insight + 'static>() -> Entry {
    (I::NEEDS, |given| Box::new(I::new(given)))
}

macro_rules! entry_of {
    ($($(#[$default:meta])* $name:ident: $Topic:ident, $title:literal, $at:ident, $help:literal;)*) => {
        /// Returns the insight on a topic. `None` for topics that compare several files.
        fn entry_of(topic: Topic) -> Option<Entry> {
            match topic {
                $(Topic::$Topic => Some(entry::<$name::$Topic>()),)*
                Topic::Comparison | Topic::Ranks | Topic::WhatIf => None,
            }
        }
    };
}
protocol::insights!(entry_of);

/// The insight that is being computed, and cached results that several insights share.
#[derive(Default)]
pub(super) struct Reports {
    current: Option<Box<dyn Running>>,
    shared: Vec<SharedResults>,
    pub(super) finished: FinishedReports,
    new_simulator: Option<NewSimulator>,
}

base::heap_bytes!(Reports: [shared], finished);

impl Reports {
    /// Creates reports without results. Without `new_simulator`, insights get no simulation.
    pub(super) fn new(new_simulator: Option<NewSimulator>) -> Reports {
        Reports { new_simulator, ..Reports::default() }
    }

    /// Drops the insight in progress. The shared results stay cached.
    pub(super) fn cancel(&mut self) {
        self.current = None;
    }

    /// Drops the insight in progress, all reports, and the shared results that depend on categories.
    pub(super) fn forget_categories(&mut self) {
        self.current = None;
        self.finished = FinishedReports::default();
        self.shared.iter_mut().for_each(SharedResults::forget_categories);
    }

    /// Continues computing the requested report and returns it once complete. It is empty if the file does not have the
    /// device.
    ///
    /// # Errors
    /// Returns an error if the time slice is used up. Another call continues the computation.
    pub(super) fn step(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        question: &ReportQuestion,
        slice: &mut TimeSlice,
    ) -> SliceResult<Report> {
        let none = Report { topic: question.topic, ..Report::default() };
        let Some((needs, start)) = entry_of(question.topic).filter(|_| file.history(device).is_some()) else {
            return Ok(none);
        };
        if let Some(report) = self.finished.find(device, question) {
            return Ok(report.clone());
        }
        let shared = shared_of(&mut self.shared, device);
        for need in needed(needs, question) {
            shared.compute(need, file, self.new_simulator, slice)?;
        }
        let Some(given) = shared.given(file, question) else { return Ok(none) };
        let insight = self.current.get_or_insert_with(|| start(&given));
        insight.step(&given, slice)?;
        let report = self.current.take().map_or(none, |insight| written(insight, &given));
        self.finished.add(device, question, &report);
        Ok(report)
    }
}

/// Returns which results an insight needs for a question. Simulations in the question replace those of the engine.
fn needed(needs: &'static [Need], question: &ReportQuestion) -> impl Iterator<Item = Need> {
    let given = question.simulations.as_deref();
    needs.iter().copied().filter(move |need| match need {
        Need::Simulation => given.is_none(),
        Need::OomPlans => given.is_none_or(|given| !given.is_empty()),
        _ => true,
    })
}

fn shared_of(all: &mut Vec<SharedResults>, device: i64) -> &mut SharedResults {
    let known = all.iter().position(|known| known.device == device);
    let index = known.unwrap_or_else(|| {
        all.push(SharedResults::new(device));
        all.len() - 1
    });
    &mut all[index]
}

/// Returns the report of an insight whose results are complete.
fn written(insight: Box<dyn Running>, given: &Given<'_>) -> Report {
    let mut writer = ReportWriter::new(given.side, given.question);
    insight.write(given, &mut writer);
    writer.report
}

#[cfg(test)]
#[path = "../../../tests/units/engine/report/shared.rs"]
mod tests;
