//! Unit tests of `src/picture/outline.rs`.

use super::*;

/// Draws the strokes as text, top row first.
fn picture(parts: &[Rect]) -> String {
    let strokes = outline(parts, 1);
    let covered = |x, y| strokes.iter().any(|it| (it.x[0]..it.x[1]).contains(&x) && (it.y[0]..it.y[1]).contains(&y));
    let row = |y| (0..12).map(|x| if covered(x, y) { '#' } else { '.' }).collect::<String>();
    (0..6).rev().map(row).collect::<Vec<_>>().join("\n")
}

#[test]
fn outline_follows_adjacent_parts() {
    let parts = [Rect { x: [0, 6], y: [2, 6] }, Rect { x: [6, 11], y: [0, 4] }];
    let expected = "\
######......
#....#......
#.....#####.
######....#.
......#...#.
......#####.";
    assert_eq!(picture(&parts), expected);
    assert_eq!(
        picture(&parts[..1]),
        "######......\n#....#......\n#....#......\n######......\n............\n............"
    );
}

#[test]
fn outline_of_thin_rectangle_stays_inside() {
    let thin = Rect { x: [3, 4], y: [2, 3] };
    for stroke in outline(&[thin], 3) {
        assert!(stroke.x[0] >= 3 && stroke.x[1] <= 4 && stroke.y[0] >= 2 && stroke.y[1] <= 3);
    }
}
