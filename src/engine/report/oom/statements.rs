//! Statements about an OOM. Each statement is only written if the recorded numbers support it.

use super::facts::{OomFacts, OomState};
use super::kind_sums::KindSums;
use super::request_pool::RequestPool;
use crate::report::settings::memory_fraction;
use crate::report::writer::{ReportWriter, bytes_text, moment_evidence};
use crate::side::Side;
use crate::state::{DRIVER_GRAIN, MIN_OWN_SEGMENT, SegmentSizing, driver_request_size, is_small, page_size};
use analysis::site;
use base::units::{group_digits, pluralize};
use history::replay::SegmentLifetimes;
use protocol::{Evidence, ReportQuestion, Span, Threshold, Tone};

/// Number of events before the OOM that are shown when its statement is clicked.
const SHOWN_EVENTS: u32 = 500;

/// Writes the statements about an OOM. `site` is the call site of the failed request. `exceeded` is the capacity of the
/// device if the request is larger, `implied_limit` the upper bound of the process's memory limit. `write_causes`
/// writes what could have been freed, after the statement about the request.
pub(super) fn write(
    writer: &mut ReportWriter<'_>,
    facts: &OomFacts,
    failure: &OomState,
    (site, lives): (&str, &SegmentLifetimes),
    (exceeded, implied_limit): (Option<u64>, Option<u64>),
    write_causes: impl FnOnce(&mut ReportWriter<'_>),
) {
    let side @ Side { file, history } = writer.side;
    let moment = failure.live.moment;
    let (kinds, live) = (&failure.by_kind.kinds, &failure.live);
    let has_segments = !file.snapshot.segments.is_empty() && facts.reserved > 0;
    let rounded = file.rounding.rounded(facts.request);
    let pool = RequestPool::new(side, facts, failure, lives);
    let matching = || kinds.iter().filter(|totals| pool.is_served_by(&totals.kind));
    let is_expandable = matching().any(|totals| totals.kind.expandable);
    let pages = if is_expandable { SegmentSizing::Expandable } else { SegmentSizing::Fixed };
    // What the driver has free does not limit the request then.
    let is_limited = facts.device_free.is_some_and(|free| free >= driver_request_size(rounded, pages));
    let free = facts.device_free.map_or_else(
        || "; free memory unknown (no device_free in the file)".to_owned(),
        |free| format!(", the device had {} free", bytes_text(free)),
    );
    let fraction = memory_fraction(&file.snapshot.settings);
    let limiter = fraction
        .map_or_else(|| "a memory fraction".to_owned(), |fraction| ["per_process_memory_fraction:", fraction].concat());
    // Otherwise the sentence says that a request failed that had room.
    let limit = if is_limited { format!(" ({limiter} likely limits the process)") } else { String::new() };
    let text = format!(
        "Out of memory at event {}{limit}: {} requested {}{free}.",
        group_digits(facts.event.into()),
        if ["", site::NO_STACK].contains(&site) { "the program" } else { site },
        bytes_text(facts.request)
    );
    let span = Span {
        from: moment.saturating_sub(SHOWN_EVENTS),
        to: moment.saturating_add(SHOWN_EVENTS / 10).min(history.event_count()),
    };
    writer.add_statement(Tone::Alarm, text.clone(), Some(Evidence { span: Some(span), ..moment_evidence(moment) }));
    writer.set_headline(text);
    if let Some(capacity) = exceeded {
        let text = format!(
            "This request alone is larger than all known device memory ({}): no allocator setting makes room for it.",
            bytes_text(capacity)
        );
        writer.add_statement(Tone::Alarm, text, None);
    }
    write_causes(writer);
    let reserved = if has_segments { &format!(", of {} reserved", bytes_text(facts.reserved)) } else { "" };
    let (bytes, count) = (bytes_text(facts.live), pluralize(live.count, "allocation"));
    let text = format!("Live at the OOM: {bytes} in {count}{reserved}.");
    writer.add_statement(Tone::Fact, text, Some(moment_evidence(moment)));
    if facts.paused > 0 {
        let text = format!(
            "Of the reserved bytes, {} are paused (not on the {}).",
            bytes_text(facts.paused),
            writer.side.backend().device()
        );
        writer.add_statement(Tone::Fact, text, Some(moment_evidence(moment)));
    }
    if has_segments {
        let free = facts.reserved.saturating_sub(facts.live);
        writer.set_parts_chart(&[
            ("live", facts.live),
            ("free (cached) and rounding", free),
            ("free on the device", facts.device_free.unwrap_or(0)),
            ("the request", facts.request),
        ]);
    }
    if let Some((text, evidence)) = live.describe_largest(side, "at the OOM") {
        writer.add_statement(Tone::Fact, text, Some(Evidence { moment: Some(moment), ..evidence }));
    }

    let (matching_free, all_free) =
        (sum_kinds(matching(), |totals| totals.sums.free), sum_kinds(kinds.iter(), |totals| totals.sums.free));
    let largest = matching().map(|totals| totals.sums.largest_free).max().unwrap_or(0);
    let blocks = sum_kinds(matching(), |totals| totals.sums.free_blocks.into());
    // Before it fails, PyTorch releases segments without a live block, and free pages of expandable segments
    // (`release_cached_blocks`). Segments of private pools stay, and all stay if the request is in a private pool.
    let releasable = |totals: &&KindSums| pool.releases_cached() && totals.kind.pool == Some((0, 0));
    let released = sum_kinds(kinds.iter().filter(releasable), |totals| {
        if totals.kind.expandable { totals.sums.free } else { totals.empty_segment_bytes }
    });
    let left_by_limit = implied_limit.map_or(u64::MAX, |limit| limit.saturating_sub(facts.reserved));
    let from_driver = facts.device_free.map_or(0, |free| free.min(left_by_limit).saturating_add(released));
    let needed = driver_request_size(rounded, pages);
    // Smaller requests need a segment that several share, which is larger.
    let is_own = from_driver >= needed || from_driver >= MIN_OWN_SEGMENT && !is_small(rounded);
    let grain = if is_expandable { page_size(is_small(rounded)) } else { DRIVER_GRAIN };
    let segment = if is_own { from_driver / grain * grain } else { 0 };
    let fits = largest.max(segment);
    let device_free = if is_limited { 0 } else { facts.device_free.unwrap_or(0) };
    pool.write(writer, failure, needed.saturating_sub(device_free));
    if let Some(device_free) = facts.device_free.filter(|_| has_segments && !is_limited) {
        let mut text = format!("Largest request that would have fitted: ≤ {}", bytes_text(fits));
        if fits == largest {
            text.push_str(", in the largest free block of this pool");
        } else {
            text.push_str(&match left_by_limit < device_free {
                true => format!(", in a new segment: the memory limit left ≤ {}", bytes_text(left_by_limit)),
                false => format!(", in a new segment: the device had {} free", bytes_text(device_free)),
            });
            if released > 0 {
                let what = if is_expandable { "free pages of segments" } else { "empty segments" };
                text.push_str(&format!(", and PyTorch first releases ≤ {} in {what}", bytes_text(released)));
            }
        }
        text.push_str(&match () {
            () if (rounded..needed).contains(&from_driver) => {
                format!("; a request of {} needs a segment of {}.", bytes_text(rounded), bytes_text(needed))
            }
            // The reason for the difference is only useful if no sum is shown.
            () if fits != largest && fits < from_driver && released == 0 => {
                let what = if is_expandable { "expandable segments grow by" } else { "segments are multiples of" };
                format!("; {what} {} MiB.", grain >> 20)
            }
            () => ".".to_owned(),
        });
        writer.add_statement(Tone::Fact, text, Some(moment_evidence(moment)));
    }
    if is_limited {
        let module = writer.side.backend().module();
        let function =
            if fraction.is_none() { format!(" ({module}.set_per_process_memory_fraction)") } else { String::new() };
        let text = format!(
            "The device had enough free for this request: {limiter} limits the process{function}, or the driver's memory is \
             fragmented."
        );
        writer.add_statement(Tone::Fact, text, None);
        if let Some(fraction) = fraction {
            let fix =
                ["Raise per_process_memory_fraction (recorded: ", fraction, "), if no other process needs the memory."];
            writer.set_fix(&fix.concat());
        }
    }
    if has_segments {
        let short_by = |free: u64| rounded.checked_sub(all_free.saturating_add(free)).filter(|&bytes| bytes > 0);
        let (tone, text) = if is_limited && (matching_free < rounded || largest >= rounded) {
            let text = format!(
                "Free (cached) in this pool: ≤ {}, largest block ≤ {}{}.",
                bytes_text(matching_free),
                bytes_text(largest),
                if largest >= rounded { ", but these are upper bounds" } else { "" }
            );
            (Tone::Fact, text)
        } else if largest >= rounded || from_driver >= needed && !is_limited {
            let text = "The request may have fitted: free bytes are upper bounds, and a memory fraction may limit the process.";
            (Tone::Fact, text.to_owned())
        } else if matching_free >= rounded {
            let text = format!(
                "Fragmentation: ≤ {} free (cached) in this pool, in {}, none large enough.",
                bytes_text(matching_free),
                pluralize(blocks, "block")
            );
            (Tone::Alarm, text)
        } else if let Some(bytes) = facts.device_free.and_then(short_by) {
            let text = format!(
                "Not fragmentation: free (cached) plus free device memory falls short by ≥ {}.",
                bytes_text(bytes)
            );
            (Tone::Fact, text)
        } else if let Some(device_free) = facts.device_free.filter(|_| all_free < rounded) {
            let text = format!(
                "Fragmentation: ≤ {} free (cached) and {} free on the device, enough together, but not in one block.",
                bytes_text(all_free),
                bytes_text(device_free)
            );
            (Tone::Alarm, text)
        } else if all_free < rounded {
            let text = format!("Free (cached): ≤ {}, less than the request.", bytes_text(all_free));
            (Tone::Fact, text)
        } else {
            let text = format!(
                "Free (cached): ≤ {}, but only ≤ {} in this pool. The rest belongs to other pools, streams or size classes.",
                bytes_text(all_free),
                bytes_text(matching_free)
            );
            (Tone::Fact, text)
        };
        writer.add_statement(tone, text, Some(moment_evidence(moment)));
    }
}

/// Writes the statements about what else was in memory at the OOM, and about other OOMs.
pub(super) fn write_rest(writer: &mut ReportWriter<'_>, facts: &OomFacts, failure: &OomState) {
    let (Side { file, history }, live) = (writer.side, &failure.live);
    let moment = live.moment;
    let has_segments = !file.snapshot.segments.is_empty() && facts.reserved > 0;
    if facts.awaiting_free > 0 {
        let text = format!(
            "Awaiting free: {}, freed by the program and still in use by another stream (record_stream).",
            bytes_text(facts.awaiting_free)
        );
        writer.add_statement(Tone::Fact, text, Some(moment_evidence(moment)));
    }
    if live.before_recording > 0 {
        let text = format!("Allocated before recording: {}.", bytes_text(live.before_recording));
        writer.add_statement(Tone::Fact, text, Some(moment_evidence(0)));
    }
    if has_segments && failure.state.outside_mapped.bytes > 0 {
        let text = format!(
            "{} of the live bytes are outside the recorded segments, so free bytes are less certain.",
            bytes_text(failure.state.outside_mapped.bytes)
        );
        writer.add_statement(Tone::Fact, text, None);
    }
    let count = history.oom_events().count();
    if count > 1 {
        let text = format!("{} in this trace.", pluralize(count as u64, "OOM"));
        writer.add_statement(Tone::Alarm, text, None);
    }
}

/// Writes statements about memory outside the allocator, based on values that NVML reported.
pub(super) fn write_recorded_outside(
    writer: &mut ReportWriter<'_>,
    facts: &OomFacts,
    others: u64,
    outside: Option<u64>,
) {
    if others > 0 {
        let backend = writer.side.backend();
        let text = format!("Other processes used {} of this {} (NVML).", bytes_text(others), backend.device());
        // Without the other processes, the request would have fitted.
        let is_cause = others.saturating_add(facts.device_free.unwrap_or(0)) >= facts.request;
        writer.add_statement(if is_cause { Tone::Alarm } else { Tone::Fact }, text, None);
        let fix = ["Stop them: ", backend.process_list(), " lists the processes on the ", backend.device(), "."];
        writer.set_fix(&if is_cause { fix.concat() } else { String::new() });
    }
    if let Some(outside) = outside {
        let text = format!(
            "This process used {} outside the allocator (NVML less reserved bytes: {}, libraries).",
            bytes_text(outside),
            writer.side.backend().outside()
        );
        writer.add_statement(Tone::Fact, text, None);
    }
}

/// Writes a statement about memory outside the allocator, which is inferred from the capacity. Does nothing if reserved
/// bytes are unknown.
pub(super) fn write_inferred_outside(
    writer: &mut ReportWriter<'_>,
    facts: &OomFacts,
    question: &ReportQuestion,
    capacity: &Threshold,
) {
    let Some(accounted) = facts.accounted().filter(|_| facts.reserved > 0) else { return };
    let outside = capacity.value.saturating_sub(accounted);
    let is_chosen = question.thresholds.iter().any(|(key, _)| *key == capacity.key);
    let text = if outside > 0 {
        let bound = if is_chosen { "" } else { "At least " };
        format!("{bound}{} of device memory was in use", bytes_text(outside))
    } else {
        let (accounted, device) = (bytes_text(accounted), writer.side.backend().device());
        format!("Reserved and free memory add up to {accounted}. {device} memory beyond that was in use")
    };
    let text = [&text, " outside the allocator (", writer.side.backend().outside(), ", other processes)."].concat();
    writer.add_statement(Tone::Fact, text, None);
}

fn sum_kinds<'a>(kinds: impl Iterator<Item = &'a KindSums>, value: impl Fn(&KindSums) -> u64) -> u64 {
    kinds.fold(0, |sum, kind| sum.saturating_add(value(kind)))
}
