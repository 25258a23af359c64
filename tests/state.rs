//! The Segments view: every byte of a segment is in exactly one piece, sums agree with the totals at the cursor, and
//! the picture omits nothing. Checked at random events of real and generated files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::opened;
use crate::stated;
use crate::trained;

use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{
    MomentFacts, MomentSpec, PieceKind, SegmentSort, SegmentsBar, SegmentsGroup, SegmentsPage, SegmentsQuestion,
};
use opened::{Opened, open, real_pickles};
use proptest::prelude::*;
use serde_json::json;
use stated::{is_block, list, page, pieces, question};
use std::collections::BTreeSet;

fn facts(opened: &mut Opened, device: i64, moment: u32) -> MomentFacts {
    match opened.reply(Request::Ask(Ask {
        serial: 6,
        device,
        question: Question::Moments(vec![MomentSpec::Moment(moment)]),
    })) {
        Reply::Answer { answer: Answer::Moments(moments), .. } => moments[0],
        other => panic!("{other:?}"),
    }
}

/// Deterministic pseudo-random numbers from 0 to below `end`.
fn random() -> impl FnMut(u64) -> u64 {
    let mut chance = 0x1234_5678_9abc_def1u64;
    move |end| {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (chance >> 20) % end.max(1)
    }
}

/// Checks that a list agrees with the totals after the same event, and that its pieces cover every byte of each
/// segment.
fn check_list(page: &SegmentsPage, facts: &MomentFacts, name: &str) {
    let whole = &page.total;
    assert_eq!(whole.requested + page.outside_mapped.bytes, facts.requested, "{name}: requested");
    assert_eq!(whole.blocks + page.outside_mapped.count, facts.count, "{name}: blocks");
    assert_eq!(whole.reserved, facts.reserved, "{name}: reserved");
    if page.outside_mapped.count == 0 {
        assert_eq!(whole.awaiting_free, facts.awaiting_free, "{name}: pending");
    }
    let sum = |of: fn(&SegmentsGroup) -> u64| page.groups.iter().map(of).sum::<u64>();
    assert_eq!(sum(|group| group.sums.reserved), whole.reserved, "{name}: groups");
    assert_eq!(sum(|group| group.sums.free), whole.free, "{name}: groups");
    assert_eq!(sum(|group| group.sums.blocks.into()), u64::from(whole.blocks), "{name}: groups");
    let mut seen = BTreeSet::new();
    let mut before = None;
    for bar in &page.bars {
        assert!(before.replace(bar.row).is_none_or(|before| before < bar.row), "{name}: rows ascend");
        let (mut next, mut free, mut requested, mut pending, mut blocks) = (bar.segment, vec![], 0, 0, 0);
        for piece in pieces(page, bar) {
            assert_eq!(piece.address, next, "{name}: pieces are contiguous");
            next += piece.rounded;
            match piece.kind {
                PieceKind::Free => free.push(piece.rounded),
                PieceKind::Rounding => panic!("{name}: rounding has no width in a list"),
                kind => {
                    assert!(seen.insert(piece.allocation), "{name}: {piece:?} occurs twice");
                    (requested, blocks) = (requested + piece.requested, blocks + 1);
                    pending += if kind == PieceKind::AwaitingFree { piece.requested } else { 0 };
                }
            }
        }
        let sums = &bar.sums;
        assert_eq!(next, bar.segment + sums.reserved, "{name}: the end of the segment");
        assert_eq!((sums.requested, sums.awaiting_free, sums.blocks), (requested, pending, blocks), "{name}");
        assert_eq!(sums.free, sums.reserved - sums.rounded, "{name}: bytes outside blocks are free");
        let expected = (free.iter().sum(), free.len() as u32, free.iter().max().copied().unwrap_or(0));
        assert_eq!((sums.free, sums.free_blocks, sums.largest_free), expected, "{name}");
    }
    assert_eq!(seen.len(), whole.blocks as usize, "{name}");
}

