//! Stranded bytes in the report: free memory at the driver request that set peak reserved, and what pins it.

use super::moments::peak_reserved_moment;
use crate::report::column::{self, sheet};
use crate::report::layout::DriverRequest as PeakRequest;
use crate::report::leaks::{pool_name, stream_name};
use crate::report::site_sums::{label, site_of};
use crate::report::writer::{
    ReportWriter, allocation_evidence, bytes_text, evidence_row, freed_by_cell, moment_evidence, truncate,
};
use crate::side::Side;
use crate::stranded::{DriverRequest, Frees, Headline, KindHoles, Ledger, Pins, Reason};
use analysis::site;
use base::sorted::{sorted_by_key, two_part_key};
use base::units::{EventIdx, Moment, group_digits, percent, pluralize};
use history::replay::{AllocationId, DeviceHistory, SegmentKind, SegmentLifetimes};
use protocol::{Cell, SheetRow, Tone};

/// Keys and labels of the columns with stranded bytes, by [`Reason`].
const REASON_COLUMNS: [[&str; 2]; 4] = [
    ["stranded_another_pool_bytes", "another pool"],
    ["stranded_size_class_bytes", "another size class"],
    ["stranded_another_stream_bytes", "another stream"],
    ["stranded_too_small_bytes", "too small"],
];

/// Starts the pass, with the driver request that set peak reserved as the headline.
pub(super) fn ledger(side: Side<'_>, lives: &SegmentLifetimes) -> Ledger {
    let peak = PeakRequest::before(side, lives, peak_reserved_moment(side.history));
    Ledger::new(peak.map(|request| request.event))
}

/// Stranded bytes of a device, ready to be written.
struct Stranded<'a> {
    ledger: &'a Ledger,
    lives: &'a SegmentLifetimes,
    headline: &'a Headline,
    request: DriverRequest,
}

/// Writes statements and sheets. `all` adds the sheet of all driver requests.
pub(super) fn write(writer: &mut ReportWriter<'_>, ledger: &Ledger, lives: &SegmentLifetimes, all: bool) {
    let headline = ledger.headline.as_ref();
    match headline.and_then(|headline| Some((headline, ledger.requests.get(headline.request as usize)?))) {
        Some((headline, request)) => {
            let stranded = Stranded { ledger, lives, headline, request };
            stranded.write_statements(writer);
            stranded.write_kinds(writer);
            stranded.write_pins(writer);
            stranded.write_frees(writer);
        }
        None if lives.ranges.is_empty() => {}
        None => {
            let text = "Stranded at peak reserved: unknown. No recorded driver request set the peak.";
            writer.add_statement(Tone::Fact, text.to_owned(), None);
        }
    }
    if all {
        write_requests(writer, ledger, lives);
    }
}

/// Returns the bytes that the program requested when the driver was asked, if they are known.
fn requested(history: &DeviceHistory, request: &DriverRequest) -> Option<u64> {
    (request.cause != request.event).then(|| history.address_and_size(EventIdx(request.cause)).1)
}

/// Returns the call site of the allocation that caused a driver request. `None` if the allocation is unknown or has no
/// stack.
fn request_site(side: Side<'_>, request: &DriverRequest) -> Option<String> {
    let site = side.history.allocation_of(EventIdx(request.cause)).map(|id| site_of(side, id));
    site.filter(|name| name != site::NO_STACK)
}

