//! Report on steps, annotations and compiled regions. It also contains the numbers that Mosaic reports.

mod mosaic_sheet;
mod region_bytes;
mod sheets;
mod step_sheet;

use super::job::Job;
use super::ranges::Ranges;
use super::shared::SharedResults;
use super::writer::{MAX_ROWS, statement};
use crate::open::OpenFile;
use crate::radix::Radix;
use base::slice::{SliceResult, TimeSlice};
use base::units::pluralize;
use hashbrown::HashMap;
use history::replay::DeviceHistory;
use history::snapshot::{Snapshot, StringId};
use mosaic_sheet::mosaic_sheet;
use protocol::{Report, ReportQuestion, Span, Tone, Topic};
use region_bytes::RegionPass;
use sheets::{NameTotals, SheetContext, names_sheet, occurrences_sheet, regions_sheet};
use step_sheet::{growth, steps_sheet};

/// The report on steps and annotations, while it is computed.
pub(super) struct Annotations {
    device: i64,
    question: ReportQuestion,
    shared: SharedResults,
    has_steps: bool,
    ranges: Ranges,
    steps: Ranges,
    regions: RegionPass,
    by_name: HashMap<StringId, u32, foldhash::fast::RandomState>,
    sums: Vec<NameTotals>,
    /// Number of annotations that were already added to `sums`.
    summed: usize,
    /// Indices of annotations, sorted by peak. `names_by_peak` does the same for annotation names.
    by_peak: Radix,
    names_by_peak: Radix,
}

impl Annotations {
    pub(super) fn new(device: i64, question: ReportQuestion) -> Annotations {
        let moment = |key: &str| {
            let known = question.thresholds.iter().find(|(known, _)| known == key);
            known.map(|&(_, value)| u32::try_from(value).unwrap_or(u32::MAX))
        };
        let window = moment("from").zip(moment("to")).map(|(from, to)| Span { from, to });
        let (ranges, steps, by_name, sums, by_peak, names_by_peak) = Default::default();
        let (shared, regions) = (SharedResults::new(device), RegionPass::new(window));
        let (has_steps, summed) = (false, 0);
        Annotations {
            device,
            question,
            shared,
            has_steps,
            ranges,
            steps,
            regions,
            by_name,
            sums,
            summed,
            by_peak,
            names_by_peak,
        }
    }

    /// Continues adding up annotations by name and sorting annotations and names by peak. Also copies the totals of
    /// annotations that are steps.
    fn sum_up(&mut self, history: &DeviceHistory, slice: &mut TimeSlice) -> SliceResult {
        let annotations = &self.shared.steps.placed.annotations;
        if self.summed == 0 {
            self.by_peak = Radix::with_capacity(annotations.len());
        }
        while let Some(placed) = annotations.get(self.summed) {
            slice.tick()?;
            let index = self.summed as u32;
            self.summed += 1;
            let facts = self.ranges.facts().get(index as usize).copied().unwrap_or_default();
            self.by_peak.push(!facts.peak, index);
            if self.shared.steps.steps.annotation_rows.get(self.steps.facts().len()) == Some(&placed.row) {
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

    fn report(&mut self, snapshot: &Snapshot, history: &DeviceHistory) -> Report {
        let names = SheetContext { snapshot, history, rows: self.question.rows.min(MAX_ROWS) };
        let (steps, placed) = (&self.shared.steps.steps, &self.shared.steps.placed);
        let mut statements = vec![statement(Tone::Fact, steps.describe(), None)];
        statements.extend(growth(steps, self.steps.facts(), history.event_count()));
        let mut add_fact = |count: usize, fact: &str| {
            if count > 0 {
                let text = pluralize(count as u64, "annotation") + fact;
                statements.push(statement(Tone::Fact, text, None));
            }
        };
        add_fact(placed.without_time, " cannot be placed: the trace has no times.");
        add_fact(placed.outside_rows.len(), " outside the recorded events.");
        let never_ends = |row: u32| names.range(row).is_some_and(|range| range.end_us.is_none());
        let open = placed.annotations.iter().filter(|annotation| never_ends(annotation.row));
        add_fact(open.count(), " without an end, extended to the end of the trace.");
        let (highest, names_by_peak) =
            (std::mem::take(&mut self.by_peak).into_ids(), std::mem::take(&mut self.names_by_peak).into_ids());
        let sheets = vec![
            names_sheet(&names, &self.sums, &names_by_peak, &self.ranges),
            occurrences_sheet(&names, placed, &highest, &self.ranges),
            steps_sheet(&names, steps, self.steps.facts()),
            regions_sheet(&names, &self.regions.regions),
            mosaic_sheet(&names, &self.regions),
        ];
        Report { topic: Topic::Steps, statements, sheets }
    }
}

impl Job for Annotations {
    fn step(&mut self, file: &mut OpenFile, slice: &mut TimeSlice) -> SliceResult<Report> {
        let Some(history) = file.history(self.device) else {
            return Ok(Report { topic: Topic::Steps, ..Report::default() });
        };
        if !self.has_steps {
            self.shared.steps.step(file, slice)?;
            self.has_steps = true;
            self.ranges = Ranges::new(self.shared.steps.placed.spans.clone());
            let steps = &self.shared.steps.steps;
            // Steps that are annotations get their totals from the pass over annotations.
            if steps.annotation_rows.is_empty() {
                self.steps = Ranges::new(steps.spans.clone());
            }
            let clock = history.events.times.time_axis();
            let marks = file.snapshot.marks.iter().take(self.question.rows.min(MAX_ROWS) as usize);
            let until = |us: i64| clock.map(|clock| clock.events_before_us(us.saturating_add(1)));
            self.regions.request_usages(marks.filter_map(|mark| until(mark.time_us)));
        }
        self.ranges.step(history, slice)?;
        self.steps.step(history, slice)?;
        self.regions.step(&file.snapshot, history, slice)?;
        self.sum_up(history, slice)?;
        Ok(self.report(&file.snapshot, history))
    }

    fn shared(&mut self) -> Option<&mut SharedResults> {
        Some(&mut self.shared)
    }
}
