//! A hovered spot of the timeline, and the card that describes it.

use crate::crosshair::Position;
use crate::summary::Fact;
use base::units::{group_digits, pluralize};

/// A position in the scene, with the scene's data about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// Index of the quad in the scene.
    pub quad: usize,
    /// Moment that the column shows.
    pub moment: u32,
    /// Height in bytes to ask the worker about: that of the pointer, or of the middle of a single block, where rounding
    /// to pixels cannot hit a neighbour.
    pub byte: u64,
    /// Ids of the lowest and the highest allocation in the quad.
    pub ids: [u32; 2],
    /// Number of allocations in the quad.
    pub count: u32,
    /// Requested bytes of those allocations.
    pub requested: u64,
    /// Total of the plot at the moment, in bytes.
    pub total: u64,
    /// Number of allocations that start and end within the column, and the bytes of the largest one.
    pub hidden: (u32, u64),
}

impl Spot {
    /// Creates a spot for a crosshair that was set by keys, without data from the scene.
    pub(crate) fn from_position(keys: Position) -> Spot {
        let Position { moment, byte } = keys;
        Spot { quad: usize::MAX, moment, byte, ids: [0, 0], count: 0, requested: 0, total: 0, hidden: (0, 0) }
    }

    /// Returns the moment and the height.
    pub(crate) fn position(&self) -> Position {
        Position { moment: self.moment, byte: self.byte }
    }

    /// Returns the allocation, if the quad holds exactly one.
    pub fn single_allocation(&self) -> Option<u32> {
        (self.count == 1).then_some(self.ids[0])
    }
}

/// The hover card. It always has the same lines, so that its size does not change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Card {
    pub title: String,
    /// Call site, or the number of allocations.
    pub call_site: String,
    pub lifetime: String,
    /// Category, and share of the live bytes. Empty in plots of segments.
    pub share: String,
    /// Labels and values of a hovered annotation.
    pub facts: Vec<Fact>,
    /// Allocations that are too short to be drawn in the column. Empty if there are none.
    pub hidden: String,
    /// Segment that contains the allocation. Empty in the stack plot.
    pub segment: String,
}

/// Formats the lifetime between two moments. Moment 0 means allocated before recording.
pub(crate) fn lifetime_text(allocated_at: u32, freed_at: Option<u32>) -> String {
    let mut text = match allocated_at {
        0 => "allocated before recording".to_owned(),
        allocated_at => format!("allocated at event {}", group_digits(u64::from(allocated_at - 1))),
    };
    match freed_at {
        None => text.push_str(", never freed"),
        Some(freed_at) => {
            text.push_str(", freed at ");
            text.push_str(&group_digits(u64::from(freed_at.saturating_sub(1))));
            if allocated_at > 0 {
                text.push_str(&format!(" ({})", pluralize(u64::from(freed_at.saturating_sub(allocated_at)), "event")));
            }
        }
    }
    text
}
