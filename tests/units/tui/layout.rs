//! Layout of the panes.

use super::*;

fn places(width: u16, height: u16, side_has_focus: bool) -> PaneAreas {
    let wishes = LayoutInput { view_percent: 50, is_folded: false, slices: 1, side_has_focus };
    PaneAreas::compute(Rect { x: 0, y: 0, width, height }, wishes)
}

fn panes(of: &PaneAreas) -> [Rect; 11] {
    let PaneAreas { header, minimap, gutter, picture, axis, slices, reading, tabs, view, side, foot, .. } = *of;
    [header, minimap, gutter, picture, axis, slices, reading, tabs, view, side, foot]
}

#[test]
fn panes_fit_screen_without_overlap() {
    for width in [0, 1, 5, 20, 80, 119, 120, 200, 500] {
        for height in [0, 1, 2, 3, 8, 24, 40, 60, 200] {
            for side in [false, true] {
                let places = places(width, height, side);
                let panes = panes(&places);
                for (at, pane) in panes.iter().enumerate() {
                    assert_eq!(pane.intersection(places.all), *pane, "{width}x{height}: pane {at}");
                    for other in panes.iter().skip(at + 1).filter(|other| !other.is_empty() && !pane.is_empty()) {
                        assert!(!pane.intersects(*other), "{width}x{height}: {pane:?} and {other:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn small_screen_shows_picture_and_view() {
    let small = places(80, 24, false);
    assert!(small.picture.height >= 7 && small.view.height >= 7, "{small:?}");
    assert_eq!(small.side, Rect::default());
    let side = places(80, 24, true);
    assert!(side.view.is_empty() && side.side.height == small.view.height, "the side pane replaces the view");
}

#[test]
fn wide_screen_has_side_pane_on_the_right() {
    let wide = places(120, 40, false);
    assert!(wide.side.width >= 40 && wide.side.right() == 120, "{wide:?}");
}
