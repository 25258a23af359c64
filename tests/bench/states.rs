//! Requests for the segments, for the benchmark `answers`: after random events, and along a cursor that moves forwards
//! and backwards.

use memscape::engine::{Ask, Question, Request};
use memscape::protocol::{DeviceSummary, SegmentSort, SegmentsQuestion};

/// Number of requests in a series.
const REQUESTS: u32 = 200;

/// Named series of requests.
pub(crate) fn questions(device: &DeviceSummary) -> Vec<(&'static str, Vec<Request>)> {
    let last = device.events as u32;
    let fit = |moment: u32| SegmentsQuestion {
        moment,
        filter: Default::default(),
        sort: SegmentSort::Free,
        colouring: Default::default(),
        width_px: 1600,
        bytes_per_px: 0.0,
        fit_rows: 30,
        rows: [0, 40],
        reveal: None,
        request: Some(3 << 20),
    };
    let state = |question: SegmentsQuestion| {
        Request::Ask(Ask { serial: 0, device: device.device, question: Question::State(question) })
    };
    let address = |moment: u32| {
        Request::Ask(Ask {
            serial: 0,
            device: device.device,
            question: Question::MemoryAt { moment, address: 0x7f00_0000_0000 + u64::from(moment) },
        })
    };
    let mut chance = 1u64;
    let mut random = || {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((chance >> 20) % u64::from(last.max(1))) as u32
    };
    let moments: Vec<u32> = (0..REQUESTS).map(|_| random()).collect();
    let middle = last / 2;
    vec![
        ("state: a moment at random", moments.iter().map(|&at| state(fit(at))).collect()),
        ("state: forwards, an event at a time", (middle..middle + REQUESTS).map(|at| state(fit(at))).collect()),
        ("state: backwards, an event at a time", (middle..middle + REQUESTS).rev().map(|at| state(fit(at))).collect()),
        ("state: through all, forwards", (0..REQUESTS).map(|at| state(fit(last / REQUESTS * at))).collect()),
        ("state: through all, backwards", (0..REQUESTS).rev().map(|at| state(fit(last / REQUESTS * at))).collect()),
        (
            "state: other rows of one moment, closer",
            (0..REQUESTS)
                .map(|at| state(SegmentsQuestion { rows: [at * 20, 40], bytes_per_px: 4096.0, ..fit(middle) }))
                .collect(),
        ),
        ("state: what is at an address", moments.iter().map(|&at| address(at)).collect()),
    ]
}
