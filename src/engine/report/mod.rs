//! Reports: what an expert would say of a snapshot, as statements and sheets; one module a topic.

mod categories;
mod fragmentation;
mod heaviest;
mod job;
mod layers;
mod layout;
mod live_sites;
mod modules;
mod out_of_memory;
mod peak;
mod pools;
mod ranges;
mod settings;
mod site_sums;
mod stages;
mod steps;
mod waste;
mod writing;

use super::open::OpenFile;
use super::protocol::{Answer, Reply, ReportQuestion, Topic};
use base::slice::Slice;
use job::Job;
use std::collections::VecDeque;

/// What was asked last and is not answered yet.
#[derive(Default)]
pub(super) struct Reports {
    asked: Option<Asked>,
}

/// A question, and its answer as far as it is.
struct Asked {
    serial: u32,
    device: i64,
    question: ReportQuestion,
    job: Box<dyn Job>,
}

impl Reports {
    /// A question; it overtakes the one before.
    pub(super) fn ask(&mut self, serial: u32, device: i64, question: ReportQuestion) {
        let job = job(device, question.clone());
        self.asked = Some(Asked { serial, device, question, job });
    }

    /// Other rules tell categories from now on: what was summed up by those before counts no more.
    pub(super) fn begin_again(&mut self) {
        if let Some(asked) = &mut self.asked {
            asked.job = job(asked.device, asked.question.clone());
        }
    }

    /// Works while there is time: `true` when nothing is left to do.
    pub(super) fn step(
        &mut self,
        file: &mut OpenFile,
        replies: &mut VecDeque<Reply>,
        has_time: &mut dyn FnMut() -> bool,
    ) -> bool {
        let Some(Asked { serial, job, .. }) = &mut self.asked else { return true };
        let Ok(report) = job.step(file, &mut Slice::new(has_time)) else { return false };
        replies.push_back(Reply::Answer { serial: *serial, answer: Answer::Report(Box::new(report)) });
        self.asked = None;
        true
    }
}

fn job(device: i64, question: ReportQuestion) -> Box<dyn Job> {
    match question.topic {
        Topic::Categories => Box::new(categories::Categories::new(device, question)),
        Topic::Layers => Box::new(layers::Layers::new(device, question)),
        Topic::Peak => Box::new(peak::Peak::new(device, question)),
        Topic::OutOfMemory => Box::new(out_of_memory::OutOfMemory::new(device, question)),
        Topic::Stages => Box::new(stages::Stages::new(device, question)),
        Topic::Waste => Box::new(waste::Waste::new(device, question)),
        Topic::Fragmentation => Box::new(fragmentation::Fragmentation::new(device, question)),
        Topic::Pools => Box::new(pools::Pools::new(device, question)),
        Topic::Settings => Box::new(settings::Settings::new(device, question)),
    }
}
