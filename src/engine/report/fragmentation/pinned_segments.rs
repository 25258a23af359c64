//! Segments that can be released to the driver, and call sites whose blocks pin the others.

use super::moments::MIN_PROBLEM_BYTES;
use crate::report::column::{self, sheet};
use crate::report::layout::Layout;
use crate::report::writer::{
    ReportWriter, allocation_evidence, bytes_text, is_notable, moment_evidence, moment_text, truncate,
};
use analysis::site;
use base::units::pluralize;
use history::replay::AllocationId;
use protocol::{Cell, HeldBySite, SegmentsKept, Tone};

/// Minimum of free bytes in pinned segments for a statement.
const MIN_PINNED_BYTES: u64 = 1 << 20;

/// Writes the statements and the sheet for the moment of `layout`.
pub(super) fn write(writer: &mut ReportWriter<'_>, kept: &SegmentsKept, layout: &Layout) {
    write_statements(writer, kept, (layout.moment, layout.total.reserved));
    write_sheet(writer, kept, layout.moment);
}

/// Writes statements about empty segments and about pinned ones.
fn write_statements(writer: &mut ReportWriter<'_>, kept: &SegmentsKept, (moment, reserved): (u32, u64)) {
    let SegmentsKept { empty, empty_private, single_block: pinned, by_site, .. } = kept;
    if is_notable(empty.bytes, reserved) {
        let segments = pluralize(empty.count.into(), "empty segment");
        let how = match writer.side.history.device {
            ..0 => String::new(),
            _ => [" with ", writer.side.backend().module(), ".empty_cache(), as PyTorch does before an OOM"].concat(),
        };
        let text = format!("{segments}, {}, can be released {}{how}.", bytes_text(empty.bytes), moment_text(moment));
        writer.add_statement(Tone::Fact, text, Some(moment_evidence(moment)));
    }
    if empty_private.count > 0 {
        let segments = pluralize(empty_private.count.into(), "empty segment");
        let bytes = bytes_text(empty_private.bytes);
        let text = format!("{segments} of private pools, {bytes}, stay until the pool is freed.");
        writer.add_statement(Tone::Fact, text, Some(moment_evidence(moment)));
    }
    if let Some(first) =
        by_site.first().filter(|_| pinned.bytes >= MIN_PINNED_BYTES && is_notable(pinned.bytes, reserved))
    {
        let is_much = pinned.bytes >= MIN_PROBLEM_BYTES && pinned.bytes >= reserved / 10;
        let free = first.free;
        let largest = format!("{} in {}", bytes_text(free.bytes), pluralize(free.count.into(), "segment"));
        let text = format!(
            "{} pinned by one block: {} free (cached) cannot be released. {}",
            pluralize(pinned.count.into(), "segment"),
            bytes_text(pinned.bytes),
            site::largest_site(&truncate(&first.call_site), &largest)
        );
        let evidence = allocation_evidence(first.allocation, Some(moment));
        writer.add_statement(if is_much { Tone::Alarm } else { Tone::Fact }, text, Some(evidence));
    }
}

fn write_sheet(writer: &mut ReportWriter<'_>, kept: &SegmentsKept, moment: u32) {
    let reserved = kept.by_site.iter().fold(0u64, |sum, it| sum.saturating_add(it.reserved));
    let columns = [
        column::bytes("free_bytes", "≤ free (cached)", |it: &HeldBySite| it.free.bytes)
            .total(Cell::Bytes(kept.single_block.bytes)),
        column::count("segments", "segments", |it: &HeldBySite| it.free.count.into())
            .total(Cell::Count(kept.single_block.count.into())),
        column::bytes("reserved_bytes", "reserved", |it: &HeldBySite| it.reserved).total(Cell::Bytes(reserved)),
        column::text("call_site", "call site", |it: &HeldBySite| truncate(&it.call_site)),
    ];
    let note = "Segments with a single live block, by the call site of that block. Expandable segments release free pages and are left out.";
    let mut sheet = sheet(["pinned", "Segments pinned by one block", note], &columns);
    let rows: Vec<&HeldBySite> = kept.by_site.iter().collect();
    sheet.left_out = kept.by_site.len() as u32 + kept.left_out;
    writer.add_sheet(sheet, &columns, &rows, |writer, it| {
        writer.allocation_row(AllocationId(it.allocation), Some(moment))
    });
}
