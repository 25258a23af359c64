//! Golden pictures of small histories, drawn by the CPU renderer with one character per pixel.
//!
//! `MEMSCAPE_BLESS=1 cargo test --test golden` rewrites them. Review the result before committing.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

use crate::support;

use memscape::render::layers::{self, ALLOCATED, FILLS, RESERVED};
use memscape::render::{CpuRenderer, Drawing, Lane, PictureTheme, RgbaImage};
use memscape::replay::{AllocationId, Allocations};
use memscape::timeline::scene::FADED;
use memscape::timeline::{AddressJob, AddressSource, Axis, Scene, SceneJob, View};
use std::collections::BTreeMap;
use std::path::Path;
use support::history::History;

/// Returns colors that stay distinguishable when they are faded or drawn as a line.
fn look() -> PictureTheme {
    let mut look = PictureTheme::dark();
    (look.background, look.allocated) = ([0, 0, 0, 255], [255, 255, 255, 255]);
    (look.reserved_fill, look.reserved_edge) = ([2, 2, 2, 255], [3, 3, 3, 255]);
    for (index, colour) in look.palette.iter_mut().enumerate() {
        *colour = [(8 * index) as u8, 200, 100, 255];
    }
    look
}

/// Returns the character and the meaning of a color index.
fn name(index: u32) -> (char, String) {
    let letter = |from: char, at: u32| char::from_u32(u32::from(from) + at).unwrap();
    match index % FILLS {
        RESERVED if index < FILLS => (':', "reserved".to_owned()),
        RESERVED => ('-', "the reserved curve".to_owned()),
        ALLOCATED => ('=', "the line of allocated bytes".to_owned()),
        id @ ..FADED if index < FILLS => (letter('a', id), format!("allocation {id}")),
        id @ ..FADED => (letter('A', id), format!("a line of allocation {id}")),
        faded if index < FILLS => (letter('α', faded - FADED), format!("allocation {}, faded", faded - FADED)),
        faded => (letter('Α', faded - FADED), format!("a line of allocation {}, faded", faded - FADED)),
    }
}

/// Returns a picture as text, with a legend of its characters.
fn text(image: &RgbaImage) -> String {
    let look = look();
    let mut names = BTreeMap::from([(look.background, ('.', "nothing".to_owned()))]);
    for (index, colour) in (0u32..).zip(layers::colours(&look)) {
        // These histories have fewer than 20 allocations.
        if index % FILLS % FADED < 20 || index % FILLS >= RESERVED {
            let known = names.insert(colour, name(index));
            assert!(known.is_none_or(|known| known.0 == name(index).0), "two meanings of {colour:?}");
        }
    }
    let mut legend = BTreeMap::new();
    let mut rows = String::new();
    for row in 0..image.height {
        for column in 0..image.width {
            let (character, meaning) =
                names.get(&image.pixel(column, row).unwrap()).expect("a colour of the look").clone();
            rows.push(character);
            legend.insert(character, meaning);
        }
        rows.push('\n');
    }
    let legend: String = legend.into_iter().map(|(character, meaning)| format!("{character}  {meaning}\n")).collect();
    format!("{rows}\n{legend}")
}

fn check(name: &str, history: &History, view: View) {
    let scene = history.with_source(|source| SceneJob::run(source, view)).expect("a job without a budget finishes");
    support::brute_force_scene::check(history, &scene);
    check_scene(name, &scene);
}

