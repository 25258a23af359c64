//! Moments as arguments of table functions, such as an event or `peak`.

use base::units::{Moment, group_digits};
use engine::Side;

/// Moment that a table function's argument refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TracePosition {
    Peak,
    ReservedPeak,
    OutOfMemory,
    End,
    /// After the event with this index. −1 is before the first event.
    Event(i64),
}

impl TracePosition {
    /// Parses an argument. Returns an error message if it is neither an integer nor a known name.
    pub(crate) fn parse(value: sqlite::Value<'_>) -> Result<TracePosition, String> {
        if let Some(event) = value.integer() {
            return Ok(TracePosition::Event(event));
        }
        match value.text() {
            Some("peak") => Ok(TracePosition::Peak),
            Some("reserved-peak") => Ok(TracePosition::ReservedPeak),
            Some("oom") => Ok(TracePosition::OutOfMemory),
            Some("end") => Ok(TracePosition::End),
            _ => Err("expected 'peak', 'reserved-peak', 'oom', 'end' or the number of an event".to_owned()),
        }
    }

    /// Resolves the moment on a device. Returns an error message if the device has no such moment.
    pub(crate) fn moment(&self, side: Side<'_>) -> Result<Moment, String> {
        let history = side.history;
        let events = history.event_count();
        Ok(match self {
            TracePosition::Peak => history.live_peak().0,
            TracePosition::ReservedPeak => history.reserved_peak(),
            TracePosition::End => Moment(events),
            TracePosition::OutOfMemory => {
                let last = history.oom_events().last();
                Moment(last.ok_or("no OOM in this trace")?.saturating_add(1))
            }
            TracePosition::Event(event) if (-1..i64::from(events)).contains(event) => {
                Moment::after_event_or_minus_one(*event)
            }
            TracePosition::Event(event) => {
                return Err(match events.checked_sub(1) {
                    None => format!("no event {event}: the trace is empty"),
                    Some(last) => format!("no event {event}: the last is {}", group_digits(last.into())),
                });
            }
        })
    }
}
