//! Report on out-of-memory errors (OOM): the request, the state at that moment, and possible fixes.

mod refused;
mod rooms;
mod sentences;

use super::job::Job;
use super::leaks::stream_name;
use super::live_sites::LiveSites;
use super::site_sums::site_of;
use super::writing::{Writing, at, freed_by, row, says, threshold};
use crate::open::OpenFile;
use crate::protocol::{
    CAPACITY, Cell, OTHER_PROCESSES, OUTSIDE, PROCESS, Report, ReportQuestion, SheetRow, Threshold, Tone,
};
use crate::recorded;
use crate::report::column::{self, sheet};
use crate::report::layout::kind_name;
use crate::state::DeviceState;
use analysis::site;
use base::apart::apart;
use base::slice::{Slice, Sliced, Spent};
use base::units::EventIdx;
use history::replay::{AllocationId, DeviceHistory};
use history::snapshot::{Action, StackId};
use refused::{Allocated, Facts, Refused, least_capacity, refused};
pub(super) use rooms::{Room, Rooms};

/// Maximum number of OOMs, and of allocations before one, in a table.
const MOST_REQUESTS: u32 = 1000;

/// Report on OOMs, in progress.
pub(super) struct OutOfMemory {
    device: i64,
    question: ReportQuestion,
    big: Threshold,
    /// Call sites of the OOMs in the table, newest first.
    sites: Vec<String>,
    allocated: Allocated,
    refused: Option<Refused>,
}

impl OutOfMemory {
    pub(super) fn new(device: i64, question: ReportQuestion) -> OutOfMemory {
        let big = threshold(&question, ["big", "at least", "bytes"], 10 << 20);
        OutOfMemory { device, question, big, sites: Vec::new(), allocated: Allocated::default(), refused: None }
    }
}

impl Job for OutOfMemory {
    fn step(&mut self, file: &mut OpenFile, slice: &mut Slice) -> Sliced<Report> {
        if self.refused.is_none() {
            self.sites = sites(file, self.device, self.question.rows.min(MOST_REQUESTS) as usize);
        }
        file.segment_lives(self.device, slice)?;
        let file = &*file;
        let history = file.history(self.device);
        let lives = file.segments(self.device);
        let is_refused = |history: &&DeviceHistory| history.action_counts[Action::Oom as usize] > 0;
        let Some((history, lives)) = history.filter(is_refused).zip(lives) else {
            return Ok(nothing(history, &self.question));
        };
        self.allocated.step(file, history, slice)?;
        let refused = match &mut self.refused {
            Some(refused) => refused,
            None => {
                // Use the OOM at the cursor, or else the newest. A click in the report moves the cursor to the
                // reported OOM, so the report stays the same.
                let at = self.question.at.unwrap_or(u32::MAX);
                let chosen = refused(history).find(|&event| event == at || event.checked_add(1) == Some(at));
                let event = chosen.or_else(|| refused(history).last()).ok_or(Spent)?;
                let live = LiveSites::new(file, history, event.saturating_add(1));
                let state = DeviceState::new(history, lives, live.moment);
                let (rooms, before) = Default::default();
                self.refused.insert(Refused { event, live, state, rooms, before, next: event })
            }
        };
        let Refused { live, state, rooms, before, next, .. } = refused;
        live.step(file, history, &mut |_, _| {}, slice)?;
        state.step(file, history, lives, slice)?;
        rooms.step(state, lives, slice)?;
        let wanted = self.question.rows.min(MOST_REQUESTS) as usize;
        while *next > 0 && before.len() < wanted {
            slice.tick()?;
            *next -= 1;
            let is_alloc = history.events.action(*next) == Action::Alloc;
            if is_alloc && history.address_and_size(EventIdx(*next)).1 >= self.big.value {
                before.push(*next);
            }
        }
        let refused = self.refused.take().ok_or(Spent)?;
        apart(|| {
            let mut writing = Writing::new(file, history, &self.question);
            let facts = Facts::of(history, refused.event);
            let newer = newer(history, refused.event);
            let site = self.sites.get(newer).map_or("", String::as_str);
            let recorded = recorded::facts(&file.snapshot, history);
            let of = |key: &str| recorded.iter().find(|(known, _)| known == key).map(|(_, bytes)| *bytes);
            let known = of(CAPACITY).unwrap_or(0).max(least_capacity(history));
            let capacity = threshold(&self.question, ["capacity", "device memory", "bytes"], known);
            sentences::write(&mut writing, &facts, &refused, site);
            match of(PROCESS) {
                Some(_) => {
                    sentences::write_recorded(&mut writing, &facts, of(OTHER_PROCESSES).unwrap_or(0), of(OUTSIDE));
                }
                None => sentences::write_outside(&mut writing, &facts, &self.question, &capacity),
            }
            let all = refused.rooms.all;
            let known = (all.reserved > 0).then_some((refused.event, all.free));
            write_requests(&mut writing, (&self.sites, &self.allocated.then), known, capacity);
            write_room(&mut writing, &refused);
            let title = "Live at the OOM";
            refused.live.write(&mut writing, title, None);
            write_before(&mut writing, &refused, self.big.clone());
            Ok(writing.report)
        })
    }
}

