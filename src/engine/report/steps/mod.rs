//! Insight on steps, annotations and compiled regions. It also contains the numbers that Mosaic reports.

mod mosaic_sheet;
mod region_bytes;
mod sheets;
mod step_sheet;

use super::insight::{Given, Insight, Need};
use super::ranges::Ranges;
use super::recording::without_events;
use super::step_finder::StepFinder;
use super::writer::{MAX_ROWS, ReportWriter};
use crate::radix::Radix;
use crate::side::Side;
use base::slice::{SliceResult, TimeSlice};
use base::units::{Moment, pluralize};
use hashbrown::HashMap;
use history::replay::{Curve, DeviceHistory};
use history::snapshot::StringId;
use mosaic_sheet::write_mosaic;
use protocol::{Span, Tone};
use region_bytes::RegionPass;
use sheets::{NameTotals, write_names, write_occurrences, write_regions};
use step_sheet::{growth, write_steps};

/// The insight on steps and annotations.
pub(super) struct Steps {
    ranges: Ranges,
    /// Totals of the steps. Steps that are annotations get theirs from `ranges`.
    steps: Ranges,
    regions: RegionPass,
    by_name: HashMap<StringId, u32, foldhash::fast::RandomState>,
    sums: Vec<NameTotals>,
    /// Number of annotations that were already added to `sums`.
    summed: usize,
    /// Indices of annotations, sorted by peak. `names_by_peak` does the same for annotation names.
    by_peak: Radix,
    names_by_peak: Radix,
    /// Moments that are compared to measure growth, and the bytes that await their free at each of them.
    growth_moments: Option<Vec<u32>>,
    awaiting_free: Vec<i64>,
}

impl Steps {
    /// Continues adding up annotations by name and sorting annotations and names by peak. Also copies the totals of
    /// annotations that are steps.
    fn sum_up(&mut self, history: &DeviceHistory, steps: &StepFinder, slice: &mut TimeSlice) -> SliceResult {
        let annotations = &steps.placed.annotations;
        if self.summed == 0 {
            self.by_peak = Radix::with_capacity(annotations.len());
        }
        while let Some(placed) = annotations.get(self.summed) {
            slice.tick()?;
            let index = self.summed as u32;
            self.summed += 1;
            let facts = self.ranges.facts().get(index as usize).copied().unwrap_or_default();
            self.by_peak.push(!facts.peak, index);
            if steps.steps.annotation_rows.get(self.steps.facts().len()) == Some(&placed.row) {
                self.steps.push(facts);
            }
            let Some(range) = history.annotations.get(placed.row as usize) else { continue };
            let next = self.sums.len() as u32;
            let number = *self.by_name.entry(range.name).or_insert(next);
            if number == next {
                self.sums.push(NameTotals::new(range.name, index));
            }
            if let Some(sum) = self.sums.get_mut(number as usize) {
                sum.add(history, range, index, facts);
            }
        }
        self.by_peak.step(slice)?;
        if self.names_by_peak.len() == 0 {
            self.names_by_peak = Radix::with_capacity(self.sums.len());
        }
        while let Some(sum) = self.sums.get(self.names_by_peak.len()) {
            slice.tick()?;
            let index = self.names_by_peak.len() as u32;
            self.names_by_peak.push(!sum.peak, index);
        }
        self.names_by_peak.step(slice)
    }

    /// Continues looking up the bytes that await their free at the moments of growth.
    fn look_up_awaiting_free(
        &mut self,
        history: &DeviceHistory,
        steps: &StepFinder,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let moments = self.growth_moments.get_or_insert_with(|| steps.steps.growth_moments());
        let change = |event| history.awaiting_free_change(event);
        let curve = Curve::new(&history.awaiting_free, &change);
        while let Some(&moment) = moments.get(self.awaiting_free.len()) {
            slice.spend(16)?;
            self.awaiting_free.push(curve.at(Moment(moment)));
        }
        Ok(())
    }
}

impl Insight for Steps {
    const NEEDS: &'static [Need] = &[Need::Steps];

    fn new(given: &Given<'_>) -> Steps {
        let moment = |key: &str| {
            let known = given.question.thresholds.iter().find(|(known, _)| known == key);
            known.map(|&(_, value)| u32::try_from(value).unwrap_or(u32::MAX))
        };
        let mut regions = RegionPass::new(moment("from").zip(moment("to")).map(|(from, to)| Span { from, to }));
        let clock = given.side.history.events.times.time_axis();
        let marks = given.side.file.snapshot.marks.iter().take(given.question.rows.min(MAX_ROWS) as usize);
        let until = |us: i64| clock.map(|clock| clock.events_before_us(us.saturating_add(1)));
        regions.request_usages(marks.filter_map(|mark| until(mark.time_us)));
        let StepFinder { steps, placed, .. } = given.steps;
        let are_annotations = !steps.annotation_rows.is_empty();
        let (by_name, sums, summed, by_peak, names_by_peak) = Default::default();
        let (growth_moments, awaiting_free) = Default::default();
        Steps {
            ranges: Ranges::new(placed.spans.clone()),
            steps: if are_annotations { Ranges::default() } else { Ranges::new(steps.spans.clone()) },
            regions,
            by_name,
            sums,
            summed,
            by_peak,
            names_by_peak,
            growth_moments,
            awaiting_free,
        }
    }

    fn step(
        &mut self,
        &Given { side: Side { file, history }, steps, .. }: &Given<'_>,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        self.ranges.step(history, slice)?;
        self.steps.step(history, slice)?;
        self.regions.step(&file.snapshot, history, slice)?;
        self.sum_up(history, steps, slice)?;
        self.look_up_awaiting_free(history, steps, slice)
    }

    fn write(self, given: &Given<'_>, writer: &mut ReportWriter<'_>) {
        let history = given.side.history;
        let StepFinder { steps, placed, .. } = given.steps;
        let text = without_events(given.side).unwrap_or_else(|| steps.describe());
        writer.add_statement(Tone::Fact, text, None);
        let moments = self.growth_moments.unwrap_or_default();
        let end = history.event_count();
        writer.report.statements.extend(growth(steps, self.steps.facts(), end, moments, &self.awaiting_free));
        let mut add_fact = |count: usize, fact: &str| {
            if count > 0 {
                writer.add_statement(Tone::Fact, pluralize(count as u64, "annotation") + fact, None);
            }
        };
        add_fact(placed.without_time, " cannot be placed: the trace has no timestamps.");
        add_fact(placed.outside_rows.len(), " outside the recorded events.");
        let never_ends = |row: u32| history.annotations.get(row as usize).is_some_and(|range| range.end_us.is_none());
        let open = placed.annotations.iter().filter(|annotation| never_ends(annotation.row));
        add_fact(open.count(), " without an end, extended to the end of the trace.");
        write_names(writer, &self.sums, &self.names_by_peak.into_ids(), &self.ranges);
        write_occurrences(writer, placed, &self.by_peak.into_ids(), &self.ranges);
        write_steps(writer, steps, self.steps.facts());
        write_regions(writer, &self.regions.regions);
        write_mosaic(writer, &self.regions);
    }
}
