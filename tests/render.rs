//! The CPU renderer: small pictures that a reviewer can read, and properties that hold for every picture. The GPU is
//! compared with it in `render_gpu.rs`.

use memscape::render::{CpuRenderer, Drawing, Lane, OverlayRect, PictureTheme, RgbaImage};
use memscape::timeline::scene::{BAND, CONTINUED, PENDING, SceneColumns};
use memscape::timeline::{Axis, Quad, Scene, View};
use proptest::prelude::*;

/// A view of one byte per pixel row and one event per pixel column.
fn view(width_px: u32, height_px: u32) -> View {
    View { axis: Axis::Events, x_per_px: 1.0, bytes_per_px: 1.0, left_px: 0, bottom_px: 0, width_px, height_px }
}

fn quad(x: [i16; 2], y: [i16; 2], paint: u32) -> Quad {
    Quad { x, y, paint }
}

/// A scene of one column per pixel, with `reserved` bytes in each of the first columns.
fn scene(view: View, reserved: &[u64], quads: &[Quad]) -> Scene {
    let columns = SceneColumns {
        edge_px: (0..=reserved.len() as i32).collect(),
        reserved: reserved.to_vec(),
        ..SceneColumns::default()
    };
    Scene { view, band_px: 1, columns, quads: quads.to_vec(), identities: Vec::new(), ground: None }
}

/// Colours that map to characters: paints are `a`, `b`, `c`…, the reserved curve is `:` and `-`, the background a dot.
fn look() -> PictureTheme {
    let mut look = PictureTheme::dark();
    look.background = [1, 1, 1, 255];
    look.reserved_fill = [2, 2, 2, 255];
    look.reserved_edge = [3, 3, 3, 255];
    for (index, colour) in look.palette.iter_mut().enumerate() {
        *colour = [index as u8, 200, 100, 255];
    }
    look
}

fn character(rgba: [u8; 4]) -> char {
    match rgba {
        [1, 1, 1, 255] => '.',
        [2, 2, 2, 255] => ':',
        [3, 3, 3, 255] => '-',
        [index @ 0..26, 200, 100, 255] => char::from(b'a' + index),
        // A line has 3/4 of each channel, rounded down. Paints 0, 3 and 4 of the pictures become 0, 2 and 3.
        [0, 150, 75, 255] => 'A',
        [2, 150, 75, 255] => 'D',
        [3, 150, 75, 255] => 'E',
        [255, 255, 255, 255] => '#',
        _ => '?',
    }
}

fn text(image: &RgbaImage) -> String {
    let row = |row| (0..image.width).filter_map(|x| image.pixel(x, row)).map(character).collect::<String>();
    (0..image.height).map(row).collect::<Vec<_>>().join("\n")
}

fn draw(scene: &Scene, view: &View, overlay: &[OverlayRect]) -> RgbaImage {
    let mut twin = CpuRenderer::new();
    twin.upload(0, scene);
    draw_lane(&twin, view, overlay)
}

fn draw_lane(twin: &CpuRenderer, view: &View, overlay: &[OverlayRect]) -> RgbaImage {
    let look = look();
    let (size_px, background) = ([view.width_px, view.height_px], look.background);
    twin.draw(&Drawing { size_px, background, lanes: &[Lane::single(view, &look)], flame: None, overlay })
}

/// Compares an image with a picture given as lines. Leading spaces are ignored.
#[track_caller]
fn assert_picture(image: &RgbaImage, expected: &str) {
    let expected = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    assert_eq!(text(image), expected, "\n{}\n", text(image));
}

#[test]
fn layers_are_drawn_in_order() {
    let scene = scene(
        view(16, 10),
        &[6, 6, 6, 6, 6, 6, 8, 8, 8, 8, 8, 8],
        &[quad([0, 16], [0, 2], 0), quad([4, 10], [2, 6], 3), quad([10, 12], [2, 7], 4)],
    );
    let overlay = [OverlayRect { x: [-3, 2], y: [8, 99], rgba: [255; 4] }];
    assert_picture(
        &draw(&scene, &scene.view, &overlay),
        "
        ##..............
        ##..............
        ......------....
        ......::::EE....
        ----DDDDDDee....
        ::::Ddddddee....
        ::::Ddddddee....
        ::::Ddddddee....
        aaaaaaaaaaaaaaaa
        aaaaaaaaaaaaaaaa",
    );
}

