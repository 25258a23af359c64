//! SVG export: well-formed for any file content, the same pixels as the CPU renderer, and one golden picture.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test helpers fail by panicking")]

use crate::{generate, opened};

use memscape::engine::{Engine, Reply};
use memscape::render::layers::{Frame, Layers, PlacedRect, RESERVED};
use memscape::render::placement::Placement;
use memscape::render::{CpuRenderer, Drawing, Lane, OverlayRect, PictureTheme, RgbaImage};
use memscape::shapes::{Shape, Sheet};
use memscape::svg::{self, Inks};
use memscape::timeline::scene::{PENDING, SceneColumns};
use memscape::timeline::{MAX_QUADS, Quad, Scene, View};
use memscape::ui::features::State;
use memscape::ui::features::export::picture_size;
use memscape::ui::shell::action::Action;
use memscape::ui::shell::commands;
use memscape::ui::state::drawing::Canvas;
use memscape::ui::state::effect::{Effect, GivenFile, Pointer};
use memscape::ui::state::picture_file::{Format, Picture};
use memscape::ui::update;
use memscape::units::group_digits;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::rc::Rc;

/// A name that could end a script, comment, CDATA section or attribute, colour a terminal, or reverse the text
/// direction.
const HOSTILE: &str = "</script>]]>--><!--&amp;\"'\u{0}\u{1b}[31m\u{202e}\u{ffff}";

/// The page without a browser.
struct Page {
    state: State,
    engine: Engine,
    effects: VecDeque<Effect>,
}

impl Page {
    fn open(bytes: &[u8], canvas: Canvas) -> Page {
        let opened = opened::open(bytes).unwrap();
        let mut page = Page { state: State::default(), engine: opened.engine, effects: VecDeque::new() };
        page.act(Action::Resized(canvas));
        page.act(Action::FilesGiven(vec![GivenFile { name: "a.pickle".into(), bytes: 1 }]));
        page.act(Action::Replied { load: page.state.load, reply: Reply::Opened(Box::new(opened.summary)) });
        page.settle();
        page
    }

    fn act(&mut self, action: Action) {
        self.effects.extend(update(&mut self.state, action, 0.0));
    }

    /// Answers all pending requests. Returns the exported picture, if there is one.
    fn settle(&mut self) -> Option<Box<Picture>> {
        let mut made = None;
        while let Some(effect) = self.effects.pop_front() {
            match effect {
                Effect::Export(picture) => made = Some(picture),
                Effect::Ask(request) => {
                    self.engine.request(request);
                    self.engine.step(&mut || true);
                    while let Some(reply) = self.engine.next_reply() {
                        self.act(Action::Replied { load: self.state.load, reply });
                    }
                }
                _ => {}
            }
        }
        made
    }

    fn picture(&mut self, format: Format) -> Picture {
        self.act(Action::Command(commands::export::save(format)));
        *self.settle().expect("a picture")
    }
}

const CANVAS: Canvas = Canvas { width_px: 600, height_px: 300, scale: 1.0 };

fn to_pickle(value: &Value) -> Vec<u8> {
    serde_pickle::to_vec(value, serde_pickle::SerOptions::new()).unwrap()
}

/// Three blocks, one of them awaiting free. An OOM, a snapshot, an annotation, and a name chosen by the caller.
fn small(name: &str) -> Vec<u8> {
    const MIB: u64 = 1 << 20;
    let mut time_us = 1_000;
    let mut event = |action: &str, address: u64, size: u64, line: u64| {
        time_us += 500;
        let frames = json!([{ "name": name, "filename": "train.py", "line": line }]);
        json!({ "action": action, "addr": address, "size": size, "stream": 0, "time_us": time_us, "frames": frames })
    };
    let mut trace = vec![
        event("segment_alloc", 0, 20 * MIB, 1),
        event("alloc", 0, 6 * MIB, 2),
        event("alloc", 6 * MIB, 3 * MIB, 3),
        event("free_requested", 0, 6 * MIB, 2),
        event("alloc", 9 * MIB, 5 * MIB, 4),
        event("snapshot", 0, 0, 5),
        event("free_completed", 0, 6 * MIB, 2),
    ];
    time_us += 500;
    trace.push(
        json!({ "action": "oom", "device_free": MIB, "size": 64 * MIB, "stream": 0, "time_us": time_us, "frames": [] }),
    );
    let block = |address: u64, size: u64, state: &str| json!({ "address": address, "size": size, "requested_size": size, "state": state, "frames": [] });
    let segment = json!({
        "device": 0, "address": 0, "total_size": 20 * MIB, "stream": 0, "segment_type": "large",
        "blocks": [block(0, 6 * MIB, "inactive"), block(6 * MIB, 3 * MIB, "active_allocated"),
                   block(9 * MIB, 5 * MIB, "active_allocated"), block(14 * MIB, 6 * MIB, "inactive")],
    });
    let mark = |stage: &str, time_us: u64| json!({ "stage": stage, "name": name, "device": 0, "time_us": time_us });
    to_pickle(&json!({ "segments": [segment], "device_traces": [trace],
                     "external_annotations": [mark("START", 1_600), mark("END", 3_900)] }))
}

