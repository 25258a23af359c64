//! Marks of a device on the time axis: out-of-memory events, snapshots, annotations in lanes, and phases of steps.

use super::moments::{self, annotation_span};
use super::open::OpenFile;
use super::phases::Phase;
use super::recorder_facts::paused_over_time;
use base::units::{EventIdx, Moment};
use hashbrown::HashMap;
use history::replay::{AnnotationRange, DeviceHistory, TimeAxis};
use history::snapshot::{Action, StringId};
use protocol::{AxisPoint, ClockSpan, Marks, OutOfMemoryMark, RangeMark, RangeSource, Span};

/// Maximum number of marks of each kind that are sent. They take a few megabytes.
const MAX_MARKS: usize = 20_000;
/// Maximum length in characters of an annotation name that is sent.
const MAX_NAME_LEN: usize = 200;

/// Maximum number of annotation names that are compared to find shared prefixes. If a file has more names, most of them
/// usually differ only in a number.
const MAX_NAMES: usize = 4_000;

/// Returns the marks of a device, and these phases unless all of them are annotations. `None` if there is no such
/// device.
pub(super) fn marks(file: &OpenFile, device: i64, phases: &[Phase]) -> Option<Marks> {
    let history = file.history(device)?;
    let clock = history.events.times.time_axis();
    let span =
        |clock: TimeAxis<'_>| ClockSpan { first_us: clock.first_us(), span: clock.span(), margin: clock.margin() };
    let mut marks = Marks { clock: clock.map(span), ..Marks::default() };
    let peak = Moment::after_event_or_minus_one(history.numbers.peak_event).0;
    marks.peak = AxisPoint { events: f64::from(peak), time: clock.map_or(0, |clock| clock.x(peak)) };
    let paused = paused_over_time(&file.snapshot, device);
    for event in history.note_events() {
        let position = event_point(clock, event);
        match history.events.action(event) {
            Action::Oom if marks.out_of_memory.len() < MAX_MARKS => {
                let (_, requested) = history.address_and_size(EventIdx(event));
                let device_free = history.free_at_oom(EventIdx(event));
                let reserved = u64::try_from(history.reserved_at(Moment::after(EventIdx(event)))).unwrap_or(0);
                // Paused memory is reserved, but not on the device.
                let paused = history.events.times.at(event).map_or(0, |us| paused.at(us));
                let reserved = reserved.saturating_sub(paused);
                marks.out_of_memory.push(OutOfMemoryMark { position, event, requested, device_free, reserved });
            }
            Action::Snapshot if marks.snapshots.len() < MAX_MARKS => marks.snapshots.push((position, event)),
            Action::Oom | Action::Snapshot => marks.left_out += 1,
            _ => {}
        }
    }
    let mut lanes = Lanes::default();
    let mut name_prefixes = NamePrefixes::default();
    marks.has_phases = phases.iter().any(|phase| phase.annotation.is_none());
    let mut phases = phases.iter().take(if marks.has_phases { MAX_MARKS } else { 0 }).peekable();
    for range in history.annotations.iter().take(MAX_MARKS) {
        let start = time_point(history, clock, range.start_us);
        // Ranges are sorted by start.
        while let Some(phase) = phases.next_if(|phase| f64::from(phase.span.from) + 1.0 < start.events) {
            marks.ranges.push(phase_mark(clock, phase));
        }
        let name = file.snapshot.strings.text(range.name);
        let name = match name.char_indices().nth(MAX_NAME_LEN) {
            Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
            None => name.into_owned(),
        };
        name_prefixes.add(range.name, &name);
        let end = range.end_us.unwrap_or_else(|| last_us(history));
        marks.ranges.push(RangeMark {
            name,
            source: RangeSource::Annotation,
            start,
            end: time_point(history, clock, end.max(range.start_us)),
            has_end: range.end_us.is_some(),
            lane: lanes.assign(range),
            span: clock.map_or(Span { from: 0, to: 0 }, |clock| annotation_span(history, clock, range)),
            duration_us: end.max(range.start_us).abs_diff(range.start_us),
            shared_prefix: 0,
        });
    }
    marks.ranges.extend(phases.map(|phase| phase_mark(clock, phase)));
    marks.ranges.iter_mut().for_each(|range| range.shared_prefix = name_prefixes.shared_prefix_len(&range.name));
    marks.lanes = lanes.ends.len() as u32;
    marks.left_out += history.annotations.len().saturating_sub(MAX_MARKS) as u64;
    Some(marks)
}

