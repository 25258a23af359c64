//! Tests of `src/picture/render/oklch.rs`, a module of its: they reach what is private there.

use super::*;

#[test]
fn sine_and_cosine_are_those_of_the_library() {
    for degrees in (-360..=9000).map(f64::from) {
        let (sine, cosine) = sine_cosine(degrees);
        let (right_sine, right_cosine) = degrees.to_radians().sin_cos();
        assert!((sine - right_sine).abs() < 1e-11 && (cosine - right_cosine).abs() < 1e-11, "{degrees}");
    }
}

#[test]
fn known_colours_come_out() {
    // Red as CSS Color 4 gives it, a grey, and a chroma no screen has.
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
