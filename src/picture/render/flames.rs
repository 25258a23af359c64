//! The boxes of a flame graph: what is uploaded of each, and which colour each of its pixels has. `flames.wgsl` is the same on the GPU.

use super::look::{Look, faded_into};
use crate::timeline::paint::{SHADES, SLOTS};

/// The colour of seams: what is behind the boxes.
pub const SEAM: u32 = 0;
/// The colour of what a search found.
pub const MARK: u32 = 1;
/// The fill of slot 0 of the palette; the others follow, then the four of [`Look::neutral`].
pub const FIRST_FILL: u32 = 2;
/// The first of the neutral fills.
pub const FIRST_NEUTRAL: u32 = FIRST_FILL + SLOTS;
/// Added to a fill: the same, faded.
pub const FADED_FILL: u32 = SLOTS + 4;
/// The first of the fills of a change: [`CHANGE_STEPS`] of what grew, the faintest first, then those of what shrank.
pub const FIRST_CHANGE: u32 = FIRST_FILL + 2 * FADED_FILL;
/// How strongly a box may have changed.
pub const CHANGE_STEPS: u32 = 3;
/// Eighths of its colour that each of these keeps.
const CHANGE_EIGHTHS: [u16; CHANGE_STEPS as usize] = [3, 5, 8];
/// The bits of [`Tile::paint`] that are the index of a colour.
pub const INDEX: u32 = 0xfff;
/// Set in [`Tile::paint`] where a box stands for several: it is hatched.
pub const HATCHED: u32 = 1 << 12;
/// The bar of what was found has its width, in pixels, from this bit of [`Tile::paint`] on.
pub const MARK_SHIFT: u32 = 16;
/// Lines of the hatch are this far apart, in pixels.
pub const HATCH_APART_PX: i32 = 4;
/// A box narrower or lower than this has no seam there: it would be nothing else.
pub const SEAMED_PX: i32 = 3;
/// The bar of what was found has this part of the box's height.
pub const MARK_PART: i32 = 6;

/// A box in pixels of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "gpu", derive(bytemuck::Pod, bytemuck::Zeroable))]
#[repr(C)]
pub struct Tile {
    /// Left and right edge, right exclusive.
    pub x: [i16; 2],
    /// Lower and upper edge counted upwards from the window's bottom, upper exclusive.
    pub y: [i16; 2],
    /// [`INDEX`] of its fill, [`HATCHED`], and above [`MARK_SHIFT`] the width of its bar.
    pub paint: u32,
}

/// The boxes of a picture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flame {
    /// None covers another.
    pub tiles: Vec<Tile>,
    /// As [`colours`] makes them.
    pub colours: Vec<[u8; 4]>,
}

impl Tile {
    /// The index of the colour of a pixel, `column` from the box's left edge and `row` upwards from its lower one. `flames.wgsl` has the
    /// same rules in the same order.
    pub fn colour_at(&self, column: i32, row: i32) -> u32 {
        let [width, height] = [self.x, self.y].map(|[from, to]| i32::from(to) - i32::from(from));
        let is_seam = (width >= SEAMED_PX && column == width - 1) || (height >= SEAMED_PX && row == 0);
        let is_hatch = self.paint & HATCHED != 0 && (column + row) % HATCH_APART_PX == 0;
        if is_seam || is_hatch {
            SEAM
        } else if column < (self.paint >> MARK_SHIFT) as i32 && row <= height / MARK_PART {
            MARK
        } else {
            self.paint & INDEX
        }
    }
}

/// The colours of a theme, by index: seam, mark, slots of the palette and neutral fills, those fills faded, then those of changes.
pub fn colours(look: &Look) -> Vec<[u8; 4]> {
    let mut colours = vec![look.background, look.found];
    colours.extend(look.palette.iter().step_by(SHADES as usize).chain(&look.neutral));
    let faded = colours.iter().skip(FIRST_FILL as usize);
    let faded: Vec<[u8; 4]> = faded.map(|&fill| faded_into(fill, look.background, look.kept_eighths)).collect();
    colours.extend(faded);
    let steps = |fill| CHANGE_EIGHTHS.map(|kept| faded_into(fill, look.background, kept));
    colours.extend(look.change.into_iter().flat_map(steps));
    colours
}
