//! What colour means, without saying which colour: the theme decides that at drawing time.

use serde::{Deserialize, Serialize};

/// How many slots a palette has. A slot is one meaning: one call site, say.
pub const SLOTS: u32 = 64;
/// How many shades a slot has, so that neighbours of one meaning can be told apart.
pub const SHADES: u32 = 4;

/// Index into a palette of [`SLOTS`] × [`SHADES`] colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Paint(pub u16);

impl Paint {
    /// The bytes nobody can explain.
    pub const UNEXPLAINED: Paint = Paint(0);
    /// No stack was recorded.
    pub const NO_STACK: Paint = Paint(SHADES as u16);
    /// The first slot that stands for a call site; all later ones do too.
    pub const FIRST_SITE_SLOT: u32 = 2;

    /// The palette slot of a group of allocations, 0 being those without one; those beyond the palette share the last.
    pub fn slot_of(group: u32) -> u32 {
        match group {
            0 => u32::from(Paint::NO_STACK.0) / SHADES,
            group => (group + Paint::FIRST_SITE_SLOT - 1).min(SLOTS - 1),
        }
    }

    /// The paint of `slot` in the shade of the `instance`-th allocation.
    pub fn new(slot: u32, instance: u32) -> Paint {
        Paint(((slot % SLOTS) * SHADES + instance % SHADES) as u16)
    }
}
