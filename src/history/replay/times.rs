//! Event times in four bytes each, as offsets from the first event of a chunk of 1024 events.

use crate::snapshot::NO_TIME;
use base::column::Column;

const CHUNK_EVENTS: usize = 1024;

/// Times of the events of a trace, in µs since 1970.
#[derive(Clone, Debug)]
pub struct Times {
    /// Number of dropped events before the first row. Their times are unknown.
    skipped: u32,
    /// Time of the first event in each chunk.
    pub(super) start: Column<i64>,
    pub(super) offset: Column<i32>,
    /// Index and time of the events whose time is not stored as an offset: they have no time ([`NO_TIME`]), or are more
    /// than half an hour from the first event of their chunk.
    pub(super) exceptions: Vec<(u32, i64)>,
    /// Latest time before each chunk, or `NO_TIME`.
    pub(super) latest_before: Column<i64>,
    /// First recorded time of the trace, or `NO_TIME`.
    first: i64,
    latest: i64,
    /// True if an event has no time, or times decrease.
    uneven: bool,
}

base::heap_bytes!(Times: start, latest_before, offset, exceptions);

const EXCEPTION: i32 = i32::MIN;

impl Default for Times {
    fn default() -> Self {
        let (start, offset, latest_before) = (Column::new(), Column::new(), Column::new());
        Times {
            skipped: 0,
            start,
            offset,
            exceptions: Vec::new(),
            latest_before,
            first: NO_TIME,
            latest: NO_TIME,
            uneven: false,
        }
    }
}

impl Times {
    /// Creates the times of a trace whose first `skipped` events were dropped.
    pub(super) fn with_skipped(skipped: u32) -> Times {
        Times { skipped, ..Times::default() }
    }

    /// Returns the first and the latest time, and `true` if times are missing or decrease.
    pub(super) fn bounds(&self) -> (i64, i64, bool) {
        (self.first, self.latest, self.uneven)
    }

    /// Restores the times of a complete trace from their columns. Returns `None` if the columns are inconsistent.
    pub(super) fn from_parts(
        [start, latest_before]: [Column<i64>; 2],
        offset: Column<i32>,
        (events, times): (Column<u32>, Column<i64>),
        (first, latest, uneven): (i64, i64, bool),
    ) -> Option<Times> {
        let chunk_count = offset.len().div_ceil(CHUNK_EVENTS);
        let exceptions: Vec<(u32, i64)> = events.iter().zip(times.iter()).collect();
        let fits = [start.len(), latest_before.len()] == [chunk_count; 2]
            && events.len() == times.len()
            && exceptions.is_sorted_by(|first, second| first.0 < second.0);
        fits.then_some(Times { skipped: 0, start, offset, exceptions, latest_before, first, latest, uneven })
    }

    /// Returns the number of events, including dropped ones.
    pub(super) fn len(&self) -> u32 {
        self.skipped + self.offset.len() as u32
    }

    /// Returns the time of an event, or [`NO_TIME`].
    pub(super) fn time_or_none(&self, event: u32) -> i64 {
        self.at(event).unwrap_or(NO_TIME)
    }

    /// Appends the time of the next event, or [`NO_TIME`].
    pub fn push(&mut self, time_us: i64) {
        let index = self.offset.len();
        if index.is_multiple_of(CHUNK_EVENTS) {
            self.start.push(time_us);
            self.latest_before.push(self.latest);
        }
        let start = self.start.get(index / CHUNK_EVENTS).unwrap_or(NO_TIME);
        self.uneven |= time_us == NO_TIME || (self.has_times() && time_us < self.latest);
        if time_us != NO_TIME {
            self.latest = if self.has_times() { self.latest.max(time_us) } else { time_us };
            self.first = if self.first == NO_TIME { time_us } else { self.first };
        }
        let offset = time_us.checked_sub(start).and_then(|offset| i32::try_from(offset).ok());
        match offset.filter(|&offset| offset != EXCEPTION) {
            Some(offset) => self.offset.push(offset),
            None => {
                self.exceptions.push((index as u32, time_us));
                self.offset.push(EXCEPTION);
            }
        }
    }

    /// Returns the time of an event in µs since 1970, if the file has it.
    #[inline(always)]
    pub fn at(&self, event: u32) -> Option<i64> {
        let event = event.wrapping_sub(self.skipped);
        let offset = self.offset.get(event as usize)?;
        let time = if offset == EXCEPTION {
            let place = self.exceptions.binary_search_by_key(&event, |&(event, _)| event).ok()?;
            self.exceptions[place].1
        } else {
            self.start.get(event as usize / CHUNK_EVENTS)?.checked_add(i64::from(offset))?
        };
        (time != NO_TIME).then_some(time)
    }

