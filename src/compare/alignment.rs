//! Monotone mapping between the moments of two traces, interpolated between anchors.

use base::column::Column;
use base::units::Moment;
use engine::Side;
pub use protocol::Align;

/// Returns the moment with the peak in a range of A, and the moment with the peak in the corresponding range of B.
pub fn peaks_in([a, b]: [&Side; 2], alignment: &Alignment, range: [Moment; 2]) -> (Option<Moment>, Option<Moment>) {
    let of_b = range.map(|moment| alignment.to_b(moment));
    (Some(a.peak_in(range[0], range[1]).0), Some(b.peak_in(of_b[0], of_b[1]).0))
}

/// Mapping between moments of A and moments of B. Consists of anchors that ascend in both traces.
#[derive(Clone, Debug, Default)]
pub struct Alignment {
    anchors: Column<(u32, u32)>,
}

base::heap_bytes!(Alignment: anchors);

impl Alignment {
    /// Creates a mapping whose only anchor is the start of both traces. Call [`Alignment::add`] to append anchors.
    pub(crate) fn new() -> Alignment {
        let mut anchors = Column::new();
        anchors.push((0, 0));
        Alignment { anchors }
    }

    /// Appends an anchor. Ignored unless its moments are after the previous anchor in both A and B.
    pub(crate) fn add(&mut self, a: u32, b: u32) {
        let last = self.anchors.len().checked_sub(1).and_then(|last| self.anchors.get(last)).unwrap_or_default();
        if a > last.0 && b > last.1 {
            self.anchors.push((a, b));
        }
    }

    /// Appends the last moments of both traces as the final anchor.
    pub(crate) fn end(&mut self, a: u32, b: u32) {
        let last = self.anchors.len().saturating_sub(1);
        match self.anchors.get(last) {
            // If one trace ends at the last anchor, the rest of the other one is aligned with this moment.
            Some((known_a, known_b)) if (known_a == a || known_b == b) && (known_a, known_b) != (a, b) => {
                self.anchors.push((a, b));
            }
            _ => self.add(a, b),
        }
    }

    /// Maps a moment of A to the corresponding moment of B.
    pub fn to_b(&self, moment: Moment) -> Moment {
        Moment(self.map(moment.0, |(a, b)| (a, b)))
    }

    /// Maps a moment of B to the corresponding moment of A.
    pub fn to_a(&self, moment: Moment) -> Moment {
        Moment(self.map(moment.0, |(a, b)| (b, a)))
    }

    fn map(&self, moment: u32, orient: impl Fn((u32, u32)) -> (u32, u32)) -> u32 {
        let anchor = |place: usize| self.anchors.get(place).map(&orient);
        let (mut low, mut high) = (0, self.anchors.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if anchor(middle).is_some_and(|(from, _)| from <= moment) { low = middle + 1 } else { high = middle }
        }
        let before = low.checked_sub(1).and_then(anchor).unwrap_or_default();
        let Some(after) = anchor(low) else { return before.1 };
        let (gap, wide) = (u64::from(after.0 - before.0).max(1), u64::from(after.1.saturating_sub(before.1)));
        before.1 + (u64::from(moment - before.0) * wide / gap) as u32
    }

    /// Returns at most `limit` anchors in ascending order, including the first and the last.
    pub fn sampled_anchors(&self, limit: usize) -> Vec<(u32, u32)> {
        let (count, limit) = (self.anchors.len(), limit.max(2));
        let step = count.saturating_sub(1).div_ceil(limit - 1).max(1);
        let last = count.checked_sub(1).filter(|last| !last.is_multiple_of(step));
        (0..count).step_by(step).chain(last).filter_map(|place| self.anchors.get(place)).collect()
    }

    /// Returns the number of anchors, including the first and the last.
    pub fn anchors(&self) -> usize {
        self.anchors.len()
    }
}

#[cfg(test)]
#[path = "../../tests/units/compare/alignment.rs"]
mod tests;
