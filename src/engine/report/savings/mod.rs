//! Report on savings: the peak without each category and call site, and the effect of common changes in this trace.
//!
//! Removing a group saves less than its bytes at the peak if another moment becomes the peak. The peaks here are exact.

mod families;
mod kinds;
mod run;
mod sentences;
mod tables;

use super::job::Job;
use super::known::Known;
use super::layout::Layout;
use super::writing::{Writing, threshold};
use crate::answers::Population;
use crate::open::OpenFile;
use crate::protocol::{Grouping, Query, Report, ReportQuestion, Scope};
use crate::report::fragmentation::most_reserved;
use crate::stack_match::StackMatch;
use crate::state::Keeping;
use base::apart::apart;
use base::slice::{Slice, Sliced, Spent};
use base::sorted::{pair, sorted_by_key, sorted_numbers};
use families::Numbered;
use history::replay::{AllocationId, DeviceHistory, SegmentLives};
use kinds::{KINDS, Kind, Saving};
use run::{Run, Stacks};

/// Maximum number of call sites in a statement.
const MOST_SITES: usize = 3;

/// Report on savings, in progress.
pub(super) struct Savings {
    device: i64,
    question: ReportQuestion,
    known: Known,
    loss: StackMatch,
    backward: StackMatch,
    run: Option<Run>,
    live: Option<Live>,
    reserved: Option<Reserved>,
}

/// Allocations that are live at the peak.
struct Live {
    population: Population,
    next: usize,
    ids: Vec<AllocationId>,
}

/// State at the peak of reserved bytes.
struct Reserved {
    layout: Layout,
    keeping: Keeping,
}

impl Savings {
    pub(super) fn new(device: i64, question: ReportQuestion) -> Savings {
        let (loss, backward) = <(StackMatch, StackMatch)>::default();
        let known = Known::of(device);
        Savings { device, question, known, loss, backward, run: None, live: None, reserved: None }
    }
}

impl Job for Savings {
    fn step(&mut self, file: &mut OpenFile, slice: &mut Slice) -> Sliced<Report> {
        file.categorize(slice)?;
        for (query, matches) in [(kinds::LOSS, &mut self.loss), (kinds::BACKWARD, &mut self.backward)] {
            if let Ok(query) = Query::parse(query) {
                apart(|| matches.step(file, &query, slice))?;
            }
        }
        file.segment_lives(self.device, slice)?;
        apart(|| self.report(file, slice))
    }

    fn known(&mut self) -> Option<&mut Known> {
        Some(&mut self.known)
    }
}

impl Savings {
    fn report(&mut self, file: &OpenFile, slice: &mut Slice) -> Sliced<Report> {
        let (Some(history), Some(lives)) = (file.history(self.device), file.segments(self.device)) else {
            return Ok(Report { topic: self.question.topic, ..Report::default() });
        };
        apart(|| self.known.steps.step(file, slice))?;
        let run = self.run.get_or_insert_with(|| Run::new(file, history, &self.known.steps.steps));
        let by = Stacks { loss: &self.loss.stacks, backward: &self.backward.stacks };
        apart(|| run.step(file, history, by, slice))?;
        let peak = run.peak;
        let live = self.live.get_or_insert_with(|| {
            let population = Population::new(history, Scope::At(peak.0));
            Live { population, next: 0, ids: Vec::new() }
        });
        let Live { population, next, ids } = live;
        population.each(history, next, slice, &mut |id, bytes| ids.extend((bytes > 0).then_some(id)))?;
        let reserved = self.reserved.get_or_insert_with(|| Reserved {
            layout: Layout::new(history, lives, most_reserved(history)),
            keeping: Keeping::default(),
        });
        apart(|| reserved.step(file, history, lives, slice))?;
        let (run, live, reserved) =
            (self.run.take().ok_or(Spent)?, self.live.take().ok_or(Spent)?, self.reserved.take().ok_or(Spent)?);
        apart(|| {
            let mut writing = Writing::new(file, history, &self.question);
            if history.event_count() == 0 || peak.1 == 0 {
                sentences::nothing(&mut writing);
                return Ok(writing.report);
            }
            let least = threshold(&self.question, ["saved", "at least", "bytes"], (peak.1 / 100).max(1));
            let savings = self.savings(file, history, &run, &live.ids, least.value);
            sentences::write(&mut writing, peak, &savings, &self.known.steps.steps);
            sentences::write_reserved(&mut writing, &reserved.keeping.told(file, history), &reserved.layout);
            tables::write_savings(&mut writing, peak.1, &savings, least);
            tables::write_categories(&mut writing, &run);
            tables::write_sites(&mut writing, &run, &live.ids);
            tables::write_stacks(&mut writing, &run, &live.ids);
            tables::write_modules(&mut writing, &run);
            tables::write_named(&mut writing, &run, Numbered::Annotation);
            tables::write_named(&mut writing, &run, Numbered::Region);
            tables::write_nodes(&mut writing, &run);
            Ok(writing.report)
        })
    }
}

impl Reserved {
    fn step(&mut self, file: &OpenFile, history: &DeviceHistory, lives: &SegmentLives, slice: &mut Slice) -> Sliced {
        self.layout.step(file, history, lives, slice)?;
        self.keeping.step(file, history, lives, (&self.layout.state, None), slice)
    }
}

impl Savings {
    /// Returns the changes that save at least `least` bytes, most first.
    fn savings(
        &self,
        file: &OpenFile,
        history: &DeviceHistory,
        run: &Run,
        live: &[AllocationId],
        least: u64,
    ) -> Vec<Saving> {
        let categories = &file.groups.categories;
        let by = Stacks { loss: &self.loss.stacks, backward: &self.backward.stacks };
        let savings = KINDS.into_iter().filter_map(|kind| {
            let without = run.kind(kind);
            let saved = run.peak.1.saturating_sub(without.peak);
            if saved < least.max(1) {
                return None;
            }
            let (mut concerned, mut by_size) = (0u64, 0u64);
            let mut sites: Vec<(u64, u64, AllocationId)> = Vec::new();
            sites.resize(file.groups.count(history, Grouping::CallSite) as usize, (0, 0, AllocationId(0)));
            for &id in live {
                let bytes = run.concerns(file, history, by, (kind, id));
                concerned = concerned.saturating_add(bytes);
                if categories.set().compares_sizes(categories.rule(history, id)) {
                    by_size = by_size.saturating_add(bytes);
                }
                let site = file.groups.of(&file.snapshot, history, id, Grouping::CallSite);
                let Some((sum, most, largest)) = sites.get_mut(site as usize).filter(|_| bytes > 0) else { continue };
                *sum = sum.saturating_add(bytes);
                if bytes > *most {
                    (*most, *largest) = (bytes, id);
                }
            }
            let some = (0u32..).zip(&sites).filter(|(_, (sum, ..))| *sum > 0);
            let ranked = sorted_numbers(some.map(|(site, (sum, ..))| (pair(!sum, 0), site)).collect());
            let of = |site: u32| sites.get(site as usize).map(|&(sum, _, largest)| (site, sum, largest));
            let most = ranked.into_iter().take(MOST_SITES).filter_map(of).collect();
            let confidence = match kind {
                Kind::AwaitingFree => "high: recorded",
                Kind::Loss => "medium: by function names",
                _ if by_size > concerned / 2 => "low: classified by size",
                _ => "medium: classified by call stack",
            };
            Some(Saving { kind, without, saved, concerned, most, confidence })
        });
        sorted_by_key(savings.collect(), |saving: &Saving| !u128::from(saving.saved))
    }
}
