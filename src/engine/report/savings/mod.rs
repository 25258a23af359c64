//! What could be saved: the peak without each category and call site, and what each common change would bring in this trace.
//!
//! What a group has at the peak is not what its absence saves: another moment may become the peak. Here the peak without it is exact.

mod kinds;
mod run;
mod sentences;

use super::job::Job;
use super::layout::Layout;
use super::site_sums::label;
use super::steps::Finding;
use super::writing::{Writing, at, category_query, row, threshold};
use crate::answers::Population;
use crate::open::OpenFile;
use crate::protocol::{Cell, Evidence, Grouping, Query, Report, ReportQuestion, Scope, Threshold};
use crate::report::column::{self, sheet};
use crate::report::fragmentation::most_reserved;
use crate::stack_match::StackMatch;
use crate::state::Keeping;
use analysis::Without;
use base::slice::{Slice, Sliced, Spent};
use base::sorted::{pair, sorted_by_key, sorted_numbers};
use history::replay::{AllocationId, DeviceHistory, SegmentLives};
use kinds::{KINDS, Kind, Saving};
use run::Run;

/// Call sites that a finding names.
const MOST_SITES: usize = 3;

/// The question, and how far its answer is.
pub(super) struct Savings {
    device: i64,
    question: ReportQuestion,
    steps: Finding,
    loss: StackMatch,
    run: Option<Run>,
    live: Option<Live>,
    reserved: Option<Reserved>,
    /// What the peak is without each call site.
    sites: Option<Vec<Without>>,
}

/// What is live at the peak.
struct Live {
    population: Population,
    next: usize,
    ids: Vec<AllocationId>,
}

/// What is reserved at its peak.
struct Reserved {
    layout: Layout,
    keeping: Keeping,
}

impl Savings {
    pub(super) fn new(device: i64, question: ReportQuestion) -> Savings {
        let (loss, steps) = (StackMatch::default(), Finding::new(device));
        Savings { device, question, steps, loss, run: None, live: None, reserved: None, sites: None }
    }
}

impl Job for Savings {
    fn step(&mut self, file: &mut OpenFile, slice: &mut Slice) -> Sliced<Report> {
        file.categorize(slice)?;
        if let Ok(query) = Query::parse(kinds::LOSS) {
            self.loss.step(file, &query, slice)?;
        }
        file.segment_lives(self.device, slice)?;
        let report = self.report(file, slice)?;
        // Each selected allocation is asked about its call site.
        if let Some(sites) = self.sites.take() {
            file.without_sites.retain(|(device, _)| *device != self.device);
            file.without_sites.push((self.device, sites));
        }
        Ok(report)
    }
}

impl Savings {
    fn report(&mut self, file: &OpenFile, slice: &mut Slice) -> Sliced<Report> {
        let (Some(history), Some(lives)) = (file.history(self.device), file.segments(self.device)) else {
            return Ok(Report { topic: self.question.topic, ..Report::default() });
        };
        self.steps.step(file, slice)?;
        let run = self.run.get_or_insert_with(|| Run::new(file, history, &self.steps.steps));
        run.step(file, history, &self.loss.stacks, slice)?;
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
        reserved.step(file, history, lives, slice)?;
        let (run, live, reserved) =
            (self.run.take().ok_or(Spent)?, self.live.take().ok_or(Spent)?, self.reserved.take().ok_or(Spent)?);
        self.sites = Some(run.sites());
        let mut writing = Writing::new(file, history, &self.question);
        if history.event_count() == 0 || peak.1 == 0 {
            sentences::nothing(&mut writing);
            return Ok(writing.report);
        }
        let least = threshold(&self.question, ["saved", "at least", "bytes"], (peak.1 / 100).max(1));
        let savings = self.savings(file, history, &run, &live.ids, least.value);
        sentences::write(&mut writing, peak, &savings, &self.steps.steps);
        sentences::write_reserved(&mut writing, &reserved.keeping.told(file, history), &reserved.layout);
        write_savings(&mut writing, peak.1, &savings, least);
        write_categories(&mut writing, &run);
        write_sites(&mut writing, &run, &live.ids);
        Ok(writing.report)
    }
}

impl Reserved {
    fn step(&mut self, file: &OpenFile, history: &DeviceHistory, lives: &SegmentLives, slice: &mut Slice) -> Sliced {
        self.layout.step(file, history, lives, slice)?;
        self.keeping.step(file, history, lives, (&self.layout.state, None), slice)
    }
}

