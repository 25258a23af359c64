//! Event times in four bytes each: an offset from the start of their stretch of events.

use crate::column::Column;
use crate::snapshot::NO_TIME;
use std::collections::BTreeMap;

const STRETCH: usize = 1024;

/// `time_us` of each event of a trace.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// Time of the first event of each stretch that has one.
    start: Column<i64>,
    offset: Column<i32>,
    /// Events whose offset does not fit (half an hour within 1024 events) or who have no time.
    exceptions: BTreeMap<u32, i64>,
    recorded: bool,
}

const EXCEPTION: i32 = i32::MIN;

impl Times {
    /// Appends the next event's time, or [`NO_TIME`].
    pub(super) fn push(&mut self, time_us: i64) {
        let at = self.offset.len();
        if at.is_multiple_of(STRETCH) {
            self.start.push(time_us);
        }
        let start = self.start.get(at / STRETCH).unwrap_or(NO_TIME);
        self.recorded |= time_us != NO_TIME;
        let offset = time_us.checked_sub(start).and_then(|offset| i32::try_from(offset).ok());
        match offset.filter(|&offset| offset != EXCEPTION) {
            Some(offset) => self.offset.push(offset),
            None => {
                self.exceptions.insert(at as u32, time_us);
                self.offset.push(EXCEPTION);
            }
        }
    }

    /// µs since 1970 of the event with this index; `None` where the file has no time.
    pub fn at(&self, event: u32) -> Option<i64> {
        let offset = self.offset.get(event as usize)?;
        let time = if offset == EXCEPTION {
            self.exceptions.get(&event).copied()?
        } else {
            self.start.get(event as usize / STRETCH)?.checked_add(i64::from(offset))?
        };
        (time != NO_TIME).then_some(time)
    }

    /// Whether any event has a time.
    pub fn recorded(&self) -> bool {
        self.recorded
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.start.heap_bytes() + self.offset.heap_bytes() + self.exceptions.len() * 24
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_comes_back() {
        let t0 = 1_760_000_000_000_000;
        let mut times = Times::default();
        let all: Vec<i64> = (0..5000)
            .map(|at| match at % 1000 {
                7 => NO_TIME,
                8 => t0 + 9_000_000_000_000 * at,
                9 => t0 - 5,
                10 => i64::MAX,
                _ => t0 + at * 13,
            })
            .collect();
        all.iter().for_each(|&time| times.push(time));
        for (at, &time) in all.iter().enumerate() {
            assert_eq!(times.at(at as u32), (time != NO_TIME).then_some(time), "event {at}");
        }
        assert_eq!(times.at(5000), None);
    }
}
