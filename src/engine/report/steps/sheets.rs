//! Tables of the report on steps and annotations.

use super::region_bytes::Region;
use crate::report::column::{self, Column, sheet};
use crate::report::ranges::{RangeTotals, Ranges};
use crate::report::step_finder::PlacedAnnotations;
use crate::report::writer::{ReportWriter, evidence_row, moment_evidence, range_evidence, truncate};
use crate::side::Side;
use history::replay::{AnnotationRange, DeviceHistory};
use history::snapshot::{Snapshot, StringId};
use protocol::{Cell, SheetRow, Span};

/// Maximum indentation level of a table row.
const MAX_DEPTH: u32 = 64;

/// Returns the text of a name, truncated to a readable length.
pub(super) fn name_text(snapshot: &Snapshot, name: StringId) -> String {
    truncate(&snapshot.strings.text(name))
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

/// Writes the table of annotations by name. `highest` has the indices of `sums`, highest peak first.
pub(super) fn write_names(writer: &mut ReportWriter<'_>, sums: &[NameTotals], highest: &[u32], ranges: &Ranges) {
    let snapshot = writer.side.snapshot();
    let note = "Requested bytes of the whole device while the annotation is open, highest peak first. Annotations of one name are added up. Kept: allocated in one and live at its end.";
    let columns = [
        column::text("name", "annotation", |sum: &NameTotals| name_text(snapshot, sum.name)),
        column::count("count", "count", |sum: &NameTotals| sum.count),
        column::cell("duration_us", "total duration", |sum: &NameTotals| Cell::Micros(sum.micros)),
        column::bytes("peak_live_bytes", "peak", |sum: &NameTotals| sum.peak),
        column::bytes("requested_bytes", "requested", |sum: &NameTotals| sum.allocated),
        column::bytes("freed_bytes", "freed", |sum: &NameTotals| sum.freed),
        column::bytes("kept_bytes", "kept", |sum: &NameTotals| sum.kept),
    ];
    let sheet = sheet(["annotations", "Annotations by name", note], &columns);
    let rows: Vec<&NameTotals> = highest.iter().filter_map(|&index| sums.get(index as usize)).collect();
    writer.add_sheet(sheet, &columns, &rows, |_, sum| {
        let (span, facts) = ranges.range(sum.highest_index);
        evidence_row(range_evidence(span, facts.peak_moment))
    });
}

/// Writes the table of individual annotations. It contains the annotations with the highest peaks, in chronological
/// order. `highest` has the indices of the annotations, highest peak first.
pub(super) fn write_occurrences(
    writer: &mut ReportWriter<'_>,
    placed: &PlacedAnnotations,
    highest: &[u32],
    ranges: &Ranges,
) {
    let Side { file, history } = writer.side;
    let note = "Requested bytes of the whole device, in chronological order; if truncated, those with the highest peak. Indented by nesting. Kept: allocated in it and live at its end.";
    type Row<'a> = (&'a AnnotationRange, (Span, RangeTotals), u32);
    let name = |range: &AnnotationRange| {
        name_text(&file.snapshot, range.name) + if range.end_us.is_none() { " (no end)" } else { "" }
    };
    let mut columns = vec![column::text("name", "annotation", |(range, ..): Row<'_>| name(range))];
    columns.extend(facts_columns(|(_, facts, _): Row<'_>| facts));
    columns.extend([
        column::bytes("kept_bytes", "kept", |(_, (_, facts), _): Row<'_>| facts.kept),
        column::cell("duration_us", "duration", |(range, ..): Row<'_>| Cell::Micros(micros(history, range))),
    ]);
    let mut sheet = sheet(["occurrences", "Annotations one by one", note], &columns);
    let mut chosen: Vec<u32> = highest.iter().copied().take(writer.max_rows()).collect();
    chosen.sort_unstable();
    let row = |&number: &u32| {
        let annotation = placed.annotations.get(number as usize)?;
        Some((history.annotations.get(annotation.row as usize)?, ranges.range(number), annotation.depth))
    };
    let rows: Vec<Row<'_>> = chosen.iter().filter_map(row).collect();
    sheet.left_out = placed.annotations.len() as u32;
    writer.add_sheet(sheet, &columns, &rows, |_, (_, (span, facts), depth)| SheetRow {
        depth: depth.min(MAX_DEPTH),
        ..evidence_row(range_evidence(span, facts.peak_moment))
    });
}

/// Writes the table of compiled regions.
pub(super) fn write_regions(writer: &mut ReportWriter<'_>, regions: &[Region]) {
    let snapshot = writer.side.snapshot();
    let note = "Requested bytes by torch.compile region (compile_context; N/A: outside a region, or not recorded), without the baseline.";
    let sum = |part: fn(&Region) -> u64| regions.iter().fold(0u64, |sum, region| sum.saturating_add(part(region)));
    let columns = [
        column::text("name", "region", |region: &Region| {
            region.name.map_or_else(|| "N/A".to_owned(), |name| name_text(snapshot, name))
        }),
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
    let mut ranked: Vec<&Region> = regions.iter().collect();
    if regions.iter().all(|region| region.name.is_none()) {
        (sheet.total, ranked) = Default::default();
    }
    let weight = |region: &&Region| u128::from(!region.at_peak) << 64 | u128::from(!region.allocated);
    let ranked = base::sorted::sorted_by_key(ranked, weight);
    writer.add_sheet(sheet, &columns, &ranked, |_, region| evidence_row(moment_evidence(region.peak_moment)));
}
