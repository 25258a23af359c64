//! Converts pixels to terminal cells: half blocks, braille, or one letter per colour on terminals without colours.

use picture::render::{PictureTheme, RgbaImage};
use picture::timeline::paint::{Paint, SHADES, SLOTS};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};

/// Characters for bars that fill 0 to 8 eighths of a cell.
pub(crate) const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Colours that the terminal supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// 24-bit colours.
    True,
    /// xterm's palette of 256 colours.
    Indexed,
    /// No colours. Letters replace colours.
    None,
}

/// Characters used to draw pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Blocks {
    /// Half blocks: 1 × 2 pixels per cell, each with its own colour.
    #[default]
    Half,
    /// Braille: 2 × 4 pixels per cell. The two most frequent colours of a cell are used.
    Braille,
}

impl Blocks {
    /// Returns the number of pixels per cell, horizontally and vertically.
    pub(crate) fn pixels_per_cell(self) -> [u32; 2] {
        if self == Blocks::Half { [1, 2] } else { [2, 4] }
    }
}

type Rgba = [u8; 4];

/// Converts a colour to the nearest colour that the terminal supports.
pub(crate) fn colour([red, green, blue, _]: Rgba, depth: Depth) -> Color {
    match depth {
        Depth::True => Color::Rgb(red, green, blue),
        Depth::Indexed => Color::Indexed(indexed([red, green, blue])),
        Depth::None => Color::Reset,
    }
}

/// Values of each channel in xterm's 6 × 6 × 6 colour cube.
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// Returns the index of the most similar colour in xterm's colour cube or grey ramp.
fn indexed(rgb: [u8; 3]) -> u8 {
    let distance = |candidate: [u8; 3]| -> u32 {
        candidate.iter().zip(rgb).map(|(&a, b)| u32::from(a.abs_diff(b))).map(|by| by * by).sum()
    };
    let nearest =
        |channel: u8| (0u8..).zip(LEVELS).min_by_key(|(_, level)| level.abs_diff(channel)).unwrap_or_default();
    let [red, green, blue] = rgb.map(nearest);
    let cube = ([red.1, green.1, blue.1], 16 + 36 * red.0 + 6 * green.0 + blue.0);
    let greys = (0u8..24).map(|step| ([8 + 10 * step; 3], 232 + step));
    let best = std::iter::once(cube).chain(greys).min_by_key(|(candidate, _)| distance(*candidate));
    best.map_or(16, |(_, index)| index)
}

/// Draws an image into `area`, which must have the matching size. Pixels with the background colour show the terminal's
/// own background.
pub(crate) fn draw(buffer: &mut Buffer, area: Rect, image: &RgbaImage, background: Rgba, blocks: Blocks, depth: Depth) {
    let pixel = |x: u32, y: u32| image.pixel(x, y).filter(|rgba| *rgba != background);
    for (y, row) in (0u32..).zip(area.rows()) {
        for (x, column) in (0u32..).zip(row.columns()) {
            let Some(cell) = buffer.cell_mut((column.x, row.y)) else { continue };
            let (sign, front, behind) = match (blocks, depth) {
                (_, Depth::None) => {
                    let [wide, high] = blocks.pixels_per_cell();
                    let all = (0..high).flat_map(|down| (0..wide).map(move |right| (right, down)));
                    let seen = all.filter_map(|(right, down)| pixel(x * wide + right, y * high + down)).next_back();
                    (seen.map_or(' ', letter_of_pixel), None, None)
                }
                (Blocks::Half, _) => half(pixel(x, 2 * y), pixel(x, 2 * y + 1)),
                (Blocks::Braille, _) => braille(|right, down| pixel(2 * x + right, 4 * y + down)),
            };
            let style = |rgb: Option<Rgba>| rgb.map_or(Color::Reset, |rgba| colour(rgba, depth));
            cell.set_char(sign).set_style(Style::new().fg(style(front)).bg(style(behind)));
        }
    }
}

type StyledChar = (char, Option<Rgba>, Option<Rgba>);

fn half(above: Option<Rgba>, below: Option<Rgba>) -> StyledChar {
    match (above, below) {
        (None, None) => (' ', None, None),
        (None, below) => ('▄', below, None),
        (above, below) if above == below => ('█', above, None),
        (above, below) => ('▀', above, below),
    }
}

/// Bit of the braille dot for each pixel of a cell, by column and row.
const DOTS: [[u32; 4]; 2] = [[0, 1, 2, 6], [3, 4, 5, 7]];