fn svg_of(picture: &Picture, look: &PictureTheme, inks: &Inks) -> String {
    let mut text = String::new();
    svg::write(&mut text, &picture.drawing(), look, inks).unwrap();
    text
}

fn light_svg(picture: &Picture) -> String {
    svg_of(picture, &PictureTheme::light(), &Inks::LIGHT)
}

/// Compares text with `tests/golden/NAME`, or writes the file if `MEMSCAPE_BLESS` is set.
#[track_caller]
fn assert_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("MEMSCAPE_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    let first = golden.lines().zip(text.lines()).position(|(golden, now)| golden != now);
    assert!(golden == text, "{name} differs, first in line {first:?}; MEMSCAPE_BLESS=1 rewrites it");
}

#[test]
fn small_history_matches_golden_svg() {
    let mut page = Page::open(&small("step"), Canvas { width_px: 320, height_px: 120, scale: 1.0 });
    page.act(Action::Command(commands::SELECT_NEXT));
    page.settle();
    assert!(page.state.selection.is_some());
    let picture = page.picture(Format::Svg);
    assert_eq!(picture.file_name, "test-device0-events-0-7.svg");
    assert_golden("small.svg", &light_svg(&picture));
}

#[test]
fn hostile_name_is_escaped() {
    let mut page = Page::open(&small(HOSTILE), CANVAS);
    let text = light_svg(&page.picture(Format::Svg));
    let document = roxmltree::Document::parse(&text).unwrap();
    let mut labels = 0;
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        let tag = node.tag_name();
        assert_eq!(tag.namespace(), Some("http://www.w3.org/2000/svg"));
        let known = ["svg", "title", "rect", "g", "path", "line", "polygon", "text", "defs", "pattern", "mask"];
        assert!(known.contains(&tag.name()), "{tag:?}");
        for attribute in node.attributes() {
            assert!(!attribute.name().starts_with("on") && attribute.name() != "href", "{attribute:?}");
            let refers = attribute.value().contains("url(") && !attribute.value().starts_with("url(#");
            assert!(!refers && !attribute.value().contains("http"), "{attribute:?}");
        }
        labels += usize::from(node.text().is_some_and(|text| text.contains("</script>]]>")));
    }
    assert!(labels >= 1, "no label with the name");
    assert!(!text.contains(['\u{0}', '\u{1b}', '\u{202e}', '\u{ffff}']));
}

/// Paints the rectangles of an SVG back to front like the CPU renderer.
fn paint_svg(text: &str, picture: &Picture, background: [u8; 4]) -> RgbaImage {
    let document = roxmltree::Document::parse(text).unwrap();
    let group = document.descendants().find(|node| node.attribute("shape-rendering").is_some()).unwrap();
    let [width, height] = picture.sheet.plot;
    let frame = Frame::new([width, height], [0; 2], &picture.view);
    let mut image = RgbaImage { width, height, pixels: background.repeat((width * height) as usize) };
    for path in group.descendants().filter(|node| node.has_tag_name("path")) {
        let is_masked = path.ancestors().any(|node| node.attribute("mask").is_some());
        let rgba = rgba(path.attribute("fill").unwrap());
        for [x, y, across, down] in rectangles(path.attribute("d").unwrap()) {
            assert!(x >= 0 && y >= 0 && across > 0 && down > 0, "{:?}", [x, y, across, down]);
            assert!(x + across <= i64::from(width) && y + down <= i64::from(height), "outside the picture");
            for (x, y) in (y..y + down).flat_map(|y| (x..x + across).map(move |x| (x as u32, y as u32))) {
                if !(is_masked && frame.is_striped(x, height - 1 - y)) {
                    let at = ((y * width + x) * 4) as usize;
                    image.pixels[at..at + 4].copy_from_slice(&rgba);
                }
            }
        }
    }
    image
}

