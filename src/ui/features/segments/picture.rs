//! Layout of the Segments tab as rectangles and texts in device pixels. Only visible rows are included.

use crate::features::segments::data::nav_target;
use crate::features::segments::{ROW_PX, SegmentsTab, allocation, pieces, words};
use crate::state::shared::Shared;
use base::units::Bytes;
use protocol::{PieceKind, SegmentsBar, SegmentsPiece};
use std::collections::BTreeSet;

/// Space above and below a bar, in CSS pixels.
const GAP_PX: [f64; 2] = [2.0, 4.0];
/// Font size in CSS pixels.
const TEXT_PX: f64 = 11.0;
/// Average width of a character, as a fraction of the font size.
const CHAR_WIDTH: f64 = 0.62;

/// The visible part of the Segments tab.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentsPicture {
    pub size_px: [u32; 2],
    pub frames: Vec<SegmentsFrame>,
    pub tiles: Vec<SegmentsTile>,
    /// Labels with the sizes of blocks, for blocks that are wide enough.
    pub texts: Vec<SegmentsText>,
    pub text_px: f64,
    /// Outlines from back to front: [left, right] edges, [top, bottom] edges, and the state that the outline shows.
    pub outlines: Vec<([[i32; 2]; 2], SegmentsStroke)>,
    /// Palette slots that are drawn faded.
    pub faded: BTreeSet<u32>,
    /// True if the palette slots form an ordered scale, such as sizes.
    pub is_ordered: bool,
}

/// The part of a segment in one row. Edges are in device pixels from the upper left corner of the canvas, and may be
/// outside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentsFrame {
    pub x: [i32; 2],
    pub y: [i32; 2],
    /// Flags for the left and the right edge: true if the edge has a line. An edge without a line means that the
    /// segment continues in another row or can grow.
    pub has_edge_lines: [bool; 2],
}

/// Rectangle of a piece of a segment: a block, rounding, or a free range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentsTile {
    pub x: [i32; 2],
    pub y: [i32; 2],
    pub kind: PieceKind,
    pub paint: u16,
}

/// The label of a block: its size.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentsText {
    pub text: String,
    /// Left end of the text at its vertical middle, in device pixels.
    pub origin: [f64; 2],
    /// Index of the tile behind the text.
    pub tile: usize,
}

/// State of a block or segment, shown by the style of its outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentsStroke {
    Hovered,
    Selected,
    Active,
}