fn braille(pixel: impl Fn(u32, u32) -> Option<Rgba>) -> StyledChar {
    let all: Vec<(u32, Option<Rgba>)> = (0u32..)
        .zip(DOTS)
        .flat_map(|(x, column)| (0u32..).zip(column).map(move |(y, dot)| (x, y, dot)))
        .map(|(x, y, dot)| (dot, pixel(x, y)))
        .collect();
    let count = |colour: Option<Rgba>| all.iter().filter(|(_, seen)| *seen == colour).count();
    let mut colours: Vec<Option<Rgba>> = Vec::new();
    for (_, seen) in &all {
        if !colours.contains(seen) {
            colours.push(*seen);
        }
    }
    colours.sort_by_key(|colour| std::cmp::Reverse(count(*colour)));
    let front = colours.iter().copied().find(Option::is_some).flatten();
    let Some(front) = front else { return (' ', None, None) };
    let behind = colours.iter().copied().find(|colour| *colour != Some(front)).unwrap_or(Some(front));
    if behind == Some(front) {
        return ('█', Some(front), None);
    }
    // Any other colour is replaced by the nearer of the two.
    let distance = |one: Rgba, other: Option<Rgba>| -> u32 {
        let other = other.unwrap_or_default();
        one.iter().zip(other).map(|(&one, other)| u32::from(one.abs_diff(other))).sum()
    };
    let is_front = |seen: Option<Rgba>| {
        seen.is_some_and(|colour| {
            colour == front || (Some(colour) != behind && distance(colour, Some(front)) < distance(colour, behind))
        })
    };
    let dots: u32 = all.iter().filter(|(_, seen)| is_front(*seen)).map(|(dot, _)| 1 << dot).sum();
    (char::from_u32(0x2800 + dots).unwrap_or(' '), Some(front), behind)
}

/// Returns the letter that represents a palette index on terminals without colours.
pub(crate) fn letter(slot: u32) -> char {
    let letters = ('A'..='Z').chain('a'..='z');
    match slot.checked_sub(Paint::FIRST_SITE_SLOT) {
        None if slot == 0 => '?',
        None => '~',
        Some(site) => letters.clone().nth(site as usize).unwrap_or('#'),
    }
}

/// Character for memory that is reserved but not live.
const RESERVED: char = '.';
/// Character for faded blocks.
const FADED: char = ':';
/// Character for the curve of allocated bytes.
const ALLOCATED: char = '=';
/// Character for overlays, such as the cursor.
const OVERLAY: char = '|';

/// Value of the green channel inside a block, with the theme of [`letter_look`].
const FILL: u8 = 200;
/// Value of the green channel at the edge of a block: three quarters of [`FILL`].
const LINE: u8 = 150;
/// Value of the green channel in a faded block: two eighths of [`FILL`].
const FAINT: u8 = 50;

/// Returns a theme whose colours encode the kind of each pixel, for terminals without colours. [`letter_of_pixel`]
/// decodes them.
pub(crate) fn letter_look() -> PictureTheme {
    let mut theme = PictureTheme::dark();
    let palette: Vec<Rgba> = (0..SLOTS * SHADES).map(|index| [(4 * (index / SHADES)) as u8, FILL, 0, 255]).collect();
    if let Ok(palette) = <Box<[Rgba; 256]>>::try_from(palette.into_boxed_slice()) {
        (theme.palette, theme.ordered) = (palette.clone(), palette);
    }
    theme.background = [0, 0, 0, 255];
    (theme.reserved_fill, theme.reserved_edge) = ([0, 0, 9, 255], [0, 0, 9, 255]);
    theme.allocated = [0, 0, 19, 255];
    // Fade so strongly that all faded pixels get the same value.
    theme.kept_eighths = 2;
    let overlay = [0, 0, 255, 255];
    (theme.selection, theme.hover, theme.crosshair, theme.peak) = (overlay, overlay, overlay, overlay);
    theme
}

fn letter_of_pixel([red, green, blue, _]: Rgba) -> char {
    match (green, blue) {
        (FILL, 0) => letter(u32::from(red) / 4),
        (LINE, 0) => letter(u32::from(red) / 3),
        (FAINT, 0) => FADED,
        (0, 9) => RESERVED,
        (0, 19) => ALLOCATED,
        _ => OVERLAY,
    }
}

#[cfg(test)]
#[path = "../../tests/units/tui/cells.rs"]
mod tests;
