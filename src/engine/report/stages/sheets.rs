//! The sheets of the report on stages.

use super::counted::Region;
use crate::protocol::{Cell, Sheet, Span};
use crate::report::ranges::{Facts, Ranges};
use crate::report::steps::Placed;
use crate::report::writing::{at, cut, row, sheet, shown};
use base::units::Moment;
use history::replay::{AnnotationRange, DeviceHistory};
use history::snapshot::{Snapshot, StringId};

/// Rows are not indented further.
const DEEPEST: u32 = 64;
/// What sheets are written from, and the most rows of each.
pub(super) struct Names<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) history: &'a DeviceHistory,
    pub(super) rows: u32,
}

impl Names<'_> {
    /// An annotation by its row.
    pub(super) fn range(&self, row: u32) -> Option<&AnnotationRange> {
        self.history.annotations.get(row as usize)
    }

    /// A name, cut where it is too long to read.
    pub(super) fn text(&self, name: StringId) -> String {
        cut(&self.snapshot.strings.text(name))
    }

    fn context(&self, name: Option<StringId>) -> String {
        name.map_or_else(|| "N/A".to_owned(), |name| self.text(name))
    }

    /// How many of so many rows are not told.
    pub(super) fn left_out(&self, all: usize) -> u32 {
        u32::try_from(all).unwrap_or(u32::MAX).saturating_sub(self.rows)
    }
}

/// What the annotations of one name come to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sum {
    name: StringId,
    count: u64,
    micros: u64,
    /// The first in which the most is live.
    highest: u32,
    pub(super) peak: u64,
    allocated: u64,
    freed: u64,
    kept: u64,
}

impl Sum {
    /// Of none yet; the first is this.
    pub(super) fn of(name: StringId, highest: u32) -> Sum {
        Sum { name, count: 0, micros: 0, highest, peak: 0, allocated: 0, freed: 0, kept: 0 }
    }

    pub(super) fn add(&mut self, history: &DeviceHistory, range: &AnnotationRange, at: u32, facts: Facts) {
        self.count += 1;
        self.micros = self.micros.saturating_add(micros(history, range));
        self.allocated = self.allocated.saturating_add(facts.allocated);
        self.freed = self.freed.saturating_add(facts.freed);
        self.kept = self.kept.saturating_add(facts.kept);
        if facts.peak > self.peak {
            (self.peak, self.highest) = (facts.peak, at);
        }
    }
}

/// How long an annotation is open; one that never ends, up to the last event.
fn micros(history: &DeviceHistory, range: &AnnotationRange) -> u64 {
    let end = range.end_us.or(history.numbers.time_us.map(|(_, last)| last)).unwrap_or(range.start_us);
    end.max(range.start_us).abs_diff(range.start_us)
}

/// What happened in a range, after the columns that say which.
pub(super) const FACTS: [[&str; 2]; 8] = [
    ["first_event", "first event"],
    ["last_event", "last event"],
    ["start_requested", "at start, requested"],
    ["end_requested", "at end, requested"],
    ["peak_requested", "most live, requested"],
    ["peak_event", "after event"],
    ["allocated_bytes", "allocated, requested"],
    ["freed_bytes", "freed, requested"],
];

/// The cells of these columns.
pub(super) fn facts_cells(span: Span, facts: Facts) -> impl Iterator<Item = Cell> {
    let is_empty = span.from == span.to;
    let event = |event: i64| if is_empty { Cell::Nothing } else { Cell::Event(event) };
    [
        event(span.from.into()),
        event(Moment(span.to).event_or_minus_one()),
        Cell::Bytes(facts.at_begin),
        Cell::Bytes(facts.at_end),
        Cell::Bytes(facts.peak),
        Cell::Event(Moment(facts.peak_moment).event_or_minus_one()),
        Cell::Bytes(facts.allocated),
        Cell::Bytes(facts.freed),
    ]
    .into_iter()
}

