//! Layout of the flame graph as tiles, texts and outlines in device pixels. Only visible rows are included.

use crate::features::flame::FlameGraph;
use crate::features::flame::words::short_location;
use crate::scope::find;
use crate::state::shared::Shared;
use crate::text::amount::{amount, change, per_mille, sign};
use crate::text::names::char_width;
use protocol::{FlameBox, Grouping, NodeKind, NodeLabel, Scope};

/// Font size of names in CSS pixels.
const TEXT_PX: f64 = 12.0;
/// Padding between the edge of a box and its name, in CSS pixels.
const PAD_PX: f64 = 5.0;
/// Average width of a character, as a fraction of the font size. Some characters of other scripts are twice as wide.
const CHAR_WIDTH: f64 = 0.55;
/// Minimum number of characters that must fit into a box. Narrower boxes have no label.
const MIN_CHARS: usize = 3;

/// Highest level of [`FlameFill::Change`]: at least 75 % of the box's bytes are new or gone.
pub const MAX_CHANGE: i8 = 3;

/// The visible part of the flame graph.
#[derive(Clone, Debug, PartialEq)]
pub struct FlamePicture {
    pub size_px: [u32; 2],
    pub tiles: Vec<FlameTile>,
    pub texts: Vec<FlameText>,
    pub text_px: f64,
    pub outlines: Vec<FlameOutline>,
}

/// A box. Edges are in device pixels from the upper left corner of the canvas, and may be outside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlameTile {
    pub x: [i32; 2],
    pub y: [i32; 2],
    pub fill: FlameFill,
    pub is_faded: bool,
    pub is_hatched: bool,
    /// Width of the part that matches the search, in device pixels.
    pub matched_px: u32,
}

/// Meaning of a box's colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlameFill {
    /// Palette slot of the call site.
    Slot(u32),
    Kind(NodeKind),
    /// Growth (positive) or shrinkage (negative), in levels up to [`MAX_CHANGE`].
    Change(i8),
}

/// The name of a box.
#[derive(Clone, Debug, PartialEq)]
pub struct FlameText {
    /// Name, shortened to fit.
    pub text: String,
    /// Left end of the text at its vertical middle, in device pixels.
    pub origin: [f64; 2],
    /// Maximum width in device pixels.
    pub max_width_px: f64,
    /// Index of the tile behind the text.
    pub tile: usize,
    /// True if the box's own frame matches the search.
    pub is_bold: bool,
}

/// An outline drawn inside a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlameOutline {
    pub x: [i32; 2],
    pub y: [i32; 2],
    pub stroke: FlameStroke,
}

/// State of a box, shown by the style of its outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlameStroke {
    Hovered,
    Revealed,
    Selected,
}