impl Savings {
    /// What saves at least so many bytes, the most first.
    fn savings(
        &self,
        file: &OpenFile,
        history: &DeviceHistory,
        run: &Run,
        live: &[AllocationId],
        least: u64,
    ) -> Vec<Saving> {
        let categories = &file.groups.categories;
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
                let bytes = run.concerns(file, history, &self.loss.stacks, (kind, id));
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

fn write_savings(writing: &mut Writing<'_>, peak: u64, savings: &[Saving], least: Threshold) {
    let (file, history) = (writing.file, writing.history);
    let columns = [
        column::text("change", "change", |of: &Saving| of.kind.words().change.to_owned()),
        column::bytes("live_bytes", "live at the peak", |of: &Saving| of.concerned),
        column::bytes("peak_without_bytes", "peak then", |of: &Saving| of.without.peak),
        column::bytes("saved_bytes", "saved", |of: &Saving| of.saved),
        column::share("saved_share", "share", |of: &Saving| (of.saved, peak)),
        column::event("peak_without_event", "peak then after event", |of: &Saving| of.without.moment),
        column::text("confidence", "confidence", |of: &Saving| of.confidence.to_owned()),
        column::cell("call_site", "largest call site", |of: &Saving| {
            of.most.first().map_or(Cell::Nothing, |&(site, ..)| Cell::Text(label(file, history, site)))
        }),
        column::text("unless", "why it may not apply", |of: &Saving| of.kind.words().unless.to_owned()),
    ];
    let note = "Each change alone; savings of several do not add up. Peaks are of live (requested) bytes and exact for the allocations that \
                the change concerns.";
    let mut sheet = sheet(["savings", "Changes that lower the peak", note], &columns);
    sheet.threshold = Some(least);
    let rows: Vec<&Saving> = savings.iter().collect();
    writing.fill(sheet, &columns, &rows, |writing, of| match of.most.first() {
        Some(&(_, _, largest)) => writing.allocation_row(largest, Some(of.without.moment)),
        None => row(at(of.without.moment)),
    });
}

/// What a group has at the peak, and the peak without it.
fn without_columns<'a, R: Copy + 'a>(peak: u64, of: impl Fn(R) -> Without + Copy + 'a) -> [column::Column<'a, R>; 4] {
    let saved = move |without: Without| peak.saturating_sub(without.peak);
    [
        column::bytes("live_bytes", "live at the peak", move |group| of(group).at_peak),
        column::bytes("peak_without_bytes", "peak without it", move |group| of(group).peak),
        column::bytes("saved_bytes", "saved", move |group| saved(of(group))),
        column::event("peak_without_event", "peak without it after event", move |group| of(group).moment),
    ]
}

/// Groups that have something at the peak, those that save most first.
fn ranked(peak: u64, groups: u32, of: impl Fn(u32) -> Without) -> Vec<u32> {
    let some = (0..groups).filter(|&group| of(group).at_peak > 0);
    let key = |group: u32| pair(!peak.saturating_sub(of(group).peak), !of(group).at_peak);
    sorted_numbers(some.map(|group| (key(group), group)).collect())
}

fn write_categories(writing: &mut Writing<'_>, run: &Run) {
    let (file, history) = (writing.file, writing.history);
    let name = |group| match group {
        0 => "not explained by the file".to_owned(),
        group => file.groups.label(&file.snapshot, history, Grouping::Category, group),
    };
    let of = |group: u32| run.category(group);
    let mut columns = vec![column::text("category", "category", name)];
    columns.extend(without_columns(run.peak.1, of));
    let note = "The peak if nothing of the category were allocated. It saves less than what is live at the peak where another event becomes \
                the peak.";
    let sheet = sheet(["categories", "Peak without each category", note], &columns);
    writing.fill(sheet, &columns, &ranked(run.peak.1, run.categories(), of), |_, group| {
        let find = (group > 0).then(|| category_query(&name(group)));
        row(Evidence { find, ..at(of(group).moment) })
    });
}

fn write_sites(writing: &mut Writing<'_>, run: &Run, live: &[AllocationId]) {
    let (file, history) = (writing.file, writing.history);
    let of = |group: u32| run.site(group);
    // The largest at the peak stands for its call site.
    let mut largest = vec![(0u64, AllocationId(0)); file.groups.count(history, Grouping::CallSite) as usize];
    for &id in live {
        let (site, bytes) = (run.of(file, history, id).site, history.allocations.size(id));
        largest.get_mut(site as usize).filter(|it| bytes > it.0).into_iter().for_each(|it| *it = (bytes, id));
    }
    let mut columns = Vec::from(without_columns(run.peak.1, of));
    columns.push(column::text("call_site", "call site", |group| label(file, history, group)));
    let title = ["call_sites", "Peak without each call site", ""];
    let ranked = ranked(run.peak.1, largest.len() as u32, of);
    writing.fill(sheet(title, &columns), &columns, &ranked, |writing, group| {
        let of_site = largest.get(group as usize).map(|&(_, id)| id);
        writing.allocation_row(of_site.unwrap_or(AllocationId(0)), Some(of(group).moment))
    });
}
