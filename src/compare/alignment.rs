//! Which moment of B belongs to a moment of A: a monotone map out of places that both have, in proportion between them.

use base::column::Column;
use base::units::Moment;
use engine::Side;
pub use engine::protocol::Align;

/// The peaks of a range of A and of the aligned range of B.
pub fn peaks_in([a, b]: [&Side; 2], alignment: &Alignment, range: [Moment; 2]) -> (Option<Moment>, Option<Moment>) {
    let of_b = range.map(|moment| alignment.to_b(moment));
    (Some(a.peak_in(range[0], range[1]).0), Some(b.peak_in(of_b[0], of_b[1]).0))
}

/// The map: moments of A and of B that belong together, ascending in both.
#[derive(Clone, Debug, Default)]
pub struct Alignment {
    anchors: Column<(u32, u32)>,
}

impl Alignment {
    /// Between the ends alone; more is [added](Alignment::add) in order.
    pub(crate) fn new() -> Alignment {
        let mut anchors = Column::new();
        anchors.push((0, 0));
        Alignment { anchors }
    }

    /// The next two moments that belong together; left out where they are not beyond those before.
    pub(crate) fn add(&mut self, a: u32, b: u32) {
        let last = self.anchors.len().checked_sub(1).and_then(|last| self.anchors.get(last)).unwrap_or_default();
        if a > last.0 && b > last.1 {
            self.anchors.push((a, b));
        }
    }

    /// The last moments of both, whatever comes before.
    pub(crate) fn end(&mut self, a: u32, b: u32) {
        let last = self.anchors.len().saturating_sub(1);
        match self.anchors.get(last) {
            // One of them ends where the last anchor is: all that the other has left belongs to that moment.
            Some((known_a, known_b)) if (known_a == a || known_b == b) && (known_a, known_b) != (a, b) => {
                self.anchors.push((a, b));
            }
            _ => self.add(a, b),
        }
    }

    /// The moment of B that belongs to a moment of A.
    pub fn to_b(&self, moment: Moment) -> Moment {
        Moment(self.map(moment.0, |(a, b)| (a, b)))
    }

    /// The moment of A that belongs to a moment of B.
    pub fn to_a(&self, moment: Moment) -> Moment {
        Moment(self.map(moment.0, |(a, b)| (b, a)))
    }

    fn map(&self, moment: u32, way: impl Fn((u32, u32)) -> (u32, u32)) -> u32 {
        let at = |place: usize| self.anchors.get(place).map(&way);
        let (mut low, mut high) = (0, self.anchors.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if at(middle).is_some_and(|(from, _)| from <= moment) { low = middle + 1 } else { high = middle }
        }
        let before = low.checked_sub(1).and_then(at).unwrap_or_default();
        let Some(after) = at(low) else { return before.1 };
        let (gap, wide) = (u64::from(after.0 - before.0).max(1), u64::from(after.1.saturating_sub(before.1)));
        before.1 + (u64::from(moment - before.0) * wide / gap) as u32
    }

    /// At most so many of the places the map is made of, both ends included, ascending in both.
    pub fn places(&self, most: usize) -> Vec<(u32, u32)> {
        let (count, most) = (self.anchors.len(), most.max(2));
        let step = count.saturating_sub(1).div_ceil(most - 1).max(1);
        let last = count.checked_sub(1).filter(|last| !last.is_multiple_of(step));
        (0..count).step_by(step).chain(last).filter_map(|place| self.anchors.get(place)).collect()
    }

    /// How many places the map is made of, both ends included.
    pub fn anchors(&self) -> usize {
        self.anchors.len()
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.anchors.heap_bytes()
    }
}

#[cfg(test)]
#[path = "../../tests/units/compare/alignment.rs"]
mod tests;