fn check_scene(name: &str, scene: &Scene) {
    let view = scene.view;
    let mut twin = CpuRenderer::new();
    twin.upload(0, scene);
    let look = look();
    let (size_px, background) = ([view.width_px, view.height_px], look.background);
    let drawn = text(&twin.draw(&Drawing {
        size_px,
        background,
        lanes: &[Lane::single(&view, &look)],
        flame: None,
        overlay: &[],
    }));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.txt"));
    if std::env::var_os("MEMSCAPE_BLESS").is_some() {
        std::fs::write(&path, &drawn).expect("the folder can be written");
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (drawn_lines, golden_lines) = (lines(&drawn), lines(&golden));
    let line = |lines: &[String], at: usize| lines.get(at).cloned().unwrap_or_default();
    let differing =
        (0..drawn_lines.len().max(golden_lines.len())).filter(|&at| line(&drawn_lines, at) != line(&golden_lines, at));
    let differences: String = differing
        .map(|at| {
            format!("line {}\n  golden {}\n  drawn  {}\n", at + 1, line(&golden_lines, at), line(&drawn_lines, at))
        })
        .collect();
    assert!(differences.is_empty(), "tests/golden/{name}.txt:\n{differences}\nthe whole picture:\n{drawn}");
}

/// A history whose blocks start and end, fall when a block below is freed, and one that lives throughout.
fn training() -> History {
    History::from_picture(
        "
        .........##......... 40
        .......######....... 60
        .....#########...... 60
        ...####............. 90
        ..###############... 50
        .################... 30
        #################### 80
        ",
    )
}

#[test]
fn blocks_in_allocation_order_match_golden() {
    let history = training();
    check("birth_order", &history, View { bytes_per_px: 12.0, ..View::fit(20, 1, 60, 34) });
}

#[test]
fn grouped_blocks_match_golden() {
    let history = training().grouped(&[1, 0, 2]);
    check("grouped", &history, View { bytes_per_px: 12.0, ..View::fit(20, 1, 60, 34) });
}

#[test]
fn thin_blocks_are_drawn_as_bands() {
    let history = History::from_picture(
        "
        ......########.. 40
        ....############ 3
        ...#########.... 2
        ..############## 4
        .#####.......... 3
        .############### 4
        ################ 30
        ",
    );
    check("bands", &history, View { bytes_per_px: 8.0, ..View::fit(16, 1, 48, 14) });
}

#[test]
fn bytes_awaiting_free_are_striped_and_line_shows_live_bytes() {
    let history = History::from_picture(
        "
        ........########.... 100
        ...#############.... 150
        .#################.. 200
        #################### 100
        ",
    );
    check("pending", &history.pending(), View { bytes_per_px: 20.0, ..View::fit(20, 1, 80, 34) });
}

#[test]
fn gaps_are_visible_on_time_axis() {
    let history = training().timed(&[3, 3, 0, 200, 3, 0, 0, 90]);
    let span = *history.elapsed.last().unwrap();
    let width = memscape::timeline::time_axis_width(span);
    let view = View { axis: Axis::Time, bytes_per_px: 12.0, ..View::fit(width, 1, 90, 34) };
    check("time_axis", &history, view);
}

#[test]
fn blocks_without_highlight_are_faded() {
    let mut history = training();
    history.highlight = true;
    check("faded", &history, View { bytes_per_px: 12.0, ..View::fit(20, 1, 60, 34) });
}

/// Two segments with a gap, the upper one mapped later and unmapped again, with free space, thin blocks and a pending
/// one.
#[test]
fn address_view_matches_golden() {
    let history = History::from_picture(
        "
        .........#######.... 90
        .......########..... 4
        .......#####........ 3
        .....#########...... 60
        ...####............. 40
        ..###############... 50
        .################... 30
        #################### 80
        ",
    );
    let history = history.pending();
    let places = [[0, 80], [80, 110], [150, 200], [110, 150], [320, 380], [262, 265], [266, 270], [390, 480]];
    let held = [([0, u32::MAX], [0, 220]), ([4, 18], [256, 500])];
    let ranges =
        Allocations::from_spans(held.map(|([allocated_at, freed_at], [from, to])| (allocated_at, freed_at, to - from)));
    let scene = history.with_source(|source| {
        let source = AddressSource {
            source: *source,
            includes: None,
            place: &|id: AllocationId| places.get(id.0 as usize).copied(),
            ranges: &ranges,
            range_place: &|id: AllocationId| held.get(id.0 as usize).map(|range| range.1),
        };
        AddressJob::run(&source, View { bytes_per_px: 14.0, ..View::fit(20, 1, 80, 38) })
    });
    check_scene("addresses", &scene.expect("a job without a budget finishes"));
}
