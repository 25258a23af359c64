//! Statements and tables about lifetimes.

use crate::moments::elapsed_us;
use crate::report::column;
use crate::report::column::sheet;
use crate::report::leaks::held::held_by;
use crate::report::recording::{without_events, without_stacks};
use crate::report::site_sums::{SiteSums, site_of};
use crate::report::writer::{ReportWriter, allocation_evidence, bytes_text, freed_by_cell, moment_evidence};
use crate::side::Side;
use analysis::site;
use base::units::{Moment, duration_us, group_digits, percent, pluralize};
use history::replay::{AllocationId, Curve};
use protocol::{Cell, Grouping, Threshold, Tone};

pub(super) fn write_awaiting_at_end(writer: &mut ReportWriter<'_>, awaiting: &SiteSums) {
    let side = writer.side;
    let ranked = awaiting.ranked(1);
    let Some(&first) = ranked.first() else { return };
    let (bytes, count) = awaiting.total(&ranked);
    let mut text = format!(
        "{} await their free at the end, in {}: the program has freed them, and another stream may still use them.",
        bytes_text(bytes),
        pluralize(count, "allocation")
    );
    if without_stacks(side.file).is_none() {
        let largest = bytes_text(awaiting.get(first).bytes);
        text.push_str(&[" ", &*site::largest_site(&awaiting.name(side, first), &largest)].concat());
    }
    let evidence = allocation_evidence(awaiting.get(first).largest, Some(side.history.event_count()));
    writer.add_statement(Tone::Fact, text, Some(evidence));
}

pub(super) fn write_never_freed(writer: &mut ReportWriter<'_>, never_freed: &SiteSums, min_bytes: Threshold) {
    let side = writer.side;
    let last = side.history.event_count();
    let end = side.history.numbers.end;
    let ranked = never_freed.ranked(min_bytes.value.max(1));
    let total = never_freed.total(&ranked);
    if let Some(&first) = ranked.first() {
        let largest = without_stacks(side.file).unwrap_or_else(|| {
            site::largest_site(&never_freed.name(side, first), &bytes_text(never_freed.get(first).bytes))
        });
        let text = format!(
            "Allocated in the trace and never freed: {} ({} of live bytes at the end), in {}. {largest}",
            bytes_text(total.0),
            percent(total.0, end),
            pluralize(total.1, "allocation"),
        );
        writer.add_statement(Tone::Fact, text, Some(allocation_evidence(never_freed.get(first).largest, Some(last))));
    } else if without_events(side).is_none() {
        writer.add_statement(
            Tone::Good,
            format!("No call site holds {} or more that is never freed.", bytes_text(min_bytes.value.max(1))),
            Some(moment_evidence(last)),
        );
    }
    let allocated_at = |id| side.history.allocations.allocated_at(AllocationId(id)).0;
    let mut columns = vec![
        column::bytes("live_bytes", "live at the end", |group| never_freed.get(group).bytes)
            .total(Cell::Bytes(total.0)),
        column::share("share", "share of live bytes", |group| (never_freed.get(group).bytes, end))
            .total(Cell::Share { part: total.0, whole: end }),
        column::count("count", "allocations", |group| never_freed.get(group).count).total(Cell::Count(total.1)),
        column::event("first_allocated_at", "first allocated at event", |group| {
            allocated_at(never_freed.get(group).first)
        }),
        column::event("last_allocated_at", "last allocated at event", |group| {
            allocated_at(never_freed.get(group).last)
        }),
        column::text("call_site", "call site", |group| never_freed.name(side, group)),
    ];
    if !side.file.snapshot.recorder.observed.holders.is_empty() {
        columns.push(column::text("held_by", "held by", |group| {
            never_freed.get(group).held.map_or_else(String::new, |id| held_by(side, AllocationId(id)))
        }));
    }
    let note = "Not necessarily a leak: optimizer state of the first step and memory of an unfinished step are listed as well. Growth per \
                step, measured from the end of the second step, is the stronger sign.";
    let mut sheet = sheet(["alive", "Allocated in the trace, never freed", note], &columns);
    sheet.threshold = Some(min_bytes);
    writer.add_sheet(sheet, &columns, &ranked, |writer, group| writer.site_row(never_freed, group, Some(last)));
}

