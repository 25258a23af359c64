//! Checks of events lists and curves of any file.

use super::questions::{Opened, check_round_trip};
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{
    Action, Curves, DeviceSummary, EventsFilter, EventsPage, EventsQuestion, MAX_COPIED, MemoryFilter,
};
use memscape::timeline::View;

const TEXTS: [&str; 9] =
    ["", "alloc", ">=512", "stream:0", "pool:0,0", "0x10", "/a/ & #1", "7f89b4000000_0", "@category x & &"];

/// Requests rows, text and curves, selected by `byte`.
pub(crate) fn check(opened: &mut Opened, device: &DeviceSummary, byte: &mut dyn FnMut() -> u8) {
    let last = device.events as u32;
    for _ in 0..3 {
        let text = TEXTS[usize::from(byte()) % TEXTS.len()].to_owned();
        let actions = if byte().is_multiple_of(2) { 0 } else { u32::from(byte()) };
        let between = byte().is_multiple_of(3).then(|| [u32::from(byte()), u32::from(byte())]);
        let filter = EventsFilter { text, actions, range: between };
        let rows = [u32::from(byte() % 8), u32::from(byte())];
        let reveal = Some(u32::from(byte()));
        let chosen = vec![[0, 2], [3, u32::MAX]];
        let question = Box::new(EventsQuestion { filter, rows, reveal, selected: chosen, search_serial: None });
        let page = page(opened, device.device, question.clone());
        assert!(page.total == last && page.listed <= last && page.first == rows[0], "{question:?}");
        assert!(page.revealed.is_none_or(|row| row < page.listed) && page.revealed.is_some() == (page.listed > 0));
        assert_eq!(page.rows.len() as u32, page.listed.saturating_sub(rows[0]).min(rows[1]));
        assert!(page.rows.is_sorted_by(|one, next| one.event < next.event));
        for row in &page.rows {
            let bit = EventsFilter::bit(Action::ALL[usize::from(row.action)]);
            assert!(actions == 0 || actions & bit != 0, "{row:?} is filtered out by {actions:b}");
            assert!(between.is_none_or(|[from, to]| (from..to).contains(&row.event)), "{row:?}");
        }
        opened.engine.request(Request::Ask(Ask {
            serial: 2,
            device: device.device,
            question: Question::EventsText(question),
        }));
        loop {
            match opened.next_reply() {
                Reply::Answer { answer: Answer::TableText(part), .. } if part.last => {
                    assert!(part.rows <= MAX_COPIED.min(page.listed));
                    break;
                }
                Reply::Answer { answer: Answer::TableText(_), .. } => {}
                other => panic!("expected text, got {other:?}"),
            }
        }
    }
    let parts = [
        MemoryFilter::default(),
        MemoryFilter { pool: Some((0, u64::from(byte() % 2))), ..MemoryFilter::default() },
        MemoryFilter {
            stream: Some(u64::from(byte() % 3)),
            address: Some(u64::from(byte()) << (byte() % 50)),
            pool: None,
        },
    ];
    for only in parts {
        let view =
            View { left_px: i64::from(byte()) - 90, ..View::fit(device.events + 1, 1, 1 + u32::from(byte()), 1) };
        let curves = match opened.reply(Request::Ask(Ask {
            serial: 3,
            device: device.device,
            question: Question::Curves { view, only, with_stranded: byte() % 2 == 1 },
        })) {
            Reply::Answer { answer: Answer::Curves(curves), .. } => *curves,
            other => panic!("expected curves, got {other:?}"),
        };
        check_round_trip(&curves);
        let Curves {
            edge_px,
            reserved,
            rounded,
            requested,
            allocated,
            awaiting_free: pending,
            free,
            reserved_at_max_free: reserved_then,
            ..
        } = curves;
        let columns = edge_px.len().saturating_sub(1);
        for curve in [&reserved, &rounded, &requested, &allocated, &pending, &free, &reserved_then] {
            assert_eq!(curve.len(), columns);
        }
        assert!(free.iter().zip(&reserved_then).all(|(free, then)| free <= then), "{free:?} of {reserved_then:?}");
    }
}

fn page(opened: &mut Opened, device: i64, question: Box<EventsQuestion>) -> EventsPage {
    match opened.reply(Request::Ask(Ask { serial: 1, device, question: Question::Events(question) })) {
        Reply::Answer { answer: Answer::Events(page), .. } => {
            check_round_trip(&*page);
            *page
        }
        other => panic!("expected events, got {other:?}"),
    }
}
