//! Insight on fragmentation: reserved bytes lost because blocks are larger than requests (internal) or because free
//! bytes are scattered (external), when it was worst, and whether it caused a request to the driver.

mod free_memory;
mod moments;
mod over_time;
mod pinned_segments;
mod stranded_bytes;

use super::insight::{Given, Insight, Need};
use super::layout::{DriverRequest, Layout, kind_name};
use super::leaks::{pool_name, stream_name};
use super::settings::keeps_blocks_whole;
use super::simulated::Simulated;
use super::writer::{ReportWriter, bytes_text, evidence_row, moment_evidence, moment_text, threshold};
use crate::report::column::{self, sheet};
use crate::state::{PlacementSearch, ReleasableSegments};
use base::slice::{SliceResult, TimeSlice};
use base::units::{EventIdx, group_digits, percent, pluralize};
pub(super) use free_memory::FreeMemory;
use history::replay::SegmentLifetimes;
pub(super) use moments::{MIN_PROBLEM_BYTES, newest_oom, peak_moment, peak_reserved_moment};
use over_time::{Criterion, FreeAt, FreeOverTime};
use protocol::{Cell, SegmentsFit, Threshold, Tone, WhatIf};

/// Default size of the request to place.
const DEFAULT_REQUEST_BYTES: u64 = 20 << 20;

/// The insight on fragmentation.
#[derive(Default)]
pub(super) struct Fragmentation {
    parts: Option<Parts>,
}

struct Parts {
    /// State at the reported moment. `worst` is the state with the most free bytes.
    moment: Layout,
    worst: Layout,
    /// Driver request that led to peak reserved, and the state before it. `failed` is the newest OOM and its state.
    driver_request: Option<(DriverRequest, Layout)>,
    newest_oom: Option<(u32, Layout)>,
    request: Threshold,
    fits: PlacementSearch,
    simulated_fits: Vec<SegmentsFit>,
    keeping: ReleasableSegments,
}

impl Parts {
    fn new(&Given { side, question, segments, .. }: &Given<'_>, worst: Option<FreeAt>) -> Parts {
        let peak = peak_reserved_moment(side.history);
        let layout = |moment| Layout::new(side.history, segments, moment);
        let request = threshold(question, ["request", "a request of", "bytes"], DEFAULT_REQUEST_BYTES);
        Parts {
            moment: layout(question.at.unwrap_or_else(|| peak_moment(side.history)).min(side.history.event_count())),
            worst: layout(worst.map_or(0, |worst| worst.moment)),
            driver_request: DriverRequest::before(side, segments, peak).map(|driver| (driver, layout(driver.event))),
            newest_oom: newest_oom(side.history).map(|event| (event, layout(event))),
            fits: PlacementSearch::new(side.file, request.value),
            simulated_fits: Vec::new(),
            keeping: ReleasableSegments::default(),
            request,
        }
    }

    fn step(&mut self, &Given { side, segments, .. }: &Given<'_>, slice: &mut TimeSlice) -> SliceResult {
        let layouts = [
            Some(&mut self.moment),
            Some(&mut self.worst),
            self.driver_request.as_mut().map(|it| &mut it.1),
            self.newest_oom.as_mut().map(|it| &mut it.1),
        ];
        for layout in layouts.into_iter().flatten() {
            layout.step(side, segments, slice)?;
        }
        self.keeping.step(side, segments, (&self.moment.state, None), slice)?;
        self.simulated_fits = self.fits.step(&self.moment.state, segments, slice)?;
        Ok(())
    }
}

impl Insight for Fragmentation {
    const NEEDS: &'static [Need] = &[Need::Segments, Need::FreeMemory, Need::Simulation];

    fn new(_: &Given<'_>) -> Fragmentation {
        Fragmentation::default()
    }

    fn step(&mut self, given: &Given<'_>, slice: &mut TimeSlice) -> SliceResult {
        let Some(memory) = given.free_memory.filter(|_| !given.question.only_stranded) else { return Ok(()) };
        self.parts.get_or_insert_with(|| Parts::new(given, memory.over_time.worst())).step(given, slice)
    }