pub(super) fn write_delayed(
    writer: &mut ReportWriter<'_>,
    ranked: Vec<u32>,
    (count, all): (u32, u64),
    min_wait: Threshold,
) {
    let side @ Side { file, history } = writer.side;
    let waited = |id| side.device_data().awaiting_free(AllocationId(id)).unwrap_or_default();
    let elapsed = |[from, to]: [u32; 2]| {
        let [from, to] = [from, to].map(|moment| Moment(moment).event());
        elapsed_us(history, from?, to?)
    };
    if let Some(&longest) = ranked.first() {
        let span = waited(longest);
        let mut text = format!(
            "{} took longer than {} to complete ({}), the slowest {}",
            pluralize(count.into(), "free"),
            pluralize(min_wait.value, "event"),
            bytes_text(all),
            pluralize((span[1] - span[0]).into(), "event")
        );
        if let Some(us) = elapsed(span) {
            text.push_str(&format!(" ({})", duration_us(us)));
        }
        let change = |event| history.awaiting_free_change(event);
        let peak = Curve::new(&history.awaiting_free, &change).max_in(0..history.event_count().saturating_add(1));
        let peak = peak.filter(|&(_, bytes)| bytes > 0);
        if let Some((_, bytes)) = peak {
            text.push_str(&format!(". Maximum awaiting free at once: {}", bytes_text(bytes.unsigned_abs())));
        }
        text.push('.');
        writer.add_statement(Tone::Fact, text, Some(allocation_evidence(longest, peak.map(|(moment, _)| moment.0))));
    } else if without_events(side).is_none() {
        let text = format!("No free took longer than {} to complete.", pluralize(min_wait.value, "event"));
        writer.add_statement(Tone::Good, text, None);
    }
    let stream_of = |id| file.groups.group_of(&file.snapshot, history, AllocationId(id), Grouping::Stream);
    let columns = [
        column::count("waited_events", "events waited", |id| (waited(id)[1] - waited(id)[0]).into()),
        column::cell("waited_us", "time waited", |id| {
            elapsed(waited(id)).map_or(Cell::Empty, |us| Cell::Micros(us.unsigned_abs()))
        }),
        column::bytes("requested_bytes", "requested", |id| history.allocations.size(AllocationId(id)))
            .total(Cell::Bytes(all)),
        column::event("free_requested_at", "free requested at event", |id| waited(id)[0]),
        column::cell("free_completed_at", "free completed at event", |id| freed_by_cell(history, AllocationId(id))),
        column::text("stream", "stream", |id| side.group_label(Grouping::Stream, stream_of(id))),
        column::text("call_site", "call site", |id| site_of(side, AllocationId(id))),
    ];
    let note = "Between free_requested and free_completed another stream may still use the block, so it cannot be reused. Usually that \
                takes one event. Longest first.";
    let mut sheet = sheet(["late", "Delayed frees", note], &columns);
    sheet.threshold = Some(min_wait);
    sheet.left_out = count;
    writer
        .add_sheet(sheet, &columns, &ranked, |writer, id| writer.allocation_row(AllocationId(id), Some(waited(id)[0])));
}

pub(super) fn write_short_lived(writer: &mut ReportWriter<'_>, short_lived: &SiteSums, max_lifetime: Threshold) {
    let side = writer.side;
    let ranked = short_lived.ranked(0);
    let total = short_lived.total(&ranked);
    if let Some(&first) = ranked.first() {
        let mut text = format!(
            "{} of {} freed within {}.",
            group_digits(total.1),
            pluralize(side.history.allocations.len() as u64, "allocation"),
            pluralize(max_lifetime.value, "event")
        );
        if without_stacks(side.file).is_none() {
            text.push_str(&[" ", &*site::largest_site(&short_lived.name(side, first), "")].concat());
        }
        writer.add_statement(Tone::Fact, text, Some(allocation_evidence(short_lived.get(first).largest, None)));
    }
    let columns = [
        column::bytes("requested_bytes", "total requested", |group| short_lived.get(group).bytes)
            .total(Cell::Bytes(total.0)),
        column::count("count", "allocations", |group| short_lived.get(group).count).total(Cell::Count(total.1)),
        column::bytes("largest_bytes", "largest", |group| short_lived.get(group).largest_bytes),
        column::text("call_site", "call site", |group| short_lived.name(side, group)),
    ];
    let note =
        "Bytes are summed over the trace and need not be live at the same time. Each allocation costs allocator time.";
    let mut sheet = sheet(["brief", "Short-lived allocations", note], &columns);
    sheet.threshold = Some(max_lifetime);
    writer.add_sheet(sheet, &columns, &ranked, |writer, group| {
        let allocated_at = side.history.allocations.allocated_at(AllocationId(short_lived.get(group).largest)).0;
        writer.site_row(short_lived, group, Some(allocated_at))
    });
}
