//! Tables of the report on steps and annotations.

use super::region_bytes::Region;
use crate::report::column::{self, Column, cells, sheet};
use crate::report::ranges::{RangeTotals, Ranges};
use crate::report::step_finder::PlacedAnnotations;
use crate::report::writer::{evidence_row, moment_evidence, range_evidence, truncate};
use history::replay::{AnnotationRange, DeviceHistory};
use history::snapshot::{Snapshot, StringId};
use protocol::{Cell, Sheet, SheetRow, Span};

/// Maximum indentation level of a table row.
const MAX_DEPTH: u32 = 64;

/// Data that the tables are built from. `rows` is the maximum number of rows per table.
pub(super) struct SheetContext<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) history: &'a DeviceHistory,
    pub(super) rows: u32,
}

impl SheetContext<'_> {
    /// Returns the annotation with this index in the history.
    pub(super) fn range(&self, row: u32) -> Option<&AnnotationRange> {
        self.history.annotations.get(row as usize)
    }

    /// Returns the text of a name, truncated to a readable length.
    pub(super) fn text(&self, name: StringId) -> String {
        truncate(&self.snapshot.strings.text(name))
    }

    fn context(&self, name: Option<StringId>) -> String {
        name.map_or_else(|| "N/A".to_owned(), |name| self.text(name))
    }

    /// Returns the number of rows that have to be left out of `all` rows.
    pub(super) fn left_out(&self, all: usize) -> u32 {
        u32::try_from(all).unwrap_or(u32::MAX).saturating_sub(self.rows)
    }
}

/// Totals of all annotations that have the same name.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameTotals {
    name: StringId,
    count: u64,
    micros: u64,
    /// Index of the annotation with the highest peak. The first one if there are several.
    highest_index: u32,
    pub(super) peak: u64,
    allocated: u64,
    freed: u64,
    kept: u64,
}

impl NameTotals {
    /// Creates empty totals. `highest_index` is the index of the first annotation with this name.
    pub(super) fn new(name: StringId, highest_index: u32) -> NameTotals {
        NameTotals { name, count: 0, micros: 0, highest_index, peak: 0, allocated: 0, freed: 0, kept: 0 }
    }

    pub(super) fn add(&mut self, history: &DeviceHistory, range: &AnnotationRange, index: u32, facts: RangeTotals) {
        self.count += 1;
        self.micros = self.micros.saturating_add(micros(history, range));
        self.allocated = self.allocated.saturating_add(facts.allocated);
        self.freed = self.freed.saturating_add(facts.freed);
        self.kept = self.kept.saturating_add(facts.kept);
        if facts.peak > self.peak {
            (self.peak, self.highest_index) = (facts.peak, index);
        }
    }
}

/// Returns the duration of an annotation in µs. An annotation without an end lasts until the last event.
fn micros(history: &DeviceHistory, range: &AnnotationRange) -> u64 {
    let end = range.end_us.or(history.numbers.time_us.map(|(_, last)| last)).unwrap_or(range.start_us);
    end.max(range.start_us).abs_diff(range.start_us)
}

/// Returns table columns with the totals of a range. `of` returns the range and the totals for a row.
pub(super) fn facts_columns<'a, R>(of: impl Fn(R) -> (Span, RangeTotals) + Copy + 'a) -> [Column<'a, R>; 8] {
    let within = |span: Span, moment: u32| match span.from == span.to {
        true => Cell::Empty,
        false => column::moment_cell(moment),
    };
    [
        column::cell("first_event", "first event", move |row| {
            let span = of(row).0;
            within(span, span.from + 1)
        }),
        column::cell("last_event", "last event", move |row| {
            let span = of(row).0;
            within(span, span.to)
        }),
        column::bytes("start_live_bytes", "live at start", move |row| of(row).1.at_begin),
        column::bytes("end_live_bytes", "live at end", move |row| of(row).1.at_end),
        column::bytes("peak_live_bytes", "peak", move |row| of(row).1.peak),
        column::event("peak_event", "peak after event", move |row| of(row).1.peak_moment),
        column::bytes("requested_bytes", "requested", move |row| of(row).1.allocated),
        column::bytes("freed_bytes", "freed", move |row| of(row).1.freed),
    ]
}

