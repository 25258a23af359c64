//! The light and dark theme. Text and controls take their colours from the style sheet, which must match.
//!
//! A colour is a palette slot and a shade (`timeline::paint`). Hue alone cannot distinguish 62 call sites, and
//! colour-blind people distinguish fewer than six hues. So consecutive slots also differ in lightness, and so do the
//! shades of a slot.

use super::oklch::Oklch;
use crate::timeline::paint::{Paint, SHADES, SLOTS};

/// All colours of a picture, as sRGB bytes with opacity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureTheme {
    pub background: [u8; 4],
    pub reserved_fill: [u8; 4],
    pub reserved_edge: [u8; 4],
    /// Colour of the line of allocated bytes.
    pub allocated: [u8; 4],
    /// Colours of the stack, indexed by [`Paint`].
    pub palette: Box<[[u8; 4]; 256]>,
    /// Colours of the stack for ordered categories. The slots from [`Paint::FIRST_SITE_SLOT`] on are a colour ramp.
    pub ordered: Box<[[u8; 4]; 256]>,
    /// Share of its colour, in eighths, that a block keeps if other blocks are highlighted. The rest is the background.
    pub kept_eighths: u16,
    /// Fills of flame graph boxes that do not represent a call site of the legend: user code, libraries, C++, notes.
    pub flame_neutral: [[u8; 4]; 4],
    /// Fills of flame graph boxes that show a change: growth, shrinkage.
    pub flame_change: [[u8; 4]; 2],
    /// Bar in a flame graph box that shows the share of search results.
    pub flame_found: [u8; 4],
    /// Overlay: outline of the selection.
    pub selection: [u8; 4],
    /// Overlay: outline of the block under the pointer.
    pub hover: [u8; 4],
    /// Overlay: line at the crosshair.
    pub crosshair: [u8; 4],
    /// Overlay: mark of the peak.
    pub peak: [u8; 4],
}

impl PictureTheme {
    /// Returns the theme with a white background, `#ffffff`.
    pub fn light() -> PictureTheme {
        PictureTheme {
            background: [0xff, 0xff, 0xff, 0xff],
            reserved_fill: [0xee, 0xf1, 0xf5, 0xff],
            reserved_edge: [0x9a, 0xa6, 0xb6, 0xff],
            allocated: [0x10, 0x14, 0x1b, 0xff],
            palette: palette(&Ramp {
                unexplained: 0.52,
                no_stack: 0.60,
                sites: [0.62, 0.50],
                shade_step: 0.02,
                chroma: 0.125,
            }),
            ordered: ordered([0.66, 0.34], 0.11),
            kept_eighths: FADED_EIGHTHS,
            flame_neutral: [
                [0xbf, 0xce, 0xe4, 0xff],
                [0xdb, 0xe0, 0xe7, 0xff],
                [0xe9, 0xec, 0xf0, 0xff],
                [0xf1, 0xe9, 0xd6, 0xff],
            ],
            flame_change: [[0xd0, 0x5a, 0x1e, 0xff], [0x2f, 0x74, 0xc0, 0xff]],
            flame_found: [0xb0, 0x2a, 0x8f, 0xff],
            selection: [0x10, 0x14, 0x1b, 0xff],
            hover: [0x10, 0x14, 0x1b, 0x99],
            crosshair: [0x10, 0x14, 0x1b, 0x40],
            peak: [0xd1, 0x34, 0x38, 0xff],
        }
    }

    /// Returns the theme with a nearly black background, `#0f1217`.
    pub fn dark() -> PictureTheme {
        PictureTheme {
            background: [0x0f, 0x12, 0x17, 0xff],
            reserved_fill: [0x19, 0x1e, 0x26, 0xff],
            reserved_edge: [0x4d, 0x5a, 0x6c, 0xff],
            allocated: [0xff, 0xff, 0xff, 0xff],
            palette: palette(&Ramp {
                unexplained: 0.56,
                no_stack: 0.65,
                sites: [0.62, 0.75],
                shade_step: 0.02,
                chroma: 0.105,
            }),
            ordered: ordered([0.50, 0.88], 0.10),
            kept_eighths: FADED_EIGHTHS,
            flame_neutral: [
                [0x2f, 0x46, 0x6b, 0xff],
                [0x2b, 0x33, 0x3f, 0xff],
                [0x1e, 0x24, 0x2d, 0xff],
                [0x3d, 0x36, 0x26, 0xff],
            ],
            flame_change: [[0xe0, 0x7a, 0x3c, 0xff], [0x4c, 0x92, 0xdc, 0xff]],
            flame_found: [0xff, 0x8a, 0xe2, 0xff],
            selection: [0xff, 0xff, 0xff, 0xff],
            hover: [0xff, 0xff, 0xff, 0x99],
            crosshair: [0xff, 0xff, 0xff, 0x40],
            peak: [0xff, 0x7b, 0x72, 0xff],
        }
    }
}

/// Palette parameters of a theme, in OKLCH.
struct Ramp {
    unexplained: f64,
    no_stack: f64,
    /// Lightness of call site slots with even and with odd index.
    sites: [f64; 2],
    /// Difference in lightness between shades.
    shade_step: f64,
    chroma: f64,
}

