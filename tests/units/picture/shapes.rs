//! Unit tests of `src/picture/shapes.rs`.

use super::*;

#[test]
fn text_wider_than_available_width_is_truncated() {
    assert_eq!(truncated("backward", 10.0, width("backward", 10.0)), "backward");
    assert_eq!(truncated("backward pass", 10.0, width("backward pass", 10.0) - 1.0), "backward pa…");
    assert_eq!(truncated("backward", 10.0, 12.0), "");
    for room in 0..90 {
        let kept = truncated("forward of 語 and more", 10.0, f64::from(room));
        assert!(width(&kept, 10.0) <= f64::from(room) + 1e-9, "{room}: {kept}");
    }
}

/// Checks that a line is diagonal, inside the rectangle, and from edge to edge.
fn check_line(band: Band, [[x0, y0], [x1, y1]]: [[f64; 2]; 2]) {
    assert!((x1 - x0 + y1 - y0).abs() < 1e-6, "{x0} {y0} {x1} {y1}");
    let is_edge = |x: f64, y: f64| {
        (band.x.contains(&x) || band.y.contains(&y))
            && (band.x[0]..=band.x[1]).contains(&x)
            && (band.y[0]..=band.y[1]).contains(&y)
    };
    assert!(is_edge(x0, y0) && is_edge(x1, y1), "{x0} {y0} {x1} {y1}");
}

#[test]
fn hatching_covers_a_rectangle_from_edge_to_edge() {
    let band = Band { x: [10.0, 50.0], y: [3.0, 23.0] };
    let lines = band.hatching(8.0);
    // Sums of both coordinates from 13 to 73: 16, 24, … 72.
    let sums: Vec<f64> = lines.iter().map(|[[x, y], _]| x + y).collect();
    assert_eq!(sums, [16.0, 24.0, 32.0, 40.0, 48.0, 56.0, 64.0, 72.0]);
    lines.iter().for_each(|line| check_line(band, *line));
    assert_eq!(lines[0], [[10.0, 6.0], [13.0, 3.0]]);
    assert_eq!(lines[3], [[17.0, 23.0], [37.0, 3.0]]);
}

#[test]
fn hatching_continues_in_the_next_rectangle() {
    let [left, right] = [[10.0, 30.0], [30.0, 50.0]].map(|x| Band { x, y: [0.0, 40.0] });
    let whole = Band { x: [10.0, 50.0], ..left };
    let length = |bands: &[Band]| -> f64 {
        bands.iter().flat_map(|band| band.hatching(7.0)).map(|[from, to]| to[0] - from[0]).sum()
    };
    assert!((length(&[left, right]) - length(&[whole])).abs() < 1e-6);
}

#[test]
fn clipped_rectangle_is_inside_of_both() {
    let band = Band { x: [-5.0, 50.0], y: [10.0, 30.0] };
    assert_eq!(band.clipped([0.0, 40.0], [0.0, 20.0]), Some(Band { x: [0.0, 40.0], y: [10.0, 20.0] }));
    assert_eq!(band.clipped([60.0, 70.0], [0.0, 20.0]), None);
    assert_eq!(band.clipped([0.0, 40.0], [30.0, 40.0]), None);
    let broken = Band { x: [f64::NAN, 1.0], y: [0.0, 1.0] };
    assert_eq!(broken.clipped([0.0, 1.0], [2.0, 3.0]), None);
}
