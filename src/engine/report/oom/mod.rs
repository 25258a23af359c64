//! Insight on out-of-memory errors (OOM): the failed request, the state at that moment, and possible fixes.

mod facts;
mod freeable;
mod kind;
mod kind_sums;
mod pausing;
mod remedies;
mod request_pool;
mod statements;
mod waiting;

use super::insight::{Given, Insight, Need};
use super::leaks::stream_name;
use super::live_sites::LiveSites;
use super::simulated::Simulated;
use super::site_sums::site_of;
use super::writer::{ReportWriter, evidence_row, freed_by_cell, moment_evidence, threshold};
use crate::recorder_facts;
use crate::report::column::{self, sheet};
use crate::report::layout::kind_name;
use crate::side::Side;
use crate::state::DeviceState;
use analysis::site;
use base::slice::{STEPS_PER_CHECK, SliceResult, TimeSlice};
use base::units::EventIdx;
use facts::{OomFacts, OomState, RoundedAtOoms, min_capacity};
use freeable::Freeable;
use history::recorder::PausedBytes;
use history::replay::AllocationId;
use history::snapshot::Action;
pub use kind::{OomKind, OomRecord, oom_records};
pub(super) use kind_sums::{KindSums, SumsByKind};
use pausing::Pausing;
use protocol::{CAPACITY, Cell, OTHER_PROCESSES, OUTSIDE_ALLOCATOR, PROCESS, SheetRow, Threshold, Tone, WhatIfLimit};
use request_pool::RequestPool;
use waiting::Waiting;

/// Maximum number of rows in the table of OOMs and in the table of allocations before the OOM.
const MAX_REQUESTS: u32 = 1000;

/// The insight on OOMs.
pub(super) struct OutOfMemory {
    min_bytes: Threshold,
    /// Call site of each OOM in the table, newest OOM first.
    sites: Vec<String>,
    allocated: RoundedAtOoms,
    /// OOM at the cursor, or else the newest. `None` if the trace has none.
    reported: Option<OomState>,
    waiting: Option<Waiting>,
    freeable: Option<Freeable>,
    pausing: Pausing,
}

impl Insight for OutOfMemory {
    const NEEDS: &'static [Need] =
        &[Need::Segments, Need::Categories, Need::Forward, Need::Growth, Need::Simulation, Need::OomPlans];

    fn new(&Given { side, question, segments, .. }: &Given<'_>) -> OutOfMemory {
        // A click in the report moves the cursor to the reported OOM, so the report stays the same.
        let at = question.at.unwrap_or(u32::MAX);
        let oom_at_cursor = side.history.oom_events().find(|&event| event == at || event.checked_add(1) == Some(at));
        let reported = oom_at_cursor.or_else(|| side.history.oom_events().last()).map(|event| {
            let live = LiveSites::new(side, event.saturating_add(1));
            let state = DeviceState::new(side.history, segments, live.moment);
            let (by_kind, large_before) = Default::default();
            OomState { event, live, state, by_kind, large_before, next: event }
        });
        OutOfMemory {
            min_bytes: threshold(question, ["big", "at least", "bytes"], 10 << 20),
            sites: Vec::new(),
            allocated: RoundedAtOoms::default(),
            reported,
            waiting: None,
            freeable: None,
            pausing: Pausing::default(),
        }
    }

    fn step(&mut self, given: &Given<'_>, slice: &mut TimeSlice) -> SliceResult {
        let Given { side, question, segments, .. } = *given;
        let Some(OomState { live, state, by_kind, large_before, next, event }) = &mut self.reported else {
            return Ok(());
        };
        let max_rows = question.rows.min(MAX_REQUESTS) as usize;
        let events: Vec<u32> = side.history.oom_events().collect();
        for &event in events.iter().rev().take(max_rows).skip(self.sites.len()) {
            slice.spend(STEPS_PER_CHECK / 4)?;
            self.sites.push(site_of_event(side, event));
        }
        self.allocated.step(side, slice)?;
        self.pausing.step(side.snapshot(), slice)?;
        let waiting = self.waiting.get_or_insert_with(|| Waiting::new(*event));
        let freeable = self.freeable.get_or_insert_with(|| Freeable::new(given, live.moment));
        freeable.step(given, slice)?;
        let mut add = |id, _| {
            waiting.add(side, id);
            freeable.add(side, id);
        };
        live.step(side, &mut add, slice)?;
        state.step(side, segments, slice)?;
        waiting.step(side, slice)?;
        by_kind.step(state, segments, slice)?;
        while *next > 0 && large_before.len() < max_rows {
            slice.tick()?;
            *next -= 1;
            let is_alloc = side.history.events.action(*next) == Action::Alloc;
            if is_alloc && side.history.address_and_size(EventIdx(*next)).1 >= self.min_bytes.value {
                large_before.push(*next);
            }
        }
        Ok(())
    }