/// Hue difference between consecutive slots. With the golden angle, hues are spread almost evenly for any number of
/// slots.
const GOLDEN_ANGLE_DEGREES: f64 = 137.507_764;
/// Hue of the first call site: blue, which is not obtrusive in either theme.
const FIRST_HUE_DEGREES: f64 = 255.0;
/// Number of call site slots with full chroma. Later slots have less chroma, because their hues are within 5° of an
/// earlier slot with the same lightness.
const VIVID_SITES: u32 = 34;
/// Chroma of slots after [`VIVID_SITES`], as a fraction of the full chroma.
const LATE_SITE_CHROMA: f64 = 0.6;
/// Lightness of each shade relative to its slot, in units of [`Ramp::shade_step`]. Consecutive shades differ by two or
/// three units, the last and the first by one.
const SHADE_STEPS: [f64; SHADES as usize] = [-0.5, 1.5, -1.5, 0.5];
/// Base colour of all greys. It is slightly blue, like the themes.
const GREY: Oklch = Oklch { lightness: 0.0, chroma: 0.012, hue_degrees: 255.0 };

fn palette(ramp: &Ramp) -> Box<[[u8; 4]; 256]> {
    let mut palette = Box::new([[0; 4]; 256]);
    for (index, entry) in (0..SLOTS * SHADES).zip(palette.iter_mut()) {
        let (slot, shade) = (index / SHADES, index % SHADES);
        let step = SHADE_STEPS.get(shade as usize).copied().unwrap_or(0.0) * ramp.shade_step;
        let base = match slot.checked_sub(Paint::FIRST_SITE_SLOT) {
            Some(site) => Oklch {
                lightness: if site.is_multiple_of(2) { ramp.sites[0] } else { ramp.sites[1] },
                chroma: if site < VIVID_SITES { ramp.chroma } else { ramp.chroma * LATE_SITE_CHROMA },
                hue_degrees: FIRST_HUE_DEGREES + f64::from(site) * GOLDEN_ANGLE_DEGREES,
            },
            None if index < u32::from(Paint::NO_STACK.0) => Oklch { lightness: ramp.unexplained, ..GREY },
            None => Oklch { lightness: ramp.no_stack, ..GREY },
        };
        *entry = Oklch { lightness: base.lightness + step, ..base }.to_rgba();
    }
    palette
}

/// Number of colours in the ramp. Later slots have the last colour.
const RAMP_STEPS: u32 = 16;
/// First and last hue of the ramp, from green through blue to violet. Lightness also shows the order, for people who
/// cannot distinguish the hues.
const RAMP_HUES_DEGREES: [f64; 2] = [150.0, 310.0];

/// Returns a palette with a ramp between two lightness values. Slots before the first call site are grey.
fn ordered(lightness: [f64; 2], chroma: f64) -> Box<[[u8; 4]; 256]> {
    let mut palette = Box::new([[0; 4]; 256]);
    for (index, entry) in (0..SLOTS * SHADES).zip(palette.iter_mut()) {
        let (slot, shade) = (index / SHADES, index % SHADES);
        let step = SHADE_STEPS.get(shade as usize).copied().unwrap_or(0.0) * 0.012;
        let between = |[from, to]: [f64; 2], part: f64| from + (to - from) * part;
        let base = match slot.checked_sub(Paint::FIRST_SITE_SLOT) {
            Some(class) => {
                let part = f64::from(class.min(RAMP_STEPS)) / f64::from(RAMP_STEPS);
                let hue_degrees = between(RAMP_HUES_DEGREES, part);
                Oklch { lightness: between(lightness, part), chroma, hue_degrees }
            }
            None => Oklch { lightness: 0.60, ..GREY },
        };
        *entry = Oklch { lightness: base.lightness + step, ..base }.to_rgba();
    }
    palette
}

/// Share of its colour, in eighths, that a faded block keeps: enough to see its position, but little more.
const FADED_EIGHTHS: u16 = 2;
/// Share of its colour, in eighths, that a block keeps with [`PictureTheme::with_less_fading`]. The colour is then
/// still recognizable.
const LESS_FADED_EIGHTHS: u16 = 4;

impl PictureTheme {
    /// Returns the theme with less fading of blocks that are not highlighted.
    pub fn with_less_fading(mut self) -> PictureTheme {
        self.kept_eighths = LESS_FADED_EIGHTHS;
        self
    }

    /// Returns the theme with the palette of ordered categories.
    pub fn with_ordered_palette(mut self) -> PictureTheme {
        self.palette.clone_from(&self.ordered);
        self
    }

    /// Returns the theme with some palette slots faded into the background: those for which `faded` returns true.
    pub fn with_faded(mut self, faded: impl Fn(u32) -> bool) -> PictureTheme {
        let theme = &mut self;
        let ground = theme.background;
        let slots = (0u32..).zip(theme.palette.chunks_exact_mut(SHADES as usize));
        for (_, shades) in slots.filter(|(slot, _)| faded(*slot)) {
            for colour in shades {
                *colour = faded_into(*colour, ground, FADED_EIGHTHS);
            }
        }
        self
    }
}

/// Mixes `eighths` of a colour into the background.
pub(super) fn faded_into(colour: [u8; 4], ground: [u8; 4], eighths: u16) -> [u8; 4] {
    let mut faded = colour;
    for (channel, behind) in faded.iter_mut().zip(ground) {
        *channel = ((eighths * u16::from(*channel) + (8 - eighths.min(8)) * u16::from(behind) + 4) / 8) as u8;
    }
    faded
}

#[cfg(test)]
#[path = "../../../tests/units/picture/render/look.rs"]
mod tests;
