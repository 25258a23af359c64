//! Access to the engine's segments and blocks in tests.

use crate::opened::Opened;
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{PieceKind, SegmentSort, SegmentsBar, SegmentsPage, SegmentsPiece, SegmentsQuestion};

/// Returns the question for all segments at a moment, as a list.
pub(crate) fn question(moment: u32) -> SegmentsQuestion {
    SegmentsQuestion {
        moment,
        filter: Default::default(),
        sort: SegmentSort::Address,
        colouring: Default::default(),
        width_px: 0,
        bytes_per_px: 0.0,
        fit_rows: 0,
        rows: [0, u32::MAX],
        reveal: None,
        request: None,
    }
}

/// Sends a question and returns the answer.
pub(crate) fn page(opened: &mut Opened, device: i64, question: SegmentsQuestion) -> SegmentsPage {
    match opened.reply(Request::Ask(Ask { serial: 5, device, question: Question::State(question) })) {
        Reply::Answer { serial: 5, answer: Answer::State(page) } => *page,
        other => panic!("expected segments, got {other:?}"),
    }
}

/// Returns all rows of the list, page by page.
pub(crate) fn list(opened: &mut Opened, device: i64, moment: u32) -> SegmentsPage {
    let mut whole = page(opened, device, question(moment));
    while let Some(last) = whole.bars.last().filter(|last| last.row + 1 < whole.rows) {
        let mut next = page(opened, device, SegmentsQuestion { rows: [last.row + 1, u32::MAX], ..question(moment) });
        let count = whole.pieces.len() as u32;
        next.bars.iter_mut().for_each(|bar| bar.pieces = bar.pieces.map(|piece| piece + count));
        whole.bars.append(&mut next.bars);
        whole.pieces.append(&mut next.pieces);
    }
    whole
}

/// Returns the pieces of a bar.
pub(crate) fn pieces<'a>(page: &'a SegmentsPage, bar: &SegmentsBar) -> &'a [SegmentsPiece] {
    &page.pieces[bar.pieces[0] as usize..bar.pieces[1] as usize]
}

/// Returns whether a piece consists of blocks.
pub(crate) fn is_block(piece: &SegmentsPiece) -> bool {
    matches!(piece.kind, PieceKind::Live | PieceKind::AwaitingFree)
}
