//! Boxes of a flame graph: the uploaded data, and the colour of each pixel. `flames.wgsl` implements the same rules on
//! the GPU.

use super::theme::{PictureTheme, faded_into};
use crate::timeline::paint::{SHADES, SLOTS};

/// Colour index of the lines that separate boxes (seams). They have the background colour.
pub const SEAM: u32 = 0;
/// Colour index of the bar in a box that shows the share of search results.
pub const MARK: u32 = 1;
/// Colour index of the palette's slot 0. The other slots follow, then the four colours of
/// [`PictureTheme::flame_neutral`].
pub const FIRST_FILL: u32 = 2;
/// Colour index of the first colour of [`PictureTheme::flame_neutral`].
pub const FIRST_NEUTRAL: u32 = FIRST_FILL + SLOTS;
/// Difference between the colour index of a faded fill and the index of the same fill without fading.
pub const FADED_FILL: u32 = SLOTS + 4;
/// Colour index of the first fill for changes: [`CHANGE_STEPS`] fills for growth, faintest first, then equally many for
/// shrinkage.
pub const FIRST_CHANGE: u32 = FIRST_FILL + 2 * FADED_FILL;
/// Number of colour intensities for changes. A larger change has a higher intensity.
pub const CHANGE_STEPS: u32 = 3;
/// Opacity of each intensity, in eighths.
const CHANGE_EIGHTHS: [u16; CHANGE_STEPS as usize] = [3, 5, 8];
/// Bits of [`Tile::paint`] that contain the colour index.
pub const INDEX_MASK: u32 = 0xfff;
/// Flag in [`Tile::paint`] for a box that stands for several frames. It is hatched.
pub const HATCHED: u32 = 1 << 12;
/// Position in [`Tile::paint`] of the bits with the width of the search result bar, in pixels.
pub const MARK_SHIFT: u32 = 16;
/// Distance in pixels, along a row or column, between the lines of the hatching.
pub const HATCH_APART_PX: i32 = 4;
/// Minimum width in pixels of a box with a seam at its right edge, and minimum height of a box with a seam at its
/// bottom.
pub const MIN_SEAMED_PX: i32 = 3;
/// Height of a box divided by the height of its search result bar.
pub const MARK_HEIGHT_DIVISOR: i32 = 6;

/// A box in pixels of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Tile {
    /// Left and right edge, right exclusive.
    pub x: [i16; 2],
    /// Lower and upper edge counted upwards from the window's bottom, upper exclusive.
    pub y: [i16; 2],
    /// Colour index ([`INDEX_MASK`]), the flag [`HATCHED`], and from bit [`MARK_SHIFT`] on the width of the search
    /// result bar in pixels.
    pub paint: u32,
}

/// Flame graph boxes of a picture, and their colours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flame {
    /// Disjoint boxes.
    pub tiles: Vec<Tile>,
    /// Colour table, see [`colours`].
    pub colours: Vec<[u8; 4]>,
}

impl Tile {
    /// Returns the colour index of the pixel `column` pixels from the box's left edge and `row` pixels above its lower
    /// edge. `flames.wgsl` has the same rules in the same order.
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

/// Returns the colour table of a theme, in this order: seam, search results, palette slots, neutral fills, faded
/// versions of the slots and neutral fills, changes.
pub fn colours(theme: &PictureTheme) -> Vec<[u8; 4]> {
    let mut colours = vec![theme.background, theme.flame_found];
    colours.extend(theme.palette.iter().step_by(SHADES as usize).chain(&theme.flame_neutral));
    let faded = colours.iter().skip(FIRST_FILL as usize);
    let faded: Vec<[u8; 4]> = faded.map(|&fill| faded_into(fill, theme.background, theme.kept_eighths)).collect();
    colours.extend(faded);
    let steps = |fill| CHANGE_EIGHTHS.map(|kept| faded_into(fill, theme.background, kept));
    colours.extend(theme.flame_change.into_iter().flat_map(steps));
    colours
}
