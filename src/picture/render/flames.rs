//! Boxes of a flame graph: the uploaded data, and the colour of each pixel. `flames.wgsl` implements the same rules on
//! the GPU.

use super::theme::{PictureTheme, faded_into};
use crate::timeline::paint::{SHADES, SLOTS};

/// Index of the colour of seams, i.e. the background.
pub const SEAM: u32 = 0;
/// Index of the colour of search results.
pub const MARK: u32 = 1;
/// Index of the fill of palette slot 0. The other slots follow, then the four colours of [`Look::neutral`].
pub const FIRST_FILL: u32 = 2;
/// Index of the first neutral fill.
pub const FIRST_NEUTRAL: u32 = FIRST_FILL + SLOTS;
/// Offset from a fill to its faded version.
pub const FADED_FILL: u32 = SLOTS + 4;
/// Index of the first fill for changes: [`CHANGE_STEPS`] for growth, faintest first, then as many for shrinkage.
pub const FIRST_CHANGE: u32 = FIRST_FILL + 2 * FADED_FILL;
/// Number of intensities of a change.
pub const CHANGE_STEPS: u32 = 3;
/// Opacity of each intensity, in eighths.
const CHANGE_EIGHTHS: [u16; CHANGE_STEPS as usize] = [3, 5, 8];
/// Bits of [`Tile::paint`] that contain the colour index.
pub const INDEX_MASK: u32 = 0xfff;
/// Flag in [`Tile::paint`] for a box that stands for several frames. It is hatched.
pub const HATCHED: u32 = 1 << 12;
/// First bit of the search bar's width, in pixels, in [`Tile::paint`].
pub const MARK_SHIFT: u32 = 16;
/// Distance between lines of the hatch, in pixels.
pub const HATCH_APART_PX: i32 = 4;
/// Minimum width and height of a box with a seam.
pub const MIN_SEAMED_PX: i32 = 3;
/// Divisor of the box's height that gives the height of the search bar.
pub const MARK_HEIGHT_DIVISOR: i32 = 6;

/// A box in pixels of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "gpu", derive(bytemuck::Pod, bytemuck::Zeroable))]
#[repr(C)]
pub struct Tile {
    /// Left and right edge, right exclusive.
    pub x: [i16; 2],
    /// Lower and upper edge counted upwards from the window's bottom, upper exclusive.
    pub y: [i16; 2],
    /// Colour [`INDEX`], [`HATCHED`], and the width of the search bar from [`MARK_SHIFT`] on.
    pub paint: u32,
}

/// Boxes of a picture and their colours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flame {
    /// Disjoint boxes.
    pub tiles: Vec<Tile>,
    /// Colour table, see [`colours`].
    pub colours: Vec<[u8; 4]>,
}

impl Tile {
    /// Returns the colour index of a pixel, `column` from the box's left edge and `row` upwards from its lower edge.
    /// `flames.wgsl` has the same rules in the same order.
    pub fn colour_at(&self, column: i32, row: i32) -> u32 {
        let [width, height] = [self.x, self.y].map(|[from, to]| i32::from(to) - i32::from(from));
        let is_seam = (width >= MIN_SEAMED_PX && column == width - 1) || (height >= MIN_SEAMED_PX && row == 0);
        let is_hatch = self.paint & HATCHED != 0 && (column + row) % HATCH_APART_PX == 0;
        if is_seam || is_hatch {
            SEAM
        } else if column < (self.paint >> MARK_SHIFT) as i32 && row <= height / MARK_HEIGHT_DIVISOR {
            MARK
        } else {
            self.paint & INDEX_MASK
        }
    }
}

/// Returns the colour table of a theme: seam, search, palette slots, neutral fills, the faded fills, then changes.
pub fn colours(look: &PictureTheme) -> Vec<[u8; 4]> {
    let mut colours = vec![look.background, look.found];
    colours.extend(look.palette.iter().step_by(SHADES as usize).chain(&look.neutral));
    let faded = colours.iter().skip(FIRST_FILL as usize);
    let faded: Vec<[u8; 4]> = faded.map(|&fill| faded_into(fill, look.background, look.kept_eighths)).collect();
    colours.extend(faded);
    let steps = |fill| CHANGE_EIGHTHS.map(|kept| faded_into(fill, look.background, kept));
    colours.extend(look.change.into_iter().flat_map(steps));
    colours
}