/// Returns the mark of a phase, from its first event to the next event after it. On the time axis, it ends with its
/// last event.
fn phase_mark(clock: Option<TimeAxis<'_>>, phase: &Phase) -> RangeMark {
    let Span { from, to } = phase.span;
    let start = event_point(clock, from);
    let end = AxisPoint { events: f64::from(to) + 1.0, time: clock.map_or(0, |clock| clock.x(to)) };
    RangeMark {
        name: phase.kind.name().to_owned(),
        source: if phase.annotation.is_some() { RangeSource::Phase } else { RangeSource::InferredPhase },
        start,
        end,
        has_end: true,
        lane: 0,
        span: phase.span,
        duration_us: end.time.saturating_sub(start.time),
        shared_prefix: 0,
    }
}

/// Prefixes of annotation names. Each ends at the end of a word or before a number.
#[derive(Default)]
struct NamePrefixes {
    /// Index of the only name with each prefix, or [`SEVERAL`].
    by_prefix: HashMap<String, u32, foldhash::fast::RandomState>,
    seen_names: HashMap<StringId, u32, foldhash::fast::RandomState>,
}

/// Sentinel: several names have this prefix.
const SEVERAL: u32 = u32::MAX;

impl NamePrefixes {
    fn add(&mut self, id: StringId, name: &str) {
        if self.seen_names.len() >= MAX_NAMES || self.seen_names.insert(id, 0).is_some() {
            return;
        }
        for prefix in prefixes(name) {
            let number = self.seen_names.len() as u32;
            self.by_prefix.entry(prefix.to_owned()).and_modify(|known| *known = SEVERAL).or_insert(number);
        }
    }

    /// Returns the length in bytes of the longest prefix that the name shares with another name.
    fn shared_prefix_len(&self, name: &str) -> u32 {
        let is_shared = |prefix: &&str| self.by_prefix.get(*prefix) == Some(&SEVERAL);
        prefixes(name).filter(is_shared).last().map_or(0, |prefix| prefix.len() as u32)
    }
}

/// Returns all prefixes of a name that end at a word or number boundary.
fn prefixes(name: &str) -> impl Iterator<Item = &str> {
    let mut before = ' ';
    name.char_indices().filter_map(move |(index, letter)| {
        let is_edge = !before.is_alphanumeric() || (letter.is_ascii_digit() && !before.is_ascii_digit());
        before = letter;
        name.get(..index).filter(|_| index > 0 && is_edge)
    })
}

fn last_us(history: &DeviceHistory) -> i64 {
    history.numbers.time_us.map_or(i64::MAX, |(_, last)| last)
}

fn event_point(clock: Option<TimeAxis<'_>>, event: u32) -> AxisPoint {
    AxisPoint { events: f64::from(event) + 1.0, time: clock.map_or(0, |clock| clock.x(event + 1)) }
}

/// Returns the position of a time on both axes. Without recorded times, this is the start of the trace.
fn time_point(history: &DeviceHistory, clock: Option<TimeAxis<'_>>, time_us: i64) -> AxisPoint {
    let Some(clock) = clock else { return AxisPoint::default() };
    let elapsed = time_us.saturating_sub(clock.first_us()).saturating_add_unsigned(clock.margin());
    moments::point_at_time(history, clock, elapsed.max(0) as f64)
}

/// Lanes of the time axis. Each range is assigned to the uppermost free lane. Ranges must be passed in order of their
/// starts.
#[derive(Default)]
struct Lanes {
    /// End of the last range in each lane, in µs. `i64::MAX` if the range never ends.
    ends: Vec<i64>,
}

/// Maximum number of lanes. If more are needed, all further ranges are put into the last lane.
const MAX_LANES: usize = 64;

impl Lanes {
    fn assign(&mut self, range: &AnnotationRange) -> u32 {
        let free = self.ends.iter().position(|&end| end <= range.start_us);
        let lane = free.unwrap_or(self.ends.len()).min(MAX_LANES - 1);
        let end = range.end_us.unwrap_or(i64::MAX);
        match self.ends.get_mut(lane) {
            Some(last) => *last = end,
            None => self.ends.push(end),
        }
        lane as u32
    }
}

#[cfg(test)]
#[path = "../../tests/units/engine/marks.rs"]
mod tests;
