//! Chrome's trace event JSON, as read by Perfetto, chrome://tracing and the Firefox Profiler: counters, annotations,
//! OOMs, and the largest allocations as spans.

use crate::curve::{Point, points};
use crate::frames::{Stack, outermost_first};
use crate::json;
use analysis::{Sites, site};
use base::units::{Bytes, EventIdx};
use engine::Side;
use history::replay::{AllocationId, AnnotationRange};
use protocol::{ExportQuestion, Grouping, Scope};
use std::io::{self, Write};

/// Process id of device 0. Real process ids are smaller, so the tracks of memory and of processes do not mix.
const FIRST_PROCESS: i64 = 2_000_000_000;
/// Thread id of the first track with annotations.
const ANNOTATIONS: usize = 1;
/// Maximum number of frames written for the stack of a large allocation, innermost first.
const MAX_FRAMES: usize = 64;

/// Writes a complete trace file.
///
/// # Errors
/// Returns the errors of `out`.
pub(crate) fn write(side: Side<'_>, question: &ExportQuestion, out: &mut dyn Write) -> io::Result<()> {
    let first_us = side.history.numbers.time_us.map_or(0, |(first, _)| first);
    write!(out, "{{\"displayTimeUnit\":\"ms\",\"baseTimeNanoseconds\":{},", i128::from(first_us) * 1000)?;
    out.write_all(b"\"otherData\":{\"source\":")?;
    json::text(out, &side.name())?;
    out.write_all(b"},\"traceEvents\":[")?;
    events(side, question, first_us.saturating_mul(1000), out)?;
    out.write_all(b"\n]}\n")
}

/// Writes the events of a device, separated by commas. Times are relative to `base_ns` (nanoseconds since 1970).
///
/// # Errors
/// Returns the errors of `out`.
pub(crate) fn events(side: Side<'_>, question: &ExportQuestion, base_ns: i64, out: &mut dyn Write) -> io::Result<()> {
    let process = FIRST_PROCESS + side.history.device;
    let has_times = side.history.events.times.has_times();
    let mut writer = TraceWriter { side, process, base_ns: if has_times { base_ns } else { 0 }, is_first: true, out };
    writer.head()?;
    writer.counters(question)?;
    writer.annotations()?;
    writer.out_of_memory()?;
    writer.largest(question)
}

struct TraceWriter<'a, 'b> {
    side: Side<'a>,
    process: i64,
    base_ns: i64,
    is_first: bool,
    out: &'b mut dyn Write,
}

impl TraceWriter<'_, '_> {
    /// Writes the common fields of an event. The caller must write its other fields.
    fn event(&mut self, phase: &str, name: &str, thread: usize) -> io::Result<()> {
        let comma = if self.is_first { "" } else { "," };
        self.is_first = false;
        write!(self.out, "{comma}\n{{\"ph\":\"{phase}\",\"pid\":{},\"tid\":{thread},\"name\":", self.process)?;
        json::text(self.out, name)
    }

    /// Writes a time field with nanosecond precision. `us` is in µs since 1970.
    fn time(&mut self, key: &str, us: i64) -> io::Result<()> {
        let ns = i128::from(us) * 1000 - i128::from(self.base_ns);
        let sign = if ns < 0 { "-" } else { "" };
        let (whole, part) = (ns.unsigned_abs() / 1000, ns.unsigned_abs() % 1000);
        match part {
            0 => write!(self.out, ",\"{key}\":{sign}{whole}"),
            part => write!(self.out, ",\"{key}\":{sign}{whole}.{part:03}"),
        }
    }

    fn end(&mut self) -> io::Result<()> {
        self.out.write_all(b"}")
    }

    fn name(&mut self, kind: &str, thread: usize, name: &str) -> io::Result<()> {
        self.event("M", kind, thread)?;
        self.out.write_all(b",\"args\":{\"name\":")?;
        json::text(self.out, name)?;
        self.out.write_all(b"}}")
    }

    fn head(&mut self) -> io::Result<()> {
        let device = self.side.history.device;
        let device = if device < 0 { "host memory".to_owned() } else { self.side.backend().name_of(device) };
        self.name("process_name", 0, &format!("memscape: memory of {device}"))?;
        self.event("M", "process_sort_index", 0)?;
        self.out.write_all(b",\"args\":{\"sort_index\":2000000}}")
    }

    /// Returns the time of an event. Without recorded times, events are a microsecond apart.
    fn at(&self, point: Point) -> i64 {
        let first = || self.side.history.numbers.time_us.map(|(first, _)| first);
        let number = || point.event.map_or(0, i64::from);
        point.time_us.or_else(first).unwrap_or_else(number)
    }

    /// Writes counters. If several events have the same time, only the maximum and the last value are written.
    fn counters(&mut self, question: &ExportQuestion) -> io::Result<()> {
        let names = ["Live bytes (requested)", "Awaiting free bytes (requested)", "Reserved bytes"];
        let (from, to) = (question.range.from, question.range.to);
        let is_seen = |counter: usize| {
            points(self.side, from, to).any(|point| point.shown().get(counter).is_some_and(|&it| it > 0))
        };
        let seen = [true, is_seen(1), is_seen(2)];
        let values_of = |point: Point| point.shown();
        let mut points = points(self.side, from, to).peekable();
        let mut last_values: [Option<u64>; 3] = [None; 3];
        while let Some(first) = points.next() {
            let us = self.at(first);
            let (mut highest, mut last) = (values_of(first), values_of(first));
            while let Some(next) = points.next_if(|&next| self.at(next) == us) {
                last = values_of(next);
                highest.iter_mut().zip(last).for_each(|(highest, now)| *highest = now.max(*highest));
            }
            for (at, name) in names.iter().enumerate().filter(|(at, _)| seen.get(*at) == Some(&true)) {
                let values = [highest.get(at), last.get(at)].map(|value| value.copied().unwrap_or(0));
                for value in values {
                    let Some(last_values) = last_values.get_mut(at).filter(|last_values| **last_values != Some(value))
                    else {
                        continue;
                    };
                    *last_values = Some(value);
                    self.event("C", name, 0)?;
                    self.time("ts", us)?;
                    write!(self.out, ",\"args\":{{\"bytes\":{value}}}}}")?;
                }
            }
        }
        Ok(())
    }

