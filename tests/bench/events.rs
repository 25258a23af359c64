//! Requests for the event list and the curves, for the benchmark `answers`.

use memscape::engine::{Ask, Question, Request};
use memscape::protocol::{Action, DeviceSummary, EventsFilter, EventsQuestion, MemoryFilter};
use memscape::timeline::View;

/// Number of jumps through the list.
const JUMP_COUNT: u32 = 200;

/// Named series of requests. The first request of a filter builds the list that the next series jumps through.
pub(crate) fn questions(device: &DeviceSummary) -> Vec<(String, Vec<Request>)> {
    let list = |filter: &EventsFilter, row: u32| {
        let question = EventsQuestion { filter: filter.clone(), rows: [row, 60], ..EventsQuestion::default() };
        Request::Ask(Ask { serial: 0, device: device.device, question: Question::Events(Box::new(question)) })
    };
    let jumps = |filter: &EventsFilter| -> Vec<Request> {
        let row =
            |jump: u32| (u64::from(jump) * 7919 % u64::from(JUMP_COUNT) * device.events / u64::from(JUMP_COUNT)) as u32;
        (0..JUMP_COUNT).map(|jump| list(filter, row(jump))).collect()
    };
    let text = |text: &str| EventsFilter { text: text.to_owned(), ..EventsFilter::default() };
    let allocs = EventsFilter { actions: EventsFilter::bit(Action::Alloc), ..EventsFilter::default() };
    let mut all = vec![("events: any jump".to_owned(), jumps(&text("")))];
    for (name, filter) in [
        ("one action", allocs),
        (">=1MiB & stream:0", text(">=1MiB & stream:0")),
        ("pool:0,0", text("pool:0,0")),
        ("an expression", text("/_[a-z]+_(forward|backward).*[0-9]$/")),
    ] {
        all.push((format!("events: filtered by {name}"), vec![list(&filter, 0)]));
        all.push(("events: jumps in that".to_owned(), jumps(&filter)));
    }
    let whole = View::fit(device.events + 1, 1, 1600, 1);
    let curves = |part: u32, only: MemoryFilter| {
        let view = View { x_per_px: whole.x_per_px / f64::from(part), left_px: i64::from(part - 1) * 800, ..whole };
        Request::Ask(Ask {
            serial: 0,
            device: device.device,
            question: Question::Curves { view, only, with_stranded: false },
        })
    };
    let default_pool = MemoryFilter { pool: Some((0, 0)), ..MemoryFilter::default() };
    for (name, only) in [("all", MemoryFilter::default()), ("a pool", default_pool)] {
        all.push((format!("curves of {name}, the first"), vec![curves(1, only)]));
        all.push((format!("curves of {name}, windows"), (1..60).map(|part| curves(part, only)).collect()));
    }
    all
}
