//! Report on steps and annotations, with compiled regions and Mosaic's numbers.

mod counted;
mod mosaic_sheet;
mod sheets;
mod step_sheet;

use super::job::Job;
use super::known::Known;
use super::ranges::Ranges;
use super::writing::{MOST_ROWS, says};
use crate::open::OpenFile;
use crate::protocol::{Report, ReportQuestion, Span, Tone, Topic};
use crate::radix::Radix;
use base::apart::apart;
use base::slice::{Slice, Sliced};
use base::units::counted;
use counted::Counted;
use hashbrown::HashMap;
use history::replay::DeviceHistory;
use history::snapshot::{Snapshot, StringId};
use mosaic_sheet::mosaic_sheet;
use sheets::{Names, Sum, names_sheet, occurrences_sheet, regions_sheet};
use step_sheet::{growth, steps_sheet};

/// Report on steps and annotations, in progress.
pub(super) struct Annotations {
    device: i64,
    question: ReportQuestion,
    known: Known,
    is_found: bool,
    ranges: Ranges,
    steps: Ranges,
    counted: Counted,
    by_name: HashMap<StringId, u32, foldhash::fast::RandomState>,
    sums: Vec<Sum>,
    /// Number of annotations added to `sums`.
    summed: usize,
    /// Annotations sorted by peak. `highest_names` is the same for names.
    highest: Radix,
    highest_names: Radix,
}

impl Annotations {
    pub(super) fn new(device: i64, question: ReportQuestion) -> Annotations {
        let moment = |key: &str| {
            let known = question.thresholds.iter().find(|(known, _)| known == key);
            known.map(|&(_, value)| u32::try_from(value).unwrap_or(u32::MAX))
        };
        let window = moment("from").zip(moment("to")).map(|(from, to)| Span { from, to });
        let (ranges, steps, by_name, sums, highest, highest_names) = Default::default();
        let (known, counted) = (Known::of(device), Counted::with(window));
        let (is_found, summed) = (false, 0);
        Annotations {
            device,
            question,
            known,
            is_found,
            ranges,
            steps,
            counted,
            by_name,
            sums,
            summed,
            highest,
            highest_names,
        }
    }

    /// Adds up annotations by name, sorts both by peak, and copies the totals of annotations that are steps.
    fn sum_up(&mut self, history: &DeviceHistory, slice: &mut Slice) -> Sliced {
        let places = &self.known.steps.placed.places;
        if self.summed == 0 {
            self.highest = Radix::with_room(places.len());
        }
        while let Some(place) = places.get(self.summed) {
            slice.tick()?;
            let at = self.summed as u32;
            self.summed += 1;
            let facts = self.ranges.facts().get(at as usize).copied().unwrap_or_default();
            self.highest.push(!facts.peak, at);
            if self.known.steps.steps.rows.get(self.steps.facts().len()) == Some(&place.row) {
                self.steps.push(facts);
            }
            let Some(range) = history.annotations.get(place.row as usize) else { continue };
            let next = self.sums.len() as u32;
            let number = *self.by_name.entry(range.name).or_insert(next);
            if number == next {
                self.sums.push(Sum::of(range.name, at));
            }
            if let Some(sum) = self.sums.get_mut(number as usize) {
                sum.add(history, range, at, facts);
            }
        }
        self.highest.step(slice)?;
        if self.highest_names.len() == 0 {
            self.highest_names = Radix::with_room(self.sums.len());
        }
        while let Some(sum) = self.sums.get(self.highest_names.len()) {
            slice.tick()?;
            let at = self.highest_names.len() as u32;
            self.highest_names.push(!sum.peak, at);
        }
        self.highest_names.step(slice)
    }

    fn report(&mut self, snapshot: &Snapshot, history: &DeviceHistory) -> Report {
        let names = Names { snapshot, history, rows: self.question.rows.min(MOST_ROWS) };
        let (steps, placed) = (&self.known.steps.steps, &self.known.steps.placed);
        let mut statements = vec![says(Tone::Fact, steps.how(), None)];
        statements.extend(growth(steps, self.steps.facts(), history.event_count()));
        let mut say = |count: usize, words: &str| {
            if count > 0 {
                let text = counted(count as u64, "annotation") + words;
                statements.push(says(Tone::Fact, text, None));
            }
        };
        say(placed.timeless, " cannot be placed: the trace has no times.");
        say(placed.outside.len(), " outside the recorded events.");
        let never_ends = |row: u32| names.range(row).is_some_and(|range| range.end_us.is_none());
        let open = placed.places.iter().filter(|place| never_ends(place.row));
        say(open.count(), " without an end, extended to the end of the trace.");
        let (highest, highest_names) =
            (std::mem::take(&mut self.highest).into_ids(), std::mem::take(&mut self.highest_names).into_ids());
        let sheets = vec![
            names_sheet(&names, &self.sums, &highest_names, &self.ranges),
            occurrences_sheet(&names, placed, &highest, &self.ranges),
            steps_sheet(&names, steps, self.steps.facts()),
            regions_sheet(&names, &self.counted.regions),
            mosaic_sheet(&names, &self.counted),
        ];
        Report { topic: Topic::Steps, statements, sheets }
    }
}

impl Job for Annotations {
    fn step(&mut self, file: &mut OpenFile, slice: &mut Slice) -> Sliced<Report> {
        let Some(history) = file.history(self.device) else {
            return Ok(Report { topic: Topic::Steps, ..Report::default() });
        };
        if !self.is_found {
            apart(|| self.known.steps.step(file, slice))?;
            self.is_found = true;
            self.ranges = Ranges::of(self.known.steps.placed.spans.clone());
            let steps = &self.known.steps.steps;
            // Steps that are annotations get their totals from the pass over annotations.
            if steps.rows.is_empty() {
                self.steps = Ranges::of(steps.spans.clone());
            }
            let clock = history.events.times.clock();
            let marks = file.snapshot.marks.iter().take(self.question.rows.min(MOST_ROWS) as usize);
            let until = |us: i64| clock.map(|clock| clock.events_before_us(us.saturating_add(1)));
            self.counted.ask(marks.filter_map(|mark| until(mark.time_us)));
        }
        apart(|| self.ranges.step(history, slice))?;
        apart(|| self.steps.step(history, slice))?;
        apart(|| self.counted.step(&file.snapshot, history, slice))?;
        apart(|| self.sum_up(history, slice))?;
        Ok(apart(|| self.report(&file.snapshot, history)))
    }

    fn known(&mut self) -> Option<&mut Known> {
        Some(&mut self.known)
    }
}
