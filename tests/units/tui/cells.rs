//! Drawing of pixels as half blocks, braille and letters.

use super::*;

const RED: Rgba = [200, 0, 0, 255];
const BLUE: Rgba = [0, 0, 200, 255];
const GROUND: Rgba = [0, 0, 0, 255];

fn image(width: u32, pixels: &[Rgba]) -> RgbaImage {
    let height = pixels.len() as u32 / width;
    RgbaImage { width, height, pixels: pixels.concat() }
}

fn drawn(image: &RgbaImage, blocks: Blocks, depth: Depth) -> (char, Color, Color) {
    let area = Rect { x: 0, y: 0, width: 1, height: 1 };
    let mut buffer = Buffer::empty(area);
    draw(&mut buffer, area, image, GROUND, blocks, depth);
    let cell = buffer.cell((0, 0)).unwrap();
    (cell.symbol().chars().next().unwrap(), cell.fg, cell.bg)
}

#[test]
fn half_blocks_show_both_pixels() {
    let of = |above, below| drawn(&image(1, &[above, below]), Blocks::Half, Depth::True);
    let rgb = |[red, green, blue, _]: Rgba| Color::Rgb(red, green, blue);
    assert_eq!(of(GROUND, GROUND), (' ', Color::Reset, Color::Reset));
    assert_eq!(of(GROUND, RED), ('▄', rgb(RED), Color::Reset));
    assert_eq!(of(RED, GROUND), ('▀', rgb(RED), Color::Reset));
    assert_eq!(of(RED, RED), ('█', rgb(RED), Color::Reset));
    assert_eq!(of(RED, BLUE), ('▀', rgb(RED), rgb(BLUE)));
}

#[test]
fn braille_uses_two_most_frequent_colours() {
    let of = |pixels: [Rgba; 8]| drawn(&image(2, &pixels), Blocks::Braille, Depth::True).0;
    assert_eq!(of([GROUND; 8]), ' ');
    assert_eq!(of([RED; 8]), '█');
    let lower = [GROUND, GROUND, GROUND, GROUND, RED, RED, RED, RED];
    assert_eq!(of(lower), '⣤', "the lower half has its dots");
    let mut one = [GROUND; 8];
    one[0] = RED;
    assert_eq!(of(one), '⠁', "the upper left pixel is dot 1");
}

#[test]
fn slots_are_drawn_as_letters_without_colours() {
    let look = letter_look();
    let colours = picture::render::layers::colours(&look);
    for slot in 0..SLOTS {
        let fill = colours[(slot * SHADES + 1) as usize];
        let line = colours[(picture::render::layers::FILLS + slot * SHADES) as usize];
        assert_eq!((letter_of_pixel(fill), letter_of_pixel(line)), (letter(slot), letter(slot)), "{slot}");
    }
    assert_eq!(letter_of_pixel(look.reserved_fill), RESERVED);
    assert_eq!(letter(2), 'A', "the first call site");
}

#[test]
fn colours_map_to_nearest_of_256() {
    assert_eq!(indexed([0, 0, 0]), 16);
    assert_eq!(indexed([255, 255, 255]), 231);
    assert_eq!(indexed([255, 0, 0]), 196);
    assert_eq!(indexed([128, 128, 128]), 244, "a grey");
}