impl Stranded<'_> {
    fn kind(&self, kind: u32) -> Option<&SegmentKind> {
        self.lives.kinds().get(kind as usize)
    }

    fn write_statements(&self, writer: &mut ReportWriter<'_>) {
        let (side, request) = (writer.side, &self.request);
        let moment = request.event;
        let reserved = u64::try_from(side.history.reserved_at(Moment(moment))).unwrap_or(0);
        let grown = side.history.address_and_size(EventIdx(moment)).1;
        let total = request.total();
        let site = request_site(side, request).unwrap_or_else(|| "the program".to_owned());
        let needs = requested(side.history, request).map_or_else(|| "memory".to_owned(), bytes_text);
        let text = format!(
            "Stranded at peak reserved: {} of {} ({}). At event {}, {site} requested {needs} and reserved grew by {}.",
            bytes_text(total),
            bytes_text(reserved),
            percent(total, reserved),
            group_digits(request.cause.into()),
            bytes_text(grown)
        );
        writer.add_statement(Tone::Fact, text, Some(moment_evidence(moment)));
        let by_reason = sorted_by_key(Reason::ALL.to_vec(), |reason| u128::from(!request.bytes(*reason)));
        let parts: Vec<(&str, u64)> =
            by_reason.iter().map(|&reason| (reason.label(), request.bytes(reason))).filter(|part| part.1 > 0).collect();
        writer.set_parts_chart(&parts);
        if total == 0 {
            return;
        }
        let parts: Vec<String> = by_reason
            .iter()
            .filter(|&&reason| request.bytes(reason) > 0)
            .map(|&reason| bytes_text(request.bytes(reason)) + reason.words())
            .collect();
        let text = format!("Not usable for this request: {}.", parts.join(", "));
        writer.add_statement(Tone::Fact, text, Some(moment_evidence(moment)));
        let unpinned = self.headline.kinds.iter().fold(0u64, |sum, kind| sum.saturating_add(kind.unpinned));
        if unpinned > 0 {
            let text = format!("In free segments and pages, pinned by no block: {}.", bytes_text(unpinned));
            writer.add_statement(Tone::Fact, text, Some(moment_evidence(moment)));
        }
        let top = self.headline.ranked_pins().first().copied();
        if let Some((group, pins)) = top.and_then(|group| Some((group, *self.headline.pins.get(group as usize)?))) {
            let id = AllocationId(pins.largest);
            // At least this much of what the call site pins is of the request's pool, size class and stream.
            let own = (pins.bytes.saturating_add(request.bytes(Reason::TooSmall))).saturating_sub(total);
            let is_cause = requested(side.history, request).is_some_and(|bytes| own >= bytes && own >= total / 2);
            let (cause, pinned) = (group_digits(request.cause.into()), bytes_text(pins.bytes));
            let text = format!(
                "{} by {} {}. Largest pin: {} by the block of {} allocated {}.",
                match is_cause {
                    true => format!("Reserved grew at event {cause} because {pinned} are pinned"),
                    false => format!("Pinned at event {cause}: {pinned}"),
                },
                pluralize(pins.blocks, "block"),
                site::with_site("of", &label(side, group)),
                bytes_text(pins.largest_bytes),
                bytes_text(side.history.allocations.size(id)),
                match side.history.allocations.allocated_at(id).event() {
                    Some(EventIdx(event)) => format!("at event {}", group_digits(event.into())),
                    None => "before recording".to_owned(),
                }
            );
            let evidence = allocation_evidence(pins.largest, Some(moment));
            writer.add_statement(Tone::Fact, text, Some(evidence));
        }
    }

    /// Writes stranded bytes by reason, pool, size class and stream.
    fn write_kinds(&self, writer: &mut ReportWriter<'_>) {
        let (file, total) = (writer.side.file, self.request.total());
        let columns = [
            column::bytes("stranded_bytes", "stranded", |it: &KindHoles| it.bytes).total(Cell::Bytes(total)),
            column::share("share", "share", |it: &KindHoles| (it.bytes, total)),
            column::text("reason", "reason", |it: &KindHoles| it.reason.label().to_owned()),
            column::text("pool", "pool", |it: &KindHoles| {
                self.kind(it.kind).map_or_else(String::new, |kind| pool_name(file, kind.pool, kind.small))
            }),
            column::text("stream", "stream", |it: &KindHoles| {
                stream_name(self.kind(it.kind).and_then(|kind| kind.stream))
            }),
            column::count("holes", "holes", |it: &KindHoles| it.holes),
            column::bytes("largest_hole_bytes", "largest hole", |it: &KindHoles| it.largest_hole),
            column::bytes("unpinned_bytes", "in free segments and pages", |it: &KindHoles| it.unpinned),
        ];
        let note = "Reserved and free just before the driver request that set peak reserved.";
        let kinds = self.headline.kinds.iter().filter(|it| it.bytes > 0).collect();
        let ranked = sorted_by_key(kinds, |it: &&KindHoles| u128::from(!it.bytes));
        let sheet = sheet(["stranded", "Stranded bytes, by reason", note], &columns);
        writer.add_sheet(sheet, &columns, &ranked, |_, _| evidence_row(moment_evidence(self.request.event)));
    }

    /// Writes the call sites of the blocks that pin stranded bytes.
    fn write_pins(&self, writer: &mut ReportWriter<'_>) {
        let side = writer.side;
        let pins = |group: u32| self.headline.pins.get(group as usize).copied().unwrap_or_default();
        let ranked = self.headline.ranked_pins();
        let sum = |of: fn(Pins) -> u64| ranked.iter().fold(0u64, |sum, &group| sum.saturating_add(of(pins(group))));
        let columns = [
            column::bytes("pinned_bytes", "pinned", |group| pins(group).bytes).total(Cell::Bytes(sum(|it| it.bytes))),
            column::count("blocks", "blocks", |group| pins(group).blocks).total(Cell::Count(sum(|it| it.blocks))),
            column::bytes("largest_pinned_bytes", "by one block", |group| pins(group).largest_bytes),
            column::text("call_site", "call site", |group| label(side, group)),
        ];
        let note = "A hole is pinned by the live blocks below and above it, half each. In expandable segments, only pages that are not \
                    entirely free are pinned.";
        let sheet = sheet(["stranded_by_block", "Stranded bytes, by the blocks that pin them", note], &columns);
        writer.add_sheet(sheet, &columns, &ranked, |writer, group| {
            writer.allocation_row(AllocationId(pins(group).largest), Some(self.request.event))
        });
    }

    /// Writes the call sites of the frees that made the holes.
    fn write_frees(&self, writer: &mut ReportWriter<'_>) {
        let Side { file, history } = writer.side;
        let event = |event: Option<u32>| event.map_or(Cell::Empty, |event| Cell::Event(event.into()));
        let columns = [
            column::bytes("stranded_bytes", "stranded", |it: &Frees| it.bytes).total(Cell::Bytes(self.request.total())),
            column::count("holes", "holes", |it: &Frees| it.pieces),
            column::count("stranded_byte_events", "byte·events", |it: &Frees| it.byte_events),
            column::cell("freed_at", "freed at event", |it: &Frees| {
                if it.is_recorded() { freed_by_cell(history, AllocationId(it.allocation)) } else { Cell::Empty }
            }),
            column::cell("exposed_at", "then driver request at event", |it: &Frees| {
                event(self.ledger.requests.get(it.exposed as usize).map(|request| request.event))
            }),
            column::text("call_site", "call site of the free", |it: &Frees| match it.site {
                Some(frame) => truncate(&site::short(&file.snapshot, file.snapshot.frames.frame(frame))),
                None if it.is_recorded() => site::NO_STACK.to_owned(),
                None => "no recorded free (new segment, or free before recording)".to_owned(),
            }),
        ];
        let note = "byte·events: bytes × events from the free to the last driver request that found them free, over the whole trace. The \
                    events in a row are those of its largest hole.";
        let some = self.ledger.frees.iter().filter(|it| it.bytes > 0 || it.byte_events > 0).collect();
        let ranked = sorted_by_key(some, |it: &&Frees| two_part_key(!it.bytes, !it.byte_events));
        let sheet = sheet(["stranded_by_free", "Stranded bytes, by the free that made the hole", note], &columns);
        writer.add_sheet(sheet, &columns, &ranked, |writer, it| {
            if !it.is_recorded() {
                return evidence_row(moment_evidence(self.request.event));
            }
            let stack = writer.lines.stack_lines(file, it.stack);
            let moment = history.allocations.freed_at(AllocationId(it.allocation)).map(|moment| moment.0);
            SheetRow { stack, ..evidence_row(allocation_evidence(it.allocation, moment)) }
        });
    }
}