/// Returns the call sites of the newest OOMs, newest first.
fn sites(file: &mut OpenFile, device: i64, most: usize) -> Vec<String> {
    let OpenFile { snapshot, histories, sites, .. } = file;
    let Some(history) = histories.iter().find(|history| history.device == device) else { return Vec::new() };
    let stacks: Vec<StackId> = refused(history).map(|event| history.events.stack(event)).collect();
    let site = |&stack: &StackId| {
        let frame = sites.of(snapshot, stack).map(|frame| snapshot.frames.frame(frame));
        frame.map_or_else(|| "no stack".to_owned(), |frame| site::short(snapshot, frame))
    };
    stacks.iter().rev().take(most).map(site).collect()
}

/// Returns the number of OOMs after an event.
fn newer(history: &DeviceHistory, event: u32) -> usize {
    refused(history).filter(|&other| other > event).count()
}

/// Returns the report of a trace without OOMs.
fn nothing(history: Option<&DeviceHistory>, question: &ReportQuestion) -> Report {
    let mut report = Report { topic: question.topic, ..Report::default() };
    if let Some(history) = history {
        let (tone, text) = match history.event_count() {
            0 => (Tone::Fact, "No events recorded: the file does not say whether an OOM occurred."),
            _ => (Tone::Good, "No OOM in this trace. See Peak for what is live at most."),
        };
        report.statements.push(says(tone, text.to_owned(), None));
    }
    report
}

/// OOM event, its numbers, free bytes, and call site.
type Row<'a> = (u32, Facts, u64, &'a str);