#[test]
fn small_blocks_are_drawn_without_borders() {
    let quads = [
        quad([1, 4], [0, 4], 0),           // smallest block with both lines
        quad([5, 7], [0, 4], 0),           // too narrow for a left line
        quad([8, 12], [0, 3], 0),          // too low for any line
        quad([13, 17], [0, 5], BAND),      // several allocations
        quad([18, 22], [0, 5], CONTINUED), // continues from the left
        quad([0, 3], [5, 9], 3),           // starts at the window's edge, so it may be cut there
        quad([4, 8], [5, 10], 3),          // ends at the window's edge
    ];
    let scene = scene(view(23, 10), &[], &quads);
    assert_picture(
        &draw(&scene, &scene.view, &[]),
        "
        ....Dddd...............
        DDD.Dddd...............
        ddd.Dddd...............
        ddd.Dddd...............
        ddd.Dddd...............
        .............aaaa.AAAA.
        .AAA.AA......aaaa.aaaa.
        .Aaa.aa.aaaa.aaaa.aaaa.
        .Aaa.aa.aaaa.aaaa.aaaa.
        .Aaa.aa.aaaa.aaaa.aaaa.",
    );
}

#[test]
fn stale_scene_is_drawn_at_position_of_new_view() {
    let scene = scene(view(8, 6), &[5, 5, 5, 5], &[quad([2, 6], [0, 4], 0)]);
    let panned = View { left_px: -3, bottom_px: 1, ..scene.view };
    assert_picture(
        &draw(&scene, &panned, &[]),
        "
        ........
        ........
        ...----.
        ...::AAA
        ...::Aaa
        ...::Aaa",
    );
    let zoomed = View { x_per_px: 0.5, bytes_per_px: 2.0, ..view(14, 5) };
    assert_picture(
        &draw(&scene, &zoomed, &[]),
        "
        ..............
        ..............
        --------......
        ::::aaaaaaaa..
        ::::aaaaaaaa..",
    );
}

#[test]
fn drawing_without_scene_shows_background_and_overlay() {
    let mut twin = CpuRenderer::new();
    twin.upload(0, &scene(view(4, 4), &[4; 4], &[quad([0, 4], [0, 4], 0)]));
    twin.keep_scenes(&|number| number > 0);
    let overlay = OverlayRect::outline([0, 4], [0, 3], 1, [255; 4]);
    let image = draw_lane(&twin, &view(4, 3), &overlay);
    assert_picture(&image, "####\n#..#\n####");
}

#[test]
fn lanes_are_clipped_to_their_rows() {
    let mut twin = CpuRenderer::new();
    // Both extend beyond their lanes, upwards and (panned) downwards. One empty row separates them.
    twin.upload(7, &scene(view(6, 9), &[9; 6], &[quad([2, 6], [0, 8], 0)]));
    twin.upload(2, &scene(view(6, 9), &[1; 6], &[quad([0, 5], [0, 7], 4)]));
    let (look, lane) = (look(), View { height_px: 3, ..view(6, 3) });
    let panned = View { bottom_px: 2, left_px: 1, ..lane };
    let lanes = [
        Lane { scene: 2, view: &lane, look: &look, bottom_px: 0 },
        Lane { scene: 9, view: &lane, look: &look, bottom_px: 2 },
        Lane { scene: 7, view: &panned, look: &look, bottom_px: 4 },
    ];
    let overlay = [OverlayRect { x: [5, 6], y: [0, 9], rgba: [255; 4] }];
    let drawing =
        Drawing { size_px: [6, 6], background: look.background, lanes: &lanes, flame: None, overlay: &overlay };
    assert_picture(
        &twin.draw(&drawing),
        "
        :Aaaa#
        :Aaaa#
        .....#
        eeeee#
        eeeee#
        eeeee#",
    );
    let behind = Drawing { size_px: [6, 2], ..drawing };
    assert_picture(&twin.draw(&behind), "eeeee#\neeeee#");
}

#[test]
fn lane_is_drawn_as_if_alone() {
    let quads: Vec<Quad> = (0..9).map(|at| quad([at, 9], [at * 4, at * 4 + 4], PENDING | at as u32)).collect();
    let scene = scene(view(12, 40), &[33; 12], &quads);
    let mut twin = CpuRenderer::new();
    twin.upload(3, &scene);
    let (look, lane) = (look(), View { bottom_px: 5, left_px: -1, ..view(12, 20) });
    let of = |bottom_px, height_px| {
        let lanes = [Lane { scene: 3, view: &lane, look: &look, bottom_px }];
        twin.draw(&Drawing {
            size_px: [12, height_px],
            background: look.background,
            lanes: &lanes,
            flame: None,
            overlay: &[],
        })
    };
    let (alone, lifted) = (of(0, 20), of(17, 50));
    for (x, row) in (0..12).flat_map(|x| (0..50_u32).map(move |row| (x, row))) {
        let expected = row.checked_sub(13).and_then(|row| alone.pixel(x, row)).unwrap_or(look.background);
        assert_eq!(lifted.pixel(x, row), Some(expected), "{x} {row}");
    }
}