/// Returns the visible part of the flame graph. `None` while the boxes or the canvas are missing.
pub fn picture(flame: &FlameGraph, shared: &Shared) -> Option<FlamePicture> {
    let (page, canvas) = (flame.page()?, flame.canvas?);
    let (width, height) = (canvas.width_px, i64::from(canvas.height_px));
    let drawn = page.boxes.first()?.x[1].max(1);
    let row_px = flame.row_px();
    let edge = |x: u32| (u64::from(x) * u64::from(width) / u64::from(drawn)) as i32;
    let corners = |flame_box: &FlameBox| {
        let top = flame.top_of(flame_box.row);
        (top < height && top + row_px > 0).then(|| (flame_box.x.map(edge), [top as i32, (top + row_px) as i32]))
    };
    let scope = flame.answer.answered_question().map_or(shared.views.scope, |known| known.scope);
    let is_change = matches!(scope, Scope::Change(_));
    // Colours match the timeline if that is coloured by call site. Otherwise they show the kind of code.
    let slot = |flame_box: &FlameBox| flame_box.slot.filter(|_| shared.plot_settings.colouring == Grouping::CallSite);
    let searches = find::match_serial(shared).is_some();
    let text_px = TEXT_PX * canvas.scale;
    let mut picture =
        FlamePicture { size_px: [width, canvas.height_px], tiles: vec![], texts: vec![], text_px, outlines: vec![] };
    for flame_box in &page.boxes {
        let Some((x, y)) = corners(flame_box).filter(|(x, _)| x[0] < x[1]) else { continue };
        let label = page.labels.get(flame_box.label as usize);
        let kind = label.map_or(NodeKind::Note, |label| label.kind);
        let is_faded = searches && flame_box.found == 0
            || !is_change && slot(flame_box).is_some_and(|slot| shared.surroundings.faded.contains(&slot));
        let width_px = u128::from(x[1].abs_diff(x[0]));
        let matched_px = width_px * u128::from(flame_box.found) / u128::from(flame_box.weight.bytes.max(1));
        // A match is at least one pixel wide.
        let matched_px = if flame_box.found > 0 { matched_px.clamp(1, width_px) as u32 } else { 0 };
        picture.tiles.push(FlameTile {
            x,
            y,
            fill: if is_change {
                change_level(flame_box)
            } else {
                slot(flame_box).map_or(FlameFill::Kind(kind), FlameFill::Slot)
            },
            is_faded,
            is_hatched: flame_box.node_count > 1,
            matched_px,
        });
        let pad = PAD_PX * canvas.scale;
        let max_width_px = f64::from(x[1] - x[0]) - 2.0 * pad;
        let max_chars = (max_width_px / (CHAR_WIDTH * text_px)).max(0.0) as usize;
        if let Some(label) = label.filter(|_| flame_box.node_count == 1 && max_chars >= MIN_CHARS) {
            picture.texts.push(FlameText {
                text: box_label(label, flame_box, scope, max_chars),
                origin: [f64::from(x[0]) + pad, f64::from(y[0] + y[1] - 1) / 2.0],
                max_width_px,
                tile: picture.tiles.len() - 1,
                is_bold: flame_box.matches,
            });
        }
    }
    let hovered = flame.pointer.and_then(|pointer| flame.hit_test(pointer));
    let selected = flame.selected_box(shared).filter(|_| shared.views.node.is_some());
    let revealed = page.revealed.map(|index| index as usize).filter(|_| shared.selection.is_some());
    let strokes =
        [(hovered, FlameStroke::Hovered), (revealed, FlameStroke::Revealed), (selected, FlameStroke::Selected)];
    for (index, stroke) in strokes {
        let corners = index.and_then(|index| corners(page.boxes.get(index)?));
        picture.outlines.extend(corners.map(|(x, y)| FlameOutline { x, y, stroke }));
    }
    Some(picture)
}

/// Returns the colour of a box's growth or shrinkage. The level increases at 25 % and 75 % of the larger size.
fn change_level(flame_box: &FlameBox) -> FlameFill {
    let [begin, end] = flame_box.ends.map(|end| end.bytes);
    let step = match per_mille(begin.abs_diff(end), begin.max(end)) {
        _ if begin == end => 0,
        ..250 => 1,
        250..750 => 2,
        _ => MAX_CHANGE,
    };
    FlameFill::Change(if end < begin { -step } else { step })
}

/// Returns a box's name, followed by location and size if they fit into `max_chars` characters.
fn box_label(label: &NodeLabel, flame_box: &FlameBox, scope: Scope, max_chars: usize) -> String {
    // Parameters of a C++ function are dropped.
    let name = match label.kind {
        NodeKind::Native => label.name.split('(').next().filter(|name| !name.is_empty()).unwrap_or(&label.name),
        _ => &label.name,
    };
    let [begin, end] = flame_box.ends.map(|end| end.bytes);
    let is_change = matches!(scope, Scope::Change(_));
    // The sign shows the direction of a change without colour.
    let name = [if is_change { sign(begin, end) } else { "" }, if is_change { " " } else { "" }, name].concat();
    let mut text = elide(&name, max_chars);
    let mut room = max_chars.saturating_sub(char_width(&name));
    let weight = if is_change { change(begin, end) } else { amount(scope, flame_box.weight.bytes) };
    for more in [short_location(label), weight] {
        let needed = char_width(&more) + 2;
        if needed > room {
            break;
        }
        if !more.is_empty() {
            room -= needed;
            text.push_str("  ");
            text.push_str(&more);
        }
    }
    text
}

/// Shortens a name to `max_chars` characters. Keeps the end of a name that contains `::`, otherwise the start.
fn elide(name: &str, max_chars: usize) -> String {
    if char_width(name) <= max_chars {
        return name.to_owned();
    }
    let mut room = max_chars.saturating_sub(1);
    let mut fits = |c: &char| {
        let width = if *c < '\u{1100}' { 1 } else { 2 };
        let fits = width <= room;
        room = room.saturating_sub(width);
        fits
    };
    if name.contains("::") {
        let tail: String = name.chars().rev().take_while(|c| fits(c)).collect();
        return ["…", &tail.chars().rev().collect::<String>()].concat();
    }
    let head: String = name.chars().take_while(|c| fits(c)).collect();
    head + "…"
}
