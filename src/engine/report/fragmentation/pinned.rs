//! What could be released to the driver at a moment, and which call sites pin the rest.

use super::MUCH;
use crate::protocol::{Cell, PinnedBy, StateKept, StateSums, Tone};
use crate::report::column::{self, sheet};
use crate::report::layout::Layout;
use crate::report::writing::{Writing, allocation, at, bytes, cut, when};
use base::units::counted;
use history::replay::AllocationId;

/// Fewer free bytes than this are not worth a sentence.
const LEAST: u64 = 1 << 20;

/// Writes what is kept at the moment of a layout.
pub(super) fn write(writing: &mut Writing<'_>, kept: &StateKept, layout: &Layout) {
    say(writing, kept, (layout.moment, layout.whole.reserved));
    write_sheet(writing, kept, layout.moment);
}

/// What could be released, and what keeps the rest.
fn say(writing: &mut Writing<'_>, kept: &StateKept, (moment, reserved): (u32, u64)) {
    let StateKept { empty, empty_private, pinned, by_site, .. } = kept;
    if empty.segments > 0 {
        let segments = counted(empty.segments.into(), "empty segment");
        let text = [segments, ", ".to_owned(), bytes(empty.reserved), ", can be released ".to_owned(), when(moment)];
        writing.say(Tone::Fact, text.concat() + ".", Some(at(moment)));
        if writing.history.device >= 0 {
            writing.fix("torch.cuda.empty_cache() releases them; PyTorch does so itself before an OOM.");
        }
    }
    if empty_private.segments > 0 {
        let segments = counted(empty_private.segments.into(), "empty segment");
        let text =
            [&segments, " of private pools, ", &bytes(empty_private.reserved), ", stay until the pool is freed."];
        writing.say(Tone::Fact, text.concat(), Some(at(moment)));
    }
    if let Some(first) = by_site.first().filter(|_| pinned.free >= LEAST) {
        let is_much = pinned.free >= MUCH && pinned.free >= reserved / 10;
        let text = [
            &counted(pinned.segments.into(), "segment"),
            " pinned by one block: ",
            &bytes(pinned.free),
            " free (cached) cannot be released. Most by ",
            &cut(&first.site),
            " (",
            &bytes(first.sums.free),
            " in ",
            &counted(first.sums.segments.into(), "segment"),
            ").",
        ];
        let evidence = allocation(first.allocation, Some(moment));
        writing.say(if is_much { Tone::Alarm } else { Tone::Fact }, text.concat(), Some(evidence));
        writing.fix("Allocate what lives long before the large temporary tensors, or set expandable_segments:True.");
    }
}

fn write_sheet(writing: &mut Writing<'_>, kept: &StateKept, moment: u32) {
    let summed = |key, label, cell: fn(&StateSums) -> Cell| {
        column::cell(key, label, move |it: &PinnedBy| cell(&it.sums)).total(cell(&kept.pinned))
    };
    let columns = [
        summed("free_bytes", "≤ free (cached)", |sums| Cell::Bytes(sums.free)),
        summed("segments", "segments", |sums| Cell::Count(sums.segments.into())),
        summed("reserved_bytes", "reserved", |sums| Cell::Bytes(sums.reserved)),
        summed("live_bytes", "live", |sums| Cell::Bytes(sums.requested)),
        column::text("call_site", "call site", |it: &PinnedBy| cut(&it.site)),
    ];
    let note = "Segments with a single live block, by the call site of that block. Expandable segments release free pages and are left out.";
    let mut sheet = sheet(["pinned", "Segments pinned by one block", note], &columns);
    let rows: Vec<&PinnedBy> = kept.by_site.iter().collect();
    sheet.left_out = kept.by_site.len() as u32 + kept.left_out;
    writing
        .fill(sheet, &columns, &rows, |writing, it| writing.allocation_row(AllocationId(it.allocation), Some(moment)));
}