/// Checks that a picture agrees with the list after the same event.
fn check_picture(picture: &SegmentsPage, list: &SegmentsPage, width: u32, name: &str) {
    assert_eq!((&picture.total, picture.outside_mapped), (&list.total, list.outside_mapped));
    let (mut row, mut right) = (0, 0);
    for bar in &picture.bars {
        if bar.row > row {
            (row, right) = (bar.row, 0);
        }
        assert!(bar.row == row && bar.x[0] >= right && bar.x[0] < bar.x[1] && bar.x[1] <= width, "{name}: {bar:?}");
        assert!(picture.groups.iter().all(|group| group.row != bar.row), "{name}: headings have their own rows");
        right = bar.x[1] + 1;
        let mut x = bar.x[0];
        for piece in pieces(picture, bar) {
            assert!(piece.x[0] == x && piece.x[1] > x, "{name}: {piece:?} in {bar:?} after {x}");
            x = piece.x[1];
        }
        let is_thin = bar.x[1] - bar.x[0] == 1 && bar.pieces[0] == bar.pieces[1];
        assert!(x == bar.x[1] || is_thin, "{name}: pieces cover every pixel: {bar:?}");
    }
    for bar in &list.bars {
        let bars: Vec<&SegmentsBar> = picture.bars.iter().filter(|it| it.segment == bar.segment).collect();
        assert!(bars.first().unwrap().ends[0] && bars.last().unwrap().ends[1], "{name}: all rows of a segment");
        let shown = || bars.iter().flat_map(|bar| pieces(picture, bar));
        let counted: u32 = shown().filter(|piece| is_block(piece)).map(|piece| piece.count).sum();
        match bars.len() {
            1 => assert_eq!(counted, bar.sums.blocks, "{name}: each block counts once"),
            _ => assert!(counted >= bar.sums.blocks, "{name}: every block is counted"),
        }
        let pixels: u32 = bars.iter().map(|bar| bar.x[1] - bar.x[0]).sum();
        let exact = bar.sums.reserved as f64 / picture.bytes_per_px;
        assert!((f64::from(pixels) - exact).abs() <= 1.0, "{name}: {pixels} pixels for {exact}");
        for free in pieces(list, bar).iter().filter(|piece| piece.kind == PieceKind::Free) {
            let is_seen = shown().any(|piece| (piece.kind, piece.address) == (PieceKind::Free, free.address));
            let has_room =
                bars.iter().all(|bar| pieces(picture, bar).iter().filter(|piece| is_block(piece)).count() != 1);
            let is_thin = free.rounded as f64 <= picture.bytes_per_px;
            assert!(is_seen || is_thin || !has_room, "{name}: {free:?} is hidden in {bars:?}");
        }
    }
}

fn check(opened: &mut Opened, name: &str, moments: u64) {
    let mut below = random();
    for device in opened.summary.devices.clone() {
        if !device.has_reserved() {
            continue;
        }
        let end = device.events as u32;
        let chosen: Vec<u32> = (0..moments).map(|_| below(u64::from(end) + 1) as u32).chain([0, end]).collect();
        for moment in chosen {
            let name = format!("{name}, device {}, moment {moment}", device.device);
            let facts = facts(opened, device.device, moment);
            let list = list(opened, device.device, moment);
            check_list(&list, &facts, &name);
            let (width, rows) = (1 + below(1500) as u32, below(60) as u32);
            let sort = [SegmentSort::Address, SegmentSort::Size, SegmentSort::Free][below(3) as usize];
            let fit = SegmentsQuestion { width_px: width, fit_rows: rows, sort, ..question(moment) };
            let fitting = page(opened, device.device, fit);
            check_picture(&fitting, &list, width, &name);
            let asked = SegmentsQuestion { bytes_per_px: fitting.bytes_per_px / (1.0 + below(40) as f64), ..fit };
            let closer = page(opened, device.device, asked);
            if closer.rows < 4096 {
                check_picture(&closer, &list, width, &name);
            }
            check_row_window(opened, device.device, asked, &closer, below(u64::from(closer.rows) + 1) as u32);
            check_reveal(opened, device.device, asked, &list, &mut below);
        }
    }
}

