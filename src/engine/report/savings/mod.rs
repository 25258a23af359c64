//! Report on savings: the peak without each category and call site, and the effect of common changes in this trace.
//!
//! Without a group, another moment may become the peak. Then less is saved than the bytes of the group at the old peak.
//! The report determines the new peak exactly.

mod groupings;
mod kinds;
mod pass;
mod statements;
mod tables;

use super::job::Job;
use super::layout::Layout;
use super::shared::SharedResults;
use super::writer::{ReportWriter, threshold};
use crate::open::OpenFile;
use crate::report::fragmentation::peak_reserved_moment;
use crate::stack_match::StackMatch;
use crate::stack_trees::Population;
use crate::state::ReleasableSegments;
use base::slice::{OutOfTime, SliceResult, TimeSlice};
use base::sorted::{sorted_by_key, sorted_numbers, two_part_key};
use groupings::NumberedGrouping;
use history::replay::{AllocationId, DeviceHistory, SegmentLifetimes};
use kinds::{KINDS, Saving, SavingKind};
use pass::{MatchedStacks, PeakPass};
use protocol::{Grouping, Query, Report, ReportQuestion, Scope};

/// Maximum number of call sites in a statement.
const MAX_SITES: usize = 3;

/// The report on savings, while it is computed.
pub(super) struct Savings {
    device: i64,
    question: ReportQuestion,
    shared: SharedResults,
    loss_matches: StackMatch,
    backward_matches: StackMatch,
    pass: Option<PeakPass>,
    live: Option<LiveAtPeak>,
    reserved: Option<ReservedPeak>,
}

/// Allocations that are live at the peak.
struct LiveAtPeak {
    population: Population,
    next: usize,
    ids: Vec<AllocationId>,
}

/// State of the allocator at the peak of reserved bytes.
struct ReservedPeak {
    layout: Layout,
    keeping: ReleasableSegments,
}

impl Savings {
    pub(super) fn new(device: i64, question: ReportQuestion) -> Savings {
        let (loss_matches, backward_matches) = <(StackMatch, StackMatch)>::default();
        let shared = SharedResults::new(device);
        Savings { device, question, shared, loss_matches, backward_matches, pass: None, live: None, reserved: None }
    }
}

impl Job for Savings {
    fn step(&mut self, file: &mut OpenFile, slice: &mut TimeSlice) -> SliceResult<Report> {
        file.categorize(slice)?;
        for (query, matches) in
            [(kinds::LOSS_QUERY, &mut self.loss_matches), (kinds::BACKWARD_QUERY, &mut self.backward_matches)]
        {
            if let Ok(query) = Query::parse(query) {
                matches.step(file, &query, slice)?;
            }
        }
        file.compute_segments(self.device, slice)?;
        self.report(file, slice)
    }

    fn shared(&mut self) -> Option<&mut SharedResults> {
        Some(&mut self.shared)
    }
}

impl Savings {
    fn report(&mut self, file: &OpenFile, slice: &mut TimeSlice) -> SliceResult<Report> {
        let (Some(history), Some(lives)) = (file.history(self.device), file.segments(self.device)) else {
            return Ok(Report { topic: self.question.topic, ..Report::default() });
        };
        self.shared.steps.step(file, slice)?;
        let pass = self.pass.get_or_insert_with(|| PeakPass::new(file, history, &self.shared.steps.steps));
        let matched = MatchedStacks { loss: &self.loss_matches.stacks, backward: &self.backward_matches.stacks };
        pass.step(file, history, matched, slice)?;
        let peak = pass.peak;
        let live = self.live.get_or_insert_with(|| {
            let population = Population::new(history, Scope::At(peak.0));
            LiveAtPeak { population, next: 0, ids: Vec::new() }
        });
        let LiveAtPeak { population, next, ids } = live;
        population.visit(history, next, slice, &mut |id, bytes| ids.extend((bytes > 0).then_some(id)))?;
        let reserved = self.reserved.get_or_insert_with(|| ReservedPeak {
            layout: Layout::new(history, lives, peak_reserved_moment(history)),
            keeping: ReleasableSegments::default(),
        });
        reserved.step(file, history, lives, slice)?;
        let (pass, live, reserved) = (
            self.pass.take().ok_or(OutOfTime)?,
            self.live.take().ok_or(OutOfTime)?,
            self.reserved.take().ok_or(OutOfTime)?,
        );
        let mut writer = ReportWriter::new(file, history, &self.question);
        if history.event_count() == 0 || peak.1 == 0 {
            statements::write_nothing_to_save(&mut writer);
            return Ok(writer.report);
        }
        let min_bytes = threshold(&self.question, ["saved", "at least", "bytes"], (peak.1 / 100).max(1));
        let savings = self.savings(file, history, &pass, &live.ids, min_bytes.value);
        statements::write_insights(&mut writer, peak, &savings, &self.shared.steps.steps);
        statements::write_reserved(&mut writer, &reserved.keeping.finish(file, history), &reserved.layout);
        tables::write_savings(&mut writer, peak.1, &savings, min_bytes);
        tables::write_categories(&mut writer, &pass);
        tables::write_sites(&mut writer, &pass, &live.ids);
        tables::write_stacks(&mut writer, &pass, &live.ids);
        tables::write_modules(&mut writer, &pass);
        tables::write_named(&mut writer, &pass, NumberedGrouping::Annotation);
        tables::write_named(&mut writer, &pass, NumberedGrouping::Region);
        tables::write_nodes(&mut writer, &pass);
        Ok(writer.report)
    }
}