/// Annotations by name.
pub(super) fn names_sheet(names: &Names<'_>, sums: &[Sum], highest: &[u32], ranges: &Ranges) -> Sheet {
    let note = "Bytes of the whole device while one of them is open, the names with the most live first. Those of a name are added up: what happens in two of them at once counts twice. Kept: born in one and live after its end.";
    let columns = [
        ["name", "annotation"],
        ["count", "times"],
        ["duration_us", "open, in all"],
        ["peak_requested", "most live, requested"],
        ["allocated_bytes", "allocated, requested"],
        ["freed_bytes", "freed, requested"],
        ["kept_bytes", "kept, requested"],
    ];
    let mut sheet = sheet(["stages", "Annotations by name", note], &columns);
    for sum in highest.iter().take(names.rows as usize).filter_map(|&at| sums.get(at as usize)) {
        let cells = vec![
            Cell::Text(names.text(sum.name)),
            Cell::Count(sum.count),
            Cell::Micros(sum.micros),
            Cell::Bytes(sum.peak),
            Cell::Bytes(sum.allocated),
            Cell::Bytes(sum.freed),
            Cell::Bytes(sum.kept),
        ];
        let (span, facts) = ranges.at(sum.highest);
        sheet.rows.push(row(cells, shown(span, facts.peak_moment)));
    }
    sheet.left_out = names.left_out(sums.len());
    sheet
}

/// Annotations one by one: those in which the most is live, by time.
pub(super) fn occurrences_sheet(names: &Names<'_>, placed: &Placed, highest: &[u32], ranges: &Ranges) -> Sheet {
    let note = "Bytes of the whole device, in the order of time; where they are too many, those with the most live. Inside each other as they are indented. Kept: born in it and live after its end.";
    let columns =
        [&[["name", "annotation"]][..], &FACTS, &[["kept_bytes", "kept, requested"], ["duration_us", "open"]]];
    let mut sheet = sheet(["occurrences", "Annotations one by one", note], &columns.concat());
    let mut chosen: Vec<u32> = highest.iter().copied().take(names.rows as usize).collect();
    chosen.sort_unstable();
    for number in chosen {
        let Some(place) = placed.places.get(number as usize) else { continue };
        let Some(range) = names.range(place.row) else { continue };
        let (span, facts) = ranges.at(number);
        let mut name = names.text(range.name);
        if range.end_us.is_none() {
            name.push_str(" (never ended)");
        }
        let mut cells = vec![Cell::Text(name)];
        cells.extend(facts_cells(span, facts));
        cells.extend([Cell::Bytes(facts.kept), Cell::Micros(micros(names.history, range))]);
        let mut row = row(cells, shown(span, facts.peak_moment));
        row.depth = place.depth.min(DEEPEST);
        sheet.rows.push(row);
    }
    sheet.left_out = names.left_out(placed.places.len());
    sheet
}

/// Compiled regions.
pub(super) fn regions_sheet(names: &Names<'_>, regions: &[Region]) -> Sheet {
    let note = "What was allocated in each torch.compile region (compile_context; N/A: outside one, or not recorded). What was born before the trace is in none.";
    let columns = [
        ["name", "region"],
        ["peak_requested", "at peak, requested"],
        ["own_peak_requested", "own most, requested"],
        ["own_peak_event", "after event"],
        ["allocated_bytes", "allocated, requested"],
        ["allocations", "allocations"],
    ];
    let mut sheet = sheet(["compile_contexts", "Compiled regions", note], &columns);
    if regions.iter().all(|region| region.name.is_none()) {
        return sheet;
    }
    let weight = |region: &&Region| u128::from(!region.at_peak) << 64 | u128::from(!region.allocated);
    let regions = base::sorted::sorted_by_key(regions.iter().collect(), weight);
    for region in regions.iter().take(names.rows as usize) {
        let cells = vec![
            Cell::Text(names.context(region.name)),
            Cell::Bytes(region.at_peak),
            Cell::Bytes(region.peak),
            Cell::Event(Moment(region.peak_moment).event_or_minus_one()),
            Cell::Bytes(region.allocated),
            Cell::Count(region.count),
        ];
        sheet.rows.push(row(cells, at(region.peak_moment)));
    }
    sheet.left_out = names.left_out(regions.len());
    let sum = |part: fn(&Region) -> u64| regions.iter().fold(0u64, |sum, region| sum.saturating_add(part(region)));
    let (at_peak, allocated, count) = (sum(|it| it.at_peak), sum(|it| it.allocated), sum(|it| it.count));
    sheet.total = vec![
        Cell::Nothing,
        Cell::Bytes(at_peak),
        Cell::Nothing,
        Cell::Nothing,
        Cell::Bytes(allocated),
        Cell::Count(count),
    ];
    sheet
}
