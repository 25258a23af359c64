//! Flame graph boxes drawn by the CPU renderer, one character per pixel. The GPU is compared with it in `render_gpu.rs`
//! and in the browser tests.

use memscape::render::flames::{
    CHANGE_STEPS, FADED_FILL, FIRST_CHANGE, FIRST_FILL, FIRST_NEUTRAL, HATCHED, MARK, MARK_SHIFT, SEAM, colours,
};
use memscape::render::{CpuRenderer, Drawing, Flame, OverlayRect, PictureTheme, RgbaImage, Tile};
use std::collections::BTreeSet;

/// Colours whose red channel is their own index.
fn index_colours() -> Vec<[u8; 4]> {
    (0..=FIRST_NEUTRAL + FADED_FILL + 4).map(|index| [index as u8, 7, 7, 255]).collect()
}

fn draw(size_px: [u32; 2], tiles: Vec<Tile>, overlay: &[OverlayRect]) -> RgbaImage {
    let flame = Flame { tiles, colours: index_colours() };
    let background = [255; 4];
    CpuRenderer::new().draw(&Drawing { size_px, background, lanes: &[], flame: Some(&flame), overlay })
}

fn text(image: &RgbaImage) -> Vec<String> {
    let character = |rgba: [u8; 4]| match (u32::from(rgba[0]), rgba[1]) {
        (SEAM, 7) => '.',
        (MARK, 7) => '=',
        (index, 7) => char::from(b'a' + (index - FIRST_FILL) as u8),
        (9, 9) => '#',
        _ => ' ',
    };
    let row = |row| (0..image.width).filter_map(|x| image.pixel(x, row)).map(character).collect::<String>();
    (0..image.height).map(row).collect()
}

#[test]
fn flame_graph_boxes_have_seams_bars_and_hatches() {
    let fill = |at: u32| FIRST_FILL + at;
    let tiles = vec![
        Tile { x: [0, 20], y: [18, 24], paint: fill(0) },
        Tile { x: [0, 12], y: [12, 18], paint: fill(1) | 7 << MARK_SHIFT },
        Tile { x: [12, 18], y: [12, 18], paint: fill(2) | HATCHED },
        Tile { x: [0, 2], y: [6, 12], paint: fill(3) | 2 << MARK_SHIFT },
        Tile { x: [2, 5], y: [6, 12], paint: fill(4) },
        // Cut by the window.
        Tile { x: [-2, 9], y: [-4, 6], paint: fill(5) },
        Tile { x: [14, 99], y: [-4, 2], paint: fill(6) },
    ];
    let overlay = OverlayRect::outline([0, 20], [18, 24], 1, [9, 9, 9, 255]);
    let expected = "\
####################
#aaaaaaaaaaaaaaaaaa#
#aaaaaaaaaaaaaaaaaa#
#aaaaaaaaaaaaaaaaaa#
#aaaaaaaaaaaaaaaaaa#
####################
bbbbbbbbbbb.ccc.c.  
bbbbbbbbbbb..ccc..  
bbbbbbbbbbb.c.ccc.  
bbbbbbbbbbb.cc.cc.  
=======bbbb.ccc.c.  
..................  
ddee.               
ddee.               
ddee.               
ddee.               
==ee.               
.....               
ffffffff.           
ffffffff.           
ffffffff.           
ffffffff.           
ffffffff.     gggggg
ffffffff.     gggggg";
    let drawn = text(&draw([20, 24], tiles, &overlay));
    assert_eq!(drawn, expected.lines().collect::<Vec<_>>(), "\n{}\n", drawn.join("\n"));
}

#[test]
fn palette_index_without_colour_draws_nothing() {
    let tiles = vec![Tile { x: [0, 2], y: [0, 2], paint: 0xfff }];
    assert_eq!(text(&draw([2, 2], tiles, &[])), ["  ", "  "]);
}

#[test]
fn fills_have_faded_colours_and_neutrals_are_distinct() {
    for look in [PictureTheme::light(), PictureTheme::dark()] {
        let colours = colours(&look);
        assert_eq!(colours.len() as u32, FIRST_CHANGE + 2 * CHANGE_STEPS);
        // Colours of growth and shrinkage are distinct, and the strongest of each is the unmixed colour.
        let changes: BTreeSet<[u8; 4]> = colours.iter().skip(FIRST_CHANGE as usize).copied().collect();
        assert_eq!(changes.len() as u32, 2 * CHANGE_STEPS);
        assert!(look.flame_change.iter().all(|colour| changes.contains(colour)));
        let colour = |index: u32| colours[index as usize];
        assert_eq!((colour(SEAM), colour(MARK)), (look.background, look.flame_found));
        // The same colour as in the legend.
        assert_eq!((colour(FIRST_FILL + 2), colour(FIRST_FILL + 63)), (look.palette[8], look.palette[252]));
        assert_eq!(colour(FIRST_NEUTRAL), look.flame_neutral[0]);
        for index in FIRST_FILL..FIRST_FILL + FADED_FILL {
            let distance = |colour: [u8; 4]| -> u32 {
                colour.iter().zip(look.background).map(|(one, other)| u32::from(one.abs_diff(other))).sum()
            };
            assert!(distance(colour(index + FADED_FILL)) < distance(colour(index)), "{index} fades");
        }
        for (one, other) in (0..4).flat_map(|one| (one + 1..4).map(move |other| (one, other))) {
            assert_ne!(look.flame_neutral[one], look.flame_neutral[other]);
        }
    }
}
