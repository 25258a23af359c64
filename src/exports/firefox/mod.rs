//! Processed profile format of the Firefox Profiler, version 55. Newer versions of the profiler upgrade it when
//! loading. Each native allocation uses the allocation's id as its address, so that "Retained memory" of a range shows
//! allocations that were made in the range and are live at its end.

mod tables;

use crate::curve::points;
use crate::frames::{Stack, StackOrigin};
use crate::json;
use crate::profile::Total;
use base::units::EventIdx;
use engine::Side;
use history::replay::AllocationId;
use history::snapshot::StackId;
use protocol::Scope;
use std::io::{self, Write};
use tables::{Tables, or_null};

/// Version of the profile format.
const VERSION: u32 = 55;

/// JSON that is the same in all profiles: categories of frames and types of markers.
const HEAD: &str = r#""debug":false,"pausedRanges":[],"sourceCodeIsNotOnSearchfox":true,"usesOnlyOneStackType":true,
"extensions":{"length":0,"baseURL":[],"id":[],"name":[]},"sampleUnits":{"time":"ms","eventDelay":"ms","threadCPUDelta":"\u00b5s"},
"categories":[{"name":"Other","color":"grey","subcategories":["Other"]},{"name":"User","color":"yellow","subcategories":["Other"]},
{"name":"Library","color":"blue","subcategories":["Other"]},{"name":"Native","color":"orange","subcategories":["Other"]}],
"markerSchema":[{"name":"Annotation","display":["marker-chart","marker-table","timeline-overview"],"tooltipLabel":"{marker.name}","fields":[]},
{"name":"OOM","display":["marker-chart","marker-table","timeline-overview"],"tooltipLabel":"Out of memory",
"fields":[{"key":"requested","label":"Requested","format":"bytes"},{"key":"free","label":"Free on the device","format":"bytes"}]}]},
"libs":[],"pages":[],"profilerOverhead":[],"threads":[{"#;

/// A change in live bytes by an allocation or a free.
struct Sample {
    ms: f64,
    weight: i64,
    stack: Option<u32>,
    allocation: u32,
}

/// Writes the whole trace. Returns the live bytes at the moment `at`.
///
/// # Errors
/// Returns the errors of `out`.
pub(crate) fn write(side: Side<'_>, at: u32, out: &mut dyn Write) -> io::Result<Total> {
    let mut tables = Tables::default();
    let clock = Clock::new(side);
    out.write_all(b"{\"meta\":{\"product\":\"memscape\",\"interval\":1,")?;
    write!(out, "\"startTime\":{},", clock.first_us as f64 / 1000.0)?;
    write!(out, "\"preprocessedProfileVersion\":{VERSION},\"version\":24,\"processType\":0,\"symbolicated\":true,")?;
    out.write_all(HEAD.as_bytes())?;
    let name = side.name();
    write!(
        out,
        "\"name\":\"Device {}\",\"isMainThread\":true,\"pid\":\"0\",\"tid\":0,\"processName\":",
        side.history.device
    )?;
    json::text(out, &name)?;
    out.write_all(
        b",\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":0,",
    )?;
    out.write_all(b"\"unregisterTime\":null,\"pausedRanges\":[],\"showMarkersInTimeline\":true,\n\"samples\":")?;
    write!(
        out,
        "{{\"length\":2,\"stack\":[null,null],\"timeDeltas\":[0,{}],\"weight\":null,\"weightType\":\"samples\"}},",
        clock.last()
    )?;
    out.write_all(b"\n\"nativeAllocations\":")?;
    let samples = samples(side, &clock, &mut tables);
    allocations(&samples, out)?;
    out.write_all(b",\n\"markers\":")?;
    markers(side, &clock, &mut tables, out)?;
    out.write_all(b",\n")?;
    tables.write(side, out)?;
    out.write_all(b"}],\n\"counters\":[")?;
    counter(side, &clock, ("Live bytes", "Requested bytes that are live"), |[live, _, _]| live, out)?;
    out.write_all(b",\n")?;
    counter(side, &clock, ("Reserved bytes", "Bytes reserved from the driver"), |[_, _, reserved]| reserved, out)?;
    out.write_all(b"]}\n")?;
    Ok(Total::of(side, Scope::At(at)))
}

/// Time of each event, in milliseconds since the start. Events with the same time in microseconds are moved apart by a
/// nanosecond, so that a range can end between them. Without recorded times, events are a millisecond apart.
struct Clock {
    first_us: i64,
    ms: Vec<f64>,
}

impl Clock {
    fn new(side: Side<'_>) -> Clock {
        let times = &side.history.events.times;
        let first_us = side.history.numbers.time_us.map_or(0, |(first, _)| first);
        let (mut ms, mut latest) = (Vec::new(), 0.0_f64);
        for event in 0..side.history.event_count() {
            let own = match times.at(event) {
                Some(us) => us.saturating_sub(first_us) as f64 / 1000.0,
                None => f64::from(event) + 1.0,
            };
            latest = own.max(latest + 1e-6);
            ms.push(latest);
        }
        Clock { first_us, ms }
    }

    fn after(&self, event: u32) -> f64 {
        self.ms.get(event as usize).copied().unwrap_or(0.0)
    }

    fn last(&self) -> f64 {
        self.ms.last().copied().unwrap_or(0.0) + 1e-6
    }
}

fn samples(side: Side<'_>, clock: &Clock, tables: &mut Tables) -> Vec<Sample> {
    let history = side.history;
    let signed = |id| i64::try_from(history.allocations.size(id)).unwrap_or(i64::MAX);
    let mut samples = Vec::new();
    let mut birth = |tables: &mut Tables, id: AllocationId, ms| {
        let stack = Some(tables.stack(side, Stack::of_allocation(side, id)));
        samples.push(Sample { ms, weight: signed(id), stack, allocation: id.0 });
    };
    (0..history.allocations.early_count() as u32).for_each(|id| birth(tables, AllocationId(id), 0.0));
    let mut all = std::mem::take(&mut samples);
    for event in 0..history.event_count() {
        let Some((id, is_birth)) = history.lifetime_change(EventIdx(event)) else { continue };
        let (ms, weight) = (clock.after(event), signed(id));
        let stack = if is_birth {
            Stack::of_allocation(side, id)
        } else {
            let own = history.events.stack(event);
            let has_frames = side.snapshot().stacks.innermost(own).is_some();
            let id = if has_frames { own } else { StackId::NONE };
            Stack { root: if has_frames { StackOrigin::Allocation } else { StackOrigin::NoStack }, id }
        };
        let weight = if is_birth { weight } else { -weight };
        all.push(Sample { ms, weight, stack: Some(tables.stack(side, stack)), allocation: id.0 });
    }
    all
}

fn allocations(samples: &[Sample], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{{\"length\":{},\"weightType\":\"bytes\",\"time\":", samples.len())?;
    json::numbers(out, samples.iter().map(|sample| sample.ms))?;
    out.write_all(b",\"weight\":")?;
    json::numbers(out, samples.iter().map(|sample| sample.weight))?;
    out.write_all(b",\"stack\":")?;
    json::list(out, samples, |out, sample| or_null(out, sample.stack))?;
    out.write_all(b",\"memoryAddress\":")?;
    json::numbers(out, samples.iter().map(|sample| sample.allocation))?;
    out.write_all(b",\"threadId\":")?;
    json::numbers(out, samples.iter().map(|_| 0))?;
    out.write_all(b"}")
}

/// An annotation or an OOM, which is displayed as a marker.
struct Marker {
    name: u32,
    /// Start in milliseconds.
    start: f64,
    /// End in milliseconds. `None` for a marker without duration.
    end: Option<f64>,
    /// For an OOM: free bytes on the device, and requested bytes.
    out_of_memory: Option<(Option<u64>, u64)>,
}

/// Writes annotations and OOMs as markers.
fn markers(side: Side<'_>, clock: &Clock, tables: &mut Tables, out: &mut dyn Write) -> io::Result<()> {
    let history = side.history;
    let ms = |us: i64| us.saturating_sub(clock.first_us).max(0) as f64 / 1000.0;
    let mut rows = Vec::new();
    for range in &history.annotations {
        let end = range.end_us.map_or(clock.last(), ms).max(ms(range.start_us));
        let name = tables.text(&side.snapshot().strings.text(range.name));
        rows.push(Marker { name, start: ms(range.start_us), end: Some(end), out_of_memory: None });
    }
    for event in history.oom_events() {
        let (_, requested) = history.address_and_size(EventIdx(event));
        let free = history.free_at_oom(EventIdx(event));
        let (name, start) = (tables.text("Out of memory"), clock.after(event));
        rows.push(Marker { name, start, end: None, out_of_memory: Some((free, requested)) });
    }
    write!(out, "{{\"length\":{},\"category\":", rows.len())?;
    json::numbers(out, rows.iter().map(|_| 0))?;
    out.write_all(b",\"name\":")?;
    json::numbers(out, rows.iter().map(|row| row.name))?;
    out.write_all(b",\"startTime\":")?;
    json::numbers(out, rows.iter().map(|row| row.start))?;
    out.write_all(b",\"endTime\":")?;
    json::list(out, &rows, |out, row| match row.end {
        Some(end) => write!(out, "{end}"),
        None => out.write_all(b"null"),
    })?;
    out.write_all(b",\"phase\":")?;
    json::numbers(out, rows.iter().map(|row| u8::from(row.end.is_some())))?;
    out.write_all(b",\"data\":")?;
    json::list(out, &rows, |out, row| match row.out_of_memory {
        Some((free, requested)) => {
            write!(out, "{{\"type\":\"OOM\",\"requested\":{requested}")?;
            free.map_or(Ok(()), |free| write!(out, ",\"free\":{free}"))?;
            out.write_all(b"}")
        }
        None => out.write_all(b"{\"type\":\"Annotation\"}"),
    })?;
    out.write_all(b"}")
}

/// Writes a counter, as a list of times and changes of its value.
fn counter(
    side: Side<'_>,
    clock: &Clock,
    (name, description): (&str, &str),
    value: fn([u64; 3]) -> u64,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (mut before, mut changes) = (0, Vec::new());
    for point in points(side, 0, u32::MAX) {
        let now = value(point.shown());
        if now != before || point.event.is_none() {
            let ms = point.event.map_or(0.0, |event| clock.after(event));
            changes.push((ms, i128::from(now) - i128::from(before)));
        }
        before = now;
    }
    write!(
        out,
        "{{\"name\":\"{name}\",\"category\":\"Memory\",\"description\":\"{description}\",\"mainThreadIndex\":0,"
    )?;
    write!(out, "\"pid\":\"0\",\"samples\":{{\"length\":{},\"time\":", changes.len())?;
    json::numbers(out, changes.iter().map(|change| change.0))?;
    out.write_all(b",\"count\":")?;
    json::numbers(out, changes.iter().map(|change| change.1))?;
    out.write_all(b"}}")
}
