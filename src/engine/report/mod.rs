//! Insights: reports with findings and tables. There is one module per topic.

mod annotations;
mod categories;
mod column;
mod fragmentation;
mod frame_roles;
mod job;
mod layout;
mod leaks;
mod live_sites;
mod modules;
mod out_of_memory;
mod peak;
mod pools;
mod ranges;
mod savings;
pub(super) mod search;
mod settings;
mod shared;
mod site_sums;
pub(super) mod steps;
mod top_k;
mod writer;

use super::open::OpenFile;
use base::slice::{SliceResult, TimeSlice};
use job::Job;
use protocol::{Report, ReportQuestion, Topic};
use shared::SharedResults;
use std::mem::swap;

/// Empty report, for topics that compare several files.
struct UnsupportedTopic;

impl Job for UnsupportedTopic {
    fn step(&mut self, _: &mut OpenFile, _: &mut TimeSlice) -> SliceResult<Report> {
        Ok(Report { topic: Topic::Comparison, ..Report::default() })
    }
}

/// The report that is being computed, and cached results that several reports share.
#[derive(Default)]
pub(super) struct Reports {
    job: Option<Box<dyn Job>>,
    shared: Vec<SharedResults>,
}

base::heap_bytes!(Reports: [shared]);

impl Reports {
    /// Drops the report in progress. The shared results stay cached.
    pub(super) fn cancel(&mut self) {
        self.job = None;
    }

    /// Continues computing the requested report and returns it once complete.
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
        let Reports { job: current, shared } = self;
        let job = current.get_or_insert_with(|| new_job(device, question.clone()));
        if let Some(results) = job.shared() {
            let index = shared.iter().position(|known| known.device == results.device);
            let index = index.unwrap_or(shared.len());
            if index == shared.len() {
                shared.push(SharedResults::new(results.device));
            }
            shared.get_mut(index).into_iter().for_each(|known| swap(known, results));
        }
        let report = job.step(file, slice);
        if let Some(results) = job.shared() {
            shared
                .iter_mut()
                .find(|known| known.device == results.device)
                .into_iter()
                .for_each(|known| swap(known, results));
        }
        let report = report?;
        *current = None;
        Ok(report)
    }
}

/// Creates the job that computes the requested topic.
fn new_job(device: i64, question: ReportQuestion) -> Box<dyn Job> {
    match question.topic {
        Topic::Comparison | Topic::Ranks => Box::new(UnsupportedTopic),
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
