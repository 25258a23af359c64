//! The two themes: pure data. Text and chrome take their colours from the style sheet, which must match.
//!
//! Meaning comes as a slot and a shade (`timeline::paint`). Hue alone cannot tell 62 call sites apart, for nobody, and for one man in
//! twelve not even six; so slots that follow each other differ in lightness as well, and so do the shades of a slot.

use super::oklch::Oklch;
use crate::timeline::paint::{Paint, SHADES, SLOTS};

/// Every colour of a picture, as sRGB bytes with opacity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// Behind everything. Opaque.
    pub background: [u8; 4],
    /// Below the reserved curve.
    pub reserved_fill: [u8; 4],
    /// The reserved curve itself.
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
mod tests {
    use super::*;

    fn themes() -> [(&'static str, Look); 2] {
        [("light", Look::light()), ("dark", Look::dark())]
    }

    fn linear(channel: u8) -> f64 {
        let encoded = f64::from(channel) / 255.0;
        if encoded <= 0.040_45 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) }
    }

    /// What a colour becomes without one kind of cones, in linear light: first red ones, then green ones (Viénot, Brettel and
    /// Mollon, 1999). The rows of red and green are the same: that is the blindness.
    const BLIND: [(&str, [f64; 2], [f64; 3]); 2] = [
        ("no red cones", [0.112_38, 0.887_62], [0.004_01, -0.004_01, 1.0]),
        ("no green cones", [0.292_75, 0.707_25], [-0.022_34, 0.022_34, 1.0]),
    ];

    fn seen(rgba: [u8; 4], (_, yellow, blue): (&str, [f64; 2], [f64; 3])) -> f64 {
        let [red, green, blue_in] = [rgba[0], rgba[1], rgba[2]].map(linear);
        let yellow = yellow[0] * red + yellow[1] * green;
        let blue = blue[0] * red + blue[1] * green + blue[2] * blue_in;
        (0.2126 + 0.7152) * yellow + 0.0722 * blue.max(0.0)
    }

    /// Relative luminance as WCAG defines it: what survives every kind of colour blindness best.
    fn luminance(rgba: [u8; 4]) -> f64 {
        0.2126 * linear(rgba[0]) + 0.7152 * linear(rgba[1]) + 0.0722 * linear(rgba[2])
    }

    fn contrast(one: [u8; 4], other: [u8; 4]) -> f64 {
        let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
        one.max(other) / one.min(other)
    }

    fn colour(look: &Look, slot: u32, shade: u32) -> [u8; 4] {
        look.palette[Paint::new(slot, shade).0 as usize]
    }

    #[test]
    fn every_colour_stands_out_from_what_is_behind_it() {
        for (name, look) in themes() {
            for (index, &colour) in look.palette.iter().chain(look.ordered.iter()).enumerate() {
                for behind in [look.background, look.reserved_fill] {
                    let contrast = contrast(colour, behind);
                    assert!(contrast >= 2.4, "{name}, colour {index} {colour:?}: {contrast:.2}");
                }
            }
            assert!(contrast(look.reserved_edge, look.background) >= 2.0, "{name}");
            assert!(contrast(look.peak, look.background) >= 3.0, "{name}");
        }
    }

    #[test]
    fn neighbouring_sites_differ_in_lightness() {
        for (name, look) in themes() {
            for slot in Paint::FIRST_SITE_SLOT..SLOTS - 1 {
                // Also in the shades that come closest to each other.
                for (shade, other) in (0..SHADES).flat_map(|shade| (0..SHADES).map(move |other| (shade, other))) {
                    let contrast = contrast(colour(&look, slot, shade), colour(&look, slot + 1, other));
                    assert!(contrast >= 1.12, "{name}, slots {slot} and {}: {contrast:.2}", slot + 1);
                }
            }
        }
    }

    #[test]
    fn neighbouring_sites_differ_for_the_colour_blind() {
        for ((name, look), kind) in themes().into_iter().flat_map(|theme| BLIND.map(|kind| (theme.clone(), kind))) {
            for slot in Paint::FIRST_SITE_SLOT..SLOTS - 1 {
                let pair = [slot, slot + 1].map(|slot| seen(colour(&look, slot, 0), kind) + 0.05);
                let contrast = pair[0].max(pair[1]) / pair[0].min(pair[1]);
                assert!(contrast >= 1.08, "{name}, {}, slots {slot} and {}: {contrast:.2}", kind.0, slot + 1);
            }
        }
    }

    #[test]
    fn the_ramp_rises_for_the_colour_blind() {
        for ((name, look), kind) in themes().into_iter().flat_map(|theme| BLIND.map(|kind| (theme.clone(), kind))) {
            let steps = (Paint::FIRST_SITE_SLOT..=Paint::FIRST_SITE_SLOT + RAMP_STEPS)
                .map(|slot| seen(look.ordered[Paint::new(slot, 0).0 as usize], kind));
            let steps: Vec<f64> = steps.collect();
            let rises =
                steps.windows(2).all(|pair| pair[0] < pair[1]) || steps.windows(2).all(|pair| pair[0] > pair[1]);
            assert!(rises, "{name}, {}: {steps:?}", kind.0);
        }
    }

    #[test]
    fn consecutive_shades_differ() {
        for (name, look) in themes() {
            for (slot, shade) in (0..SLOTS).flat_map(|slot| (0..SHADES - 1).map(move |shade| (slot, shade))) {
                let contrast = contrast(colour(&look, slot, shade), colour(&look, slot, shade + 1));
                assert!(contrast >= 1.1, "{name}, slot {slot}, shades {shade} and after: {contrast:.2}");
            }
        }
    }

    #[test]
    fn no_two_sites_look_the_same() {
        for (name, look) in themes() {
            let sites = Paint::FIRST_SITE_SLOT..SLOTS;
            for (one, other) in sites.clone().flat_map(|one| (one + 1..sites.end).map(move |other| (one, other))) {
                let pair = [one, other].map(|slot| colour(&look, slot, 0));
                let difference = pair[0].iter().zip(pair[1]).map(|(one, other)| one.abs_diff(other)).max();
                assert!(difference >= Some(8), "{name}, slots {one} and {other}: {pair:?}");
            }
        }
    }

    #[test]
    fn what_has_no_site_is_grey() {
        for (name, look) in themes() {
            for &[red, green, blue, _] in look.palette.iter().take(2 * SHADES as usize) {
                assert!(red.max(green).max(blue) - red.min(green).min(blue) <= 16, "{name}");
            }
        }
    }
}
