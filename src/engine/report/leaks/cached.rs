//! Bytes that are reserved but free at the end of the trace, by segment.

use crate::open::OpenFile;
use crate::report::column::{self, sheet};
use crate::report::writer::{ReportWriter, bytes_text, evidence_row, is_notable, moment_evidence, threshold};
use crate::side::Side;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{sorted_numbers, two_part_key};
use base::units::{group_digits, percent, pluralize};
use history::snapshot::Segment;
use protocol::{Cell, ReportQuestion, SheetRow, Threshold, Tone};

/// Reserved, live and free bytes of a segment at the end of the trace.
struct SegmentUse {
    index: u32,
    total: u64,
    unused: u64,
    largest: u64,
    live: u64,
}

impl SegmentUse {
    /// Returns whether the segment has no live block.
    fn is_empty(&self) -> bool {
        self.live == 0 && self.total > 0
    }
}

/// Free bytes of each segment at the end of the trace.
pub(super) struct Cached {
    min_bytes: Threshold,
    next: usize,
    uses: Vec<SegmentUse>,
}

impl Cached {
    pub(super) fn new(question: &ReportQuestion) -> Cached {
        let min_bytes = threshold(question, ["unused", "at least", "bytes"], 1 << 20);
        Cached { min_bytes, next: 0, uses: Vec::new() }
    }

    /// Continues processing the segments until all are processed or the time slice is used up. The blocks of one
    /// segment are processed in a single time slice.
    pub(super) fn step(&mut self, Side { file, history }: Side<'_>, slice: &mut TimeSlice) -> SliceResult {
        while let Some(segment) = file.snapshot.segments.get(self.next) {
            let is_on_device = segment.device == history.device;
            slice.spend(if is_on_device { segment.blocks.len() as u32 } else { 0 } / 2 + 1)?;
            if is_on_device {
                self.uses.push(segment_use(file, self.next as u32, segment));
            }
            self.next += 1;
        }
        Ok(())
    }

    /// Writes the statements about free bytes and their table.
    pub(super) fn write(self, writer: &mut ReportWriter<'_>) {
        let Side { file, history } = writer.side;
        let last = history.event_count();
        let Cached { min_bytes, uses, .. } = self;
        let sum = |uses: &mut dyn Iterator<Item = &SegmentUse>| {
            uses.fold([0u64; 3], |[count, total, unused], it| {
                [count + 1, total.saturating_add(it.total), unused.saturating_add(it.unused)]
            })
        };
        let [_, total, unused] = sum(&mut uses.iter());
        let [whole, whole_bytes, _] = sum(&mut uses.iter().filter(|it| it.is_empty()));
        if total > 0 {
            let text = format!(
                "Free (cached) at the end: {} of {} reserved ({}).",
                bytes_text(unused),
                bytes_text(total),
                percent(unused, total)
            );
            writer.add_statement(Tone::Fact, text, Some(moment_evidence(last)));
            writer.set_parts_chart(&[("live blocks", total - unused.min(total)), ("free (cached)", unused)]);
        }
        if whole > 0 && is_notable(whole_bytes, total) {
            // empty_cache() keeps segments of private pools that a graph still uses, and pinned host memory.
            let is_private = |it: &SegmentUse| {
                let segment = file.snapshot.segments.get(it.index as usize);
                segment.and_then(|segment| segment.pool).is_some_and(|pool| pool != (0, 0))
            };
            let [releasable, releasable_bytes, _] = sum(&mut uses.iter().filter(|it| it.is_empty() && !is_private(it)));
            let is_device = history.device >= 0;
            let text = format!(
                "{} at the end: {}{}.",
                pluralize(whole, "empty segment"),
                bytes_text(whole_bytes),
                match () {
                    () if is_device && releasable == 0 => ", all in private pools".to_owned(),
                    () if is_device && releasable < whole => format!(
                        ". Of these, {} ({}) can be released; the rest belongs to private pools",
                        group_digits(releasable),
                        bytes_text(releasable_bytes)
                    ),
                    () if is_device => format!(
                        ". {}.empty_cache() returns this memory to the driver, without effect on the peak",
                        file.backend.module()
                    ),
                    () => String::new(),
                }
            );
            writer.add_statement(Tone::Fact, text, Some(moment_evidence(last)));
        }
        let ranked = uses.iter().zip(0..).filter(|(it, _)| it.unused >= min_bytes.value.max(1));
        let order = |it: &SegmentUse| two_part_key(u64::from(it.live > 0), !it.unused);
        let ranked = sorted_numbers(ranked.map(|(it, index)| (order(it), index)).collect());
        let ranked: Vec<(&SegmentUse, &Segment)> = ranked
            .into_iter()
            .filter_map(|index| {
                let it = uses.get(index as usize)?;
                Some((it, file.snapshot.segments.get(it.index as usize)?))
            })
            .collect();
        let [_, total, unused] = sum(&mut ranked.iter().map(|(it, _)| *it));
        type Row<'a> = (&'a SegmentUse, &'a Segment);
        let columns = [
            column::bytes("free_bytes", "free (cached)", |(it, _): Row<'_>| it.unused).total(Cell::Bytes(unused)),
            column::bytes("reserved_bytes", "reserved", |(it, _): Row<'_>| it.total).total(Cell::Bytes(total)),
            column::bytes("largest_free_bytes", "largest free block", |(it, _): Row<'_>| it.largest),
            column::count("live_blocks", "live blocks", |(it, _): Row<'_>| it.live),
            column::cell("address", "address", |(_, segment): Row<'_>| {
                segment.address.map_or(Cell::Empty, |address| Cell::Text(format!("0x{address:x}")))
            }),
            column::text("pool", "pool", |(_, segment): Row<'_>| pool_name(file, segment.pool, segment.small)),
            column::text("stream", "stream", |(_, segment): Row<'_>| stream_name(segment.stream)),
        ];
        let note = "Sizes as recorded in the file. Empty segments first.";
        let mut sheet = sheet(["cached", "Free (cached) at the end, by segment", note], &columns);
        sheet.threshold = Some(min_bytes);
        writer.add_sheet(sheet, &columns, &ranked, |writer, (_, segment)| SheetRow {
            stack: writer.lines.stack_lines(file, segment.stack),
            ..evidence_row(moment_evidence(last))
        });
    }
}

fn segment_use(file: &OpenFile, index: u32, segment: &Segment) -> SegmentUse {
    let rows = segment.blocks.start as usize..segment.blocks.end as usize;
    let blocks = file.snapshot.blocks.get(rows).unwrap_or_default();
    let (mut live, mut used, mut largest) = (0, 0u64, 0);
    for block in blocks {
        if block.state.is_live() {
            live += 1;
            used = used.saturating_add(block.size);
        } else {
            largest = block.size.max(largest);
        }
    }
    SegmentUse { index, total: segment.total_size, unused: segment.total_size.saturating_sub(used), largest, live }
}

/// Returns the display name of a pool and its size class.
pub(in crate::report) fn pool_name(file: &OpenFile, pool: Option<(u64, u64)>, small: bool) -> String {
    let mut name = match pool {
        None | Some((0, 0)) => "default".to_owned(),
        Some(pool) => file.groups.pool_label(pool),
    };
    name.push_str(if small { ", small blocks" } else { ", large blocks" });
    name
}

/// Returns the display name of a stream.
pub(in crate::report) fn stream_name(stream: Option<u64>) -> String {
    match stream {
        None => "not recorded".to_owned(),
        Some(0) => "default stream".to_owned(),
        Some(stream) => format!("stream {stream:#x}"),
    }
}
