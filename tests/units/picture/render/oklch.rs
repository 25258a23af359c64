//! Unit tests of `src/picture/render/oklch.rs`.

use super::*;

#[test]
fn sine_and_cosine_match_standard_library() {
    for degrees in (-360..=9000).map(f64::from) {
        let (sine, cosine) = sine_cosine(degrees);
        let (right_sine, right_cosine) = degrees.to_radians().sin_cos();
        assert!((sine - right_sine).abs() < 1e-11 && (cosine - right_cosine).abs() < 1e-11, "{degrees}");
    }
}

#[test]
fn known_colours_are_converted() {
    // Red from CSS Color 4, a grey, and a chroma outside sRGB.
    let cases = [
        (0.627_955, 0.257_683, 29.233_9, [255, 0, 0, 255]),
        (0.598_71, 0.0, 0.0, [127, 127, 127, 255]),
        (1.0, 0.4, 120.0, [255, 255, 255, 255]),
    ];
    for (lightness, chroma, hue_degrees, rgba) in cases {
        let shown = Oklch { lightness, chroma, hue_degrees }.to_rgba();
        let worst = shown.iter().zip(rgba).map(|(shown, wanted)| shown.abs_diff(wanted)).max();
        assert!(worst <= Some(1), "{shown:?} for {rgba:?}");
    }
}