/// Returns the visible part of the Segments tab. `None` while the rows or the canvas are missing.
pub fn picture(tab: &SegmentsTab, shared: &Shared) -> Option<SegmentsPicture> {
    let (page, canvas) = (tab.page()?, tab.canvas?);
    let (scale, pad) = (canvas.scale, tab.pad_px());
    let (row_px, above) = (ROW_PX * scale, tab.scroll.rows_above());
    let edges = |row: u32| {
        let top = (f64::from(row) - above) * row_px;
        [(top + GAP_PX[0] * scale).round() as i32, (top + row_px - GAP_PX[1] * scale).round() as i32]
    };
    let across = |x: [u32; 2]| x.map(|edge| i32::try_from(edge).unwrap_or(i32::MAX).saturating_add(pad));
    let selected = shared.selection.as_deref().map(|selection| selection.allocation);
    let active = tab.active().map(nav_target);
    let hovered = tab.pointer.and_then(|pointer| tab.hit_test(pointer)).map(nav_target);
    let text_px = TEXT_PX * scale;
    let question = tab.answer.answered_question().map(|(question, _)| question);
    let mut picture = SegmentsPicture {
        size_px: [canvas.width_px, canvas.height_px],
        frames: vec![],
        tiles: vec![],
        texts: vec![],
        text_px,
        outlines: vec![],
        faded: shared.surroundings.faded.clone(),
        is_ordered: question.is_some_and(|question| question.colouring.is_ordered()),
    };
    let seen = |bar: &&SegmentsBar| {
        let [top, bottom] = edges(bar.row);
        bottom > 0 && top < canvas.height_px as i32
    };
    // Kind and address of the block that was labelled last. A block that continues in another row is labelled once.
    let mut labelled = None;
    let mut outlines: [Vec<[[i32; 2]; 2]>; 3] = Default::default();
    for bar in page.bars.iter().filter(seen) {
        let (y, x) = (edges(bar.row), across(bar.x));
        let grows = words::group_of(page, bar).is_some_and(|group| group.expandable);
        picture.frames.push(SegmentsFrame { x, y, has_edge_lines: [bar.ends[0], bar.ends[1] && !grows] });
        let bar_pieces = pieces(page, bar);
        for piece in bar_pieces {
            let tile = SegmentsTile { x: across(piece.x), y, kind: piece.kind, paint: piece.paint };
            let block = Some((piece.kind, piece.address));
            if labelled != block
                && let Some(text) = text(piece, &tile, picture.tiles.len(), text_px)
            {
                labelled = block;
                picture.texts.push(text);
            }
            picture.tiles.push(tile);
            let is_selected = selected.is_some() && piece.count == 1 && allocation(piece) == selected;
            let target = (piece.kind != PieceKind::Rounding).then(|| nav_target((bar, Some(piece))));
            for (outlines, holds) in outlines.iter_mut().zip([
                target.is_some() && target == hovered,
                is_selected && target.is_some(),
                target.is_some() && target == active,
            ]) {
                outlines.extend(holds.then_some([tile.x, y]));
            }
        }
        // A segment without pieces is a single navigation target.
        let whole = bar_pieces.is_empty().then(|| nav_target((bar, None)));
        outlines[0].extend((whole.is_some() && whole == hovered).then_some([x, y]));
        outlines[2].extend((whole.is_some() && whole == active).then_some([x, y]));
    }
    let strokes = [SegmentsStroke::Hovered, SegmentsStroke::Selected, SegmentsStroke::Active];
    for (outlines, stroke) in outlines.into_iter().zip(strokes) {
        picture.outlines.extend(outlines.into_iter().map(|edges| (edges, stroke)));
    }
    // A block narrower than a pixel has no piece, so its position is marked instead.
    let is_drawn = picture.outlines.iter().any(|(_, stroke)| *stroke == SegmentsStroke::Selected);
    let address = shared.selection.as_deref().and_then(|selection| selection.address);
    let is_revealed = address.is_some() && question.is_some_and(|question| question.reveal == address);
    if let Some([row, x]) = page.revealed.filter(|_| is_revealed && !is_drawn) {
        let [left, _] = across([x, x]);
        let thickness = scale.round().max(1.0) as i32;
        picture.outlines.push(([[left - 2 * thickness, left + 3 * thickness], edges(row)], SegmentsStroke::Selected));
    }
    Some(picture)
}

/// Returns the label of a block, if it fits.
fn text(piece: &SegmentsPiece, tile: &SegmentsTile, tile_index: usize, text_px: f64) -> Option<SegmentsText> {
    let (bytes, prefix) = match piece.kind {
        PieceKind::Rounding => return None,
        PieceKind::Free => (piece.rounded, "free "),
        _ => (piece.requested, ""),
    };
    let width = f64::from(tile.x[1].saturating_sub(tile.x[0]));
    // Most blocks are narrower than any text. They need no string.
    if piece.count > 1 || width < 5.0 * CHAR_WIDTH * text_px {
        return None;
    }
    let short = Bytes(bytes).to_string();
    let prefixed = [prefix, &short].concat();
    let room = |text: &String| (text.chars().count() as f64 + 1.5) * CHAR_WIDTH * text_px <= width;
    let text = Some(prefixed).filter(room).or(Some(short).filter(room))?;
    let origin = [f64::from(tile.x[0]) + text_px * 0.5, f64::from(tile.y[0] + tile.y[1]) / 2.0];
    Some(SegmentsText { text, origin, tile: tile_index })
}