#[test]
fn overlay_blending_rounds_to_nearest() {
    let below = OverlayRect { x: [0, 1], y: [0, 1], rgba: [10, 200, 0, 255] };
    let half = OverlayRect { rgba: [20, 100, 255, 128], ..below };
    let clear = OverlayRect { rgba: [9, 9, 9, 0], ..below };
    let pixel = |overlay: &[OverlayRect]| draw_lane(&CpuRenderer::new(), &view(1, 1), overlay).pixel(0, 0);
    // (20 × 128 + 10 × 127) / 255 = 15.02; (100 × 128 + 200 × 127) / 255 = 149.8; 255 × 128 / 255 = 128.
    assert_eq!(pixel(&[below, half]), Some([15, 150, 128, 255]));
    assert_eq!(pixel(&[below, clear]), Some([10, 200, 0, 255]));
}

#[test]
fn empty_window_gives_empty_picture() {
    let scene = scene(view(4, 4), &[4; 4], &[quad([0, 4], [0, 4], 0)]);
    for (width, height) in [(0, 0), (0, 3), (3, 0)] {
        assert!(draw(&scene, &view(width, height), &[]).pixels.is_empty());
    }
}

const SIDE: i16 = 40;

/// Stacks of blocks every few pixels: rectangles that never overlap, as in a real scene.
fn stacks() -> impl Strategy<Value = Vec<Quad>> {
    let stack = (1..6_i16, prop::collection::vec((0..9_i16, any::<u8>()), 0..8));
    prop::collection::vec(stack, 0..16).prop_map(|stacks| {
        let (mut quads, mut left) = (Vec::new(), 0);
        for (width, blocks) in stacks {
            let right = (left + width).min(SIDE);
            let mut bottom = 0;
            for (height, paint) in blocks {
                let top = (bottom + height).min(SIDE);
                quads.push(quad([left, right], [bottom, top], u32::from(paint)));
                bottom = top;
            }
            left = right;
        }
        quads
    })
}

proptest! {
    // A failing case is printed in full. Integration tests have no place for a regression file.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_pixel_is_painted_once(quads in stacks()) {
        let scene = scene(view(SIDE as u32, SIDE as u32), &[], &quads);
        let image = draw(&scene, &scene.view, &[]);
        let background = look().background;
        let painted = image.pixels.chunks(4).filter(|pixel| *pixel != background).count();
        let area: i32 = quads.iter().map(|q| i32::from(q.x[1] - q.x[0]) * i32::from(q.y[1] - q.y[0])).sum();
        prop_assert_eq!(painted as i32, area);
    }

    #[test]
    fn panning_only_moves_pixels(
        quads in stacks(), left_px in -50..50_i64, bottom_px in -50..50_i64, far in 0..1_i64 << 40,
    ) {
        let made_for = View { left_px: far, x_per_px: 1.0 / 3.0, ..view(SIDE as u32, SIDE as u32) };
        let scene = scene(made_for, &[9; SIDE as usize], &quads);
        let still = draw(&scene, &made_for, &[]);
        let background = look().background;
        let panned = draw(&scene, &View { left_px: far + left_px, bottom_px, ..made_for }, &[]);
        for (x, row) in (0..SIDE as u32).flat_map(|x| (0..SIDE as u32).map(move |row| (x, row))) {
            let from = u32::try_from(i64::from(x) + left_px).ok().zip(u32::try_from(i64::from(row) - bottom_px).ok());
            let expected = from.and_then(|(x, row)| still.pixel(x, row)).unwrap_or(background);
            prop_assert_eq!(panned.pixel(x, row), Some(expected));
        }
    }

    #[test]
    fn any_quad_in_any_view_does_not_panic(
        x in any::<[i16; 2]>(), y in any::<[i16; 2]>(), paint in any::<u32>(), rect in any::<([i32; 2], [i32; 2])>(),
        scale in prop::num::f64::ANY, left_px in any::<i64>(), (width, height) in (0..30_u32, 0..30_u32),
    ) {
        let made_for = View { left_px, ..view(30, 30) };
        let scene = scene(made_for, &[7; 30], &[quad(x, y, paint)]);
        let shown = View { x_per_px: scale, bytes_per_px: scale, ..view(width, height) };
        let overlay = [OverlayRect { x: rect.0, y: rect.1, rgba: [1, 2, 3, 4] }];
        prop_assert_eq!(draw(&scene, &shown, &overlay).pixels.len(), (width * height * 4) as usize);
    }
}
