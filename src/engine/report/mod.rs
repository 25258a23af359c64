//! Insights: reports with findings and tables, one module per topic.

mod annotations;
mod calls;
mod categories;
mod column;
mod fragmentation;
mod heaviest;
mod job;
mod known;
mod layout;
mod leaks;
mod live_sites;
mod modules;
mod out_of_memory;
mod peak;
mod pools;
mod ranges;
mod savings;
pub(super) mod searched;
mod settings;
mod site_sums;
mod steps;
mod writing;

use super::open::OpenFile;
use super::protocol::{Report, ReportQuestion, Topic};
use base::slice::{Slice, Sliced};
use job::Job;
use known::Known;
use std::mem::swap;

/// Stands in for topics about several files, which a single file can't answer.
struct Nothing;

impl Job for Nothing {
    fn step(&mut self, _: &mut OpenFile, _: &mut Slice) -> Sliced<Report> {
        Ok(Report { topic: Topic::Comparison, ..Report::default() })
    }
}

/// Runs reports one at a time and keeps the results that they share.
#[derive(Default)]
pub(super) struct Reports {
    job: Option<Box<dyn Job>>,
    known: Vec<Known>,
}

impl Reports {
    /// Drops the report in progress. Shared results are kept.
    pub(super) fn begin(&mut self) {
        self.job = None;
    }

    /// Continues the report for `question` and returns it when it is done.
    ///
    /// # Errors
    /// The time is up.
    pub(super) fn step(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        question: &ReportQuestion,
        slice: &mut Slice,
    ) -> Sliced<Report> {
        let Reports { job: in_work, known } = self;
        let job = in_work.get_or_insert_with(|| job(device, question.clone()));
        if let Some(place) = job.known() {
            let at = known.iter().position(|known| known.device == place.device);
            let at = at.unwrap_or(known.len());
            if at == known.len() {
                known.push(Known::of(place.device));
            }
            known.get_mut(at).into_iter().for_each(|known| swap(known, place));
        }
        let report = job.step(file, slice);
        if let Some(place) = job.known() {
            known
                .iter_mut()
                .find(|known| known.device == place.device)
                .into_iter()
                .for_each(|known| swap(known, place));
        }
        let report = report?;
        *in_work = None;
        Ok(report)
    }

    /// Returns the size of the shared results in bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.known.iter().map(Known::heap_bytes).sum()
    }
}

/// Creates the job for the topic of a question.
fn job(device: i64, question: ReportQuestion) -> Box<dyn Job> {
    match question.topic {
        Topic::Comparison | Topic::Ranks => Box::new(Nothing),
        Topic::Categories => Box::new(categories::Categories::new(device, question)),
        Topic::Modules => Box::new(modules::Modules::new(device, question)),
        Topic::Peak => Box::new(peak::Peak::new(device, question)),
        Topic::OutOfMemory => Box::new(out_of_memory::OutOfMemory::new(device, question)),
        Topic::Savings => Box::new(savings::Savings::new(device, question)),
        Topic::Steps => Box::new(annotations::Annotations::new(device, question)),
        Topic::Leaks => Box::new(leaks::Leaks::new(device, question)),
        Topic::Fragmentation => Box::new(fragmentation::Fragmentation::new(device, question)),
        Topic::Pools => Box::new(pools::Pools::new(device, question)),
        Topic::Settings => Box::new(settings::Settings::new(device, question)),
    }
}
