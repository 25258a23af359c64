//! Colour roles of the timeline. The theme maps them to colours when drawing.

use serde::{Deserialize, Serialize};

/// Number of palette slots. A slot stands for one meaning, such as a call site.
pub const SLOTS: u32 = 64;
/// Number of shades per slot, so that adjacent blocks of one slot can be distinguished.
pub const SHADES: u32 = 4;

/// Index into a palette of [`SLOTS`] × [`SHADES`] colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Paint(pub u16);

impl Paint {
    /// Paint of bytes that the trace does not explain.
    pub const UNEXPLAINED: Paint = Paint(0);
    /// Paint of allocations without a recorded stack.
    pub const NO_STACK: Paint = Paint(SHADES as u16);
    /// First slot that stands for a call site.
    pub const FIRST_SITE_SLOT: u32 = 2;

    /// Returns the palette slot of a group of allocations. Group 0 contains the allocations without a call site. Groups
    /// beyond the palette share the last slot.
    pub fn slot_of(group: u32) -> u32 {
        match group {
            0 => u32::from(Paint::NO_STACK.0) / SHADES,
            group => (group + Paint::FIRST_SITE_SLOT - 1).min(SLOTS - 1),
        }
    }

    /// Creates the paint of `slot` in the shade of the `instance`-th allocation.
    pub fn new(slot: u32, instance: u32) -> Paint {
        Paint(((slot % SLOTS) * SHADES + instance % SHADES) as u16)
    }
}
