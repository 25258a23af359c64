//! Insights: what an expert would say of a snapshot, as findings and tables; one module a topic.

mod annotations;
mod calls;
mod categories;
mod column;
mod fragmentation;
mod heaviest;
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
pub(super) mod searched;
mod settings;
mod site_sums;
mod steps;
mod writing;

use super::open::OpenFile;
use super::protocol::{Report, ReportQuestion, Topic};
use base::slice::{Slice, Sliced};
pub(super) use job::Job;

/// What one file can't answer: nothing.
struct Nothing;

impl Job for Nothing {
    fn step(&mut self, _: &mut OpenFile, _: &mut Slice) -> Sliced<Report> {
        Ok(Report { topic: Topic::Comparison, ..Report::default() })
    }
}

/// The report that answers a question, in the making.
pub(super) fn job(device: i64, question: ReportQuestion) -> Box<dyn Job> {
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