    /// Writes annotations. Annotations that overlap without nesting are written to different threads.
    fn annotations(&mut self) -> io::Result<()> {
        let side = self.side;
        let last = side.history.numbers.time_us.map_or(0, |(_, last)| last);
        let ranges = &side.history.annotations;
        let mut threads: Vec<Vec<i64>> = Vec::new();
        for range in ranges {
            let end = end_of(range, last);
            // Fits if all open annotations of the thread end at or after the end of this one.
            let fits = threads.iter_mut().position(|open| {
                while open.last().is_some_and(|&until| until <= range.start_us) {
                    open.pop();
                }
                open.last().is_none_or(|&until| end <= until)
            });
            let at = fits.unwrap_or(threads.len());
            match threads.get_mut(at) {
                Some(open) => open.push(end),
                None => {
                    threads.push(vec![end]);
                    self.name("thread_name", ANNOTATIONS + at, "Annotations")?;
                }
            }
            self.event("X", &side.snapshot().strings.text(range.name), ANNOTATIONS + at)?;
            self.time("ts", range.start_us)?;
            write!(self.out, ",\"dur\":{}", end.saturating_sub(range.start_us))?;
            self.end()?;
        }
        Ok(())
    }

    fn out_of_memory(&mut self) -> io::Result<()> {
        let history = self.side.history;
        for event in history.oom_events() {
            let (_, requested) = history.address_and_size(EventIdx(event));
            let free = history.free_at_oom(EventIdx(event)).map_or_else(|| "null".to_owned(), |free| free.to_string());
            let us = history.events.times.at(event).unwrap_or(event.into());
            self.event("i", "Out of memory", 0)?;
            self.time("ts", us)?;
            write!(
                self.out,
                ",\"s\":\"p\",\"args\":{{\"event\":{event},\"requested_bytes\":{requested},\"device_free_bytes\":{free}}}"
            )?;
            self.end()?;
        }
        Ok(())
    }

    /// Writes the largest allocations in the range as spans.
    fn largest(&mut self, question: &ExportQuestion) -> io::Result<()> {
        let side = self.side;
        let (history, snapshot) = (side.history, side.snapshot());
        let mut largest: Vec<(u64, AllocationId)> = Vec::new();
        let scope = Scope::ByteMoments(question.range);
        side.for_each_in_scope(scope, &mut |id, _| largest.push((history.allocations.size(id), id)));
        let order = |one: &(u64, AllocationId), other: &(u64, AllocationId)| (other.0, one.1).cmp(&(one.0, other.1));
        let limit = question.largest as usize;
        if limit > 0 && largest.len() > limit {
            largest.select_nth_unstable_by(limit - 1, order);
        }
        largest.truncate(limit);
        largest.sort_unstable_by(order);
        let mut sites = Sites::new(snapshot);
        let last = i64::from(history.event_count());
        let end_us = history.numbers.time_us.map_or(last, |(_, last)| last);
        for (bytes, id) in largest {
            let stack = Stack::of_allocation(side, id);
            let call_site = sites.call_site(snapshot, stack.id).map(|frame| site::short_truncated(snapshot, frame));
            let name = format!("{} {}", Bytes(bytes), call_site.as_deref().unwrap_or(site::NO_STACK));
            let time = |event: Option<EventIdx>, otherwise: i64| match event {
                Some(event) => history.events.times.at(event.0).unwrap_or(event.0.into()),
                None => otherwise,
            };
            let first = history.numbers.time_us.map_or(0, |(first, _)| first);
            let allocated_at = time(history.allocations.allocated_at(id).event(), first);
            let freed_at = time(history.allocations.freed_at(id).and_then(|moment| moment.event()), end_us);
            for (phase, us) in [("b", allocated_at), ("e", freed_at)] {
                self.event(phase, &name, 0)?;
                write!(self.out, ",\"cat\":\"Largest allocations\",\"id\":\"{}\"", id.0)?;
                self.time("ts", us)?;
                if phase == "b" {
                    write!(self.out, ",\"args\":{{\"number\":{},\"requested_bytes\":{bytes},\"category\":", id.0)?;
                    let category = side.group(Grouping::Category, id);
                    json::text(self.out, &side.group_label(Grouping::Category, category))?;
                    if let Some(metadata) = side.user_metadata(id) {
                        self.out.write_all(b",\"user_metadata\":")?;
                        json::text(self.out, &metadata)?;
                    }
                    self.out.write_all(b",\"stack\":")?;
                    let frames = outermost_first(side, stack).into_iter().rev().take(MAX_FRAMES);
                    json::list(self.out, frames, |out, frame| {
                        let texts = frame.texts(side);
                        json::text(out, &format!("{}:{} {}", texts.file, texts.line, texts.name))
                    })?;
                    self.out.write_all(b"}")?;
                }
                self.end()?;
            }
        }
        Ok(())
    }
}

fn end_of(range: &AnnotationRange, last: i64) -> i64 {
    range.end_us.unwrap_or(last).max(range.start_us)
}