/// Checks that a window of rows equals the same rows of the whole.
fn check_row_window(opened: &mut Opened, device: i64, asked: SegmentsQuestion, all: &SegmentsPage, first: u32) {
    let some = page(opened, device, SegmentsQuestion { rows: [first, 3], ..asked });
    let bars: Vec<&SegmentsBar> = all.bars.iter().filter(|bar| (first..first + 3).contains(&bar.row)).collect();
    if first + 3 >= 4096 {
        return;
    }
    assert_eq!((some.rows, &some.groups, some.bars.len()), (all.rows, &all.groups, bars.len()));
    for (one, other) in some.bars.iter().zip(bars) {
        assert_eq!(pieces(&some, one), pieces(all, other), "row {}", one.row);
    }
}

/// Checks that the picture can be scrolled to an address and that its piece is there.
fn check_reveal(
    opened: &mut Opened,
    device: i64,
    asked: SegmentsQuestion,
    list: &SegmentsPage,
    below: &mut impl FnMut(u64) -> u64,
) {
    if list.bars.is_empty() {
        return;
    }
    let bar = list.bars[below(list.bars.len() as u64) as usize];
    let address = bar.segment + below(bar.sums.reserved);
    let [row, x] = page(opened, device, SegmentsQuestion { reveal: Some(address), ..asked }).revealed.unwrap();
    let shown = page(opened, device, SegmentsQuestion { rows: [row, 1], ..asked });
    let found = shown.bars.iter().find(|bar| (bar.x[0]..bar.x[1]).contains(&x)).unwrap();
    assert_eq!(found.segment, bar.segment);
    let at = found.address as f64 + f64::from(x - found.x[0]) * shown.bytes_per_px;
    assert!((at - address as f64).abs() <= shown.bytes_per_px * 1.5 + 2.0, "{at} is not {address}");
}

const GENERATED: [&str; 7] = [
    "--steps 2 --layers 3 --pending",
    "--steps 2 --layers 3 --expandable --pending",
    "--steps 2 --layers 3 --private-pools",
    "--steps 3 --layers 3 --ring 700 --pending",
    "--steps 2 --layers 3 --ring 500 --expandable --private-pools",
    "--steps 2 --layers 3 --host --devices 2",
    "--steps 2 --layers 3 --oom --expandable",
];

#[test]
fn pieces_cover_segments_of_generated_files() {
    for words in GENERATED {
        let (mut opened, _) = trained::generated(words);
        check(&mut opened, words, 12);
    }
}

#[test]
fn pieces_cover_segments_of_real_files() {
    for path in real_pickles().unwrap_or_default() {
        let mut opened = open(&std::fs::read(&path).unwrap()).unwrap();
        check(&mut opened, &path.file_name().unwrap().to_string_lossy(), 12);
    }
}

/// Hit tests by address agree with the list: block, segment, or free range.
#[test]
fn hit_test_by_address_matches_list() {
    let (mut opened, _) = trained::generated("--steps 2 --layers 2 --expandable --pending");
    let end = opened.summary.devices[0].events as u32;
    for moment in [0, end / 3, end / 2, end] {
        let list = list(&mut opened, 0, moment);
        for bar in &list.bars {
            for piece in pieces(&list, bar) {
                for address in [piece.address, piece.address + piece.rounded - 1] {
                    let Reply::Answer { answer: Answer::Hit { hit, memory }, .. } = opened.reply(Request::Ask(Ask {
                        serial: 9,
                        device: 0,
                        question: Question::MemoryAt { moment, address },
                    })) else {
                        panic!("no hit at {address:#x}");
                    };
                    let memory = memory.unwrap();
                    let segment = memory.segment.unwrap();
                    assert_eq!((segment.address, segment.reserved), (bar.segment, bar.sums.reserved));
                    assert!(
                        segment.mapped_at <= moment
                            && segment.unmapped_at.is_none_or(|unmapped_at| moment < unmapped_at)
                    );
                    let free = (piece.kind == PieceKind::Free).then_some((piece.address, piece.rounded));
                    assert_eq!(memory.free, free);
                    let block = is_block(piece).then_some((piece.allocation, piece.requested));
                    assert_eq!(hit.as_ref().map(|hit| (hit.allocation, hit.requested)), block);
                    if let Some(hit) = hit {
                        let there = opened.hit(0, moment, hit.lowest_byte).unwrap();
                        assert_eq!((there.allocation, there.lowest_byte), (hit.allocation, hit.lowest_byte));
                    }
                }
            }
        }
    }
}

