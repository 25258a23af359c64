//! Checks of segments and blocks of any file: no byte is used twice, and lookups by address agree with the list.

use super::questions::{Opened, check_round_trip};
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{DeviceSummary, MemoryFilter, PieceKind, SegmentSort, SegmentsPage, SegmentsQuestion};

/// Requests segments at some moments, as lists and as pictures, and looks up addresses in them.
pub(crate) fn check(opened: &mut Opened, device: &DeviceSummary, byte: &mut dyn FnMut() -> u8) {
    let last = device.events as u32;
    for moment in [0, last, u32::MAX, (u64::from(byte()) * u64::from(last) / 255) as u32] {
        let list = SegmentsQuestion {
            moment,
            filter: MemoryFilter::default(),
            sort: SegmentSort::Address,
            colouring: Default::default(),
            width_px: 0,
            bytes_per_px: 0.0,
            fit_rows: 0,
            rows: [0, u32::MAX],
            reveal: None,
            request: Some(u64::from(byte()) << (byte() % 64)),
        };
        let shown = state(opened, device.device, list);
        let mut addresses = vec![0, u64::MAX, 1 << (byte() % 64)];
        for bar in &shown.bars {
            let mut next = bar.segment;
            for piece in shown.pieces.get(bar.pieces[0] as usize..bar.pieces[1] as usize).expect("pieces of the page") {
                assert!(piece.address >= next || piece.kind != PieceKind::Free, "{piece:?} is used and free");
                next = match piece.kind {
                    PieceKind::Free => piece.address.saturating_add(piece.rounded),
                    _ => piece.address,
                };
                if addresses.len() < 20 {
                    addresses.push(piece.address);
                }
            }
            assert!(bar.sums.free <= bar.sums.reserved && bar.sums.largest_free <= bar.sums.free, "{bar:?}");
        }
        let scale = [0.0, f64::NAN, 1e-300, -1.0, f64::INFINITY, 3e8][usize::from(byte()) % 6];
        let sort = [SegmentSort::Size, SegmentSort::Free][usize::from(byte() % 2)];
        let picture = SegmentsQuestion {
            width_px: 1 + u32::from(byte()),
            bytes_per_px: scale,
            fit_rows: u32::from(byte()),
            sort,
            rows: [u32::from(byte() % 8), 30],
            filter: MemoryFilter { pool: Some((0, 0)), stream: Some(0), address: Some(addresses[addresses.len() - 1]) },
            reveal: Some(addresses[addresses.len() / 2]),
            ..list
        };
        state(opened, device.device, picture);
        let all = state(opened, device.device, SegmentsQuestion { filter: MemoryFilter::default(), ..picture });
        for bar in &all.bars {
            let pieces = all.pieces.get(bar.pieces[0] as usize..bar.pieces[1] as usize).expect("pieces of the page");
            let edges: Vec<u32> = pieces.iter().flat_map(|piece| piece.x).collect();
            assert!(edges.is_sorted() && bar.x[0] < bar.x[1] && bar.x[1] <= picture.width_px, "{bar:?} {edges:?}");
        }
        for address in addresses {
            let request = Request::Ask(Ask {
                serial: 4,
                device: device.device,
                question: Question::MemoryAt { moment, address },
            });
            match opened.reply(request) {
                Reply::Answer { answer: Answer::Hit { hit, memory }, .. } => {
                    check_round_trip(&hit);
                    let memory = *memory.expect("an existing device");
                    check_round_trip(&memory);
                    assert!(memory.free.is_none() || (memory.segment.is_some() && hit.is_none()), "{memory:?}");
                    let held = segment_at(&shown, address);
                    assert_eq!(memory.segment.map(|segment| segment.address), held, "at {address:#x}");
                }
                other => panic!("expected memory, got {other:?}"),
            }
        }
    }
}

/// Returns the segment of a list that contains an address.
fn segment_at(shown: &SegmentsPage, address: u64) -> Option<u64> {
    let holds = |bar: &&memscape::protocol::SegmentsBar| {
        bar.segment <= address && address < bar.segment.saturating_add(bar.sums.reserved)
    };
    // A list has a maximum number of rows.
    assert!(shown.rows < 4096, "a fuzzer's file is small");
    shown.bars.iter().find(holds).map(|bar| bar.segment)
}

fn state(opened: &mut Opened, device: i64, question: SegmentsQuestion) -> SegmentsPage {
    match opened.reply(Request::Ask(Ask { serial: 3, device, question: Question::State(question) })) {
        Reply::Answer { answer: Answer::State(page), .. } => {
            check_round_trip(&*page);
            *page
        }
        other => panic!("expected segments, got {other:?}"),
    }
}
