//! Segments that can be released to the driver, and call sites whose blocks pin the others.

use super::moments::MUCH;
use crate::protocol::{Cell, PinnedBy, StateKept, Tone};
use crate::report::column::{self, sheet};
use crate::report::layout::Layout;
use crate::report::writing::{Writing, allocation, at, bytes, cut, when};
use base::units::counted;
use history::replay::AllocationId;

/// Minimum of free bytes in pinned segments for a statement.
const LEAST: u64 = 1 << 20;

/// Writes the statements and the sheet for the moment of `layout`.
pub(super) fn write(writing: &mut Writing<'_>, kept: &StateKept, layout: &Layout) {
    say(writing, kept, (layout.moment, layout.whole.reserved));
    write_sheet(writing, kept, layout.moment);
}

/// Writes statements about empty segments and about pinned ones.
fn say(writing: &mut Writing<'_>, kept: &StateKept, (moment, reserved): (u32, u64)) {
    let StateKept { empty, empty_private, pinned, by_site, .. } = kept;
    if empty.count > 0 {
        let segments = counted(empty.count.into(), "empty segment");
        let text = [segments, ", ".to_owned(), bytes(empty.bytes), ", can be released ".to_owned(), when(moment)];
        writing.say(Tone::Fact, text.concat() + ".", Some(at(moment)));
        if writing.history.device >= 0 {
            writing.fix("Call torch.cuda.empty_cache(). PyTorch does the same before an OOM.");
        }
    }
    if empty_private.count > 0 {
        let segments = counted(empty_private.count.into(), "empty segment");
        let text = [&segments, " of private pools, ", &bytes(empty_private.bytes), ", stay until the pool is freed."];
        writing.say(Tone::Fact, text.concat(), Some(at(moment)));
    }
    if let Some(first) = by_site.first().filter(|_| pinned.bytes >= LEAST) {
        let is_much = pinned.bytes >= MUCH && pinned.bytes >= reserved / 10;
        let text = [
            &counted(pinned.count.into(), "segment"),
            " pinned by one block: ",
            &bytes(pinned.bytes),
            " free (cached) cannot be released. Largest call site: ",
            &cut(&first.site),
            " (",
            &bytes(first.free.bytes),
            " in ",
            &counted(first.free.count.into(), "segment"),
            ").",
        ];
        let evidence = allocation(first.allocation, Some(moment));
        writing.say(if is_much { Tone::Alarm } else { Tone::Fact }, text.concat(), Some(evidence));
        writing.fix("Allocate long-lived tensors before large temporary ones, or set expandable_segments:True.");
    }
}

fn write_sheet(writing: &mut Writing<'_>, kept: &StateKept, moment: u32) {
    let reserved = kept.by_site.iter().fold(0u64, |sum, it| sum.saturating_add(it.reserved));
    let columns = [
        column::bytes("free_bytes", "≤ free (cached)", |it: &PinnedBy| it.free.bytes)
            .total(Cell::Bytes(kept.pinned.bytes)),
        column::count("segments", "segments", |it: &PinnedBy| it.free.count.into())
            .total(Cell::Count(kept.pinned.count.into())),
        column::bytes("reserved_bytes", "reserved", |it: &PinnedBy| it.reserved).total(Cell::Bytes(reserved)),
        column::text("call_site", "call site", |it: &PinnedBy| cut(&it.site)),
    ];
    let note = "Segments with a single live block, by the call site of that block. Expandable segments release free pages and are left out.";
    let mut sheet = sheet(["pinned", "Segments pinned by one block", note], &columns);
    let rows: Vec<&PinnedBy> = kept.by_site.iter().collect();
    sheet.left_out = kept.by_site.len() as u32 + kept.left_out;
    writing
        .fill(sheet, &columns, &rows, |writing, it| writing.allocation_row(AllocationId(it.allocation), Some(moment)));
}