fn odd_files() -> impl Strategy<Value = Vec<u8>> {
    let events =
        prop::collection::vec((0usize..8, 0u64..9, prop_oneof![0u64..6, Just(1 << 40), Just(u64::MAX >> 3)]), 0..50);
    let listed = prop::collection::vec((0u64..9, 0u64..6, any::<bool>(), 0u64..4), 0..6);
    (events, listed).prop_map(|(events, listed)| {
        let place = |at: u64| if at == 8 { u64::MAX - 700 } else { at * 512 };
        let actions = ["segment_map", "segment_unmap", "segment_alloc", "segment_free", "alloc", "free_requested",
                       "free_completed", "alloc"];
        let event = |(action, at, size): (usize, u64, u64)| {
            let size = if size < 6 { size * 200 } else { size };
            json!({"action": actions[action], "addr": place(at), "size": size, "stream": at % 2})
        };
        let segment = |(at, size, expandable, blocks): (u64, u64, bool, u64)| {
            let states = ["active_allocated", "inactive", "active_pending_free"];
            let block = |of: u64| json!({"address": place(at).saturating_add(512 * of), "size": 512, "requested_size": 300, "state": states[of as usize % 3]});
            json!({"device": 0, "address": place(at), "total_size": size * 512, "stream": at % 2, "segment_type": "large",
                   "is_expandable": expandable, "blocks": (0..blocks).map(block).collect::<Vec<_>>()})
        };
        let value = json!({"segments": listed.into_iter().map(segment).collect::<Vec<_>>(),
                           "device_traces": [events.into_iter().map(event).collect::<Vec<_>>()]});
        serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Any file gives an answer that does not depend on slicing and counts nothing twice.
    #[test]
    fn segments_view_of_any_file_does_not_panic(file in odd_files(), moment in 0u32..60, width in 0u32..90, scale in prop_oneof![Just(0.0), 1.0..4000.0]) {
        let mut opened = open(&file).unwrap();
        for device in opened.summary.devices.clone() {
            let asked = SegmentsQuestion { width_px: width, bytes_per_px: scale, fit_rows: 9, request: Some(900), ..question(moment) };
            let whole = page(&mut opened, device.device, asked);
            let mut other = open(&file).unwrap();
            match opened::reply(&mut other.engine, Request::Ask(Ask { serial: 5, device: device.device, question: Question::State(asked) })) {
                Reply::Answer { answer: Answer::State(page), .. } => prop_assert_eq!(&*page, &whole),
                other => panic!("{other:?}"),
            }
            let facts = facts(&mut opened, device.device, moment);
            let requested = whole.total.requested.saturating_add(whole.outside_mapped.bytes);
            // A running total that was saturated once is wrong from then on.
            if device.drawn_peak < 1 << 60 {
                prop_assert_eq!(requested, facts.requested);
            }
            prop_assert_eq!(whole.total.blocks + whole.outside_mapped.count, facts.count);
            for bar in &whole.bars {
                prop_assert!(bar.sums.free <= bar.sums.reserved);
                let mut x = bar.x[0];
                for piece in pieces(&whole, bar) {
                    prop_assert!(piece.x[0] >= x && piece.x[1] <= bar.x[1], "{:?} {:?}", piece, bar);
                    x = piece.x[1];
                }
            }
        }
    }
}