    fn write(self, given: &Given<'_>, writer: &mut ReportWriter<'_>) {
        let &Given { side, segments, simulation, .. } = given;
        let Some(FreeMemory { ledger, over_time }) = given.free_memory else { return };
        // Only the stranded bytes are requested.
        let Some(parts) = self.parts else { return stranded_bytes::write(writer, ledger, segments, true) };
        write_statements(writer, &parts, segments, over_time);
        write_settings(writer, segments, simulation);
        // The fragmentation at the cursor is not good news beside a warning.
        if let Some((first, others)) = writer.report.statements.split_first_mut()
            && others.iter().any(|it| it.tone == Tone::Alarm)
            && first.tone == Tone::Good
        {
            first.tone = Tone::Fact;
        }
        pinned_segments::write(writer, &parts.keeping.finish(side), &parts.moment);
        parts.moment.write(writer, "moment", "Reserved and free bytes, by pool");
        stranded_bytes::write(writer, ledger, segments, false);
        write_fits(writer, &parts);
        parts.worst.write(writer, "worst", "At maximum free bytes, by pool");
        let worst = |by| over_time.worst_moments(by, side.history);
        write_moments(writer, "worst_bytes", "Most free bytes", worst(Criterion::Bytes));
        write_moments(writer, "worst_share", "Highest fragmentation", worst(Criterion::Share));
        write_moments(writer, "over_time", "Over the trace", over_time.over_time());
    }
}

/// Writes the simulated effect of settings on peak reserved.
fn write_settings(writer: &mut ReportWriter<'_>, lives: &SegmentLifetimes, simulation: Option<&WhatIf>) {
    if writer.side.history.device < 0 || lives.ranges.is_empty() {
        return;
    }
    match Simulated::new(simulation, writer.side.history) {
        Ok(simulated) => simulated.write_for_fragmentation(writer),
        Err(unknown) => writer.add_statement(Tone::Fact, unknown, None),
    }
}

/// Formats a share that is an upper bound: `≤ 12.3 %`.
fn upper_bound_text(part: u64, whole: u64) -> String {
    let share = percent(part, whole);
    ["≤ ", if share.starts_with('>') { "100 %" } else { &share }].concat()
}

/// Formats free bytes, number of blocks and largest block: `≤ 1.29 GiB free (cached) in 45 blocks, largest ≤ 200 MiB`.
fn free_text(free: u64, blocks: u32, largest: u64) -> String {
    if free == 0 {
        return "nothing free (cached)".to_owned();
    }
    format!(
        "≤ {} free (cached) in {}, largest ≤ {}",
        bytes_text(free),
        pluralize(blocks.into(), "block"),
        bytes_text(largest)
    )
}

fn write_statements(writer: &mut ReportWriter<'_>, parts: &Parts, lives: &SegmentLifetimes, course: &FreeOverTime) {
    let history = writer.side.history;
    let Parts { moment, worst, driver_request, newest_oom, .. } = parts;
    if lives.ranges.is_empty() {
        let text = "No segments recorded: reserved and free bytes are unknown.";
        writer.add_statement(Tone::Fact, text.to_owned(), None);
        return;
    }
    let sums = moment.total;
    let peak_note = match moment.moment {
        moment if moment == peak_moment(history) => " (the peak)",
        moment if moment == peak_reserved_moment(history) => " (peak reserved)",
        _ => "",
    };
    let rounding = sums.rounded.saturating_sub(sums.requested);
    let lost = match rounding {
        0 => String::new(),
        rounding => ["; lost to rounding: ≥ ", &bytes_text(rounding)].concat(),
    };
    let text = format!(
        "Fragmentation {}{peak_note}: {} of {} reserved, {}{}{}{lost}.",
        moment_text(moment.moment),
        upper_bound_text(sums.free, sums.reserved),
        bytes_text(sums.reserved),
        free_text(sums.free, sums.free_blocks, sums.largest_free),
        if moment.state.outside_mapped.count > 0 { ". Live in the recorded segments: " } else { ". Live: " },
        bytes_text(sums.requested)
    );
    let tone = if sums.free < sums.reserved / 10 { Tone::Good } else { Tone::Fact };
    writer.add_statement(tone, text, Some(moment_evidence(moment.moment)));
    writer.set_parts_chart(&[("live", sums.requested), ("lost to rounding", rounding), ("free (cached)", sums.free)]);
    if let Some((driver, layout)) = driver_request {
        let free = layout.by_kind.serving(driver.kind);
        let kind = kind_name(writer.side.file, &driver.kind);
        let needs =
            driver.request.map_or_else(String::new, |request| format!(" for a block of {}", bytes_text(request)));
        let is_scattered = driver.is_scattered(&free);
        let text = format!(
            "Peak reserved: {} at event {}. The driver was asked for {}{needs}, with {} in that pool ({kind}).{}",
            bytes_text(layout.total.reserved.saturating_add(driver.reserved)),
            group_digits(driver.event.into()),
            bytes_text(driver.reserved),
            free_text(free.free, free.free_blocks, free.largest_free),
            match driver.request {
                _ if is_scattered => " Enough in total, but not in one block.",
                Some(request) if free.free < request => " Too little in total.",
                Some(_) if keeps_blocks_whole(&writer.side.file.snapshot.settings) => {
                    " max_split_size_mb does not split large blocks."
                }
                _ => "",
            }
        );
        let is_much = free.free >= MIN_PROBLEM_BYTES && free.free >= layout.total.reserved / 10;
        writer.add_statement(
            if is_scattered && is_much { Tone::Alarm } else { Tone::Fact },
            text,
            Some(moment_evidence(driver.event)),
        );
    }
    if let Some((event, layout)) = newest_oom {
        let (_, request) = history.address_and_size(EventIdx(*event));
        let sums = layout.total;
        let is_scattered = sums.free >= request && sums.largest_free < request;
        let text = format!(
            "OOM at event {}: {} requested, with {}.{} See Out of memory.",
            group_digits((*event).into()),
            bytes_text(request),
            free_text(sums.free, sums.free_blocks, sums.largest_free),
            if is_scattered { " Enough in total, but not in one block." } else { "" }
        );
        writer.add_statement(Tone::Alarm, text, Some(moment_evidence(*event)));
    }
    if let Some(most) = course.worst().filter(|most| most.free > 0 && most.moment != moment.moment) {
        let text = format!(
            "Most free (cached) {}: ≤ {} of {} reserved ({}), largest block ≤ {}.",
            moment_text(most.moment),
            bytes_text(most.free),
            bytes_text(most.reserved),
            percent(most.free, most.reserved),
            bytes_text(worst.total.largest_free)
        );
        writer.add_statement(Tone::Fact, text, Some(moment_evidence(most.moment)));
    }
    let outside = moment.state.outside_mapped;
    if outside.count > 0 {
        let text = format!(
            "{} live in {} are outside the recorded segments: the file does not list all of them.",
            bytes_text(outside.bytes),
            pluralize(outside.count.into(), "allocation")
        );
        writer.add_statement(Tone::Fact, text, Some(moment_evidence(moment.moment)));
    }
}