fn rgba(colour: &str) -> [u8; 4] {
    let channel = |at: usize| u8::from_str_radix(&colour[at..at + 2], 16).unwrap();
    [channel(1), channel(3), channel(5), 255]
}

/// The rectangles of a path that contains nothing else: x, y, width, height.
fn rectangles(path: &str) -> Vec<[i64; 4]> {
    let mut pen = [0; 2];
    let subpaths = path.strip_suffix('z').expect("path is closed").split('z');
    subpaths
        .map(|subpath| {
            let numbers: Vec<i64> = subpath
                .replace('-', " -")
                .split(|letter: char| letter.is_whitespace() || letter.is_alphabetic())
                .filter(|number| !number.is_empty())
                .map(|number| number.parse().unwrap())
                .collect();
            let letters: String = subpath.chars().filter(char::is_ascii_alphabetic).collect();
            let [right, down, across, height, back] = numbers[..] else { panic!("{subpath}") };
            assert_eq!((letters.as_str(), back), ("mhvh", -across), "{subpath}");
            pen = [pen[0] + right, pen[1] + down];
            [pen[0], pen[1], across, height]
        })
        .collect()
}

/// The same picture drawn by the CPU renderer.
fn draw_on_cpu(picture: &Picture, look: &PictureTheme) -> RgbaImage {
    let mut twin = CpuRenderer::new();
    twin.upload(0, &picture.scene);
    let outline = picture.outline.iter().map(|rect| OverlayRect { x: rect.x, y: rect.y, rgba: look.selection });
    let overlay = outline.collect::<Vec<_>>();
    let (size_px, background) = (picture.sheet.plot, look.background);
    twin.draw(&Drawing {
        size_px,
        background,
        lanes: &[Lane::single(&picture.view, look)],
        flame: None,
        overlay: &overlay,
    })
}

#[track_caller]
fn assert_same_pixels(picture: &Picture, look: &PictureTheme) {
    let text = svg_of(picture, look, &Inks::DARK);
    let (svg, twin) = (paint_svg(&text, picture, look.background), draw_on_cpu(picture, look));
    assert_eq!((svg.width, svg.height), (twin.width, twin.height));
    let wrong = svg.pixels.chunks(4).zip(twin.pixels.chunks(4)).position(|(svg, twin)| svg != twin);
    let place = wrong.map(|at| (at as u32 % svg.width, at as u32 / svg.width));
    assert_eq!(place, None, "first wrong pixel of {} × {}", svg.width, svg.height);
}

fn generated(words: &str) -> Vec<u8> {
    let words = words.split_whitespace().map(str::to_owned);
    generate::generate(&generate::Options::parse(words).unwrap().0, Vec::new()).unwrap().0
}

#[test]
fn svg_matches_cpu_renderer_at_any_zoom() {
    let bytes = generated("--events 6000 --pending --oom --snapshots");
    let mut page = Page::open(&bytes, CANVAS);
    let mut pending = false;
    for colouring in memscape::protocol::Grouping::ALL {
        page.act(Action::ColouringChosen(colouring));
        page.act(Action::LegendClicked(3));
        page.settle();
        let picture = page.picture(Format::Svg);
        let look = PictureTheme::dark().with_faded(|slot| picture.faded.contains(&slot));
        assert_same_pixels(&picture, &look);
        pending |= picture.scene.quads.iter().any(|quad| quad.paint & PENDING != 0);
        for command in
            [commands::ZOOM_EVENTS_IN, commands::ZOOM_EVENTS_IN, commands::ZOOM_BYTES_IN, commands::SELECT_NEXT]
        {
            page.act(Action::Command(command));
            page.settle();
        }
    }
    let picture = page.picture(Format::Svg);
    assert!(picture.scene.view != picture.view, "a zoomed scene has a margin to cut");
    assert!(pending, "no picture has stripes");
}