    fn write(self, given: &Given<'_>, writer: &mut ReportWriter<'_>) {
        let Given { side: Side { file, history }, question, .. } = *given;
        let Some(oom) = &self.reported else { return write_no_oom(writer) };
        let paused = recorder_facts::paused_over_time(&file.snapshot, history.device);
        let facts = OomFacts::new(history, oom.event, &paused);
        let site = site_of_event(given.side, oom.event);
        let recorded = recorder_facts::recorder_facts(&file.snapshot, history);
        let recorded_value = |key: &str| recorded.iter().find(|(known, _)| known == key).map(|(_, bytes)| *bytes);
        let known = recorded_value(CAPACITY).unwrap_or(0).max(min_capacity(history, &paused));
        let is_given = question.thresholds.iter().any(|(key, _)| key == "capacity");
        let is_recorded = is_given || recorded_value(CAPACITY).is_some();
        let label = if is_recorded { "device memory" } else { "reserved + free on the device" };
        let capacity = threshold(question, ["capacity", label, "bytes"], known);
        if let Some(waiting) = &self.waiting {
            waiting.write(writer, &facts, oom, given.segments);
        }
        let is_too_large = capacity.value > 0 && facts.request > capacity.value;
        let limits = (is_too_large.then_some(capacity.value), implied_limit(given));
        statements::write(writer, &facts, oom, (&site, given.segments), limits, |writer| {
            if let Some(freeable) = &self.freeable {
                freeable.write_leaks(writer, (&facts, oom), given, true);
            }
        });
        self.pausing.write(writer);
        remedies::write(writer, (&facts, oom), self.freeable.as_ref(), given, is_too_large);
        statements::write_rest(writer, &facts, oom);
        match recorded_value(PROCESS) {
            Some(_) => statements::write_recorded_outside(
                writer,
                &facts,
                recorded_value(OTHER_PROCESSES).unwrap_or(0),
                recorded_value(OUTSIDE_ALLOCATOR),
            ),
            None => statements::write_inferred_outside(writer, &facts, question, &capacity),
        }
        let all = oom.by_kind.total;
        let known = (all.reserved > 0).then_some((oom.event, all.free));
        write_requests(writer, (&self.sites, &self.allocated.at_ooms), known, capacity, &paused);
        write_free_by_pool(writer, oom, RequestPool::new(given.side, &facts, oom, given.segments));
        oom.live.write(writer, "Live at the OOM", None);
        write_before(writer, oom, self.min_bytes);
    }
}

/// Returns the call site of an OOM.
fn site_of_event(side: Side<'_>, event: u32) -> String {
    let snapshot = side.snapshot();
    match site::call_site(snapshot, side.history.events.stack(event)) {
        Some(frame) => site::short(snapshot, snapshot.frames.frame(frame)),
        None => site::NO_STACK.to_owned(),
    }
}

/// Returns the upper bound of the memory limit that the recording implies. `None` if no memory fraction limits it.
fn implied_limit(given: &Given<'_>) -> Option<u64> {
    let is_fraction =
        |limit: &WhatIfLimit| limit.is_fraction && Simulated::new(given.simulation, given.side.history).is_ok();
    given.simulation?.limit.filter(is_fraction).map(|limit| limit.high)
}

/// Writes the statement for a trace without OOMs.
fn write_no_oom(writer: &mut ReportWriter<'_>) {
    let (tone, text) = match writer.side.history.event_count() {
        0 => (Tone::Fact, "No events recorded: the file does not say whether an OOM occurred."),
        _ => (Tone::Good, "No OOM in this trace. See Peak for what holds the most memory."),
    };
    writer.add_statement(tone, text.to_owned(), None);
}

/// Row of the table of OOMs: event, facts about the OOM, free bytes, and call site.
type Row<'a> = (u32, OomFacts, u64, &'a str);

