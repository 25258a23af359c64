//! Unit tests of `src/picture/render/theme.rs`.

use super::*;

fn themes() -> [(&'static str, PictureTheme); 2] {
    [("light", PictureTheme::light()), ("dark", PictureTheme::dark())]
}

fn linear(channel: u8) -> f64 {
    let encoded = f64::from(channel) / 255.0;
    if encoded <= 0.040_45 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) }
}

/// Simulation of colour blindness in linear light (Viénot, Brettel and Mollon, 1999): a name, the row that red and
/// green share, and the row of blue.
const COLOUR_BLINDNESS: [(&str, [f64; 2], [f64; 3]); 2] = [
    ("no red cones", [0.112_38, 0.887_62], [0.004_01, -0.004_01, 1.0]),
    ("no green cones", [0.292_75, 0.707_25], [-0.022_34, 0.022_34, 1.0]),
];

fn seen(rgba: [u8; 4], (_, yellow, blue): (&str, [f64; 2], [f64; 3])) -> f64 {
    let [red, green, blue_in] = [rgba[0], rgba[1], rgba[2]].map(linear);
    let yellow = yellow[0] * red + yellow[1] * green;
    let blue = blue[0] * red + blue[1] * green + blue[2] * blue_in;
    (0.2126 + 0.7152) * yellow + 0.0722 * blue.max(0.0)
}

/// Returns the relative luminance as WCAG defines it, which every kind of colour blindness preserves best.
fn luminance(rgba: [u8; 4]) -> f64 {
    0.2126 * linear(rgba[0]) + 0.7152 * linear(rgba[1]) + 0.0722 * linear(rgba[2])
}

fn contrast(one: [u8; 4], other: [u8; 4]) -> f64 {
    let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
    one.max(other) / one.min(other)
}

fn colour(look: &PictureTheme, slot: u32, shade: u32) -> [u8; 4] {
    look.palette[Paint::new(slot, shade).0 as usize]
}

#[test]
fn colours_contrast_with_background() {
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
fn neighbouring_call_sites_differ_in_lightness() {
    for (name, look) in themes() {
        for slot in Paint::FIRST_SITE_SLOT..SLOTS - 1 {
            // Includes the two shades that are closest to each other.
            for (shade, other) in (0..SHADES).flat_map(|shade| (0..SHADES).map(move |other| (shade, other))) {
                let contrast = contrast(colour(&look, slot, shade), colour(&look, slot + 1, other));
                assert!(contrast >= 1.12, "{name}, slots {slot} and {}: {contrast:.2}", slot + 1);
            }
        }
    }
}

#[test]
fn neighbouring_call_sites_differ_for_colour_blind_users() {
    for ((name, look), kind) in
        themes().into_iter().flat_map(|theme| COLOUR_BLINDNESS.map(|kind| (theme.clone(), kind)))
    {
        for slot in Paint::FIRST_SITE_SLOT..SLOTS - 1 {
            let pair = [slot, slot + 1].map(|slot| seen(colour(&look, slot, 0), kind) + 0.05);
            let contrast = pair[0].max(pair[1]) / pair[0].min(pair[1]);
            assert!(contrast >= 1.08, "{name}, {}, slots {slot} and {}: {contrast:.2}", kind.0, slot + 1);
        }
    }
}

#[test]
fn colour_ramp_is_monotone_for_colour_blind_users() {
    for ((name, look), kind) in
        themes().into_iter().flat_map(|theme| COLOUR_BLINDNESS.map(|kind| (theme.clone(), kind)))
    {
        let steps = (Paint::FIRST_SITE_SLOT..=Paint::FIRST_SITE_SLOT + RAMP_STEPS)
            .map(|slot| seen(look.ordered[Paint::new(slot, 0).0 as usize], kind));
        let steps: Vec<f64> = steps.collect();
        let rises = steps.windows(2).all(|pair| pair[0] < pair[1]) || steps.windows(2).all(|pair| pair[0] > pair[1]);
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
fn call_site_colours_are_distinct() {
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
fn allocations_without_call_site_are_grey() {
    for (name, look) in themes() {
        for &[red, green, blue, _] in look.palette.iter().take(2 * SHADES as usize) {
            assert!(red.max(green).max(blue) - red.min(green).min(blue) <= 16, "{name}");
        }
    }
}
