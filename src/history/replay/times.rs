//! Event times in four bytes each: an offset from the start of their stretch of events.

use crate::snapshot::NO_TIME;
use base::column::Column;

const STRETCH: usize = 1024;

/// `time_us` of each event of a trace.
#[derive(Clone, Debug)]
pub struct Times {
    /// Events before the first row, of which no time is known.
    skipped: u32,
    /// Time of the first event of each stretch that has one.
    pub(super) start: Column<i64>,
    pub(super) offset: Column<i32>,
    /// Events whose offset does not fit (half an hour within 1024 events) or who have no time.
    pub(super) exceptions: Vec<(u32, i64)>,
    /// The latest time before each stretch; `NO_TIME` where there was none yet.
    pub(super) latest_before: Column<i64>,
    /// First recorded time of the trace, and the latest so far; `NO_TIME` without any.
    first: i64,
    latest: i64,
    /// Whether any event has no time or an earlier one than an event before.
    uneven: bool,
}

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
    /// Those of a trace whose first events were dropped: time begins behind them.
    pub(super) fn skipping(skipped: u32) -> Times {
        Times { skipped, ..Times::default() }
    }

    /// The first recorded time and the latest one, and whether any event has none or an earlier one than an event before.
    pub(super) fn ends(&self) -> (i64, i64, bool) {
        (self.first, self.latest, self.uneven)
    }

    /// Those of a whole trace, out of their columns; `None` where these do not fit together.
    pub(super) fn of_parts(
        [start, latest_before]: [Column<i64>; 2],
        offset: Column<i32>,
        (events, times): (Column<u32>, Column<i64>),
        (first, latest, uneven): (i64, i64, bool),
    ) -> Option<Times> {
        let stretches = offset.len().div_ceil(STRETCH);
        let exceptions: Vec<(u32, i64)> = events.iter().zip(times.iter()).collect();
        let fits = [start.len(), latest_before.len()] == [stretches; 2]
            && events.len() == times.len()
            && exceptions.is_sorted_by(|one, other| one.0 < other.0);
        fits.then_some(Times { skipped: 0, start, offset, exceptions, latest_before, first, latest, uneven })
    }

    /// How many events there are, those that were dropped included.
    pub(super) fn len(&self) -> u32 {
        self.skipped + self.offset.len() as u32
    }

    /// The time of an event, or [`NO_TIME`].
    pub(super) fn recorded_at(&self, event: u32) -> i64 {
        self.at(event).unwrap_or(NO_TIME)
    }

    /// Appends the next event's time, or [`NO_TIME`].
    pub fn push(&mut self, time_us: i64) {
        let at = self.offset.len();
        if at.is_multiple_of(STRETCH) {
            self.start.push(time_us);
            self.latest_before.push(self.latest);
        }
        let start = self.start.get(at / STRETCH).unwrap_or(NO_TIME);
        self.uneven |= time_us == NO_TIME || (self.recorded() && time_us < self.latest);
        if time_us != NO_TIME {
            self.latest = if self.recorded() { self.latest.max(time_us) } else { time_us };
            self.first = if self.first == NO_TIME { time_us } else { self.first };
        }
        let offset = time_us.checked_sub(start).and_then(|offset| i32::try_from(offset).ok());
        match offset.filter(|&offset| offset != EXCEPTION) {
            Some(offset) => self.offset.push(offset),
            None => {
                self.exceptions.push((at as u32, time_us));
                self.offset.push(EXCEPTION);
            }
        }
    }

    /// µs since 1970 of the event with this index; `None` where the file has no time.
    #[inline(always)]
    pub fn at(&self, event: u32) -> Option<i64> {
        let event = event.wrapping_sub(self.skipped);
        let offset = self.offset.get(event as usize)?;
        let time = if offset == EXCEPTION {
            let place = self.exceptions.binary_search_by_key(&event, |&(event, _)| event).ok()?;
            self.exceptions[place].1
        } else {
            self.start.get(event as usize / STRETCH)?.checked_add(i64::from(offset))?
        };
        (time != NO_TIME).then_some(time)
    }

    /// Whether any event has a time.
    pub fn recorded(&self) -> bool {
        self.first != NO_TIME
    }

    /// The same times as an axis; `None` where the file has none.
    pub fn clock(&self) -> Option<Clock<'_>> {
        self.recorded().then_some(Clock { times: self })
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.start.heap_bytes()
            + self.latest_before.heap_bytes()
            + self.offset.heap_bytes()
            + self.exceptions.capacity() * size_of::<(u32, i64)>()
    }
}