#[test]
fn larger_picture_keeps_window_and_has_more_pixels() {
    let bytes = generated("--events 4000 --pending");
    let mut page = Page::open(&bytes, Canvas { scale: 1.25, ..CANVAS });
    for command in [commands::ZOOM_EVENTS_IN, commands::ZOOM_EVENTS_IN, commands::MOVE_RIGHT, commands::SELECT_NEXT] {
        page.act(Action::Command(command));
        page.settle();
    }
    let once = page.picture(Format::Png1);
    for (format, times) in [(Format::Png2, 2), (Format::Png4, 4)] {
        let picture = page.picture(format);
        assert_eq!(picture.sheet.plot, once.sheet.plot.map(|side| side * times));
        assert_eq!(picture.view.x_per_px * f64::from(times), once.view.x_per_px);
        assert_eq!(picture.view.x_from_column(0.0), once.view.x_from_column(0.0));
        assert_eq!(picture.view.bytes_from_row(0.0), once.view.bytes_from_row(0.0));
        assert_eq!(picture.scene.view.x_per_px, picture.view.x_per_px, "scene has the picture's scale");
        assert!(picture.scene.view.left_px < picture.view.left_px);
        assert_eq!(picture.sheet.title, once.sheet.title);
        let [width, height] = picture.sheet.size.map(|side| group_digits(side.into()));
        assert_eq!(picture_size(&page.state, format), format!("{width} × {height} pixels"), "same size as in the menu");
        assert_eq!(picture.file_name, once.file_name);
        assert!(!picture.outline.is_empty() || once.outline.is_empty());
        assert_same_pixels(&picture, &PictureTheme::light());
    }
    let geometry = page.state.focused_lane().expect("a lane").geometry;
    assert!(geometry.in_flight.is_none() && geometry.scene.is_some());
}

/// All labels and marks around the picture, including the user's own, keep their place at twice the size.
#[test]
fn larger_sheet_keeps_layout() {
    let mut page = Page::open(&generated("--events 4000 --pending --oom"), CANVAS);
    let mut act = |action: Action| {
        page.act(action);
        page.settle();
    };
    act(Action::CapacityTyped("5".into()));
    act(Action::MarkerAdded(Pointer { x: 80.5, y: 60.5 }));
    act(Action::MarkerAdded(Pointer { x: 595.5, y: 20.5 }));
    act(Action::PointerMoved(Pointer { x: 200.5, y: 40.5 }));
    act(Action::Command(commands::TOGGLE_RULER));
    act(Action::PointerMoved(Pointer { x: 300.5, y: 140.5 }));
    act(Action::Command(commands::TOGGLE_RULER));
    let [once, twice] = [Format::Png1, Format::Png2].map(|format| page.picture(format).sheet);
    let texts = |sheet: &Sheet| -> Vec<(String, [f64; 2], f64)> {
        let texts =
            sheet.shapes.iter().filter_map(|shape| if let Shape::Text(text) = shape { Some(text) } else { None });
        texts.map(|text| (text.text.clone(), text.at, text.size)).collect()
    };
    let (once, twice) = (texts(&once), texts(&twice));
    for wanted in ["Device capacity 5.00 GiB", "1", "2"] {
        assert!(once.iter().any(|(text, ..)| text == wanted), "{wanted}: {once:?}");
    }
    assert!(once.iter().any(|(text, ..)| text.contains("events")), "no measured range: {once:?}");
    assert_eq!(once.len(), twice.len());
    for ((text, at, size), (also, twice_at, twice_size)) in once.iter().zip(&twice) {
        assert_eq!((text, size * 2.0), (also, *twice_size));
        let apart = [0, 1].map(|side| (at[side] * 2.0 - twice_at[side]).abs());
        assert!(apart.iter().all(|apart| *apart <= 3.0), "{text}: {at:?} and {twice_at:?}");
    }
}

#[test]
fn picture_too_large_for_browser_is_refused() {
    let bytes = small("step");
    let mut page = Page::open(&bytes, Canvas { width_px: 5000, height_px: 300, scale: 1.0 });
    page.act(Action::Command(commands::export::save(Format::Png4)));
    assert_eq!(page.settle(), None);
    let remark = page.state.remark.clone().unwrap();
    assert!(remark.contains("pixels: too large for the browser"), "{remark}");
    assert!(page.picture(Format::Png2).sheet.size[0] > 10_000, "the next picture is drawn");
}

#[test]
fn page_requests_no_scene_during_export() {
    let mut page = Page::open(&generated("--events 4000"), CANVAS);
    page.act(Action::Command(commands::export::save(Format::Png2)));
    let asked = page.effects.len();
    for _ in 0..4 {
        page.act(Action::Command(commands::ZOOM_EVENTS_IN));
    }
    assert_eq!(page.effects.len(), asked, "no scene is requested during the export");
    let picture = page.settle().expect("a picture");
    assert_eq!(picture.view.left_px, 0, "picture shows the window at the time of the request");
    let scene = page.state.scene().cloned().unwrap();
    assert_eq!(scene.view.x_per_px, page.state.view().unwrap().x_per_px, "the scene of the current window follows");
    // Opening another file cancels an export in progress.
    page.act(Action::Command(commands::export::save(Format::Png2)));
    page.act(Action::FilesGiven(vec![GivenFile { name: "b.pickle".into(), bytes: 1 }]));
    assert_eq!(page.settle(), None);
}