/// Returns the table of annotations by name.
pub(super) fn names_sheet(context: &SheetContext<'_>, sums: &[NameTotals], highest: &[u32], ranges: &Ranges) -> Sheet {
    let note = "Requested bytes of the whole device while the annotation is open, highest peak first. Annotations of one name are added up. Kept: allocated in one and live at its end.";
    let columns = [
        column::text("name", "annotation", |sum: &NameTotals| context.text(sum.name)),
        column::count("count", "count", |sum: &NameTotals| sum.count),
        column::cell("duration_us", "total duration", |sum: &NameTotals| Cell::Micros(sum.micros)),
        column::bytes("peak_live_bytes", "peak", |sum: &NameTotals| sum.peak),
        column::bytes("requested_bytes", "requested", |sum: &NameTotals| sum.allocated),
        column::bytes("freed_bytes", "freed", |sum: &NameTotals| sum.freed),
        column::bytes("kept_bytes", "kept", |sum: &NameTotals| sum.kept),
    ];
    let mut sheet = sheet(["annotations", "Annotations by name", note], &columns);
    for sum in highest.iter().take(context.rows as usize).filter_map(|&index| sums.get(index as usize)) {
        let (span, facts) = ranges.range(sum.highest_index);
        sheet
            .rows
            .push(SheetRow { cells: cells(&columns, sum), ..evidence_row(range_evidence(span, facts.peak_moment)) });
    }
    sheet.left_out = context.left_out(sums.len());
    sheet
}

/// Returns the table of individual annotations. It contains the annotations with the highest peaks, in chronological
/// order.
pub(super) fn occurrences_sheet(
    context: &SheetContext<'_>,
    placed: &PlacedAnnotations,
    highest: &[u32],
    ranges: &Ranges,
) -> Sheet {
    let note = "Requested bytes of the whole device, in chronological order; if truncated, those with the highest peak. Indented by nesting. Kept: allocated in it and live at its end.";
    type Row<'a> = (&'a AnnotationRange, (Span, RangeTotals));
    let name =
        |range: &AnnotationRange| context.text(range.name) + if range.end_us.is_none() { " (no end)" } else { "" };
    let mut columns = vec![column::text("name", "annotation", |(range, _): Row<'_>| name(range))];
    columns.extend(facts_columns(|(_, facts): Row<'_>| facts));
    columns.extend([
        column::bytes("kept_bytes", "kept", |(_, (_, facts)): Row<'_>| facts.kept),
        column::cell("duration_us", "duration", |(range, _): Row<'_>| Cell::Micros(micros(context.history, range))),
    ]);
    let mut sheet = sheet(["occurrences", "Annotations one by one", note], &columns);
    let mut chosen: Vec<u32> = highest.iter().copied().take(context.rows as usize).collect();
    chosen.sort_unstable();
    for number in chosen {
        let Some(annotation) = placed.annotations.get(number as usize) else { continue };
        let Some(range) = context.range(annotation.row) else { continue };
        let (span, facts) = ranges.range(number);
        let cells = cells(&columns, (range, (span, facts)));
        let depth = annotation.depth.min(MAX_DEPTH);
        sheet.rows.push(SheetRow { cells, depth, ..evidence_row(range_evidence(span, facts.peak_moment)) });
    }
    sheet.left_out = context.left_out(placed.annotations.len());
    sheet
}

/// Returns the table of compiled regions.
pub(super) fn regions_sheet(context: &SheetContext<'_>, regions: &[Region]) -> Sheet {
    let note = "Requested bytes by torch.compile region (compile_context; N/A: outside a region, or not recorded), without the baseline.";
    let sum = |part: fn(&Region) -> u64| regions.iter().fold(0u64, |sum, region| sum.saturating_add(part(region)));
    let columns = [
        column::text("name", "region", |region: &Region| context.context(region.name)),
        column::bytes("peak_live_bytes", "live at the peak", |region: &Region| region.at_peak)
            .total(Cell::Bytes(sum(|it| it.at_peak))),
        column::bytes("own_peak_live_bytes", "own peak", |region: &Region| region.peak),
        column::event("own_peak_event", "own peak after event", |region: &Region| region.peak_moment),
        column::bytes("requested_bytes", "requested", |region: &Region| region.allocated)
            .total(Cell::Bytes(sum(|it| it.allocated))),
        column::count("allocations", "allocations", |region: &Region| region.count)
            .total(Cell::Count(sum(|it| it.count))),
    ];
    let mut sheet = sheet(["compile_contexts", "Compiled regions", note], &columns);
    if regions.iter().all(|region| region.name.is_none()) {
        sheet.total = Vec::new();
        return sheet;
    }
    let weight = |region: &&Region| u128::from(!region.at_peak) << 64 | u128::from(!region.allocated);
    let regions = base::sorted::sorted_by_key(regions.iter().collect(), weight);
    for region in regions.iter().copied().take(context.rows as usize) {
        sheet
            .rows
            .push(SheetRow { cells: cells(&columns, region), ..evidence_row(moment_evidence(region.peak_moment)) });
    }
    sheet.left_out = context.left_out(regions.len());
    sheet
}