/// Wall-clock as an axis in µs: it never goes back (an event whose time does stands at the latest time before it), so the order of
/// events is kept, also within one microsecond.
///
/// ```text
/// x         0 ........ margin ......................... margin + span ....... width
/// moment    |    0    |  1  |2|      3      | .. | n                               |
///             before    event 0: first_us                event n − 1: latest_us
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Clock<'a> {
    times: &'a Times,
}

/// µs before the first and after the latest event of a trace of `span` µs.
pub fn time_axis_margin(span: u64) -> u64 {
    (span / MARGIN_PART).max(1)
}

/// Length in µs of the time axis of a trace of `span` µs.
pub fn time_axis_width(span: u64) -> u64 {
    span.saturating_add(2 * time_axis_margin(span))
}

/// Both ends of the axis are this part of the recorded span: the states before the first and after the last event have a place.
const MARGIN_PART: u64 = 64;

impl Clock<'_> {
    /// µs since 1970 of the first event that has a time.
    pub fn first_us(&self) -> i64 {
        self.times.first
    }

    /// µs from the first time to the latest.
    pub fn span(&self) -> u64 {
        self.times.latest.abs_diff(self.times.first)
    }

    /// µs before the first and after the latest event.
    pub fn margin(&self) -> u64 {
        time_axis_margin(self.span())
    }

    /// Length of the axis in µs.
    pub fn width(&self) -> u64 {
        time_axis_width(self.span())
    }

    /// Where `moment` begins, in µs from the axis' start.
    pub fn x(&self, moment: u32) -> u64 {
        match moment.checked_sub(1) {
            // Before the first event that is there.
            None => 0,
            Some(event) if event < self.times.skipped => 0,
            Some(event) => self.margin().saturating_add(self.latest_up_to(event).abs_diff(self.times.first)),
        }
    }

    /// How many events stand left of `x` µs.
    pub fn events_before(&self, x: f64) -> u32 {
        // Events stand at whole microseconds. (Casts saturate.)
        self.events_before_us(self.times.first.saturating_add((x - self.margin() as f64).ceil() as i64))
    }

    /// How many events stand before a time, in µs since 1970: the moment that holds until then.
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
        // All stretches from `from` on begin at or after it, so the border lies in the one before.
        let skipped = times.skipped;
        let Some(stretch) = from.checked_sub(1) else { return skipped };
        let mut latest = self.latest_before(stretch);
        let start = skipped + (stretch * STRETCH) as u32;
        let end = skipped + times.offset.len().min((stretch + 1) * STRETCH) as u32;
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

    /// The latest time before a stretch of events; the first one where there was none yet.
    fn latest_before(&self, stretch: usize) -> i64 {
        self.times.latest_before.get(stretch).filter(|&time| time != NO_TIME).unwrap_or(self.times.first)
    }

    fn latest_up_to(&self, event: u32) -> i64 {
        if !self.times.uneven {
            return self.times.at(event).unwrap_or(self.times.latest);
        }
        let stretch = event.wrapping_sub(self.times.skipped) as usize / STRETCH;
        let start = self.times.skipped + (stretch * STRETCH) as u32;
        (start..=event).filter_map(|event| self.times.at(event)).fold(self.latest_before(stretch), i64::max)
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/replay/times.rs"]
mod tests;