/// A picture of these quads, as large as its scene.
fn picture_of(view: View, quads: Vec<Quad>, reserved: Vec<u64>) -> Picture {
    let mut page =
        Page::open(&small("step"), Canvas { width_px: view.width_px, height_px: view.height_px, scale: 1.0 });
    let picture = page.picture(Format::Svg);
    let columns = SceneColumns { edge_px: (0..=reserved.len() as i32).collect(), reserved, ..SceneColumns::default() };
    let scene = Rc::new(Scene { view, band_px: 1, columns, quads, identities: Vec::new(), ground: None });
    Picture { view, scene, outline: Vec::new(), ..picture }
}

#[test]
fn largest_scene_is_a_few_megabytes() {
    let view = View::fit(3000, 1000, 3000, 1000);
    // Thin bands with different neighbours: the worst case.
    let quad = |at: usize| {
        let (x, y) = ((at / 100 % 3000) as i16, (at % 100 * 10) as i16);
        Quad { x: [x, x + 1], y: [y, y + 3], paint: (at * 7 % 256) as u32 }
    };
    let picture = picture_of(view, (0..MAX_QUADS).map(quad).collect(), Vec::new());
    let text = light_svg(&picture);
    assert!((2_000_000..6_500_000).contains(&text.len()), "{} bytes", text.len());
    roxmltree::Document::parse(&text).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Stacks of blocks that never overlap, as in a real scene.
    #[test]
    fn each_rectangle_is_drawn_in_its_colour(
        stacks in prop::collection::vec((1..6_i16, prop::collection::vec((1..9_i16, 0..24_u32, any::<u8>()), 0..8)), 1..16),
        reserved in prop::collection::vec(0..60_u64, 40),
    ) {
        let (mut quads, mut left) = (Vec::new(), 0);
        for (width, blocks) in stacks {
            let (right, mut bottom) = ((left + width).min(40), 0);
            for (height, paint, flags) in blocks {
                let top = (bottom + height).min(40);
                if left < right && bottom < top {
                    quads.push(Quad { x: [left, right], y: [bottom, top], paint: paint | u32::from(flags & 7) << 16 });
                }
                bottom = top;
            }
            left = right;
        }
        let view = View { x_per_px: 1.0, bytes_per_px: 1.0, ..View::fit(40, 40, 40, 40) };
        let picture = picture_of(view, quads.clone(), reserved);
        let look = PictureTheme::light();
        assert_same_pixels(&picture, &look);
        // The fills of each colour cover the same area as its quads. Lines are drawn on top.
        let text = light_svg(&picture);
        let document = roxmltree::Document::parse(&text).unwrap();
        let mut areas: HashMap<[u8; 4], i64> = HashMap::new();
        for path in document.descendants().filter(|node| node.has_tag_name("path")) {
            let area: i64 = rectangles(path.attribute("d").unwrap()).iter().map(|[_, _, width, height]| width * height).sum();
            *areas.entry(rgba(path.attribute("fill").unwrap())).or_default() += area;
        }
        let placement = Placement::new(&view, &view);
        let mut expected: HashMap<[u8; 4], i64> = HashMap::new();
        for quad in Layers::new(&picture.scene).quads.iter().map(|quad| PlacedRect::new(quad, &placement)) {
            if quad.colour < RESERVED {
                let area = i64::from(quad.x[1] - quad.x[0]) * i64::from(quad.y[1] - quad.y[0]);
                *expected.entry(look.palette[quad.colour as usize]).or_default() += area;
            }
        }
        for (colour, area) in expected {
            prop_assert_eq!(areas.get(&colour).copied(), Some(area), "{:?}", colour);
        }
    }
}

#[test]
fn svg_colours_match_style_sheet() {
    let style = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("www/style.css")).unwrap();
    let (light, dark) = style.split_once("prefers-color-scheme: dark").unwrap();
    for (sheet, inks) in [(light, Inks::LIGHT), (dark, Inks::DARK)] {
        for (name, ink) in [
            ("soft", inks.soft),
            ("text", inks.strong),
            ("line", inks.line),
            ("peak", inks.peak),
            ("accent", inks.accent),
        ] {
            assert!(sheet.contains(&format!("--{name}: {ink};")), "--{name} is not {ink}");
        }
    }
}