/// Writes the table of all OOMs, newest first. `sites` has the call site of each OOM, newest OOM first. `allocated` has
/// the rounded bytes of live blocks at each OOM, oldest OOM first. `known` has the event of the OOM that the report is
/// about, and the free bytes at this event.
fn write_requests(
    writer: &mut ReportWriter<'_>,
    (sites, allocated): (&[String], &[u64]),
    known: Option<(u32, u64)>,
    capacity: Threshold,
    paused: &PausedBytes,
) {
    let Side { file, history } = writer.side;
    let stream = |event: u32| file.snapshot.labels.labels(history.events.labels(event)).stream;
    let columns = [
        column::cell("event", "event", |(event, ..): Row<'_>| Cell::Event(event.into())),
        column::bytes("requested_bytes", "requested", |(_, facts, ..): Row<'_>| facts.request),
        column::cell("device_free_bytes", "free on the device", |(_, facts, ..): Row<'_>| {
            facts.device_free.map_or(Cell::Empty, Cell::Bytes)
        }),
        column::bytes("reserved_bytes", "reserved", |(_, facts, ..): Row<'_>| facts.reserved),
        column::bytes("live_bytes", "live", |(_, facts, ..): Row<'_>| facts.live),
        column::bytes("awaiting_free_bytes", "awaiting free", |(_, facts, ..): Row<'_>| facts.awaiting_free),
        column::bytes("free_bytes", "≤ free (cached)", |(.., free, _): Row<'_>| free),
        column::cell("outside_bytes", "≥ outside the allocator", |(_, facts, ..): Row<'_>| {
            facts.accounted().map_or(Cell::Empty, |bytes| Cell::Bytes(capacity.value.saturating_sub(bytes)))
        }),
        column::text("stream", "stream", |(event, ..): Row<'_>| stream_name(stream(event))),
        column::text("call_site", "call site", |(.., site): Row<'_>| site.to_owned()),
        column::text("kind", "kind", |(_, facts, free, _): Row<'_>| {
            kind::causes(file, &facts, free, capacity.value).kind.name().to_owned()
        }),
    ];
    let note = format!(
        "Newest first. The findings describe the newest, or the one at the cursor. Free (cached) is an upper bound. Outside the \
         allocator: device memory that is neither reserved nor free ({}, other processes).",
        file.backend.outside()
    );
    let mut sheet = sheet(["requests", "OOMs", &note], &columns);
    let mut events: Vec<u32> = history.oom_events().collect();
    events.reverse();
    sheet.left_out = events.len() as u32;
    sheet.threshold = Some(capacity.clone());
    let rows: Vec<Row<'_>> = events
        .iter()
        .zip(sites)
        .zip(allocated.iter().rev())
        .map(|((&event, site), &allocated)| {
            let facts = OomFacts::new(history, event, paused);
            let free = known.filter(|&(known, _)| known == event).map(|(_, free)| free);
            (event, facts, free.unwrap_or(facts.reserved.saturating_sub(allocated)), site.as_str())
        })
        .collect();
    writer.add_sheet(sheet, &columns, &rows, |writer, (event, ..)| {
        let stack = writer.lines.stack_lines(file, history.events.stack(event));
        SheetRow { stack, ..evidence_row(moment_evidence(event + 1)) }
    });
}

/// Writes the table of free (cached) bytes by pool.
fn write_free_by_pool(writer: &mut ReportWriter<'_>, oom: &OomState, pool: RequestPool) {
    let (kinds, file) = (&oom.by_kind.kinds, writer.side.file);
    let ranked = base::sorted::sorted_by_key(kinds.iter().collect(), |row: &&KindSums| !u128::from(row.sums.free));
    let sum = |value: fn(&KindSums) -> u64| kinds.iter().fold(0u64, |sum, row| sum.saturating_add(value(row)));
    let bytes =
        |key, label, value: fn(&KindSums) -> u64| column::bytes(key, label, value).total(Cell::Bytes(sum(value)));
    let count =
        |key, label, value: fn(&KindSums) -> u64| column::count(key, label, value).total(Cell::Count(sum(value)));
    let columns = [
        column::bytes("largest_free_bytes", "≤ largest free block", |row: &KindSums| row.sums.largest_free),
        bytes("free_bytes", "≤ free (cached)", |row| row.sums.free),
        count("free_blocks", "free blocks", |row| row.sums.free_blocks.into()),
        bytes("reserved_bytes", "reserved", |row| row.sums.reserved),
        count("empty_segments", "empty segments", |row| row.empty_segments),
        bytes("empty_segment_bytes", "reserved by empty segments", |row| row.empty_segment_bytes),
        column::text("pool", "pool", |row: &KindSums| kind_name(file, &row.kind)),
        column::text("stream", "stream", |row: &KindSums| stream_name(row.kind.stream)),
        column::text("serves_request", "serves the request", |row: &KindSums| {
            pool.serves_text(kinds, &row.kind).to_owned()
        }),
    ];
    let note = "A request is served only from blocks of its own pool, size class and stream. Free bytes are upper bounds: the sizes \
                of blocks that are gone by the end are not recorded.";
    let sheet = sheet(["room", "Free (cached) at the OOM, by pool", note], &columns);
    writer.add_sheet(sheet, &columns, &ranked, |_, _| evidence_row(moment_evidence(oom.live.moment)));
}

/// Writes the table of the last large allocations before the OOM.
fn write_before(writer: &mut ReportWriter<'_>, oom: &OomState, min_bytes: Threshold) {
    let side = writer.side;
    let allocated_at = |id| side.history.allocations.allocated_at(AllocationId(id)).0;
    let columns = [
        column::bytes("requested_bytes", "requested", |id| side.history.allocations.size(AllocationId(id))),
        column::event("allocated_at", "allocated at event", allocated_at),
        column::count("events_before", "events before the OOM", |id| {
            oom.live.moment.saturating_sub(allocated_at(id)).into()
        }),
        column::cell("freed_at", "freed at event", |id| freed_by_cell(side.history, AllocationId(id))),
        column::text("call_site", "call site", |id| site_of(side, AllocationId(id))),
    ];
    let mut sheet = sheet(["before", "Last large allocations before the OOM", "Newest first."], &columns);
    sheet.threshold = Some(min_bytes);
    let ids: Vec<u32> =
        oom.large_before.iter().filter_map(|&event| Some(side.history.allocation_of(EventIdx(event))?.0)).collect();
    writer
        .add_sheet(sheet, &columns, &ids, |writer, id| writer.allocation_row(AllocationId(id), Some(allocated_at(id))));
}