/// Writes all driver requests, with what was stranded at each.
fn write_requests(writer: &mut ReportWriter<'_>, ledger: &Ledger, lives: &SegmentLifetimes) {
    let side = writer.side;
    // Declared before the columns, which borrow the rows.
    let requests: Vec<DriverRequest> = ledger.requests.iter().collect();
    let kind = |it: &DriverRequest| lives.kinds().get(it.kind as usize);
    let mut columns = vec![
        column::event("event", "event", |it: &DriverRequest| Moment::after(EventIdx(it.event)).0),
        column::cell("requested_bytes", "requested", |it: &DriverRequest| {
            requested(side.history, it).map_or(Cell::Empty, Cell::Bytes)
        }),
        column::bytes("grown_bytes", "reserved grew by", |it: &DriverRequest| {
            side.history.address_and_size(EventIdx(it.event)).1
        }),
        column::bytes("stranded_bytes", "stranded", |it: &DriverRequest| it.total()),
    ];
    columns.extend(
        REASON_COLUMNS
            .into_iter()
            .zip(Reason::ALL)
            .map(|([key, label], reason)| column::bytes(key, label, move |it: &DriverRequest| it.bytes(reason))),
    );
    columns.extend([
        column::text("pool", "pool", |it: &DriverRequest| {
            kind(it).map_or_else(String::new, |kind| pool_name(side.file, kind.pool, kind.small))
        }),
        column::text("stream", "stream", |it: &DriverRequest| stream_name(kind(it).and_then(|kind| kind.stream))),
        column::text("call_site", "call site", |it: &DriverRequest| request_site(side, it).unwrap_or_default()),
    ]);
    let note = "Most stranded bytes first. A sum over the rows would count the same free bytes several times.";
    let ranked = sorted_by_key(requests.iter().collect(), |it: &&DriverRequest| u128::from(!it.total()));
    let sheet = sheet(["driver_requests", "Driver requests", note], &columns);
    writer.add_sheet(sheet, &columns, &ranked, |_, it| evidence_row(moment_evidence(it.event)));
}
