//! The two themes: pure data. Text and chrome take their colours from the style sheet, which must match.
//!
//! Meaning comes as a slot and a shade (`timeline::paint`). Hue alone cannot tell 62 call sites apart, for nobody, and for one man in
//! twelve not even six; so slots that follow each other differ in lightness as well, and so do the shades of a slot.

use super::oklch::Oklch;
use crate::timeline::paint::{Paint, SHADES, SLOTS};

/// Every colour of a picture, as sRGB bytes with opacity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    pub background: [u8; 4],
    pub reserved_fill: [u8; 4],
    pub reserved_edge: [u8; 4],
    /// The line of allocated bytes.
    pub allocated: [u8; 4],
    /// The stack's colours, by [`Paint`].
    pub palette: Box<[[u8; 4]; 256]>,
    /// The same for meanings that have an order: slots from [`Paint::FIRST_SITE_SLOT`] on as a ramp.
    pub ordered: Box<[[u8; 4]; 256]>,
    /// How many eighths of its colour a block keeps where others stand out; the rest is what is behind it.
    pub kept_eighths: u16,
    /// Boxes of a flame graph that are no call site of the legend: the user's own code, libraries, C++, notes.
    pub neutral: [[u8; 4]; 4],
    /// Boxes of a flame graph of a change: what grew, what shrank.
    pub change: [[u8; 4]; 2],
    /// What a search found in a box of a flame graph.
    pub found: [u8; 4],
    /// For the overlay: the outline of what is selected.
    pub selection: [u8; 4],
    /// For the overlay: the outline of what is under the pointer.
    pub hover: [u8; 4],
    /// For the overlay: the line at the cursor's moment.
    pub cursor: [u8; 4],
    /// For the overlay: the mark of the peak.
    pub peak: [u8; 4],
}

impl Look {
    /// The theme on white, `#ffffff`.
    pub fn light() -> Look {
        Look {
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
            neutral: [
                [0xbf, 0xce, 0xe4, 0xff],
                [0xdb, 0xe0, 0xe7, 0xff],
                [0xe9, 0xec, 0xf0, 0xff],
                [0xf1, 0xe9, 0xd6, 0xff],
            ],
            change: [[0xd0, 0x5a, 0x1e, 0xff], [0x2f, 0x74, 0xc0, 0xff]],
            found: [0xb0, 0x2a, 0x8f, 0xff],
            selection: [0x10, 0x14, 0x1b, 0xff],
            hover: [0x10, 0x14, 0x1b, 0x99],
            cursor: [0x10, 0x14, 0x1b, 0x40],
            peak: [0xd1, 0x34, 0x38, 0xff],
        }
    }

    /// The theme on near black, `#0f1217`.
    pub fn dark() -> Look {
        Look {
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
            neutral: [
                [0x2f, 0x46, 0x6b, 0xff],
                [0x2b, 0x33, 0x3f, 0xff],
                [0x1e, 0x24, 0x2d, 0xff],
                [0x3d, 0x36, 0x26, 0xff],
            ],
            change: [[0xe0, 0x7a, 0x3c, 0xff], [0x4c, 0x92, 0xdc, 0xff]],
            found: [0xff, 0x8a, 0xe2, 0xff],
            selection: [0xff, 0xff, 0xff, 0xff],
            hover: [0xff, 0xff, 0xff, 0x99],
            cursor: [0xff, 0xff, 0xff, 0x40],
            peak: [0xff, 0x7b, 0x72, 0xff],
        }
    }
}

/// What distinguishes the palettes of the themes, in OKLCH.
struct Ramp {
    unexplained: f64,
    no_stack: f64,
    /// Lightness of even and odd call site slots.
    sites: [f64; 2],
    /// Lightness from one shade to the next.
    shade_step: f64,
    chroma: f64,
}

/// Consecutive slots are a golden angle apart: however many are in use, their hues are spread almost evenly.
const GOLDEN_ANGLE_DEGREES: f64 = 137.507_764;
/// The first call site is blue: calm in both themes, and no signal colour.
const FIRST_HUE_DEGREES: f64 = 255.0;
/// After this many the golden angle is back within 5° at the same lightness; from there on colours are quieter instead.
const LOUD_SITES: u32 = 34;
/// How quiet, as a part of the full chroma.
const QUIET: f64 = 0.6;
/// Shades in steps around the slot's lightness, ordered so that consecutive instances differ by two steps or three; only from the last
/// to the first it is one.
const SHADE_STEPS: [f64; SHADES as usize] = [-0.5, 1.5, -1.5, 0.5];
/// Greys lean towards the blue of the themes.
const GREY: Oklch = Oklch { lightness: 0.0, chroma: 0.012, hue_degrees: 255.0 };

fn palette(ramp: &Ramp) -> Box<[[u8; 4]; 256]> {
    let mut palette = Box::new([[0; 4]; 256]);
    for (index, entry) in (0..SLOTS * SHADES).zip(palette.iter_mut()) {
        let (slot, shade) = (index / SHADES, index % SHADES);
        let step = SHADE_STEPS.get(shade as usize).copied().unwrap_or(0.0) * ramp.shade_step;
        let base = match slot.checked_sub(Paint::FIRST_SITE_SLOT) {
            Some(site) => Oklch {
                lightness: if site.is_multiple_of(2) { ramp.sites[0] } else { ramp.sites[1] },
                chroma: if site < LOUD_SITES { ramp.chroma } else { ramp.chroma * QUIET },
                hue_degrees: FIRST_HUE_DEGREES + f64::from(site) * GOLDEN_ANGLE_DEGREES,
            },
            None if index < u32::from(Paint::NO_STACK.0) => Oklch { lightness: ramp.unexplained, ..GREY },
            None => Oklch { lightness: ramp.no_stack, ..GREY },
        };
        *entry = Oklch { lightness: base.lightness + step, ..base }.to_rgba();
    }
    palette
}

/// Steps of the ramp; slots beyond have its last colour.
const RAMP_STEPS: u32 = 16;
/// From green over blue to violet: lightness alone tells the order to those who see no hues.
const RAMP_HUES_DEGREES: [f64; 2] = [150.0, 310.0];

/// Colours from little to much: from one lightness to another. Slots before the first site's are grey.
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

/// A quarter: what is faded says where it is, and little more.
const FADED_EIGHTHS: u16 = 2;
/// Half: its meaning can still be read.
const BACK_EIGHTHS: u16 = 4;

impl Look {
    /// These colours, in which blocks step back where others stand out, and are not faded as much as they would be.
    pub fn stepping_back(mut self) -> Look {
        self.kept_eighths = BACK_EIGHTHS;
        self
    }

    /// These colours with the palette of ordered meanings.
    pub fn in_order(mut self) -> Look {
        self.palette.clone_from(&self.ordered);
        self
    }

    /// These colours with some slots faded into the background.
    pub fn with_faded(mut self, faded: impl Fn(u32) -> bool) -> Look {
        let look = &mut self;
        let ground = look.background;
        let slots = (0u32..).zip(look.palette.chunks_exact_mut(SHADES as usize));
        for (_, shades) in slots.filter(|(slot, _)| faded(*slot)) {
            for colour in shades {
                *colour = faded_into(*colour, ground, FADED_EIGHTHS);
            }
        }
        self
    }
}

/// Some eighths of a colour in what is behind it.
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
