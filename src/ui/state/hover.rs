//! A hovered spot of the timeline, and the card that describes it.

use crate::state::crosshair::Position;
use crate::text::summary::Fact;
use base::units::{group_digits, pluralize};

/// A position in a scene, and the scene's data about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// Index of the scene's quad (a drawn rectangle) at the position.
    pub quad: usize,
    /// Moment that the column at the position shows.
    pub moment: u32,
    /// Height in bytes to ask the worker about. For a single block, the middle of the block, so that rounding to pixels
    /// cannot hit a neighbouring block. Otherwise, the height of the pointer.
    pub byte: u64,
    /// Lowest and highest id of the allocations in the quad.
    pub ids: [u32; 2],
    /// Number of allocations in the quad.
    pub count: u32,
    /// Sum of the requested bytes of the allocations in the quad.
    pub requested: u64,
    /// Height of the plot in the pixel column under the pointer, in bytes.
    pub total: u64,
    /// Number of allocations that start and end within the column and are therefore not drawn, and the bytes of the
    /// largest one.
    pub hidden: (u32, u64),
}

impl Spot {
    /// Creates a spot for a crosshair at a position set by keys, without data of the scene.
    pub(crate) fn from_position(keys: Position) -> Spot {
        let Position { moment, byte } = keys;
        Spot { quad: usize::MAX, moment, byte, ids: [0, 0], count: 0, requested: 0, total: 0, hidden: (0, 0) }
    }

    pub(crate) fn position(&self) -> Position {
        Position { moment: self.moment, byte: self.byte }
    }

    /// Returns the id of the allocation. `None` unless the quad holds exactly one.
    pub fn single_allocation(&self) -> Option<u32> {
        (self.count == 1).then_some(self.ids[0])
    }
}

/// Contents of the hover card. The number of lines is fixed, so that the card's size does not change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Card {
    pub title: String,
    /// Call site of the allocation, or the number of allocations in a band.
    pub call_site: String,
    pub lifetime: String,
    /// Category, and percentage of the live bytes. Empty in plots of segments.
    pub share: String,
    /// Labels and values of a hovered annotation.
    pub facts: Vec<Fact>,
    /// Text about allocations that are too short to be drawn in the column. Empty if there are none.
    pub hidden: String,
    /// Text about the segment that contains the allocation. Empty in the stack plot.
    pub segment: String,
}

/// Formats a lifetime. `allocated_at` is 0 for an allocation made before recording, and `freed_at` is `None` if it is
/// never freed.
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