fn write_fits(writer: &mut ReportWriter<'_>, parts: &Parts) {
    let file = writer.side.file;
    let goes = |fit: &SegmentsFit| match fit.block {
        Some((address, _)) => format!("free block at 0x{address:x}"),
        None if fit.free >= fit.rounded => "new segment, though enough is free in total".to_owned(),
        None => "new segment".to_owned(),
    };
    let columns = [
        column::text("pool", "pool", |fit: &SegmentsFit| pool_name(file, fit.pool, fit.rounded <= 1 << 20)),
        column::text("stream", "stream", |fit: &SegmentsFit| stream_name(fit.stream)),
        column::bytes("allocated_rounded_bytes", "≥ allocated (rounded)", |fit: &SegmentsFit| fit.rounded),
        column::text("placement", "placement", goes),
        column::cell("block_bytes", "≤ free block", |fit: &SegmentsFit| {
            fit.block.map_or(Cell::Empty, |(_, bytes)| Cell::Bytes(bytes))
        }),
        column::cell("new_segment_bytes", "from the driver", |fit: &SegmentsFit| {
            if fit.block.is_none() { Cell::Bytes(fit.new_segment) } else { Cell::Empty }
        }),
        column::bytes("free_bytes", "≤ free (cached)", |fit: &SegmentsFit| fit.free),
        column::bytes("largest_free_bytes", "≤ largest free block", |fit: &SegmentsFit| fit.largest_free),
    ];
    let note = "By pool and stream: the smallest free block that may fit the request, or the segment that the driver would be asked for.";
    let mut sheet = sheet(["request", "Where would the request go?", note], &columns);
    sheet.threshold = Some(parts.request.clone());
    let fits: Vec<&SegmentsFit> = parts.simulated_fits.iter().collect();
    writer.add_sheet(sheet, &columns, &fits, |_, _| evidence_row(moment_evidence(parts.moment.moment)));
}

fn write_moments(writer: &mut ReportWriter<'_>, key: &str, title: &str, moments: Vec<FreeAt>) {
    let note = match key {
        "worst_bytes" => "",
        "worst_share" => "Only where reserved bytes are at least half of their peak.",
        _ => "The most free bytes in each of 48 equal parts of the trace.",
    };
    let columns = [
        column::event("event", "after event", |it: &FreeAt| it.moment),
        column::bytes("free_bytes", "≤ free (cached)", |it: &FreeAt| it.free),
        column::bytes("reserved_bytes", "reserved", |it: &FreeAt| it.reserved),
        column::share("fragmentation", "≤ fragmentation", |it: &FreeAt| (it.free, it.reserved)),
        column::bytes("live_bytes", "live", |it: &FreeAt| it.requested),
    ];
    let moments: Vec<&FreeAt> = moments.iter().collect();
    writer.add_sheet(sheet([key, title, note], &columns), &columns, &moments, |_, it| {
        evidence_row(moment_evidence(it.moment))
    });
}