impl ReservedPeak {
    fn step(
        &mut self,
        file: &OpenFile,
        history: &DeviceHistory,
        lives: &SegmentLifetimes,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        self.layout.step(file, history, lives, slice)?;
        self.keeping.step(file, history, lives, (&self.layout.state, None), slice)
    }
}

impl Savings {
    /// Returns the changes that save at least `min_bytes`. The change that saves most comes first.
    fn savings(
        &self,
        file: &OpenFile,
        history: &DeviceHistory,
        pass: &PeakPass,
        live: &[AllocationId],
        min_bytes: u64,
    ) -> Vec<Saving> {
        let categories = &file.groups.categories;
        let matched = MatchedStacks { loss: &self.loss_matches.stacks, backward: &self.backward_matches.stacks };
        let savings = KINDS.into_iter().filter_map(|kind| {
            let effect = pass.without_kind(kind);
            let saved_bytes = pass.peak.1.saturating_sub(effect.peak);
            if saved_bytes < min_bytes.max(1) {
                return None;
            }
            let (mut concerned_bytes, mut by_size) = (0u64, 0u64);
            let mut sites: Vec<(u64, u64, AllocationId)> = Vec::new();
            sites.resize(file.groups.group_count(history, Grouping::CallSite) as usize, (0, 0, AllocationId(0)));
            for &id in live {
                let bytes = pass.concerned_bytes(file, history, matched, (kind, id));
                concerned_bytes = concerned_bytes.saturating_add(bytes);
                if categories.set().compares_sizes(categories.rule(history, id)) {
                    by_size = by_size.saturating_add(bytes);
                }
                let site = file.groups.group_of(&file.snapshot, history, id, Grouping::CallSite);
                let Some((sum, max, largest)) = sites.get_mut(site as usize).filter(|_| bytes > 0) else { continue };
                *sum = sum.saturating_add(bytes);
                if bytes > *max {
                    (*max, *largest) = (bytes, id);
                }
            }
            let concerned = (0u32..).zip(&sites).filter(|(_, (sum, ..))| *sum > 0);
            let ranked = sorted_numbers(concerned.map(|(site, (sum, ..))| (two_part_key(!sum, 0), site)).collect());
            let top_site = |site: u32| sites.get(site as usize).map(|&(sum, _, largest)| (site, sum, largest));
            let top_sites = ranked.into_iter().take(MAX_SITES).filter_map(top_site).collect();
            let confidence = match kind {
                SavingKind::AwaitingFree => "high: recorded",
                SavingKind::Loss => "medium: by function names",
                _ if by_size > concerned_bytes / 2 => "low: classified by size",
                _ => "medium: classified by call stack",
            };
            Some(Saving { kind, effect, saved_bytes, concerned_bytes, top_sites, confidence })
        });
        sorted_by_key(savings.collect(), |saving: &Saving| !u128::from(saving.saved_bytes))
    }
}
