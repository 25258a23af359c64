//! Unit tests of `src/picture/render/drawing.rs`.

use super::*;

#[test]
fn outline_covers_each_border_pixel_once() {
    for (width, height, thickness) in
        [(9, 7, 1), (9, 7, 2), (4, 4, 2), (3, 3, 2), (1, 5, 2), (5, 1, 2), (2, 2, 9), (0, 3, 1)]
    {
        let mut covered = std::collections::BTreeMap::new();
        for side in OverlayRect::outline([10, 10 + width], [20, 20 + height], thickness, [0; 4]) {
            for x in side.x[0]..side.x[1] {
                for y in side.y[0]..side.y[1] {
                    *covered.entry((x, y)).or_insert(0) += 1;
                }
            }
        }
        let frame = (10..10 + width)
            .flat_map(|x| (20..20 + height).map(move |y| (x, y)))
            .filter(|(x, y)| (x - 10).min(9 + width - x).min((y - 20).min(19 + height - y)) < thickness)
            .map(|pixel| (pixel, 1));
        assert_eq!(covered, frame.collect(), "{width} × {height}, {thickness} thick");
    }
}