    /// Returns whether any event has a time.
    pub fn has_times(&self) -> bool {
        self.first != NO_TIME
    }

    /// Returns the times as an axis, if the file has any.
    pub fn time_axis(&self) -> Option<TimeAxis<'_>> {
        self.has_times().then_some(TimeAxis { times: self })
    }
}

/// Wall-clock time axis in µs. Positions never decrease: an event with an earlier time than a previous event gets the
/// latest time so far. So the order of events is kept, even within one microsecond.
///
/// ```text
/// x         0 ........ margin ......................... margin + span ....... width
/// moment    |    0    |  1  |2|      3      | .. | n                               |
///             before    event 0: first_us                event n − 1: latest_us
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TimeAxis<'a> {
    times: &'a Times,
}

/// Returns the margin in µs before the first and after the latest event of a trace of `span` µs.
pub fn time_axis_margin(span: u64) -> u64 {
    (span / MARGIN_DIVISOR).max(1)
}

/// Returns the length in µs of the time axis for a trace of `span` µs.
pub fn time_axis_width(span: u64) -> u64 {
    span.saturating_add(2 * time_axis_margin(span))
}

/// Ratio of the recorded span to the length of each margin. The margins show the states before the first and after the
/// last event.
const MARGIN_DIVISOR: u64 = 64;

impl TimeAxis<'_> {
    /// Returns the time of the first event that has a time, in µs since 1970.
    pub fn first_us(&self) -> i64 {
        self.times.first
    }

    /// Returns the duration in µs from the first to the latest time.
    pub fn span(&self) -> u64 {
        self.times.latest.abs_diff(self.times.first)
    }

    /// Returns the margin in µs before the first and after the latest event.
    pub fn margin(&self) -> u64 {
        time_axis_margin(self.span())
    }

    /// Returns the length of the axis in µs.
    pub fn width(&self) -> u64 {
        time_axis_width(self.span())
    }

    /// Returns the start of `moment`, in µs from the start of the axis.
    pub fn x(&self, moment: u32) -> u64 {
        match moment.checked_sub(1) {
            // The state before the first loaded event.
            None => 0,
            Some(event) if event < self.times.skipped => 0,
            Some(event) => self.margin().saturating_add(self.latest_up_to(event).abs_diff(self.times.first)),
        }
    }

    /// Returns the number of events to the left of position `x`, which is in µs from the start of the axis.
    pub fn events_before(&self, x: f64) -> u32 {
        // Events are at whole microseconds. Casts saturate.
        self.events_before_us(self.times.first.saturating_add((x - self.margin() as f64).ceil() as i64))
    }

    /// Returns the number of events before a time in µs since 1970. This is also the moment directly before that time.
    pub fn events_before_us(&self, before: i64) -> u32 {
        let times = self.times;
        let (mut from, mut to) = (0, times.start.len());
        while from < to {
            let middle = usize::midpoint(from, to);
            if self.latest_before(middle) < before {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        // All chunks from `from` on start at or after that time, so the result is in the previous chunk.
        let skipped = times.skipped;
        let Some(chunk) = from.checked_sub(1) else { return skipped };
        let mut latest = self.latest_before(chunk);
        let start = skipped + (chunk * CHUNK_EVENTS) as u32;
        let end = skipped + times.offset.len().min((chunk + 1) * CHUNK_EVENTS) as u32;
        if !times.uneven {
            let (mut from, mut to) = (start, end);
            while from < to {
                let middle = u32::midpoint(from, to);
                if times.at(middle).is_some_and(|time| time < before) { from = middle + 1 } else { to = middle }
            }
            return from;
        }
        (start..end)
            .find(|&event| {
                latest = times.at(event).map_or(latest, |time| latest.max(time));
                latest >= before
            })
            .unwrap_or(end)
    }

    /// Returns the latest time before a chunk of events. For the first chunk, returns the first time of the trace.
    fn latest_before(&self, chunk: usize) -> i64 {
        self.times.latest_before.get(chunk).filter(|&time| time != NO_TIME).unwrap_or(self.times.first)
    }

    fn latest_up_to(&self, event: u32) -> i64 {
        if !self.times.uneven {
            return self.times.at(event).unwrap_or(self.times.latest);
        }
        let chunk = event.wrapping_sub(self.times.skipped) as usize / CHUNK_EVENTS;
        let start = self.times.skipped + (chunk * CHUNK_EVENTS) as u32;
        (start..=event).filter_map(|event| self.times.at(event)).fold(self.latest_before(chunk), i64::max)
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/replay/times.rs"]
mod tests;
