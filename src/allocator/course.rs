//! Memory curves of a run over its events, with a bounded number of points.

/// Maximum number of points in a curve.
pub const MAX_POINTS: usize = 1 << 16;
/// Number of equally long ranges of events in a thinned curve, which keeps only the minimum and maximum of each range.
const PARTS: u32 = (MAX_POINTS / 2) as u32;

/// Curves of reserved and allocated bytes over the events of a run.
#[derive(Clone, Debug)]
pub struct Course {
    pub reserved: Curve,
    pub allocated: Curve,
}

impl Course {
    /// Creates curves over `events` events, starting at these values.
    pub(crate) fn new(events: u32, reserved: u64, allocated: u64) -> Course {
        Course { reserved: Curve::new(events, reserved), allocated: Curve::new(events, allocated) }
    }
}

/// Event index, and the bytes after that event. The value holds until the next point.
type Point = (u32, u64);

/// A step curve of bytes over events.
#[derive(Clone, Debug)]
pub struct Curve {
    at_start: u64,
    points: Vec<Point>,
    level: u64,
    events: u32,
    /// Number of events in each range of a thinned curve.
    width: u32,
    thinned: Option<Part>,
}

/// Range of events of a thinned curve that is being filled.
#[derive(Clone, Copy, Debug)]
struct Part {
    number: u32,
    low: Point,
    high: Point,
}

impl Curve {
    fn new(events: u32, at_start: u64) -> Curve {
        let width = events.div_ceil(PARTS).max(1);
        Curve { at_start, points: Vec::new(), level: at_start, events, width, thinned: None }
    }

    /// Adds the value after an event. Calls must be in order of events.
    #[inline]
    pub(crate) fn add(&mut self, event: u32, bytes: u64) {
        if bytes != self.level {
            self.change(event, bytes);
        }
    }

    fn change(&mut self, event: u32, bytes: u64) {
        if self.thinned.is_none() && self.points.len() < MAX_POINTS {
            self.points.push((event, bytes));
        } else {
            if self.thinned.is_none() {
                let points = std::mem::take(&mut self.points);
                self.level = self.at_start;
                self.thinned = Some(Part { number: 0, low: (0, self.level), high: (0, self.level) });
                points.into_iter().for_each(|(event, bytes)| self.fold(event, bytes));
            }
            self.fold(event, bytes);
        }
        self.level = bytes;
    }

    /// Adds a value to a thinned curve, which keeps only the minimum and maximum of each range of events.
    fn fold(&mut self, event: u32, bytes: u64) {
        let Some(part) = self.thinned else { return };
        let number = (event / self.width).min(PARTS - 1).max(part.number);
        let mut part = match number - part.number {
            0 => part,
            _ => {
                self.close(part);
                // A part starts with the value at the end of the previous one.
                if number - part.number > 1 {
                    self.keep(((part.number + 1).saturating_mul(self.width), self.level));
                }
                let entry = (number.saturating_mul(self.width), self.level);
                Part { number, low: entry, high: entry }
            }
        };
        let point = (event, bytes);
        if part.low == part.high && part.low.0 == event {
            (part.low, part.high) = (point, point);
        }
        if bytes < part.low.1 {
            part.low = point;
        }
        if bytes > part.high.1 {
            part.high = point;
        }
        (self.thinned, self.level) = (Some(part), bytes);
    }

    fn close(&mut self, Part { low, high, .. }: Part) {
        self.keep(low.min(high));
        self.keep(low.max(high));
    }

    fn keep(&mut self, point: Point) {
        if self.points.last().map_or(self.at_start, |last| last.1) != point.1 {
            self.points.push(point);
        }
    }

    /// Returns the bytes before the first event.
    pub fn at_start(&self) -> u64 {
        self.at_start
    }

    /// Returns the points, and true if the curve was thinned.
    pub fn points(mut self) -> (Vec<Point>, bool) {
        let Some(part) = self.thinned else { return (self.points, false) };
        self.close(part);
        let after = part.number.saturating_add(1).saturating_mul(self.width);
        if after < self.events {
            self.keep((after, self.level));
        }
        (self.points, true)
    }
}

#[cfg(test)]
#[path = "../../tests/units/allocator/course.rs"]
mod tests;