/// Writes the table of all OOMs, newest first. `sites` are newest first. `allocated` has the rounded bytes of live
/// blocks at each OOM, oldest first. `known` is the reported OOM and the free bytes in its segments.
fn write_requests(
    writing: &mut Writing<'_>,
    (sites, allocated): (&[String], &[u64]),
    known: Option<(u32, u64)>,
    capacity: Threshold,
) {
    let (file, history) = (writing.file, writing.history);
    let stream = |event: u32| file.snapshot.labels.labels(history.events.labels(event)).stream;
    let columns = [
        column::cell("event", "event", |(event, ..): Row<'_>| Cell::Event(event.into())),
        column::bytes("requested_bytes", "requested", |(_, facts, ..): Row<'_>| facts.asked),
        column::bytes("device_free_bytes", "free on the device", |(_, facts, ..): Row<'_>| facts.driver),
        column::bytes("reserved_bytes", "reserved", |(_, facts, ..): Row<'_>| facts.reserved),
        column::bytes("live_bytes", "live", |(_, facts, ..): Row<'_>| facts.requested),
        column::bytes("awaiting_free_bytes", "awaiting free", |(_, facts, ..): Row<'_>| facts.pending),
        column::bytes("free_bytes", "≤ free (cached)", |(.., free, _): Row<'_>| free),
        column::bytes("outside_bytes", "≥ outside the allocator", |(_, facts, ..): Row<'_>| {
            capacity.value.saturating_sub(facts.accounted())
        }),
        column::text("stream", "stream", |(event, ..): Row<'_>| stream_name(stream(event))),
        column::text("call_site", "call site", |(.., site): Row<'_>| site.to_owned()),
    ];
    let note = "Newest first. The findings describe the newest, or the one at the cursor. Free (cached) is an upper bound. Outside the \
                allocator: device memory that is neither reserved nor free (CUDA context, NCCL, other processes).";
    let mut sheet = sheet(["requests", "OOMs", note], &columns);
    let mut events: Vec<u32> = refused(history).collect();
    events.reverse();
    sheet.left_out = events.len() as u32;
    sheet.threshold = Some(capacity.clone());
    let rows: Vec<Row<'_>> = events
        .iter()
        .zip(sites)
        .zip(allocated.iter().rev())
        .map(|((&event, site), &allocated)| {
            let facts = Facts::of(history, event);
            let free = known.filter(|&(known, _)| known == event).map(|(_, free)| free);
            (event, facts, free.unwrap_or(facts.reserved.saturating_sub(allocated)), site.as_str())
        })
        .collect();
    writing.fill(sheet, &columns, &rows, |writing, (event, ..)| {
        let stack = writing.lines.of(&file.snapshot, history.events.stack(event));
        SheetRow { stack, ..row(at(event + 1)) }
    });
}

/// Writes the table of free (cached) bytes by pool.
fn write_room(writing: &mut Writing<'_>, refused: &Refused) {
    let (rooms, file) = (&refused.rooms.rooms, writing.file);
    let ranked = base::sorted::sorted_by_key(rooms.iter().collect(), |room: &&Room| !u128::from(room.sums.free));
    let sum = |of: fn(&Room) -> u64| rooms.iter().fold(0u64, |sum, room| sum.saturating_add(of(room)));
    let bytes = |key, label, of: fn(&Room) -> u64| column::bytes(key, label, of).total(Cell::Bytes(sum(of)));
    let count = |key, label, of: fn(&Room) -> u64| column::count(key, label, of).total(Cell::Count(sum(of)));
    let columns = [
        column::bytes("largest_free_bytes", "≤ largest free block", |room: &Room| room.sums.largest_free),
        bytes("free_bytes", "≤ free (cached)", |room| room.sums.free),
        count("free_blocks", "free blocks", |room| room.sums.free_blocks.into()),
        bytes("reserved_bytes", "reserved", |room| room.sums.reserved),
        count("empty_segments", "empty segments", |room| room.whole),
        bytes("empty_segment_bytes", "reserved by empty segments", |room| room.whole_bytes),
        column::text("pool", "pool", |room: &Room| kind_name(file, &room.kind)),
        column::text("stream", "stream", |room: &Room| stream_name(room.kind.stream)),
    ];
    let note = "A request is served only from blocks of its own pool, size class and stream. Free bytes are upper bounds: the sizes \
                of blocks that are gone by the end are not recorded.";
    let sheet = sheet(["room", "Free (cached) at the OOM, by pool", note], &columns);
    writing.fill(sheet, &columns, &ranked, |_, _| row(at(refused.live.moment)));
}

/// Writes the table of the last large allocations before the OOM.
fn write_before(writing: &mut Writing<'_>, refused: &Refused, big: Threshold) {
    let (file, history) = (writing.file, writing.history);
    let born = |id| history.allocations.born(AllocationId(id)).0;
    let columns = [
        column::bytes("requested_bytes", "requested", |id| history.allocations.size(AllocationId(id))),
        column::event("allocated_at", "allocated at event", born),
        column::count("events_before", "events before the OOM", |id| {
            refused.live.moment.saturating_sub(born(id)).into()
        }),
        column::cell("freed_at", "freed at event", |id| freed_by(history, AllocationId(id))),
        column::text("call_site", "call site", |id| site_of(file, history, AllocationId(id))),
    ];
    let mut sheet = sheet(["before", "Last large allocations before the OOM", "Newest first."], &columns);
    sheet.threshold = Some(big);
    let ids: Vec<u32> =
        refused.before.iter().filter_map(|&event| Some(history.allocation_of(EventIdx(event))?.0)).collect();
    writing.fill(sheet, &columns, &ids, |writing, id| writing.allocation_row(AllocationId(id), Some(born(id))));
}
